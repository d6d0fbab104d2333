/**
 * The worker threads of one checkout. They are started early, run once, and end by themselves. A thread that ends early, whatever the
 * reason, is noticed and reported; its entries are still PENDING in the tables and the caller writes them.
 */
import { Worker } from 'node:worker_threads';
import type { WorkerCost } from '../cost.ts';
import type { ErrorJson } from '../errors.ts';
import type { FromWorker, RunInput, ToWorker } from './messages.ts';

/**
 * Young generation of a worker's heap: what a file leaves behind (a stat value, a view) is garbage at once, and the default of up to
 * 48 MB a thread would only let it pile up. 2 MB and 16 MB took the same time on the Linux tree.
 */
const YOUNG_GENERATION_MB = 2;

/** The worker's file beside this one, or its bundle beside the bundle that this is part of. */
function workerUrl(): URL {
  const here = import.meta.url;
  return new URL(here.endsWith('.ts') ? './worker.ts' : '../worker/index.js', here);
}

export interface PoolResult {
  /** In the order of the workers' numbers. */
  readonly costs: readonly WorkerCost[];
  readonly failures: ReadonlyMap<number, ErrorJson>;
  /** Why workers ended early. */
  readonly deaths: readonly string[];
}

export class WorkerPool {
  readonly #workers: Worker[] = [];
  readonly #ended: (string | null)[] = [];

  /** Starts threads; a thread that cannot be started counts as one that died. */
  start(count: number): void {
    const url = workerUrl();
    for (let i = 0; i < count; i++) {
      const at = this.#workers.length;
      this.#ended[at] = null;
      const worker = new Worker(url, {
        name: `checkout-${at + 1}`,
        resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
        stdout: false,
        stderr: false,
      });
      worker.on('error', (error) => {
        this.#ended[at] ??= error instanceof Error ? error.message : String(error);
      });
      worker.on('exit', (code) => {
        this.#ended[at] ??= `it ended with status ${code}`;
      });
      this.#workers.push(worker);
    }
  }

  get size(): number {
    return this.#workers.length;
  }

  /** Runs the input on all workers; settles when each has ended its part or died. */
  async run(input: RunInput): Promise<PoolResult> {
    const failures = new Map<number, ErrorJson>();
    const deaths: string[] = [];
    const costs = await Promise.all(
      this.#workers.map((worker, at) => this.#runOn(worker, at, input, failures, deaths)),
    );
    return { costs, failures, deaths };
  }

  /** Ends workers that got nothing to do. */
  dismiss(): void {
    for (const worker of this.#workers) worker.postMessage({ type: 'end' } satisfies ToWorker);
  }

  async #runOn(
    worker: Worker,
    at: number,
    input: RunInput,
    failures: Map<number, ErrorJson>,
    deaths: string[],
  ): Promise<WorkerCost> {
    const id = at + 1;
    const started = performance.now();
    const cost = await new Promise<WorkerCost | null>((resolve) => {
      if (this.#ended[at] !== null) {
        resolve(null);
        return;
      }
      worker.on('message', (message: FromWorker) => {
        if (message.type === 'failed') failures.set(message.entry, message.error);
        else resolve(message.cost);
      });
      // 'exit' always comes, after the last message.
      worker.once('exit', () => {
        resolve(null);
      });
      worker.postMessage({ type: 'run', id, input } satisfies ToWorker);
    });
    if (cost !== null) return cost;
    deaths.push(`worker ${id}: ${this.#ended[at] ?? 'it ended early'}`);
    return {
      id,
      files: 0,
      bytesWritten: 0,
      wallMs: performance.now() - started,
      cpuUserMs: 0,
      cpuSystemMs: 0,
      waitMs: 0,
      peakMemoryBytes: 0,
      died: true,
    };
  }
}
