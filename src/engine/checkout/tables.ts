/**
 * The manifest's tables: one row for each entry of the commit, in index order, as flat arrays in shared memory. Threads read
 * and fill the same tables, so a million entries cost no copies and no messages.
 */
import { CheckoutError } from '../errors.ts';
import type { ObjectFormat } from '../oid.ts';

/** Each entry ends in one of the final states; PENDING or VERIFY at the end of a run is a bug. */
export const State = {
  /** To be written by a worker. */
  PENDING: 0,
  /** The file on disk has this entry's stat data but may have changed in the same second: to be compared by a worker. */
  VERIFY: 1,
  /** A link or a submodule directory: the main thread makes these last. */
  LATER: 2,
  /** Something was unexpectedly there, or the worker died: the main thread tries again. */
  COLLIDED: 3,
  // Final states.
  WRITTEN: 4,
  /** Already as it should be; its stat data stay. */
  KEPT: 5,
  FAILED: 6,
  // Open again, so that the order of the numbers above stays.
  /** Goes through a filter driver: the main thread writes it while the workers write the others. */
  FILTER: 7,
  /** The same, and the file on disk is to be compared as with VERIFY. */
  FILTER_VERIFY: 8,
  // Final again.
  /** Outside of the sparse checkout: in the index only, with the skip-worktree bit. */
  SKIPPED: 9,
  // And open.
  /** As PENDING, and the old index has something there, so that it is removed first. */
  REPLACE: 10,
  // Not final: the object of an entry for workers could not be read where it was found; the main thread looks for another place.
  UNREAD: 11,
  UNREAD_VERIFY: 12,
} as const;

/** Whether an entry in this state is for a worker. */
export function isForWorkers(state: number | undefined): boolean {
  return state === State.PENDING || state === State.REPLACE || state === State.VERIFY;
}

/** Most entries of a checkout: 24 bits of a sort key (write-order.ts). Larger trees than the largest known by ten times. */
export const MAX_ENTRIES = 0xffffff;
/** Offsets into the paths are 32 bits wide. */
export const MAX_PATH_TABLE_BYTES = 0xffffffff;

/** Words of stat data for each entry, in the order of the index file. */
export const STAT_WORDS = 10;

export interface Tables {
  /** Of the ids. */
  readonly format: ObjectFormat;
  count: number;
  /** Path i is pathBytes[pathOffsets[i], pathOffsets[i + 1]). */
  pathBytes: Uint8Array<SharedArrayBuffer>;
  pathOffsets: Uint32Array<SharedArrayBuffer>;
  /** `format.oidBytes` each. */
  oids: Uint8Array<SharedArrayBuffer>;
  modes: Uint32Array<SharedArrayBuffer>;
  /** Assume-valid, as `FLAG` has it. What these two hold goes into the new index. */
  flags: Uint16Array<SharedArrayBuffer>;
  /** Skip-worktree and intent-to-add, as `EXTENDED_FLAG` has them. */
  extendedFlags: Uint16Array<SharedArrayBuffer>;
  /** Number of the conversion that the content goes through. */
  conversions: Uint8Array<SharedArrayBuffer>;
  states: Uint8Array<SharedArrayBuffer>;
  /** Where the blob is: number of the pack and offset in it. */
  packs: Uint16Array<SharedArrayBuffer>;
  offsets: Float64Array<SharedArrayBuffer>;
  /** The directory that the entry is in. */
  directories: Uint32Array<SharedArrayBuffer>;
  stats: Uint32Array<SharedArrayBuffer>;
}

function shared(bytes: number): SharedArrayBuffer {
  try {
    return new SharedArrayBuffer(bytes);
  } catch (error) {
    throw new CheckoutError('memory', `cannot allocate ${bytes} bytes for the list of files`, {}, error);
  }
}

/** Tables with room for `capacity` entries; memory that is not touched costs nothing. */
export function allocateTables(capacity: number, pathCapacity: number, format: ObjectFormat): Tables {
  return {
    format,
    count: 0,
    pathBytes: new Uint8Array(shared(pathCapacity)),
    pathOffsets: new Uint32Array(shared(4 * (capacity + 1))),
    oids: new Uint8Array(shared(format.oidBytes * capacity)),
    modes: new Uint32Array(shared(4 * capacity)),
    flags: new Uint16Array(shared(2 * capacity)),
    extendedFlags: new Uint16Array(shared(2 * capacity)),
    conversions: new Uint8Array(shared(capacity)),
    states: new Uint8Array(shared(capacity)),
    packs: new Uint16Array(shared(2 * capacity)),
    offsets: new Float64Array(shared(8 * capacity)),
    directories: new Uint32Array(shared(4 * capacity)),
    stats: new Uint32Array(shared(4 * STAT_WORDS * capacity)),
  };
}

/** Makes room for at least one more entry. */
export function growEntries(tables: Tables): void {
  const grown = allocateTables(tables.modes.length * 2, 0, tables.format);
  grown.pathOffsets.set(tables.pathOffsets);
  grown.oids.set(tables.oids);
  grown.modes.set(tables.modes);
  grown.conversions.set(tables.conversions);
  grown.states.set(tables.states);
  grown.packs.set(tables.packs);
  grown.offsets.set(tables.offsets);
  grown.directories.set(tables.directories);
  // Stat data and flags are empty while entries are still being added.
  Object.assign(tables, { ...grown, count: tables.count, pathBytes: tables.pathBytes });
}

/** Makes room for `more` further bytes of paths. */
export function growPaths(tables: Tables, used: number, more: number): void {
  let capacity = tables.pathBytes.length * 2;
  while (capacity < used + more) capacity *= 2;
  const grown = new Uint8Array(shared(capacity));
  grown.set(tables.pathBytes.subarray(0, used));
  tables.pathBytes = grown;
}
