/**
 * The report's main numbers as strings, under the names of the action's outputs.
 */
import type { Report } from './report.ts';

export interface ReportOutputs {
  readonly engine: string;
  /** Worker threads that wrote files, or processes that git was told to use; 0 when the main thread did it. */
  readonly workers: string;
  readonly files: string;
  readonly bytes: string;
  readonly 'duration-ms': string;
  readonly 'peak-memory-bytes': string;
}

/** Plain decimal digits, no unit, no fraction. */
export function reportToOutputs(report: Report): ReportOutputs {
  return {
    engine: report.engine,
    workers: String(workersUsed(report)),
    files: String(report.totals.files),
    bytes: String(report.totals.bytesWritten),
    'duration-ms': String(Math.round(report.totals.wallMs)),
    'peak-memory-bytes': String(Math.round(report.totals.peakRssBytes)),
  };
}

/** How many workers there were: threads of ours that have a row of costs, or what git was told (it reports none). */
export function workersUsed(report: Report): number {
  if (report.engine === 'git') return report.plan.workers;
  return report.workers.filter((worker) => worker.id !== 0).length;
}
