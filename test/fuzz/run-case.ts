/**
 * Runs a case: git in one copy, ours in the other, step by step, and compares after each.
 */
import { existsSync, utimesSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { runOurs } from '../support/ours.ts';
import { build, SIDES } from './build.ts';
import { compareOutcomes, type Ending, type Outcome } from './compare.ts';
import { applyDirt } from './dirt.ts';
import { look, lookBefore } from './look.ts';
import type { Case, Step } from './model.ts';
import { gitThroughShell, quote, type Shell } from './shell.ts';

export interface CaseResult {
  /** Empty when both did the same. */
  readonly differences: readonly string[];
  /** Of each step that ran. */
  readonly engines: readonly ('native' | 'git')[];
  /** Why git was asked, of each step that git did. */
  readonly fallbacks: readonly string[];
  readonly endings: readonly Ending[];
  /** Threads that were started. */
  readonly threads: number;
  /** Whether there were differences that another run did not have. */
  readonly unsteady?: boolean;
  /** Whether git did something else with several workers, and with one the same as ours. */
  readonly byGitsWorkers?: boolean;
}

/**
 * After a difference the case runs again: a second that ended in the middle makes a change of a file's ctime visible in one
 * copy, and in the other not. The last time all work on files waits for a new second, in both. What is other with git's
 * own workers alone is a matter of git's.
 */
const ATTEMPTS = 3;

export async function runCase(one: Case, root: string, home: string, shell: Shell): Promise<CaseResult> {
  const umask = one.umask ?? 0o022;
  const before = process.umask(umask);
  await shell.must('/', `umask ${umask.toString(8)}`);
  try {
    let result = await runOnce(one, root, home, shell, false);
    let attempt = 1;
    for (; attempt < ATTEMPTS && result.differences.length > 0; attempt++) {
      result = await runOnce(one, root, home, shell, attempt === ATTEMPTS - 1);
    }
    if (result.differences.length > 0 && one.steps.some(({ gitWorkers }) => gitWorkers > 1)) {
      const alone = { ...one, steps: one.steps.map((step) => ({ ...step, gitWorkers: 1 })) };
      const again = await runOnce(alone, root, home, shell, true);
      if (again.differences.length === 0) return { ...again, unsteady: false, byGitsWorkers: true };
    }
    return { ...result, unsteady: attempt > 1 };
  } finally {
    process.umask(before);
  }
}

/** Arguments of `git checkout --force` for a step. */
export function targetArguments(step: Step): string[] {
  switch (step.target) {
    case 'detach':
      return ['--detach', `t${step.commit}`];
    case 'revision':
      return [`c${step.commit}`];
    case 'branch':
      return ['-B', 'new', `t${step.commit}`];
    case 'move-branch':
      return ['-B', 'c0', `t${step.commit}`];
    case 'head':
      return [];
  }
}

function targetOf(step: Step): Parameters<typeof runOurs>[0]['target'] {
  switch (step.target) {
    case 'detach':
      return { kind: 'detach', revision: `t${step.commit}` };
    case 'revision':
      return { kind: 'revision', revision: `c${step.commit}` };
    case 'branch':
      return { kind: 'branch', branch: 'new', startPoint: `t${step.commit}` };
    case 'move-branch':
      return { kind: 'branch', branch: 'c0', startPoint: `t${step.commit}` };
    case 'head':
      return { kind: 'head' };
  }
}

async function runOnce(one: Case, root: string, home: string, shell: Shell, waits: boolean): Promise<CaseResult> {
  await build(one, root, home, shell);
  const differences: string[] = [];
  const engines: ('native' | 'git')[] = [];
  const fallbacks: string[] = [];
  const endings: Ending[] = [];
  let threads = 0;
  if (one.start !== null) {
    for (const side of SIDES) {
      await shell.run(`${root}/${side}/tree`, `git checkout -q --force c${one.start}; rm -f .git/hook-log`);
    }
  }
  for (const [number, step] of one.steps.entries()) {
    const outcomes: Outcome[] = [];
    let ourCacheTree = '';
    for (const side of SIDES) {
      const box = `${root}/${side}`;
      if (waits && step.dirt.length > 0) await nextSecond();
      await applyDirt(one, step.dirt, box, shell);
      setIndexTime(`${box}/tree/.git/index`, step.indexTime);
      const before = lookBefore(box);
      let ending: Ending;
      let engine: 'native' | 'git' = 'git';
      if (side === 'git') ending = await byGit(step, box, shell);
      else {
        const run = await runOurs({
          directory: `${box}/tree`,
          target: targetOf(step),
          workers: step.workers,
          alwaysParallel: false,
          request: step.clean === undefined ? {} : { clean: { exclude: step.clean } },
          git: gitThroughShell(shell),
        });
        const { report } = run;
        threads += run.started;
        engine = report.engine;
        fallbacks.push(...report.fallbacks.map((fallback) => fallback.reason));
        ending = {
          failed: report.error !== undefined,
          text: report.error === undefined ? '' : `${report.error.code}: ${report.error.message}`,
        };
        engines.push(engine);
        endings.push(ending);
      }
      const { seen, cacheTree } = await look(one, box, before, shell);
      if (side === 'ours') ourCacheTree = cacheTree;
      outcomes.push({ ending, before, seen, engine, wasNative: engines.includes('native') });
    }
    const [git, ours] = outcomes as [Outcome, Outcome];
    const { lines, parted } = compareOutcomes(one, step, git, ours);
    const found = [...lines];
    if (ours.engine === 'native' && !ours.ending.failed && ourCacheTree !== '' && !ourCacheTree.endsWith('0\n')) {
      found.push(`index: git finds the cache tree wrong: ${ourCacheTree.trim()}`);
    }
    differences.push(...found.map((line) => `step ${number}: ${line}`));
    if (differences.length > 0 || parted) break;
  }
  return { differences, engines, fallbacks, endings, threads };
}

/** What `clean` stands for. */
export function cleanCommand(exclude: readonly string[]): string {
  return `git clean -ffdxq ${exclude.map((pattern) => `-e ${quote(pattern)}`).join(' ')}`;
}

async function byGit(step: Step, box: string, shell: Shell): Promise<Ending> {
  const words = targetArguments(step).map(quote).join(' ');
  if (step.clean !== undefined) await shell.run(`${box}/tree`, cleanCommand(step.clean));
  const { status, stderr } = await shell.run(
    `${box}/tree`,
    `git -c checkout.workers=${step.gitWorkers} checkout --force --no-progress ${words} --`,
  );
  const text = stderr.split('\n').find((line) => /^(fatal|error): /.test(line)) ?? '';
  return { failed: status !== 0, text: `${status} ${text}` };
}

async function nextSecond(): Promise<void> {
  await setTimeout(1010 - (Date.now() % 1000));
}

function setIndexTime(index: string, time: Step['indexTime']): void {
  if (time === 'natural' || !existsSync(index)) return;
  const seconds = time === 'young' ? Date.now() / 1000 + 10 : 1_000_000_000;
  utimesSync(index, seconds, seconds);
}
