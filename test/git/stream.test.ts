/**
 * Fetches that are streamed, from real servers: what they leave is what `git fetch --depth` leaves, whatever later steps do with it; what keeps a
 * fetch from being streamed; and that git is tried where the stream fails.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { checkout, clone, fetch } from '../../src/engine/engine.ts';
import type { CheckoutRequest, CloneRequest, EnginePorts, FetchRequest } from '../../src/engine/settings.ts';
import { type HttpServer, startHttpServer } from '../support/http-server.ts';
import { ROOMY_HOST } from '../support/ours.ts';
import { git, gitOverNetwork, recordingGit, Scratch } from './temp-repository.ts';

const scratch = new Scratch();
const upstream = scratch.repository(3);
for (let i = 0; i < 150; i++) {
  mkdirSync(join(upstream, `d${i % 7}`), { recursive: true });
  writeFileSync(join(upstream, `d${i % 7}`, `f${i}`), `${'some line\n'.repeat(i % 40)}${i}\n`);
}
// A family of deltas on an object that is larger than the scratch buffers.
const noise = Array.from({ length: 60_000 }, (_, i) => `${i * 7919} ${(i * 104_729) % 1_000_003}\n`);
for (let i = 0; i < 4; i++) writeFileSync(join(upstream, `large${i}`), [...noise, `${i}\n`].join(''));
writeFileSync(join(upstream, '.gitattributes'), '*.crlf eol=crlf\n/d1/** text\n');
writeFileSync(join(upstream, 'windows.crlf'), 'a\nb\n');
git(upstream, 'add', '.');
git(upstream, 'commit', '-q', '-m', 'many');
git(upstream, 'tag', '-a', '-m', 'x', 'v1');
git(upstream, 'tag', 'light');
git(upstream, 'branch', 'topic', 'HEAD~1');
const bare = `${upstream}.git`;
git('/', 'clone', '-q', '--mirror', upstream, bare);
git(bare, 'repack', '-q', '-adf', '--depth=50');
const name = basename(bare);
const main = git(upstream, 'rev-parse', 'main');

let server: HttpServer;
beforeAll(async () => {
  server = await startHttpServer({ root: dirname(bare) });
});
afterEach(() => server.reset());
afterAll(async () => {
  await server.close();
  scratch.remove();
});

interface Recorded extends EnginePorts {
  readonly warnings: string[];
  readonly calls: readonly (readonly string[])[];
}

function ports(): Recorded {
  const warnings: string[] = [];
  const { git: process, calls } = recordingGit();
  const observer = { info: () => undefined, warning: (line: string) => warnings.push(line), progress: () => undefined };
  return { git: process, calls, warnings, observer };
}

const cloneRequest = (over: Partial<CloneRequest> = {}): CloneRequest => ({
  url: `${server.origin}/${name}`,
  directory: scratch.path('clone'),
  depth: 1,
  config: [],
  workers: 2,
  memoryLimitBytes: 'auto',
  hostFacts: ROOMY_HOST,
  engine: 'auto',
  transport: 'auto',
  ...over,
});

/** An empty repository with its remote. */
function empty(...options: string[]): string {
  const directory = scratch.path('empty');
  git('/', 'init', '-q', ...options, directory);
  git(directory, 'remote', 'add', 'origin', `${server.origin}/${name}`);
  return directory;
}

const fetchRequest = (directory: string, over: Partial<FetchRequest> = {}): FetchRequest => ({
  directory,
  remote: 'origin',
  refspecs: [`+${main}:refs/remotes/origin/main`, '+refs/tags/v1:refs/tags/v1'],
  depth: 1,
  tags: false,
  prune: false,
  progress: false,
  transport: 'auto',
  ...over,
});

const ahead = (directory: string): CheckoutRequest => ({
  directory,
  target: { kind: 'branch', branch: 'main', startPoint: 'refs/remotes/origin/main' },
  config: [],
  workers: 2,
  memoryLimitBytes: 'auto',
  hostFacts: ROOMY_HOST,
  engine: 'auto',
  transport: 'auto',
});

const packs = (directory: string): string[] => readdirSync(join(directory, '.git/objects/pack')).sort();
const read = (directory: string, file: string): string => readFileSync(join(directory, '.git', file), 'utf8');

/** What can be seen of a fetch; times are masked. */
function left(directory: string): unknown {
  return {
    refs: git(directory, 'for-each-ref', '--format=%(refname) %(objectname) %(objecttype)'),
    fetchHead: read(directory, 'FETCH_HEAD'),
    shallow: read(directory, 'shallow'),
    log: read(directory, 'logs/refs/remotes/origin/main').replace(/^(\S+ \S+) .*?> \d+ [+-]\d{4}\t/, '$1 WHO\t'),
    config: git(directory, 'config', '--local', '--list').split('\n').sort(),
  };
}

describe('a streamed fetch', () => {
  it('leaves what git leaves', async () => {
    const [ours, theirs] = [empty(), empty()];
    const used = ports();
    const request = fetchRequest(ours);
    const outcome = await fetch(request, used);
    expect(outcome).toMatchObject({ transport: 'stream', received: { requests: 3 } });
    expect(used.calls.filter((args) => args.includes('fetch'))).toEqual([]);
    const args = ['fetch', '--no-tags', '--no-recurse-submodules', '--progress', '--depth=1', '--', 'origin'];
    await gitOverNetwork(theirs, ...args, ...request.refspecs);
    expect(left(ours)).toEqual(left(theirs));
    const [idx = '', pack = '', rev = ''] = packs(ours);
    expect([idx, pack, rev].map((file) => file.replace(/^pack-[0-9a-f]{40}\./, ''))).toEqual(['idx', 'pack', 'rev']);
    for (const file of packs(ours)) {
      expect(statSync(join(ours, '.git/objects/pack', file)).mode & 0o777, file).toBe(0o444);
    }
    // Byte for byte what git makes of the same pack.
    const copy = scratch.path('copy');
    writeFileSync(`${copy}.pack`, readFileSync(join(ours, '.git/objects/pack', pack)));
    git('/', 'index-pack', '--rev-index', `${copy}.pack`);
    for (const [file, ending] of [
      [idx, 'idx'],
      [rev, 'rev'],
    ] as const) {
      expect(readFileSync(`${copy}.${ending}`).equals(readFileSync(join(ours, '.git/objects/pack', file)))).toBe(true);
    }
    git(ours, 'fsck', '--full', '--strict');
    git(ours, 'verify-pack', join(ours, '.git/objects/pack', idx));
  });

  it('writes the files while the pack comes, and later git commands work on', async () => {
    const directory = empty();
    const used = ports();
    const outcome = await fetch(fetchRequest(directory, { ahead: ahead(directory) }), used);
    expect(outcome.begun).toBeDefined();
    const report = await checkout(ahead(directory), used, outcome);
    expect(report).toMatchObject({ engine: 'native', transport: 'stream', fallbacks: [] });
    expect(report.error).toBeUndefined();
    expect(report.workers.length).toBeGreaterThanOrEqual(2);
    expect(report.workers.reduce((sum, { files }) => sum + files, 0)).toBe(report.totals.files);
    expect(git(directory, 'status', '--porcelain', '--ignored')).toBe('');
    const expected = scratch.path('expected');
    await gitOverNetwork('/', 'clone', '-q', '--depth=1', `${server.origin}/${name}`, expected);
    expect(git(directory, 'ls-files', '-s')).toBe(git(expected, 'ls-files', '-s'));
    expect(readFileSync(join(directory, 'windows.crlf'), 'latin1')).toBe('a\r\nb\r\n');
    expect(readFileSync(join(directory, 'large3')).equals(readFileSync(join(expected, 'large3')))).toBe(true);

    await gitOverNetwork(directory, 'fetch', '-q', 'origin', 'topic');
    await gitOverNetwork(directory, 'fetch', '-q', '--unshallow');
    expect(Number(git(directory, 'rev-list', '--count', 'HEAD'))).toBe(
      Number(git(upstream, 'rev-list', '--count', 'main')),
    );
    git(directory, 'worktree', 'add', '-q', '--detach', scratch.path('worktree'), 'HEAD~1');
    git(directory, 'commit', '-q', '--allow-empty', '-m', 'ours');
    const sink = scratch.path('sink');
    git('/', 'init', '-q', '--bare', sink);
    git(directory, 'push', '-q', sink, 'HEAD:refs/heads/pushed');
    git(directory, 'gc', '-q', '--prune=now');
    git(directory, 'fsck', '--full');
  });

  it('with blob:none leaves a partial clone', async () => {
    const [ours, theirs] = [empty(), empty()];
    const request = fetchRequest(ours, { filter: 'blob:none', transport: 'stream' });
    expect((await fetch(request, ports())).transport).toBe('stream');
    const args = [
      '--no-tags',
      '--no-recurse-submodules',
      '--progress',
      '--filter=blob:none',
      '--depth=1',
      '--',
      'origin',
    ];
    await gitOverNetwork(theirs, 'fetch', ...args, ...request.refspecs);
    expect(left(ours)).toEqual(left(theirs));
    expect(packs(ours).map((file) => file.split('.')[1])).toEqual(['idx', 'pack', 'promisor', 'rev']);
    git(ours, 'fsck', '--full');
    await gitOverNetwork(ours, 'checkout', '-q', '-B', 'main', 'refs/remotes/origin/main');
    expect(git(ours, 'status', '--porcelain')).toBe('');
  });

  it('of a tag, a branch, the default branch and a commit: as git clone, in three requests at most', async () => {
    for (const ref of [undefined, 'topic', 'v1', main]) {
      server.reset();
      const request = cloneRequest(ref === undefined ? {} : { ref });
      const report = await clone(request, ports());
      expect(report.error).toBeUndefined();
      expect(report.transport).toBe('stream');
      expect(
        server.requests.length,
        server.requests.map(({ method, path, status }) => `${method} ${path} ${status}`).join('\n'),
      ).toBeLessThanOrEqual(3);
      expect(git(request.directory, 'status', '--porcelain')).toBe('');
      expect(git(request.directory, 'rev-parse', 'HEAD')).toBe(git(upstream, 'rev-parse', `${ref ?? 'main'}^{commit}`));
    }
  });

  it('of a repository without tags asks for them once', async () => {
    const plain = scratch.repository(1);
    const report = await clone(cloneRequest({ url: `${server.origin}/${basename(plain)}/.git` }), ports());
    expect(report.received?.requests).toBe(3);
  });

  it('of a repository that names its objects by SHA-256', async () => {
    const modern = scratch.path('modern');
    git('/', 'init', '-q', '--object-format=sha256', '-b', 'main', modern);
    writeFileSync(join(modern, 'file'), 'x\n');
    git(modern, 'add', '.');
    git(modern, 'commit', '-q', '-m', 'one');
    const request = cloneRequest({ url: `${server.origin}/${basename(modern)}/.git` });
    const report = await clone(request, ports());
    expect(report).toMatchObject({ transport: 'stream', totals: { files: 1 } });
    expect(git(request.directory, 'fsck', '--full')).toBe('');
  });
});

describe('what is not streamed', () => {
  it.each([
    ['all of the history', {}, { depth: undefined }, /all of the history is wanted/],
    ['another filter', {}, { filter: 'tree:0' }, /filtered by 'tree:0'/],
    ['an unknown setting', { 'http.cookieFile': '/nowhere' }, {}, /http\.cookiefile is set/],
    ['checks of what comes', { 'fetch.fsckObjects': 'true' }, {}, /are to be checked/],
    ['protocol version 0', { 'protocol.version': '0' }, {}, /protocol\.version is below 2/],
  ] as const)('%s', async (_, config, over, reason) => {
    const directory = empty();
    for (const [key, value] of Object.entries(config)) git(directory, 'config', key, value);
    const { depth, ...request } = { ...fetchRequest(directory), ...over };
    const used = ports();
    const wanted = { ...request, ...(depth === undefined ? {} : { depth }) };
    const outcome = await fetch(wanted, used);
    expect(outcome.transport).toBe('git');
    expect(outcome.reasons.map(({ text }) => text).join('\n')).toMatch(reason);
    expect(used.warnings).toEqual([]);
    git(directory, 'rev-parse', '--verify', 'refs/remotes/origin/main');
    const forced = fetch({ ...wanted, directory: empty(), transport: 'stream' }, ports());
    if (Object.keys(config).length === 0) {
      await expect(forced).rejects.toMatchObject({
        code: 'unsupported',
        message: expect.stringMatching(reason) as string,
      });
    } else {
      await forced;
    }
  });

  it('a repository that has objects: git builds on them', async () => {
    const directory = empty();
    await fetch(fetchRequest(directory), ports());
    const again = await fetch(
      fetchRequest(directory, { refspecs: ['+refs/heads/topic:refs/remotes/origin/topic'] }),
      ports(),
    );
    expect(again.reasons.map(({ text }) => text)).toEqual(['git, since the repository has objects to build on']);
  });
});

describe.skipIf(process.platform === 'win32')('a server that counts for longer than it may be silent', () => {
  const hook = join(dirname(bare), 'slow-pack-objects');
  const config = join(dirname(bare), '.gitconfig');
  beforeAll(() => {
    const count = 'for i in 1 2 3 4 5 6 7 8 9; do echo "Counting objects: $i" >&2; sleep 0.25; done';
    writeFileSync(hook, `#!/bin/sh\n${count}\nexec "$@"\n`, { mode: 0o755 });
    // The server's own configuration: its HOME.
    writeFileSync(config, `[uploadpack]\n\tpackObjectsHook = ${hook}\n`);
  });
  afterAll(() => rmSync(config));

  it('is waited for, by both ways', async () => {
    const limits = { attempts: 1, stallMs: 1500 };
    const wait = async (transport: 'stream' | 'git'): Promise<void> => {
      const directory = empty();
      const used = ports();
      const { ms } = await fetch(fetchRequest(directory, { transport, limits }), used);
      expect(ms).toBeGreaterThan(2000);
      expect(used.warnings).toEqual([]);
      git(directory, 'fsck', '--connectivity-only');
    };
    await Promise.all([wait('stream'), wait('git')]);
  });
});

describe('a stream that fails', () => {
  it.each([
    ['garbage', { kind: 'garbage', bytes: 3000 }],
    ['a pack that ends early', { kind: 'truncate', bytes: 3000 }],
  ] as const)('%s: git is tried, once, and the report says so', async (_, fault) => {
    const directory = empty();
    server.fail({ fault, path: /\/git-upload-pack$/, times: 1 });
    const refspecs = [`+${main}:refs/remotes/origin/main`];
    const used = ports();
    const outcome = await fetch(
      fetchRequest(directory, { refspecs, ahead: ahead(directory), limits: { retryDelayMs: 1 } }),
      used,
    );
    expect(outcome.transport).toBe('git');
    expect(used.warnings).toHaveLength(1);
    expect(readdirSync(directory)).toEqual(['.git']);
    expect(existsSync(join(directory, '.git/index'))).toBe(false);
    const report = await checkout(ahead(directory), used, outcome);
    expect(report.fallbacks).toMatchObject([{ stage: 'fetch' }]);
    expect(report.totals.files).toBeGreaterThan(150);
    expect(git(directory, 'status', '--porcelain')).toBe('');
    expect(packs(directory).filter((file) => file.startsWith('tmp'))).toEqual([]);
  });

  it('leaves nothing where git is not to be used', async () => {
    const directory = empty();
    server.fail({ fault: { kind: 'truncate', bytes: 60_000 }, path: /\/git-upload-pack$/ });
    const request = fetchRequest(directory, { ahead: ahead(directory), transport: 'stream', limits: { attempts: 1 } });
    await expect(fetch({ ...request, refspecs: [main] }, ports())).rejects.toMatchObject({ code: 'fetch-failed' });
    expect(readdirSync(directory)).toEqual(['.git']);
    expect(packs(directory)).toEqual([]);
    expect(existsSync(join(directory, '.git/shallow'))).toBe(false);
  });
});
