import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { Budget } from '../../../src/engine/checkout/budget.ts';

const KIB4 = 4096;
const never = (): boolean => {
  throw new Error('it had to wait');
};

describe('one thread', () => {
  it('reserves and gives back', () => {
    const budget = new Budget(Budget.create(10 * KIB4, 0), 0);
    expect(budget.idle).toBe(true);
    const first = budget.reserve(3 * KIB4, never);
    expect(first).toBe(3);
    expect(budget.idle).toBe(false);
    const second = budget.reserve(7 * KIB4, never);
    expect(second).toBe(7);
    expect(budget.tryReserve(1)).toBe(0);
    budget.release(first);
    budget.release(second);
    expect(budget.idle).toBe(true);
  });

  it('rounds up to its unit, and nothing is for nothing', () => {
    const budget = new Budget(Budget.create(10 * KIB4, 0), 0);
    expect(budget.reserve(1, never)).toBe(1);
    expect(budget.reserve(KIB4 + 1, never)).toBe(2);
    expect(budget.reserve(0, never)).toBe(1);
    expect(budget.tryReserve(0)).toBe(1);
    expect(budget.tryReserve(5 * KIB4 + 1)).toBe(0);
    expect(budget.tryReserve(5 * KIB4)).toBe(5);
  });

  it('releasing nothing changes nothing', () => {
    const budget = new Budget(Budget.create(KIB4, 0), 0);
    budget.release(0);
    budget.release(-1);
    expect(budget.idle).toBe(true);
  });

  it('an object larger than all gets all, once nothing is reserved', () => {
    const budget = new Budget(Budget.create(10 * KIB4, 0), 0);
    expect(budget.tryReserve(11 * KIB4)).toBe(0);
    const all = budget.reserve(1000 * KIB4, never);
    expect(all).toBe(10);
    let waits = 0;
    expect(budget.reserve(1, () => ++waits > 1)).toBe(0);
    expect(waits).toBe(2);
    budget.release(all);
    expect(budget.idle).toBe(true);
  });

  it('even a budget of nothing lets one object through at a time', () => {
    const budget = new Budget(Budget.create(0, 0), 0);
    expect(budget.reserve(1 << 30, never)).toBe(1);
    expect(budget.reserve(1, () => true)).toBe(0);
  });

  it('counts terabytes', () => {
    const budget = new Budget(Budget.create(2 ** 50, 0), 0);
    const units = budget.reserve(2 ** 41, never);
    expect(units).toBe(2 ** 29);
    expect(budget.tryReserve(2 ** 41)).toBe(0);
    expect(budget.tryReserve(2 ** 40)).toBe(2 ** 28);
    budget.release(2 ** 28);
    budget.release(units);
    expect(budget.idle).toBe(true);
  });

  it('what a thread held that has ended can be taken back, once', () => {
    const words = Budget.create(10 * KIB4, 2);
    const [main, one, two] = [0, 1, 2].map((thread) => new Budget(words, thread));
    one!.reserve(4 * KIB4, never);
    one!.release(one!.tryReserve(2 * KIB4));
    two!.reserve(3 * KIB4, never);
    expect(main!.tryReserve(4 * KIB4)).toBe(0);
    new Budget(words, 1).reclaim();
    new Budget(words, 1).reclaim();
    expect(main!.tryReserve(7 * KIB4)).toBe(7);
    expect(main!.tryReserve(1)).toBe(0);
    main!.release(7);
    two!.release(3);
    expect(main!.idle).toBe(true);
    new Budget(words, 2).reclaim();
    expect(main!.idle).toBe(true);
  });
});

describe('threads', () => {
  const LIMIT = 100;
  const url = new URL('./budget-thread.ts', import.meta.url);

  interface Shared {
    readonly budget: Int32Array<SharedArrayBuffer>;
    /** Units in use as the threads count them, the highest sum, a word to stop all, and how many reservations were made. */
    readonly seen: Int32Array<SharedArrayBuffer>;
  }
  const share = (workers: number): Shared => ({
    budget: Budget.create(LIMIT * KIB4, workers),
    seen: new Int32Array(new SharedArrayBuffer(16)),
  });

  function start(
    shared: Shared,
    thread: number,
    sizes: readonly number[],
    hold = 0,
  ): { worker: Worker; ended: Promise<void> } {
    const worker = new Worker(url, { workerData: { ...shared, thread, sizes, hold } });
    const ended = new Promise<void>((resolve, reject) => {
      worker.once('exit', () => resolve());
      worker.once('error', reject);
    });
    return { worker, ended };
  }

  it('never take more than there is, and all get through', async () => {
    const shared = share(4);
    const rounds = 300;
    const workers = [1, 2, 3, 4].map((thread) => {
      // Small ones, large ones, and now and then one that is larger than all.
      const sizes = Array.from({ length: rounds }, (_, i) =>
        (i * 7 + thread) % 50 === 0 ? LIMIT * 3 : ((i * 37 + thread * 11) % 60) + 1,
      );
      return start(shared, thread, sizes).ended;
    });
    await Promise.all(workers);
    expect(Atomics.load(shared.seen, 0)).toBe(0);
    expect(Atomics.load(shared.seen, 1)).toBeLessThanOrEqual(LIMIT);
    // Threads did overlap, or this would say nothing.
    expect(Atomics.load(shared.seen, 1)).toBeGreaterThan(60);
    expect(Atomics.load(shared.seen, 3)).toBe(4 * rounds);
    expect(new Budget(shared.budget, 0).idle).toBe(true);
  });

  it('stop waiting when they are told to', async () => {
    const shared = share(2);
    const main = new Budget(shared.budget, 0);
    const all = main.reserve(LIMIT * KIB4, never);
    const waiting = [start(shared, 1, [10]), start(shared, 2, [500])];
    await new Promise((resolve) => setTimeout(resolve, 50));
    Atomics.store(shared.seen, 2, 1);
    await Promise.all(waiting.map(({ ended }) => ended));
    expect(Atomics.load(shared.seen, 3)).toBe(0);
    main.release(all);
    expect(main.idle).toBe(true);
  });

  it('wake up at once when there is enough', async () => {
    const shared = share(1);
    const main = new Budget(shared.budget, 0);
    const all = main.reserve(LIMIT * KIB4, never);
    const { ended } = start(shared, 1, [60]);
    await new Promise((resolve) => setTimeout(resolve, 60));
    main.release(all);
    await ended;
    expect(Atomics.load(shared.seen, 3)).toBe(1);
  });

  it('go on when one ends with all of it in its hands', async () => {
    const shared = share(2);
    const holder = start(shared, 1, [LIMIT], 60_000);
    while (Atomics.load(shared.seen, 3) === 0) await new Promise((resolve) => setTimeout(resolve, 2));
    const other = start(shared, 2, [LIMIT]);
    await holder.worker.terminate();
    await holder.ended;
    expect(new Budget(shared.budget, 0).idle).toBe(false);
    new Budget(shared.budget, 1).reclaim();
    await other.ended;
    expect(Atomics.load(shared.seen, 3)).toBe(2);
    expect(new Budget(shared.budget, 0).idle).toBe(true);
  });
});
