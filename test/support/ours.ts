/**
 * Runs the engine's checkout in this process as the oracle and the fault tests need it: on a machine of stated facts, with
 * everything it says collected, and with the threads that really were started counted.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import type { HostFacts } from '../../src/engine/host-facts.ts';
import type { Report } from '../../src/engine/report/report.ts';
import type { CheckoutRequest, CheckoutTarget, GitProcess, Observer, Progress } from '../../src/engine/settings.ts';
import { loadEngine } from './programs.ts';

export const { checkout, clone, spawnGit } = await loadEngine();

const GIBIBYTE = 2 ** 30;

/** Eight cores and memory enough, whatever the tests run on, so that up to eight workers are planned when asked for. */
export const ROOMY_HOST: HostFacts = {
  platform: process.platform,
  cores: { online: 8, affinity: 8, quota: null },
  memory: {
    totalBytes: 16 * GIBIBYTE,
    availableBytes: 8 * GIBIBYTE,
    cgroupLimitBytes: null,
    cgroupUsedBytes: null,
  },
  pidsAvailable: null,
  fileSystem: { type: 'ext4', network: false },
};

export interface RunOptions {
  readonly directory: string;
  readonly target: CheckoutTarget;
  /** 0: the main thread writes. */
  readonly workers?: number | 'auto';
  readonly config?: Readonly<Record<string, string>>;
  /** As few files as there may be get workers; false leaves the engine's own threshold. */
  readonly alwaysParallel?: boolean;
  readonly request?: Partial<CheckoutRequest>;
  readonly git?: GitProcess;
  /** The engine's `checkout`, where a test changes something within its own copy of the engine's modules. */
  readonly checkout?: typeof checkout;
  /** Told of each thread as it is made. */
  readonly onWorker?: (worker: Worker) => void;
  readonly onProgress?: (progress: Progress) => void;
}

export interface OurRun {
  readonly report: Report;
  /** Threads that were started. */
  readonly started: number;
  readonly infos: readonly string[];
  readonly warnings: readonly string[];
}

export async function runOurs(options: RunOptions): Promise<OurRun> {
  const infos: string[] = [];
  const warnings: string[] = [];
  const observer: Observer = {
    info: (line) => infos.push(line),
    warning: (line) => warnings.push(line),
    progress: (progress) => options.onProgress?.(progress),
  };
  const config = { ...options.config };
  if (options.alwaysParallel !== false) config['checkout.thresholdForParallelism'] = '0';
  const request: CheckoutRequest = {
    directory: options.directory,
    target: options.target,
    workers: options.workers ?? 2,
    memoryLimitBytes: 'auto',
    engine: 'auto',
    transport: 'auto',
    hostFacts: ROOMY_HOST,
    config: Object.entries(config).map(([key, value]) => ({ key, value })),
    ...options.request,
  };
  let started = 0;
  const count = (worker: Worker): void => {
    started++;
    options.onWorker?.(worker);
  };
  process.on('worker', count);
  try {
    const report = await (options.checkout ?? checkout)(request, { observer, git: options.git ?? spawnGit });
    // Threads are announced a moment after they were made.
    await nextTurn();
    return { report, started, infos, warnings };
  } finally {
    process.off('worker', count);
  }
}
