/**
 * A thread that reserves sizes of the budget one after another and counts beside it what is in use.
 */
import { workerData } from 'node:worker_threads';
import { Budget } from '../../../src/engine/checkout/budget.ts';

const { budget, seen, thread, sizes, hold } = workerData as {
  budget: Int32Array<SharedArrayBuffer>;
  seen: Int32Array<SharedArrayBuffer>;
  thread: number;
  /** In units. */
  sizes: readonly number[];
  /** Milliseconds to hold each. */
  hold: number;
};
const IN_USE = 0;
const HIGHEST = 1;
const STOP = 2;
const RESERVATIONS = 3;

const mine = new Budget(budget, thread);
const nothing = new Int32Array(new SharedArrayBuffer(4));
for (const size of sizes) {
  const units = mine.reserve(size * 4096, () => Atomics.load(seen, STOP) !== 0);
  if (units === 0) break;
  Atomics.add(seen, RESERVATIONS, 1);
  const now = Atomics.add(seen, IN_USE, units) + units;
  for (let highest = Atomics.load(seen, HIGHEST); now > highest; highest = Atomics.load(seen, HIGHEST)) {
    Atomics.compareExchange(seen, HIGHEST, highest, now);
  }
  if (hold > 0 || size % 5 === 0) Atomics.wait(nothing, 0, 0, hold || 0.2);
  Atomics.sub(seen, IN_USE, units);
  mine.release(units);
}
