/**
 * The words by which the main thread and the workers steer a run; each is used through Atomics only.
 */

/** Next batch to be claimed. */
export const NEXT_BATCH = 0;
/** Entries of the write order, from its beginning, whose way is clear: their directories exist. */
export const READY = 1;
/** Not 0: stop. */
export const STOP = 2;
/** Entries done, for progress. */
export const FILES_DONE = 3;
/** KiB written, for progress. */
export const KIB_DONE = 4;
/** Entries in the list of deferred ones. */
export const DEFERRED = 5;
export const CONTROL_WORDS = 6;

export function createControl(): Int32Array<SharedArrayBuffer> {
  return new Int32Array(new SharedArrayBuffer(4 * CONTROL_WORDS));
}
