/**
 * Clears the way for the workers: removes what the new tree does not have, and what stands where an entry goes. Main
 * thread only; the workers themselves never remove anything.
 */
import { lstatSync, type Stats } from 'node:fs';
import { bufferOver, type Bytes } from '../bytes.ts';
import { errnoOf } from '../errors.ts';
import type { IndexTable } from '../index/index-table.ts';
import { MODE_GITLINK } from '../object/tree.ts';
import { displayPath, type WorktreePaths } from '../worktree/paths.ts';
import { removeAll, removeEmptyDirectory, unlinkTracked } from '../worktree/remove.ts';
import type { Tables } from './tables.ts';

const SLASH = 0x2f;

export interface Removed {
  readonly count: number;
  /** What could not be removed, one line each. */
  readonly warnings: readonly string[];
}

/**
 * Removes tracked entries that the new tree does not have, then the directories that this emptied. A path below a link or
 * below something that is no directory is not ours and is left alone.
 * @param keep a directory that must not be removed
 */
export function removeTracked(index: IndexTable, removals: Uint32Array, paths: WorktreePaths, keep: string): Removed {
  const { pathBytes, pathOffsets } = index;
  const warnings: string[] = [];
  const emptied: { start: number; end: number }[] = [];
  let count = 0;
  let directoryStart = 0;
  let directoryEnd = 0;
  let directory: DirectoryState = 'real';
  for (const entry of removals) {
    const start = pathOffsets[entry] ?? 0;
    const end = pathOffsets[entry + 1] ?? 0;
    const nameStart = lastSlash(pathBytes, start, end) + 1;
    if (!sameBytes(pathBytes, start, nameStart, directoryStart, directoryEnd)) {
      directoryStart = start;
      directoryEnd = nameStart;
      directory = directoryState(pathBytes, start, nameStart, paths);
      if (directory === 'real' && nameStart > start) emptied.push({ start, end: nameStart - 1 });
    }
    if (directory === 'other') continue;
    if (directory !== 'real') {
      warnings.push(`unable to remove '${displayPath(pathBytes, start, end)}': ${directory.errno}`);
      continue;
    }
    const path = paths.absolute(pathBytes, start, end);
    if (index.modes[entry] === MODE_GITLINK) {
      // A populated submodule stays, as with git.
      if (removeEmptyDirectory(path, keep)) count++;
      else if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) {
        warnings.push(`unable to remove the submodule directory '${displayPath(pathBytes, start, end)}'`);
      }
      continue;
    }
    const errno = unlinkTracked(path);
    if (errno === null) count++;
    else warnings.push(`unable to remove '${displayPath(pathBytes, start, end)}': ${errno}`);
  }
  for (const { start, end } of emptied.reverse()) removeUpwards(pathBytes, start, end, paths, keep);
  return { count, warnings };
}

/** Removes a directory and then those above it, as long as they are empty. */
function removeUpwards(pathBytes: Bytes, start: number, end: number, paths: WorktreePaths, keep: string): void {
  let at = end;
  while (at > start && removeEmptyDirectory(paths.absolute(pathBytes, start, at), keep)) {
    at = lastSlash(pathBytes, start, at);
  }
}

/** A directory that is one and no link, something else or nothing, or one that may not be looked at. */
type DirectoryState = 'real' | 'other' | { readonly errno: string };

/** What the directory path[start, end) (with its slash) is, each of its components looked at. */
function directoryState(pathBytes: Bytes, start: number, end: number, paths: WorktreePaths): DirectoryState {
  for (let i = start; i < end; i++) {
    if (pathBytes[i] !== SLASH) continue;
    try {
      const stat = lstatSync(paths.absolute(pathBytes, start, i), { throwIfNoEntry: false });
      if (stat?.isDirectory() !== true) return 'other';
    } catch (error) {
      const errno = errnoOf(error);
      if (errno === undefined) throw error;
      return errno === 'ENOTDIR' ? 'other' : { errno };
    }
  }
  return 'real';
}

/**
 * Removes what stands where an entry goes: a file, a link, or a directory with all that is in it. A submodule's directory
 * stays for a submodule.
 * @returns whether something was removed
 * @throws CheckoutError io when it cannot be removed
 */
export function clearEntry(tables: Tables, entry: number, paths: WorktreePaths, keep: string): boolean {
  const path = paths.absolute(tables.pathBytes, tables.pathOffsets[entry] ?? 0, tables.pathOffsets[entry + 1] ?? 0);
  const stat = lstatOrNothing(path);
  if (stat === undefined) return false;
  if (stat.isDirectory() && tables.modes[entry] === MODE_GITLINK) return false;
  removeAll(path, keep);
  return true;
}

/** What may not be looked at counts as nothing: creating the entry will fail, and that error says more. */
function lstatOrNothing(path: Buffer): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return undefined;
  }
}

/** Position of the last slash in [start, end), or start - 1. */
function lastSlash(bytes: Bytes, start: number, end: number): number {
  let at = end - 1;
  while (at >= start && bytes[at] !== SLASH) at--;
  return at;
}

function sameBytes(bytes: Bytes, aStart: number, aEnd: number, bStart: number, bEnd: number): boolean {
  if (aEnd - aStart !== bEnd - bStart) return false;
  return bufferOver(bytes, aStart, aEnd).equals(bufferOver(bytes, bStart, bEnd));
}
