/**
 * The processes of this machine, as Linux shows them in /proc: who started whom, when, and where they work. On other systems
 * nobody is seen, so that whoever asks needs a rule for that.
 */
import { readdirSync, readlinkSync } from 'node:fs';
import { sep } from 'node:path';
import { KERNEL_ROOTS, numberOfKey, readTextOrNull } from './roots.ts';

/** One process. Its number is used again in time; together with its start it is not. */
export interface ProcessInfo {
  readonly pid: number;
  readonly parent: number;
  /** Of its program, 15 bytes at most. */
  readonly name: string;
  /** When it was started, in ticks since the machine was. */
  readonly startTicks: number;
  /** Ticks of processor time that it has used. */
  readonly cpuTicks: number;
}

/** Ticks a second in what the kernel tells programs: 100 on every architecture that Node runs on (USER_HZ). */
const TICKS_PER_SECOND = 100;

/** The process of this number; null where there is none that still runs. */
export function processInfo(pid: number, proc = KERNEL_ROOTS.proc): ProcessInfo | null {
  const text = readTextOrNull(`${proc}/${pid}/stat`);
  if (text === null) return null;
  // "PID (NAME) STATE PARENT …": the name may have anything in it, parentheses too. proc(5).
  const open = text.indexOf('(');
  const close = text.lastIndexOf(')');
  const fields = text.slice(close + 2).split(' ');
  const [state, parent] = fields;
  const start = Number(fields[19] ?? NaN);
  const cpuTicks = Number(fields[11]) + Number(fields[12]);
  // A zombie has ended, and is only kept for its parent to ask how.
  if (open < 0 || close < open || state === 'Z' || state === 'X' || !Number.isSafeInteger(start)) return null;
  return { pid, parent: Number(parent), name: text.slice(open + 1, close), startTicks: start, cpuTicks };
}

/** All that run; empty where there is no /proc. */
export function listProcesses(proc = KERNEL_ROOTS.proc): ProcessInfo[] {
  return namesIn(proc)
    .filter((name) => /^\d+$/.test(name))
    .map((name) => processInfo(Number(name), proc))
    .filter((info) => info !== null);
}

/** Those that a process started, and those that these started, as far as they are still in their care. Pure. */
export function descendantsOf(pid: number, processes: readonly ProcessInfo[]): ProcessInfo[] {
  const family = new Set([pid]);
  const found: ProcessInfo[] = [];
  for (let before = 0; before < family.size;) {
    before = family.size;
    for (const each of processes) {
      if (!family.has(each.parent) || family.has(each.pid)) continue;
      family.add(each.pid);
      found.push(each);
    }
  }
  return found;
}

/** Whether it still runs, and is not another that got its number. */
export function stillRuns({ pid, startTicks }: Pick<ProcessInfo, 'pid' | 'startTicks'>): boolean {
  return processInfo(pid)?.startTicks === startTicks;
}

/** Sends a signal, if it still runs and we may. */
export function signalProcess(info: ProcessInfo, signal: NodeJS.Signals): void {
  if (!stillRuns(info)) return;
  try {
    process.kill(info.pid, signal);
  } catch {
    // It has ended just now, or belongs to another user.
  }
}

/** When it was started, in milliseconds since 1970, to a second; 0, long ago, where the machine does not say. */
export function startTime({ startTicks }: ProcessInfo, proc = KERNEL_ROOTS.proc): number {
  const booted = numberOfKey(readTextOrNull(`${proc}/stat`) ?? '', 'btime');
  return booted === null ? 0 : (booted + startTicks / TICKS_PER_SECOND) * 1000;
}

/** Whether its current directory is this one or below it. False as well where that may not be known. */
export function worksIn({ pid }: ProcessInfo, directory: string, proc = KERNEL_ROOTS.proc): boolean {
  const cwd = linkOf(`${proc}/${pid}/cwd`);
  return cwd !== null && (cwd === directory || cwd.startsWith(directory.endsWith(sep) ? directory : directory + sep));
}

/** A variable of the environment that it was started with; undefined where it has none, or that may not be known. */
export function variableOf({ pid }: ProcessInfo, name: string, proc = KERNEL_ROOTS.proc): string | undefined {
  const variables = (readTextOrNull(`${proc}/${pid}/environ`) ?? '').split('\0');
  return variables.find((variable) => variable.startsWith(`${name}=`))?.slice(name.length + 1);
}

/** What a process and all that it has started have done so far, as far as they still run. */
export interface Activity {
  /** Read and written, by files and pipes; what comes from the network counts when it is handed on. */
  readonly bytes: number;
  /** Of processor time. */
  readonly ms: number;
}

/** Whether the machine tells what processes do. */
export function tellsActivity(proc = KERNEL_ROOTS.proc): boolean {
  return readTextOrNull(`${proc}/self/io`) !== null;
}

/** What a process and its descendants have done; nothing where it has ended, or the machine does not tell. */
export function activityOf(pid: number, proc = KERNEL_ROOTS.proc): Activity {
  const processes = listProcesses(proc);
  const family = [...processes.filter((each) => each.pid === pid), ...descendantsOf(pid, processes)];
  let bytes = 0;
  let ms = 0;
  for (const each of family) {
    const io = readTextOrNull(`${proc}/${each.pid}/io`) ?? '';
    bytes += (numberOfKey(io, 'rchar') ?? 0) + (numberOfKey(io, 'wchar') ?? 0);
    ms += (each.cpuTicks / TICKS_PER_SECOND) * 1000;
  }
  return { bytes, ms };
}

/** The paths that it has open, as far as that may be known. */
export function openPaths({ pid }: ProcessInfo, proc = KERNEL_ROOTS.proc): string[] {
  const folder = `${proc}/${pid}/fd`;
  return namesIn(folder)
    .map((name) => linkOf(`${folder}/${name}`))
    .filter((path) => path !== null);
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function linkOf(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}
