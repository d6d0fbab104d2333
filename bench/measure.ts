/**
 * One measured run of one command: wall time, CPU time of its whole process tree, peak memory. The wrapper rusage.c
 * measures exactly what finished processes cost; the memory of all processes together is sampled from /proc.
 */
import { createHash } from 'node:crypto';
import { spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder } from './corpora.ts';
import { run } from './process.ts';

/** A command to measure. */
export interface Command {
  program: string;
  args: string[];
  cwd: string;
  env: NodeJS.ProcessEnv;
}

/** What a run cost. Times in milliseconds, sizes in bytes. */
export interface Cost {
  wallMs: number;
  userMs: number;
  systemMs: number;
  /** Largest resident size that any single process of the tree had (the kernel's own high-water mark). */
  peakRssBytes: number;
  /** Highest sum over the tree of the processes' resident sizes, sampled. Pages that two processes share count twice. */
  treeRssBytes: number;
  /** Highest sum of proportional sizes (shared pages divided among their users); only where `pss` was asked for. */
  treePssBytes: number | null;
  /** CPU time that everything else on the machine took meanwhile: other people's work, and the kernel's writing to disk. */
  otherCpuMs: number;
  status: number;
}

/** Often enough to see a peak that lasts a few scheduler ticks, rare enough to cost about 1% of a core. */
const SAMPLE_MS = 20;

/** USER_HZ, the unit of /proc/stat: fixed at 100 for user space on every Linux that Node runs on. */
const TICK_MS = 10;

/** Compiles rusage.c into the cache, once a version, and returns the program's path. Needs a C compiler named `cc`. */
export async function rusageProgram(): Promise<string> {
  const source = join(import.meta.dirname, 'rusage.c');
  const version = createHash('sha256').update(readFileSync(source)).digest('hex').slice(0, 12);
  const program = join(cacheFolder(), 'tools', `rusage-${version}`);
  if (existsSync(program)) return program;
  mkdirSync(join(cacheFolder(), 'tools'), { recursive: true });
  await run('cc', ['-O2', '-o', `${program}.partial`, source]);
  renameSync(`${program}.partial`, program);
  return program;
}

/**
 * Runs `command` and measures it. Its output goes to the file `log`. With `pss` the samples are of proportional sizes,
 * which is exact where processes share pages but slows the measured processes: not for a run whose time counts.
 */
export async function measure(command: Command, log: string, options: { pss: boolean }): Promise<Cost> {
  const program = await rusageProgram();
  const result = `${log}.rusage`;
  rmSync(result, { force: true });
  const output = openSync(log, 'w');
  const busyBefore = machineBusyMs();
  const child = spawn(program, [result, command.program, ...command.args], {
    cwd: command.cwd,
    env: command.env,
    stdio: ['ignore', output, output],
  });
  closeSync(output);
  let treeRss = 0;
  let treePss = 0;
  const sampler = setInterval(() => {
    if (child.pid === undefined) return;
    let rss = 0;
    let pss = 0;
    for (const pid of descendants(child.pid)) {
      rss += residentBytes(pid);
      if (options.pss) pss += proportionalBytes(pid);
    }
    treeRss = Math.max(treeRss, rss);
    treePss = Math.max(treePss, pss);
  }, SAMPLE_MS);
  try {
    await new Promise<void>((resolve, reject) => {
      child.on('error', reject);
      child.on('close', () => resolve());
    });
  } finally {
    clearInterval(sampler);
  }
  const busyMs = machineBusyMs() - busyBefore;
  if (!existsSync(result)) throw new Error(`${program} left no measurement; its output:\n${readFileSync(log, 'utf8')}`);
  const used = JSON.parse(readFileSync(result, 'utf8')) as {
    wallUs: number;
    userUs: number;
    systemUs: number;
    maxRssBytes: number;
    status: number;
  };
  rmSync(result);
  return {
    wallMs: used.wallUs / 1000,
    userMs: used.userUs / 1000,
    systemMs: used.systemUs / 1000,
    peakRssBytes: used.maxRssBytes,
    // A run shorter than a sampling interval may not have been seen at all; the largest process is a lower bound.
    treeRssBytes: Math.max(treeRss, used.maxRssBytes),
    treePssBytes: options.pss && treePss > 0 ? treePss : null,
    otherCpuMs: Math.max(0, busyMs - (used.userUs + used.systemUs) / 1000),
    status: used.status,
  };
}

/** All processes below `root`, without it. A process that ends meanwhile is left out. */
function descendants(root: number): number[] {
  const found: number[] = [];
  const open = [root];
  for (let pid = open.pop(); pid !== undefined; pid = open.pop()) {
    for (const child of children(pid)) {
      found.push(child);
      open.push(child);
    }
  }
  return found;
}

function children(pid: number): number[] {
  const pids: number[] = [];
  try {
    for (const thread of readdirSync(`/proc/${pid}/task`)) {
      const list = readFileSync(`/proc/${pid}/task/${thread}/children`, 'latin1');
      for (const word of list.split(' ')) if (word !== '') pids.push(Number(word));
    }
  } catch {
    // The process or the thread has ended.
  }
  return pids;
}

function residentBytes(pid: number): number {
  try {
    // Fields of /proc/PID/statm, in pages of 4 KiB: size resident shared …
    return Number(readFileSync(`/proc/${pid}/statm`, 'latin1').split(' ')[1]) * 4096;
  } catch {
    return 0;
  }
}

function proportionalBytes(pid: number): number {
  try {
    const pss = /^Pss: +(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1'));
    return Number(pss?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

/** CPU time that the machine has spent on anything since it started: user, nice, system, irq, softirq. */
function machineBusyMs(): number {
  const [, user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] = (
    readFileSync('/proc/stat', 'latin1').split('\n', 1)[0] ?? ''
  )
    .split(/ +/)
    .map(Number);
  return (user + nice + system + irq + softirq) * TICK_MS;
}
