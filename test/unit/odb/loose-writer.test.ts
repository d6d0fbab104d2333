// Commits made of loose objects, read by git.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { writeLooseCommit } from '../../../src/engine/odb/loose-writer.ts';
import { SHA1, SHA256 } from '../../../src/engine/oid.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const folder = temporaryFolder('loose-writer');

it.each([SHA1, SHA256])('$name', (format) => {
  const directory = join(folder, format.name);
  execFileSync('git', ['init', '-q', `--object-format=${format.name}`, directory]);
  // In the order of an index, where 'a.b' is before 'a/'.
  const paths = ['a.b', 'a/b/c', 'a/b/d', 'a/c/b', 'a0', 'b/c', 'b/d/e/f', 'z'];
  const files = paths.map((path) => ({ path: Buffer.from(path), content: Buffer.from(path === 'z' ? 'a.b' : path) }));
  const commit = writeLooseCommit(join(directory, '.git', 'objects'), format, files);
  const git = (...args: string[]): string =>
    execFileSync('git', args, { cwd: directory, encoding: 'utf8', stdio: 'pipe' });
  expect(git('ls-tree', '-r', '--name-only', commit).trim().split('\n')).toEqual(paths);
  expect(git('cat-file', 'blob', `${commit}:b/d/e/f`)).toBe('b/d/e/f');
  expect(git('cat-file', 'blob', `${commit}:z`)).toBe('a.b');
  git('fsck', '--strict');
});
