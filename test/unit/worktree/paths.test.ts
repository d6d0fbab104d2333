import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createFile } from '../../../src/engine/worktree/create-file.ts';
import { displayPath, maxPathBytes, WorktreePaths } from '../../../src/engine/worktree/paths.ts';
import { randomBytes } from '../../support/random.ts';
import { temporaryFolder } from '../../support/temporary.ts';

describe('WorktreePaths', () => {
  const absolute = (paths: WorktreePaths, path: Uint8Array): string =>
    paths.absolute(path, 0, path.length).toString('latin1');

  it('puts the root in front', () => {
    const paths = new WorktreePaths('/a/b');
    expect(absolute(paths, Buffer.from('c/d'))).toBe('/a/b/c/d');
    expect(absolute(paths, Buffer.from('e'))).toBe('/a/b/e');
    expect(absolute(paths, Buffer.alloc(0))).toBe('/a/b/');
    expect([paths.root, paths.rootBytes]).toEqual(['/a/b', 5]);
  });

  it('a root may end in a slash, or be one', () => {
    expect(absolute(new WorktreePaths('/a/'), Buffer.from('x'))).toBe('/a/x');
    expect(absolute(new WorktreePaths('/'), Buffer.from('x'))).toBe('/x');
  });

  it('counts a root in bytes', () => {
    const paths = new WorktreePaths('/tmp/é€');
    expect(paths.rootBytes).toBe(Buffer.byteLength('/tmp/é€/'));
    expect(paths.absolute(Buffer.from('x'), 0, 1).toString()).toBe('/tmp/é€/x');
  });

  it('takes any bytes, from the middle of others', () => {
    const bytes = new Uint8Array(new SharedArrayBuffer(300));
    bytes.set(randomBytes(1, 300));
    const paths = new WorktreePaths('/r');
    expect(paths.absolute(bytes, 20, 280)).toEqual(Buffer.concat([Buffer.from('/r/'), bytes.subarray(20, 280)]));
  });

  it('takes paths of any length, short ones after long ones', () => {
    const paths = new WorktreePaths('/r');
    for (const length of [4090, 4096, 4097, 100_000, 3, 300_000]) {
      const path = randomBytes(length, length);
      expect(paths.absolute(path, 0, length).equals(Buffer.concat([Buffer.from('/r/'), path]))).toBe(true);
    }
  });

  it('uses one buffer', () => {
    const paths = new WorktreePaths('/r');
    const first = paths.absolute(Buffer.from('first'), 0, 5);
    paths.absolute(Buffer.from('later'), 0, 5);
    expect(first.toString()).toBe('/r/later');
  });
});

it('shows paths without what would disturb a terminal', () => {
  const path = Buffer.from('d/a\u001b[31m\n\u202eb\xff', 'latin1');
  expect(displayPath(path, 2, path.length)).not.toMatch(/[\u0000-\u001f]/); // eslint-disable-line no-control-regex
  expect(displayPath(Buffer.from('d/é'), 2, 4)).toBe('é');
  expect(displayPath(Buffer.from('a\nb'), 0, 3)).toBe('a\\x0ab');
});

it('knows how long a path may be', () => {
  expect([maxPathBytes('linux'), maxPathBytes('darwin'), maxPathBytes('win32')]).toEqual([4095, 1023, 32_767]);
});

// Windows takes more than 260 characters only of paths that start with \\?\; Node 24 puts that in front, of bytes too.
it('files lie where their paths say, also beyond what Windows takes without a prefix', () => {
  const root = temporaryFolder('long-paths');
  const paths = new WorktreePaths(root.replaceAll('\\', '/'));
  const path = Buffer.from(`${`${'d'.repeat(50)}/`.repeat(12)}file`);
  for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) mkdirSync(paths.absolute(path, 0, at));
  const stat = createFile(paths.absolute(path, 0, path.length), false, Buffer.from('content'));
  expect(stat?.size).toBe(7n);
  expect(readFileSync(join(root, path.toString()), 'utf8')).toBe('content');
  expect(statSync(paths.absolute(path, 0, path.length)).isFile()).toBe(true);
});
