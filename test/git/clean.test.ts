/**
 * Cleaning against `git clean -ffdx`: the same working tree is made twice, one is cleaned by git and one by us, and what is
 * left must be the same.
 */
import { chmodSync, cpSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { clean, spawnGit, type CleanOutcome } from '../../src/engine/engine.ts';
import type { Observer } from '../../src/engine/settings.ts';
import { runOurs } from '../support/ours.ts';
import { git, GITLINK_OID, GitRepository, runGit } from '../support/repository.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { differences, snapshot } from '../support/worktree.ts';

const folder = temporaryFolder('clean');
const observer: Observer = { info: () => undefined, warning: () => undefined, progress: () => undefined };
const root = process.getuid?.() === 0;

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
});
base.git(['checkout', '-q', '--detach', 'main']);

/** Everything that may lie in a working tree beside what is tracked. */
function litter(directory: string): void {
  const put = (name: string, content = 'x'): void => {
    const path = join(directory, name);
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, content);
  };
  const at = (name: string): string => join(directory, name);
  for (const name of ['a/untracked', 'a/b/untracked', 'a.b', 'a/b.d/x', 'a/b-/x', 'a/a', 'zz', '0', 'file.o', 'filE'])
    put(name);
  for (const name of [
    'build/one',
    'build/two/three',
    'build/two/keep.o',
    'deps/x/y/z',
    'deps/x/keep',
    'deps/w',
    'keep',
  ])
    put(name);
  for (const name of ['a/keep', 'a/deps/q', 'a/b/keep.o', 'sp ace/other', 'tail ', 'we*rd', '!bang', '#hash'])
    put(name);
  mkdirSync(at('empty/er/est'), { recursive: true });
  mkdirSync(at('deps/empty'));
  mkdirSync(at('a/empty'));
  symlinkSync('a', at('link-to-dir'));
  symlinkSync('../file', at('build/link'));
  symlinkSync(folder, at('outside'));
  symlinkSync('nowhere', at('dangling'));
  // Tracked paths whose kind was changed by hand.
  rmSync(at('gone'), { recursive: true });
  put('gone', 'a file where a directory was');
  rmSync(at('file'));
  put('file/inside/x');
  renameSync(at('swapped'), at('swapped-moved'));
  symlinkSync('swapped-moved', at('swapped'));
  // Submodules: populated, and a file in the place of one.
  put('sub/content');
  put('sub/.git', 'gitdir: ../.git/modules/sub\n');
  rmSync(at('sub2/in'), { recursive: true, force: true });
  put('sub2/in');
  put('sub2/beside');
  // Repositories in it: a real one, one below another directory, a broken gitfile, a good one, an empty `.git`.
  for (const name of ['nested', 'deps/nested', 'a/nested']) {
    mkdirSync(at(name), { recursive: true });
    git(at(name), ['init', '-q']);
    put(`${name}/keep`);
    put(`${name}/work`);
  }
  put('broken/.git', 'gitdir: /nowhere/at/all\n');
  put('broken/keep');
  put('broken/x');
  put('broken-only/.git', 'no gitfile\n');
  put('good/.git', 'gitdir: ../nested/.git\n');
  put('good/keep');
  mkdirSync(at('hollow/.git'), { recursive: true });
  put('hollow/keep');
  put('hollow/x');
  mkdirSync(at('a/b/.git'));
  put('a/b/.git/x');
  put('a/.git', 'anything\n');
}

let runs = 0;
async function bothClean(
  exclude: readonly string[],
  prepare: (directory: string) => void = litter,
): Promise<{ ours: CleanOutcome; directory: string }> {
  const [theirs, own] = ['git', 'ours'].map((who) => {
    const directory = join(folder, `${who}-${runs}`);
    cpSync(base.directory, directory, { recursive: true, verbatimSymlinks: true });
    prepare(directory);
    return directory;
  }) as [string, string];
  runs++;
  const result = runGit(theirs, ['clean', '-ffdxq', ...exclude.map((pattern) => `--exclude=${pattern}`)]);
  const ours = await clean({ directory: own, exclude }, { git: spawnGit, observer });
  expect(differences(snapshot(theirs), snapshot(own))).toEqual([]);
  expect(ours.failures.length > 0).toBe(result.status !== 0);
  return { ours, directory: own };
}

describe.runIf(process.platform === 'linux')('clean', () => {
  it('removes what is untracked or ignored, nested repositories too, and nothing else', async () => {
    const { ours } = await bothClean([]);
    expect(ours.engine).toBe('native');
    expect(ours.removed).toBeGreaterThan(40);
  });

  it.each([
    [['keep']],
    [['*.o']],
    [['deps/']],
    [['/deps/']],
    [['/keep', 'a/deps']],
    [['deps/*', '!deps/w']],
    [['deps', '!deps/x/keep']],
    [['*', '!zz', '!/a-b']],
    [['**/keep', '!nested/keep']],
    [['build/two/']],
    [['a/']],
    [['link-to-dir/', 'empty/er/']],
    [['link-to-dir', 'outside', 'nested/', 'broken/']],
    [['.git', 'sub2/in', 'gone', 'file/']],
    [['we\\*rd', '\\!bang', '#hash', 'tail ', 'tail\\ ']],
    [['[dk]e*', '!/deps/x/', '']],
  ])('leaves what the patterns name: %j', async (exclude) => {
    await bothClean(exclude);
  });

  it('without an index everything is untracked', async () => {
    await bothClean(['keep'], (directory) => {
      litter(directory);
      rmSync(join(directory, '.git/index'));
    });
  });

  it('goes by the index as it is: staged, intended, unmerged, skipped', async () => {
    await bothClean([], (directory) => {
      litter(directory);
      git(directory, ['add', '-f', 'build/one', 'deps/w']);
      git(directory, ['add', '-f', '-N', 'zz']);
      git(directory, ['rm', '-q', '--cached', 'a/b/c']);
      git(directory, ['update-index', '--skip-worktree', 'a-b']);
      const oid = git(directory, ['hash-object', '-w', '-t', 'blob', 'a-b']).toString().trim();
      const lines = [1, 2, 3].map((stage) => `100644 ${oid} ${stage}\ta/untracked\n`);
      git(directory, ['update-index', '--index-info'], { input: lines.join('') });
    });
  });

  it('nothing to do is nothing done', async () => {
    const { ours } = await bothClean([], () => undefined);
    expect(ours.removed).toBe(0);
  });

  it('leaves it to git where names may fold, with the same patterns', async () => {
    const { ours } = await bothClean(['KEEP', 'deps/'], (directory) => {
      litter(directory);
      git(directory, ['config', 'core.ignoreCase', 'true']);
    });
    expect(ours.engine).toBe('git');
  });

  it.skipIf(root)('tells what it cannot remove, and removes the rest', async () => {
    const { ours, directory } = await bothClean([], (place) => {
      litter(place);
      chmodSync(join(place, 'deps/x'), 0o555);
    });
    expect(ours.failures.join('\n')).toMatch(/deps\/x\/keep': EACCES/);
    chmodSync(join(directory, 'deps/x'), 0o755);
  });

  it('never takes the git directory, wherever it is, nor the process’s own', async () => {
    const directory = join(folder, 'elsewhere');
    cpSync(base.directory, directory, { recursive: true, verbatimSymlinks: true });
    mkdirSync(join(directory, 'untracked/deep'), { recursive: true });
    renameSync(join(directory, '.git'), join(directory, 'untracked/deep/store'));
    writeFileSync(join(directory, 'untracked/x'), 'x');
    const gitDir = join(directory, 'untracked/deep/store');
    const run = await runOurs({
      directory,
      target: { kind: 'head' },
      request: { gitDir, workTree: directory, clean: { exclude: [] } },
    });
    expect(run.report.error).toBeUndefined();
    expect(run.report.phases.map(({ name }) => name)).toContain('clean');
    expect(
      git(directory, [
        `--git-dir=${gitDir}`,
        '--work-tree=.',
        'status',
        '--porcelain',
        '-uall',
        '--ignored',
      ]).toString(),
    ).not.toContain('untracked/x');
    expect(git(directory, [`--git-dir=${gitDir}`, 'rev-parse', 'HEAD']).toString()).not.toBe('');
  });

  it('a checkout that cleans first is git clean and git checkout --force', async () => {
    const results = [];
    for (const who of ['git', 'ours']) {
      const directory = join(folder, `checkout-${who}`);
      cpSync(base.directory, directory, { recursive: true, verbatimSymlinks: true });
      litter(directory);
      if (who === 'git') {
        git(directory, ['clean', '-ffdxq', '--exclude=keep']);
        git(directory, ['checkout', '-q', '--force', 'main']);
      } else {
        const request = { clean: { exclude: ['keep'] } };
        const run = await runOurs({ directory, target: { kind: 'revision', revision: 'main' }, request });
        expect([run.report.error, run.warnings, run.report.engine]).toEqual([undefined, [], 'native']);
      }
      results.push(snapshot(directory));
    }
    expect(differences(results[0]!, results[1]!)).toEqual([]);
  });
});
