/**
 * How much memory a checkout may hold. The number is a limit, not a need: an ordinary repository stays far below it.
 * It counts the workers' own memory and every object that is held whole. Why these numbers: docs/decisions/memory-limit.md.
 */
import type { HostFacts } from '../host-facts.ts';
import type { Bound } from './bound.ts';
import { reasonsOf, tightest } from './bound.ts';
import type { PlanReason } from './plan.ts';

const MEBIBYTE = 2 ** 20;
const GIBIBYTE = 2 ** 30;

/**
 * The share of available memory that 'auto' takes. The files that are written pass through the page cache, which a
 * control group charges to us, and the job's other programs go on.
 */
const AUTO_SHARE = 1 / 2;

/** With less than this even the main thread alone has no room for its buffers (12 MiB) and the tables of a big tree. */
export const LOWEST_AUTO_LIMIT_BYTES = 32 * MEBIBYTE;

/**
 * Above this 'auto' does not go. Two of git's largest blobs that may still be deltas (core.bigFileThreshold, 512 MiB),
 * base and result, are 1 GiB; this is room for four such pairs, or for 93 workers.
 */
export const HIGHEST_AUTO_LIMIT_BYTES = 4 * GIBIBYTE;

/** The memory part of a plan. */
export interface MemoryPlan {
  readonly limitBytes: number;
  /** What the machine and the control group have to give now. */
  readonly availableBytes: number;
  readonly reasons: readonly PlanReason[];
}

/**
 * Chooses the limit. An explicit limit is taken as it is, even where the machine has less, and a reason then says so.
 */
export function planMemory(memory: HostFacts['memory'], setting: number | 'auto'): MemoryPlan {
  const sources: Bound[] = [
    { limit: memory.availableBytes, text: `${formatMemory(memory.availableBytes)} available on this machine` },
  ];
  if (memory.cgroupLimitBytes !== null) {
    const used = memory.cgroupUsedBytes ?? 0;
    const left = Math.max(0, memory.cgroupLimitBytes - used);
    sources.push({
      limit: left,
      text: `${formatMemory(left)} left in the control group: ${formatMemory(used)} of ${formatMemory(memory.cgroupLimitBytes)} used`,
    });
  }
  const scarcest = tightest(sources);
  const availableBytes = scarcest.limit;

  if (setting !== 'auto') {
    const limitBytes = Math.floor(setting);
    const reasons = [
      { about: 'memory', text: `memory limit ${formatMemory(limitBytes)}, as asked for`, decided: true } as const,
      ...reasonsOf('memory', sources, null),
    ];
    if (limitBytes > availableBytes) {
      reasons.push({
        about: 'memory',
        text: `the limit asked for is more than the ${formatMemory(availableBytes)} available: the system may run out of memory before it is reached`,
        decided: false,
      });
    }
    return { limitBytes, availableBytes, reasons };
  }

  const share = Math.floor(availableBytes * AUTO_SHARE);
  const limitBytes = Math.min(Math.max(share, LOWEST_AUTO_LIMIT_BYTES), HIGHEST_AUTO_LIMIT_BYTES);
  if (limitBytes === share) {
    const reasons = reasonsOf('memory', sources, scarcest).map((reason) =>
      reason.decided
        ? { ...reason, text: `memory limit ${formatMemory(limitBytes)}, half of what there is: ${reason.text}` }
        : reason,
    );
    return { limitBytes, availableBytes, reasons };
  }
  const clamp =
    limitBytes > share
      ? `memory limit ${formatMemory(limitBytes)}, the lowest that is chosen unasked: half of what there is would be less`
      : `memory limit ${formatMemory(limitBytes)}, the highest that is chosen unasked: half of what there is would be more`;
  return {
    limitBytes,
    availableBytes,
    reasons: [...reasonsOf('memory', sources, null), { about: 'memory', text: clamp, decided: true }],
  };
}

/** '512 MiB', '1.5 GiB', '900 KiB': three digits at most, rounded down so that nothing is promised that is not there. */
export function formatMemory(bytes: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
  let unit = 0;
  let value = bytes;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  const tenths = Math.floor(value * 10) / 10;
  return `${unit > 0 && value < 10 ? tenths : Math.floor(value)} ${units[unit] ?? ''}`;
}
