/**
 * Entries whose blob could not be read where it was found: it is looked for again, in other copies and after a repack.
 */
import type { CheckoutError } from '../errors.ts';
import { type ObjectDatabase, missing } from '../odb/object-database.ts';
import { cutBatches } from '../plan/batches.ts';
import { NEXT_BATCH, READY, STOP } from './control.ts';
import { fail } from './failures.ts';
import type { Pass } from './messages.ts';
import { State, type Tables } from './tables.ts';
import { sortWrites } from './write-order.ts';

/** Whether an entry waits for a second look. */
export function isUnread(state: number | undefined): boolean {
  return state === State.UNREAD || state === State.UNREAD_VERIFY;
}

/** Looks for another place of an entry's object that could not be read, and puts it into the tables. */
export function findAgain(odb: ObjectDatabase, tables: Tables, entry: number): boolean {
  if (!odb.findAgain(tables.oids, entry * tables.format.oidBytes, tables.packs[entry] ?? 0, tables.offsets[entry] ?? 0))
    return false;
  tables.packs[entry] = odb.pack;
  tables.offsets[entry] = odb.offset;
  return true;
}

/** Finds the blob of an entry that the workers did not get. */
export function locate(
  odb: ObjectDatabase,
  tables: Tables,
  failures: Map<number, CheckoutError>,
  entry: number,
): boolean {
  const oidAt = entry * tables.format.oidBytes;
  if (!odb.find(tables.oids, oidAt) && !odb.findAgain(tables.oids, oidAt, -1, 0)) {
    fail(tables, failures, entry, missing(tables.oids, oidAt, tables.format));
    return false;
  }
  tables.packs[entry] = odb.pack;
  tables.offsets[entry] = odb.offset;
  return true;
}

/**
 * The pass over what could not be read where it was found: a repack by another process may have moved all that is left, so this is done
 * by all workers again. What cannot be read there either is left to the main thread. Null when there is nothing to do.
 */
export function passOverUnread(odb: ObjectDatabase, tables: Tables, control: Int32Array): Pass | null {
  if (Atomics.load(control, STOP) !== 0) return null;
  const moved: number[] = [];
  for (let entry = 0; entry < tables.count; entry++) {
    const state = tables.states[entry];
    if (!isUnread(state) || !findAgain(odb, tables, entry)) continue;
    tables.states[entry] = state === State.UNREAD ? State.PENDING : State.VERIFY;
    moved.push(entry);
  }
  if (moved.length === 0) return null;
  const { order, positions } = sortWrites(tables, Uint32Array.from(moved));
  Atomics.store(control, NEXT_BATCH, 0);
  Atomics.store(control, READY, order.length);
  return { order, batchStarts: cutBatches(positions), deferred: null, packs: [...odb.packs] };
}
