/**
 * Where HEAD goes: detached, to a branch, to a new branch, or nowhere; with the reflog, the refs and the state files that git
 * leaves.
 */
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { CheckoutTarget } from '../../../src/engine/settings.ts';
import { expectSameAsGit, type OracleCase } from '../../support/oracle.ts';
import { runOurs } from '../../support/ours.ts';
import { git, GitRepository } from '../../support/repository.ts';
import { memoryFolder, temporaryFolder } from '../../support/temporary.ts';
import { differences, leftovers, snapshot } from '../../support/worktree.ts';

const folder = temporaryFolder('heads', memoryFolder());
const repository = new GitRepository(folder);
const [first, second, third] = repository.commits([{ a: '1\n' }, { a: '2\n', b: 'b\n' }, { a: '3\n', 'c/d': 'd\n' }]);
repository.git(['branch', 'topic', second!.commit]);
repository.git(['branch', 'with/slash', first!.commit]);
repository.git(['tag', 'light', second!.commit]);
repository.git(['tag', '-a', '-m', 'annotated', 'heavy', third!.commit]);
repository.git(['tag', '-a', '-m', 'tag of a tag', 'nested', 'heavy']);
repository.git(['tag', 'same', first!.commit]);
repository.git(['branch', 'same', second!.commit]);
repository.git(['update-ref', 'refs/remotes/origin/main', third!.commit]);
repository.git(['update-ref', 'refs/remotes/origin/only-there', second!.commit]);
repository.git(['config', 'remote.origin.url', 'https://example.com/x.git']);
repository.git(['config', 'remote.origin.fetch', '+refs/heads/*:refs/remotes/origin/*']);
repository.git(['update-ref', 'refs/pull/1/merge', third!.commit]);

async function check(target: CheckoutTarget, more: Partial<OracleCase> = {}): Promise<void> {
  await expectSameAsGit({ repository, revision: '', target, modes: [0], engine: 'any', ...more });
}

describe('detached', () => {
  const names = [
    second!.commit,
    second!.commit.slice(0, 10),
    'topic',
    'light',
    'heavy',
    'nested',
    'refs/remotes/origin/main',
    'origin/main',
    'refs/pull/1/merge',
    'main~1',
    'HEAD',
    'with/slash',
  ];
  it.each(names)('%s', async (revision) => {
    await check({ kind: 'detach', revision });
    await check({ kind: 'detach', revision }, { from: first!.commit });
  });
});

describe('by name', () => {
  it.each([
    'topic',
    'with/slash',
    'same',
    'light',
    'heavy',
    'refs/heads/topic',
    'only-there',
    'origin/main',
    second!.commit,
    'HEAD',
  ])('%s', async (revision) => {
    await check({ kind: 'revision', revision }, { from: first!.commit });
  });

  it('what was checked out before, a branch or a commit', async () => {
    const afterBranch = (directory: string): void => {
      git(directory, ['checkout', '-q', '-f', 'topic']);
      git(directory, ['checkout', '-q', '-f', 'main']);
    };
    const afterCommit = (directory: string): void => {
      git(directory, ['checkout', '-q', '-f', '--detach', first!.commit]);
      git(directory, ['checkout', '-q', '-f', 'main']);
    };
    await check({ kind: 'revision', revision: '@{-1}' }, { prepare: afterBranch });
    await check({ kind: 'revision', revision: '@{-1}' }, { prepare: afterCommit });
  });

  it('a branch that HEAD names already, and back to it', async () => {
    const onTopic = (directory: string): void => void git(directory, ['checkout', '-q', 'topic']);
    await check({ kind: 'revision', revision: 'topic' }, { prepare: onTopic });
    await check({ kind: 'revision', revision: 'main' }, { prepare: onTopic });
    await check({ kind: 'detach', revision: 'topic' }, { prepare: onTopic });
    await check({ kind: 'head' }, { prepare: onTopic });
  });
});

describe('a branch made or moved', () => {
  it.each([
    ['new', second!.commit],
    ['new/with/slash', 'topic'],
    ['topic', third!.commit],
    ['main', 'refs/remotes/origin/main'],
    ['tracking', 'refs/remotes/origin/only-there'],
    ['tagged', 'heavy'],
  ])('%s from %s', async (branch, startPoint) => {
    await check({ kind: 'branch', branch, startPoint });
    await check({ kind: 'branch', branch, startPoint }, { from: first!.commit });
  });

  it('no reflog, or one for everything', async () => {
    for (const value of ['false', 'true', 'always']) {
      const config = { 'core.logAllRefUpdates': value };
      await check({ kind: 'branch', branch: 'logged', startPoint: second!.commit }, { config });
      await check({ kind: 'detach', revision: second!.commit }, { config, from: first!.commit });
    }
  });

  it('refs in packed-refs', async () => {
    const prepare = (directory: string): void => void git(directory, ['pack-refs', '--all']);
    await check({ kind: 'branch', branch: 'topic', startPoint: 'heavy' }, { prepare, from: first!.commit });
    await check({ kind: 'revision', revision: 'same' }, { prepare, from: first!.commit });
  });

  it('names that collide or are no branch names: refused, nothing touched', async () => {
    const directory = join(folder, 'refused');
    git(folder, ['clone', '-q', '--no-checkout', repository.directory, directory]);
    git(directory, ['branch', '-q', 'topic', second!.commit]);
    git(directory, ['branch', '-q', 'with/slash', second!.commit]);
    git(directory, ['checkout', '-q', '--detach', first!.commit]);
    const before = snapshot(directory);
    // git finds the first two out when the files are written already.
    for (const branch of ['topic/below', 'with', '-x', 'a..b', 'HEAD', 'x.lock', 'a b', '']) {
      const target: CheckoutTarget = { kind: 'branch', branch, startPoint: second!.commit };
      const { report } = await runOurs({ directory, target, workers: 0 });
      expect(report.error?.code, branch).toMatch(/^(usage|unknown-revision|ref-locked|io|git-failed)$/);
      expect(differences(before, snapshot(directory)), branch).toEqual([]);
      expect(git(directory, ['rev-parse', 'HEAD']).toString().trim()).toBe(first!.commit);
      expect(leftovers(join(directory, '.git'))).toEqual([]);
    }
  });
});

describe('state of other commands', () => {
  it('a merge, cherry-pick or revert in progress ends', async () => {
    const prepare = (directory: string): void => {
      for (const name of ['MERGE_HEAD', 'CHERRY_PICK_HEAD', 'REVERT_HEAD', 'ORIG_HEAD']) {
        writeFileSync(join(directory, '.git', name), `${second!.commit}\n`);
      }
      for (const name of ['MERGE_MSG', 'MERGE_MODE', 'SQUASH_MSG']) writeFileSync(join(directory, '.git', name), 'x\n');
    };
    await check({ kind: 'detach', revision: third!.commit }, { from: first!.commit, prepare });
  });
});

describe('elsewhere', () => {
  it('a separate git directory, and a working tree named by the request', async () => {
    const prepare = (directory: string): void => {
      mkdirSync(join(directory, 'tree'));
    };
    // Beside each other in the copy: .git and tree.
    await expectSameAsGit({
      repository,
      revision: third!.commit,
      prepare,
      env: { GIT_WORK_TREE: 'tree' },
      treeAt: 'tree',
      modes: [0, 2],
      engine: 'any',
      unclean: true,
    });
  });

  it('GIT_INDEX_FILE', async () => {
    await expectSameAsGit({
      repository,
      revision: third!.commit,
      env: { GIT_INDEX_FILE: '.git/other-index' },
      modes: [0, 2],
      engine: 'any',
      unclean: true,
    });
  });

  it('a linked worktree', async () => {
    const linked = new GitRepository(join(folder, 'linked-case'));
    rmSync(linked.gitDir, { recursive: true });
    cpSync(repository.gitDir, linked.gitDir, { recursive: true });
    for (const who of ['git', 'ours'])
      linked.git(['worktree', 'add', '-q', '--detach', '--no-checkout', `../${who}`, first!.commit]);
    const [theirs, ours] = ['git', 'ours'].map((name) => join(folder, 'linked-case', name)) as [string, string];
    git(theirs, ['checkout', '-q', '--force', '--detach', third!.commit]);
    const { report } = await runOurs({ directory: ours, target: { kind: 'detach', revision: third!.commit } });
    expect(report.error).toBeUndefined();
    expect(report.engine).toBe('native');
    // .git is a file here.
    const strip = (directory: string): Map<string, string> => snapshot(directory);
    expect(differences(strip(theirs), strip(ours))).toEqual([]);
    expect(git(ours, ['status', '--porcelain']).toString()).toBe('');
    expect(git(ours, ['rev-parse', 'HEAD']).toString().trim()).toBe(third!.commit);
    expect(git(linked.directory, ['symbolic-ref', 'HEAD']).toString().trim()).toBe('refs/heads/main');
  });
});
