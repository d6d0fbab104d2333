/**
 * How many worker threads write the files: the least of what the setting, the number of files, the platform, the cores,
 * the memory and the control group allow. Why these numbers: docs/decisions/worker-count.md.
 */
import type { HostFacts } from '../host-facts.ts';
import type { Bound } from './bound.ts';
import { formatMemory } from './memory.ts';
import type { MemoryPlan } from './memory.ts';

const MEBIBYTE = 2 ** 20;

/**
 * What a worker holds while it writes small files. 10 MiB for the thread: each of 16 threads of Node 24.21 raised the
 * resident memory by 11.8 MiB, some of it shared start-up. 12 MiB for its buffers: 1 MiB of pack window, the scratch
 * buffers for one object, and the cache of delta bases.
 */
export const WORKER_MEMORY_BYTES = 22 * MEBIBYTE;

/** The workers' own memory may be this share of the limit; the rest is for objects that must be held whole. */
const WORKER_MEMORY_SHARE = 1 / 2;

/**
 * Below so many files workers cost more than they save: a thread takes 15 to 25 ms of CPU to start, and at 70 us of CPU
 * for an ordinary file (Linux 6.12) one thread writes 200 to 350 in that time. It is git's default too
 * (checkout.thresholdForParallelism).
 */
export const PARALLEL_THRESHOLD = 100;

/** On Windows starting threads and writing at once cost more; not measured by us, set on the side of caution. */
export const PARALLEL_THRESHOLD_WINDOWS = 500;

/** More workers than one for every so many files would be done before the last of them has started. */
const FILES_PER_WORKER = 50;

/**
 * Many writers at once have broken checkouts on Windows (git-for-windows/git#3909, #6250, #6395), and virus scanners sit
 * between a writer and its file. Not measured by us, set on the side of caution.
 */
const WORKERS_ON_WINDOWS = 4;

/**
 * Threads and processes left for others: the four of Node's pool for asynchronous calls, and git with its helpers. A
 * worker itself is one thread.
 */
const PIDS_KEPT = 8;

/** What bounds the number of workers, as plain values. */
export interface WorkerFacts {
  readonly host: HostFacts;
  /** Files to write. */
  readonly files: number;
  readonly workers: number | 'auto';
  readonly thresholdForParallelism?: number;
}

/**
 * Every bound on the number of workers that applies here, the least of which is the number. Where two are equally low,
 * the first is what a user can change most easily, so it is the one to name.
 */
export function boundWorkers(facts: WorkerFacts, memory: MemoryPlan): Bound[] {
  const bounds: Bound[] = [];
  if (facts.workers !== 'auto') {
    const limit = Math.max(0, Math.floor(facts.workers));
    bounds.push({
      limit,
      text: limit === 0 ? 'no workers were asked for: the main thread writes' : `at most ${limit} asked for`,
    });
  }
  bounds.push(filesBound(facts));
  if (facts.host.platform === 'win32') {
    bounds.push({ limit: WORKERS_ON_WINDOWS, text: `at most ${WORKERS_ON_WINDOWS} on Windows` });
  }
  bounds.push(...coresBounds(facts.host.cores), memoryBound(memory));
  if (facts.host.pidsAvailable !== null) bounds.push(pidsBound(facts.host.pidsAvailable));
  return bounds;
}

function filesBound({ host, files, thresholdForParallelism }: WorkerFacts): Bound {
  const isWindows = host.platform === 'win32';
  const threshold = thresholdForParallelism ?? (isWindows ? PARALLEL_THRESHOLD_WINDOWS : PARALLEL_THRESHOLD);
  const what = `${files} ${files === 1 ? 'file' : 'files'}`;
  if (files < threshold) {
    const source =
      thresholdForParallelism === undefined ? (isWindows ? ' on Windows' : '') : ' of checkout.thresholdForParallelism';
    return { limit: 0, text: `${what}, fewer than the ${threshold}${source} from which workers are started` };
  }
  // A lower threshold says that workers pay for fewer files than we think: at the threshold there are two at least.
  const filesPerWorker = Math.min(FILES_PER_WORKER, Math.max(1, Math.ceil(threshold / 2)));
  const limit = Math.floor(files / filesPerWorker);
  return {
    limit,
    text: `${what}: enough for ${count(limit, 'worker')}, at ${filesPerWorker === 1 ? 'one file' : `${filesPerWorker} files`} each`,
  };
}

/**
 * The cores that the process can keep busy. A part of a core counts as one: a thread more than the quota uses up what
 * the others leave while they wait, and as batches are claimed one by one nobody waits for a thread that the kernel
 * holds back.
 */
function coresBounds({ online, affinity, quota }: HostFacts['cores']): Bound[] {
  const atLeastOne = (cores: number): number => Math.max(1, cores);
  const bounds = [{ limit: atLeastOne(online), text: `${count(online, 'core')} online` }];
  if (affinity !== null) {
    bounds.push({ limit: atLeastOne(affinity), text: `the process may run on ${count(affinity, 'core')}` });
  }
  if (quota !== null) {
    const limit = atLeastOne(Math.ceil(quota));
    const shown = Number(quota.toFixed(2));
    bounds.push({
      limit,
      text: `the control group allows the time of ${count(shown, 'core')}${shown === limit ? '' : `, counted as ${limit}`}`,
    });
  }
  return bounds;
}

function memoryBound({ limitBytes, availableBytes }: MemoryPlan): Bound {
  const usable = Math.min(limitBytes, availableBytes);
  const limit = Math.max(0, Math.floor((usable * WORKER_MEMORY_SHARE) / WORKER_MEMORY_BYTES));
  return {
    limit,
    text: `memory for ${limit}: ${formatMemory(WORKER_MEMORY_BYTES)} each in half of ${formatMemory(usable)}`,
  };
}

function pidsBound(available: number): Bound {
  const limit = Math.max(0, available - PIDS_KEPT);
  return {
    limit,
    text: `the control group allows ${available} more threads: ${limit} when ${PIDS_KEPT} are kept free`,
  };
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
