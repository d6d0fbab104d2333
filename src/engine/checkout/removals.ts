/**
 * Removes the tracked files that the new tree does not have: what is to be removed as a table in shared memory, and the loop by which
 * threads share it out. All of it is gone before the first file is written, so that no removal can meet what this run has
 * made, whatever two names the file system takes for one. Directories and what fails are the main thread's.
 */
import type { Bytes } from '../bytes.ts';
import { NEXT_REMOVAL, STOP } from './control.ts';
import type { IndexTable } from '../index/index-table.ts';
import { MODE_GITLINK } from '../object/tree.ts';
import type { WorktreePaths } from '../worktree/paths.ts';
import { RealDirectories } from '../worktree/real-directories.ts';
import { unlinkTracked } from '../worktree/remove.ts';

/** What came of a removal. */
export const Removal = {
  OPEN: 0,
  /** It is gone now, or was already. */
  GONE: 1,
  /** Below a link, or below something that is no directory: not ours. */
  NOT_OURS: 2,
  /** The main thread tries again, and tells why not. */
  FAILED: 3,
} as const;

/** Removals that a thread claims at a time: about 1 ms. A directory of the Linux tree has 15 files. */
const REMOVAL_BATCH = 64;

/** Files to be removed, in index order. */
export interface Removals {
  readonly count: number;
  /** Path i is pathBytes[pathOffsets[i], pathOffsets[i + 1]). */
  readonly pathBytes: Uint8Array<SharedArrayBuffer>;
  readonly pathOffsets: Uint32Array<SharedArrayBuffer>;
  readonly states: Uint8Array<SharedArrayBuffer>;
}

/** The table for entries of an old index; submodules are left out. */
export function createRemovals(index: IndexTable, entries: Uint32Array): Removals {
  const files = entries.filter((entry) => index.modes[entry] !== MODE_GITLINK);
  const start = (entry: number): number => index.pathOffsets[entry] ?? 0;
  const bytes = files.reduce((sum, entry) => sum + start(entry + 1) - start(entry), 0);
  const removals: Removals = {
    count: files.length,
    pathBytes: new Uint8Array(new SharedArrayBuffer(bytes)),
    pathOffsets: new Uint32Array(new SharedArrayBuffer(4 * (files.length + 1))),
    states: new Uint8Array(new SharedArrayBuffer(files.length)),
  };
  let at = 0;
  files.forEach((entry, i) => {
    const path: Bytes = index.pathBytes.subarray(start(entry), start(entry + 1));
    removals.pathBytes.set(path, at);
    at += path.length;
    removals.pathOffsets[i + 1] = at;
  });
  return removals;
}

/** Claims and removes files until none is left or the run is stopped. */
export function removeFiles(control: Int32Array, removals: Removals, paths: WorktreePaths): void {
  const directories = new RealDirectories(paths);
  for (;;) {
    const start = Atomics.add(control, NEXT_REMOVAL, REMOVAL_BATCH);
    if (start >= removals.count) return;
    const end = Math.min(start + REMOVAL_BATCH, removals.count);
    for (let i = start; i < end; i++) {
      if (Atomics.load(control, STOP) !== 0) return;
      removals.states[i] = removeFile(removals, i, paths, directories);
    }
  }
}

function removeFile(removals: Removals, i: number, paths: WorktreePaths, directories: RealDirectories): number {
  const start = removals.pathOffsets[i] ?? 0;
  const end = removals.pathOffsets[i + 1] ?? 0;
  const leading = directories.look(removals.pathBytes, start, end);
  if (leading === 'unknown') return Removal.FAILED;
  if (leading !== 'real') return Removal.NOT_OURS;
  return unlinkTracked(paths.absolute(removals.pathBytes, start, end)) === null ? Removal.GONE : Removal.FAILED;
}
