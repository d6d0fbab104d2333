/**
 * The loop of one worker: claim a batch, wait until its way is clear, write its entries, and again until nothing is left. Claiming is
 * dynamic, so a slow worker holds nobody up.
 */
import type { WorkerCost } from '../cost.ts';
import type { ErrorJson } from '../errors.ts';
import { FILES_DONE, KIB_DONE, NEXT_BATCH, READY, STOP } from './control.ts';
import { CostMeter } from './cost-meter.ts';
import { EntryWriter } from './entry-writer.ts';
import type { RunInput } from './messages.ts';
import { State } from './tables.ts';

/** Batches between two looks at this thread's memory. */
const SAMPLE_EVERY = 16;

/**
 * Runs until all batches are claimed or the run is stopped.
 * @param id the worker's number, from 1
 * @param onFailure told of each entry that could not be written
 */
export function runWorkerLoop(
  id: number,
  input: RunInput,
  onFailure: (entry: number, error: ErrorJson) => void,
): WorkerCost {
  const { control, batchStarts, batchOwners, order, tables } = input;
  const meter = new CostMeter(id);
  const writer = new EntryWriter(input, onFailure);
  const batches = batchStarts.length - 1;
  let reportedKib = 0;
  try {
    for (let round = 0; ; round++) {
      const batch = Atomics.add(control, NEXT_BATCH, 1);
      if (batch >= batches) break;
      // From here on these entries are this worker's; if it dies the main thread looks for what it left.
      Atomics.store(batchOwners, batch, id);
      const start = batchStarts[batch] ?? 0;
      const end = batchStarts[batch + 1] ?? 0;
      if (!waitUntilReady(control, end, writer)) break;
      const last = order[end - 1] ?? 0;
      let files = 0;
      for (let i = start; i < end; i++) {
        if (Atomics.load(control, STOP) !== 0) break;
        const entry = order[i] ?? 0;
        const state = tables.states[entry];
        if (state !== State.PENDING && state !== State.VERIFY) continue;
        // The batch lies together in one pack, except where the order goes on to the next pack.
        writer.readAhead(tables.packs[entry] === tables.packs[last] ? (tables.offsets[last] ?? 0) : 0);
        writer.write(entry);
        files++;
      }
      Atomics.add(control, FILES_DONE, files);
      const kib = Math.floor(writer.bytesWritten / 1024);
      Atomics.add(control, KIB_DONE, kib - reportedKib);
      reportedKib = kib;
      if (round % SAMPLE_EVERY === 0) meter.sample();
      if (Atomics.load(control, STOP) !== 0) break;
    }
    return meter.cost(writer);
  } finally {
    writer.close();
  }
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
