/**
 * Holds the manifest against the index and the working tree: what can stay, what must be written, what must go. These are the rules
 * of a forced checkout (git's one-way merge with reset): a tracked file stays when the index has it with the same id and
 * mode and its stat data have not changed; everything else is written anew.
 */
import { lstatSync, type BigIntStats } from 'node:fs';
import type { Bytes } from '../bytes.ts';
import { FLAG, STAT, type IndexTable } from '../index/index-table.ts';
import { isEmptyBlob, isRacy, matchStat, type StatComparison } from '../index/stat-words.ts';
import { MODE_GITLINK, MODE_SYMLINK } from '../object/tree.ts';
import { oidEquals } from '../oid.ts';
import type { WorktreePaths } from '../worktree/paths.ts';
import { carryMarks, isMarked, isSkipped, keepUnseen, refuseLocalChanges } from './marked-entries.ts';
import type { SparseRules } from './sparse-rules.ts';
import { bringIn, isInside, leaveOut, leaveOutAsBefore, withoutPresent } from './sparse-update.ts';
import { State, STAT_WORDS, type Tables } from './tables.ts';

const SLASH = 0x2f;

export interface Comparison {
  /** Entries of the old index that the new tree does not have. */
  readonly removals: Uint32Array;
  /** The same for directories: the path of number i is the first vanishedLengths[i] bytes of that of entry vanished[i]. Parents come first. */
  readonly vanished: Uint32Array;
  readonly vanishedLengths: Uint32Array;
  /** Entries that stay without being looked at again. */
  readonly kept: number;
  /** Entries for workers: PENDING, REPLACE and VERIFY. */
  readonly toWrite: number;
  /** Reasons for which only git can do this update. */
  readonly needsGit: readonly string[];
}

/**
 * All is to be written: there is no index, so nothing on disk is known.
 * @param symlinks core.symlinks; where it is off, links are written as files
 */
export function compareWithNothing(tables: Tables, symlinks: boolean): Comparison {
  let toWrite = 0;
  for (let i = 0; i < tables.count; i++) {
    startEntry(tables, i, symlinks);
    if (tables.states[i] === State.PENDING) toWrite++;
  }
  const none = new Uint32Array(0);
  return { removals: none, vanished: none, vanishedLengths: none, kept: 0, toWrite, needsGit: [] };
}

/** Sets the state of an entry that the index does not have. The manifest has marked those outside of a sparse checkout. */
function startEntry(tables: Tables, entry: number, symlinks: boolean): void {
  if (tables.states[entry] === State.SKIPPED) leaveOut(tables, entry);
  else tables.states[entry] = initialState(tables, entry, symlinks);
}

/**
 * @param symlinks core.symlinks
 * @param pending the state of a file
 */
function initialState(tables: Tables, entry: number, symlinks: boolean, pending: number = State.PENDING): number {
  const mode = tables.modes[entry];
  return (mode === MODE_SYMLINK && symlinks) || mode === MODE_GITLINK ? State.LATER : pending;
}

/**
 * Sets the state of each entry, and for those that stay their stat data, from the old index and the files on disk.
 * @param sparse null where core.sparseCheckout is off; skip-worktree is a mark like others then
 */
export function compareWithIndex(
  tables: Tables,
  oldIndex: IndexTable,
  paths: WorktreePaths,
  statComparison: StatComparison,
  sparse: SparseRules | null,
): Comparison {
  const index = sparse === null || sparse.expectOutside ? oldIndex : withoutPresent(oldIndex, paths);
  const matcher = sparse?.matcher ?? null;
  const removals: number[] = [];
  const needsGit = new Set<string>();
  const vanished = new Vanished(tables, index);
  const removed = (entry: number): void => {
    vanished.add(entry, removals[removals.length - 1]);
    removals.push(entry);
  };
  let kept = 0;
  let toWrite = 0;
  let old = 0;
  let entry = 0;
  while (entry < tables.count || old < index.count) {
    const order = entry >= tables.count ? 1 : old >= index.count ? -1 : comparePaths(tables, entry, index, old);
    if (order > 0) {
      const leftOut = matcher !== null && isMarked(index, old) && !isInside(matcher, index, old);
      // Unmerged paths have several entries; one removal is enough. What is left out before and after is not ours.
      const previous = removals[removals.length - 1];
      const again = previous !== undefined && samePath(index, previous, old);
      if (!again && !(leftOut && isSkipped(index, old))) removed(old);
      if (isMarked(index, old) && !(leftOut && isSkipped(index, old))) {
        refuseLocalChanges(index, old, paths, statComparison);
      }
      old++;
      continue;
    }
    if (order < 0) {
      startEntry(tables, entry, statComparison.symlinks);
      if (tables.states[entry] === State.PENDING) toWrite++;
      entry++;
      continue;
    }
    const same = sameInIndex(tables, entry, index, old);
    if (tables.states[entry] === State.SKIPPED) {
      if (isUnmerged(index, old)) needsGit.add('an unmerged path lies outside of the sparse checkout');
      if (!isSkipped(index, old)) {
        if (!same && isMarked(index, old)) refuseLocalChanges(index, old, paths, statComparison);
        removed(old);
        // git removes what the new entry would be there: a file's unlink leaves a submodule's directory alone.
        index.modes[old] = tables.modes[entry] ?? 0;
      }
      leaveOut(tables, entry);
      if (same) leaveOutAsBefore(tables, entry, index, old);
    } else {
      let look = same;
      if (isMarked(index, old)) {
        if (!same) refuseLocalChanges(index, old, paths, statComparison);
        look = carryMarks(tables, entry, index, old, same);
        if (matcher !== null) bringIn(tables, entry);
      }
      const state = look
        ? stateOnDisk(tables, entry, index, old, paths, statComparison)
        : same && isSkipped(index, old) && matcher === null
          ? keepUnseen(tables, entry, index, old, paths, statComparison)
          : initialState(tables, entry, statComparison.symlinks, State.REPLACE);
      tables.states[entry] = state;
      if (state === State.KEPT) kept++;
      else if (state !== State.LATER) toWrite++;
    }
    entry++;
    old++;
    // Further stages of an unmerged path.
    while (old < index.count && comparePaths(tables, entry - 1, index, old) === 0) old++;
  }
  return {
    removals: Uint32Array.from(removals),
    vanished: Uint32Array.from(vanished.entries),
    vanishedLengths: Uint32Array.from(vanished.lengths),
    kept,
    toWrite,
    needsGit: [...needsGit],
  };
}

/** Byte order of an entry's path and a path of the index. */
function comparePaths(tables: Tables, entry: number, index: IndexTable, old: number): number {
  const aStart = tables.pathOffsets[entry] ?? 0;
  const aLength = (tables.pathOffsets[entry + 1] ?? 0) - aStart;
  const bStart = index.pathOffsets[old] ?? 0;
  const bLength = (index.pathOffsets[old + 1] ?? 0) - bStart;
  const least = aLength < bLength ? aLength : bLength;
  for (let i = 0; i < least; i++) {
    const difference = (tables.pathBytes[aStart + i] ?? 0) - (index.pathBytes[bStart + i] ?? 0);
    if (difference !== 0) return difference;
  }
  return aLength - bLength;
}

/** Finds the directories of removed entries that the new tree does not have on disk. Entries come in the order of the index. */
class Vanished {
  readonly entries: number[] = [];
  readonly lengths: number[] = [];
  readonly #tables: Tables;
  readonly #index: IndexTable;
  /** The first entry of the new tree on disk that is not before the last removed one, and the one before it. */
  #next = 0;
  #before = -1;

  constructor(tables: Tables, index: IndexTable) {
    this.#tables = tables;
    this.#index = index;
  }

  /** @param previous the entry that was removed before this one */
  add(old: number, previous: number | undefined): void {
    const tables = this.#tables;
    const index = this.#index;
    for (; this.#next < tables.count; this.#next++) {
      if (tables.states[this.#next] === State.SKIPPED) continue;
      if (comparePaths(tables, this.#next, index, old) > 0) break;
      this.#before = this.#next;
    }
    // Directories that the tree has would be those of its neighbours there, and some were noted with the last removal.
    let common = previous === undefined ? 0 : commonLength(index, previous, index, old);
    if (this.#next < tables.count) common = Math.max(common, commonLength(tables, this.#next, index, old));
    if (this.#before >= 0) common = Math.max(common, commonLength(tables, this.#before, index, old));
    const start = index.pathOffsets[old] ?? 0;
    const length = (index.pathOffsets[old + 1] ?? 0) - start;
    for (let i = common; i < length; i++) {
      if (index.pathBytes[start + i] !== SLASH) continue;
      this.entries.push(old);
      this.lengths.push(i);
    }
  }
}

interface Paths {
  readonly pathBytes: Bytes;
  readonly pathOffsets: Uint32Array;
}

/** How many bytes two paths begin with in common. */
function commonLength(a: Paths, i: number, b: Paths, j: number): number {
  const aStart = a.pathOffsets[i] ?? 0;
  const bStart = b.pathOffsets[j] ?? 0;
  const least = Math.min((a.pathOffsets[i + 1] ?? 0) - aStart, (b.pathOffsets[j + 1] ?? 0) - bStart);
  let common = 0;
  while (common < least && a.pathBytes[aStart + common] === b.pathBytes[bStart + common]) common++;
  return common;
}

function samePath(index: IndexTable, a: number, b: number): boolean {
  const aStart = index.pathOffsets[a] ?? 0;
  const bStart = index.pathOffsets[b] ?? 0;
  const length = (index.pathOffsets[a + 1] ?? 0) - aStart;
  if ((index.pathOffsets[b + 1] ?? 0) - bStart !== length) return false;
  for (let i = 0; i < length; i++) if (index.pathBytes[aStart + i] !== index.pathBytes[bStart + i]) return false;
  return true;
}

function isUnmerged(index: IndexTable, old: number): boolean {
  return ((index.flags[old] ?? 0) & FLAG.stage) !== 0;
}

/** Whether the index has the entry merged, with the same id and mode. */
function sameInIndex(tables: Tables, entry: number, index: IndexTable, old: number): boolean {
  const { oidBytes } = tables.format;
  return (
    !isUnmerged(index, old) &&
    index.modes[old] === tables.modes[entry] &&
    oidEquals(tables.oids, entry * oidBytes, index.oids, old * oidBytes, oidBytes)
  );
}

function stateOnDisk(
  tables: Tables,
  entry: number,
  index: IndexTable,
  old: number,
  paths: WorktreePaths,
  statComparison: StatComparison,
): number {
  const path = paths.absolute(tables.pathBytes, tables.pathOffsets[entry] ?? 0, tables.pathOffsets[entry + 1] ?? 0);
  const stat = lstatOrNothing(path);
  const oldAt = old * STAT_WORDS;
  const emptyBlob =
    index.stats[oldAt + STAT.size] === 0 && isEmptyBlob(index.oids, old * index.format.oidBytes, index.format);
  if (stat === undefined) return initialState(tables, entry, statComparison.symlinks);
  if (matchStat(index.stats, oldAt, stat, statComparison, emptyBlob) === 'changed') {
    return initialState(tables, entry, statComparison.symlinks, State.REPLACE);
  }
  // Not `set` of a `subarray`: ten words cost less than an object, a million times.
  for (let word = 0, at = entry * STAT_WORDS; word < STAT_WORDS; word++)
    tables.stats[at++] = index.stats[oldAt + word]!;
  if (!isRacy(index.stats, oldAt, index.mtimeSeconds)) return State.KEPT;
  // Links are compared by the main thread, which makes them.
  return tables.modes[entry] === MODE_SYMLINK && statComparison.symlinks ? State.LATER : State.VERIFY;
}

/** lstat without an exception for what is not there; a file where a directory should be counts as nothing, too. */
function lstatOrNothing(path: Buffer): BigIntStats | undefined {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false });
  } catch {
    // ENOTDIR, ELOOP, EACCES: whatever it is, it is not the file that the index knows.
    return undefined;
  }
}
