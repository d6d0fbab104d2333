/**
 * The program that meets hostile repositories, in a process of its own: a hang or a crash is then seen from outside, and its
 * memory is its own. It prints one JSON line before and after each case. Run as `node hostile-job.ts JOB`, JOB being JSON.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import type { GitCall, GitProcess, GitResult } from '../../src/engine/settings.ts';
import { damage, placesOfTree } from './damage.ts';
import { runOurs, spawnGit, type OurRun } from './ours.ts';
import { randomNumbers } from './random.ts';
import { differences, leftovers, shownFile, snapshot, type Snapshot } from './worktree.ts';

export interface Job {
  /** A repository without working tree or index; changed in place and put back. */
  readonly directory: string;
  readonly commit: string;
  readonly kind:
    | 'files' // damage one of `files` (relative to .git)
    | 'tree' // damage the bytes of `commit`'s root tree and make a commit of it
    | 'attributes' // damage the blob of .gitattributes and make a commit with it
    | 'commit' // damage the bytes of `commit`
    | 'lfs' // damage each pointer *.bin of the root, or its object in the LFS store
    | 'as-is'; // just check out
  readonly files?: readonly string[];
  /** For 'as-is': many repositories, each first without workers (even seeds), then with two. `directory` is the first. */
  readonly directories?: readonly string[];
  readonly seeds: readonly [number, number];
  /** For 'files': what is checked out, by name; the commit if missing. */
  readonly revision?: string;
  /**
   * The damage can change what git says of the repository, or what is right: ask git in each case. For 'as-is' the first
   * directory is sound.
   */
  readonly asksGit?: boolean;
  /** For both, ours and git's. */
  readonly config?: Readonly<Record<string, string>>;
  /** For git alone, where it does not know what is damaged. */
  readonly gitConfig?: Readonly<Record<string, string>>;
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
  const asked = job.asksGit !== true && call.args.some((arg) => ['rev-parse', 'config', '--exec-path'].includes(arg));
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
  const config = Object.entries({ ...job.config, ...job.gitConfig }).flatMap(([key, value]) => [
    '-c',
    `${key}=${value}`,
  ]);
  return spawnSync('git', [...config, ...args], { cwd: directory, maxBuffer: 1 << 28 });
}

function ours(commit: string, workers: number): Promise<OurRun> {
  return runOurs({
    directory,
    target: { kind: 'detach', revision: job.revision ?? commit },
    workers,
    config: job.config ?? {},
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
  /** Damages again what stands where `wipe` put it right. */
  readonly again?: () => void;
  /** What is right at some paths, where that is known without git. */
  readonly expected?: ReadonlyMap<string, Buffer>;
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
      const damaged = damage(original, random);
      writeFileSync(path, damaged);
      return {
        commit: job.commit,
        tree: null,
        again: () => writeFileSync(path, damaged),
        undo: () => writeFileSync(path, original),
      };
    }
    case 'commit': {
      const content = gitShows('cat-file', 'commit', job.commit);
      return { commit: writeObject('commit', damage(content, random)), tree: null, undo };
    }
    case 'lfs':
      return prepareLfs(random);
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
      const made = commitWith(new Map([['.gitattributes', blob]]));
      return { commit: made.commit, tree: root ? null : made.tree, undo };
    }
  }
}

/** Each pointer is damaged, or its object in the store gets another size or other bytes, or is away. */
function prepareLfs(random: (below: number) => number): Prepared {
  const expected = new Map<string, Buffer>();
  const blobs = new Map<string, string>();
  const undo: (() => void)[] = [];
  const place = (oid: string): string => join(gitDir, 'lfs', 'objects', oid.slice(0, 2), oid.slice(2, 4), oid);
  const names = gitShows('ls-tree', '--name-only', job.commit).toString().split('\n');
  for (const name of names.filter((each) => each.endsWith('.bin'))) {
    const pointer = gitShows('cat-file', 'blob', `${job.commit}:${name}`);
    const [, oid = '', size = ''] = POINTER.exec(pointer.toString('latin1')) ?? [];
    const original = readFileSync(place(oid));
    if (random(4) === 0) {
      const stored = random(4) === 0 ? null : random(4) === 0 ? Buffer.alloc(0) : damage(original, random);
      if (stored === null) rmSync(place(oid));
      else writeFileSync(place(oid), stored);
      undo.push(() => writeFileSync(place(oid), original));
      expected.set(name, stored?.length === Number(size) ? stored : pointer);
      continue;
    }
    const damaged = damage(pointer, random);
    const found = POINTER.exec(damaged.toString('latin1'));
    const fits = found !== null && found[1] === oid && original.length === Number(found[2]);
    blobs.set(name, writeObject('blob', damaged));
    expected.set(name, fits ? original : damaged);
  }
  return { ...commitWith(blobs), expected, undo: () => undo.forEach((each) => each()) };
}
/** As git-lfs writes it. */
const POINTER =
  /^version https:\/\/git-lfs\.github\.com\/spec\/v1\noid sha256:([0-9a-f]{64})\nsize ([1-9][0-9]{0,14})\n$/;

/** A commit whose root tree has other blobs at some places. */
function commitWith(blobs: ReadonlyMap<string, string>): { commit: string; tree: string } {
  const entries = gitShows('ls-tree', '-z', `${job.commit}^{tree}`).toString('latin1').split('\0').slice(0, -1);
  const body = entries.map((line) => {
    const [, mode = '', oid = '', name = ''] = /^(\d+) \w+ ([0-9a-f]+)\t(.*)$/s.exec(line) ?? [];
    return treeEntry(mode.replace(/^0/, ''), name, blobs.get(name) ?? oid);
  });
  const tree = writeObject('tree', Buffer.concat(body));
  return { commit: commitOf(tree), tree };
}

function treeEntry(mode: string, name: string, oid: string): Buffer {
  return Buffer.concat([Buffer.from(`${mode} ${name}\0`, 'latin1'), Buffer.from(oid, 'hex')]);
}

/** The tree as it is without damage, by git. */
function truth(): Snapshot {
  wipe();
  git('checkout', '-q', '--force', '--detach', job.revision ?? job.commit);
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
  readonly prepared: Prepared;
  readonly tree: string;
  readonly found: Snapshot;
  readonly code: string | null;
  readonly settle: (outcome: Outcome) => void;
}
const waiting: Waiting[] = [];

/** What our run came to; undefined when that waits for the batch. */
function judge(seed: number, run: OurRun, right: Snapshot, prepared: Prepared, settle: Waiting['settle']): void {
  const { error } = run.report;
  const { tree } = prepared;
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
  if (prepared.expected !== undefined) {
    const wanted = new Map(right);
    for (const [path, content] of prepared.expected) wanted.set(path, shownFile(modeOf(right.get(path)), content));
    const details = differences(wanted, found);
    if (code !== null) settle({ outcome: 'WRONG', details: [`error ${code}`] });
    else settle(details.length > 0 ? { outcome: 'WRONG', details } : { outcome: 'right' });
    return;
  }
  if (job.asksGit === true || job.kind === 'commit') {
    // To refuse what is damaged is right, if nothing was touched for it.
    if (code !== null && found.size === 0) settle({ outcome: code });
    else settle(compareWithGit(found, prepared, code));
    return;
  }
  if (job.kind === 'files' || job.kind === 'as-is') {
    if (code === null && differences(right, found).length === 0) settle({ outcome: 'right' });
    // Of what is damaged each file is whole or missing, or git has the same.
    else if (code !== null && ![...found].some(([path, value]) => right.has(path) && right.get(path) !== value)) {
      settle({ outcome: code });
    } else settle(compareWithGit(found, prepared, code));
    return;
  }
  // The damage can make other trees: these are compared whole.
  if (tree !== null && (code === null || code === 'write-failed')) {
    waiting.push({ seed, prepared, tree, found, code, settle });
  } else if (code !== null && found.size === 0 && seed % REFUSED_EVERY !== 0) {
    settle({ outcome: code });
  } else {
    settle(compareWithGit(found, prepared, code));
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
    const apart: (() => void)[] = [];
    for (const { seed, found, code, prepared, settle } of cases) {
      const folder = join(directory, name(seed));
      const theirs = existsSync(folder) ? snapshot(folder) : new Map<string, string>();
      const same = damaged ? stderr.includes(`${name(seed)}/`) : result.status === 0;
      if (same && differences(theirs, found).length === 0) settle({ outcome: code ?? 'as git' });
      else apart.push(() => settle(compareWithGit(found, prepared, code)));
    }
    for (const compare of apart) compare();
  }
  waiting.length = 0;
  for (const path of written.splice(0)) rmSync(path, { force: true });
}

/** The permissions of a file in a snapshot. */
function modeOf(shown = ''): number {
  return parseInt(shown.split(' ')[1] ?? '', 8);
}

/** Whether git reads this from the damaged repository for a path of the commit. */
function isGits(path: string, value: string): boolean {
  const line = entriesOfCommit.split('\0').find((each) => each.endsWith(`\t${path}`)) ?? '';
  const [mode = '', , oid = ''] = line.split(/[ \t]/);
  const { status, stdout } = git('cat-file', '--filters', `--path=${path}`, oid);
  const shown = mode === '120000' ? `link ${stdout.toString('latin1')}` : shownFile(modeOf(right.get(path)), stdout);
  return status === 0 && shown === value;
}

function compareWithGit(found: Snapshot, { commit, again }: Prepared, code: string | null): Outcome {
  wipe();
  again?.();
  const result = git('checkout', '-q', '--force', '--detach', job.revision ?? commit);
  const theirs = snapshot(directory);
  const different = differences(theirs, found);
  // To read what is whole in a file that git gives up on, such as another line of packed-refs, does no harm.
  if (job.asksGit === true && code === null && result.status !== 0 && differences(right, found).length === 0) {
    return { outcome: 'right' };
  }
  if (code === null ? result.status !== 0 : result.status === 0) {
    // Being stricter with what is damaged is right; being laxer is not.
    const stricter = code !== null && job.kind === 'files';
    const said = `${result.status ?? '?'} ${result.stderr.toString('latin1')}`;
    if (!stricter) different.unshift(`git's status is ${said}, our error is ${code ?? 'none'}`);
    else return { outcome: code };
  }
  if (code !== null && result.status === 128 && job.kind === 'files') {
    // git gave up in the middle: each file alone must be what git makes of its blob.
    const wrong = [...found].filter(
      ([path, value]) => right.has(path) && right.get(path) !== value && !isGits(path, value),
    );
    return wrong.length > 0 ? { outcome: 'WRONG', details: wrong.map(String) } : { outcome: code };
  }
  if (different.length > 0) return { outcome: 'WRONG', details: different };
  return { outcome: code ?? 'as git' };
}

function workersOf(seed: number): number {
  const every = job.directories === undefined ? WORKERS_EVERY : 2;
  return seed % every === 1 ? 2 : 0;
}

const say = (value: unknown): void => void process.stdout.write(`${JSON.stringify(value)}\n`);

const entriesOfCommit = job.kind === 'files' ? git('ls-tree', '-r', '-z', job.commit).stdout.toString('latin1') : '';
const right = job.kind === 'as-is' && job.asksGit !== true ? new Map<string, string>() : truth();
for (let seed = job.seeds[0]; seed < job.seeds[1]; seed++) {
  say({ seed });
  directory = job.directories?.[seed >> 1] ?? job.directory;
  gitDir = join(directory, '.git');
  const prepared = prepare(seed);
  const started = process.cpuUsage();
  const settle = (ms: number, message: string | undefined, { outcome, details }: Outcome): void => {
    const shown = outcome === 'WRONG' ? [...(details ?? []), `our error: ${message ?? 'none'}`] : details;
    const slow = ms > 5000 ? { outcome: 'WRONG', details: [`took ${Math.round(ms)} ms`] } : { outcome, details: shown };
    say({ seed, ...slow, ms, maxRssBytes: process.resourceUsage().maxRSS * 1024 });
  };
  try {
    const run = await ours(prepared.commit, workersOf(seed));
    // Of the processor, its threads included: the machine may be busy. Who waits for ever is silent, and found by that.
    const { user, system } = process.cpuUsage(started);
    const ms = (user + system) / 1000;
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
