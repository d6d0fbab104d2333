/**
 * Clears the way for what is written: what is left to remove of what the new tree does not have, and what stands where an entry
 * goes. Main thread only.
 */
import { lstatSync, type Stats } from 'node:fs';
import { bufferOver, type Bytes } from '../bytes.ts';
import { CheckoutError, errnoOf } from '../errors.ts';
import type { IndexTable } from '../index/index-table.ts';
import { MODE_GITLINK } from '../object/tree.ts';
import { displayPath, type WorktreePaths } from '../worktree/paths.ts';
import { RealDirectories } from '../worktree/real-directories.ts';
import { removeAll, removeEmptyDirectory, unlinkTracked } from '../worktree/remove.ts';
import type { Comparison } from './compare.ts';
import { Removal, type Removals } from './removals.ts';
import type { Tables } from './tables.ts';

const SLASH = 0x2f;

export interface Removed {
  readonly count: number;
  /** What could not be removed, one line each. */
  readonly warnings: readonly string[];
}

/**
 * Ends the removal of tracked entries that the new tree does not have: what no thread could remove, submodules, and the
 * directories that only such entries were in. A path below a link or below something that is no directory is not ours and
 * is left alone.
 * @param files what threads have removed
 * @param keep a directory that must not be removed
 * @param withSubmodules remove submodules with all that is in them, which git leaves
 */
export function endRemovals(
  index: IndexTable,
  { removals, vanished, vanishedLengths }: Comparison,
  files: Removals,
  paths: WorktreePaths,
  keep: string,
  withSubmodules: boolean,
): Removed {
  const { pathBytes, pathOffsets } = index;
  const warnings: string[] = [];
  const directories = new RealDirectories(paths);
  /** What a directory of which nothing was removed needs to be told by; null as long as there can be none. */
  const mayHaveNone = files.states.includes(Removal.NOT_OURS) || files.count < removals.length;
  const emptied = mayHaveNone ? new Set<string>() : null;
  let count = 0;
  for (let i = 0; i < files.count; i++) {
    const state = files.states[i];
    if (state === Removal.GONE) {
      count++;
      if (emptied !== null)
        addDirectories(emptied, files.pathBytes, files.pathOffsets[i] ?? 0, files.pathOffsets[i + 1] ?? 0);
    }
    if (state === Removal.GONE || state === Removal.NOT_OURS) continue;
    const start = files.pathOffsets[i] ?? 0;
    const end = files.pathOffsets[i + 1] ?? 0;
    const leading = directories.look(files.pathBytes, start, end);
    if (leading === 'other' || leading === 'missing') continue;
    const errno =
      leading === 'real' ? unlinkTracked(paths.absolute(files.pathBytes, start, end)) : directories.lastErrno;
    if (errno === null) count++;
    else warnings.push(`unable to remove '${displayPath(files.pathBytes, start, end)}': ${errno}`);
  }
  for (const entry of removals) {
    if (index.modes[entry] !== MODE_GITLINK) continue;
    const start = pathOffsets[entry] ?? 0;
    const end = pathOffsets[entry + 1] ?? 0;
    const leading = directories.look(pathBytes, start, end);
    if (leading === 'unknown') {
      warnings.push(`unable to remove '${displayPath(pathBytes, start, end)}': ${directories.lastErrno}`);
    }
    if (leading !== 'real') continue;
    const path = paths.absolute(pathBytes, start, end);
    // A populated submodule stays, as with git, unless it was asked for that none does.
    const removed = removeEmptyDirectory(path, keep) || (withSubmodules && removeDirectory(path, keep, warnings));
    if (removed) count++;
    if (removed || lstatOrNothing(path) === undefined) {
      if (emptied !== null) addDirectories(emptied, pathBytes, start, end);
    } else warnings.push(`unable to remove the submodule directory '${displayPath(pathBytes, start, end)}'`);
  }
  // From the last one on, so that what is in a directory goes before it.
  for (let i = vanished.length - 1; i >= 0; i--) {
    const start = pathOffsets[vanished[i] ?? 0] ?? 0;
    const end = start + (vanishedLengths[i] ?? 0);
    // git goes upwards from what it has removed. A directory that was empty before stays.
    if (emptied?.has(latin1(pathBytes, start, end)) === false) continue;
    if (directories.leadTo(pathBytes, start, end)) removeEmptyDirectory(paths.absolute(pathBytes, start, end), keep);
  }
  return { count, warnings };
}

/** Removes a submodule's directory with all that is in it. Of a link or file in its place nothing is ours. */
function removeDirectory(path: Buffer, keep: string, warnings: string[]): boolean {
  if (lstatOrNothing(path)?.isDirectory() !== true) return false;
  try {
    removeAll(path, keep);
    return true;
  } catch (error) {
    if (!(error instanceof CheckoutError)) throw error;
    warnings.push(error.message);
    return false;
  }
}

/** Adds all directories that lead to a path. */
function addDirectories(found: Set<string>, bytes: Bytes, start: number, end: number): void {
  for (let at = lastSlash(bytes, start, end); at >= start; at = lastSlash(bytes, start, at)) {
    const directory = latin1(bytes, start, at);
    if (found.has(directory)) return;
    found.add(directory);
  }
}

function latin1(bytes: Bytes, start: number, end: number): string {
  return bufferOver(bytes, start, end).toString('latin1');
}

/** Position of the last slash in [start, end), or start - 1. */
function lastSlash(bytes: Bytes, start: number, end: number): number {
  let at = end - 1;
  while (at >= start && bytes[at] !== SLASH) at--;
  return at;
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
