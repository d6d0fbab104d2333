/** Fetching and the first half of a clone, from a real server, and what is left when they fail. */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { cloneSource, initForClone, makeClone } from '../../src/engine/fetch/clone.ts';
import { StreamOrGit } from '../../src/engine/run/fetch-route.ts';
import { fetchByGit } from '../../src/engine/fetch/fetch.ts';
import { listProcesses, worksIn } from '../../src/engine/host/processes.ts';
import type { CheckoutTarget, CloneRequest, EnginePorts, FetchRequest, Progress } from '../../src/engine/settings.ts';
import { type HttpServer, startHttpServer } from '../support/http-server.ts';
import { git, gitOverNetwork, recordingGit, Scratch } from './temp-repository.ts';
import { SHA256 } from '../../src/engine/oid.ts';

const scratch = new Scratch();
const upstream = scratch.repository(3);
git(upstream, 'branch', 'topic', 'HEAD~1');
git(upstream, 'tag', 'v1', 'HEAD~1');
git(upstream, 'commit', '-q', '--allow-empty', '-m', 'reachable from the tag only');
git(upstream, 'tag', '-a', '-m', 'x', 'v2');
git(upstream, 'reset', '-q', '--hard', 'HEAD~1');
git(upstream, 'update-ref', 'refs/pull/7/merge', 'HEAD~2');
const bare = `${upstream}.git`;
git('/', 'clone', '-q', '--mirror', upstream, bare);
const name = basename(bare);
const main = git(upstream, 'rev-parse', 'main');
// A pack that takes more than one read.
const big = scratch.repository(1);
writeFileSync(join(big, 'file'), randomBytes(400_000));
git(big, 'add', 'file');
git(big, 'commit', '-q', '-m', 'big');
git('/', 'clone', '-q', '--bare', big, join(dirname(bare), 'big.git'));

let server: HttpServer;
let guarded: HttpServer;
beforeAll(async () => {
  server = await startHttpServer({ root: dirname(bare) });
  guarded = await startHttpServer({ root: dirname(bare), token: 'sEcReT-token' });
});
afterEach(() => server.reset());
afterAll(async () => {
  await Promise.all([server.close(), guarded.close()]);
  scratch.remove();
});

interface Recorded extends EnginePorts {
  readonly lines: string[];
  readonly numbers: Progress[];
  readonly calls: readonly (readonly string[])[];
}

function ports(): Recorded {
  const lines: string[] = [];
  const numbers: Progress[] = [];
  const { git: process, calls } = recordingGit();
  return {
    git: process,
    calls,
    lines,
    numbers,
    observer: {
      info: (line) => lines.push(line),
      warning: (line) => lines.push(`warning: ${line}`),
      progress: (progress) => numbers.push(progress),
    },
  };
}

/** A repository with the server as its origin. */
function client(url: string): string {
  const path = scratch.path('client');
  git('/', 'init', '-q', path);
  git(path, 'remote', 'add', 'origin', url);
  return path;
}

const fetchOf = (directory: string, over: Partial<FetchRequest> = {}): FetchRequest => ({
  directory,
  remote: 'origin',
  refspecs: ['+refs/heads/main:refs/remotes/origin/main'],
  depth: 1,
  tags: false,
  prune: true,
  progress: false,
  transport: 'auto',
  limits: { attempts: 1 },
  ...over,
});

describe('fetchByGit', () => {
  it('brings what was asked for, shallow, without tags, and then the rest', async () => {
    const path = client(`${server.origin}/${name}`);
    const outcome = await fetchByGit(fetchOf(path), ports());
    expect(outcome.transport).toBe('git');
    expect(git(path, 'for-each-ref', '--format=%(refname) %(objectname)')).toBe(`refs/remotes/origin/main ${main}`);
    expect(git(path, 'rev-list', '--count', 'origin/main')).toBe('1');
    expect(server.requests.every(({ protocol }) => protocol === 'version=2')).toBe(true);
    const { depth: _, ...rest } = fetchOf(path, { unshallow: true, tags: true });
    await fetchByGit(rest, ports());
    expect(git(path, 'rev-list', '--count', 'origin/main')).toBe('3');
    expect(git(path, 'tag')).toBe('v1');
    expect(existsSync(join(path, '.git/shallow'))).toBe(false);
  });

  it('prunes, and filters', async () => {
    const path = client(`${server.origin}/${name}`);
    await gitOverNetwork(path, 'fetch', '-q', 'origin');
    git(path, 'update-ref', 'refs/remotes/origin/gone', main);
    const { depth: _, ...all } = fetchOf(path, { refspecs: ['+refs/heads/*:refs/remotes/origin/*'] });
    await fetchByGit({ ...all, filter: 'blob:none' }, ports());
    expect(git(path, 'branch', '-r', '--format=%(refname:short)')).toBe('origin/main\norigin/topic');
    expect(git(path, 'config', 'remote.origin.partialclonefilter')).toBe('blob:none');
  });

  it('tells progress, and keeps meters out of the log', async () => {
    const path = client(`${server.origin}/${name}`);
    const watched = ports();
    await fetchByGit(fetchOf(path, { progress: true }), watched);
    expect(watched.lines.some((line) => line.includes('-> origin/main'))).toBe(true);
    expect(watched.lines.filter((line) => /\d+%/.test(line)).every((line) => line.endsWith('done.'))).toBe(true);
    const quiet = ports();
    await fetchByGit(fetchOf(client(`${server.origin}/${name}`)), quiet);
    expect(quiet.lines).toEqual([]);
  });

  it('sends credentials of its environment, and shows them nowhere', async () => {
    const path = client(`${guarded.origin}/${name}`);
    const basic = Buffer.from('x-access-token:sEcReT-token').toString('base64');
    const env = {
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: `http.${guarded.origin}/.extraheader`,
      GIT_CONFIG_VALUE_0: `AUTHORIZATION: basic ${basic}`,
    };
    const used = ports();
    await fetchByGit(fetchOf(path, { env }), used);
    expect(git(path, 'rev-parse', 'origin/main')).toBe(main);
    expect(JSON.stringify([used.calls, used.lines])).not.toContain(basic);
    expect(readFileSync(join(path, '.git/config'), 'utf8')).not.toContain(basic);
  });

  it.each([
    ['a refused token', 'http://user:wrong-password@HOST', 'authentication-failed'],
    ['no token, and no prompt', 'http://HOST', 'authentication-failed'],
  ])('%s', async (_, url, code) => {
    const path = client(`${url.replace('HOST', guarded.origin.replace('http://', ''))}/${name}`);
    const failed = fetchByGit(fetchOf(path), ports());
    await expect(failed).rejects.toMatchObject({ code });
    await failed.catch((error: unknown) => expect(String(error)).not.toMatch(/wrong-password|\n/));
  });

  it.each([
    ['an unknown ref', { refspecs: ['refs/heads/none'] }, 'unknown-revision'],
    ['an unknown commit', { refspecs: ['1'.repeat(40)] }, 'unknown-revision'],
    ['an unknown remote', { remote: 'nowhere' }, 'fetch-failed'],
    ['an option for a remote', { remote: '--upload-pack=touch /tmp/owned' }, 'fetch-failed'],
  ] as const)('%s', async (_, over, code) => {
    await expect(fetchByGit(fetchOf(client(`${server.origin}/${name}`), over), ports())).rejects.toMatchObject({
      code,
    });
  });

  it.each([
    ['a server error', { kind: 'status', status: 500 }, undefined],
    ['an unknown repository', { kind: 'status', status: 404 }, undefined],
    ['a truncated answer', { kind: 'truncate', bytes: 200 }, /upload-pack$/],
    ['an empty answer', { kind: 'truncate', bytes: 0 }, /upload-pack$/],
    ['a connection cut', { kind: 'reset', bytes: 150 }, /upload-pack$/],
  ] as const)('%s leaves a repository that works', async (_, fault, path) => {
    const directory = client(`${server.origin}/${name}`);
    // Two requests: the refs, and the pack.
    server.fail({ fault, times: 2, ...(path === undefined ? {} : { path: /\/git-upload-pack$/ }) });
    const failed = fetchByGit(fetchOf(directory), ports());
    await expect(failed).rejects.toMatchObject({ code: 'fetch-failed' });
    expect(git(directory, 'for-each-ref')).toBe('');
    server.reset();
    await fetchByGit(fetchOf(directory), ports());
    git(directory, 'fsck', '--connectivity-only');
    expect(git(directory, 'rev-parse', 'origin/main')).toBe(main);
  });

  it('an unreachable server', async () => {
    await expect(fetchByGit(fetchOf(client('http://127.0.0.1:9/x')), ports())).rejects.toMatchObject({
      code: 'fetch-failed',
      message: expect.stringContaining('127.0.0.1') as string,
    });
  });

  it('tries again what may be over, and waits as long as the server asks', async () => {
    const path = client(`${server.origin}/${name}`);
    server.fail({ fault: { kind: 'status', status: 500 }, times: 1 });
    server.fail({ fault: { kind: 'status', status: 429, headers: { 'retry-after': '1' } }, times: 1 });
    const watched = ports();
    const start = performance.now();
    await fetchByGit(fetchOf(path, { limits: { retryDelayMs: 1 } }), watched);
    expect(performance.now() - start).toBeGreaterThan(1000);
    expect(git(path, 'rev-parse', 'origin/main')).toBe(main);
    const warnings = watched.lines.filter((line) => line.startsWith('warning: '));
    expect(warnings).toHaveLength(2);
    expect(warnings[0]).toMatch(/error: 500; trying again in \d ms$/);
    expect(warnings[1]).toMatch(/error: 429; trying again in 1 s$/);
  });

  it('does not wait longer than it is worth', async () => {
    const path = client(`${server.origin}/${name}`);
    server.fail({ fault: { kind: 'status', status: 503, headers: { 'Retry-After': '3600' } } });
    await expect(fetchByGit(fetchOf(path, { limits: { retryDelayMs: 1 } }), ports())).rejects.toMatchObject({
      code: 'fetch-failed',
      message: expect.stringMatching(/error: 503 \(the server asks to come back in 1 h\)$/) as string,
    });
    expect(server.requests).toHaveLength(1);
  });

  it.each([
    ['that hangs at once', { kind: 'hang' }, undefined, 'nothing came from the server for 400 ms'],
    ['that hangs with the pack', { kind: 'hang' }, /\/git-upload-pack$/, 'nothing came from the server for 400 ms'],
    [
      'that trickles',
      { kind: 'trickle', bytes: 200_000 },
      /\/git-upload-pack$/,
      'less than 1000 bytes a second came for 400 ms',
    ],
  ] as const)('stops an attempt at a server %s, and leaves nothing of it', async (_, fault, path, reason) => {
    const directory = client(`${server.origin}/big`);
    const limits = { attempts: 2, retryDelayMs: 1, stallMs: 400 };
    // The pack stays one.
    git(directory, 'config', 'fetch.unpackLimit', '1');
    const request = fetchOf(directory, { limits });
    server.fail({ fault, ...(path === undefined ? {} : { path }) });
    const failed = fetchByGit(request, ports());
    await expect(failed).rejects.toMatchObject({
      code: 'fetch-failed',
      message: `fetch from 'origin' failed: ${reason} (after 2 attempts)`,
    });
    expect(readdirSync(join(directory, '.git', 'objects', 'pack'))).toEqual([]);
    server.reset();
    await fetchByGit(request, ports());
    git(directory, 'fsck', '--connectivity-only');
  });

  it.each(['1', '100'])('does not stop an attempt that is slow (fetch.unpackLimit: %s)', async (limit) => {
    const directory = client(`${server.origin}/big`);
    git(directory, 'config', 'fetch.unpackLimit', limit);
    const fault = { kind: 'trickle', bytes: 370_000, bytesPerSecond: 20_000 } as const;
    server.fail({ fault, path: /\/git-upload-pack$/ });
    const started = performance.now();
    await fetchByGit(fetchOf(directory, { limits: { attempts: 1, stallMs: 1000 } }), ports());
    // Longer than the limit, or nothing would be shown.
    expect(performance.now() - started).toBeGreaterThan(1200);
    git(directory, 'fsck', '--connectivity-only');
  });

  it('stops an ssh that says nothing, and all that it has started', async () => {
    const directory = client('ssh://nobody@localhost/x');
    const env = { GIT_SSH_COMMAND: 'sleep 60 #', GIT_SSH_VARIANT: 'simple' };
    const failed = fetchByGit(fetchOf(directory, { env, limits: { attempts: 1, stallMs: 300 } }), ports());
    await expect(failed).rejects.toMatchObject({ message: expect.stringContaining('nothing came') as string });
    expect(listProcesses().filter((each) => worksIn(each, directory))).toEqual([]);
  });

  it('stops for good at the deadline', async () => {
    const directory = client(`${server.origin}/${name}`);
    server.fail({ fault: { kind: 'hang' } });
    await expect(fetchByGit(fetchOf(directory, { limits: { deadlineMs: 300 } }), ports())).rejects.toMatchObject({
      message: "fetch from 'origin' failed: it took longer than 300 ms",
    });
  });

  it('an abort ends a fetch that hangs, and leaves no lock', async () => {
    const directory = client(`${server.origin}/${name}`);
    server.fail({ fault: { kind: 'hang' }, path: /\/git-upload-pack$/ });
    const controller = new AbortController();
    const failed = fetchByGit(fetchOf(directory, { signal: controller.signal }), ports());
    setTimeout(() => controller.abort(), 200);
    await expect(failed).rejects.toMatchObject({ code: 'interrupted' });
    expect(readdirSync(join(directory, '.git')).filter((each) => each.endsWith('.lock'))).toEqual([]);
    // Nor what git started to talk to the server, which has still not answered.
    expect(listProcesses().filter((each) => worksIn(each, directory))).toEqual([]);
    server.reset();
    await fetchByGit(fetchOf(directory), ports());
    git(directory, 'fsck', '--connectivity-only');
  });
});

describe('makeClone', () => {
  const requestOf = (over: Partial<CloneRequest>): CloneRequest => ({
    url: `${server.origin}/${name}`,
    directory: scratch.path('clone'),
    config: [],
    workers: 'auto',
    memoryLimitBytes: 'auto',
    engine: 'auto',
    transport: 'auto',
    ...over,
  });

  /** Where git puts HEAD for a target. */
  function checkOut(directory: string, target: CheckoutTarget): void {
    if (target.kind === 'branch') git(directory, 'checkout', '-q', '-B', target.branch, target.startPoint);
    if (target.kind === 'detach') git(directory, 'checkout', '-q', '--detach', target.revision);
  }
  const state = (directory: string): unknown => ({
    head: git(directory, 'rev-parse', 'HEAD'),
    on: git(directory, 'rev-parse', '--abbrev-ref', 'HEAD'),
    refs: git(directory, 'for-each-ref', '--format=%(refname) %(objectname) %(symref)'),
    config: git(directory, 'config', '--local', '--list'),
    shallow: git(directory, 'rev-parse', '--is-shallow-repository'),
  });

  it.each([
    ['the remote’s HEAD at depth 1', { depth: 1 }, ['--depth=1']],
    ['the remote’s HEAD', {}, []],
    ['a branch at depth 1', { depth: 1, ref: 'topic' }, ['--depth=1', '-b', 'topic']],
    ['a tag at depth 2', { depth: 2, ref: 'v1' }, ['--depth=2', '-b', 'v1']],
    ['a tag that no branch reaches', { ref: 'v2' }, ['-b', 'v2']],
  ] as const)('%s: as git clone', async (_, over, options) => {
    const request = requestOf(over);
    const used = ports();
    const cloned = await makeClone(request, '/', used, new StreamOrGit(used));
    checkOut(cloned.directory, cloned.target!);
    const theirs = scratch.path('theirs');
    await gitOverNetwork('/', 'clone', '-q', ...options, request.url, theirs);
    const ours = state(cloned.directory);
    // origin/HEAD is not asked for where a ref is given, which saves a round trip; a tag alone is not a branch to follow.
    const expected = JSON.parse(
      JSON.stringify(state(theirs)).replace('ref' in over ? /refs\/remotes\/origin\/HEAD [^\\]*\\n/ : /(?!)/, ''),
    ) as unknown;
    expect(ours).toEqual(expected);
    expect(cloned.reflogMessage).toBe(`clone: from ${request.url}`);
    expect(used.calls.filter((args) => args.includes('ls-remote')).length).toBe(
      'ref' in over || 'depth' in over ? 0 : 1,
    );
    git(cloned.directory, 'fsck', '--connectivity-only');
    await gitOverNetwork(cloned.directory, 'fetch', '-q');
    if ('depth' in over && !('ref' in over)) await gitOverNetwork(cloned.directory, 'fetch', '-q', '--unshallow');
  });

  it('a commit id, a full ref, and a path that is no URL', async () => {
    const sha = git(upstream, 'rev-parse', 'main~1');
    for (const [over, expected] of [
      [{ ref: sha, depth: 1 }, sha],
      [{ ref: sha }, sha],
      [{ ref: 'refs/pull/7/merge', depth: 1 }, git(upstream, 'rev-parse', 'refs/pull/7/merge')],
      [{ ref: 'refs/heads/topic', depth: 1, url: bare }, git(upstream, 'rev-parse', 'topic')],
    ] as const) {
      const { directory, target } = await makeClone(requestOf(over), '/', ports(), new StreamOrGit(ports()));
      checkOut(directory, target!);
      expect(git(directory, 'rev-parse', 'HEAD')).toBe(expected);
      expect(git(directory, 'rev-list', '--count', 'HEAD')).toBe('depth' in over ? '1' : '2');
    }
  });

  it.each([
    ['the remote’s HEAD', {}, 1],
    ['a branch, whose format only the fetch tells', { ref: 'main' }, 1],
    ['a commit, whose id tells the format', { ref: 'COMMIT', depth: 1 }, 0],
  ] as const)('a remote of SHA-256: %s', async (_, over, madeAgain) => {
    const remote = scratch.path('sha256.git');
    git('/', 'init', '-q', '--bare', '-b', 'main', '--object-format=sha256', remote);
    const emptyTree = git(remote, 'hash-object', '-w', '-t', 'tree', '/dev/null');
    const head = git(remote, 'commit-tree', '-m', 'x', emptyTree);
    git(remote, 'update-ref', 'refs/heads/main', head);
    const used = ports();
    const url = `${server.origin}/${basename(remote)}`;
    const request = requestOf({ url, ...over, ...('depth' in over ? { ref: head } : {}) });
    const { directory, target } = await makeClone(request, '/', used, new StreamOrGit(used));
    checkOut(directory, target!);
    expect(git(directory, 'rev-parse', 'HEAD')).toBe(head);
    expect(git(directory, 'config', 'extensions.objectFormat')).toBe('sha256');
    expect(git(directory, 'config', 'remote.origin.url')).toBe(url);
    expect(used.calls.filter((args) => args.includes('init')).length).toBe(1 + madeAgain);
    git(directory, 'fsck', '--connectivity-only');
    await gitOverNetwork(directory, 'fetch', '-q');
  });

  it('a remote of the other format than git’s default, and a ref that it lacks', async () => {
    const env = { GIT_DEFAULT_HASH: 'sha256' };
    const used = ports();
    const inEnvironment: EnginePorts = { ...used, git: (run) => used.git({ ...run, env: { ...run.env, ...env } }) };
    const { directory } = await makeClone(
      requestOf({ url: bare, ref: 'topic', depth: 1 }),
      '/',
      inEnvironment,
      new StreamOrGit(inEnvironment),
    );
    expect(git(directory, 'rev-parse', '--show-object-format')).toBe('sha1');
    const failed = scratch.path('failed');
    const request = requestOf({ url: bare, ref: 'nope', directory: failed });
    await expect(makeClone(request, '/', inEnvironment, new StreamOrGit(inEnvironment))).rejects.toMatchObject({
      code: 'unknown-revision',
    });
    expect(existsSync(failed)).toBe(false);
  });

  it('an empty remote is no error', async () => {
    const empty = scratch.path('empty.git');
    git('/', 'init', '-q', '--bare', empty);
    const used = ports();
    const cloned = await makeClone(requestOf({ url: empty }), '/', used, new StreamOrGit(used));
    expect(cloned.target).toBeNull();
    expect(used.lines.join()).toMatch(/empty/);
    expect(git(cloned.directory, 'config', 'remote.origin.fetch')).toBe('+refs/heads/*:refs/remotes/origin/*');
  });

  it('a remote whose HEAD is on no branch', async () => {
    const detached = scratch.path('detached');
    git('/', 'clone', '-q', bare, detached);
    git(detached, 'checkout', '-q', '--detach', 'HEAD~1');
    const { directory, target } = await makeClone(
      requestOf({ url: detached, depth: 1 }),
      '/',
      ports(),
      new StreamOrGit(ports()),
    );
    checkOut(directory, target!);
    expect(git(directory, 'rev-parse', 'HEAD')).toBe(git(detached, 'rev-parse', 'HEAD'));
  });

  it('refuses a directory with something in it, and leaves it alone', async () => {
    const directory = scratch.path('full');
    mkdirSync(directory);
    writeFileSync(join(directory, 'mine'), '');
    await expect(makeClone(requestOf({ directory }), '/', ports(), new StreamOrGit(ports()))).rejects.toMatchObject({
      code: 'io',
    });
    expect(readdirSync(directory)).toEqual(['mine']);
    await expect(
      makeClone(requestOf({ directory: join(directory, 'mine') }), '/', ports(), new StreamOrGit(ports())),
    ).rejects.toThrow('not a directory');
  });

  it.each([
    ['an unknown ref', { ref: 'nope', depth: 1 }, 'unknown-revision'],
    ['an unknown commit', { ref: '2'.repeat(40), depth: 1 }, 'unknown-revision'],
    ['an impossible ref', { ref: 'a b' }, 'usage'],
    ['a depth of 0', { depth: 0 }, 'usage'],
  ] as const)('%s leaves nothing behind', async (_, over, code) => {
    const directory = scratch.path('failed');
    await expect(
      makeClone(requestOf({ ...over, directory }), '/', ports(), new StreamOrGit(ports())),
    ).rejects.toMatchObject({ code });
    expect(existsSync(directory)).toBe(false);
    mkdirSync(directory);
    await expect(
      makeClone(requestOf({ ...over, directory }), '/', ports(), new StreamOrGit(ports())),
    ).rejects.toMatchObject({ code });
    expect(readdirSync(directory)).toEqual([]);
  });

  it('keeps a password of the URL out of messages', async () => {
    const url = `http://u:pass-word@${guarded.origin.replace('http://', '')}/${name}`;
    const failed = makeClone(requestOf({ url, ref: 'main' }), '/', ports(), new StreamOrGit(ports()));
    await expect(failed).rejects.toMatchObject({ code: 'authentication-failed' });
    await failed.catch((error: unknown) => expect(String(error)).not.toContain('pass-word'));
  });
});

describe('the pieces of a clone', () => {
  it('cloneSource tells paths from URLs', () => {
    expect(cloneSource(basename(upstream), dirname(upstream))).toBe(upstream);
    expect(cloneSource('https://h/x', '/')).toBe('https://h/x');
    expect(cloneSource('git@h:x/y', '/')).toBe('git@h:x/y');
    for (const bad of ['nowhere', '', '--upload-pack=x', 'https://h/\nx']) {
      expect(() => cloneSource(bad, '/nowhere')).toThrow(expect.objectContaining({ code: 'usage' }));
    }
  });

  it('initForClone leaves what git clone would, and takes all of it back', async () => {
    const directory = scratch.path('new');
    const made = await initForClone(directory, 'https://h/x "y"', ports(), { objectFormat: SHA256 });
    expect(git(directory, 'config', 'remote.origin.url')).toBe('https://h/x "y"');
    expect(git(directory, 'rev-parse', '--show-object-format')).toBe('sha256');
    made.remove();
    expect(existsSync(directory)).toBe(false);
  });
});
