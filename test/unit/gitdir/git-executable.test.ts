import { describe, expect, it } from 'vitest';
import { findGit, gitProgram } from '../../../src/engine/gitdir/git-executable.ts';
import { repositoryError } from '../../../src/engine/gitdir/repository.ts';

describe('findGit', () => {
  it('looks in PATH alone, in order, and never in the current directory', () => {
    const seen: string[] = [];
    const exists = (path: string): boolean => {
      seen.push(path);
      return path === 'C:\\Git\\cmd\\git.exe';
    };
    expect(findGit({ Path: '.;;bin;"C:\\a;b";C:\\Windows;C:\\Git\\cmd;C:\\late' }, 'win32', exists)).toBe(
      'C:\\Git\\cmd\\git.exe',
    );
    expect(seen).not.toContain('git.exe');
    expect(seen.every((path) => /^[a-z]:/i.test(path))).toBe(true);
    expect(findGit({ PATH: ':.:/no:/usr/bin' }, 'linux', (path) => path === '/usr/bin/git')).toBe('/usr/bin/git');
    expect(findGit({}, 'linux', () => true)).toBeNull();
  });

  it('leaves the lookup to the system where that is safe', () => {
    expect(gitProgram({}, 'linux')).toBe('git');
    expect(gitProgram({ Path: 'Z:\\none' }, 'win32')).toBeNull();
  });
});

describe('repositoryError', () => {
  const code = (stderr: string): string => repositoryError(stderr, '/d').code;

  it('tells the kinds apart', () => {
    expect(code('fatal: not a git repository (or any of the parent directories): .git\n')).toBe('not-a-repository');
    expect(code('fatal: Expected git repo version <= 1, found 2\n')).toBe('unsupported-repository');
    expect(code('fatal: bad config line 9 in file .git/config\n')).toBe('config-invalid');
    expect(code("fatal: bad boolean config value 'x' for 'core.bare'\n")).toBe('config-invalid');
    expect(repositoryError('fatal: unknown repository extensions found:\n\tfoo\n\tbar\n', '/d').message).toBe(
      'unknown repository extensions found: foo, bar',
    );
    const dubious = repositoryError(
      "fatal: detected dubious ownership in repository at '/d'\nTo add an exception for this directory, call:\n",
      '/d',
    );
    expect(dubious.code).toBe('not-a-repository');
    expect(dubious.message).toMatch(/^detected dubious ownership in repository at '\/d'; .*safe\.directory/);
    expect(repositoryError('', '/d').message).toBe("not a git repository: '/d'");
  });
});
