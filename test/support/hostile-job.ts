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

function git(...args: string[]): { status: number | null; stdout: Buffer } {
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

/** Bits, bytes, cuts, ranges of zeros, ranges moved: one to three of them, most at `places` where some are given. */
function damage(bytes: Buffer, random: (below: number) => number, places: readonly number[] = []): Buffer {
  let result = Buffer.from(bytes);
  for (let changes = 1 + random(3); changes > 0 && result.length > 1; changes--) {
    const anywhere = random(4) === 0 ? random(Math.min(64, result.length)) : random(result.length);
    const place = places[random(Math.max(1, places.length))] ?? anywhere;
    const at = random(5) === 0 || place >= result.length ? anywhere : place;
    switch (random(9)) {
      case 0:
      case 1:
      case 2:
        result[at] = (result[at] ?? 0) ^ (1 << random(8));
        break;
      case 3:
      case 4:
        result[at] = [0, 0xff, 0x7f, 0x80, 0x2f, 0x2e, 0x20, 0x0a][random(8)] ?? 0;
        break;
      case 5:
        result = Buffer.from(result.subarray(0, at));
        break;
      case 6:
        result.fill(random(2) === 0 ? 0 : 0xff, at, Math.min(result.length, at + 1 + random(40)));
        break;
      case 7:
        result = Buffer.concat([result.subarray(0, at), result.subarray(at + 1 + random(30))]);
        break;
      default:
        result = Buffer.concat([result.subarray(0, at), result.subarray(Math.max(0, at - random(40)))]);
    }
  }
  return result;
}

/** Where modes and names are in a tree: an id that is damaged only makes an object missing. */
function placesOf(tree: Buffer): number[] {
  const places: number[] = [];
  for (let at = 0; at < tree.length; at += 20) {
    const end = tree.indexOf(0, at);
    for (; at <= end; at++) places.push(at);
  }
  return places;
}

/** The same question of git again and again is asked once. */
const known = new Map<string, Buffer>();
function gitShows(...args: string[]): Buffer {
  const key = args.join(' ');
  const answer = known.get(key) ?? git(...args).stdout;
  known.set(key, answer);
  return answer;
}

function writeObject(type: string, body: Uint8Array): string {
  const whole = Buffer.concat([Buffer.from(`${type} ${body.length}\0`), body]);
  const oid = createHash('sha1').update(whole).digest('hex');
  const path = join(gitDir, 'objects', oid.slice(0, 2), oid.slice(2));
  mkdirSync(join(path, '..'), { recursive: true });
  if (!existsSync(path)) writeFileSync(path, deflateSync(whole));
  return oid;
}

function commitOf(tree: string): string {
  const person = 'A <a@example.com> 1700000000 +0000';
  return writeObject('commit', Buffer.from(`tree ${tree}\nauthor ${person}\ncommitter ${person}\n\nx\n`));
}

/** Prepares the case of a seed; returns the commit to check out and how to undo it. */
function prepare(seed: number): { commit: string; undo: () => void } {
  const random = randomNumbers(seed);
  const nothing = (): void => undefined;
  switch (job.kind) {
    case 'as-is':
      return { commit: job.commit, undo: nothing };
    case 'files': {
      const files = job.files ?? [];
      const path = join(gitDir, files[random(files.length)] ?? '');
      const original = readFileSync(path);
      chmodSync(path, 0o644);
      writeFileSync(path, damage(original, random));
      return { commit: job.commit, undo: () => writeFileSync(path, original) };
    }
    case 'tree': {
      const tree = gitShows('cat-file', 'tree', `${job.commit}^{tree}`);
      return { commit: commitOf(writeObject('tree', damage(tree, random, placesOf(tree)))), undo: nothing };
    }
    case 'attributes': {
      const rules = gitShows('cat-file', 'blob', `${job.commit}:.gitattributes`);
      const blob = writeObject('blob', damage(rules, random));
      const entries = gitShows('ls-tree', '-z', `${job.commit}^{tree}`).toString('latin1').split('\0').slice(0, -1);
      const body = entries.map((line) => {
        const [, mode = '', oid = '', name = ''] = /^(\d+) \w+ ([0-9a-f]+)\t(.*)$/s.exec(line) ?? [];
        return Buffer.concat([
          Buffer.from(`${mode.replace(/^0/, '')} ${name}\0`, 'latin1'),
          Buffer.from(name === '.gitattributes' ? blob : oid, 'hex'),
        ]);
      });
      return { commit: commitOf(writeObject('tree', Buffer.concat(body))), undo: nothing };
    }
  }
}

/** The tree as it is without damage, by git. */
function truth(): Snapshot {
  wipe();
  git('checkout', '-q', '--force', '--detach', job.commit);
  const files = snapshot(directory);
  wipe();
  return files;
}

function judge(run: OurRun, right: Snapshot, commit: string): { outcome: string; details?: string[] } {
  const { error } = run.report;
  const found = snapshot(directory);
  const left = leftovers(gitDir);
  if (left.length > 0) return { outcome: 'WRONG', details: [`left behind: ${left.join(' ')}`] };
  if (error !== undefined) {
    if (error.message.includes('\n') || error.message === '') {
      return { outcome: 'WRONG', details: [`message: ${JSON.stringify(error.message)}`] };
    }
    // Whole trees are compared with git's below where the damage can make other trees.
    if (job.kind === 'files') {
      const halves = [...found].filter(([path, value]) => right.has(path) && right.get(path) !== value);
      if (halves.length > 0) return compareWithGit(found, commit, error.code);
    }
    if (job.kind === 'tree' || job.kind === 'attributes') return compareWithGit(found, commit, error.code);
    return { outcome: error.code };
  }
  if (job.kind === 'files' || job.kind === 'as-is') {
    if (differences(right, found).length === 0) return { outcome: 'right' };
  }
  return compareWithGit(found, commit, null);
}

function compareWithGit(found: Snapshot, commit: string, code: string | null): { outcome: string; details?: string[] } {
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

const say = (value: unknown): void => void process.stdout.write(`${JSON.stringify(value)}\n`);

const right = job.kind === 'as-is' ? new Map<string, string>() : truth();
for (let seed = job.seeds[0]; seed < job.seeds[1]; seed++) {
  say({ seed });
  directory = job.directories?.[seed >> 1] ?? job.directory;
  gitDir = join(directory, '.git');
  const { commit, undo } = prepare(seed);
  const started = performance.now();
  let verdict: { outcome: string; details?: string[] };
  try {
    const run = await ours(commit, seed % (job.directories === undefined ? 8 : 2) === 1 ? 2 : 0);
    const ms = performance.now() - started;
    verdict = judge(run, right, commit);
    if (verdict.outcome === 'WRONG') verdict.details?.push(`our error: ${run.report.error?.message ?? 'none'}`);
    if (ms > 5000) verdict = { outcome: 'WRONG', details: [`took ${Math.round(ms)} ms`] };
  } catch (error) {
    verdict = {
      outcome: 'WRONG',
      details: [`rejected: ${error instanceof Error ? (error.stack ?? '') : String(error)}`],
    };
  }
  undo();
  wipe();
  say({ seed, ...verdict, ms: performance.now() - started, maxRssBytes: process.resourceUsage().maxRSS * 1024 });
}
