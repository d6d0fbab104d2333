/**
 * What a tree's checkout is given, what it has found out before anything is touched, and what comes of it.
 */
import type { Bytes } from '../bytes.ts';
import type { PhaseCost, PhaseName, WorkerCost } from '../cost.ts';
import { CheckoutError } from '../errors.ts';
import type { Conversion } from '../filter/conversion.ts';
import type { IndexLock } from '../index/index-lock.ts';
import type { IndexTable } from '../index/index-table.ts';
import type { StatComparison } from '../index/stat-words.ts';
import type { PathRules } from '../object/path-validity.ts';
import type { ObjectDatabase } from '../odb/object-database.ts';
import type { Plan } from '../plan/plan.ts';
import type { Progress } from '../settings.ts';
import type { WorktreePaths } from '../worktree/paths.ts';
import type { Collisions } from './collisions.ts';
import type { CleanRules } from './clean-walk.ts';
import type { Comparison } from './compare.ts';
import type { ConversionLookup, Manifest } from './manifest.ts';
import type { LfsSource } from './lfs-content.ts';
import type { LfsAccess } from './messages.ts';
import type { WorkerPool } from './pool.ts';
import type { FetchMissing } from './promised-objects.ts';
import type { SparseRules } from './sparse-rules.ts';
import type { Streamed } from './stream/carry-over.ts';

/** A checkout that was begun while the pack came. */
export interface StreamedTree extends Streamed {
  /** The workers, which go on. */
  readonly pool: WorkerPool;
  /** What each thread has done. */
  readonly counters: Float64Array<SharedArrayBuffer>;
  /** Ends the workers and removes what was written. */
  abandon(): Promise<void>;
}

/** What a tree's checkout is given: all facts and decisions that it depends on. */
export interface TreeCheckout {
  readonly odb: ObjectDatabase;
  readonly treeOid: Bytes;
  /** Absolute path of the working tree. */
  readonly workTree: string;
  /** Nothing but .git is in it, so that nothing on disk needs to be looked at. */
  readonly rootIsEmpty: boolean;
  /** The current index, null without one. */
  readonly index: IndexTable | null;
  /** null where core.sparseCheckout is off. */
  readonly sparse: SparseRules | null;
  /** Held by the caller; committed here on success. */
  readonly lock: IndexLock;
  readonly rules: PathRules;
  /** core.maxTreeDepth; undefined for git's default. */
  readonly maxTreeDepth?: number | undefined;
  readonly statComparison: StatComparison;
  /** Version of the index to be written, see IndexSkeleton. */
  readonly indexFormat: 2 | 4;
  /** core.ignoreStat: files that are written are marked assume-valid. */
  readonly ignoreStat: boolean;
  /** Names that differ in case or Unicode form may be one file, so nothing is written before the way is clear everywhere. */
  readonly foldsNames: boolean;
  /** All that is there was written by this run, so that paths which displace others are told of. */
  readonly isClone: boolean;
  readonly conversions: ConversionLookup;
  /** The conversions that the look-up gave numbers to; read after the manifest is made. */
  readonly conversionList: () => readonly Conversion[];
  /** The local Git LFS store. */
  readonly lfs: LfsAccess | null;
  /** Brings what is not in it; absent where that is left to git-lfs. */
  readonly lfsSource?: LfsSource | undefined;
  /** Pure: the plan for this many files. */
  readonly plan: (files: number) => Plan;
  /** Pure: bytes that large objects may take under a plan, beside so many that the lists of files take. */
  readonly objectBudget: (plan: Plan, heldBytes: number) => number;
  readonly signal?: AbortSignal;
  readonly onProgress: (progress: Progress) => void;
  readonly warn: (line: string) => void;
  /** For filter drivers: their environment, asked for when one is needed, and the ref and commit that they are told. */
  readonly driverEnvironment: () => Promise<NodeJS.ProcessEnv>;
  readonly ref: string | null;
  readonly commit: string;
  /** A directory that must not be removed: the process's own. */
  readonly keep: string;
  /** Brings objects that are not here; absent where none are promised. */
  readonly fetchMissing?: FetchMissing | undefined;
  /** Remove first what is untracked: see CleanRules. */
  readonly clean?: Pick<CleanRules, 'exclude' | 'ignoreCase' | 'spared'>;
  /** What was written while the pack came; there is no index then, and the working tree was empty before. */
  readonly streamed?: StreamedTree | undefined;
  /** Submodules that the new tree does not have are removed with all that is in them; else they stay, as with git. */
  readonly removesSubmodules?: boolean;
  /** Called when all is decided and nothing is touched yet; may still throw. */
  readonly beforeTouching?: () => void;
}

/** What is known and decided when nothing has been touched yet. */
export interface Prepared {
  readonly manifest: Manifest;
  readonly comparison: Comparison;
  /** Entries that would stay, but that their file may be a Git LFS pointer. */
  readonly compared: readonly number[];
  /** Entries that go through filter drivers, which no worker writes. */
  readonly toFilter: number;
  readonly plan: Plan;
  readonly paths: WorktreePaths;
  readonly rootIsEmpty: boolean;
  readonly collisions: Collisions | null;
}

/** What a tree's checkout came to. */
export interface TreeOutcome {
  readonly plan: Plan;
  readonly phases: readonly PhaseCost[];
  readonly workers: readonly WorkerCost[];
  readonly files: number;
  readonly kept: number;
  /** Entries outside of the sparse checkout. */
  readonly excluded: number;
  readonly removed: number;
  /** Untracked files and links that were removed. */
  readonly cleaned: number;
  readonly bytesWritten: number;
  /** Entries that could not be written, in index order. */
  readonly failures: readonly CheckoutError[];
  /** What went wrong beside them, a line each. */
  readonly problems: readonly string[];
  readonly deaths: readonly string[];
}

/** This tree needs git, found out before anything was touched. */
export class NeedsGit extends Error {
  readonly reasons: readonly string[];
  constructor(reasons: readonly string[]) {
    super(reasons.join('; '));
    this.reasons = reasons;
  }
}

/** Takes the time of one phase after the other. */
export class PhaseClock {
  readonly phases: PhaseCost[] = [];
  #start = performance.now();
  /** A phase in the middle of another, whose time does not count for that one. */
  async within<Value>(name: PhaseName, work: () => Promise<Value>): Promise<Value> {
    const start = performance.now();
    const value = await work();
    const ms = performance.now() - start;
    this.phases.push({ name, ms });
    this.#start += ms;
    return value;
  }
  end(name: PhaseName): void {
    const now = performance.now();
    this.phases.push({ name, ms: now - this.#start });
    this.#start = now;
  }
}

/** @throws CheckoutError interrupted, once the caller wants the run to stop */
export function stopIfAborted(request: TreeCheckout): void {
  if (request.signal?.aborted === true) throw new CheckoutError('interrupted', 'interrupted; the old index stays');
}
