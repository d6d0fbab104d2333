/**
 * git processes of a run that was killed: a process that is killed by force takes along none of those that it started, so that a
 * fetch may still be writing into the directory that the next run takes for its own. Each git gets a mark of the run that started
 * it, by which an orphan is known. docs/decisions/left-overs.md.
 */
import { setTimeout as wait } from 'node:timers/promises';
import {
  listProcesses,
  processInfo,
  type ProcessInfo,
  signalProcess,
  stillRuns,
  variableOf,
  worksIn,
} from './processes.ts';

/** The environment variable with the mark: number and start of the run's process. */
const MARK = 'PARALLEL_CHECKOUT_RUN';

/** What an orphan gets to remove its temporary and lock files, as any git that we stop. */
const GRACE_MS = 5000;
const LOOK_AGAIN_MS = 20;

/** Environment for the processes of this run; empty where nobody could tell orphans by it. */
export function runMark(): Record<string, string> {
  const self = processInfo(process.pid);
  return self === null ? {} : { [MARK]: `${self.pid}:${self.startTicks}` };
}

function isOrphan(info: ProcessInfo, directory: string): boolean {
  if (!info.name.startsWith('git') || !worksIn(info, directory)) return false;
  const mark = /^(\d+):(\d+)$/.exec(variableOf(info, MARK) ?? '');
  return mark !== null && !stillRuns({ pid: Number(mark[1]), startTicks: Number(mark[2]) });
}

/**
 * Ends what killed runs have left at work in a directory, and waits for it.
 *
 * @param directory absolute, without links in it
 * @returns those that were found
 */
export async function endOrphans(directory: string, graceMs = GRACE_MS): Promise<readonly ProcessInfo[]> {
  const orphans = listProcesses().filter((each) => isOrphan(each, directory));
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    for (const orphan of orphans) signalProcess(orphan, signal);
    const end = performance.now() + graceMs;
    while (orphans.some(stillRuns) && performance.now() < end) await wait(LOOK_AGAIN_MS);
  }
  return orphans;
}
