/**
 * What the engine does not do itself is found before anything is touched and handed to git with a reason; with
 * `engine: native` it is refused instead. The result is git's either way.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { expectSameAsGit, type OracleCase } from '../../support/oracle.ts';
import { runOurs } from '../../support/ours.ts';
import { git, GitRepository, gitVersion, type TreeSpec } from '../../support/repository.ts';
import { temporaryFolder } from '../../support/temporary.ts';
import { differences, snapshot } from '../../support/worktree.ts';

const folder = temporaryFolder('fallback');
const repository = new GitRepository(folder);

const plain: TreeSpec = {
  a: 'a\n',
  'd/b': 'b\n',
  'd/e/c': 'c\n',
  'f/g': { content: 'g\n', executable: true },
  l: { symlink: 'a' },
};
const withDriver: TreeSpec = {
  ...plain,
  '.gitattributes': '*.up filter=upper\n',
  'x.up': 'shout\n',
  'd/y.up': 'loud\n',
};
const driver = { 'filter.upper.smudge': 'tr a-z A-Z', 'filter.upper.clean': 'tr A-Z a-z' };

/** Handed over, same result; refused where only our engine is wanted, and then nothing is touched. */
async function handedOver(
  spec: TreeSpec | { commit: string },
  reason: RegExp,
  more: Partial<OracleCase> = {},
): Promise<void> {
  const { commit } =
    'commit' in spec && typeof spec.commit === 'string' ? { commit: spec.commit } : repository.commit(spec);
  await expectSameAsGit({ repository, revision: commit, modes: [0, 2], engine: 'git', reason, ...more });
}

describe('conversions', () => {
  it('a filter that nothing configures does nothing, natively', async () => {
    const { commit } = repository.commit(withDriver);
    await expectSameAsGit({ repository, revision: commit, modes: [0, 2] });
  });

  it('a driver configured but used by no file of this tree, natively', async () => {
    const { commit } = repository.commit(plain);
    await expectSameAsGit({ repository, revision: commit, modes: [0, 2], config: driver });
  });

  it('encodings of the working tree', async () => {
    await handedOver(
      { ...plain, '.gitattributes': '*.txt working-tree-encoding=UTF-7\n', 'u.txt': 'übel\n' },
      /encoding/,
      {
        unclean: true,
      },
    );
  });
});

describe('attributes of another tree', () => {
  const rules = repository.commit({ '.gitattributes': '* text eol=crlf\n' });

  // git knows the variable from 2.41 on and the setting from 2.43 on. What it makes of them is right, and so it is asked.
  it.each<[string, Partial<OracleCase>]>([
    ['GIT_ATTR_SOURCE', { env: { GIT_ATTR_SOURCE: rules.commit } }],
    ['attr.tree', { config: { 'attr.tree': rules.commit } }],
  ])('%s', async (_, setting) => {
    await handedOver(plain, /attributes are taken from another tree/, { ...setting, modes: [0] });
  });

  it('are those by which files are written, where this git knows them', async ({ skip }) => {
    const [major, minor] = gitVersion();
    if (major < 2 || (major === 2 && minor < 41)) skip(`git ${major}.${minor} has no GIT_ATTR_SOURCE (2.41 has)`);
    const { commit } = repository.commit(plain);
    const directory = join(folder, 'attr-source');
    git(folder, ['clone', '-q', '--no-checkout', repository.directory, directory]);
    process.env['GIT_ATTR_SOURCE'] = rules.commit;
    try {
      const { report } = await runOurs({ directory, target: { kind: 'detach', revision: commit } });
      expect(report.error).toBeUndefined();
    } finally {
      delete process.env['GIT_ATTR_SOURCE'];
    }
    expect(readFileSync(join(directory, 'a'), 'latin1')).toBe('a\r\n');
  });
});

describe('repositories', () => {
  it('reftable, where this git knows it', async ({ skip }) => {
    const [major, minor] = gitVersion();
    if (major < 2 || (major === 2 && minor < 45)) skip('this git has no reftable');
    const reftable = new GitRepository(join(folder, 'reftable'), 'template', ['--ref-format=reftable']);
    const { commit } = reftable.commit(plain);
    const run = await runOurs({ directory: reftable.directory, target: { kind: 'detach', revision: commit } });
    expect(run.report.error).toBeUndefined();
    expect(reftable.text(['status', '--porcelain'])).toBe('');
  });

  it('an untracked cache, an index of version 4, features for many files', async () => {
    const from = repository.commit(plain).commit;
    const to = repository.commit({ ...plain, a: 'other\n', n: 'new\n' }).commit;
    const cases: Partial<OracleCase>[] = [
      {
        config: { 'core.untrackedCache': 'true' },
        prepare: (directory) => void git(directory, ['update-index', '--untracked-cache']),
      },
      { config: { 'index.version': '4' } },
      { config: { 'feature.manyFiles': 'true' } },
      {
        config: { 'index.threads': '4' },
        prepare: (directory) => void git(directory, ['-c', 'index.threads=4', 'update-index', '--force-write-index']),
      },
      { config: { 'core.fsmonitor': 'false' } },
      { config: { 'submodule.recurse': 'true' } },
    ];
    for (const each of cases)
      await expectSameAsGit({ repository, revision: to, from, modes: [0], engine: 'any', ...each });
  });
});

describe('the choice of engine', () => {
  it('native refuses what only git does, with nothing touched', async () => {
    const { commit } = repository.commit({ ...plain, '.gitattributes': 'a working-tree-encoding=UTF-7\n' });
    const directory = join(folder, 'refused');
    git(folder, ['clone', '-q', '--no-checkout', repository.directory, directory]);
    const from = repository.commit(plain).commit;
    git(directory, ['fetch', '-q', 'origin', from]);
    git(directory, ['checkout', '-q', '--detach', from]);
    // Not even what it was told to remove.
    writeFileSync(join(directory, 'untracked'), 'x');
    const before = snapshot(directory);
    const { report } = await runOurs({
      directory,
      target: { kind: 'detach', revision: commit },
      request: { engine: 'native', clean: { exclude: [] } },
    });
    expect(report.error?.code).toBe('unsupported');
    expect(report.error?.message).toMatch(/encoding/);
    expect(differences(before, snapshot(directory))).toEqual([]);
    expect(git(directory, ['rev-parse', 'HEAD']).toString().trim()).toBe(from);
  });

  it('git does it all when asked to, without calling it a fallback', async () => {
    const { commit } = repository.commit(plain);
    const directory = join(folder, 'by-git');
    git(folder, ['clone', '-q', '--no-checkout', repository.directory, directory]);
    const { report } = await runOurs({
      directory,
      target: { kind: 'detach', revision: commit },
      request: { engine: 'git' },
    });
    expect(report.error).toBeUndefined();
    expect(report.engine).toBe('git');
    expect(report.fallbacks).toEqual([]);
    expect(report.totals.files).toBe(Object.keys(plain).length);
    expect(git(directory, ['status', '--porcelain']).toString()).toBe('');
  });
});
