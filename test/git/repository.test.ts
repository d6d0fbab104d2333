/** Finding a repository and its configuration, with git's own answers beside ours. */
import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { loadConfig } from '../../src/engine/config/config.ts';
import { spawnGit } from '../../src/engine/fetch/git-process.ts';
import { openRepository, openRepositoryAndConfig } from '../../src/engine/gitdir/repository.ts';
import { git, recordingGit, Scratch } from './temp-repository.ts';
import { SHA1, SHA256 } from '../../src/engine/oid.ts';

const scratch = new Scratch();
afterAll(() => scratch.remove());
afterEach(() => vi.unstubAllEnvs());
const ours = recordingGit().git;

describe('openRepository', () => {
  it('finds an ordinary repository from below, through a link', async () => {
    const path = scratch.repository();
    mkdirSync(join(path, 'a/b'), { recursive: true });
    const link = scratch.path('link');
    symlinkSync(join(path, 'a/b'), link);
    for (const directory of [path, join(path, 'a/b'), link]) {
      expect(await openRepository({ directory }, ours)).toEqual({
        gitDir: join(path, '.git'),
        commonDir: join(path, '.git'),
        workTree: path,
        indexPath: join(path, '.git/index'),
        objectsDir: join(path, '.git/objects'),
        attributesPath: join(path, '.git/info/attributes'),
        sparsePath: join(path, '.git/info/sparse-checkout'),
        objectFormat: SHA1,
        refFormat: 'files',
        shallow: false,
        gitOptions: [`--git-dir=${join(path, '.git')}`, `--work-tree=${path}`],
      });
    }
  });

  it('asks git once', async () => {
    const { git: process, calls } = recordingGit();
    await openRepository({ directory: scratch.repository() }, process);
    expect(calls.length).toBe(1);
  });

  it('tells a linked working tree’s own files from the shared ones', async () => {
    const path = scratch.repository();
    const linked = scratch.path('linked');
    git(path, 'worktree', 'add', '-q', linked, '-b', 'other');
    const own = join(path, '.git/worktrees', linked.split('/').at(-1)!);
    expect(await openRepository({ directory: linked }, ours)).toMatchObject({
      gitDir: own,
      commonDir: join(path, '.git'),
      workTree: linked,
      indexPath: join(own, 'index'),
      objectsDir: join(path, '.git/objects'),
      attributesPath: join(path, '.git/info/attributes'),
      sparsePath: join(own, 'info/sparse-checkout'),
    });
  });

  it('takes a separate git directory, a bare one with a working tree, and relative places', async () => {
    const path = scratch.path('separate');
    git('/', 'init', '-q', `--separate-git-dir=${path}.git`, path);
    expect(await openRepository({ directory: path }, ours)).toMatchObject({ gitDir: `${path}.git`, workTree: path });

    const bare = scratch.path('bare');
    const tree = scratch.path('tree');
    mkdirSync(tree);
    git('/', 'init', '-q', '--bare', bare);
    const found = await openRepository({ directory: tree, gitDir: bare, workTree: '.' }, ours);
    expect(found).toMatchObject({ gitDir: bare, commonDir: bare, workTree: tree, indexPath: join(bare, 'index') });
    expect(git('/', ...found.gitOptions, 'rev-parse', '--show-toplevel')).toBe(tree);
  });

  it('follows GIT_DIR, GIT_WORK_TREE, GIT_INDEX_FILE and GIT_OBJECT_DIRECTORY', async () => {
    const path = scratch.repository();
    const tree = scratch.path('tree');
    mkdirSync(tree);
    vi.stubEnv('GIT_DIR', join(path, '.git'));
    vi.stubEnv('GIT_WORK_TREE', tree);
    vi.stubEnv('GIT_INDEX_FILE', join(tree, 'my-index'));
    vi.stubEnv('GIT_OBJECT_DIRECTORY', join(path, '.git/objects'));
    expect(await openRepository({ directory: tree }, spawnGit)).toMatchObject({
      gitDir: join(path, '.git'),
      workTree: tree,
      indexPath: join(tree, 'my-index'),
      objectsDir: join(path, '.git/objects'),
    });
  });

  it('tells shallow and sha256 repositories', async () => {
    const full = scratch.repository(2);
    const path = scratch.path('shallow');
    git('/', 'clone', '-q', '--depth=1', `file://${full}`, path);
    expect((await openRepository({ directory: path }, ours)).shallow).toBe(true);
    const sha256 = scratch.path('sha256');
    git('/', 'init', '-q', '--object-format=sha256', sha256);
    expect((await openRepository({ directory: sha256 }, ours)).objectFormat).toBe(SHA256);
  });

  it('refuses, in one line, what git refuses', async () => {
    const refused = async (directory: string): Promise<{ code: string; message: string }> => {
      try {
        await openRepository({ directory }, ours);
      } catch (error) {
        return error as { code: string; message: string };
      }
      throw new Error('not refused');
    };
    const empty = scratch.path('empty');
    mkdirSync(empty);
    expect(await refused(empty)).toMatchObject({ code: 'not-a-repository' });
    expect(await refused(join(empty, 'none'))).toMatchObject({ code: 'not-a-repository' });

    const path = scratch.repository();
    const config = (key: string, value: string): string => git(path, 'config', key, value);
    expect(await refused(join(path, '.git'))).toMatchObject({ code: 'not-a-repository' });
    config('core.bare', 'true');
    expect((await refused(path)).message).toContain('bare repository');
    config('core.bare', 'false');
    config('core.repositoryformatversion', '1');
    config('extensions.fromthefuture', 'x');
    expect(await refused(path)).toMatchObject({
      code: 'unsupported-repository',
      message: expect.stringContaining('fromthefuture') as string,
    });
    writeFileSync(join(path, '.git/config'), '[core\n');
    expect(await refused(path)).toMatchObject({ code: 'config-invalid' });
    writeFileSync(join(path, '.git/config'), '[core]\n\trepositoryformatversion = 9\n');
    const future = await refused(path);
    expect(future.code).toBe('unsupported-repository');
    expect(future.message).not.toContain('\n');
  });

  it('leaves safe.directory to git', async () => {
    const path = scratch.repository();
    vi.stubEnv('GIT_TEST_ASSUME_DIFFERENT_OWNER', '1');
    await expect(openRepository({ directory: path }, ours)).rejects.toMatchObject({
      code: 'not-a-repository',
      message: expect.stringMatching(/dubious ownership.*safe\.directory/) as string,
    });
    const trusting = scratch.path('gitconfig');
    writeFileSync(trusting, `[safe]\n\tdirectory = ${path}\n`);
    const withGlobal: typeof spawnGit = (call) =>
      spawnGit({ ...call, env: { ...call.env, GIT_CONFIG_GLOBAL: trusting, GIT_CONFIG_NOSYSTEM: '1' } });
    expect((await openRepository({ directory: path }, withGlobal)).workTree).toBe(path);
  });

  it('refuses a path that a string cannot hold, and one with a line feed', async () => {
    const base = scratch.path('bytes');
    mkdirSync(base);
    const raw = Buffer.concat([Buffer.from(`${base}/`), Buffer.from([0xff, 0xfe])]);
    mkdirSync(raw);
    // Discovery from a directory with a good name leads to a git directory with a bad one.
    const good = scratch.repository();
    const link = join(base, 'link');
    symlinkSync(Buffer.concat([raw, Buffer.from('/inside')]), link);
    mkdirSync(Buffer.concat([raw, Buffer.from('/inside')]));
    await expect(openRepository({ directory: link, gitDir: join(good, '.git') }, ours)).rejects.toMatchObject({
      name: 'CheckoutError',
    });
    const feed = `${scratch.path('line')}\nfeed`;
    git('/', 'init', '-q', feed);
    await expect(openRepository({ directory: feed }, ours)).rejects.toThrow('has a line feed in it');
  });
});

describe('loadConfig', () => {
  it('reads includes with their conditions, and puts overrides on top', async () => {
    const path = scratch.repository();
    const included = scratch.path('included');
    writeFileSync(included, '[core]\n\teol = crlf\n[filter "Some.Name"]\n\trequired\n');
    git(path, 'config', `includeIf.gitdir:${realpathSync(path)}/.git.path`, included);
    git(path, 'config', 'includeIf.gitdir:/elsewhere/.path', scratch.path('none'));
    git(path, 'config', 'core.autocrlf', 'input');
    const { git: process, calls } = recordingGit();
    const { config } = await openRepositoryAndConfig(
      { directory: path, config: [{ key: 'core.autocrlf', value: 'true' }] },
      process,
    );
    expect(calls.length).toBe(2);
    expect(config.get('core.eol')).toBe('crlf');
    expect(config.getBool('filter.Some.Name.required')).toBe(true);
    expect(config.getAll('core.autocrlf')).toEqual(['input', 'true']);
    expect(config.get('core.bare')).toBe(git(path, 'config', 'core.bare'));
  });

  it('reads a worktree’s own configuration', async () => {
    const path = scratch.repository();
    git(path, 'config', 'extensions.worktreeConfig', 'true');
    git(path, 'config', '--worktree', 'core.sparseCheckout', 'true');
    expect((await loadConfig({ directory: path }, ours)).getBool('core.sparseCheckout')).toBe(true);
  });

  it('names a file that cannot be parsed', async () => {
    const path = scratch.repository();
    const broken = scratch.path('broken');
    writeFileSync(broken, '[core]\n = x\n');
    git(path, 'config', 'include.path', broken);
    await expect(loadConfig({ directory: path }, ours)).rejects.toMatchObject({
      code: 'config-invalid',
      message: expect.stringContaining(broken) as string,
    });
    await expect(openRepositoryAndConfig({ directory: path }, ours)).rejects.toMatchObject({ code: 'config-invalid' });
  });
});
