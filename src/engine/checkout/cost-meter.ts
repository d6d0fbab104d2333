/**
 * What one thread's part of a run costs: wall and CPU time, waiting, memory. Counted by the thread itself and sent with its last
 * message, so that nothing is lost or charged to another.
 */
import { getHeapStatistics } from 'node:v8';
import type { WorkerCost } from '../cost.ts';
import type { EntryWriter } from './entry-writer.ts';

/** Measures what a run of a writer costs. */
export class CostMeter {
  readonly #id: number;
  readonly #start: number;
  readonly #cpuStart = threadCpuUsage();
  #peak = 0;

  constructor(id: number) {
    this.#id = id;
    this.#start = performance.now();
  }

  /**
   * Looks at what this thread's heap and buffers take now: about 5 microseconds. Buffers that threads share count in each of
   * them; here that is the tables, about 100 bytes for an entry.
   */
  sample(): void {
    const heap = getHeapStatistics();
    const bytes = heap.total_heap_size + heap.external_memory;
    if (bytes > this.#peak) this.#peak = bytes;
  }

  cost(writer: EntryWriter): WorkerCost {
    this.sample();
    const cpu = threadCpuUsage();
    return {
      id: this.#id,
      files: writer.files,
      bytesWritten: writer.bytesWritten,
      wallMs: performance.now() - this.#start,
      cpuUserMs: (cpu.user - this.#cpuStart.user) / 1000,
      cpuSystemMs: (cpu.system - this.#cpuStart.system) / 1000,
      waitMs: writer.waitMs,
      peakMemoryBytes: this.#peak,
    };
  }
}

/** CPU time of this thread in microseconds; of the process on a Node that cannot tell threads apart (before 23.9). */
function threadCpuUsage(): { user: number; system: number } {
  const { threadCpuUsage: ofThread } = process as { threadCpuUsage?: () => { user: number; system: number } };
  return ofThread === undefined ? process.cpuUsage() : ofThread.call(process);
}
