/**
 * Shares workers out to a limited number of rows or notices, in order, as evenly as possible, and sums up what several
 * in one place cost together.
 */
import type { WorkerCost } from '../cost.ts';
import { formatBytes, formatMs, plural, workerName } from './format.ts';

/** At most `most` groups of neighbours, their sizes differing by one at most. No group is empty. */
export function groupWorkers(workers: readonly WorkerCost[], most: number): WorkerCost[][] {
  const count = Math.min(most, workers.length);
  const groups: WorkerCost[][] = [];
  for (let i = 0; i < count; i++) {
    groups.push(
      workers.slice(Math.floor((i * workers.length) / count), Math.floor(((i + 1) * workers.length) / count)),
    );
  }
  return groups;
}

/** 'Worker 3', 'Main thread', 'Workers 1 to 8'. */
export function groupName(group: readonly WorkerCost[]): string {
  const first = group[0];
  const last = group.at(-1);
  if (first === undefined || last === undefined) return 'No workers';
  if (group.length > 1) return `Workers ${first.id === 0 ? 'main' : String(first.id)} to ${last.id}`;
  return first.id === 0 ? 'Main thread' : `Worker ${first.id}`;
}

/** What a group cost together: work and CPU time are sums, wall time and memory the highest of one worker. */
export function groupCost(group: readonly WorkerCost[]): Omit<WorkerCost, 'id'> {
  let files = 0;
  let bytesWritten = 0;
  let wallMs = 0;
  let cpuUserMs = 0;
  let cpuSystemMs = 0;
  let waitMs = 0;
  let peakMemoryBytes = 0;
  let died = false;
  for (const worker of group) {
    files += worker.files;
    bytesWritten += worker.bytesWritten;
    cpuUserMs += worker.cpuUserMs;
    cpuSystemMs += worker.cpuSystemMs;
    waitMs += worker.waitMs;
    wallMs = Math.max(wallMs, worker.wallMs);
    peakMemoryBytes = Math.max(peakMemoryBytes, worker.peakMemoryBytes);
    died ||= worker.died === true;
  }
  return { files, bytesWritten, wallMs, cpuUserMs, cpuSystemMs, waitMs, peakMemoryBytes, ...(died ? { died } : {}) };
}

/** One worker's cost in one line. */
export function workerSentence(worker: WorkerCost): string {
  return `${workerName(worker)}: ${costSentence(worker)}`;
}

/** A cost in one line, without whose it is. */
export function costSentence(cost: Omit<WorkerCost, 'id'>): string {
  return (
    `${plural(cost.files, 'file')}, ${formatBytes(cost.bytesWritten)} in ${formatMs(cost.wallMs)}; ` +
    `CPU ${formatMs(cost.cpuUserMs)} user, ${formatMs(cost.cpuSystemMs)} system; ` +
    `waiting ${formatMs(cost.waitMs)}; peak memory ${formatBytes(cost.peakMemoryBytes)}`
  );
}
