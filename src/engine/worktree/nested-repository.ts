/**
 * Whether a directory of the working tree is a repository of its own, as git decides it when it goes through untracked files:
 * `.git` in it is a git directory, or a file that leads to one or that cannot be read.
 */
import { lstatSync, readFileSync, statSync } from 'node:fs';
import { bufferOver, type Bytes } from '../bytes.ts';
import { errnoOf } from '../errors.ts';
import type { WorktreePaths } from './paths.ts';

const SLASH = 0x2f;
/** A larger `.git` file is none (git's MAX in read_gitfile_gently). */
const MAX_GITFILE_BYTES = 1 << 20;

/** @param path of the directory, below the working tree */
export function isNestedRepository(paths: WorktreePaths, path: Bytes): boolean {
  const directory = bufferOver(path);
  const dotGit = Buffer.concat([directory, Buffer.from('/.git')]);
  const absolute = Buffer.from(paths.absolute(dotGit, 0, dotGit.length));
  try {
    const stat = statSync(absolute, { throwIfNoEntry: false });
    if (stat === undefined) return false;
    if (stat.isDirectory()) return isGitDirectory(absolute);
    if (!stat.isFile() || stat.size > MAX_GITFILE_BYTES) return false;
    const text = readFileSync(absolute);
    const match = /^gitdir: ([^\r\n]+)[\r\n]*$/.exec(text.toString('latin1'));
    if (match === null) return false;
    const target = Buffer.from(match[1] ?? '', 'latin1');
    const base = Buffer.from(paths.absolute(directory, 0, directory.length));
    return isGitDirectory(target[0] === SLASH ? target : Buffer.concat([base, Buffer.of(SLASH), target]));
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === undefined) throw error;
    // A file that cannot be opened may be anything, and git takes it for a repository.
    return errno !== 'ENOTDIR' && errno !== 'ELOOP';
  }
}

/** HEAD, objects and refs make a git directory. */
function isGitDirectory(path: Buffer): boolean {
  const has = (name: string): boolean =>
    lstatSync(Buffer.concat([path, Buffer.from(`/${name}`)]), { throwIfNoEntry: false }) !== undefined;
  const own = has('HEAD');
  return own && ((has('objects') && has('refs')) || has('commondir'));
}
