/**
 * The words by which the main thread and the workers steer a run, each used through Atomics only; and counters, each written by
 * one thread.
 */

/** Next batch to be claimed. */
export const NEXT_BATCH = 0;
/** Entries of the write order, from its beginning, whose way is clear: their directories exist. */
export const READY = 1;
/** Not 0: stop. */
export const STOP = 2;
/** Entries in the list of deferred ones. */
export const DEFERRED = 3;
/** Next file to be claimed for removal (removals.ts). */
export const NEXT_REMOVAL = 4;
const CONTROL_WORDS = 5;

/** What each thread has done so far, a row for each: for progress, and for the report when a thread dies. */
export const FILES_DONE = 0;
export const BYTES_DONE = 1;
export const COUNTERS = 2;

/** A row for the main thread (0) and for each worker. */
export function createCounters(workers: number): Float64Array<SharedArrayBuffer> {
  return new Float64Array(new SharedArrayBuffer(8 * COUNTERS * (workers + 1)));
}

export function createControl(): Int32Array<SharedArrayBuffer> {
  return new Int32Array(new SharedArrayBuffer(4 * CONTROL_WORDS));
}
