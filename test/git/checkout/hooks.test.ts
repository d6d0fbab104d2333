/**
 * The hooks post-index-change and post-checkout: as git runs them, with what git gives them, and their end counts as with git.
 */
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { GitCall } from '../../../src/engine/settings.ts';
import { expectSameAsGit } from '../../support/oracle.ts';
import { clone, ROOMY_HOST, runOurs, spawnGit } from '../../support/ours.ts';
import { git, GitRepository, runGit } from '../../support/repository.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const folder = temporaryFolder('hooks');
const repository = new GitRepository(folder);
const [first, second] = repository
  .commits([
    { a: 'a\n', 'd/b': 'b\n' },
    { a: 'other\n', 'd/b': 'b\n', 'd/n': 'n\n' },
  ])
  .map(({ commit }) => commit) as [string, string];

/**
 * Tells all that a hook can see: arguments, directory, git's variables (without the settings, of which our tests give one
 * more), streams, HEAD and the index. The place is written TOP, since every case runs in a directory of its own.
 */
const SAYS_ALL = `#!/bin/sh
{
  printf '%s %s\\n' "\${0##*/}" "$*"
  pwd
  env | grep '^GIT_' | grep -v '^GIT_CONFIG_' | sort
  echo "$PATH"
  cat
  git rev-parse HEAD 2>&1
  git ls-files -s
} | sed "s,$(git rev-parse --show-toplevel),TOP,g" >> "$(git rev-parse --show-toplevel)/hook-log"
echo printed
echo 'printed as an error' >&2
exit \${HOOK_STATUS-0}
`;

function addHooks(hooks: string, script = SAYS_ALL, mode = 0o755): void {
  mkdirSync(hooks, { recursive: true });
  for (const name of ['post-checkout', 'post-index-change']) {
    writeFileSync(join(hooks, name), script);
    chmodSync(join(hooks, name), mode);
  }
}

const inRepository = (directory: string): void => addHooks(join(directory, '.git', 'hooks'));

describe('hooks', () => {
  it('of the repository: what they see and in which order, and what they print is shown', async () => {
    const logs: string[] = [];
    await expectSameAsGit({
      repository,
      revision: second,
      from: first,
      prepare: inRepository,
      modes: [0, 2],
      unclean: true,
      inspect: (directory, run) => {
        logs.push(readFileSync(join(directory, 'hook-log'), 'utf8'));
        if (run !== null) expect(run.infos.filter((line) => line.startsWith('printed'))).toHaveLength(4);
      },
    });
    expect(logs[0]).toContain('post-index-change 1 0\nTOP\n');
    expect(logs[0]).toContain(`post-checkout ${first} ${second} 1\nTOP\n`);
    expect(logs.filter((log) => log !== logs[0])).toEqual([]);
  });

  it('of core.hooksPath: absolute, below the home directory, relative, of another user', async () => {
    const elsewhere = join(folder, 'elsewhere');
    addHooks(elsewhere);
    addHooks(join(homedir(), 'my-hooks'));
    const places = { [elsewhere]: true, '~/my-hooks': true, '.git/mine': true, '~root/none': false };
    for (const [path, ran] of Object.entries(places)) {
      await expectSameAsGit({
        repository,
        revision: second,
        from: first,
        config: { 'core.hooksPath': path },
        prepare: (directory) => addHooks(join(directory, '.git', 'mine')),
        modes: [0],
        unclean: ran,
        inspect: (directory) => expect(existsSync(join(directory, 'hook-log'))).toBe(ran),
      });
    }
  });

  it('a post-checkout that fails makes the run fail, with all of it done', async () => {
    await expectSameAsGit({
      repository,
      revision: second,
      from: first,
      prepare: inRepository,
      env: { HOOK_STATUS: '3' },
      modes: [2],
      exit: 1,
      error: 'hook-failed',
      unclean: true,
    });
  });

  it('where there was no commit before, in a repository of SHA-256', async () => {
    const sha256 = new GitRepository(join(folder, 'sha256'), 'template', ['--object-format=sha256']);
    const { commit } = sha256.commit({ a: 'a\n' }, { branch: 'elsewhere' });
    await expectSameAsGit({
      repository: sha256,
      revision: commit,
      prepare: inRepository,
      modes: [0],
      unclean: true,
      inspect: (directory) => {
        expect(readFileSync(join(directory, 'hook-log'), 'utf8')).toContain(`${'0'.repeat(64)} ${commit} 1`);
      },
    });
  });

  it('one that is not executable is not run, nor is git asked about it', async () => {
    const calls: GitCall[] = [];
    const directory = join(folder, 'not-executable');
    git(folder, ['clone', '-q', '--no-checkout', repository.directory, directory]);
    addHooks(join(directory, '.git', 'hooks'), SAYS_ALL, 0o644);
    const { report } = await runOurs({
      directory,
      target: { kind: 'detach', revision: second },
      git: (call) => (calls.push(call), spawnGit(call)),
    });
    expect(report.error).toBeUndefined();
    expect(existsSync(join(directory, 'hook-log'))).toBe(false);
    expect(calls.flatMap(({ args }) => args).filter((arg) => arg === 'hook' || arg === 'version')).toEqual([]);
  });

  it('a git that cannot run a hook alone does the checkout itself', async () => {
    const directory = join(folder, 'old-git');
    git(folder, ['clone', '-q', '--no-checkout', repository.directory, directory]);
    inRepository(directory);
    const { report } = await runOurs({
      directory,
      target: { kind: 'detach', revision: second },
      git: (call) =>
        call.args[0] === 'version'
          ? Promise.resolve({ exitCode: 0, stdout: Buffer.from('git version 2.35.8\n'), stderr: '' })
          : spawnGit(call),
    });
    expect(report.engine).toBe('git');
    expect(report.fallbacks.map(({ reason }) => reason).join()).toContain('git before 2.36');
    expect(readFileSync(join(directory, 'hook-log'), 'utf8')).toContain(`post-checkout`);
  });

  it.each([
    ['from a directory that the checkout removes', 'gone', {}],
    ['from a directory below', 'd', {}],
    ['with the places given', '.', { gitDir: '.git', workTree: '.' }],
  ])('%s', async (_name, below, places) => {
    const from = repository.commit({ a: 'a\n', 'd/b': 'b\n', 'gone/x': 'x\n' }).commit;
    const logs = ['git', 'ours'].map(async (who) => {
      const directory = join(folder, `${who}-${below === '.' ? 'here' : below}`);
      git(folder, ['clone', '-q', '--shared', '--no-checkout', repository.directory, directory]);
      git(directory, ['checkout', '-q', '--detach', from]);
      inRepository(directory);
      const cwd = join(directory, below);
      if (who === 'git') {
        const given = 'gitDir' in places ? ['--git-dir=.git', '--work-tree=.'] : [];
        expect(runGit(cwd, [...given, 'checkout', '-q', '--force', '--detach', second]).status).toBe(0);
      } else {
        const { report } = await runOurs({
          directory: cwd,
          target: { kind: 'detach', revision: second },
          request: places,
        });
        expect(report.error).toBeUndefined();
        expect(report.engine).toBe('native');
      }
      const log = readFileSync(join(directory, 'hook-log'), 'utf8');
      // Where the directory is gone, no git can be started in it to be told of it.
      return log.replaceAll('GIT_DIR=TOP/.git', 'GIT_DIR=.git').replaceAll('GIT_PREFIX=gone/', 'GIT_PREFIX=');
    });
    const [expected, ours] = await Promise.all(logs);
    expect(ours).toBe(expected);
  });

  it('of a clone, whose end is that of the hook', async () => {
    const hooks = join(folder, 'for-clones');
    addHooks(hooks, SAYS_ALL.replace('exit ${HOOK_STATUS-0}', 'exit 7'));
    const config = { 'core.hooksPath': hooks };
    expect(runGit(folder, ['clone', '-q', repository.directory, 'cloned-by-git'], { config }).status).toBe(7);
    const report = await clone(
      {
        url: repository.directory,
        directory: join(folder, 'cloned'),
        workers: 2,
        memoryLimitBytes: 'auto',
        engine: 'native',
        transport: 'auto',
        hostFacts: ROOMY_HOST,
        config: Object.entries(config).map(([key, value]) => ({ key, value })),
      },
      {
        git: spawnGit,
        observer: { info: () => undefined, warning: () => undefined, progress: () => undefined },
      },
    );
    expect(report.error).toMatchObject({ code: 'hook-failed', subject: { exitStatus: 7 } });
    const log = (directory: string): string => readFileSync(join(folder, directory, 'hook-log'), 'utf8');
    // Of the arguments and the directory; our clone is no process of git, so that its variables are not the same.
    const told = (text: string): string[] => text.split('\n').filter((line) => /^(post|TOP|[0-9]{6} )/.test(line));
    expect(told(log('cloned'))).toEqual(told(log('cloned-by-git')));
    rmSync(hooks, { recursive: true });
  });
});
