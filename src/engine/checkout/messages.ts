/**
 * What the main thread and a worker say to each other. Tables and counters are shared memory; messages carry only what begins
 * and ends a run, and failures.
 */
import type { WorkerCost } from '../cost.ts';
import type { ErrorJson } from '../errors.ts';
import type { Conversion } from '../filter/conversion.ts';
import type { LfsStore } from '../filter/lfs-store.ts';
import type { Replacements } from '../odb/replacements.ts';
import type { PackFile } from '../pack/pack-file.ts';
import type { Removals } from './removals.ts';
import type { CleanOutcome, CleanShare } from './clean-share.ts';
import type { StreamShare } from './stream/share.ts';
import type { Tables } from './tables.ts';

/** All that is needed to write entries, for the whole run; shared memory and plain values. */
export interface Job {
  readonly tables: Tables;
  readonly control: Int32Array<SharedArrayBuffer>;
  /** See control.ts. */
  readonly counters: Float64Array<SharedArrayBuffer>;
  /** See budget.ts. */
  readonly budget: Int32Array<SharedArrayBuffer>;
  /** By number. A pass may add to these. */
  readonly packs: readonly PackFile[];
  readonly replacements: Replacements;
  /** Hash each object and compare with its id. */
  readonly verify: boolean;
  readonly objectDirectories: readonly string[];
  readonly workTree: string;
  readonly conversions: readonly Conversion[];
  /** Null where there is none, or none that we can find. */
  readonly lfs: LfsAccess | null;
  /** Whether a worker removes the file or link that stands where its own goes; else such entries are the main thread's. */
  readonly replaces: boolean;
  readonly platform: NodeJS.Platform;
}

/** How files come out of the local Git LFS store. */
export interface LfsAccess {
  readonly store: LfsStore;
  /** See CopyOptions. */
  readonly shareBlocks: boolean;
}

/** One pass over entries. */
export interface Pass {
  /** Entries in the order in which they are written. */
  readonly order: Uint32Array<SharedArrayBuffer>;
  /** Batch i is order[batchStarts[i], batchStarts[i + 1]). */
  readonly batchStarts: Uint32Array;
  /** Where to note entries for a later pass; null in the last one. */
  readonly deferred: DeferredList | null;
  /** All packs by number, where a pass needs more than the job was begun with. */
  readonly packs?: readonly PackFile[];
}

/**
 * Entries put off: deltas on a large base. The next pass takes those on one base together, so that the base is inflated once. The control
 * word DEFERRED counts them.
 */
export interface DeferredList {
  readonly entries: Uint32Array<SharedArrayBuffer>;
  /** Key of each entry's base (pack/delta-base-cache.ts). */
  readonly bases: Float64Array<SharedArrayBuffer>;
  /** And its size in bytes. */
  readonly baseSizes: Float64Array<SharedArrayBuffer>;
}

export type ToWorker =
  | { readonly type: 'begin'; readonly id: number; readonly job: Job }
  | { readonly type: 'remove'; readonly removals: Removals }
  | { readonly type: 'pass'; readonly pass: Pass }
  | { readonly type: 'stream'; readonly share: StreamShare }
  | { readonly type: 'clean'; readonly share: CleanShare }
  | { readonly type: 'end' };

export type FromWorker =
  | { readonly type: 'failed'; readonly entry: number; readonly error: ErrorJson }
  /** The entry's text cannot be written in its encoding. */
  | { readonly type: 'unencoded'; readonly entry: number }
  | { readonly type: 'passed' }
  | { readonly type: 'cleaned'; readonly outcome: CleanOutcome }
  | { readonly type: 'ended'; readonly cost: WorkerCost };
