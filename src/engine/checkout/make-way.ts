/**
 * Makes directories and clears the way for entries, a step ahead of the workers, who follow as it goes.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { CheckoutError } from '../errors.ts';
import { STAT } from '../index/index-table.ts';
import type { LeadingDirectories } from '../worktree/leading-directories.ts';
import { clearEntry } from './clear-way.ts';
import { READY } from './control.ts';
import { fail } from './failures.ts';
import { type Prepared, type TreeCheckout, stopIfAborted } from './request.ts';
import { STAT_WORDS, State, isForWorkers } from './tables.ts';

/** Directories are made this many entries at a time before workers are told, so that they are not told for each file. */
const READY_STEP = 256;

/** Makes directories, and removes what is in the way if workers do not, in write order, letting the workers follow. */
export async function clearWay(
  request: TreeCheckout,
  prepared: Prepared,
  order: Uint32Array,
  directories: LeadingDirectories,
  control: Int32Array,
  failures: Map<number, CheckoutError>,
): Promise<void> {
  const { tables } = prepared.manifest;
  const replace = workersReplace(request, prepared);
  const publish = (ready: number): void => {
    Atomics.store(control, READY, ready);
    Atomics.notify(control, READY);
  };
  if (request.foldsNames) {
    // The first one to need a directory says how it is spelled.
    for (let entry = 0; entry < tables.count; entry++) {
      const state = tables.states[entry];
      if (isForWorkers(state) || state === State.LATER || state === State.COLLIDED) {
        directories.ensure(tables.directories[entry] ?? 0);
      }
    }
  }
  for (let i = 0; i < order.length; i++) {
    const entry = order[i] ?? 0;
    if (i % READY_STEP === 0 && i > 0) {
      // Where names fold, a removal for one entry could hit what a worker has just written for another.
      if (!request.foldsNames) publish(i);
      // Let signals through now and then.
      if (i % (16 * READY_STEP) === 0) {
        await nextTurn();
        stopIfAborted(request);
      }
    }
    const existed = directories.ensure(tables.directories[entry] ?? 0);
    if (!replace && existed && tables.states[entry] !== State.VERIFY) clearOrFail(request, prepared, failures, entry);
  }
  publish(order.length);
}

/**
 * Removes what is still at the place of an entry that failed before its turn to be cleared, for want of its blob: git clears
 * the way first, and an old file must not pass for the new one.
 */
export function clearFailed(
  request: TreeCheckout,
  { manifest: { tables }, paths }: Prepared,
  directories: LeadingDirectories,
  failures: ReadonlyMap<number, CheckoutError>,
): void {
  for (const entry of failures.keys()) {
    // Stat data are those of a file that is as it should be, as far as can be told without the blob.
    if (tables.stats[entry * STAT_WORDS + STAT.mtimeSeconds] !== 0) continue;
    try {
      if (directories.ensure(tables.directories[entry] ?? 0)) clearEntry(tables, entry, paths, request.keep);
    } catch (error) {
      // It has failed already, and the first reason is the better one.
      if (!(error instanceof CheckoutError)) throw error;
    }
  }
}

/** Removes what is in an entry's way; where that fails the entry has failed, and the others go on. */
export function clearOrFail(
  request: TreeCheckout,
  prepared: Prepared,
  failures: Map<number, CheckoutError>,
  entry: number,
): boolean {
  try {
    clearEntry(prepared.manifest.tables, entry, prepared.paths, request.keep);
    return true;
  } catch (error) {
    if (!(error instanceof CheckoutError)) throw error;
    fail(prepared.manifest.tables, failures, entry, error);
    return false;
  }
}

/**
 * Whether workers remove the files that theirs replace. Not where names may fold: a removal for one entry could
 * hit what has just been written for another. And not in an empty working tree, where nothing but such another file can
 * be in the way.
 */
export function workersReplace(request: TreeCheckout, prepared: Prepared): boolean {
  return !request.foldsNames && !prepared.rootIsEmpty;
}
