/**
 * The plan of a checkout from stated facts: nothing is asked of the machine here, so that a plan for 64 cores or 64 MB
 * is a row in a test.
 */
import type { HostFacts } from '../host-facts.ts';
import { reasonsOf, tightest } from './bound.ts';
import { planMemory } from './memory.ts';
import type { Plan, PlanReason } from './plan.ts';
import { boundWorkers } from './workers.ts';

/** All that a plan depends on. */
export interface PlanFacts {
  readonly host: HostFacts;
  /** Files to write. */
  readonly files: number;
  /** Upper bound for the workers; 0 makes the main thread write. */
  readonly workers: number | 'auto';
  readonly memoryLimitBytes: number | 'auto';
  /** git's checkout.thresholdForParallelism, where it is set: replaces our own threshold. */
  readonly thresholdForParallelism?: number;
}

/**
 * Decides workers, lanes and memory limit. Of the reasons about one thing exactly one is marked as the deciding one.
 */
export function planCheckout(facts: PlanFacts): Plan {
  const memory = planMemory(facts.host.memory, facts.memoryLimitBytes);
  const bounds = boundWorkers(facts, memory);
  const decisive = tightest(bounds);
  return {
    workers: decisive.limit,
    lanes: 1,
    memoryLimitBytes: memory.limitBytes,
    reasons: [...reasonsOf('workers', bounds, decisive), ...lanesReasons(facts.host), ...memory.reasons],
  };
}

/** Where operations wait on a network one might expect several files in flight in a worker; so it is said that there are not. */
function lanesReasons({ fileSystem }: HostFacts): PlanReason[] {
  if (!fileSystem.network) return [];
  const text = `one file at a time in each worker, on ${fileSystem.type} as on local disks`;
  return [{ about: 'lanes', text, decided: true }];
}
