/**
 * The worker threads of one checkout. They are started early, run once, and end by themselves. A thread that ends early, whatever the
 * reason, is noticed and reported; its entries are still PENDING in the tables and the caller writes them.
 */
import { Worker } from 'node:worker_threads';
import type { WorkerCost } from '../cost.ts';
import type { ErrorJson } from '../errors.ts';
import { Budget } from './budget.ts';
import type { CleanOutcome, CleanShare } from './clean-share.ts';
import { BYTES_DONE, COUNTERS, FILES_DONE } from './control.ts';
import type { FromWorker, Job, Pass, ToWorker } from './messages.ts';
import type { StreamShare } from './stream/share.ts';
import type { Removals } from './removals.ts';

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

/** What a pool's run came to. */
export interface PoolResult {
  /** In the order of the workers' numbers. */
  readonly costs: readonly WorkerCost[];
  /** Which workers ended early or could not be started, and why: a line each. */
  readonly deaths: readonly string[];
}

interface Member {
  readonly id: number;
  readonly worker: Worker;
  /** Why it ended, once it has. */
  ended: string | null;
  startedMs: number;
  /** Settles what the worker is being waited for: with its message, or null when it ends. */
  waiting: ((message: FromWorker | null) => void) | null;
}

export class WorkerPool {
  readonly #members: Member[] = [];
  #onFailure: (entry: number, error: ErrorJson) => void = () => undefined;
  #onUnencoded: (entry: number) => void = () => undefined;
  #job: Job | null = null;
  /** Why threads could not be started. */
  readonly #notStarted: string[] = [];

  /** Starts threads, or as many as the system allows. */
  start(count: number): void {
    const url = workerUrl();
    for (let i = 0; i < count; i++) {
      const id = this.#members.length + 1;
      let worker: Worker;
      try {
        worker = new Worker(url, {
          name: `checkout-${id}`,
          resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
        });
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        this.#notStarted.push(
          `${count - i} of ${count} workers could not be started: ${why}; the others write their files`,
        );
        return;
      }
      const member: Member = { id, worker, ended: null, startedMs: performance.now(), waiting: null };
      worker.on('message', (message: FromWorker) => {
        if (message.type === 'failed') this.#onFailure(message.entry, message.error);
        else if (message.type === 'unencoded') this.#onUnencoded(message.entry);
        else this.#settle(member, message);
      });
      worker.on('error', (error) => {
        member.ended ??= error instanceof Error ? error.message : String(error);
      });
      // 'exit' always comes, after the last message.
      worker.on('exit', (code) => {
        member.ended ??= `it ended with status ${code}`;
        if (this.#job !== null) new Budget(this.#job.budget, id).reclaim();
        this.#settle(member, null);
      });
      this.#members.push(member);
    }
  }

  get size(): number {
    return this.#members.length;
  }

  /** Gives all workers the job. */
  begin(
    job: Job,
    onFailure: (entry: number, error: ErrorJson) => void,
    onUnencoded: (entry: number) => void = () => undefined,
  ): void {
    this.#onFailure = onFailure;
    this.#onUnencoded = onUnencoded;
    this.#job = job;
    for (const { worker, id } of this.#members) worker.postMessage({ type: 'begin', id, job } satisfies ToWorker);
  }

  /** Has all workers take part in removing; settles when each has ended its part or died. */
  async remove(removals: Removals): Promise<void> {
    await Promise.all(this.#members.map((member) => this.#ask(member, { type: 'remove', removals })));
  }

  /** Runs a pass on all workers; settles when each has ended its part or died. */
  async pass(pass: Pass): Promise<void> {
    await Promise.all(this.#members.map((member) => this.#ask(member, { type: 'pass', pass })));
  }

  /** Has all workers take part in a streamed checkout; settles when each has seen its end or died. */
  async stream(share: StreamShare): Promise<void> {
    await Promise.all(this.#members.map((member) => this.#ask(member, { type: 'stream', share })));
  }

  /** Has all workers clean; settles when each has ended its part or died. */
  async clean(share: CleanShare): Promise<readonly CleanOutcome[]> {
    const messages = await Promise.all(this.#members.map((member) => this.#ask(member, { type: 'clean', share })));
    return messages.flatMap((message) => (message?.type === 'cleaned' ? [message.outcome] : []));
  }

  /** Ends all workers and collects what they cost. */
  async end(): Promise<PoolResult> {
    const deaths = [...this.#notStarted];
    const costs = await Promise.all(
      this.#members.map(async (member) => {
        const died = member.ended;
        const message = await this.#ask(member, { type: 'end' });
        if (message?.type === 'ended') return message.cost;
        const why = died ?? member.ended ?? 'no reason given';
        deaths.push(`worker ${member.id} ended early: ${why}; what it had not written was written by others`);
        return deadWorkerCost(member, this.#job?.counters ?? new Float64Array(0));
      }),
    );
    return { costs, deaths };
  }

  /** Ends workers that got nothing to do, without waiting. */
  dismiss(): void {
    for (const { worker, ended } of this.#members) {
      if (ended === null) worker.postMessage({ type: 'end' } satisfies ToWorker);
    }
  }

  async #ask(member: Member, message: ToWorker): Promise<FromWorker | null> {
    if (member.ended !== null) return null;
    return await new Promise((resolve) => {
      member.waiting = resolve;
      member.worker.postMessage(message);
    });
  }

  #settle(member: Member, message: FromWorker | null): void {
    const { waiting } = member;
    member.waiting = null;
    waiting?.(message);
  }
}

/** All that is known of a worker that could not tell what it cost: what it wrote. */
function deadWorkerCost(member: Member, counters: Float64Array): WorkerCost {
  return {
    id: member.id,
    files: counters[COUNTERS * member.id + FILES_DONE] ?? 0,
    bytesWritten: counters[COUNTERS * member.id + BYTES_DONE] ?? 0,
    wallMs: performance.now() - member.startedMs,
    cpuUserMs: 0,
    cpuSystemMs: 0,
    waitMs: 0,
    peakMemoryBytes: 0,
    died: true,
  };
}
