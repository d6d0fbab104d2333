/**
 * Whether what leads to a path is directories all the way down, looked at in the moment in which something is written or removed
 * there: a link put in place of a directory must not be followed out of the working tree. As git does, the answer is
 * remembered for as long as the caller stays in one directory, and for what two directories have in common.
 */
import { lstatSync } from 'node:fs';
import type { Bytes } from '../bytes.ts';
import { errnoOf } from '../errors.ts';
import type { WorktreePaths } from './paths.ts';

const SLASH = 0x2f;

/** Directories all the way; or one is not there; or something else is in the place of one; or one may not be looked at. */
export type Leading = 'real' | 'missing' | 'other' | 'unknown';

export class RealDirectories {
  /** Why the last look that said 'unknown' failed. */
  lastErrno = '';
  readonly #paths: WorktreePaths;
  /** The directory that was found to be real last, with its slash; its parents are real, too. */
  #known = new Uint8Array(256);
  #knownLength = 0;

  /** @param paths its buffer is used by every look */
  constructor(paths: WorktreePaths) {
    this.#paths = paths;
  }

  /** Whether each directory that leads to path[start, end) is one and no link. */
  leadTo(path: Bytes, start: number, end: number): boolean {
    return this.look(path, start, end) === 'real';
  }

  /** What leads to path[start, end). One system call for each directory that the last path did not have as well. */
  look(path: Bytes, start: number, end: number): Leading {
    let directoryEnd = end;
    while (directoryEnd > start && path[directoryEnd - 1] !== SLASH) directoryEnd--;
    const length = directoryEnd - start;
    const known = this.#known;
    // Position behind the last slash up to which both agree.
    let common = 0;
    const least = length < this.#knownLength ? length : this.#knownLength;
    for (let i = 0; i < least && known[i] === path[start + i]; i++) if (known[i] === SLASH) common = i + 1;
    if (common === length) return 'real';
    this.#knownLength = common;
    for (let i = common; i < length; i++) {
      if (path[start + i] !== SLASH) continue;
      const found = this.#lookAt(path, start, start + i);
      if (found !== 'real') return found;
      this.#remember(path, start, i + 1);
    }
    return 'real';
  }

  #lookAt(path: Bytes, start: number, end: number): Leading {
    try {
      const stat = lstatSync(this.#paths.absolute(path, start, end), { throwIfNoEntry: false });
      if (stat === undefined) return 'missing';
      return stat.isDirectory() ? 'real' : 'other';
    } catch (error) {
      const errno = errnoOf(error);
      if (errno === undefined) throw error;
      if (errno === 'ENOTDIR') return 'other';
      this.lastErrno = errno;
      return 'unknown';
    }
  }

  #remember(path: Bytes, start: number, length: number): void {
    if (length > this.#known.length) {
      const grown = new Uint8Array(2 * length);
      grown.set(this.#known.subarray(0, this.#knownLength));
      this.#known = grown;
    }
    for (let i = this.#knownLength; i < length; i++) this.#known[i] = path[start + i] ?? 0;
    this.#knownLength = length;
  }
}
