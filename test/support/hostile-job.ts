/**
 * The program that meets hostile repositories, in a process of its own: a hang or a crash is then seen from outside, and its
 * memory is its own. It prints one JSON line before and after each case. Run as `node hostile-job.ts JOB`, JOB being JSON.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { spawnGit } from '../../src/engine/engine.ts';
import type { GitCall, GitProcess, GitResult } from '../../src/engine/settings.ts';
import { damage, placesOfTree } from './damage.ts';
import { runOurs, type OurRun } from './ours.ts';
import { randomNumbers } from './random.ts';
import { differences, leftovers, snapshot, type Snapshot } from './worktree.ts';

export interface Job {
  /** A repository without working tree or index; changed in place and put back. */
  readonly directory: string;
  readonly commit: string;
  readonly kind:
    | 'files' // damage one of `files` (relative to .git)
    | 'tree' // damage the bytes of `commit`'s root tree and make a commit of it
    | 'attributes' // damage the blob of .gitattributes and make a commit with it
    | 'as-is'; // just check out
  readonly files?: readonly string[];
  /** For 'as-is': many repositories, each first without workers (even seeds), then with two. `directory` is the first. */
  readonly directories?: readonly string[];
  readonly seeds: readonly [number, number];
  readonly memoryLimitBytes?: number;
}

/** Seeds that have worker threads: one in so many. To start them costs as much as ten cases. */
const WORKERS_EVERY = 100;
/** Cases that one git process checks out, side by side. */
const BATCH = 100;
/** What we refuse and touch nothing for: one in so many is asked of git as well, in a process of its own. */
const REFUSED_EVERY = 4;

/** What a case came to. */
export interface Verdict {
  readonly seed: number;
  /** The error's code, 'right', 'as git' (other than undamaged, but so is git's), or 'WRONG'. */
  readonly outcome: string;
  readonly details?: readonly string[];
  readonly ms: number;
  readonly maxRssBytes: number;
}

const job = JSON.parse(process.argv[2] ?? '') as Job;
let directory = job.directory;
let gitDir = join(directory, '.git');
const startHead = readFileSync(join(gitDir, 'HEAD'));

/** The answers to the same questions about a repository that does not change: the damage is in its objects only. */
const answers = new Map<string, GitResult>();
const gitOnce: GitProcess = async (call: GitCall) => {
  const asked = call.args.some((arg) => arg === 'rev-parse' || arg === 'config');
  const key = JSON.stringify([call.args, call.cwd]);
  const known = asked ? answers.get(key) : undefined;
  if (known !== undefined) return known;
  const result = await spawnGit(call);
  if (asked && result.exitCode === 0 && !call.args.some((arg) => arg.includes('^'))) answers.set(key, result);
  return result;
};

function wipe(): void {
  for (const name of readdirSync(directory, { encoding: 'buffer' })) {
    if (name.toString() === '.git') continue;
    rmSync(Buffer.concat([Buffer.from(`${directory}/`), name]), { recursive: true, force: true });
  }
  for (const name of ['index', 'index.lock', 'HEAD.lock']) rmSync(join(gitDir, name), { force: true });
  writeFileSync(join(gitDir, 'HEAD'), startHead);
}

function git(...args: string[]): { status: number | null; stdout: Buffer; stderr: Buffer } {
  return spawnSync('git', args, { cwd: directory, maxBuffer: 1 << 28 });
}

function ours(commit: string, workers: number): Promise<OurRun> {
  return runOurs({
    directory,
    target: { kind: 'detach', revision: commit },
    workers,
    git: gitOnce,
    request: { engine: 'auto', memoryLimitBytes: job.memoryLimitBytes ?? 256 * 2 ** 20 },
  });
}

/** The same question of git again and again is asked once. */
const known = new Map<string, Buffer>();
function gitShows(...args: string[]): Buffer {
  const key = args.join(' ');
  const answer = known.get(key) ?? git(...args).stdout;
  known.set(key, answer);
  return answer;
}

/** Objects of the cases at hand. They go with their batch: each walk over .git would see them. */
const written: string[] = [];
function writeObject(type: string, body: Uint8Array): string {
  const whole = Buffer.concat([Buffer.from(`${type} ${body.length}\0`), body]);
  const oid = createHash('sha1').update(whole).digest('hex');
  const path = join(gitDir, 'objects', oid.slice(0, 2), oid.slice(2));
  mkdirSync(join(path, '..'), { recursive: true });
  if (!existsSync(path)) {
    writeFileSync(path, deflateSync(whole, { level: 1 }));
    written.push(path);
  }
  return oid;
}

function commitOf(tree: string): string {
  const person = 'A <a@example.com> 1700000000 +0000';
  return writeObject('commit', Buffer.from(`tree ${tree}\nauthor ${person}\ncommitter ${person}\n\nx\n`));
}

interface Prepared {
  readonly commit: string;
  /** Its root tree, where another directory's checkout of that shows the same files; null where the root is special. */
  readonly tree: string | null;
  readonly undo: () => void;
}

/** Prepares the case of a seed. */
function prepare(seed: number): Prepared {
  const random = randomNumbers(seed);
  const undo = (): void => undefined;
  switch (job.kind) {
    case 'as-is':
      return { commit: job.commit, tree: null, undo };
    case 'files': {
      const files = job.files ?? [];
      const path = join(gitDir, files[random(files.length)] ?? '');
      const original = readFileSync(path);
      chmodSync(path, 0o644);
      writeFileSync(path, damage(original, random));
      return { commit: job.commit, tree: null, undo: () => writeFileSync(path, original) };
    }
    case 'tree': {
      const content = gitShows('cat-file', 'tree', `${job.commit}^{tree}`);
      const tree = writeObject('tree', damage(content, random, placesOfTree(content, 20)));
      return { commit: commitOf(tree), tree, undo };
    }
    case 'attributes': {
      const rules = gitShows('cat-file', 'blob', `${job.commit}:.gitattributes`);
      // Macros count in the root only.
      const root = random(8) === 0;
      const lines = rules.toString('latin1').split('\n');
      const plain = lines.filter((line) => !line.startsWith('[attr]')).join('\n');
      const blob = writeObject('blob', damage(root ? rules : Buffer.from(plain, 'latin1'), random));
      const entries = gitShows('ls-tree', '-z', `${job.commit}^{tree}`).toString('latin1').split('\0').slice(0, -1);
      const body = entries.map((line) => {
        const [, mode = '', oid = '', name = ''] = /^(\d+) \w+ ([0-9a-f]+)\t(.*)$/s.exec(line) ?? [];
        return treeEntry(mode.replace(/^0/, ''), name, name === '.gitattributes' ? blob : oid);
      });
      const tree = writeObject('tree', Buffer.concat(body));
      return { commit: commitOf(tree), tree: root ? null : tree, undo };
    }
  }
}

function treeEntry(mode: string, name: string, oid: string): Buffer {
  return Buffer.concat([Buffer.from(`${mode} ${name}\0`, 'latin1'), Buffer.from(oid, 'hex')]);
}

/** The tree as it is without damage, by git. */
function truth(): Snapshot {
  wipe();
  git('checkout', '-q', '--force', '--detach', job.commit);
  const files = snapshot(directory);
  wipe();
  return files;
}

interface Outcome {
  outcome: string;
  details?: string[];
}

/** A case whose files git has not been asked about yet. */
interface Waiting {
  readonly seed: number;
  readonly commit: string;
  readonly tree: string;
  readonly found: Snapshot;
  readonly code: string | null;
  readonly settle: (outcome: Outcome) => void;
}
const waiting: Waiting[] = [];

/** What our run came to; undefined when that waits for the batch. */
function judge(seed: number, run: OurRun, right: Snapshot, prepared: Prepared, settle: Waiting['settle']): void {
  const { error } = run.report;
  const { commit, tree } = prepared;
  const found = snapshot(directory);
  const left = leftovers(gitDir);
  if (left.length > 0) {
    settle({ outcome: 'WRONG', details: [`left behind: ${left.join(' ')}`] });
    return;
  }
  if (error !== undefined && (error.message.includes('\n') || error.message === '')) {
    settle({ outcome: 'WRONG', details: [`message: ${JSON.stringify(error.message)}`] });
    return;
  }
  const code = error?.code ?? null;
  if (job.kind === 'files' || job.kind === 'as-is') {
    if (code === null && differences(right, found).length === 0) settle({ outcome: 'right' });
    // Of what is damaged each file is whole or missing, or git has the same.
    else if (code !== null && ![...found].some(([path, value]) => right.has(path) && right.get(path) !== value)) {
      settle({ outcome: code });
    } else settle(compareWithGit(found, commit, code));
    return;
  }
  // The damage can make other trees: these are compared whole.
  if (tree !== null && (code === null || code === 'write-failed')) {
    waiting.push({ seed, commit, tree, found, code, settle });
  } else if (code !== null && found.size === 0 && seed % REFUSED_EVERY !== 0) {
    settle({ outcome: code });
  } else {
    settle(compareWithGit(found, commit, code));
  }
}

/**
 * Compares the cases that wait: git checks all of their trees out in one process, each in a directory of its own. Where a
 * directory differs git is asked again about that tree alone.
 */
function compareWaiting(): void {
  for (const damaged of [false, true]) {
    const cases = waiting.filter(({ code }) => (code !== null) === damaged);
    if (cases.length === 0) continue;
    wipe();
    const name = (seed: number): string => `c${String(seed).padStart(8, '0')}`;
    const body = cases.map(({ seed, tree }) => treeEntry('40000', name(seed), tree));
    const commit = commitOf(writeObject('tree', Buffer.concat(body)));
    const result = git('checkout', '-q', '--force', '--detach', commit);
    const stderr = result.stderr.toString('latin1');
    for (const { seed, found, code, commit: alone, settle } of cases) {
      const folder = join(directory, name(seed));
      const theirs = existsSync(folder) ? snapshot(folder) : new Map<string, string>();
      const same = damaged ? stderr.includes(`${name(seed)}/`) : result.status === 0;
      if (same && differences(theirs, found).length === 0) settle({ outcome: code ?? 'as git' });
      else again.push(() => settle(compareWithGit(found, alone, code)));
    }
    for (const compare of again.splice(0)) compare();
  }
  waiting.length = 0;
  for (const path of written.splice(0)) rmSync(path, { force: true });
}
const again: (() => void)[] = [];

function compareWithGit(found: Snapshot, commit: string, code: string | null): Outcome {
  wipe();
  const result = git('checkout', '-q', '--force', '--detach', commit);
  const theirs = snapshot(directory);
  const different = differences(theirs, found);
  if (code === null ? result.status !== 0 : result.status === 0) {
    // Being stricter with what is damaged is right; being laxer is not.
    const stricter = code !== null && job.kind === 'files';
    if (!stricter) different.unshift(`git's status is ${result.status ?? '?'}, our error is ${code ?? 'none'}`);
    else return { outcome: code };
  }
  if (different.length > 0) return { outcome: 'WRONG', details: different };
  return { outcome: code ?? 'as git' };
}

function workersOf(seed: number): number {
  const every = job.directories === undefined ? WORKERS_EVERY : 2;
  return seed % every === 1 ? 2 : 0;
}

const say = (value: unknown): void => void process.stdout.write(`${JSON.stringify(value)}\n`);

const right = job.kind === 'as-is' ? new Map<string, string>() : truth();
for (let seed = job.seeds[0]; seed < job.seeds[1]; seed++) {
  say({ seed });
  directory = job.directories?.[seed >> 1] ?? job.directory;
  gitDir = join(directory, '.git');
  const prepared = prepare(seed);
  const started = performance.now();
  const settle = (ms: number, message: string | undefined, { outcome, details }: Outcome): void => {
    const shown = outcome === 'WRONG' ? [...(details ?? []), `our error: ${message ?? 'none'}`] : details;
    const slow = ms > 5000 ? { outcome: 'WRONG', details: [`took ${Math.round(ms)} ms`] } : { outcome, details: shown };
    say({ seed, ...slow, ms, maxRssBytes: process.resourceUsage().maxRSS * 1024 });
  };
  try {
    const run = await ours(prepared.commit, workersOf(seed));
    const ms = performance.now() - started;
    judge(seed, run, right, prepared, (outcome) => settle(ms, run.report.error?.message, outcome));
  } catch (error) {
    const stack = error instanceof Error ? (error.stack ?? '') : String(error);
    settle(0, undefined, { outcome: 'WRONG', details: [`rejected: ${stack}`] });
  }
  prepared.undo();
  wipe();
  if (seed % BATCH === 0 || seed === job.seeds[1] - 1) compareWaiting();
  wipe();
}
