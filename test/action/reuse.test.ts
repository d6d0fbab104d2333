// A directory that is there already: when an earlier checkout is used again, what is cleaned, and when all of it goes.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startHttpServer, type HttpServer } from '../support/http-server.ts';
import { git, makeFixture, type Fixture } from './git-fixture.ts';
import { TestRunner } from './run-action.ts';

const fixture: Fixture = makeFixture();
let server: HttpServer;
let runner: TestRunner;

beforeAll(async () => {
  server = await startHttpServer({ root: fixture.root });
});
afterAll(async () => {
  await server.close();
  fixture.remove();
});
beforeEach(() => {
  runner = new TestRunner(server.origin, 'owner/repo');
});
afterEach(() => runner.remove());

function at(...names: string[]): string {
  return join(runner.workspace, ...names);
}
function write(path: string, content = ''): void {
  mkdirSync(join(at(path), '..'), { recursive: true });
  writeFileSync(at(path), content);
}
function here(args: readonly string[]): string {
  return git(runner.workspace, args);
}
function objects(): number {
  return readdirSync(at('.git', 'objects', 'pack')).length;
}
/** The warnings that are not the report's. */
function ownWarnings(result: { readonly warnings: readonly string[] }): string[] {
  return result.warnings.filter((line) => line.startsWith('The contents of'));
}

describe('an earlier checkout of the same repository', () => {
  it('is updated; what is untracked, ignored or changed goes', async () => {
    await runner.main({ inputs: { ref: 'main' } });
    write('untracked/file', 'x');
    write('ignored', 'x');
    write('README.md', 'changed');
    write('nested/.git/HEAD', 'ref: refs/heads/main\n');
    here(['checkout', '-q', '-b', 'left-behind']);
    here(['update-index', '--assume-unchanged', 'dir0/file0.txt']);
    const marker = at('.git', 'marker');
    writeFileSync(marker, '');
    const result = await runner.main({ inputs: { ref: 'feature/x' } });
    expect(result.errors).toEqual([]);
    expect(ownWarnings(result)).toEqual([]);
    expect(existsSync(marker)).toBe(true);
    expect(here(['status', '--porcelain', '--ignored'])).toBe('');
    expect(existsSync(at('nested'))).toBe(false);
    expect(readFileSync(at('README.md'), 'utf8')).toBe('feature\n');
    expect(here(['for-each-ref', '--format=%(refname)', 'refs/heads'])).toBe('refs/heads/feature/x');
    expect(here(['config', '--get-regexp', '^branch\\.']).split('\n')).toEqual([
      'branch.feature/x.remote origin',
      'branch.feature/x.merge refs/heads/feature/x',
    ]);
    expect(here(['config', '--get-all', 'remote.origin.url'])).toBe(`${server.origin}/owner/repo`);
    expect(here(['config', '--get-all', 'gc.auto'])).toBe('0');
  });

  it('takes few processes when nothing is in the way', async () => {
    await runner.main({ inputs: { ref: 'refs/heads/main' } });
    fixture.commit('main', { 'README.md': 'newer\n', 'dir0/file0.txt': null, 'new/file': 'x\n' });
    const result = await runner.main({ inputs: { ref: 'refs/heads/main' } });
    expect(result.errors).toEqual([]);
    expect(readFileSync(at('README.md'), 'utf8')).toBe('newer\n');
    expect(existsSync(at('dir0', 'file0.txt'))).toBe(false);
    expect(here(['status', '--porcelain', '--ignored'])).toBe('');
    // The refs, the fetch, whether the ref is where it should be, the repository, its configuration: none to clean or reset.
    expect(result.gitCommands.length).toBeLessThanOrEqual(5);
    expect(result.gitCommands.filter((command) => /^(clean|reset|checkout)\b/.test(command))).toEqual([]);
  });

  it.each(['auto', 'git'])('is cleaned but for what clean-exclude names (engine: %s)', async (engine) => {
    await runner.main({ inputs: { ref: 'main' } });
    for (const path of ['node_modules/a/b', 'dir0/node_modules/c', 'cache/keep', 'cache/x', 'other', 'ignored']) {
      write(path, 'x');
    }
    write('README.md', 'changed');
    const exclude = '# what is kept\n\nnode_modules/\n/cache/*  \n!x\nREADME.md\n';
    const result = await runner.main({ inputs: { ref: 'feature/x', 'clean-exclude': exclude, engine } });
    expect(result.errors).toEqual([]);
    expect(ownWarnings(result)).toEqual([]);
    expect(result.outputs['engine']).toBe(engine === 'git' ? 'git' : 'native');
    const untracked = here(['ls-files', '--others']).split('\n').sort();
    expect(untracked).toEqual(['cache/keep', 'dir0/node_modules/c', 'node_modules/a/b']);
    expect(readFileSync(at('README.md'), 'utf8')).toBe('feature\n');
    expect(here(['status', '--porcelain', '--untracked-files=no'])).toBe('');
    const cleaning = result.gitCommands.filter((command) => /\bclean\b/.test(command));
    expect(cleaning.length).toBe(engine === 'git' ? 1 : 0);
  });

  it('is replaced, with a warning, if it cannot be cleaned', async () => {
    await runner.main({ inputs: { ref: 'main' } });
    write('stuck/file', 'x');
    write('kept/file', 'x');
    const marker = at('.git', 'marker');
    writeFileSync(marker, '');
    const log = join(runner.root, 'faults.log');
    const fault = { call: 'unlink', errno: 'EACCES', nth: 1, lasting: false, below: at('stuck'), log };
    const inject = join(import.meta.dirname, '..', 'support', 'inject-faults.ts');
    const env = { NODE_OPTIONS: `--import=${inject}`, NODE_NO_WARNINGS: '1', FAULT: JSON.stringify(fault) };
    const result = await runner.main({ inputs: { ref: 'main', 'clean-exclude': 'kept/' }, env });
    expect(readFileSync(log, 'utf8')).toContain('stuck/file');
    expect(result.errors).toEqual([]);
    expect(result.warnings.join('\n')).toContain("cannot remove 'stuck/file': EACCES");
    expect(ownWarnings(result)).toHaveLength(1);
    expect(ownWarnings(result)[0]).toContain(
      "are removed, with what 'clean-exclude' names, since the working tree cannot be cleaned",
    );
    expect(existsSync(marker)).toBe(false);
    expect(existsSync(at('kept'))).toBe(false);
    expect(here(['status', '--porcelain', '--ignored'])).toBe('');
    expect(here(['symbolic-ref', 'HEAD'])).toBe('refs/heads/main');
  });

  it('keeps untracked files with clean: false, and undoes changes all the same', async () => {
    await runner.main({ inputs: { ref: 'main' } });
    write('untracked/file', 'x');
    write('ignored', 'x');
    write('README.md', 'changed');
    const result = await runner.main({ inputs: { ref: 'feature/x', clean: 'false' } });
    expect(result.errors).toEqual([]);
    expect(readFileSync(at('untracked', 'file'), 'utf8')).toBe('x');
    expect(existsSync(at('ignored'))).toBe(true);
    expect(readFileSync(at('README.md'), 'utf8')).toBe('feature\n');
    expect(here(['status', '--porcelain'])).toBe('?? untracked/');
  });

  it('is used in spite of locks that a killed git left', async () => {
    await runner.main({ inputs: { ref: 'main' } });
    const marker = at('.git', 'marker');
    writeFileSync(marker, '');
    const locks = ['index', 'shallow', 'HEAD', 'config', 'packed-refs', 'refs/heads/main', 'refs/remotes/origin/main'];
    for (const lock of locks) writeFileSync(at('.git', `${lock}.lock`), '');
    const result = await runner.main({ inputs: { ref: 'main' } });
    expect(result.errors).toEqual([]);
    expect(existsSync(marker)).toBe(true);
    expect(here(['status', '--porcelain'])).toBe('');
  });

  it('makes room for a branch whose name is a directory of an old one, and the other way round', async () => {
    await runner.main({ inputs: { ref: 'feature/x' } });
    here(['update-ref', 'refs/remotes/origin/main/deep', 'HEAD']);
    here(['update-ref', 'refs/heads/main/deep', 'HEAD']);
    const result = await runner.main({ inputs: { ref: 'main' } });
    expect(result.errors).toEqual([]);
    expect(ownWarnings(result)).toEqual([]);
    expect(here(['symbolic-ref', 'HEAD'])).toBe('refs/heads/main');
  });

  it('becomes complete with fetch-depth: 0 and shallow again', async () => {
    await runner.main({ inputs: { ref: 'main' } });
    expect(existsSync(at('.git', 'shallow'))).toBe(true);
    await runner.main({ inputs: { ref: 'main', 'fetch-depth': '0' } });
    expect(existsSync(at('.git', 'shallow'))).toBe(false);
    expect(Number(here(['rev-list', '--count', 'HEAD']))).toBeGreaterThan(1);
    const result = await runner.main({ inputs: { ref: 'main', 'fetch-depth': '1' } });
    expect(result.errors).toEqual([]);
    expect(here(['rev-list', '--count', 'HEAD'])).toBe('1');
  });

  it.each(['cone', 'no-cone'])('is written in full after a sparse checkout (%s)', async (mode) => {
    await runner.main({ inputs: { ref: 'main' } });
    here(['sparse-checkout', 'set', `--${mode}`, 'dir1']);
    expect(existsSync(at('dir0'))).toBe(false);
    const result = await runner.main({ inputs: { ref: 'feature/x' } });
    expect(result.errors).toEqual([]);
    expect(ownWarnings(result)).toEqual([]);
    expect(existsSync(at('dir0', 'file0.txt'))).toBe(true);
    expect(
      here(['ls-files', '-t'])
        .split('\n')
        .filter((line) => !line.startsWith('H ')),
    ).toEqual([]);
    expect(here(['status', '--porcelain'])).toBe('');
    expect(here(['config', '--default', 'unset', 'core.sparseCheckout'])).toBe('unset');
  });

  it('takes sparse-checkout, other directories and patterns after it, and is full again', async () => {
    const sparse = async (lines: string, cone = 'true'): Promise<void> => {
      const inputs = { ref: 'main', 'sparse-checkout': lines, 'sparse-checkout-cone-mode': cone };
      const result = await runner.main({ inputs });
      expect(result.errors).toEqual([]);
      expect(ownWarnings(result)).toEqual([]);
      expect(here(['status', '--porcelain'])).toBe('');
    };
    const there = (): string[] => ['dir0', 'dir1', 'dir2'].filter((name) => existsSync(at(name)));
    await sparse('\n  dir1 \n\ndir2\n');
    expect(there()).toEqual(['dir1', 'dir2']);
    expect(here(['sparse-checkout', 'list'])).toBe('dir1\ndir2');
    await sparse('dir0');
    expect(there()).toEqual(['dir0']);
    await sparse('/dir0/file3.txt', 'false');
    expect(there()).toEqual(['dir0']);
    expect(readdirSync(at('dir0'))).toEqual(['file3.txt']);
    // Patterns of an earlier run do not add up.
    await sparse('/dir2/', 'false');
    expect(there()).toEqual(['dir2']);
    await sparse('');
    expect(there()).toEqual(['dir0', 'dir1', 'dir2']);
    expect(here(['ls-files', '-v'])).not.toMatch(/^S/m);
    expect(here(['config', '--default', 'unset', 'core.sparseCheckout'])).toBe('unset');
  });

  it.skipIf(process.platform === 'win32')('takes five git processes at most, and none after the job', async () => {
    // Stands in for git on PATH and notes each start; what git starts by itself goes past it, by git's own folder.
    const programs = at('..', '..', 'programs');
    const log = at('..', '..', 'started');
    mkdirSync(programs, { recursive: true });
    const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
    writeFileSync(join(programs, 'git'), `#!/bin/sh\necho "$*" >> '${log}'\nexec '${real}' "$@"\n`, { mode: 0o755 });
    const env = { PATH: `${programs}:${process.env['PATH'] ?? ''}` };
    const started = (): string[] => {
      const lines = existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : [];
      rmSync(log, { force: true });
      return lines;
    };
    const event = { GITHUB_REF: 'refs/heads/main', GITHUB_SHA: fixture.commits.main };
    const first = await runner.main({ env: { ...env, ...event } });
    await runner.post(first, { env });
    expect(started().length).toBeGreaterThan(0);
    const second = await runner.main({ env: { ...env, ...event } });
    expect(second.errors).toEqual([]);
    const ofMain = started();
    expect(ofMain.length, ofMain.join('\n')).toBeLessThanOrEqual(5);
    await runner.post(second, { env });
    expect(started()).toEqual([]);
  });

  it('is replaced if its objects are damaged', async () => {
    await runner.main({ inputs: { ref: 'main' } });
    for (const name of readdirSync(at('.git', 'objects'))) {
      if (/^[0-9a-f]{2}$/.test(name)) {
        for (const file of readdirSync(at('.git', 'objects', name))) write(join('.git', 'objects', name, file), 'bad');
      }
    }
    const result = await runner.main({ inputs: { ref: 'feature/x' } });
    expect(result.errors).toEqual([]);
    expect(here(['fsck', '--no-progress'])).toBe('');
    expect(here(['status', '--porcelain'])).toBe('');
  });
});

describe('a directory that holds something else', () => {
  it.each(['true', 'false'])('is emptied if no repository is in it (clean: %s)', async (clean) => {
    write('stray', 'x');
    write('.git', 'gitdir: elsewhere\n');
    const result = await runner.main({ inputs: { ref: 'main', clean } });
    expect(result.errors).toEqual([]);
    expect(existsSync(at('stray'))).toBe(false);
    // Surprising enough with clean: false to be said aloud.
    expect(ownWarnings(result)).toHaveLength(clean === 'true' ? 0 : 1);
    expect(result.log).toContain('no git repository is in it');
    expect(here(['status', '--porcelain'])).toBe('');
  });

  it.each([
    ['another URL', (): void => void here(['config', 'remote.origin.url', 'https://example.com/another'])],
    ['two URLs', (): void => void here(['config', '--add', 'remote.origin.url', 'https://example.com/another'])],
    ['a broken configuration', (): void => write('.git/config', '[core\n')],
    ['no HEAD', (): void => write('.git/HEAD', 'garbage')],
    [
      'broken submodules',
      (): void => {
        write('.gitmodules', '[submodule "a"]\n\tpath = a\n');
        here(['update-index', '--add', '--cacheinfo', `160000,${fixture.commits.old},b`]);
      },
    ],
  ])('is emptied if the repository has %s', async (_, damage) => {
    await runner.main({ inputs: { ref: 'main' } });
    damage();
    write('stray', 'x');
    writeFileSync(at('.git', 'marker'), '');
    const result = await runner.main({ inputs: { ref: 'main', clean: 'false' } });
    expect(result.errors).toEqual([]);
    expect(ownWarnings(result)).toHaveLength(1);
    expect(existsSync(at('stray'))).toBe(false);
    expect(existsSync(at('.git', 'marker'))).toBe(false);
    expect(here(['status', '--porcelain'])).toBe('');
    expect(objects()).toBeGreaterThanOrEqual(0);
  });

  it('is made if it is missing, and replaces a file', async () => {
    write('a', 'a file');
    const result = await runner.main({ inputs: { ref: 'main', path: 'a' } });
    expect(result.errors).toEqual([]);
    expect(git(at('a'), ['status', '--porcelain'])).toBe('');
    const deep = await runner.main({ inputs: { ref: 'main', path: 'b/c/d' } });
    expect(deep.errors).toEqual([]);
    expect(existsSync(at('b', 'c', 'd', 'README.md'))).toBe(true);
    // The first is not touched by the second.
    expect(git(at('a'), ['status', '--porcelain'])).toBe('');
  });
});
