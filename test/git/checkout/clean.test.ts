/**
 * Cleaning against `git clean -ffdx`: one working tree is made several times, one copy is cleaned by git and the others by us,
 * without threads and with them from the first moment, and what is left must be the same.
 */
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cleanWorkTree } from '../../../src/engine/checkout/clean.ts';
import { cleanArguments } from '../../../src/engine/checkout/clean-arguments.ts';
import { claimPlace, type CleanShare } from '../../../src/engine/checkout/clean-share.ts';
import { trackedPaths, type CleanRules } from '../../../src/engine/checkout/clean-walk.ts';
import { WorkerPool } from '../../../src/engine/checkout/pool.ts';
import { readIndex } from '../../../src/engine/index/parse-index.ts';
import { SHA1 } from '../../../src/engine/oid.ts';
import type { Report } from '../../../src/engine/report/report.ts';
import { runOurs } from '../../support/ours.ts';
import { programPath } from '../../support/programs.ts';
import { randomNumbers } from '../../support/random.ts';
import { git, GITLINK_OID, GitRepository, runGit } from '../../support/repository.ts';
import { temporaryFolder } from '../../support/temporary.ts';
import { differences, snapshot, type Snapshot } from '../../support/worktree.ts';

const folder = temporaryFolder('clean');
const base = new GitRepository(folder, 'base');
base.commit({
  'a/b/c': 'c\n',
  'a/b.c': 'x\n',
  'a/link': { symlink: 'b' },
  'a-b': '-\n',
  'a0/x': 'x\n',
  file: 'file\n',
  'gone/deep/file': 'x\n',
  'swapped/one': 'x\n',
  sub: { gitlink: GITLINK_OID },
  'sub2/in': { gitlink: GITLINK_OID },
  '.gitignore': '*.o\nbuild/\n',
  'sp ace/tab\tx': 'x\n',
  'é/ü': 'x\n',
});
base.git(['checkout', '-q', '--detach', 'main']);
base.git(['repack', '-adq']);
rmSync(join(base.directory, '.git/hooks'), { recursive: true, force: true });

function put(directory: string, name: string, content = 'x'): void {
  const path = join(directory, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

/** A copy of `base` with everything that may lie in a working tree beside what is tracked. */
const littered = join(folder, 'littered');
/** As it is, and as git and nobody else made it. */
function litter(directory: string): void {
  const at = (name: string): string => join(directory, name);
  const names = `a/untracked a/b/untracked a.b a/b.d/x a/b-/x a/a zz 0 file.o filE build/one build/two/three build/two/keep.o
    deps/x/y/z deps/x/keep deps/w keep a/keep a/deps/q a/b/keep.o we*rd !bang #hash é/u É/x many/1/2/3/4/5/6/7/8`;
  for (const name of [...names.split(/\s+/), 'sp ace/other', 'tail ']) put(directory, name);
  for (let i = 0; i < 14; i++) put(directory, `many/${i}/${i % 3 === 0 ? 'keep' : 'x'}`);
  writeFileSync(Buffer.concat([Buffer.from(`${directory}/`), Buffer.of(0xff, 0xfe)]), 'no UTF-8');
  mkdirSync(at('empty/er/est'), { recursive: true });
  mkdirSync(at('deps/empty'));
  mkdirSync(at('a/empty'));
  symlinkSync('a', at('link-to-dir'));
  symlinkSync('../file', at('build/link'));
  symlinkSync(outside, at('outside'));
  symlinkSync(outside, at('deps/outside'));
  symlinkSync('nowhere', at('dangling'));
  // Tracked paths whose kind was changed by hand.
  rmSync(at('gone'), { recursive: true });
  put(directory, 'gone', 'a file where a directory was');
  rmSync(at('file'));
  put(directory, 'file/inside/x');
  put(directory, 'file/inside/keep');
  renameSync(at('swapped'), at('swapped-moved'));
  symlinkSync('swapped-moved', at('swapped'));
  // Submodules: populated, and a file in the place of one.
  put(directory, 'sub/content');
  put(directory, 'sub/.git', 'gitdir: ../.git/modules/sub\n');
  rmSync(at('sub2/in'), { recursive: true, force: true });
  put(directory, 'sub2/in');
  put(directory, 'sub2/beside');
  // Repositories: real ones, a bare one, a broken gitfile, a good one, a `.git` that is none.
  for (const name of ['nested', 'deps/nested', 'a/nested']) {
    cpSync(plainRepository, at(`${name}/.git`), { recursive: true });
    put(directory, `${name}/keep`);
    put(directory, `${name}/work`);
  }
  cpSync(plainRepository, at('bare.git'), { recursive: true });
  put(directory, 'broken/.git', 'gitdir: /nowhere/at/all\n');
  put(directory, 'broken/keep');
  put(directory, 'broken/x');
  put(directory, 'broken-only/.git', 'no gitfile\n');
  put(directory, 'good/.git', 'gitdir: ../nested/.git\n');
  put(directory, 'good/keep');
  mkdirSync(at('hollow/.git'), { recursive: true });
  put(directory, 'hollow/keep');
  put(directory, 'hollow/x');
  put(directory, 'hollow-only/.git/x');
  put(directory, 'a/b/.git/x');
  put(directory, 'a/.git', 'anything\n');
}

const outside = join(folder, 'outside');
const plainRepository = join(folder, 'plain');
const pool = new WorkerPool();

beforeAll(() => {
  put(outside, 'precious');
  git(folder, ['init', '-q', '--bare', plainRepository]);
  rmSync(join(plainRepository, 'hooks'), { recursive: true, force: true });
  cpSync(base.directory, littered, { recursive: true, verbatimSymlinks: true });
  litter(littered);
});
afterAll(() => {
  pool.dismiss();
});

let copies = 0;
function copyOf(template: string): string {
  const directory = join(folder, `copy-${copies++}`);
  cpSync(template, directory, { recursive: true, verbatimSymlinks: true });
  return directory;
}
/** Without its git directory. */
function treeOf(template: string): string {
  const directory = copyOf(template);
  rmSync(join(directory, '.git'), { recursive: true });
  return directory;
}
/** Named pipes, which are not copied. */
function withPipes(directory: string): string {
  spawnSync('mkfifo', ['pipe', 'a/pipe', 'deps/pipe', 'deps/x/keep.pipe', 'build/pipe'], { cwd: directory });
  return directory;
}
function cleanByGit(template: string, directory: string, exclude: readonly string[]): Snapshot {
  git(directory, ['--git-dir', join(template, '.git'), '--work-tree', '.', ...cleanArguments(exclude)]);
  return snapshot(directory);
}

interface Cleaned {
  readonly removed: number;
  readonly warnings: readonly string[];
}

/** Cleans by us; with `workers` threads that share the work as soon as there is any to share. */
async function cleanHere(
  template: string,
  directory: string,
  exclude: readonly string[],
  workers: number,
  ignoreCase = false,
): Promise<Cleaned> {
  const warnings: string[] = [];
  const index = readIndex(join(template, '.git/index'), SHA1);
  const removed = await cleanWorkTree(
    {
      workTree: directory,
      tracked: trackedPaths(index),
      exclude,
      ignoreCase,
      foldsNames: ignoreCase,
      spared: [],
      keep: process.cwd(),
    },
    { workers, pool, warn: (line) => warnings.push(line), aloneMs: workers === 0 ? 1e9 : 0 },
  );
  return { removed, warnings };
}

/** What the last run of `expectSame` removed. */
async function expectSame(
  exclude: readonly string[],
  modes: readonly number[],
  prepare?: (directory: string) => void,
): Promise<Cleaned> {
  const template = prepare === undefined ? littered : copyOf(littered);
  prepare?.(template);
  const theirs = withPipes(treeOf(template));
  const expected = cleanByGit(template, theirs, exclude);
  expect(expected.get('pipe')).toMatch(/^other/);
  const ignoreCase = git(template, ['config', '--default', 'false', 'core.ignoreCase']).toString().trim() === 'true';
  let last: Cleaned = { removed: 0, warnings: [] };
  for (const workers of modes) {
    const own = withPipes(treeOf(template));
    last = await cleanHere(template, own, exclude, workers, ignoreCase);
    expect(differences(expected, snapshot(own)), `${workers} workers`).toEqual([]);
    expect(last.warnings).toEqual([]);
    rmSync(own, { recursive: true });
  }
  expect(readFileSync(join(outside, 'precious'), 'utf8')).toBe('x');
  rmSync(theirs, { recursive: true });
  return last;
}

describe.runIf(process.platform === 'linux')('clean', () => {
  it('removes what is untracked or ignored, nested repositories too, and nothing else', async () => {
    const { removed } = await expectSame([], [0, 2]);
    expect(removed).toBeGreaterThan(70);
    expect(pool.size).toBe(2);
  });

  it.each([
    [['keep'], 2],
    [['deps/'], 0],
    [['/deps/'], 2],
    [['/keep', 'a/deps', 'build/two/', 'many/**/8'], 0],
    [['deps/*', '!deps/w'], 2],
    [['deps', '!deps/x/keep', '[dk]e*  ', '# no pattern', '', 'tail ', 'tail\\ ', '\\#hash', 'we\\*rd'], 0],
    [['*', '!zz', '!/a-b'], 2],
    [['**/keep', '!nested/keep'], 0],
    [['a/', 'link-to-dir/', 'empty/er/'], 2],
    [['link-to-dir', 'outside', 'nested/', 'broken/'], 0],
    [['.git', 'sub2/in', 'gone', 'file/'], 2],
    [['\\!bang', '*e*', '!/deps/x/', 'hollow/.git', 'hollow-only/.git'], 0],
  ])('leaves what the patterns name: %j, with %i workers', async (exclude, workers) => {
    await expectSame(exclude, [workers]);
  });

  it('goes by the index as it is: staged, intended, unmerged, skipped', async () => {
    await expectSame([], [0, 2], (directory) => {
      git(directory, ['add', '-f', 'build/one', 'deps/w']);
      git(directory, ['add', '-f', '-N', 'zz']);
      git(directory, ['rm', '-q', '--cached', 'a/b/c']);
      git(directory, ['update-index', '--skip-worktree', 'a-b']);
      const oid = git(directory, ['hash-object', '-w', '-t', 'blob', 'a-b']).toString().trim();
      const lines = [1, 2, 3].map((stage) => `100644 ${oid} ${stage}\ta/untracked\n`);
      // A conflict of a file and a directory.
      lines.push(`100644 ${oid} 2\tmany\n`, `100644 ${oid} 3\tmany/4/x\n`);
      git(directory, ['update-index', '--index-info'], { input: lines.join('') });
    });
  });

  it('takes names that differ in case for one with core.ignoreCase', async () => {
    const ignoring = (directory: string): void => {
      git(directory, ['config', 'core.ignoreCase', 'true']);
      renameSync(join(directory, 'a/b'), join(directory, 'a/B'));
      renameSync(join(directory, 'a0'), join(directory, 'A0'));
      put(directory, 'A0/X');
      put(directory, 'a0/y');
    };
    await expectSame([], [2], ignoring);
    await expectSame(['KEEP', 'deps/'], [0], ignoring);
  });

  it('does what git does with any tree, index and patterns', async () => {
    const next = randomNumbers(20_260);
    const pick = <Value>(values: readonly Value[]): Value => values[next(values.length)]!;
    const names = ['a', 'b', 'a.b', 'a-b', 'ab', 'A', '.git', 'b c'];
    const pieces = ['a', 'b', '*', '?', '**', 'a*', '[ab]', '\\a', '.git', 'a.b', 'b c'];
    for (let round = 0; round < 15; round++) {
      const template = join(folder, `random-${round}`);
      const tracked = new Set<string>();
      const fill = (directory: string, depth: number): void => {
        mkdirSync(join(template, directory), { recursive: true });
        for (const name of names) {
          const path = directory === '' ? name : `${directory}/${name}`;
          if (path === '.git' || next(2) === 0) continue;
          const kind = next(10);
          if (kind < 4 && depth < 3 && name !== '.git') fill(path, depth + 1);
          else if (kind === 4) symlinkSync(pick(['.', 'a', '../b', outside]), join(template, path));
          else if (kind === 5 && name === '.git') cpSync(plainRepository, join(template, path), { recursive: true });
          else put(template, path, name === '.git' ? pick(['x', `gitdir: ${plainRepository}\n`]) : 'x');
          if (next(3) === 0 && !path.includes('.git')) tracked.add(next(4) === 0 ? `${path}/${pick(names)}` : path);
        }
      };
      fill('', 0);
      // No path of an index is below another.
      const paths = [...tracked].filter((path) => !path.includes('.git'));
      const entries = paths.filter((path) => !paths.some((other) => path.startsWith(`${other}/`)));
      const patterns = Array.from({ length: next(4) }, () => {
        const text = Array.from({ length: 1 + next(3) }, () => pick(pieces)).join('/');
        return `${pick(['', '', '!'])}${pick(['', '', '/'])}${text}${pick(['', '', '/'])}`;
      });
      git(template, ['init', '-q', '--template=']);
      const lines = entries.map((path) => `${next(8) === 0 ? '160000' : '100644'} ${GITLINK_OID} 0\t${path}\n`);
      git(template, ['update-index', '--index-info'], { input: lines.join('') });
      const [theirs, alone, shared] = [treeOf(template), treeOf(template), treeOf(template)];
      const expected = cleanByGit(template, theirs, patterns);
      await cleanHere(template, alone, patterns, 0);
      await cleanHere(template, shared, patterns, 2);
      const about = JSON.stringify({ round, patterns, lines });
      expect(differences(expected, snapshot(alone)), about).toEqual([]);
      expect(differences(expected, snapshot(shared)), about).toEqual([]);
      for (const directory of [template, theirs, alone, shared]) rmSync(directory, { recursive: true });
    }
    expect(readFileSync(join(outside, 'precious'), 'utf8')).toBe('x');
  });
});

describe.runIf(process.platform === 'linux')('a checkout that cleans', () => {
  it.each([['native' as const], ['git' as const]])('is git clean and git checkout --force (%s)', async (engine) => {
    const exclude = ['keep', '# not this', 'deps/*', '!deps/x'];
    const theirs = copyOf(littered);
    git(theirs, cleanArguments(exclude));
    git(theirs, ['checkout', '-q', '--force', 'main']);
    const expected = snapshot(theirs);
    for (const workers of engine === 'git' ? [2] : [0, 2]) {
      const own = copyOf(littered);
      const target = { kind: 'revision' as const, revision: 'main' };
      const { report, warnings } = await runOurs({
        directory: own,
        target,
        workers,
        request: { engine, clean: { exclude } },
      });
      expect([report.error, warnings, report.engine]).toEqual([undefined, [], engine]);
      expect(report.phases.map(({ name }) => name)).toContain('clean');
      if (engine === 'native') expect(report.totals.cleaned).toBeGreaterThan(50);
      expect(differences(expected, snapshot(own))).toEqual([]);
      expect(git(own, ['status', '--porcelain', '--untracked-files=no', '--ignore-submodules=all']).toString()).toBe(
        '',
      );
    }
  });

  it('looks again at what it found through a link that it then removed', async () => {
    const [theirs, own] = ['theirs', 'ours'].map(() => {
      const directory = copyOf(base.directory);
      git(directory, ['checkout', '-q', '--force', 'main']);
      // As old files, under their old path, for whoever follows the link.
      renameSync(join(directory, 'a'), join(directory, 'moved'));
      symlinkSync('moved', join(directory, 'a'));
      const later = Date.now() / 1000 + 10;
      utimesSync(join(directory, '.git/index'), later, later);
      return directory;
    }) as [string, string];
    git(theirs, cleanArguments([]));
    git(theirs, ['checkout', '-q', '--force', 'main']);
    const target = { kind: 'revision' as const, revision: 'main' };
    const { report } = await runOurs({ directory: own, target, request: { engine: 'native', clean: { exclude: [] } } });
    expect(report.error).toBeUndefined();
    expect(differences(snapshot(theirs), snapshot(own))).toEqual([]);
    expect(report.totals.files).toBeGreaterThan(0);
  });

  it('removes all without an index, and what is in the way of a directory that was kept', async () => {
    const own = copyOf(littered);
    rmSync(join(own, '.git/index'));
    const { report } = await runOurs({
      directory: own,
      target: { kind: 'head' },
      request: { clean: { exclude: ['gone', 'sub/content'] } },
    });
    expect(report.error).toBeUndefined();
    expect(readFileSync(join(own, 'gone/deep/file'), 'utf8')).toBe('x\n');
    expect(git(own, ['status', '--porcelain', '--ignored', '--ignore-submodules=all']).toString()).toBe('');
    expect(readFileSync(join(own, 'sub/content'), 'utf8')).toBe('x');
  });

  it('never takes the git directory or the index, wherever they are', async () => {
    const directory = copyOf(base.directory);
    const gitDir = join(directory, 'untracked/deep/store');
    put(directory, 'untracked/deep/x');
    renameSync(join(directory, '.git'), gitDir);
    const { report } = await runOurs({
      directory,
      target: { kind: 'head' },
      request: { gitDir, workTree: directory, clean: { exclude: [] } },
    });
    expect(report.error).toBeUndefined();
    const status = ['--git-dir', gitDir, '--work-tree=.', 'status', '--porcelain', '-uall', '--ignored'];
    expect(git(directory, status).toString()).not.toContain('untracked/deep/x');
    expect(runGit(directory, ['--git-dir', gitDir, 'fsck']).status).toBe(0);
  });

  it('stays in the current directory of the process', async () => {
    const own = copyOf(littered);
    const old = process.cwd();
    process.chdir(join(own, 'many/1'));
    try {
      const { report } = await runOurs({
        directory: own,
        target: { kind: 'head' },
        request: { clean: { exclude: [] } },
      });
      expect(report.error).toBeUndefined();
    } finally {
      process.chdir(old);
    }
    const left = [...snapshot(own).keys()].filter((path) => path.startsWith('many'));
    expect(left).toEqual(['many', 'many/1']);
  });

  const inject = join(import.meta.dirname, '../../support/inject-faults.ts');
  const program = programPath('cli');
  /** The program in a process of its own, in which a call fails. */
  function runWithFault(directory: string, fault: { readonly call: string; readonly below: string }) {
    const log = join(folder, 'faults.log');
    rmSync(log, { force: true });
    const args = ['--import', inject, program, 'checkout', 'main', '--clean', '--json', '--workers', '2'];
    const env = { ...process.env, FAULT: JSON.stringify({ errno: 'EACCES', nth: 1, lasting: true, log, ...fault }) };
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: directory, env, encoding: 'utf8' });
    expect(readFileSync(log, 'utf8')).toContain(fault.below);
    return { status, stderr, report: JSON.parse(stdout) as Report };
  }

  it('tells what cannot be removed, removes the rest, and checks nothing out', () => {
    const own = copyOf(littered);
    const index = readFileSync(join(own, '.git/index'));
    const { status, stderr, report } = runWithFault(own, { call: 'unlink', below: join(own, 'deps/x') });
    expect([status, report.error?.code]).toEqual([1, 'clean-failed']);
    expect(stderr).toContain("cannot remove 'deps/x/keep': EACCES");
    expect(stderr).toContain("cannot remove 'deps/x/y/z': EACCES");
    const left = [...snapshot(own).keys()];
    expect(left.filter((path) => path.startsWith('deps')).sort()).toEqual(
      ['deps', 'deps/x', 'deps/x/keep', 'deps/x/y', 'deps/x/y/z'].sort(),
    );
    expect(left.filter((path) => path.startsWith('many') || path === 'zz')).toEqual([]);
    expect(existsSync(join(own, 'gone'))).toBe(false);
    expect(readFileSync(join(own, '.git/index')).equals(index)).toBe(true);
    expect(existsSync(join(own, '.git/index.lock'))).toBe(false);
  });

  it('goes on where a tracked directory cannot be read, as git does', () => {
    const own = copyOf(littered);
    const { status, stderr, report } = runWithFault(own, { call: 'readdir', below: join(own, 'sp ace') });
    expect([status, report.error]).toEqual([0, undefined]);
    expect(stderr).toContain("cannot look into 'sp ace': EACCES");
    expect(readFileSync(join(own, 'sp ace/other'), 'utf8')).toBe('x');
    expect(existsSync(join(own, 'a/untracked'))).toBe(false);
  });
});

describe('threads', () => {
  const rules = (workTree: string): CleanRules => ({
    ...{ workTree, tracked: trackedPaths(null), exclude: [], ignoreCase: false, foldsNames: false },
    ...{ spared: [], keep: process.cwd() },
  });
  function tree(name: string): string {
    const directory = join(folder, name);
    for (let i = 0; i < 40; i++) put(directory, `${i}/a/b`);
    return directory;
  }

  it('that die leave their places to the main thread', async () => {
    const directory = tree('dying');
    let claimed = 0;
    const dying = {
      size: 1,
      start: () => undefined,
      clean: (share: CleanShare) => {
        while (claimed < 5 && claimPlace(share) !== null) claimed++;
        return Promise.resolve([]);
      },
    };
    const removed = await cleanWorkTree(rules(directory), {
      workers: 1,
      pool: dying,
      warn: () => undefined,
      aloneMs: 0,
    });
    expect([claimed, removed]).toEqual([5, 40]);
    expect(readdirSync(directory)).toEqual([]);
  });

  it('are not asked when the run is stopped', async () => {
    const directory = tree('stopped');
    const options = { workers: 2, pool, warn: () => undefined, aloneMs: 0, signal: AbortSignal.abort() };
    await expect(cleanWorkTree(rules(directory), options)).rejects.toMatchObject({ code: 'interrupted' });
    expect(readdirSync(directory)).toHaveLength(40);
  });
});
