/**
 * What of the memory limit large objects may take: those that do not fit a worker's scratch buffers and must be whole in
 * memory. Reserved from one budget that all threads share (checkout/budget.ts).
 */
import type { Plan } from './plan.ts';
import { WORKER_MEMORY_BYTES } from './workers.ts';

/**
 * Unless a limit was asked for, so much for each worker. On the Linux 6.12 tree two workers with 20 MiB each took the same time as
 * with all the memory that there was, and 12 MB less at their peak; an object larger than the budget is dealt with alone.
 */
const OBJECT_MEMORY_PER_WORKER_BYTES = 20 * 2 ** 20;

/**
 * The budget for large objects, in bytes; may be 0, and then they are dealt with one at a time. Pure.
 * @param setting the memory limit that was asked for
 * @param heldBytes what the lists of files take
 */
export function objectBudget(plan: Plan, setting: number | 'auto', heldBytes: number): number {
  const rest = Math.max(0, plan.memoryLimitBytes - plan.workers * WORKER_MEMORY_BYTES - heldBytes);
  return setting === 'auto' ? Math.min(rest, Math.max(1, plan.workers) * OBJECT_MEMORY_PER_WORKER_BYTES) : rest;
}
