/**
 * The loop of a pass: claim a batch, wait until its way is clear, write its entries, and again until nothing is left. Claiming
 * is dynamic, so a slow worker holds nobody up. The main thread runs the same loop where there are no workers.
 */
import { NEXT_BATCH, READY, STOP } from './control.ts';
import type { CostMeter } from './cost-meter.ts';
import type { EntryWriter } from './entry-writer.ts';
import type { Job, Pass } from './messages.ts';
import { isForWorkers } from './tables.ts';

/** Batches between two looks at this thread's memory. */
const SAMPLE_EVERY = 16;

/** Claims and writes one batch; false when none is left or the run is stopped. */
export function writeBatch(job: Job, pass: Pass, writer: EntryWriter): boolean {
  const { control, tables } = job;
  const { batchStarts, order, deferred } = pass;
  const batch = Atomics.add(control, NEXT_BATCH, 1);
  if (batch >= batchStarts.length - 1) return false;
  const start = batchStarts[batch] ?? 0;
  const end = batchStarts[batch + 1] ?? 0;
  if (!waitUntilReady(control, end, writer)) return false;
  const last = order[end - 1] ?? 0;
  for (let i = start; i < end && Atomics.load(control, STOP) === 0; i++) {
    const entry = order[i] ?? 0;
    if (!isForWorkers(tables.states[entry])) continue;
    // The batch lies together in one pack, except where the order goes on to the next pack.
    writer.readAhead(tables.packs[entry] === tables.packs[last] ? (tables.offsets[last] ?? 0) : 0);
    writer.write(entry, deferred);
  }
  // What was kept for the deltas of this batch serves no other, and others may need the memory.
  writer.dropRetained();
  return Atomics.load(control, STOP) === 0;
}

/** Runs one worker's part of a pass. */
export function runPass(job: Job, pass: Pass, writer: EntryWriter, meter: CostMeter): void {
  if (pass.packs !== undefined) writer.usePacks(pass.packs);
  for (let round = 0; writeBatch(job, pass, writer); round++) {
    if (round % SAMPLE_EVERY === 0) meter.sample();
  }
  meter.sample();
}

/** Waits until the first `end` entries of the order may be written; false when the run is stopped. */
function waitUntilReady(control: Int32Array, end: number, writer: EntryWriter): boolean {
  let ready = Atomics.load(control, READY);
  if (ready >= end) return true;
  const start = performance.now();
  while (ready < end && Atomics.load(control, STOP) === 0) {
    // The time limit only bounds how long a stop request goes unseen.
    Atomics.wait(control, READY, ready, 100);
    ready = Atomics.load(control, READY);
  }
  writer.waitMs += performance.now() - start;
  return ready >= end;
}
