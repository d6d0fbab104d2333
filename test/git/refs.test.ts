/**
 * Refs beside git's: names resolve to what git resolves them to, and moving HEAD leaves the very files that `git checkout`
 * leaves, logs included.
 */
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Config } from '../../src/engine/config/config.ts';
import { openRepositoryAndConfig } from '../../src/engine/gitdir/repository.ts';
import { stateThatNeedsGit } from '../../src/engine/refs/branch-state.ts';
import { type HeadChange, type HeadUpdate, prepareHeadUpdate } from '../../src/engine/refs/head-update.ts';
import { resolveRef } from '../../src/engine/refs/read-refs.ts';
import { planUpstream } from '../../src/engine/refs/remote-tracking.ts';
import { resolveCheckoutRevision, resolveRevision, type RevisionFacts } from '../../src/engine/refs/revision.ts';
import { writeUpstream } from '../../src/engine/refs/upstream.ts';
import { ENVIRONMENT, git, recordingGit, Scratch } from './temp-repository.ts';

const scratch = new Scratch();
afterAll(() => scratch.remove());

interface Opened extends RevisionFacts {
  readonly calls: readonly (readonly string[])[];
  readonly config: Config;
}

async function open(directory: string): Promise<Opened> {
  const { git: process, calls } = recordingGit();
  const { repository, config } = await openRepositoryAndConfig({ directory }, process);
  calls.length = 0;
  return {
    dirs: repository,
    objectFormat: repository.objectFormat,
    config,
    git: process,
    gitOptions: repository.gitOptions,
    cwd: repository.workTree,
    calls,
  };
}

const prepare = (facts: Opened, change: HeadChange, reflogMessage?: string): HeadUpdate =>
  prepareHeadUpdate({ dirs: facts.dirs, config: facts.config, environment: ENVIRONMENT, reflogMessage }, change);

/** Does what `git checkout --force [-B BRANCH] REVISION` does to refs and configuration. */
async function ourCheckout(directory: string, revision: string, branch?: string): Promise<void> {
  const facts = await open(directory);
  let change: HeadChange;
  let startRef: string | null = null;
  if (branch === undefined) {
    const found = await resolveCheckoutRevision(facts, revision);
    if (found.kind === 'head') return;
    if (found.kind === 'detached') {
      change = { kind: 'detach', oid: git(directory, 'rev-parse', `${found.oid}^{commit}`), to: revision };
    } else if (found.trackingRef === undefined) {
      change = { kind: 'switch', refName: found.refName };
    } else {
      startRef = found.trackingRef;
      change = { kind: 'reset-branch', refName: found.refName, oid: found.oid, startPoint: startRef };
    }
  } else {
    const start = await resolveRevision(facts, revision);
    startRef = start.refName;
    const oid = git(directory, 'rev-parse', `${start.oid}^{commit}`);
    change = { kind: 'reset-branch', refName: `refs/heads/${branch}`, oid, startPoint: revision };
  }
  prepare(facts, change).commit();
  const short = change.kind === 'reset-branch' ? change.refName.slice('refs/heads/'.length) : null;
  const upstream = short === null ? null : planUpstream(facts.config, short, startRef);
  if (upstream !== null) await writeUpstream(facts, upstream);
}

/** Every file below .git that is not an object or an index, by path. */
function gitFiles(directory: string): Record<string, string> {
  const root = join(directory, '.git');
  const files: Record<string, string> = {};
  for (const name of readdirSync(root, { recursive: true, encoding: 'utf8' })) {
    if (/^(objects|hooks)\b|^index$|^COMMIT_EDITMSG$/.test(name) || !statSync(join(root, name)).isFile()) continue;
    files[name] = readFileSync(join(root, name), 'utf8');
  }
  return files;
}

/** A repository with refs of every kind, loose and packed, and a remote with the branches topic, both and side. */
function template(): string {
  const upstream = scratch.repository(2);
  for (const name of ['topic', 'both', 'deep/er']) git(upstream, 'branch', name);
  git(upstream, 'tag', 'light');
  git(upstream, 'tag', '-a', '-m', 'x', 'annotated');
  const path = scratch.path('template');
  git('/', 'clone', '-q', '-c', 'remote.second.url=x', upstream, path);
  git(path, 'config', 'remote.second.fetch', '+refs/heads/*:refs/remotes/second/*');
  git(path, 'commit', '-q', '--allow-empty', '-m', 'ours');
  git(path, 'branch', 'packed', 'HEAD~1');
  git(path, 'branch', 'both-kinds');
  git(path, 'tag', 'both-kinds', 'HEAD~1');
  git(path, 'pack-refs', '--all');
  git(path, 'branch', 'loose', 'HEAD~2');
  git(path, 'branch', '-f', 'packed', 'HEAD~2');
  git(path, 'update-ref', 'refs/remotes/second/both', 'HEAD');
  git(path, 'update-ref', 'refs/odd/one', 'HEAD');
  return path;
}

const base = template();
const copy = (): string => {
  const path = scratch.path('copy');
  cpSync(base, path, { recursive: true });
  return path;
};

describe('names resolve as git resolves them', async () => {
  const facts = await open(base);
  const head = git(base, 'rev-parse', 'HEAD');
  const native = [
    head,
    'HEAD',
    'main',
    'heads/main',
    'refs/heads/main',
    'loose',
    'packed',
    'both-kinds',
    'light',
    'annotated',
    'tags/light',
    'refs/tags/annotated',
    'origin',
    'origin/topic',
    'origin/deep/er',
    'remotes/origin/topic',
    'odd/one',
    'refs/odd/one',
    'refs/remotes/origin/HEAD',
  ];
  const byGit = [
    'HEAD~1',
    'main^',
    '@',
    '@{0}',
    'main@{0}',
    head.slice(0, 8),
    'light-0-g' + head.slice(0, 7),
    ':/ours',
    'HEAD^{/c2}',
    'main~2^{commit}',
  ];

  it.each(native)('%s, without a process', async (text) => {
    const before = facts.calls.length;
    const found = await resolveRevision(facts, text);
    expect(found.oid).toBe(git(base, 'rev-parse', text));
    expect(facts.calls.length).toBe(before);
  });

  it.each(byGit)('%s, by git', async (text) => {
    expect((await resolveRevision(facts, text)).oid).toBe(
      git(base, 'rev-parse', `${text}^0`.replace(/^(:\/.*)\^0$/, '$1')),
    );
  });

  it('a merge base', async () => {
    expect((await resolveRevision(facts, 'loose...main')).oid).toBe(git(base, 'merge-base', 'loose', 'main'));
    expect((await resolveRevision(facts, '...loose')).oid).toBe(git(base, 'merge-base', 'HEAD', 'loose'));
  });

  it('names the ref that a start point stands for', async () => {
    expect((await resolveRevision(facts, 'origin')).refName).toBe('refs/remotes/origin/main');
    expect((await resolveRevision(facts, 'HEAD')).refName).toBe('refs/heads/main');
    expect((await resolveRevision(facts, head)).refName).toBeNull();
  });

  it.each([
    'nope',
    'refs/heads/nope',
    'config',
    'HEAD~99',
    'deadbeef',
    '..',
    'a..b',
    'x^{tree',
    'HEAD:',
    '@{u',
    'a b',
    '',
    'x\0y',
    'x\ny',
    'x'.repeat(9000),
  ])('refuses %j', async (text) => {
    await expect(resolveCheckoutRevision(facts, text)).rejects.toMatchObject({ code: 'unknown-revision' });
  });

  it.each(['--help', '-f', '-b'])('never takes %j for a revision', async (text) => {
    await expect(resolveCheckoutRevision(facts, text)).rejects.toMatchObject({ code: 'usage' });
  });

  it('a name that several remotes have needs checkout.defaultRemote', async () => {
    await expect(resolveCheckoutRevision(facts, 'both')).rejects.toThrow('several remotes (second, origin)');
    const path = copy();
    git(path, 'config', 'checkout.defaultRemote', 'second');
    expect(await resolveCheckoutRevision(await open(path), 'both')).toMatchObject({
      trackingRef: 'refs/remotes/second/both',
    });
    git(path, 'config', 'checkout.guess', 'false');
    await expect(resolveCheckoutRevision(await open(path), 'topic')).rejects.toMatchObject({
      code: 'unknown-revision',
    });
  });

  it('FETCH_HEAD, and a HEAD that is a symbolic link', async () => {
    const path = copy();
    git(path, 'fetch', '-q', 'origin', 'topic', 'main');
    expect((await resolveRevision(await open(path), 'FETCH_HEAD')).oid).toBe(git(path, 'rev-parse', 'FETCH_HEAD'));
    rmSync(join(path, '.git/HEAD'));
    symlinkSync('refs/heads/loose', join(path, '.git/HEAD'));
    const dirs = { gitDir: join(path, '.git'), commonDir: join(path, '.git') };
    expect(resolveRef(dirs, 'HEAD')).toEqual({ name: 'refs/heads/loose', oid: git(path, 'rev-parse', 'HEAD') });
  });
});

describe('hostile ref files', () => {
  const path = copy();
  const dirs = { gitDir: join(path, '.git'), commonDir: join(path, '.git') };
  const write = (name: string, content: string): void => writeFileSync(join(path, '.git/refs/heads', name), content);

  it('loops, garbage and escapes are refused by name', () => {
    write('loop1', 'ref: refs/heads/loop2\n');
    write('loop2', 'ref: refs/heads/loop1\n');
    write('garbage', 'x'.repeat(100_000));
    write('escape', 'ref: refs/heads/../../../../etc/passwd\n');
    for (const name of ['loop1', 'garbage', 'escape']) {
      expect(() => resolveRef(dirs, `refs/heads/${name}`)).toThrow(
        expect.objectContaining({ code: 'unknown-revision', message: expect.stringContaining(name) as string }),
      );
    }
  });

  it('a chain is followed as far as git follows it', () => {
    for (let i = 1; i <= 6; i++) write(`chain${i}`, `ref: refs/heads/${i === 1 ? 'main' : `chain${i - 1}`}\n`);
    for (const name of ['chain4', 'chain5', 'chain6']) {
      let byGit: string | null = null;
      try {
        byGit = git(path, 'rev-parse', '--verify', '-q', `refs/heads/${name}`);
      } catch {
        // too deep for git
      }
      const ours = (): string | null | undefined => resolveRef(dirs, `refs/heads/${name}`)?.oid;
      if (byGit === null) expect(ours).toThrow('too many symbolic refs');
      else expect(ours()).toBe(byGit);
    }
  });

  it('a pipe or a directory in a ref’s place is no ref', () => {
    execFileSync('mkfifo', [join(path, '.git/refs/heads/pipe')]);
    mkdirSync(join(path, '.git/refs/heads/folder'));
    expect(resolveRef(dirs, 'refs/heads/pipe')).toBeNull();
    expect(resolveRef(dirs, 'refs/heads/folder')).toBeNull();
    expect(resolveRef(dirs, 'refs/heads/main/below')).toBeNull();
  });
});

describe('HEAD moves as git moves it', () => {
  const steps: readonly (readonly [revision: string, branch?: string])[][] = [
    [['loose']],
    [['packed'], ['-'], ['@{-1}']],
    [['main'], ['HEAD']],
    [['both-kinds'], ['heads/main'], ['HEAD'], ['HEAD~1'], ['HEAD~0'], ['main']],
    [['light'], ['light'], ['annotated'], ['FETCH_HEAD~0']].slice(0, 3) as [string][],
    [['origin/topic'], ['origin'], ['refs/heads/main'], ['refs/odd/one']],
    [['topic'], ['main'], ['deep/er']],
    [
      ['refs/remotes/origin/topic', 'topic'],
      ['refs/remotes/origin/topic', 'topic'],
      ['HEAD', 'topic'],
      ['loose', 'topic'],
    ],
    [
      ['origin/main', 'main'],
      ['main~1', 'main'],
      ['origin/topic', 'main'],
    ],
    [
      ['HEAD', 'new/branch'],
      ['light', 'tagged'],
      ['loose', 'packed'],
      ['origin', 'from-origin'],
    ],
    [[git(base, 'rev-parse', 'HEAD~1')], [git(base, 'rev-parse', 'HEAD~1')], ['@'], ['loose', 'loose']],
  ];

  it.each(steps.map((each) => [each] as const))('%j', async (sequence) => {
    const theirs = copy();
    const mine = copy();
    for (const [revision, branch] of sequence) {
      git(theirs, 'checkout', '-q', '--force', ...(branch === undefined ? [] : ['-B', branch]), revision);
      await ourCheckout(mine, revision, branch);
      expect(gitFiles(mine)).toEqual(gitFiles(theirs));
    }
    expect(git(mine, 'for-each-ref')).toBe(git(theirs, 'for-each-ref'));
    git(mine, 'fsck', '--no-dangling');
  });

  it.each([
    ['core.logAllRefUpdates', 'false'],
    ['core.logAllRefUpdates', 'always'],
    ['branch.autoSetupRebase', 'always'],
    ['branch.autoSetupMerge', 'always'],
    ['branch.autoSetupMerge', 'simple'],
    ['branch.autoSetupMerge', 'inherit'],
  ])('with %s=%s', async (key, value) => {
    const theirs = copy();
    const mine = copy();
    for (const path of [theirs, mine]) {
      git(path, 'config', key, value);
      rmSync(join(path, '.git/logs'), { recursive: true });
    }
    for (const [revision, branch] of [
      ['origin/topic', 'topic'],
      ['loose', 'other'],
      ['main', 'third'],
    ] as const) {
      git(theirs, 'checkout', '-q', '--force', '-B', branch, revision);
      await ourCheckout(mine, revision, branch);
      expect(gitFiles(mine)).toEqual(gitFiles(theirs));
    }
  });

  it('from a branch without commits', async () => {
    const theirs = copy();
    const mine = copy();
    for (const path of [theirs, mine]) git(path, 'symbolic-ref', 'HEAD', 'refs/heads/unborn');
    git(theirs, 'checkout', '-q', '--force', 'loose');
    await ourCheckout(mine, 'loose');
    expect(gitFiles(mine)).toEqual(gitFiles(theirs));
  });

  it('ends what is in progress', async () => {
    const theirs = copy();
    const mine = copy();
    for (const path of [theirs, mine]) {
      for (const name of ['MERGE_HEAD', 'CHERRY_PICK_HEAD', 'REVERT_HEAD']) {
        writeFileSync(join(path, '.git', name), `${git(path, 'rev-parse', 'HEAD')}\n`);
      }
      for (const name of ['MERGE_MODE', 'MERGE_MSG', 'MERGE_RR', 'SQUASH_MSG', 'AUTO_MERGE']) {
        writeFileSync(join(path, '.git', name), '');
      }
      mkdirSync(join(path, '.git/sequencer'));
      writeFileSync(join(path, '.git/sequencer/todo'), 'pick abc x\n');
      writeFileSync(join(path, '.git/sequencer/opts'), '');
    }
    git(theirs, 'checkout', '-q', '--force', 'loose');
    await ourCheckout(mine, 'loose');
    expect(gitFiles(mine)).toEqual(gitFiles(theirs));
    expect(existsSync(join(mine, '.git/sequencer'))).toBe(existsSync(join(theirs, '.git/sequencer')));
    expect(existsSync(join(mine, '.git/MERGE_HEAD'))).toBe(false);
  });

  it('leaves picks that are to be continued, and says when git is needed', async () => {
    const path = copy();
    mkdirSync(join(path, '.git/sequencer'));
    writeFileSync(join(path, '.git/sequencer/todo'), 'pick abc x\npick def y\n');
    writeFileSync(join(path, '.git/CHERRY_PICK_HEAD'), `${git(path, 'rev-parse', 'HEAD')}\n`);
    expect(stateThatNeedsGit(join(path, '.git'))).toBeNull();
    await ourCheckout(path, 'loose');
    expect(existsSync(join(path, '.git/sequencer/todo'))).toBe(true);
    writeFileSync(join(path, '.git/MERGE_AUTOSTASH'), '');
    expect(stateThatNeedsGit(join(path, '.git'))).toMatch(/autostash/);
  });

  it('in a linked working tree, and never onto a branch that another one is on', async () => {
    const theirs = copy();
    const mine = copy();
    const trees = [theirs, mine].map((path) => {
      const linked = `${path}-linked`;
      git(path, 'worktree', 'add', '-q', '--detach', linked);
      return linked;
    });
    git(trees[0]!, 'checkout', '-q', '--force', '-B', 'new', 'origin/topic');
    await ourCheckout(trees[1]!, 'origin/topic', 'new');
    const normal = (path: string): unknown =>
      JSON.parse(JSON.stringify(gitFiles(path)).replaceAll(path, 'PATH').replaceAll(path.split('/').at(-1)!, 'NAME'));
    expect(normal(mine)).toEqual(normal(theirs));

    await expect(ourCheckout(trees[1]!, 'main')).rejects.toMatchObject({
      code: 'ref-locked',
      message: expect.stringContaining(mine) as string,
    });
    await expect(ourCheckout(mine, 'main', 'new')).rejects.toThrow(`'${trees[1]!}'`);
    await ourCheckout(mine, 'main');
    expect(readdirSync(join(mine, '.git')).filter((name) => name.endsWith('.lock'))).toEqual([]);
  });
});

describe('locks', () => {
  const oid = git(base, 'rev-parse', 'loose');

  it('nothing changes before commit, nor after abort', async () => {
    const path = copy();
    const before = gitFiles(path);
    const update = prepare(await open(path), {
      kind: 'reset-branch',
      refName: 'refs/heads/n',
      oid,
      startPoint: 'loose',
    });
    expect(readFileSync(join(path, '.git/HEAD.lock'), 'utf8')).toBe('ref: refs/heads/n\n');
    expect(readFileSync(join(path, '.git/refs/heads/n.lock'), 'utf8')).toBe(`${oid}\n`);
    expect(() => git(path, 'checkout', '-q', '--detach')).toThrow();
    update.abort();
    update.abort();
    expect(gitFiles(path)).toEqual(before);
  });

  it.each(['HEAD.lock', 'refs/heads/n.lock'])('%s of somebody else is respected and stays', async (name) => {
    const path = copy();
    const facts = await open(path);
    writeFileSync(join(path, '.git', name), '');
    const before = gitFiles(path);
    expect(() => prepare(facts, { kind: 'reset-branch', refName: 'refs/heads/n', oid, startPoint: 'x' })).toThrow(
      expect.objectContaining({ code: 'ref-locked', message: expect.stringContaining(name) as string }),
    );
    expect(gitFiles(path)).toEqual(before);
  });

  it('a name that is a directory of refs, or below a ref, is refused; empty directories make way', async () => {
    const path = copy();
    const facts = await open(path);
    const reset = (name: string): HeadUpdate =>
      prepare(facts, { kind: 'reset-branch', refName: `refs/heads/${name}`, oid, startPoint: 'loose' });
    git(path, 'branch', 'dir/below');
    for (const name of ['dir', 'loose/x', 'packed/x/y', 'both-kinds/x']) {
      expect(() => reset(name)).toThrow(expect.objectContaining({ code: 'ref-locked' }));
    }
    expect(() => reset('-x')).toThrow(expect.objectContaining({ code: 'usage' }));
    git(path, 'branch', '-D', 'dir/below');
    mkdirSync(join(path, '.git/refs/heads/dir/empty/er'), { recursive: true });
    mkdirSync(join(path, '.git/logs/refs/heads/dir/empty'), { recursive: true });
    reset('dir').commit();
    expect(git(path, 'rev-parse', '--symbolic-full-name', 'HEAD')).toBe('refs/heads/dir');
    expect(git(path, 'log', '-g', '--format=%gs', 'dir')).toBe('branch: Created from loose');
    expect(() => prepare(facts, { kind: 'switch', refName: 'refs/heads/none' })).toThrow(
      expect.objectContaining({ code: 'unknown-revision' }),
    );
    expect(readdirSync(join(path, '.git/refs/heads')).filter((name) => name.endsWith('.lock'))).toEqual([]);
  });

  it('a reflog message may be given', async () => {
    const path = copy();
    prepare(await open(path), { kind: 'detach', oid, to: 'x' }, 'clone: from URL').commit();
    expect(git(path, 'log', '-g', '-1', '--format=%gs', 'HEAD')).toBe('clone: from URL');
  });
});
