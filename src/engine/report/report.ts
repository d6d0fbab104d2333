/**
 * The report: what was planned beside what came of it. One value, which the command line program writes as JSON and
 * prints as text, and the action renders as annotations and a summary. Its keys are a documented schema
 * (docs/report.md); scripts rely on them.
 */
import type { PhaseCost, WorkerCost } from '../cost.ts';
import type { ErrorJson } from '../errors.ts';
import type { Plan } from '../plan/plan.ts';
import type { Received } from '../settings.ts';

export type { Plan, PlanReason } from '../plan/plan.ts';

/** Raised when a key changes its meaning or goes away; new keys do not raise it. */
export const REPORT_SCHEMA_VERSION = 1;

export interface Report {
  readonly schemaVersion: typeof REPORT_SCHEMA_VERSION;
  /** Full id of the commit that HEAD names after the run; null when the run failed before it was known. */
  readonly commit: string | null;
  /** Who wrote the working tree. */
  readonly engine: 'native' | 'git';
  /** How objects came; null when none were fetched. */
  readonly transport: 'stream' | 'git' | null;
  readonly plan: Plan;
  readonly phases: readonly PhaseCost[];
  readonly workers: readonly WorkerCost[];
  readonly totals: {
    /** Files, links and submodule directories written. */
    readonly files: number;
    /** Entries that already were as they should be. */
    readonly kept: number;
    /** Entries outside of the sparse checkout: in the index, and no file. */
    readonly excluded: number;
    readonly removed: number;
    /** Untracked files and links removed; 0 where git cleaned, which does not count them. */
    readonly cleaned: number;
    readonly bytesWritten: number;
    readonly wallMs: number;
    readonly cpuUserMs: number;
    readonly cpuSystemMs: number;
    /** Highest resident memory of this process; git processes that it started are not in it. */
    readonly peakRssBytes: number;
  };
  /** How the pack came, where it was streamed. */
  readonly received?: Received;
  /** Entries that were not written, each with its reason. */
  readonly skipped: readonly SkippedEntry[];
  /** Work that was handed to git, each with its reason. */
  readonly fallbacks: readonly Fallback[];
  /** Submodules that were checked out, in the order of their paths; absent where none were asked for. */
  readonly submodules?: readonly SubmoduleReport[];
  /** Present when the run failed. */
  readonly error?: ErrorJson;
}

export interface SkippedEntry {
  /** Display form of the path. */
  readonly path: string;
  readonly reason: string;
}

/** What a submodule came to. Its files are not in the totals, which are those of the outermost repository. */
export interface SubmoduleReport {
  /** From the top of the outermost working tree. */
  readonly path: string;
  readonly commit: string;
  readonly engine: 'native' | 'git';
  readonly files: number;
  readonly kept: number;
  readonly bytesWritten: number;
  /** Worker threads that wrote its files. */
  readonly workers: number;
  /** Fetch and checkout, without waiting for its turn. */
  readonly ms: number;
}

export interface Fallback {
  readonly stage: 'fetch' | 'checkout';
  readonly reason: string;
}
