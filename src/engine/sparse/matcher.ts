/**
 * Which entries of a commit a sparse checkout has on disk. Asked while trees are walked: each directory gets a verdict
 * from its own name and its parent's verdict, so that a subtree that is wholly in or out is decided once.
 */
import type { Bytes } from '../bytes.ts';

/**
 * Verdict on a directory: ALL and NONE decide all that is below it; any other number (0 or more) is the matcher's own and
 * goes back to it with what is below.
 */
export type Verdict = number;
export const ALL: Verdict = -1;
export const NONE: Verdict = -2;

export interface SparseMatcher {
  /** Verdict on the root directory. */
  readonly root: Verdict;
  /**
   * Verdict on the directory path[0, end) (no slash at its end), whose name starts at `name`, in a directory of verdict
   * `parent`.
   */
  directory(path: Bytes, name: number, end: number, parent: Verdict): Verdict;
  /**
   * Whether the entry path[start, end), whose name starts at `name`, is on disk; `parent` is the verdict on its directory.
   * A submodule whose directory is there counts as a directory, and one whose directory is not does not: that is git's
   * reading of the disk.
   */
  includes(path: Bytes, start: number, name: number, end: number, isDirectory: boolean, parent: Verdict): boolean;
}

/** Everything: what a checkout is that ends a sparse one. */
export const EVERYTHING: SparseMatcher = { root: ALL, directory: () => ALL, includes: () => true };
