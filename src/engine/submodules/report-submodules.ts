/**
 * The report of a checkout with its submodules in it.
 */
import type { Report } from '../report/report.ts';
import type { SubmodulesOutcome } from './update-submodules.ts';

/**
 * Files and bytes stay those of the outermost repository; times and memory are those of the process, and so of all.
 *
 * @param ms how long the submodules took
 * @param cpu of the process since the run began
 */
export function withSubmodules(
  own: Report,
  { submodules, skipped, fallbacks, error }: SubmodulesOutcome,
  ms: number,
  cpu: NodeJS.CpuUsage,
): Report {
  return {
    ...own,
    phases: [...own.phases, { name: 'submodules', ms }],
    totals: {
      ...own.totals,
      wallMs: own.totals.wallMs + ms,
      cpuUserMs: cpu.user / 1000,
      cpuSystemMs: cpu.system / 1000,
      peakRssBytes: Math.max(own.totals.peakRssBytes, process.resourceUsage().maxRSS * 1024),
    },
    skipped: [...own.skipped, ...skipped],
    fallbacks: [...own.fallbacks, ...fallbacks],
    submodules,
    ...(error === null ? {} : { error: error.toJSON() }),
  };
}
