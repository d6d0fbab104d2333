/**
 * A number that is the least of several bounds, each with its sentence: the common form of the plan's decisions.
 */
import type { PlanReason } from './plan.ts';

export interface Bound {
  readonly limit: number;
  /** One plain sentence with its numbers. */
  readonly text: string;
}

/** The bound that decides: the lowest, and of equal ones the first. */
export function tightest(bounds: readonly Bound[]): Bound {
  const [first, ...rest] = bounds;
  if (first === undefined) throw new RangeError('a decision needs at least one bound');
  return rest.reduce((least, bound) => (bound.limit < least.limit ? bound : least), first);
}

/** Every bound as a reason, in the order given; `decisive` is the one that decided, null if something else did. */
export function reasonsOf(about: PlanReason['about'], bounds: readonly Bound[], decisive: Bound | null): PlanReason[] {
  return bounds.map((bound) => ({ about, text: bound.text, decided: bound === decisive }));
}
