/**
 * Finds what `git clean -ffdx` would remove: everything that the index does not have, but for what patterns keep. Directories of the
 * working tree are walked along with the index, whose entries below a directory lie together; a directory that is
 * untracked as a whole is one finding, whatever is in it. Named pipes, sockets and devices are not seen otherwise.
 *
 * The rules are those of git's dir.c: an entry named `.git` is never looked at; a submodule's directory is left alone; a
 * nested repository goes, or stays, as a whole; a link to a directory is a file.
 */
import { lstatSync, readdirSync, readFileSync, statSync, type Dirent } from 'node:fs';
import { bufferOver, type Bytes } from '../bytes.ts';
import { errnoOf, ioError } from '../errors.ts';
import type { IndexTable } from '../index/index-table.ts';
import { MODE_GITLINK } from '../object/tree.ts';
import type { KeptPaths } from './kept-paths.ts';
import { displayPath, type WorktreePaths } from './paths.ts';

const SLASH = 0x2f;
const DOT_GIT = Buffer.from('.git');
const NO_EXTRA = -1;

export interface Untracked {
  /** Absolute paths of what is to go, none below another. */
  readonly paths: readonly Buffer[];
  /** Directories that could not be read, a line each. */
  readonly failures: readonly string[];
}

/**
 * @param index null where there is none: then nothing is tracked
 * @param spared absolute paths that are never found, nor what they are in: the git directory, wherever it is
 */
export function findUntracked(
  index: IndexTable | null,
  paths: WorktreePaths,
  kept: KeptPaths,
  spared: readonly string[],
): Untracked {
  const walk = new UntrackedWalk(index, paths, kept, spared);
  walk.tracked(Buffer.alloc(0), 0, index?.count ?? 0);
  return { paths: walk.found, failures: walk.failures };
}

class UntrackedWalk {
  readonly found: Buffer[] = [];
  readonly failures: string[] = [];
  readonly #index: IndexTable | null;
  readonly #paths: WorktreePaths;
  readonly #kept: KeptPaths;
  readonly #spared: readonly Buffer[];

  constructor(index: IndexTable | null, paths: WorktreePaths, kept: KeptPaths, spared: readonly string[]) {
    this.#index = index;
    this.#paths = paths;
    this.#kept = kept;
    this.#spared = spared.map((path) => Buffer.from(path, 'utf8'));
  }

  /** A directory (with its slash) that has entries from `low` up to `high`; or the root. */
  tracked(directory: Buffer, low: number, high: number): void {
    for (const child of this.#read(directory)) {
      if (child.name.equals(DOT_GIT)) continue;
      const path = Buffer.concat([directory, child.name]);
      const type = this.#typeOf(child, path);
      if (type === 'other') continue;
      const isDirectory = type === 'directory';
      const at = this.#first(low, high, path, NO_EXTRA);
      const index = this.#index;
      if (index !== null && at < high && this.#compare(index, at, path, NO_EXTRA) === 0) {
        // A directory in the place of a tracked file is the checkout's to remove, unless something in it is kept.
        const found: Buffer[] = [];
        if (isDirectory && index.modes[at] !== MODE_GITLINK) {
          if (this.#untracked(path, directory.length, true, found)) for (const each of found) this.found.push(each);
        }
        continue;
      }
      if (isDirectory) {
        const from = this.#first(at, high, path, SLASH);
        const to = this.#first(from, high, path, SLASH + 1);
        if (to > from) {
          // What is below a directory that is kept stays with it.
          if (this.#kept.has(path, directory.length, path.length, true)) continue;
          this.tracked(Buffer.concat([path, Buffer.of(SLASH)]), from, to);
          continue;
        }
      }
      this.#untracked(path, directory.length, isDirectory, this.found);
    }
  }

  /** Adds what has to go of an untracked path to `found`; returns whether something of it stays. */
  #untracked(path: Buffer, name: number, isDirectory: boolean, found: Buffer[]): boolean {
    if (this.#kept.has(path, name, path.length, isDirectory)) return true;
    const absolute = Buffer.from(this.#paths.absolute(path, 0, path.length));
    if (this.#spared.some((spared) => spared.equals(absolute))) return true;
    if (isDirectory && this.#mayHoldKept(path, absolute)) {
      const below: Buffer[] = [];
      let stays = false;
      const directory = Buffer.concat([path, Buffer.of(SLASH)]);
      for (const child of this.#read(directory)) {
        if (child.name.equals(DOT_GIT)) continue;
        const childPath = Buffer.concat([directory, child.name]);
        const type = this.#typeOf(child, childPath);
        if (type === 'other') continue;
        if (this.#untracked(childPath, directory.length, type === 'directory', below)) stays = true;
      }
      if (stays) {
        for (const each of below) found.push(each);
        return true;
      }
    }
    found.push(absolute);
    return false;
  }

  /** Whether an untracked directory has to be looked into. Patterns do not reach into a nested repository. */
  #mayHoldKept(path: Buffer, absolute: Buffer): boolean {
    const prefix = Buffer.concat([absolute, Buffer.of(SLASH)]);
    if (this.#spared.some((spared) => spared.subarray(0, prefix.length).equals(prefix))) return true;
    return !this.#kept.isEmpty && !isNestedRepository(this.#paths, path);
  }

  #read(directory: Buffer): Dirent<Buffer>[] {
    const end = Math.max(0, directory.length - 1);
    try {
      const path = this.#paths.absolute(directory, 0, end);
      return readdirSync(path, { withFileTypes: true, encoding: 'buffer' });
    } catch (error) {
      const errno = errnoOf(error);
      if (errno === undefined) throw error;
      if (directory.length === 0) throw ioError('read', '.', error);
      if (errno !== 'ENOENT') this.failures.push(`'${displayPath(directory, 0, end)}': ${errno}`);
      return [];
    }
  }

  #typeOf(child: Dirent<Buffer>, path: Buffer): 'file' | 'directory' | 'other' {
    if (child.isDirectory()) return 'directory';
    if (child.isFile() || child.isSymbolicLink()) return 'file';
    // Some file systems do not tell the type along with the name.
    try {
      const stat = lstatSync(this.#paths.absolute(path, 0, path.length), { throwIfNoEntry: false });
      if (stat === undefined || stat.isFile() || stat.isSymbolicLink()) return 'file';
      return stat.isDirectory() ? 'directory' : 'other';
    } catch {
      return 'file';
    }
  }

  /** The first entry in [low, high) whose path is not before `path` with the byte `extra` behind it. */
  #first(low: number, high: number, path: Bytes, extra: number): number {
    const index = this.#index;
    if (index === null) return high;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#compare(index, middle, path, extra) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Order of an entry's path and of `path` with the byte `extra` behind it, unless that is NO_EXTRA. */
  #compare(index: IndexTable, entry: number, path: Bytes, extra: number): number {
    const start = index.pathOffsets[entry] ?? 0;
    const length = (index.pathOffsets[entry + 1] ?? 0) - start;
    const shared = Math.min(length, path.length);
    for (let i = 0; i < shared; i++) {
      const difference = (index.pathBytes[start + i] ?? 0) - (path[i] ?? 0);
      if (difference !== 0) return difference;
    }
    if (length < path.length) return -1;
    if (extra === NO_EXTRA) return length - path.length;
    return length === path.length
      ? -1
      : (index.pathBytes[start + path.length] ?? 0) - extra || length - path.length - 1;
  }
}

/** As git decides it: a git directory, or a file that leads to one or cannot be read. */
function isNestedRepository(paths: WorktreePaths, path: Bytes): boolean {
  const directory = bufferOver(path);
  const dotGit = Buffer.concat([directory, Buffer.from('/.git')]);
  const absolute = Buffer.from(paths.absolute(dotGit, 0, dotGit.length));
  try {
    const stat = statSync(absolute, { throwIfNoEntry: false });
    if (stat === undefined) return false;
    if (stat.isDirectory()) return isGitDirectory(absolute);
    if (!stat.isFile()) return false;
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
