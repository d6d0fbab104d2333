import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { WorktreePaths } from '../../../src/engine/worktree/paths.ts';
import { RealDirectories } from '../../../src/engine/worktree/real-directories.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const folder = temporaryFolder('real-directories');
const at = (name: string): string => join(folder, name);
mkdirSync(at('a/b/c'), { recursive: true });
mkdirSync(at('ab'));
writeFileSync(at('file'), '');
mkdirSync(at(`long/${'x'.repeat(200)}/${'y'.repeat(200)}`), { recursive: true });

const directories = (): ((path: string) => string) => {
  const real = new RealDirectories(new WorktreePaths(folder));
  return (path) => {
    // Somewhere in a table, as it is used.
    const bytes = Buffer.from(`//${path}//`);
    return real.look(bytes, 2, bytes.length - 2);
  };
};

describe('RealDirectories', () => {
  it('tells directories from what is missing and from everything else', () => {
    const look = directories();
    for (const path of [
      'x',
      'a/x',
      'a/b/c/x',
      'a/b/x',
      'ab/x',
      'a/b/c/d',
      `long/${'x'.repeat(200)}/${'y'.repeat(200)}/z`,
    ]) {
      expect([path, look(path)]).toEqual([path, 'real']);
    }
    expect(look('none/x')).toBe('missing');
    expect(look('a/none/x/y')).toBe('missing');
    expect(look('file/x')).toBe('other');
    expect(look('a/b/c/x')).toBe('real');
  });

  it.runIf(process.platform !== 'win32')('follows no link, whatever it has seen next to it', () => {
    symlinkSync('a', at('link'));
    symlinkSync('b', at('a/link'));
    const look = directories();
    expect(look('a/b/x')).toBe('real');
    expect(look('a/link/x')).toBe('other');
    expect(look('link/b/x')).toBe('other');
    expect(look('link/b/c/x')).toBe('other');
    expect(look('a/b/c/x')).toBe('real');
  });

  it('remembers while the caller stays in a directory, and looks again when it comes back', () => {
    mkdirSync(at('p/q/r'), { recursive: true });
    mkdirSync(at('p/s'));
    const look = directories();
    expect(look('p/q/r/x')).toBe('real');
    renameSync(at('p/q'), at('p/moved'));
    writeFileSync(at('p/q'), '');
    expect(look('p/q/r/y')).toBe('real');
    expect(look('p/q/y')).toBe('real');
    expect(look('p/s/y')).toBe('real');
    expect(look('p/q/y')).toBe('other');
    rmSync(at('p'), { recursive: true });
    expect(look('y')).toBe('real');
    expect(look('p/s/y')).toBe('missing');
  });
});
