import { existsSync, lstatSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { LeadingDirectories } from '../../../src/engine/worktree/leading-directories.ts';
import { WorktreePaths } from '../../../src/engine/worktree/paths.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const folder = temporaryFolder('directories');
let cases = 0;
function place(): string {
  const directory = join(folder, `${cases++}`);
  mkdirSync(directory);
  return directory;
}

/** The tables of a manifest with an entry in each of these directories, which are in depth-first order. */
function setUp(root: string, directories: readonly string[], rootIsEmpty: boolean, keep = '') {
  const numbers = new Map(['', ...directories].map((path, i) => [path, i]));
  const names = directories.map((path) => Buffer.from(`${path}/file`));
  const count = directories.length + 1;
  const table = {
    count,
    parent: new Int32Array(count),
    pathLength: new Uint32Array(count),
    firstEntry: new Uint32Array(count),
  };
  const pathOffsets = new Uint32Array(count);
  directories.forEach((path, i) => {
    table.parent[i + 1] = numbers.get(path.slice(0, Math.max(0, path.lastIndexOf('/'))))!;
    table.pathLength[i + 1] = Buffer.byteLength(path);
    // Entries of the directories below come after a directory's own.
    table.firstEntry[i + 1] = i;
    pathOffsets[i + 1] = pathOffsets[i]! + names[i]!.length;
  });
  table.parent[0] = -1;
  const made = new LeadingDirectories(
    table,
    { pathBytes: Buffer.concat(names), pathOffsets },
    new WorktreePaths(root),
    rootIsEmpty,
    keep,
  );
  return { ensure: (path: string) => made.ensure(numbers.get(path)!), forget: () => made.forget() };
}

const isDirectory = (path: string): boolean => lstatSync(path).isDirectory();

describe.runIf(process.platform !== 'win32')('LeadingDirectories', () => {
  it('makes a directory with all above it', () => {
    const root = place();
    const { ensure } = setUp(root, ['a', 'a/b', 'a/b/c', 'd'], true);
    expect(ensure('a/b/c')).toBe(false);
    expect(isDirectory(join(root, 'a/b/c'))).toBe(true);
    expect(existsSync(join(root, 'd'))).toBe(false);
    expect(ensure('a/b')).toBe(false);
    expect(ensure('d')).toBe(false);
    expect(ensure('')).toBe(false);
  });

  it('tells those that were there from new ones', () => {
    const root = place();
    mkdirSync(join(root, 'a/b'), { recursive: true });
    const { ensure } = setUp(root, ['a', 'a/b', 'a/b/c', 'a/d'], false);
    expect(ensure('a/b/c')).toBe(false);
    expect(ensure('a/b')).toBe(true);
    expect(ensure('a/d')).toBe(false);
    expect(ensure('a')).toBe(true);
    expect(ensure('')).toBe(true);
  });

  it('a file in the way goes', () => {
    const root = place();
    mkdirSync(join(root, 'a'));
    writeFileSync(join(root, 'a/b'), 'x');
    const { ensure } = setUp(root, ['a', 'a/b', 'a/b/c'], false);
    expect(ensure('a/b/c')).toBe(false);
    expect(isDirectory(join(root, 'a/b/c'))).toBe(true);
  });

  it('a link in the way goes, and nothing happens where it leads', () => {
    const root = place();
    const outside = place();
    mkdirSync(join(outside, 'b'));
    writeFileSync(join(outside, 'b/file'), 'x');
    symlinkSync(outside, join(root, 'a'));
    symlinkSync('nowhere', join(root, 'd'));
    const { ensure } = setUp(root, ['a', 'a/b', 'd'], false);
    expect(ensure('a/b')).toBe(false);
    expect(ensure('d')).toBe(false);
    expect([isDirectory(join(root, 'a')), isDirectory(join(root, 'a/b')), isDirectory(join(root, 'd'))]).toEqual([
      true,
      true,
      true,
    ]);
    expect(readdirSync(join(root, 'a/b'))).toEqual([]);
    expect(readdirSync(join(outside, 'b'))).toEqual(['file']);
  });

  it('looks at nothing below what it has made', () => {
    const root = place();
    const { ensure } = setUp(root, ['a', 'a/b'], true);
    expect(ensure('a')).toBe(false);
    // As on a file system where names fold: it is there all the same.
    mkdirSync(join(root, 'a/b'));
    expect(ensure('a/b')).toBe(true);
    const other = setUp(place(), ['a'], true);
    expect(other.ensure('a')).toBe(false);
  });

  it('does not take a file for a directory there', () => {
    const root = place();
    const { ensure } = setUp(root, ['a', 'a/b'], true);
    ensure('a');
    writeFileSync(join(root, 'a/b'), 'x');
    expect(() => ensure('a/b')).toThrow(
      expect.objectContaining({ code: 'io', subject: { path: 'a/b', errno: 'EEXIST' } }),
    );
  });

  it('looks again after it was told to forget', () => {
    const root = place();
    mkdirSync(join(root, 'a'));
    const { ensure, forget } = setUp(root, ['a', 'b'], false);
    expect([ensure('a'), ensure('b')]).toEqual([true, false]);
    rmSync(join(root, 'a'), { recursive: true });
    forget();
    expect([ensure('a'), ensure('b')]).toEqual([false, false]);
    expect(isDirectory(join(root, 'a'))).toBe(true);
  });

  it.runIf(process.platform === 'linux')('long chains of directories', () => {
    const root = place();
    const directories = [...Array(800).keys()].map((i) =>
      Array(i + 1)
        .fill('d')
        .join('/'),
    );
    const { ensure } = setUp(root, directories, true);
    expect(ensure(directories.at(-1)!)).toBe(false);
    expect(isDirectory(join(root, directories.at(-1)!))).toBe(true);
  });

  it('names what it cannot make', () => {
    const root = place();
    const long = 'x'.repeat(300);
    const { ensure } = setUp(root, ['a', `a/${long}`], true);
    expect(() => ensure(`a/${long}`)).toThrow(
      expect.objectContaining({ code: 'io', subject: { path: `a/${long}`, errno: 'ENAMETOOLONG' } }),
    );
  });

  it('does not remove the directory that is to be kept', () => {
    const root = place();
    mkdirSync(join(root, 'a/keep'), { recursive: true });
    const keep = join(root, 'a/keep');
    // It is in nobody's way as a directory.
    expect(setUp(root, ['a', 'a/keep'], false, keep).ensure('a/keep')).toBe(true);
    expect(existsSync(keep)).toBe(true);
  });
});
