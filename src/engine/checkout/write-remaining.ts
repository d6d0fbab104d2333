/**
 * Writes in the main thread what no worker did: entries of workers that died, collisions, and what could not be read.
 */
import { lstatSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CheckoutError } from '../errors.ts';
import { errnoOf } from '../errors.ts';
import type { LeadingDirectories } from '../worktree/leading-directories.ts';
import type { WorktreePaths } from '../worktree/paths.ts';
import { addPartners, collisionWarning } from './collisions.ts';
import type { EntryWriter } from './entry-writer.ts';
import type { FilterPass } from './filter-pass.ts';
import { makeLater } from './links-and-submodules.ts';
import { clearOrFail } from './make-way.ts';
import { type Prepared, type TreeCheckout, stopIfAborted } from './request.ts';
import { State, type Tables, isForWorkers } from './tables.ts';
import { findAgain, isUnread, locate } from './unread.ts';
import { keepByHash } from './verify-by-hash.ts';

/** Writes in the main thread, in index order, what no worker did: entries of workers that died, and collisions. */
export async function writeRemaining(
  request: TreeCheckout,
  prepared: Prepared,
  directories: LeadingDirectories,
  writer: EntryWriter,
  filters: FilterPass,
  failures: Map<number, CheckoutError>,
): Promise<void> {
  const { manifest, paths, collisions } = prepared;
  const { tables } = manifest;
  directories.forget();
  addPartners(tables, paths);
  /** Groups of which one entry has taken another's place. */
  const hit = new Set<number>();
  const write = (entry: number, state: number): void => {
    for (;;) {
      tables.states[entry] = state;
      writer.write(entry, null);
      writer.dropRetained();
      if (!isUnread(tables.states[entry])) return;
      if (!findAgain(request.odb, tables, entry)) break;
      writer.usePacks(request.odb.packs);
    }
    if (state === State.VERIFY && keepByHash(tables, entry, request.conversionList(), paths)) return;
    tables.states[entry] = State.FAILED;
    if (writer.unread !== null) failures.set(entry, writer.unread);
  };
  for (let entry = 0; entry < tables.count; entry++) {
    const state = tables.states[entry];
    const group = collisions?.groups[entry] ?? 0;
    const open = state === State.COLLIDED || isUnread(state) || isForWorkers(state);
    if (!open && (group === 0 || state !== State.LATER)) continue;
    stopIfAborted(request);
    // A worker that died may have left a part of the file; a collision, another file.
    const directory = tables.directories[entry] ?? 0;
    if (state === State.COLLIDED || group > 0) directories.ensureAnew(directory);
    else directories.ensure(directory);
    // What is there stays as long as nobody knows that it must be other.
    if (state === State.UNREAD_VERIFY && group === 0) {
      write(entry, State.VERIFY);
      const now = tables.states[entry];
      if (now !== State.COLLIDED && now !== State.FILTER_VERIFY) continue;
    }
    if (group > 0 && isThere(tables, entry, paths)) hit.add(group);
    if (state === State.LATER) {
      makeLater(request, prepared, directories, failures, entry);
      continue;
    }
    if (!clearOrFail(request, prepared, failures, entry)) continue;
    if (filters.isFiltered(entry)) {
      await filters.writeCollided(entry);
      continue;
    }
    if (group > 0 && !isUnread(state) && !locate(request.odb, tables, failures, entry)) continue;
    writer.usePacks(request.odb.packs);
    write(entry, State.PENDING);
    // A file of Git LFS that is not in the store.
    if (tables.states[entry] === State.FILTER) await filters.writeCollided(entry);
    await nextTurn();
  }
  if (request.isClone && hit.size > 0 && collisions !== null) {
    request.warn(collisionWarning(tables, collisions.groups, hit));
  }
}

function isThere(tables: Tables, entry: number, paths: WorktreePaths): boolean {
  const path = paths.absolute(tables.pathBytes, tables.pathOffsets[entry] ?? 0, tables.pathOffsets[entry + 1] ?? 0);
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return false;
  }
}
