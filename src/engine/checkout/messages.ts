/**
 * What the main thread and a worker say to each other. Tables and counters are shared memory; messages carry only what begins
 * and ends a run, and failures.
 */
import type { WorkerCost } from '../cost.ts';
import type { ErrorJson } from '../errors.ts';
import type { Conversion } from '../filter/conversion.ts';
import type { PackFile } from '../pack/pack-file.ts';
import type { Tables } from './tables.ts';

/** All that is needed to write entries; shared memory and plain values. */
export interface RunInput {
  readonly tables: Tables;
  /** Entries in the order in which they are written. */
  readonly order: Uint32Array;
  /** Batch i is order[batchStarts[i], batchStarts[i + 1]). */
  readonly batchStarts: Uint32Array;
  /** Who claimed a batch: the worker's number, 0 for nobody. */
  readonly batchOwners: Uint8Array;
  readonly control: Int32Array<SharedArrayBuffer>;
  readonly budget: Int32Array<SharedArrayBuffer>;
  readonly packs: readonly PackFile[];
  readonly objectDirectories: readonly string[];
  readonly workTree: string;
  readonly conversions: readonly Conversion[];
  readonly platform: NodeJS.Platform;
}

export type ToWorker =
  { readonly type: 'run'; readonly id: number; readonly input: RunInput } | { readonly type: 'end' };

export type FromWorker =
  | { readonly type: 'failed'; readonly entry: number; readonly error: ErrorJson }
  | { readonly type: 'done'; readonly cost: WorkerCost };
