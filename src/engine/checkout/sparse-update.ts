/**
 * What a sparse checkout makes of the old index: which of its skip-worktree bits still count, and what becomes of entries
 * that are left out now. As git's forced checkout: a file that leaves goes, whatever is in it.
 */
import { EXTENDED_FLAG, FLAG, type IndexTable } from '../index/index-table.ts';
import { ALL, NONE, type SparseMatcher } from '../sparse/matcher.ts';
import { PathPresence } from '../worktree/path-presence.ts';
import type { WorktreePaths } from '../worktree/paths.ts';
import { isSkipped } from './marked-entries.ts';
import { STAT_WORDS, type Tables } from './tables.ts';

const SLASH = 0x2f;

/** The index without the skip-worktree bit on entries whose path is on disk: git drops it whenever it reads the index. */
export function withoutPresent(index: IndexTable, paths: WorktreePaths): IndexTable {
  const presence = new PathPresence(paths);
  let extendedFlags = index.extendedFlags;
  for (let entry = 0; entry < index.count; entry++) {
    if (!isSkipped(index, entry)) continue;
    if (!presence.has(index.pathBytes, index.pathOffsets[entry] ?? 0, index.pathOffsets[entry + 1] ?? 0)) continue;
    if (extendedFlags === index.extendedFlags) extendedFlags = extendedFlags.slice();
    extendedFlags[entry] = (extendedFlags[entry] ?? 0) & ~EXTENDED_FLAG.skipWorktree;
  }
  return extendedFlags === index.extendedFlags ? index : { ...index, extendedFlags };
}

/** Whether an entry is on disk by the patterns; for single ones, as those of the old index that the new tree does not have. */
export function isInside(
  matcher: SparseMatcher,
  { pathBytes, pathOffsets }: Pick<IndexTable, 'pathBytes' | 'pathOffsets'>,
  entry: number,
): boolean {
  const path = pathBytes.subarray(pathOffsets[entry] ?? 0, pathOffsets[entry + 1] ?? 0);
  let verdict = matcher.root;
  let name = 0;
  for (let slash = path.indexOf(SLASH); slash >= 0; slash = path.indexOf(SLASH, name)) {
    if (verdict === ALL || verdict === NONE) break;
    verdict = matcher.directory(path, name, slash, verdict);
    name = slash + 1;
  }
  if (verdict === ALL || verdict === NONE) return verdict === ALL;
  return matcher.includes(path, 0, name, path.length, false, verdict);
}

/** Marks a new entry that is left out. */
export function leaveOut(tables: Tables, entry: number): void {
  tables.extendedFlags[entry] = EXTENDED_FLAG.skipWorktree;
}

/**
 * The same for one that the old index has with the same mode and id: it keeps its other marks, and the stat data that its
 * file had last.
 */
export function leaveOutAsBefore(tables: Tables, entry: number, index: IndexTable, old: number): void {
  tables.flags[entry] = (index.flags[old] ?? 0) & FLAG.assumeValid;
  tables.extendedFlags[entry] = (index.extendedFlags[old] ?? 0) | EXTENDED_FLAG.skipWorktree;
  tables.stats.set(index.stats.subarray(old * STAT_WORDS, (old + 1) * STAT_WORDS), entry * STAT_WORDS);
}

/** Takes the mark off an entry that is not left out, or no longer. */
export function bringIn(tables: Tables, entry: number): void {
  tables.extendedFlags[entry] = (tables.extendedFlags[entry] ?? 0) & ~EXTENDED_FLAG.skipWorktree;
}
