// The step on a runner without git: the files come as an archive from the REST interface.
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ARCHIVE_SECRET, startRestServer, type RestServer } from '../support/rest-server.ts';
import { startProxy } from '../support/proxy.ts';
import { makeCertificate, whyNoCertificate } from '../support/tls.ts';
import { git, makeFixture, type Fixture } from './git-fixture.ts';
import { filesBelow, filesHolding, TestRunner, type StepOptions, type StepResult } from './run-action.ts';

const TOKEN = 'a-long-token-of-a-test';
const fixture: Fixture = makeFixture();
let server: RestServer;
let runner: TestRunner;

beforeAll(async () => {
  const work = join(fixture.root, 'work');
  git(work, ['checkout', '-q', 'main']);
  writeFileSync(join(work, 'run.sh'), '#!/bin/sh\n', { mode: 0o755 });
  // A link, to outside too, and a submodule, which an archive has as an empty directory.
  git(work, ['update-index', '--add', '--cacheinfo', `160000,${fixture.commits.old},sub`]);
  symlinkSync('../../outside', join(work, 'dir0', 'link'));
  git(work, ['add', 'run.sh', 'dir0/link']);
  git(work, ['commit', '-q', '-m', 'all kinds']);
  git(work, ['push', '-q', fixture.bare, 'main']);
  server = await startRestServer(fixture.bare, TOKEN);
});
afterAll(async () => {
  await server.close();
  fixture.remove();
});
beforeEach(() => {
  runner = new TestRunner('http://127.0.0.1:9', 'owner/repo');
  server.onArchive = null;
});
afterEach(() => runner.remove());

function run(options: StepOptions = {}): Promise<StepResult> {
  return runner.main({
    ...options,
    inputs: { token: TOKEN, ...options.inputs },
    env: { PATH: runner.home, GITHUB_API_URL: server.origin, GITHUB_REF: 'refs/heads/main', ...options.env },
  });
}

const main = (): string => git(fixture.bare, ['rev-parse', 'main']);

it('has the files of the commit, and says what is missing', async () => {
  const commit = main();
  // What was there goes, and with it an earlier checkout's token, which lies elsewhere.
  const credentials = join(runner.temp, 'git-credentials-00000000-0000-0000-0000-000000000000.config');
  writeFileSync(credentials, 'a secret');
  mkdirSync(join(runner.workspace, '.git'));
  const include = `[includeIf "gitdir:${runner.workspace}/.git"]\n\tpath = ${credentials}\n`;
  writeFileSync(join(runner.workspace, '.git', 'config'), include);
  writeFileSync(join(runner.workspace, 'untracked'), '');
  const before = server.requests.length;

  const inputs = { 'fetch-depth': '0', 'sparse-checkout': 'dir0' };
  const result = await run({ env: { GITHUB_SHA: commit }, inputs });
  expect(result.errors).toEqual([]);
  expect(result.exitCode).toBe(0);
  expect(result.warnings).toHaveLength(1);
  expect(result.warnings[0]).toContain('no repository');
  expect(result.warnings[0]).toContain('without effect: sparse-checkout, fetch-depth');

  const names = git(fixture.bare, ['ls-tree', '-r', '--name-only', 'main']).split('\n');
  for (const name of names) {
    const path = join(runner.workspace, name);
    if (name === 'sub') expect(readdirSync(path)).toEqual([]);
    else if (name === 'dir0/link') expect(readlinkSync(path)).toBe('../../outside');
    else expect(readFileSync(path, 'utf8').trim()).toBe(git(fixture.bare, ['cat-file', 'blob', `main:${name}`]));
  }
  expect(filesBelow(runner.workspace)).toHaveLength(names.length - 2);
  if (process.platform !== 'win32') {
    expect(lstatSync(join(runner.workspace, 'run.sh')).mode & 0o100).toBe(0o100);
    expect(lstatSync(join(runner.workspace, 'README.md')).mode & 0o100).toBe(0);
  }
  expect(existsSync(credentials)).toBe(false);

  expect(result.outputs).toMatchObject({ commit, ref: 'refs/heads/main', engine: 'archive', workers: '0' });
  expect(result.outputs['files']).toBe(String(names.length - 1));
  // Nothing is left to do after the job.
  expect(result.state).toEqual({});
  expect((await runner.post(result)).exitCode).toBe(0);

  // The archive server is another host.
  expect(server.requests.slice(before)).toEqual([
    { line: `GET /repos/owner/repo/tarball/${commit}`, authorization: `token ${TOKEN}` },
    { line: `GET /legacy.tar.gz/${commit}?token=${ARCHIVE_SECRET}`, authorization: undefined },
  ]);
  for (const secret of [TOKEN, ARCHIVE_SECRET]) {
    expect(result.log + result.stderr).not.toContain(secret);
    expect(filesHolding(runner.root, [secret])).toEqual([]);
  }
});

it('asks for the default branch of another repository, and for a ref as it was given', async () => {
  const before = server.requests.length;
  const other = { GITHUB_REPOSITORY: 'owner/other', GITHUB_SHA: main() };
  const inputs = { path: 'a/b' };
  const results = [await run({ env: other, inputs }), await run({ env: other, inputs: { ref: 'feature/x' } })];
  expect(results.map(({ exitCode }) => exitCode)).toEqual([0, 0]);
  expect(results.map(({ outputs }) => outputs['ref'])).toEqual(['', 'feature/x']);
  expect(results.map(({ outputs }) => outputs['commit'])).toEqual([main(), fixture.commits.feature]);
  expect(readFileSync(join(runner.workspace, 'README.md'), 'utf8')).toBe('feature\n');
  const lines = server.requests.slice(before).map(({ line }) => line.replace(/\?.*/, ''));
  expect(lines).toEqual([
    'GET /repos/owner/repo',
    'GET /repos/owner/repo/tarball/main',
    'GET /legacy.tar.gz/main',
    'GET /repos/owner/repo/tarball/feature%2Fx',
    'GET /legacy.tar.gz/feature%2Fx',
  ]);
});

describe('ends in one clear error', () => {
  it('before anything is touched, where an input needs git', async () => {
    writeFileSync(join(runner.workspace, 'kept'), '');
    const before = server.requests.length;
    const inputs = { engine: 'git', transport: 'git', verify: 'true', lfs: 'true', submodules: 'recursive' };
    const results = await Promise.all(
      Object.entries(inputs).map(([name, value]) => run({ inputs: { [name]: value } })),
    );
    expect(results.map(({ errors }) => errors)).toEqual(
      Object.keys(inputs).map((name) => [expect.stringContaining(`input '${name}'`) as string]),
    );
    expect(results[0]?.errors[0]).toMatch(/^git is not in PATH, and input 'engine' needs it/);
    expect(readdirSync(runner.workspace)).toEqual(['kept']);
    expect(server.requests).toHaveLength(before);
  });

  it('for a ref that is not there', async () => {
    const result = await run({ inputs: { ref: 'no-such-ref' } });
    expect(result.exitCode).toBe(1);
    expect(result.errors).toEqual([expect.stringContaining("no archive of 'no-such-ref'")]);
    const report = JSON.parse(readFileSync(result.outputs['report']!, 'utf8')) as { error: { code: string } };
    expect(report.error.code).toBe('unknown-revision');
  });

  it('for a token that is refused', async () => {
    const result = await run({ inputs: { token: 'another-long-token', ref: 'main' } });
    expect(result.errors).toEqual([expect.stringContaining('answered 401: Bad credentials')]);
    expect(result.log).not.toContain('another-long-token');
  });

  it('with an empty directory, when it is cancelled while the archive comes', async () => {
    const abort = new AbortController();
    const stop = (): void => abort.abort();
    server.onArchive = (response) => {
      const args = ['--git-dir', fixture.bare, 'archive', '--format=tar.gz', '--prefix=x/', 'main'];
      const archive = execFileSync('git', args);
      response.write(archive.subarray(0, archive.length - 20));
      setTimeout(stop, 200);
    };
    const result = await run({ inputs: { ref: 'main' }, signal: abort.signal });
    expect(result.exitCode).toBe(1);
    expect(result.errors).toEqual(['interrupted while the archive was fetched']);
    expect(readdirSync(runner.workspace)).toEqual([]);
  });
});

const noCertificate = whyNoCertificate();
describe.skipIf(noCertificate !== null)(`https${noCertificate === null ? '' : ` (skipped: ${noCertificate})`}`, () => {
  it('goes through a proxy, and needs the authority to be known', async () => {
    const certificate = makeCertificate(fixture.root);
    const [secure, proxy] = await Promise.all([
      startRestServer(fixture.bare, TOKEN, certificate),
      startProxy('user:a-password'),
    ]);
    try {
      const env = { GITHUB_API_URL: secure.origin, https_proxy: proxy.origin.replace('//', '//user:a-password@') };
      const start = (path: string, authorities: Readonly<Record<string, string>>): Promise<StepResult> =>
        run({ inputs: { path }, env: { ...env, ...authorities, GITHUB_SHA: main() } });
      const [known, system, unknown] = await Promise.all([
        start('a', { NODE_EXTRA_CA_CERTS: certificate.caFile }),
        // Where the system keeps its authorities; Windows and macOS have other places, which a test must not change.
        process.platform === 'linux' ? start('b', { SSL_CERT_FILE: certificate.caFile }) : null,
        start('c', {}),
      ]);
      expect(system?.errors ?? []).toEqual([]);
      expect(known.errors).toEqual([]);
      expect(readFileSync(join(runner.workspace, 'a', 'README.md'), 'utf8')).toBe('main\n');
      // At once, not after two more attempts.
      expect(unknown.errors).toEqual([expect.stringMatching(/self-signed certificate .*NODE_EXTRA_CA_CERTS/)]);
      expect(unknown.log).not.toContain('trying again');

      const ports = proxy.requests.map((line) => line.replace(/^CONNECT 127\.0\.0\.1:/, ''));
      expect(ports).toHaveLength(system === null ? 3 : 5);
      expect(new Set(ports).size).toBe(2);
      // The proxy sees who asks, not what for.
      expect(proxy.headers.join('\n')).not.toContain(TOKEN);
      for (const { log, stderr } of [known, unknown]) expect(log + stderr).not.toContain('a-password');
    } finally {
      await Promise.all([secure.close(), proxy.close()]);
    }
  });
});
