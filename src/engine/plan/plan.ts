/**
 * The plan: how a checkout will be run here, and why. A value made by pure functions of stated facts; it goes into the
 * report as it is.
 */

export interface Plan {
  /** Worker threads; 0 when the main thread writes the files itself. */
  readonly workers: number;
  /** Files in flight in one worker. */
  readonly lanes: number;
  /** What the checkout may hold in memory beyond Node itself. */
  readonly memoryLimitBytes: number;
  /** Each bound that was looked at, the deciding one of a kind marked. */
  readonly reasons: readonly PlanReason[];
}

export interface PlanReason {
  readonly about: 'workers' | 'lanes' | 'memory' | 'engine' | 'transport';
  /** One plain sentence with its numbers, such as '2 cores: the control group allows 2 of 16'. */
  readonly text: string;
  /** True for the reason that decided. */
  readonly decided: boolean;
}
