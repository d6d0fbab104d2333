import { describe, expect, it } from 'vitest';
import { objectBudget } from '../../../src/engine/plan/object-budget.ts';
import type { Plan } from '../../../src/engine/plan/plan.ts';
import { WORKER_MEMORY_BYTES } from '../../../src/engine/plan/workers.ts';

const MIB = 2 ** 20;
const plan = (workers: number, memoryLimitBytes: number): Plan => ({
  workers,
  lanes: 1,
  memoryLimitBytes,
  reasons: [],
});

describe('objectBudget', () => {
  it.each([
    // Limit as such, the workers' own memory (22 MiB each) being taken off.
    ['all of the limit without workers', 0, 500, 500, 500],
    ['the rest of the limit', 2, 500, 500, 456],
    ['nothing where the workers take it all', 10, 220, 220, 0],
    ['nothing, not less, where they would take more', 11, 220, 220, 0],
    // Without a limit asked for, 20 MiB for each worker, if there is so much.
    ['20 MiB for each worker', 2, 4000, 'auto', 40],
    ['20 MiB for the main thread where it is alone', 0, 4000, 'auto', 20],
    ['for one worker as for none', 1, 4000, 'auto', 20],
    ['no more than the rest', 2, 64, 'auto', 20],
    ['nothing where nothing is left', 3, 60, 'auto', 0],
    ['many workers', 56, 8192, 'auto', 1120],
  ] as const)('%s', (_, workers, limit, setting, expected) => {
    expect(WORKER_MEMORY_BYTES).toBe(22 * MIB);
    const asked = setting === 'auto' ? setting : setting * MIB;
    expect(objectBudget(plan(workers, limit * MIB), asked, 0)).toBe(expected * MIB);
  });

  it('goes by the plan’s limit, which may be lower than what was asked for', () => {
    expect(objectBudget(plan(1, 100 * MIB), 5000 * MIB, 0)).toBe(78 * MIB);
  });

  it('leaves room for the lists of files', () => {
    expect(objectBudget(plan(1, 100 * MIB), 100 * MIB, 50 * MIB)).toBe(28 * MIB);
    expect(objectBudget(plan(1, 100 * MIB), 100 * MIB, 300 * MIB)).toBe(0);
    // Where there is plenty they take nothing away.
    expect(objectBudget(plan(1, 4000 * MIB), 'auto', 300 * MIB)).toBe(20 * MIB);
  });
});
