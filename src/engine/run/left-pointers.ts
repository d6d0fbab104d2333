/**
 * Removes Git LFS pointers that an earlier checkout has left, so that `git checkout` writes the files anew: it would keep them, since
 * they are what the index says. Our own engine finds them by itself (checkout/lfs-content.ts).
 */
import { lstatSync, readFileSync } from 'node:fs';
import { LFS_POINTER_BYTES, lfsPointerSize } from '../filter/lfs-pointer.ts';
import { STAT, type IndexTable } from '../index/index-table.ts';
import { STAT_WORDS } from '../checkout/tables.ts';
import { MODE_GITLINK, MODE_SYMLINK } from '../object/tree.ts';
import { WorktreePaths } from '../worktree/paths.ts';
import { RealDirectories } from '../worktree/real-directories.ts';
import { unlinkTracked } from '../worktree/remove.ts';

export function removeLeftPointers(index: IndexTable, workTree: string): void {
  const paths = new WorktreePaths(workTree);
  const directories = new RealDirectories(paths);
  const { pathBytes, pathOffsets } = index;
  for (let entry = 0; entry < index.count; entry++) {
    const size = index.stats[STAT_WORDS * entry + STAT.size] ?? 0;
    const mode = index.modes[entry];
    if (size === 0 || size > LFS_POINTER_BYTES || mode === MODE_SYMLINK || mode === MODE_GITLINK) continue;
    const start = pathOffsets[entry] ?? 0;
    const end = pathOffsets[entry + 1] ?? 0;
    if (!directories.leadTo(pathBytes, start, end)) continue;
    const path = paths.absolute(pathBytes, start, end);
    if (isPointer(path)) unlinkTracked(path);
  }
}

/** Whether a file is a pointer; no link is followed, and what cannot be read is git's to complain about. */
function isPointer(path: Buffer): boolean {
  try {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    return stat?.isFile() === true && stat.size <= LFS_POINTER_BYTES && lfsPointerSize(readFileSync(path)) >= 0;
  } catch {
    return false;
  }
}
