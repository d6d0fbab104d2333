/**
 * Where a run stands while it goes on, and the report that is made of that when it ends, well or badly.
 */
import type { PhaseCost } from '../cost.ts';
import type { CheckoutError } from '../errors.ts';
import type { ErrorJson } from '../errors.ts';
import type { Plan } from '../plan/plan.ts';
import { type Fallback, REPORT_SCHEMA_VERSION, type Report } from '../report/report.ts';
import type { FetchOutcome } from '../settings.ts';

/** Where a checkout stands when it ends, well or badly. */
export interface RunState {
  readonly startedMs: number;
  readonly cpuStart: NodeJS.CpuUsage;
  readonly fetched: FetchOutcome | undefined;
  phases: PhaseCost[];
  plan: Plan;
  engine: 'native' | 'git';
  commit: string | null;
  fallbacks: Fallback[];
}

const NO_PLAN: Plan = { workers: 0, lanes: 1, memoryLimitBytes: 0, reasons: [] };

/** Numbers of a finished checkout that the report shows. */
export interface Totals {
  readonly files: number;
  readonly kept: number;
  readonly excluded: number;
  readonly removed: number;
  readonly cleaned: number;
  readonly bytesWritten: number;
}

export const NOTHING: Totals = { files: 0, kept: 0, excluded: 0, removed: 0, cleaned: 0, bytesWritten: 0 };

export function beginRun(fetched: FetchOutcome | undefined): RunState {
  return {
    startedMs: performance.now(),
    cpuStart: process.cpuUsage(),
    fetched,
    phases: fetched === undefined ? [] : [{ name: 'fetch', ms: fetched.ms }],
    plan: NO_PLAN,
    engine: 'native',
    commit: null,
    fallbacks: fetched?.fallback === undefined ? [] : [{ stage: 'fetch', reason: fetched.fallback }],
  };
}

export function report(
  run: RunState,
  totals: Totals,
  workers: Report['workers'],
  skipped: Report['skipped'],
  error?: CheckoutError,
): Report {
  const cpu = process.cpuUsage(run.cpuStart);
  const json: ErrorJson | undefined = error?.toJSON();
  return {
    schemaVersion: REPORT_SCHEMA_VERSION,
    commit: run.commit,
    engine: run.engine,
    transport: run.fetched?.transport ?? null,
    plan: {
      ...run.plan,
      reasons: [
        ...run.plan.reasons,
        ...(run.fetched?.reasons ?? []).map((reason) => ({ about: 'transport' as const, ...reason })),
      ],
    },
    phases: run.phases,
    workers,
    totals: {
      files: totals.files,
      kept: totals.kept,
      excluded: totals.excluded,
      removed: totals.removed,
      cleaned: totals.cleaned,
      bytesWritten: totals.bytesWritten,
      wallMs: performance.now() - run.startedMs + (run.fetched?.ms ?? 0),
      cpuUserMs: cpu.user / 1000,
      cpuSystemMs: cpu.system / 1000,
      peakRssBytes: process.resourceUsage().maxRSS * 1024,
    },
    ...(run.fetched?.received === undefined ? {} : { received: run.fetched.received }),
    skipped,
    fallbacks: run.fallbacks,
    ...(json === undefined ? {} : { error: json }),
  };
}
