/**
 * Whether paths of a sparse checkout are on disk. Most are not, and whole directories of them are not either, so the
 * topmost directory that was found missing is remembered: a system call for each such directory, not for each path.
 */
import { lstatSync, type Stats } from 'node:fs';
import type { Bytes } from '../bytes.ts';
import { errnoOf } from '../errors.ts';
import type { WorktreePaths } from './paths.ts';

const SLASH = 0x2f;

export class PathPresence {
  readonly #paths: WorktreePaths;
  /** A directory that is not there, with its slash; empty at the beginning. */
  #missing = new Uint8Array(256);
  #missingLength = 0;

  constructor(paths: WorktreePaths) {
    this.#paths = paths;
  }

  /** Looks for path[start, end). Paths in the order of the index take the fewest system calls. */
  has(path: Bytes, start: number, end: number): boolean {
    if (this.#isBelowMissing(path, start, end)) return false;
    if (this.#lstat(path, start, end) !== undefined) return true;
    this.#rememberMissing(path, start, end);
    return false;
  }

  /** Whether path[start, end) is a directory and no link to one. */
  hasDirectory(path: Bytes, start: number, end: number): boolean {
    return this.#lstat(path, start, end)?.isDirectory() === true;
  }

  #isBelowMissing(path: Bytes, start: number, end: number): boolean {
    const length = this.#missingLength;
    if (length === 0 || end - start < length) return false;
    for (let i = length - 1; i >= 0; i--) if (path[start + i] !== this.#missing[i]) return false;
    return true;
  }

  #rememberMissing(path: Bytes, start: number, end: number): void {
    let missingEnd = 0;
    for (let at = end - 1; at > start; at--) {
      if (path[at] !== SLASH) continue;
      if (this.#lstat(path, start, at) !== undefined) break;
      missingEnd = at + 1;
    }
    if (missingEnd === 0) return;
    this.#missingLength = missingEnd - start;
    if (this.#missingLength > this.#missing.length) this.#missing = new Uint8Array(2 * this.#missingLength);
    this.#missing.set(path.subarray(start, missingEnd));
  }

  /** What cannot be looked at, since something is in its way or may not be entered, counts as not there, as in git. */
  #lstat(path: Bytes, start: number, end: number): Stats | undefined {
    try {
      return lstatSync(this.#paths.absolute(path, start, end), { throwIfNoEntry: false });
    } catch (error) {
      if (errnoOf(error) === undefined) throw error;
      return undefined;
    }
  }
}
