/**
 * Which branches other working trees of the repository have checked out. Two working trees on one branch would pull it
 * from under each other, so git refuses that, and so do we.
 */
import { closeSync, openSync, readdirSync, readSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { Config } from '../config/config.ts';
import { errnoOf, ioError } from '../errors.ts';
import type { RefDirs } from './ref-names.ts';
import { readRef } from './read-refs.ts';

/** The first 4 KiB of a small file as one line; null when it cannot be read. */
function readLine(path: string): string | null {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch {
    return null;
  }
  try {
    const bytes = Buffer.alloc(4096);
    return bytes
      .toString('utf8', 0, readSync(file, bytes, 0, bytes.length, 0))
      .split('\n')[0]!
      .trimEnd();
  } catch {
    return null; // a directory
  } finally {
    closeSync(file);
  }
}

/** Whether the working tree with this git directory is on `refName`, or in the middle of rebasing or bisecting it. */
function uses(dirs: RefDirs, refName: string): boolean {
  let head;
  try {
    head = readRef(dirs, 'HEAD');
  } catch {
    return false; // a broken working tree holds nothing
  }
  if (head?.kind === 'symbolic') return head.target === refName;
  const short = refName.replace(/^refs\/heads\//, '');
  return (
    readLine(join(dirs.gitDir, 'rebase-merge', 'head-name')) === refName ||
    readLine(join(dirs.gitDir, 'rebase-apply', 'head-name')) === refName ||
    readLine(join(dirs.gitDir, 'BISECT_START')) === short
  );
}

/** The path of another working tree that uses the branch `refName`, or null. */
export function otherWorktreeUsing(dirs: RefDirs, config: Config, refName: string): string | null {
  const { commonDir } = dirs;
  const own = resolve(dirs.gitDir);
  if (own !== resolve(commonDir) && config.getBool('core.bare') !== true) {
    if (uses({ gitDir: commonDir, commonDir }, refName)) {
      return basename(commonDir) === '.git' ? dirname(commonDir) : commonDir;
    }
  }
  const folder = join(commonDir, 'worktrees');
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'ENOENT' || errno === 'ENOTDIR') return null;
    throw ioError('read', folder, error);
  }
  for (const name of names) {
    const gitDir = join(folder, name);
    if (resolve(gitDir) === own || !uses({ gitDir, commonDir }, refName)) continue;
    const gitFile = readLine(join(gitDir, 'gitdir'));
    // Relative since 2.48 where worktree.useRelativePaths is set.
    return gitFile === null ? gitDir : dirname(resolve(gitDir, gitFile));
  }
  return null;
}
