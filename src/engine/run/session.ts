/**
 * What a checkout works with: the request, the repository with its configuration, and the host; and the plan that follows.
 */
import type { StreamedTree } from '../checkout/request.ts';
import type { Config } from '../config/config.ts';
import type { Repository } from '../gitdir/repository.ts';
import type { HostFacts } from '../host-facts.ts';
import { planCheckout } from '../plan/plan-checkout.ts';
import type { Plan, PlanReason } from '../plan/plan.ts';
import type { CheckoutRequest, EnginePorts, RunSettings } from '../settings.ts';
import type { RunState } from './run-state.ts';

export interface OpenedRepository {
  readonly repository: Repository;
  readonly config: Config;
}

/** What a checkout works with. */
export interface Session extends OpenedRepository {
  readonly request: CheckoutRequest;
  readonly ports: EnginePorts;
  readonly run: RunState;
  readonly host: HostFacts;
  readonly reflogMessage: string | undefined;
  /** What was written while the pack came. */
  readonly streamed?: StreamedTree | undefined;
}

/** Files that a plan assumes where none are known: enough that the number is no bound. */
export const DEFAULT_PLANNED_FILES = 100_000;

export function planFor(
  { request, host, config }: { request: RunSettings; host: HostFacts; config: Config | null },
  files: number,
  routeReasons: readonly PlanReason[],
): Plan {
  const threshold = config?.getInt('checkout.thresholdForParallelism');
  const planned = planCheckout({
    host,
    files,
    workers: request.workers,
    memoryLimitBytes: request.memoryLimitBytes,
    ...(threshold === undefined ? {} : { thresholdForParallelism: threshold }),
  });
  return { ...planned, reasons: [...planned.reasons, ...routeReasons] };
}
