// Submodules against git's own: what `git submodule sync` and `git submodule update --init --force` leave.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { SubmoduleSettings } from '../../../src/engine/settings.ts';
import { type OurRun, runOurs } from '../../support/ours.ts';
import { git, runGit } from '../../support/repository.ts';
import { allowFileTransport, Hosted, submoduleState, updateByGit } from '../../support/submodules.ts';
import { temporaryFolder } from '../../support/temporary.ts';

allowFileTransport();
/** What takes long and rarely shows anything. */
const LONG = process.env['LONG_TESTS'] === '1';

const root = temporaryFolder('submodules');
const hosted = new Hosted(join(root, 'hosted'));

const leaf1 = hosted.commit('leaf', { 'a.txt': 'one\n', 'dir/b.txt': 'two\n' });
const leaf2 = hosted.commit('leaf', { 'a.txt': 'one more\n', 'dir/c.txt': 'three\n' });
const mid1 = hosted.commit('mid', { m: '1\n' }, [{ path: 'sub/leaf', url: '../leaf', oid: leaf1 }]);
const mid2 = hosted.commit('mid', { m: '2\n' }, [{ path: 'sub/leaf', url: '../leaf', oid: leaf2 }]);
const top1 = hosted.commit('top', { README: 'top\n' }, [
  { path: 'libs/mid', url: '../mid', oid: mid2 },
  { path: 'libs/leaf', name: 'a/b c', url: './../leaf.git/', oid: leaf1 },
]);
const top2 = hosted.commit('top', { README: 'top 2\n' }, [
  { path: 'libs/mid', url: '../mid', oid: mid1 },
  { path: 'moved', name: 'other', url: '../leaf', oid: leaf2 },
]);

let clones = 0;
/** A working tree at a commit, its submodules not there yet. */
function clone(name: string, commit: string): string {
  const directory = join(root, `clone-${clones++}`);
  git(root, ['init', '-q', '-b', 'main', directory]);
  git(directory, ['remote', 'add', 'origin', `file://${hosted.path(name)}`]);
  fetch(directory, commit);
  git(directory, ['checkout', '-q', '--force', '--detach', commit]);
  return directory;
}
function fetch(directory: string, commit: string): void {
  git(directory, ['fetch', '-q', '--depth=1', 'origin', commit]);
}

const RECURSIVE: SubmoduleSettings = { recursive: true, jobs: 8, depth: 1, include: [], exclude: [] };

async function ours(
  directory: string,
  commit: string,
  settings: SubmoduleSettings = RECURSIVE,
  clean = true,
): Promise<OurRun> {
  return await runOurs({
    directory,
    target: { kind: 'detach', revision: commit },
    alwaysParallel: false,
    request: { submodules: settings, ...(clean ? { clean: { exclude: [] } } : {}) },
  });
}
async function succeeds(...args: Parameters<typeof ours>): Promise<OurRun> {
  const run = await ours(...args);
  expect(run.report.error).toBeUndefined();
  return run;
}

/** The state, without the names of the folders of this one. */
function state(directory: string): string {
  return submoduleState(directory).replaceAll(directory, 'TOP');
}

describe('a fresh working tree', () => {
  it.each([
    { depth: 1, recursive: true },
    { depth: 2, recursive: false },
    { depth: 0, recursive: true },
  ])('depth $depth, recursive $recursive', async ({ depth, recursive }) => {
    const theirs = clone('top', top1);
    updateByGit(theirs, { depth, recursive });
    const directory = clone('top', top1);
    const { report } = await succeeds(directory, top1, {
      recursive,
      jobs: 2,
      include: [],
      exclude: [],
      ...(depth > 0 ? { depth } : {}),
    });
    expect(state(directory)).toBe(state(theirs));
    expect(report.submodules?.map(({ path, commit, files }) => [path, commit, files])).toEqual([
      ['libs/leaf', leaf1, 2],
      ['libs/mid', mid2, 3],
      ...(recursive ? [['libs/mid/sub/leaf', leaf2, 2]] : []),
    ]);
    expect(readFileSync(join(directory, 'libs/leaf/a.txt'), 'utf8')).toBe('one\n');
    // What later steps do: git's own commands find all that they need.
    git(directory, ['submodule', 'update', '--remote', 'libs/leaf']);
    expect(readFileSync(join(directory, 'libs/leaf/a.txt'), 'utf8')).toBe('one more\n');
  });
});

describe('over an earlier checkout', () => {
  it('is as a fresh one would be: changed, moved, removed and dirty submodules', async () => {
    const directory = clone('top', top1);
    await succeeds(directory, top1);
    const kept = join(directory, '.git/modules/libs/mid/marker');
    writeFileSync(kept, '');
    writeFileSync(join(directory, 'libs/mid/untracked'), 'x');
    writeFileSync(join(directory, 'libs/mid/m'), 'changed');
    writeFileSync(join(directory, 'libs/mid/sub/leaf/a.txt'), 'changed');
    git(join(directory, 'libs/mid/sub/leaf'), ['checkout', '-q', '-b', 'left']);
    fetch(directory, top2);
    const run = await succeeds(directory, top2);
    expect(run.warnings).toEqual([]);
    expect(existsSync(kept)).toBe(true);
    rmSync(kept);
    expect(git(directory, ['status', '--porcelain', '--ignored']).toString()).toBe('');
    expect(git(directory, ['submodule', 'foreach', '--recursive', '-q', 'git status --porcelain']).toString()).toBe('');
    expect(run.report.submodules?.map(({ path, commit }) => [path, commit])).toEqual([
      ['libs/mid', mid1],
      ['libs/mid/sub/leaf', leaf1],
      ['moved', leaf2],
    ]);
    expect(existsSync(join(directory, 'libs/leaf'))).toBe(false);
    expect(existsSync(join(directory, '.git/modules/a'))).toBe(false);
    expect(git(directory, ['config', '--get-regexp', '^submodule.*url']).toString()).not.toContain('a/b c');

    // Those of submodules go where they are not asked for, and come back.
    await succeeds(directory, top2, { ...RECURSIVE, recursive: false });
    expect(existsSync(join(directory, 'libs/mid/sub/leaf/a.txt'))).toBe(false);
    expect(existsSync(join(directory, '.git/modules/libs/mid/modules/sub'))).toBe(false);
    expect(git(directory, ['submodule', 'status', '--recursive']).toString().split('\n')[1]).toMatch(
      new RegExp(`^-${leaf1} libs/mid/sub/leaf$`),
    );
    await succeeds(directory, top2);
    expect(git(directory, ['submodule', 'status', '--recursive']).toString()).not.toMatch(/^[-+]/m);
  });

  it('needs no fetch where the commit is there, and few processes', async () => {
    const directory = clone('top', top1);
    await succeeds(directory, top1);
    const calls: string[] = [];
    const { spawnGit } = await import('../../../src/engine/engine.ts');
    const { report } = await runOurs({
      directory,
      target: { kind: 'detach', revision: top1 },
      alwaysParallel: false,
      git: (call) => {
        calls.push(call.args.filter((argument) => !argument.startsWith('--git-dir')).join(' '));
        return spawnGit(call);
      },
      request: { submodules: RECURSIVE, clean: { exclude: [] } },
    });
    expect(report.error).toBeUndefined();
    expect(calls.filter((call) => /\b(fetch|ls-remote|init)\b/.test(call))).toEqual([]);
    // Two to look at each of the four repositories, and one to read each .gitmodules.
    expect(calls.length).toBe(2 * 4 + 2);
  });

  it('keeps what is untracked without clean, and resets the rest', async () => {
    const directory = clone('top', top1);
    await succeeds(directory, top1);
    writeFileSync(join(directory, 'libs/mid/untracked'), 'x');
    writeFileSync(join(directory, 'libs/mid/m'), 'changed');
    fetch(directory, top2);
    await succeeds(directory, top2, RECURSIVE, false);
    expect(readFileSync(join(directory, 'libs/mid/untracked'), 'utf8')).toBe('x');
    expect(readFileSync(join(directory, 'libs/mid/m'), 'utf8')).toBe('1\n');
    // git leaves it, too.
    expect(existsSync(join(directory, 'libs/leaf/a.txt'))).toBe(true);
    expect(existsSync(join(directory, '.git/modules/a/b c'))).toBe(true);
  });

  /** Damage to an earlier run's submodule, and what it is put to. */
  const damages: readonly (readonly [string, (gitDir: string, work: string) => void])[] = [
    ['a directory that git init had not finished', (gitDir: string): void => rmSync(join(gitDir, 'HEAD'))],
    ['no configuration', (gitDir: string): void => rmSync(join(gitDir, 'config'))],
    ['a configuration that is no text', (gitDir: string): void => writeFileSync(join(gitDir, 'config'), '[core\0')],
    ['no objects', (gitDir: string): void => rmSync(join(gitDir, 'objects/pack'), { recursive: true })],
    ['an index of garbage', (gitDir: string): void => writeFileSync(join(gitDir, 'index'), 'garbage')],
    ['no git directory', (gitDir: string): void => rmSync(gitDir, { recursive: true })],
    [
      'another URL',
      (gitDir: string): void => {
        git(gitDir, ['--git-dir=.', 'config', 'remote.origin.url', 'x']);
      },
    ],
    [
      'a .git file that leads elsewhere',
      (_: string, work: string) => writeFileSync(join(work, '.git'), 'gitdir: /x\n'),
    ],
    [
      'a repository in its place',
      (_: string, work: string): void => {
        rmSync(join(work, '.git'));
        git(work, ['init', '-q']);
      },
    ],
    [
      'a file in its place',
      (_: string, work: string): void => {
        rmSync(work, { recursive: true });
        writeFileSync(work, '');
      },
    ],
  ];
  it.each(LONG ? damages : damages.slice(0, 2))('is put right: %s', async (_, damage) => {
    const directory = clone('top', top1);
    await succeeds(directory, top1);
    const expected = state(directory);
    damage(join(directory, '.git/modules/libs/mid'), join(directory, 'libs/mid'));
    await succeeds(directory, top1);
    expect(state(directory)).toBe(expected);
  });

  it('follows a changed URL', async () => {
    const elsewhere = hosted.commit('elsewhere/leaf', { 'other.txt': 'x\n' });
    const changed = hosted.commit('top', {}, [
      { path: 'libs/leaf', name: 'a/b c', url: '../elsewhere/leaf', oid: elsewhere },
    ]);
    const directory = clone('top', top1);
    await succeeds(directory, top1);
    fetch(directory, changed);
    await succeeds(directory, changed);
    expect(readFileSync(join(directory, 'libs/leaf/other.txt'), 'utf8')).toBe('x\n');
    const url = `file://${hosted.path('elsewhere/leaf').replace(/\.git$/, '')}`;
    expect(git(directory, ['config', 'submodule.a/b c.url']).toString().trim()).toBe(url);
    expect(git(join(directory, 'libs/leaf'), ['config', 'remote.origin.url']).toString().trim()).toBe(url);
  });

  it('makes way for files in the place of a submodule, and the other way round', async () => {
    const files = hosted.commit('swap', { 'libs/leaf/own.txt': 'x\n', 'libs/mid': 'a file\n' });
    const members = hosted.commit('swap', {}, [
      { path: 'libs/leaf', url: '../leaf', oid: leaf2 },
      { path: 'libs/mid', url: '../mid', oid: mid2 },
    ]);
    const directory = clone('swap', files);
    for (const commit of [members, files, members]) {
      fetch(directory, commit);
      await succeeds(directory, commit);
      expect(git(directory, ['status', '--porcelain', '--ignored']).toString()).toBe('');
      const present = existsSync(join(directory, '.git/modules/libs/leaf'));
      expect(present).toBe(commit === members);
      expect(existsSync(join(directory, 'libs/leaf/own.txt'))).toBe(commit === files);
    }
  });
});

describe('which submodules', () => {
  it('include and exclude lists, and what is left out of them later', async () => {
    const directory = clone('top', top1);
    const paths = async (include: readonly string[], exclude: readonly string[] = []): Promise<string[]> => {
      const { report } = await succeeds(directory, top1, { ...RECURSIVE, include, exclude });
      return (report.submodules ?? []).map(({ path }) => path);
    };
    expect(await paths(['libs/mid'])).toEqual(['libs/mid', 'libs/mid/sub/leaf']);
    expect(await paths(['libs/*', '!libs/leaf'])).toEqual(['libs/mid', 'libs/mid/sub/leaf']);
    expect(await paths([], ['leaf'])).toEqual(['libs/mid']);
    expect(existsSync(join(directory, 'libs/mid/sub/leaf/a.txt'))).toBe(false);
    expect(await paths(['/libs/leaf/'])).toEqual(['libs/leaf']);
    expect(existsSync(join(directory, 'libs/mid/m'))).toBe(false);
    expect(existsSync(join(directory, 'libs/mid'))).toBe(true);
    expect(git(directory, ['status', '--porcelain', '--ignored']).toString()).toBe('');
    const { warnings } = await succeeds(directory, top1, { ...RECURSIVE, include: ['nothing'] });
    expect(warnings).toEqual(['none of the submodules is one of those that are to be included']);
  });

  it('the active ones, those that are not to be updated, and shallow ones', async () => {
    const commit = hosted.commit('modes', {}, [
      { path: 'a', url: '../leaf', oid: leaf1, more: ['update = none'] },
      { path: 'b', url: '../leaf', oid: leaf1, more: ['shallow = true', 'update = rebase'] },
      { path: 'c', url: '../leaf', oid: leaf1 },
    ]);
    const settings: SubmoduleSettings = { recursive: false, jobs: 1, include: [], exclude: [] };
    const theirs = clone('modes', commit);
    const directory = clone('modes', commit);
    for (const each of [theirs, directory]) {
      git(each, ['config', '--add', 'submodule.active', ':(exclude)c']);
      git(each, ['config', '--add', 'submodule.active', '*']);
    }
    updateByGit(theirs, { depth: 0, recursive: false });
    await succeeds(directory, commit, settings, false);
    expect(state(directory)).toBe(state(theirs));
    expect(existsSync(join(directory, 'b/.git'))).toBe(true);
    expect(git(join(directory, 'b'), ['rev-list', '--count', 'HEAD']).toString().trim()).toBe('1');
    expect(existsSync(join(directory, 'c/.git'))).toBe(false);
  });

  it('not those outside of a sparse checkout', async () => {
    const commit = hosted.commit('sparse', { 'in/file': '', 'out/file': '' }, [
      { path: 'in/leaf', url: '../leaf', oid: leaf1 },
      { path: 'out/leaf', url: '../leaf', oid: leaf1 },
    ]);
    const directory = clone('sparse', commit);
    const { report } = await runOurs({
      directory,
      target: { kind: 'detach', revision: commit },
      request: { submodules: RECURSIVE, sparse: { kind: 'cone', patterns: ['in'] } },
    });
    expect(report.error).toBeUndefined();
    expect(report.submodules?.map(({ path }) => path)).toEqual(['in/leaf']);
    expect(existsSync(join(directory, 'out'))).toBe(false);
  });
});

describe('what cannot be had', () => {
  it('is one error that names the submodule, as git fails too', async () => {
    const absent = '1234567890123456789012345678901234567890';
    const cases: readonly (readonly [name: string, commit: string, code: string, message: RegExp])[] = [
      [
        'no-entry',
        hosted.commit('no-entry', {}, [{ path: 'm', url: '../leaf', oid: leaf1 }], { gitmodules: '[x]\n' }),
        'config-invalid',
        /^no URL found for submodule path 'm' in \.gitmodules$/,
      ],
      [
        'no-commit',
        hosted.commit('no-commit', {}, [{ path: 'm', url: '../leaf', oid: absent }]),
        'unknown-revision',
        /^submodule 'm': .*not our ref/,
      ],
      [
        'no-repository',
        hosted.commit('no-repository', {}, [{ path: 'm', url: '../nothing', oid: leaf1 }]),
        'fetch-failed',
        /^submodule 'm': /,
      ],
      [
        'deep',
        hosted.commit('deep', {}, [
          {
            path: 'm',
            url: '../no-commit',
            oid: git(hosted.path('no-commit'), ['rev-parse', 'main']).toString().trim(),
          },
        ]),
        'unknown-revision',
        /^submodule 'm\/m': /,
      ],
    ];
    for (const [name, commit, code, message] of cases) {
      const theirs = clone(name, commit);
      expect(runGit(theirs, ['submodule', 'update', '--init', '--force', '--depth=1', '--recursive']).status).not.toBe(
        0,
      );
      const { report } = await ours(clone(name, commit), commit);
      expect(report.error?.code).toBe(code);
      expect(report.error?.message).toMatch(message);
      expect(report.error?.message).not.toContain('\n');
    }
  });
});
