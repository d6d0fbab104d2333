/**
 * What a piece of work cost: counters that ride with the results they belong to. Units are in the names.
 */

/** The cost of one worker (a thread), or of the main thread where it wrote files itself (id 0). */
export interface WorkerCost {
  /** 1, 2, 3 …; 0 is the main thread. */
  readonly id: number;
  readonly files: number;
  readonly bytesWritten: number;
  /** From its first claim to its last result. */
  readonly wallMs: number;
  readonly cpuUserMs: number;
  readonly cpuSystemMs: number;
  /** Part of wallMs spent waiting: for the way to be cleared, for memory of the budget, for input. */
  readonly waitMs: number;
  /** Highest sum seen of this thread's heap, its buffers, and what it reserved from the budget. */
  readonly peakMemoryBytes: number;
  /** True when the thread ended early and others took its entries over. */
  readonly died?: boolean;
}

/** A stage of the run and how long it took. Stages may overlap. */
export interface PhaseCost {
  readonly name: PhaseName;
  readonly ms: number;
}

export type PhaseName =
  | 'start' // process start to the first stage
  | 'fetch'
  | 'clean' // untracked files removed first, where that was asked for
  | 'manifest' // trees, current index, path checks, attributes, pack positions
  | 'fetch-missing' // blobs that a partial clone lacks
  | 'fetch-lfs' // Git LFS files that are not in the local store
  | 'clear' // removals and leading directories
  | 'write' // entries written by the workers
  | 'links' // symbolic links, submodule directories and collided entries
  | 'index' // index file, HEAD, refs
  | 'submodules' // all of theirs: fetched, checked out, removed
  | 'git-checkout'; // the whole checkout by git, where the engine handed it over
