/**
 * git is the oracle. One repository is checked out by git and by us, each in a copy of its own, and everything that can be
 * seen afterwards is compared: the files, the index in git's own view, HEAD, refs and reflog. What must hold whatever git
 * does (clean status, stat data as on disk, the workers that were asked for) is checked besides.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, readFileSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect } from 'vitest';
import type { CheckoutRequest, CheckoutTarget } from '../../src/engine/settings.ts';
import { LONG } from './long-tests.ts';
import { configArguments, git, runGit, type GitRepository } from './repository.ts';
import { runOurs, type OurRun } from './ours.ts';
import { runStreamed } from './streamed.ts';
import { differences, identities, inside, leftovers, snapshot, type Snapshot } from './worktree.ts';

/**
 * Worker counts that a case runs with; 0 is the main thread alone. A thread takes 40 ms of processor time to start, so the
 * usual "several" is three: one more than share by halves.
 */
export const ALL_MODES: readonly number[] = LONG ? [0, 1, 2, 3, 5] : [0, 1, 3];
/** For cases about something else than the workers. */
export const FEW_MODES: readonly number[] = [1, 2];

export interface OracleCase {
  /** Only its .git is copied. Alternates may be relative: copies are made beside it. */
  readonly repository: GitRepository;
  /** What is checked out: `git checkout --force --detach REVISION`, unless `target` says otherwise. */
  readonly revision: string;
  readonly target?: CheckoutTarget;
  /** Where in the copy the working tree is, when the case puts it below. */
  readonly treeAt?: string;
  /** Checked out by git in each copy before. */
  readonly from?: string;
  /** Makes the working tree or the repository dirty, in each copy, after `from`. */
  readonly prepare?: (directory: string) => void;
  /** For git's copy instead of `prepare`, where git gives up on something that it need not give up on. */
  readonly prepareForGit?: (directory: string) => void;
  /**
   * The old index is normally made younger than all files, so that stat data decide. True leaves it as it is: files of its
   * own second are racy then.
   */
  readonly racy?: boolean;
  readonly config?: Readonly<Record<string, string>>;
  /** Environment of git, of us, and of the comparison. */
  readonly env?: Readonly<Record<string, string>>;
  /** Default: all. Where given, git's own parallel checkout is not run besides; it otherwise is with LONG_TESTS=1. */
  readonly modes?: readonly number[];
  /** Who must have written the tree: default 'native'. */
  readonly engine?: 'native' | 'git' | 'any';
  /** Part of the reason for handing over to git. */
  readonly reason?: RegExp;
  /** git's exit status: 0, 1 when some files failed, 128 when nothing was touched. */
  readonly exit?: 0 | 1 | 128;
  /** With 128: git gives up in the middle of writing, so only index and HEAD must stay as they were. */
  readonly halfway?: boolean;
  /** Files that no worker writes: those of filter drivers. */
  readonly byMainThread?: number;
  /** The error code of the report when git fails. */
  readonly error?: string | RegExp;
  /** True where git's own status is not clean afterwards (what stays is then compared only). */
  readonly unclean?: boolean;
  /**
   * False where `git status` depends on whether the index was written in the same second as a file: one whose content git
   * would store otherwise is then listed, or is not.
   */
  readonly compareStatus?: boolean;
  /** The paths that could not be written, when `exit` is 1. */
  readonly failed?: readonly string[];
  readonly request?: Partial<CheckoutRequest>;
  /**
   * For a sparse checkout: entries outside of it with something on disk in their place, which by the time git looks have
   * lost their mark. All others with skip-worktree must be in the report as left out.
   */
  readonly present?: number;
  /** False where racy links and the like may be made anew though git keeps them. */
  readonly compareKept?: boolean;
  /** False where a blob outside of the sparse checkout is missing: git then has no cache tree. */
  readonly compareTree?: boolean;
  /** False for a tree that git fsck rejects at length or that takes too long. */
  readonly fsck?: boolean;
  /** Also looks at each copy. */
  readonly inspect?: (directory: string, run: OurRun | null) => void;
}

/** What can be seen of a copy after a checkout. */
interface Seen {
  readonly files: Snapshot;
  readonly index: Readonly<Record<string, string>>;
  /** `ls-files --debug`, before anything refreshes the index. */
  readonly debug: string;
  readonly refs: string;
  readonly head: string;
  readonly reflog: string;
  readonly stateFiles: string;
  /** Files and links that are the same as before. */
  readonly kept: readonly string[];
  /** Regular files that are not. */
  readonly written: readonly string[];
}

let copies = 0;

/** Checks one case in all of its modes. Rejects with the first difference, which names the mode. */
export async function expectSameAsGit(options: OracleCase): Promise<void> {
  const exit = options.exit ?? 0;
  const { prepareForGit = options.prepare } = options;
  const forGit = prepareForGit === undefined ? options : { ...options, prepare: prepareForGit };
  const expected = inCopy(forGit, (directory) => {
    const before = stateBefore(directory, options);
    const result = gitCheckout(directory, options, []);
    expect(result.status, `git's exit status\n${result.stderr.toString()}`).toBe(exit);
    options.inspect?.(directory, null);
    return { before, seen: look(directory, options, before) };
  });
  if (options.unclean !== true && exit === 0) expectClean(expected.seen, 'git');
  if (exit === 128 && options.halfway !== true) expectUntouched(expected, 'git');

  const fresh = options.from === undefined && options.prepare === undefined;
  if (LONG && fresh && exit === 0 && options.modes === undefined) {
    const parallel = inCopy(options, (directory) => {
      const before = stateBefore(directory, options);
      const workers = ['-c', 'checkout.workers=2', '-c', 'checkout.thresholdForParallelism=0'];
      expect(gitCheckout(directory, options, workers).status).toBe(0);
      return look(directory, options, before);
    });
    expectEqual(expected.seen, parallel, options, 'git with 2 workers');
  }

  if (STREAMED && canBeStreamed(options)) await expectStreamed(expected.seen, options);

  const modes = options.modes ?? ALL_MODES;
  for (const mode of modes) {
    await inCopy(options, async (directory) => {
      const name = `${mode} workers`;
      const before = stateBefore(directory, options);
      const run = await withEnvironment(options.env, () =>
        runOurs({
          directory,
          target: options.target ?? { kind: 'detach', revision: options.revision },
          workers: mode,
          ...(options.config === undefined ? {} : { config: options.config }),
          ...(options.request === undefined ? {} : { request: options.request }),
        }),
      );
      const { report } = run;
      if (exit === 0) {
        expect(report.error, `${name}: the report's error`).toBeUndefined();
      } else {
        expect(report.error, `${name}: git fails here, so must we`).toBeDefined();
        if (options.error !== undefined) {
          if (typeof options.error === 'string') expect(report.error?.code, name).toBe(options.error);
          else expect(report.error?.code, name).toMatch(options.error);
        }
        expect(report.error?.message, `${name}: one line`).not.toMatch(/\n/);
      }
      options.inspect?.(directory, run);
      const engine = options.engine ?? 'native';
      if (exit !== 128 && engine !== 'any') {
        const reasons = report.fallbacks.map((fallback) => fallback.reason).join('; ');
        expect(report.engine, `${name}: engine (fallbacks: ${reasons})`).toBe(engine);
        if (engine === 'git') {
          expect(report.fallbacks.length, `${name}: a reason for handing over`).toBeGreaterThan(0);
          if (options.reason !== undefined) expect(reasons, name).toMatch(options.reason);
          expect(run.infos.join('\n'), `${name}: the log says so`).toContain(report.fallbacks[0]?.reason ?? '');
        } else {
          expect(report.fallbacks, name).toEqual([]);
        }
      }
      // Before git looks, since git itself leaves a lock behind when it stops at what it finds.
      expect(leftovers(join(directory, '.git')), `${name}: locks and temporary files`).toEqual(
        leftoversBefore.get(directory) ?? [],
      );
      const index = readIndexFile(directory);
      const seen = look(directory, options, before, options.fsck !== false && mode === modes.at(-1));
      if (exit === 128 && options.halfway === true) {
        expect(seen.head, `${name}: HEAD stays`).toBe(before.head);
        expect(index, `${name}: the index stays`).toEqual(before.index);
        return;
      }
      if (exit === 128) {
        expectUntouched({ before, seen }, name);
        expect(differences(expected.seen.files, seen.files), name).toEqual([]);
        return;
      }
      expectEqual(expected.seen, seen, options, name);
      if (options.unclean !== true && exit === 0) expectClean(seen, name);
      if (report.engine === 'native') {
        expectStatAsOnDisk(join(directory, options.treeAt ?? ''), seen, options, name);
        expectHonestReport(run, mode, seen, options, name);
      }
    });
  }
}

/** Over the streamed route, where the case begins with nothing. It costs a server's answers, so it is asked for. */
const STREAMED = LONG || process.env['STREAMED_TESTS'] === '1';

function canBeStreamed(options: OracleCase): boolean {
  const fresh = options.from === undefined && options.prepare === undefined;
  const plain = options.target === undefined && options.request === undefined && options.treeAt === undefined;
  const native = (options.exit ?? 0) === 0 && (options.engine ?? 'native') === 'native';
  return fresh && plain && native && !hasObjectsElsewhere(options);
}

/** Whether the repository cannot do without its own object database: what it borrows, replaces, or was promised. */
function hasObjectsElsewhere({ repository: { gitDir }, env = {} }: OracleCase): boolean {
  const text = (name: string): string => {
    const path = join(gitDir, name);
    return existsSync(path) ? readFileSync(path, 'latin1') : '';
  };
  return (
    existsSync(join(gitDir, 'refs', 'replace')) ||
    text('packed-refs').includes(' refs/replace/') ||
    text('objects/info/alternates') !== '' ||
    /promisor|partialclone/i.test(text('config')) ||
    Object.keys(env).some((name) => /REPLACE|OBJECT_DIRECTOR/.test(name))
  );
}

async function expectStreamed(expected: Seen, options: OracleCase): Promise<void> {
  await inCopy(options, async (directory) => {
    const before = stateBefore(directory, options);
    const commit = git(directory, ['rev-parse', `${options.revision}^{commit}`])
      .toString()
      .trim();
    const run = await withEnvironment(options.env, () =>
      runStreamed(options.repository.gitDir, commit, {
        directory,
        target: { kind: 'detach', revision: commit },
        ...(options.config === undefined ? {} : { config: options.config }),
      }),
    );
    expect(run.report.error, 'streamed: the report').toBeUndefined();
    expect(run.report.transport).toBe('stream');
    // Which of several names that fold into one wins is not known before all have come.
    if (options.config?.['core.ignoreCase'] !== 'true') expect(run.outcome.begun, 'streamed: begun').toBeDefined();
    expect(leftovers(join(directory, '.git')), 'streamed: locks and temporary files').toEqual([]);
    const seen = look(directory, options, before, false);
    // The commit is named by its id, where the case may have another name for it.
    expectEqual(expected, { ...seen, reflog: expected.reflog, refs: expected.refs }, options, 'streamed');
    if (options.unclean !== true) expectClean(seen, 'streamed');
    expectStatAsOnDisk(directory, seen, options, 'streamed');
    const packs = join(directory, '.git', 'objects', 'pack');
    for (const name of readdirSync(packs))
      if (name.endsWith('.idx')) git(directory, ['verify-pack', join(packs, name)]);
  });
}

const leftoversBefore = new Map<string, string[]>();

function inCopy<T>(options: OracleCase, use: (directory: string) => T): T {
  const directory = join(options.repository.directory, '..', `copy-${process.pid}-${copies++}`);
  const remove = (): void => {
    leftoversBefore.delete(directory);
    rmSync(directory, { recursive: true, force: true });
  };
  mkdirSync(directory);
  const copied = spawnSync('cp', ['-a', options.repository.gitDir, join(directory, '.git')]);
  if (copied.status !== 0) throw new Error(copied.stderr.toString());
  if (options.from !== undefined) {
    git(directory, ['checkout', '-q', '--force', '--detach', options.from], {
      ...(options.config === undefined ? {} : { config: options.config }),
      ...(options.env === undefined ? {} : { env: options.env }),
    });
  }
  options.prepare?.(directory);
  const index = join(directory, '.git', 'index');
  if (options.racy !== true && existsSync(index)) {
    const later = Date.now() / 1000 + 10;
    utimesSync(index, later, later);
  }
  leftoversBefore.set(directory, leftovers(join(directory, '.git')));
  const result = use(directory);
  if (result instanceof Promise) return result.then((value: unknown) => (remove(), value)) as T;
  remove();
  return result;
}

async function withEnvironment<T>(
  env: Readonly<Record<string, string>> | undefined,
  run: () => Promise<T>,
): Promise<T> {
  const old = { ...process.env };
  Object.assign(process.env, env);
  try {
    return await run();
  } finally {
    for (const name of Object.keys(env ?? {})) {
      const value = old[name];
      if (value === undefined) Reflect.deleteProperty(process.env, name);
      else process.env[name] = value;
    }
  }
}

function gitCheckout(directory: string, options: OracleCase, extra: readonly string[]): ReturnType<typeof runGit> {
  const target = options.target ?? { kind: 'detach', revision: options.revision };
  const where =
    target.kind === 'detach'
      ? ['--detach', target.revision]
      : target.kind === 'branch'
        ? ['-B', target.branch, target.startPoint]
        : target.kind === 'revision'
          ? [target.revision]
          : [];
  return runGit(
    directory,
    [...extra, ...configArguments(options.config ?? {}), 'checkout', '--force', '--no-progress', ...where],
    options.env === undefined ? {} : { env: options.env },
  );
}

interface Before {
  readonly files: Snapshot;
  readonly identities: Map<string, string>;
  readonly index: Buffer | null;
  readonly head: string;
}

function stateBefore(directory: string, options: OracleCase): Before {
  // A fresh working tree has nothing to keep.
  const files =
    options.from === undefined && options.prepare === undefined ? new Map<string, string>() : snapshot(directory);
  return {
    files,
    identities: identities(directory, files.keys()),
    index: readIndexFile(directory),
    head: headOf(directory),
  };
}

function readIndexFile(directory: string): Buffer | null {
  const path = join(directory, '.git', 'index');
  return existsSync(path) ? readFileSync(path) : null;
}

function headOf(directory: string): string {
  return readFileSync(join(directory, '.git', 'HEAD'), 'latin1');
}

/** The reflog with its times masked. */
function reflogOf(directory: string): string {
  const path = join(directory, '.git', 'logs', 'HEAD');
  return existsSync(path) ? readFileSync(path, 'latin1').replace(/> \d+ [+-]\d{4}\t/g, '> TIME\t') : '';
}

/** What `ls-files --debug` prints of an entry after its path. */
const DEBUG_LINES =
  /(?<=\0) {2}ctime: (\d+):(\d+)\n {2}mtime: (\d+):(\d+)\n {2}dev: (\d+)\tino: (\d+)\n {2}uid: (\d+)\tgid: (\d+)\n {2}size: (\d+)\tflags: ([0-9a-f]+)\n/g;

const STATE_FILES = [
  'MERGE_HEAD',
  'MERGE_MSG',
  'MERGE_MODE',
  'CHERRY_PICK_HEAD',
  'REVERT_HEAD',
  'ORIG_HEAD',
  'AUTO_MERGE',
];

/** All refs, as files have them. */
function refsOf(directory: string): string {
  const gitDir = join(directory, '.git');
  const read = (path: string): string => `${path}\n${readFileSync(join(gitDir, path), 'latin1')}`;
  const below = existsSync(join(gitDir, 'refs'))
    ? readdirSync(join(gitDir, 'refs'), { recursive: true, withFileTypes: true })
    : [];
  const loose = below
    .filter((entry) => entry.isFile())
    .map((entry) => relative(gitDir, join(entry.parentPath, entry.name)));
  return [...loose.sort(), ...(existsSync(join(gitDir, 'packed-refs')) ? ['packed-refs'] : [])].map(read).join('');
}

/** `fsck` false: it was asked already of this repository with this commit checked out. */
function look(directory: string, options: OracleCase, before: Before, fsck = options.fsck !== false): Seen {
  const files = snapshot(directory);
  const after = identities(directory, files.keys());
  const kept: string[] = [];
  const written: string[] = [];
  for (const [path, identity] of after) {
    if (before.identities.get(path) === identity) kept.push(path);
    else if (files.get(path)?.startsWith('file') === true) written.push(path);
  }
  const { entries: debug = '', ...index } = gitsView(directory, options, fsck);
  return {
    files,
    index: { entries: debug.replace(DEBUG_LINES, ''), ...index },
    debug,
    refs: refsOf(directory),
    head: headOf(directory),
    reflog: reflogOf(directory),
    stateFiles: STATE_FILES.filter((name) => existsSync(join(directory, '.git', name))).join(' '),
    kept,
    written,
  };
}

function environmentOf(options: OracleCase): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = { ...process.env, ...options.env, GIT_OPTIONAL_LOCKS: '0' };
  const config = Object.entries(options.config ?? {});
  env['GIT_CONFIG_COUNT'] = String(config.length);
  config.forEach(([key, value], i) => {
    env[`GIT_CONFIG_KEY_${i}`] = key;
    env[`GIT_CONFIG_VALUE_${i}`] = value;
  });
  return env;
}

/**
 * What git says of a copy. One shell for all questions, since a process of this size is slow to fork.
 *
 * The index is made young for `diff-files`, so that it answers by stat data alone: what it lists would cost every later
 * `git status` a look at the content.
 */
function gitsView(directory: string, options: OracleCase, fsck: boolean): Record<string, string> {
  const mark = `@@${process.pid}-${copies}@@`;
  const unasked = options.compareStatus === false && options.unclean === true;
  const questions: Record<string, string> = {
    entries: 'git ls-files -s -v --debug -z || echo failed',
    // It starts filter drivers for what may have changed.
    ...(unasked ? {} : { status: 'git status --porcelain -z --untracked-files=all --ignored' }),
    'stat data': 'if [ -e .git/index ]; then touch -d "10 seconds" .git/index; fi; git diff-files --name-status -z',
    // Otherwise the status tells.
    ...(options.compareStatus === false ? { staged: 'git diff-index --cached --name-status -z HEAD' } : {}),
    tree: 'git write-tree 2>&1',
    // Objects are not what a checkout could damage.
    ...(fsck ? { fsck: 'git fsck --connectivity-only --no-dangling --no-progress 2>&1; echo $?' } : {}),
    'cache tree': 'GIT_TEST_CHECK_CACHE_TREE=1 git update-index --force-write-index 2>&1; echo $?',
  };
  const script = Object.values(questions)
    .map((question) => `${question}\nprintf '%s' '${mark}'`)
    .join('\n');
  const result = spawnSync('sh', ['-c', script], {
    cwd: directory,
    env: environmentOf(options),
    maxBuffer: 1 << 28,
    encoding: 'latin1',
  });
  const answers = result.stdout.split(mark);
  const names = Object.keys(questions);
  if (answers.length !== names.length + 1) throw new Error(`git's view of ${directory}: ${result.stderr}`);
  // git's messages are part of the answer where they say that something is wrong.
  return Object.fromEntries([
    ...names.map((name, i): [string, string] => [name, answers[i] ?? '']),
    ['messages', result.stderr.replaceAll(directory, 'DIRECTORY')],
  ]);
}

function expectEqual(expected: Seen, actual: Seen, options: OracleCase, name: string): void {
  expect(differences(expected.files, actual.files), `${name}: files`).toEqual([]);
  for (const [question, answer] of Object.entries(expected.index)) {
    if (question === 'fsck' && actual.index[question] === undefined) continue;
    // With a blob missing git has no cache tree, and then cannot make the tree; ours names the commit's.
    if (question === 'tree' && (options.exit === 1 || options.compareTree === false)) continue;
    if ((question === 'status' || question === 'messages') && options.compareStatus === false) continue;
    expect(printable(actual.index[question] ?? ''), `${name}: ${question}`).toBe(printable(answer));
  }
  expect(actual.head, `${name}: HEAD`).toBe(expected.head);
  expect(actual.refs, `${name}: refs`).toBe(expected.refs);
  expect(actual.reflog, `${name}: reflog`).toBe(expected.reflog);
  expect(actual.stateFiles, `${name}: state files`).toBe(expected.stateFiles);
  if (options.compareKept !== false) {
    expect([...actual.kept].sort(), `${name}: files that were left alone`).toEqual([...expected.kept].sort());
  }
}

function printable(answer: string): string {
  return answer.replaceAll('\0', '\n');
}

function expectClean(seen: Seen, name: string): void {
  for (const question of ['status', 'stat data', 'staged']) {
    expect(printable(seen.index[question] ?? ''), `${name}: ${question}`).toBe('');
  }
  expect(seen.index['cache tree'], `${name}: cache tree`).toBe('0\n');
}

function expectUntouched({ before, seen }: { before: Before; seen: Seen }, name: string): void {
  expect(differences(before.files, seen.files), `${name}: files that must stay as they were`).toEqual([]);
  const changed = [...before.identities.keys()].filter((path) => !seen.kept.includes(path));
  expect(changed, `${name}: files that were touched`).toEqual([]);
  expect(seen.head, `${name}: HEAD stays`).toBe(before.head);
}

/** The stat data that the index has of each new file are the file's, to the nanosecond. */
function expectStatAsOnDisk(directory: string, seen: Seen, options: OracleCase, name: string): void {
  const text = seen.debug;
  expect(text, `${name}: git reads the index`).not.toMatch(/(^|\n)failed\n$/);
  const pattern = new RegExp(`[^\\0\\t]*\\t([^\\0]*)\\0${DEBUG_LINES.source}`, 'g');
  const failed = new Set(options.failed ?? []);
  // What git compares is the same in a file that was kept; that was its reason for keeping it. The rest may be older.
  const kept = new Set(seen.kept);
  const wrong: string[] = [];
  let count = 0;
  for (const [, path = '', ...words] of text.matchAll(pattern)) {
    count++;
    // Skip-worktree: of no file, or of the one that was there last.
    if ((Number.parseInt(words[9] ?? '', 16) & 0x40000000) !== 0) continue;
    const recorded = words.slice(0, 9).join(' ');
    if (failed.has(path)) {
      if (recorded !== '0 0 0 0 0 0 0 0 0') wrong.push(`${path}: failed, but has ${recorded}`);
      continue;
    }
    if (kept.has(path)) continue;
    const stat = inside(directory, () =>
      lstatSync(Buffer.from(path, 'latin1'), { bigint: true, throwIfNoEntry: false }),
    );
    if (stat === undefined) {
      if (!isSkipWorktree(Number.parseInt(words[9] ?? '', 16))) wrong.push(`${path}: not on disk`);
      continue;
    }
    const low = (value: bigint): bigint => value & 0xffffffffn;
    const second = 1_000_000_000n;
    const actual = [
      low(stat.ctimeNs / second),
      stat.ctimeNs % second,
      low(stat.mtimeNs / second),
      stat.mtimeNs % second,
      low(stat.dev),
      low(stat.ino),
      low(stat.uid),
      low(stat.gid),
      stat.size !== 0n && low(stat.size) === 0n ? 0x80000000n : low(stat.size),
    ].join(' ');
    // A submodule's directory changes with what is put into it, after it was recorded.
    if (actual !== recorded && !stat.isDirectory()) wrong.push(`${path}: index ${recorded}, disk ${actual}`);
  }
  expect(wrong, `${name}: stat data in the index`).toEqual([]);
  expect(count, `${name}: entries in the index`).toBe((text.match(/\tflags: /g) ?? []).length);
}

/** From the flags that `ls-files --debug` prints. The file of such an entry need not be there. */
function isSkipWorktree(flags: number): boolean {
  return (flags & 0x4000_0000) !== 0;
}

/** The report's counts against what was seen on disk. */
function expectHonestReport(run: OurRun, mode: number, seen: Seen, options: OracleCase, name: string): void {
  const { report, started } = run;
  const written = seen.written.filter((path) => isTracked(path, seen, options));
  const threads = report.workers.filter((worker) => worker.id > 0);
  expect(started, `${name}: threads started`).toBeLessThanOrEqual(mode);
  const byWorkers = written.length - (options.byMainThread ?? 0);
  expect(started, `${name}: threads started for ${byWorkers} files`).toBeGreaterThanOrEqual(Math.min(mode, byWorkers));
  expect(
    threads.map((worker) => worker.id),
    `${name}: workers in the report`,
  ).toEqual(Array.from({ length: started }, (_, i) => i + 1));
  // Threads start while trees are read, before it is known how many files there are to write.
  expect(report.plan.workers, `${name}: planned workers`).toBeLessThanOrEqual(started);
  expect(report.plan.workers, `${name}: planned workers`).toBeGreaterThanOrEqual(Math.min(mode, byWorkers));
  expect(
    threads.filter((worker) => worker.died === true),
    `${name}: dead workers`,
  ).toEqual([]);

  const skipped = report.skipped.map((entry) => entry.path).sort();
  expect(skipped, `${name}: entries that were skipped`).toEqual([...(options.failed ?? [])].sort());
  const entries = (seen.index['entries'] ?? '').split('\0').length - 1;
  const { files, kept, excluded } = report.totals;
  expect(files + kept + excluded + skipped.length, `${name}: every entry is accounted for`).toBe(entries);
  if (options.present !== undefined) {
    const marked = (seen.index['entries'] ?? '').split('\0').filter((entry) => entry.startsWith('S ')).length;
    expect(excluded, `${name}: entries outside of the sparse checkout`).toBe(marked + options.present);
  }
  const sum = report.workers.reduce((total, worker) => total + worker.files, 0);
  const failedOnDisk = (options.failed ?? []).filter((path) => seen.written.includes(path)).length;
  expect(sum, `${name}: files by worker`).toBe(written.length - failedOnDisk);
  if (failedOnDisk === 0) {
    const bytes = written.reduce((total, path) => total + Number(seen.files.get(path)?.split(' ')[2]), 0);
    expect(report.totals.bytesWritten, `${name}: bytes written`).toBe(bytes);
  }
  if (mode === 0) expect(started, `${name}: no thread`).toBe(0);
}

const trackedPaths = new WeakMap<Seen, Set<string>>();

function isTracked(path: string, seen: Seen, options: OracleCase): boolean {
  let tracked = trackedPaths.get(seen);
  if (tracked === undefined) {
    const entries = (seen.index['entries'] ?? '').split('\0');
    const prefix = options.treeAt === undefined ? '' : `${options.treeAt}/`;
    tracked = new Set(entries.map((entry) => prefix + entry.slice(entry.indexOf('\t') + 1)));
    trackedPaths.set(seen, tracked);
  }
  return tracked.has(path);
}
