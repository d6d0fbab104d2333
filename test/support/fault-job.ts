/**
 * The program in which file system calls fail (see inject-faults.ts), in a process of its own so that nothing else meets them. It goes
 * from commit to commit of one repository with one call failing, looks at what is left, and repairs it by the next run.
 * Prints one JSON line a case. Run as `node --import inject-faults.ts fault-job.ts FILE`, the file holding a Job.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { GitCall, GitProcess, GitResult } from '../../src/engine/settings.ts';
import type { Fault } from './inject-faults.ts';
import { runOurs, spawnGit, type OurRun } from './ours.ts';
import { differences, leftovers, snapshot, type Snapshot } from './worktree.ts';

export interface Job {
  readonly directory: string;
  /** Each failing run goes from one to the other, and the next one back. */
  readonly commits: readonly [string, string];
  readonly faults: readonly Omit<Fault, 'below' | 'log'>[];
  readonly workers: readonly number[];
}

export interface Verdict {
  readonly fault: Omit<Fault, 'below' | 'log'>;
  readonly workers: number;
  /** What failed, a line each: the thread and the path. Empty: the run has no such call, or not so many. */
  readonly hits: readonly string[];
  /** The code of the run's error, or 'right'. */
  readonly outcome: string;
  readonly message: string;
  /** What is wrong with what is left; empty is as it should be. */
  readonly wrong: readonly string[];
}

/** A run takes some ten milliseconds. */
const HANG_MS = 30_000;

const job = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as Job;
const gitDir = join(job.directory, '.git');
const log = join(job.directory, '..', 'faults.log');

/** git's answers about the repository and its configuration, which stay the same: two processes less a run. */
const answers = new Map<string, GitResult>();
const gitOnce: GitProcess = async (call: GitCall) => {
  const key = JSON.stringify([call.args, call.cwd]);
  const asked = call.args.some((arg) => arg === 'rev-parse' || arg === 'config');
  const known = answers.get(key);
  if (known !== undefined) return known;
  const result = await spawnGit(call);
  if (asked && result.exitCode === 0) answers.set(key, result);
  return result;
};

async function ours(commit: string, workers: number): Promise<OurRun> {
  const hang = setTimeout(() => {
    const fault = process.env['FAULT'] ?? 'no fault';
    process.stdout.write(`${JSON.stringify(`hang with ${fault}`)}\n`, () => process.exit(3));
  }, HANG_MS);
  try {
    const target = { kind: 'detach', revision: commit } as const;
    return await runOurs({ directory: job.directory, target, workers, git: gitOnce });
  } finally {
    clearTimeout(hang);
  }
}

function git(...args: string[]): string {
  const result = spawnSync('git', args, { cwd: job.directory, maxBuffer: 1 << 28 });
  return result.status === 0 ? result.stdout.toString() : `status ${result.status ?? ''}: ${result.stderr.toString()}`;
}

/** Runs without faults; what is wrong then. */
async function repair(commit: string): Promise<string[]> {
  const { report } = await ours(commit, 0);
  const wrong: string[] = [];
  if (report.error !== undefined) wrong.push(`the next run: ${report.error.message}`);
  const status = git('status', '--porcelain');
  if (status !== '') wrong.push(`status after the next run: ${status}`);
  return wrong;
}

/** What was not removed stays, as an untracked file, if the run has said so; empty directories may stay. */
function unexpected(right: Snapshot, warnings: readonly string[]): string[] {
  const found = snapshot(job.directory);
  for (const [path, value] of found) {
    if (right.has(path)) continue;
    if (value.startsWith('directory') || warnings.some((line) => line.includes(`'${path}'`))) found.delete(path);
  }
  return differences(right, found);
}

function readLog(): string[] {
  try {
    return readFileSync(log, 'latin1').trim().split('\n');
  } catch {
    return [];
  }
}

async function tryFault(fault: Job['faults'][number], workers: number, to: string, from: string): Promise<Verdict> {
  const right = snapshots.get(to)!;
  const old = snapshots.get(from)!;
  const index = readFileSync(join(gitDir, 'index'));
  rmSync(log, { force: true });
  process.env['FAULT'] = JSON.stringify({ ...fault, below: job.directory, log } satisfies Fault);
  let outcome: string;
  let message = '';
  let warnings: readonly string[] = [];
  const wrong: string[] = [];
  try {
    const run = await ours(to, workers);
    outcome = run.report.error?.code ?? 'right';
    message = run.report.error?.message ?? '';
    warnings = run.warnings;
    if (message.includes('\n')) wrong.push('the message has several lines');
  } catch (error) {
    outcome = 'bug';
    wrong.push(String((error as Error).stack));
  }
  delete process.env['FAULT'];
  const hits = readLog();
  // What cannot be removed stays; a lock, too.
  const mayRemain = fault.call === 'unlink' ? hits.map((line) => line.slice(line.indexOf(' ') + 1)) : [];
  const left = leftovers(gitDir).filter((name) => !mayRemain.includes(join(gitDir, name)));
  if (left.length > 0) wrong.push(`left behind: ${left.join(' ')}`);
  for (const name of leftovers(gitDir)) rmSync(join(gitDir, name));
  const now = readFileSync(join(gitDir, 'index'));
  if (outcome === 'right') {
    wrong.push(...unexpected(right, warnings).map((line) => `no error, but ${line}`));
  } else if (!now.equals(index)) {
    const difference = git('diff-index', '--cached', to);
    if (difference !== '') wrong.push(`the index is neither the old one nor the new one: ${difference}`);
  }
  for (const [path, value] of snapshot(job.directory)) {
    const whole = !value.startsWith('file') || value === old.get(path) || value === right.get(path);
    if (!whole) wrong.push(`half of a file: ${path}: ${value}`);
  }
  for (const [path, value] of snapshot(job.directory)) {
    // Left there with a warning, and so not ours any more.
    if (!value.startsWith('directory') && warnings.some((line) => line.includes(`'${path}'`))) {
      rmSync(join(job.directory, path));
    }
  }
  wrong.push(...(await repair(to)));
  wrong.push(...unexpected(right, []).map((line) => `next run: ${line}`));
  return { fault, workers, hits, outcome, message, wrong };
}

const [one, two] = job.commits;
const snapshots = new Map<string, Snapshot>();
for (const commit of [two, one]) {
  await repair(commit);
  snapshots.set(commit, snapshot(job.directory));
}
/** By call, the first place that no run has reached both ways. */
const unreached = new Map<string, { nth: number; times: number }>();
let at = one;
for (const fault of job.faults) {
  for (const workers of job.workers) {
    const end = unreached.get(fault.call);
    if (end !== undefined && end.times > 1 && fault.nth > end.nth) continue;
    const to = at === one ? two : one;
    const verdict = await tryFault(fault, workers, to, at);
    process.stdout.write(`${JSON.stringify(verdict)}\n`);
    if (verdict.hits.length === 0) {
      const times = end?.nth === fault.nth ? end.times + 1 : 1;
      unreached.set(fault.call, { nth: fault.nth, times });
    }
    // Empty directories that could not be removed are nobody's.
    git('clean', '-ffdqx');
    at = to;
  }
}
