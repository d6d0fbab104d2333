/**
 * Entries of the old index that somebody marked: assume-valid (`git update-index --assume-unchanged`), skip-worktree and
 * intent-to-add (`git add -N`). A forced checkout treats them as git's one-way merge does:
 *
 * - An entry that stays as it is keeps its marks. A skip-worktree file is not even looked at; an intent-to-add entry
 *   counts as changed, so its file is written.
 * - An entry that changes keeps skip-worktree alone.
 * - A file marked assume-valid or skip-worktree whose entry changes or goes must be as the index has it. If it is not,
 *   git refuses the checkout even with --force, and so do we, before anything is touched.
 */
import { createHash } from 'node:crypto';
import { closeSync, constants, lstatSync, openSync, readlinkSync, readSync, type BigIntStats } from 'node:fs';
import { CheckoutError, errnoOf } from '../errors.ts';
import { EXTENDED_FLAG, FLAG, STAT, type IndexTable } from '../index/index-table.ts';
import { isEmptyBlob, isRacy, matchStat, type StatComparison } from '../index/stat-words.ts';
import { MODE_GITLINK, MODE_SYMLINK } from '../object/tree.ts';
import { displayPath, type WorktreePaths } from '../worktree/paths.ts';
import { State, STAT_WORDS, type Tables } from './tables.ts';

/** A file is read in pieces of this size to be hashed: enough that system calls do not count. */
const READ_BYTES = 1 << 16;

/** Whether the old entry has any mark. The flag that says that there are further flags is none. */
export function isMarked(index: IndexTable, old: number): boolean {
  return ((index.flags[old] ?? 0) & FLAG.assumeValid) !== 0 || index.extendedFlags[old] !== 0;
}

/** Whether the old entry's file is not to be in the working tree. */
export function isSkipped(index: IndexTable, old: number): boolean {
  return ((index.extendedFlags[old] ?? 0) & EXTENDED_FLAG.skipWorktree) !== 0;
}

/**
 * Takes the marks of the old entry over to the new one, as far as git does.
 * @param same whether both have the same mode and id
 * @returns whether the file on disk decides if the entry is written
 */
export function carryMarks(tables: Tables, entry: number, index: IndexTable, old: number, same: boolean): boolean {
  const more = index.extendedFlags[old] ?? 0;
  if (!same) {
    tables.extendedFlags[entry] = more & EXTENDED_FLAG.skipWorktree;
    return false;
  }
  tables.flags[entry] = (index.flags[old] ?? 0) & FLAG.assumeValid;
  tables.extendedFlags[entry] = more;
  return more === 0;
}

/**
 * Keeps an entry whose file is not looked at, with its stat data. The file may have been changed in the second of the
 * old index, which the new one, being younger, would no longer tell; so what differs gets size 0, as git's index does.
 * @returns State.KEPT
 */
export function keepUnseen(
  tables: Tables,
  entry: number,
  index: IndexTable,
  old: number,
  paths: WorktreePaths,
  statComparison: StatComparison,
): number {
  const from = old * STAT_WORDS;
  const to = entry * STAT_WORDS;
  tables.stats.set(index.stats.subarray(from, from + STAT_WORDS), to);
  if (isRacy(index.stats, from, index.mtimeSeconds)) {
    const path = absolutePath(index, old, paths);
    const stat = lstatOrError(path);
    if (!isErrno(stat) && matches(index, old, stat, statComparison) && !hasContent(index, old, path, stat)) {
      tables.stats[to + STAT.size] = 0;
    }
  }
  return State.KEPT;
}

/**
 * Refuses to change or remove a file marked assume-valid or skip-worktree that is not as the index has it. One that is
 * gone may be written, or stay away.
 * @throws CheckoutError local-changes
 */
export function refuseLocalChanges(
  index: IndexTable,
  old: number,
  paths: WorktreePaths,
  statComparison: StatComparison,
): void {
  const mayBeOverwritten = ((index.flags[old] ?? 0) & FLAG.assumeValid) === 0 && !isSkipped(index, old);
  if (mayBeOverwritten) return;
  const path = absolutePath(index, old, paths);
  const stat = lstatOrError(path);
  if (stat === 'ENOENT') return;
  if (!isErrno(stat)) {
    if (index.modes[old] === MODE_GITLINK) return;
    const same = matches(index, old, stat, statComparison);
    const racy = isRacy(index.stats, old * STAT_WORDS, index.mtimeSeconds);
    if (same && (!racy || hasContent(index, old, path, stat))) return;
  }
  const name = displayPath(index.pathBytes, index.pathOffsets[old] ?? 0, index.pathOffsets[old + 1] ?? 0);
  const mark = isSkipped(index, old) ? 'skip-worktree' : 'assume-unchanged';
  throw new CheckoutError(
    'local-changes',
    `'${name}' is marked ${mark} in the index and has local changes that the checkout would overwrite; ` +
      `git update-index --no-${mark} takes the mark away`,
    { path: name },
  );
}

function absolutePath(index: IndexTable, old: number, paths: WorktreePaths): Buffer {
  return paths.absolute(index.pathBytes, index.pathOffsets[old] ?? 0, index.pathOffsets[old + 1] ?? 0);
}

function lstatOrError(path: Buffer): BigIntStats | string {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false }) ?? 'ENOENT';
  } catch (error) {
    return errnoOf(error) ?? 'UNKNOWN';
  }
}

function isErrno(stat: BigIntStats | string): stat is string {
  return typeof stat === 'string';
}

function matches(index: IndexTable, old: number, stat: BigIntStats, statComparison: StatComparison): boolean {
  const emptyBlob = isEmptyBlob(index.oids, old * index.format.oidBytes, index.format);
  return matchStat(index.stats, old * STAT_WORDS, stat, statComparison, emptyBlob) === 'same';
}

/**
 * Whether a file or link has the entry's id as it is. Where git would convert a file first this is false, which is the
 * safe side: it is called for marked entries of the index's own second only.
 */
function hasContent(index: IndexTable, old: number, path: Buffer, stat: BigIntStats): boolean {
  const { name, oidBytes } = index.format;
  const hash = createHash(name).update(`blob ${stat.size}\0`);
  try {
    if (index.modes[old] === MODE_SYMLINK) {
      hash.update(readlinkSync(path, { encoding: 'buffer' }));
    } else {
      // Should it have become a pipe meanwhile, opening it must not wait. Windows has no such flag.
      const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
      try {
        const piece = Buffer.allocUnsafe(READ_BYTES);
        for (let got = 1; got > 0;) {
          got = readSync(descriptor, piece, 0, piece.length, null);
          hash.update(piece.subarray(0, got));
        }
      } finally {
        closeSync(descriptor);
      }
    }
  } catch {
    // Cannot be read: then nobody can say that it is the same.
    return false;
  }
  return hash.digest().equals(index.oids.subarray(old * oidBytes, (old + 1) * oidBytes));
}
