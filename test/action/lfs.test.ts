// Git LFS with the real git-lfs, from a batch API server that asks for the token: what is downloaded and in how many requests, what is
// on the disk afterwards, and how it fails.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isLfsVersion, lfsConfig, pathList } from '../../src/action/lfs.ts';
import { credentialEnvironment } from '../../src/action/credentials.ts';
import { runOurs } from '../support/ours.ts';
import { startHttpServer, type HttpServer } from '../support/http-server.ts';
import { createLfsServer, lfsOid, lfsPointer } from '../support/lfs-server.ts';
import { randomBytes } from '../support/random.ts';
import { Hosted } from '../support/submodules.ts';
import { git, makeFixture, type Fixture } from './git-fixture.ts';
import { filesBelow, filesHolding, TestRunner, type StepResult } from './run-action.ts';

const TOKEN = 'ghs_a-Secret+Token/0123456789=';
const SECRETS = [TOKEN, Buffer.from(`x-access-token:${TOKEN}`).toString('base64')];
const hasLfs = spawnSync('git', ['lfs', 'version']).status === 0;

/** Contents by path. Two files have the same one, which is asked for once; one is as long as a pointer. */
const CONTENTS: Readonly<Record<string, Buffer>> = {
  'a.bin': Buffer.from(randomBytes(1, 70_000)),
  'dir/b.bin': Buffer.from(randomBytes(2, 3000)),
  'dir/same.bin': Buffer.from(randomBytes(2, 3000)),
  'dir/deep/ä c.bin': Buffer.from(randomBytes(3, 500)),
  'other/d.bin': Buffer.from(randomBytes(4, lfsPointer(Buffer.alloc(100)).length)),
  'other/e.dat': Buffer.from(randomBytes(5, 100)),
};
const oidOf = (path: string): string => lfsOid(CONTENTS[path] ?? Buffer.alloc(0));

describe('the lists of paths', () => {
  it('are divided by commas and lines', () => {
    expect(pathList(' a, b\n\nc/*,\n')).toEqual(['a', 'b', 'c/*']);
    expect(pathList(' \n,')).toBeNull();
    expect(lfsConfig({ include: ['a', 'b'], exclude: null })).toEqual([{ key: 'lfs.fetchinclude', value: 'a,b' }]);
    expect(lfsConfig({ include: null, exclude: ['c'] })).toEqual([{ key: 'lfs.fetchexclude', value: 'c' }]);
  });

  it.each([
    ['git-lfs/3.3.0 (GitHub; linux amd64; go 1.19.8)', true],
    ['git-lfs/2.1.0 (GitHub)', true],
    ['git-lfs/2.0.2 (GitHub)', false],
    ['git-lfs/1.9.0', false],
    ['something else', false],
  ])('version %s: %s', (text, recent) => {
    expect(isLfsVersion(text)).toBe(recent);
  });
});

describe.skipIf(!hasLfs)(`lfs: true${hasLfs ? '' : ' (skipped: no git-lfs)'}`, () => {
  let fixture: Fixture;
  let server: HttpServer;
  /** Another server, which must not see the token. */
  let stranger: HttpServer;
  const lfs = createLfsServer();
  const strangersLfs = createLfsServer();
  const runners: TestRunner[] = [];

  beforeAll(async () => {
    fixture = makeFixture();
    const pointers = Object.entries(CONTENTS).map(([path, content]) => [path, lfs.add(content)]);
    for (const content of Object.values(CONTENTS)) strangersLfs.add(content);
    fixture.commit('main', {
      '.gitattributes': '*.bin filter=lfs diff=lfs merge=lfs -text\n*.dat filter=lfs diff=lfs merge=lfs -text\n',
      ...(Object.fromEntries(pointers) as Record<string, string>),
    });
    stranger = await startHttpServer({ root: fixture.root, handler: strangersLfs.handler });
    git(join(fixture.root, 'work'), ['branch', 'elsewhere', 'main']);
    fixture.commit('elsewhere', { '.lfsconfig': `[lfs]\n\turl = ${stranger.origin}/owner/repo.git/info/lfs\n` });
    server = await startHttpServer({ root: fixture.root, token: TOKEN, handler: lfs.handler });
  });
  beforeEach(() => {
    server.reset();
    stranger.reset();
    lfs.reset();
    strangersLfs.reset();
  });
  afterAll(async () => {
    for (const runner of runners) runner.remove();
    await Promise.all([server.close(), stranger.close()]);
    fixture.remove();
  });

  const newRunner = (): TestRunner => {
    const runner = new TestRunner(server.origin, 'owner/repo');
    runners.push(runner);
    return runner;
  };
  async function run(runner: TestRunner, inputs: Readonly<Record<string, string>> = {}): Promise<StepResult> {
    const result = await runner.main({
      inputs: { token: TOKEN, ref: 'main', lfs: 'true', 'fetch-retries': '0', ...inputs },
    });
    const shown = JSON.stringify({ ...result, masks: [], commands: [] });
    for (const secret of SECRETS) expect(shown).not.toContain(secret);
    // No place to work in is left.
    expect(leftOvers(runner)).toEqual([]);
    return result;
  }
  const leftOvers = (runner: TestRunner): string[] => {
    const storage = join(runner.workspace, '.git', 'lfs');
    return existsSync(storage) ? readdirSync(storage).filter((name) => /parallel|logs/.test(name)) : [];
  };
  const isPointer = (runner: TestRunner, path: string): boolean =>
    readFileSync(join(runner.workspace, path)).equals(Buffer.from(lfsPointer(CONTENTS[path] ?? Buffer.alloc(0))));
  /** Which files have their content; the others must be pointers. */
  const filled = (runner: TestRunner, paths = Object.keys(CONTENTS)): string[] =>
    paths.filter((path) => {
      if (isPointer(runner, path)) return false;
      expect(readFileSync(join(runner.workspace, path)).equals(CONTENTS[path] ?? Buffer.alloc(0)), path).toBe(true);
      return true;
    });
  const expectClean = (runner: TestRunner): void => {
    expect(git(runner.workspace, ['status', '--porcelain'], runner.environment)).toBe('');
  };

  it('downloads what is checked out in one batch, and configures git-lfs as actions/checkout does', async () => {
    const runner = newRunner();
    const result = await run(runner);
    expect(result.errors).toEqual([]);
    expect(result.outputs['engine']).toBe('native');
    expect(filled(runner)).toEqual(Object.keys(CONTENTS));
    expect(lfs.batches.map((batch) => [...batch].sort())).toEqual([
      [...new Set(Object.keys(CONTENTS).map(oidOf))].sort(),
    ]);
    expect(lfs.downloads).toHaveLength(5);
    expectClean(runner);
    expect(git(runner.workspace, ['config', '--local', 'filter.lfs.process'])).toBe('git-lfs filter-process');
    expect(readdirSync(join(runner.workspace, '.git', 'hooks'))).toContain('pre-push');

    // All is there: nobody is asked, and nothing is installed again.
    lfs.reset();
    const again = await run(runner);
    expect(again.errors).toEqual([]);
    expect(lfs.batches).toEqual([]);
    expect(again.gitCommands.filter((line) => line.includes('lfs'))).toEqual(['lfs version']);
    expect(again.outputs['files']).toBe('0');
  });

  it('downloads what a sparse checkout has, and no more', async () => {
    const runner = newRunner();
    const result = await run(runner, { 'sparse-checkout': 'dir' });
    expect(result.errors).toEqual([]);
    const inside = ['a.bin', 'dir/b.bin', 'dir/same.bin', 'dir/deep/ä c.bin'];
    expect(filled(runner, inside)).toEqual(inside);
    expect(existsSync(join(runner.workspace, 'other'))).toBe(false);
    expect(lfs.batches.flat().sort()).toEqual([...new Set(inside.map(oidOf))].sort());
    expectClean(runner);
  });

  it('fills pointers that an earlier run has left, and leaves content there when it is not asked for any more', async () => {
    const runner = newRunner();
    expect((await run(runner, { lfs: 'false' })).errors).toEqual([]);
    expect(filled(runner)).toEqual([]);
    expect(lfs.batches).toEqual([]);
    const result = await run(runner);
    expect(result.errors).toEqual([]);
    expect(filled(runner)).toEqual(Object.keys(CONTENTS));
    expect(result.outputs['files']).toBe('6');
    expectClean(runner);
    // As with git: what is unchanged by its stat data stays.
    expect((await run(runner, { lfs: 'false' })).errors).toEqual([]);
    expect(filled(runner)).toEqual(Object.keys(CONTENTS));
    expectClean(runner);
  });

  it('heeds lfs-include and lfs-exclude, also for what is in the store', async () => {
    const runner = newRunner();
    const lists = { 'lfs-include': 'dir\n*.dat', 'lfs-exclude': 'dir/deep' };
    const result = await run(runner, lists);
    expect(result.errors).toEqual([]);
    const allowed = ['dir/b.bin', 'dir/same.bin', 'other/e.dat'];
    expect(filled(runner)).toEqual(allowed);
    expect(lfs.batches.flat().sort()).toEqual([...new Set(allowed.map(oidOf))].sort());
    expectClean(runner);
    // A list that allows more: pointers are filled.
    const more = await run(runner, { 'lfs-exclude': 'a.bin' });
    expect(more.errors).toEqual([]);
    expect(filled(runner)).toEqual(Object.keys(CONTENTS).slice(1));
    // All is in the store but what is excluded; a fresh tree has pointers there all the same.
    git(runner.workspace, ['rm', '-q', '--cached', '-r', '.'], runner.environment);
    for (const path of Object.keys(CONTENTS)) writeFileSync(join(runner.workspace, path), 'x');
    const fresh = await run(runner, lists);
    expect(fresh.errors).toEqual([]);
    expect(filled(runner)).toEqual(allowed);
  });

  it('tells each failure in one line, leaves no token and no place of work, and the next run gets on', async () => {
    const runner = newRunner();
    const lfsRequests = /info\/lfs/;
    const failing = async (inputs: Readonly<Record<string, string>>): Promise<string> => {
      const result = await run(runner, { 'persist-credentials': 'false', ...inputs });
      expect(result.errors).toHaveLength(1);
      // git-lfs writes its environment into a log when a server fails.
      expect(filesHolding(runner.root, SECRETS).filter((path) => !/git-credentials-/.test(path))).toEqual([]);
      expect(existsSync(join(runner.workspace, 'a.bin'))).toBe(false);
      return result.errors[0] ?? '';
    };
    const begin = "download of Git LFS files from 'origin' failed: ";

    for (const persist of ['true', 'false']) {
      server.fail({ fault: { kind: 'status', status: 500 }, path: lfsRequests });
      const message = await failing({ 'persist-credentials': persist });
      expect(message.startsWith(begin)).toBe(true);
      expect(message).toContain('Server error');
      server.reset();
    }

    server.fail({ fault: { kind: 'status', status: 403 }, path: lfsRequests });
    expect(await failing({ 'fetch-retries': '2' })).toMatch(/failed: .*[Aa]uthorization error/);
    expect(server.requests.filter(({ path }) => lfsRequests.test(path))).toHaveLength(1);
    server.reset();

    server.fail({ fault: { kind: 'hang' }, path: lfsRequests });
    expect(await failing({ 'fetch-stall-timeout': '1' })).toBe(`${begin}nothing came from the server for 1 s`);
    server.reset();

    const to = `${stranger.origin}/owner/repo.git/info/lfs/objects/batch`;
    strangersLfs.refuse(oidOf('a.bin'), 404, 'Object does not exist');
    server.fail({ fault: { kind: 'status', status: 307, headers: { Location: to } }, path: lfsRequests });
    await failing({});
    expect(stranger.requests.length).toBeGreaterThan(0);
    expect(stranger.requests.flatMap(({ authorization }) => authorization)).toEqual([]);
    server.reset();

    lfs.spoil(oidOf('a.bin'), Buffer.from(randomBytes(9, 70_000)));
    expect((await failing({})).startsWith(begin)).toBe(true);
    lfs.reset();

    lfs.refuse(oidOf('a.bin'), 404, 'Object does not exist');
    expect(await failing({ 'fetch-retries': '2' })).toBe(
      `${begin}'a.bin' (object ${oidOf('a.bin')}): Object does not exist: [404] Object does not exist`,
    );
    expect(lfs.batches).toHaveLength(1);
    lfs.reset();

    // What came meanwhile is kept.
    const last = await run(runner);
    expect(last.errors).toEqual([]);
    expect(lfs.downloads).toEqual([oidOf('a.bin')]);
    expect(filled(runner)).toEqual(Object.keys(CONTENTS));
    expect(filesHolding(runner.workspace, SECRETS)).toEqual([]);
    await runner.post(last);
    expect(filesHolding(runner.root, SECRETS)).toEqual([]);
  });

  it('tries again what may be over later', async () => {
    const runner = newRunner();
    expect((await run(runner, { lfs: 'false', 'persist-credentials': 'false' })).errors).toEqual([]);
    server.reset();
    server.fail({ fault: { kind: 'status', status: 503 }, path: /info\/lfs/, times: 2 });
    const { report, warnings } = await runOurs({
      directory: runner.workspace,
      target: { kind: 'head' },
      config: { 'filter.lfs.process': 'git-lfs filter-process', 'filter.lfs.required': 'true' },
      request: {
        lfs: { remote: 'origin' },
        fetchEnv: credentialEnvironment(server.origin, TOKEN, {}, true),
        fetchLimits: { attempts: 3, retryDelayMs: 1 },
      },
    });
    expect(report.error).toBeUndefined();
    expect(warnings).toHaveLength(2);
    expect(warnings[0]).toMatch(/: HTTP 503 from the server; trying again in /);
    expect(filled(runner)).toEqual(Object.keys(CONTENTS));
  });

  it('asks the server that .lfsconfig of the commit names, not that of the files here, and gives a stranger no token', async () => {
    const runner = newRunner();
    // .lfsconfig is outside of the sparse checkout.
    const first = await run(runner, {
      ref: 'elsewhere',
      'persist-credentials': 'true',
      'sparse-checkout': 'dir/',
      'sparse-checkout-cone-mode': 'false',
    });
    expect(first.errors).toEqual([]);
    const inside = Object.keys(CONTENTS).filter((path) => path.startsWith('dir/'));
    expect(filled(runner, inside)).toEqual(inside);
    expect(lfs.batches).toEqual([]);
    expect(strangersLfs.batches).toHaveLength(1);
    expect(stranger.requests.flatMap(({ authorization }) => authorization)).toEqual([]);

    strangersLfs.reset();
    const forget = (): void => {
      rmSync(join(runner.workspace, '.git', 'lfs', 'objects'), { recursive: true });
      for (const path of Object.keys(CONTENTS)) rmSync(join(runner.workspace, path), { force: true });
    };
    forget();
    expect((await run(runner, { 'persist-credentials': 'false' })).errors).toEqual([]);
    expect(strangersLfs.batches).toEqual([]);
    expect(lfs.batches).toHaveLength(1);

    lfs.reset();
    forget();
    expect((await run(runner, { ref: 'elsewhere', 'persist-credentials': 'false' })).errors).toEqual([]);
    expect(lfs.batches).toEqual([]);
    expect(strangersLfs.batches).toHaveLength(1);
    expect(stranger.requests.flatMap(({ authorization }) => authorization)).toEqual([]);
  });

  it('leaves nothing when the job is cancelled, nor after one that was killed', async () => {
    const runner = newRunner();
    const abort = new AbortController();
    const killed = join(runner.workspace, '.git', 'lfs', 'parallel-checkout-killed');
    server.fail({ fault: { kind: 'hang' }, path: /info\/lfs/ });
    const timer = setInterval(() => {
      if (!server.requests.some(({ path }) => /info\/lfs/.test(path))) return;
      clearInterval(timer);
      mkdirSync(killed);
      abort.abort();
    }, 10);
    const result = await runner.main({ inputs: { token: TOKEN, ref: 'main', lfs: 'true' }, signal: abort.signal });
    expect(result.exitCode).toBe(1);
    expect(result.errors[0]).toMatch(/interrupted/);
    expect(leftOvers(runner)).toEqual(['parallel-checkout-killed']);
    server.reset();
    expect((await run(runner)).errors).toEqual([]);
    expect(filled(runner)).toEqual(Object.keys(CONTENTS));
  });

  it('fills the files of submodules, and later git commands there see no change', async () => {
    const hosted = new Hosted(join(fixture.root, 'owner'));
    const content = Buffer.from(randomBytes(7, 2000));
    const files = { '.gitattributes': '*.bin filter=lfs -text\n', 's.bin': lfs.add(content) };
    const inner = hosted.commit('inner', files);
    const outer = hosted.commit('outer', files, [{ path: 'sub', url: '../inner', oid: inner }]);
    const runner = new TestRunner(server.origin, 'owner/outer');
    runners.push(runner);
    const result = await run(runner, { ref: outer, submodules: 'true', 'persist-credentials': 'false' });
    expect(result.errors).toEqual([]);
    for (const path of ['s.bin', 'sub/s.bin']) {
      expect(readFileSync(join(runner.workspace, path)).equals(content), path).toBe(true);
    }
    expect(lfs.batches).toEqual([[lfsOid(content)], [lfsOid(content)]]);
    git(join(runner.workspace, 'sub'), ['update-index', '-q', '--really-refresh'], runner.environment);
    expectClean(runner);
    expect(filesHolding(runner.root, SECRETS)).toEqual([]);
  });

  it('works where git checks out', async () => {
    const runner = newRunner();
    expect((await run(runner, { lfs: 'false' })).errors).toEqual([]);
    for (const engineRunner of [runner, newRunner()]) {
      const result = await run(engineRunner, { engine: 'git', 'persist-credentials': 'false' });
      expect(result.errors).toEqual([]);
      expect(result.outputs['engine']).toBe('git');
      expect(filled(engineRunner)).toEqual(Object.keys(CONTENTS));
      expect(filesBelow(join(engineRunner.workspace, '.git', 'lfs')).filter((path) => path.includes('logs'))).toEqual(
        [],
      );
    }
  });
});
