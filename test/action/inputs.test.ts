// What stops the step before anything is touched, each by name; and inputs whose effect is not on the refs.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startHttpServer, type HttpServer } from '../support/http-server.ts';
import { git, makeFixture, type Fixture } from './git-fixture.ts';
import { TestRunner, type StepOptions } from './run-action.ts';

const fixture: Fixture = makeFixture();
let server: HttpServer;
let runner: TestRunner;

beforeAll(async () => {
  server = await startHttpServer({ root: fixture.root });
});
afterAll(async () => {
  await server.close();
  fixture.remove();
});
beforeEach(() => {
  server.reset();
  runner = new TestRunner(server.origin, 'owner/repo');
});
afterEach(() => runner.remove());

describe('an input that cannot be honoured', () => {
  const refused: readonly (readonly [name: string, value: string])[] = [
    ['ssh-key', '-----BEGIN SECRET KEY-----'],
    ['sparse-checkout', '/dir/*'],
    ['submodule-jobs', '9'],
    ['transport', 'carrier pigeon'],
    ['engine', 'steam'],
    ['workers', 'many'],
    ['memory-limit', 'lots'],
    ['annotations', 'maybe'],
    ['fetch-retries', 'many'],
    ['fetch-stall-timeout', '-1'],
    ['fetch-timeout', '1.5'],
    ['summary', 'maybe'],
    ['repository', 'owner'],
    ['repository', 'owner/repo/more'],
    ['repository', '/repo'],
    ['token', ''],
    ['path', '../elsewhere'],
    ['path', '/etc'],
    ['github-server-url', 'ftp://example.com'],
    ['github-server-url', 'not an address'],
    ['ref', 'refs/heads/a..b'],
  ];
  it.each(refused)('%s: %s', async (name, value) => {
    writeFileSync(join(runner.workspace, 'kept'), '');
    const result = await runner.main({ inputs: { [name]: value } });
    expect(result.exitCode).toBe(1);
    expect(result.errors).toHaveLength(1);
    expect(result.errors[0]).toContain(name);
    expect(result.log + result.stderr).not.toContain('SECRET KEY');
    expect(result.state).toEqual({});
    expect(result.gitCommands).toEqual([]);
    expect(server.requests).toEqual([]);
    expect(readdirSync(runner.workspace)).toEqual(['kept']);
    expect(readdirSync(runner.temp)).toEqual([]);
  });

  it.each(['GITHUB_WORKSPACE', 'RUNNER_TEMP'])('%s', async (name) => {
    const result = await runner.main({ env: { [name]: undefined } });
    expect([result.exitCode, result.errors.length]).toEqual([1, 1]);
    expect(result.errors[0]).toContain(name);
    const missing = await runner.main({ env: { [name]: join(runner.root, 'missing') } });
    expect(missing.errors[0]).toMatch(new RegExp(`${name} '.*missing' is not a directory`));
  });
});

describe('the fork guard', () => {
  const event = {
    repository: { id: 1, full_name: 'owner/repo' },
    pull_request: { head: { sha: fixture.commits.pull, repo: { id: 2, full_name: 'mallory/repo' } } },
  };
  const options: StepOptions = {
    event,
    env: { GITHUB_EVENT_NAME: 'pull_request_target', GITHUB_REF: 'refs/heads/main', GITHUB_SHA: fixture.commits.main },
    inputs: { ref: 'refs/pull/7/merge' },
  };

  it('refuses before anything is touched', async () => {
    const result = await runner.main(options);
    expect(result.exitCode).toBe(1);
    expect(result.errors).toHaveLength(1);
    expect(result.errors[0]).toMatch(/pull_request_target.*gh\.io.*allow-unsafe-pr-checkout/);
    expect(readdirSync(runner.workspace)).toEqual([]);
    expect(server.requests).toEqual([]);
  });

  it('knows every spelling that would be fetched', async () => {
    const result = await runner.main({ ...options, inputs: { ref: 'Refs/PULL/7/merge' } });
    expect(result.errors).toEqual([expect.stringContaining('allow-unsafe-pr-checkout')]);
    expect(server.requests).toEqual([]);
  });

  it('gives way to allow-unsafe-pr-checkout, and lets the default through', async () => {
    const allowed = await runner.main({
      ...options,
      inputs: { ...options.inputs, 'allow-unsafe-pr-checkout': 'true' },
    });
    expect(allowed.errors).toEqual([]);
    expect(allowed.outputs['commit']).toBe(fixture.commits.pull);
    const base = await runner.main({ ...options, inputs: {} });
    expect(base.errors).toEqual([]);
    expect(base.outputs['commit']).toBe(fixture.commits.main);
  });
});

describe('the outcome', () => {
  it('is told by outputs, report, annotations and summary', async () => {
    const result = await runner.main({ inputs: { ref: 'main' } });
    expect(result.errors).toEqual([]);
    const { report: path, ...outputs } = result.outputs;
    const report = JSON.parse(readFileSync(path!, 'utf8')) as {
      commit: string;
      engine: string;
      totals: { files: number; bytesWritten: number; wallMs: number; peakRssBytes: number };
    };
    const { totals } = report;
    expect(outputs).toEqual({
      ref: 'main',
      commit: fixture.commits.main,
      engine: report.engine,
      workers: expect.stringMatching(/^\d+$/) as string,
      files: String(totals.files),
      bytes: String(totals.bytesWritten),
      'duration-ms': String(Math.round(totals.wallMs)),
      'peak-memory-bytes': String(Math.round(totals.peakRssBytes)),
    });
    expect(report.commit).toBe(fixture.commits.main);
    expect(result.commands.some(({ name, properties }) => name === 'notice' && properties['title'] !== undefined)).toBe(
      true,
    );
    expect(result.summary).toContain(fixture.commits.main);
    const names = result.commands.map(({ name }) => name);
    expect(names.indexOf('add-matcher')).toBeGreaterThanOrEqual(0);
    expect(names.indexOf('remove-matcher')).toBeGreaterThan(names.indexOf('add-matcher'));
    const matcher = result.commands.find(({ name }) => name === 'add-matcher')!.message;
    expect(JSON.parse(readFileSync(matcher, 'utf8'))).toMatchObject({ problemMatcher: [{ owner: 'checkout-git' }] });
    expect(names.filter((name) => name === 'group')).toHaveLength(names.filter((name) => name === 'endgroup').length);
  });

  it('is quiet where that is asked for', async () => {
    const result = await runner.main({ inputs: { ref: 'main', annotations: 'false', summary: 'false' } });
    expect(result.errors).toEqual([]);
    expect(result.commands.filter(({ name }) => name === 'notice')).toEqual([]);
    expect(result.summary).toBe('');
    expect(existsSync(result.outputs['report']!)).toBe(true);
  });

  it('goes on where the runner has no file for the summary', async () => {
    const result = await runner.main({ inputs: { ref: 'main' }, env: { GITHUB_STEP_SUMMARY: undefined } });
    expect(result.errors).toEqual([]);
  });

  it('of a fetch that fails is one line and a report', async () => {
    server.fail({ fault: { kind: 'status', status: 404 } });
    const result = await runner.main({ inputs: { ref: 'refs/heads/main' } });
    expect(result.exitCode).toBe(1);
    expect(result.errors).toHaveLength(1);
    expect(result.errors[0]).not.toContain('\n');
    expect(JSON.parse(readFileSync(result.outputs['report']!, 'utf8'))).toMatchObject({
      schemaVersion: 1,
      error: { message: result.errors[0] },
    });
    expect(result.outputs['commit']).toBeUndefined();
    expect(readdirSync(runner.temp).filter((name) => /^[0-9a-f-]{36}$/.test(name))).toEqual([]);
  });

  it.each([
    { kind: 'truncate', bytes: 600 },
    { kind: 'reset', bytes: 600 },
    { kind: 'truncate', bytes: 0 },
  ] as const)(
    'of an answer that breaks off ($kind at $bytes) is a failure that the next run recovers from',
    async (fault) => {
      server.fail({ fault, path: /\/git-upload-pack$/ });
      const result = await runner.main({ inputs: { ref: 'refs/heads/main', 'fetch-retries': '0' } });
      expect([result.exitCode, result.errors.length]).toEqual([1, 1]);
      server.reset();
      const next = await runner.main({ inputs: { ref: 'refs/heads/main' } });
      expect(next.errors).toEqual([]);
      expect(git(runner.workspace, ['status', '--porcelain'])).toBe('');
    },
  );

  it('of a server that cannot be reached is a failure', async () => {
    const gone = await startHttpServer({ root: fixture.root });
    await gone.close();
    const inputs = { ref: 'refs/heads/main', 'github-server-url': gone.origin, 'fetch-retries': '0' };
    const result = await runner.main({ inputs });
    expect([result.exitCode, result.errors.length]).toEqual([1, 1]);
  });

  it('of a cancelled job is a failure, with nothing left at work', async () => {
    server.fail({ fault: { kind: 'hang' }, path: /\/git-upload-pack$/ });
    const abort = new AbortController();
    const running = runner.main({ inputs: { ref: 'refs/heads/main' }, signal: abort.signal });
    while (!server.requests.some(({ method }) => method === 'POST')) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    abort.abort();
    const result = await running;
    expect(result.exitCode).toBe(1);
    expect(result.errors).toHaveLength(1);
    expect(result.errors[0]).toContain('interrupted');
    expect(readdirSync(join(runner.workspace, '.git')).filter((name) => name.endsWith('.lock'))).toEqual([]);
    expect(readdirSync(runner.temp).filter((name) => /^[0-9a-f-]{36}$/.test(name))).toEqual([]);
  });
});

describe('other inputs', () => {
  it('github-server-url is where the repository and the token go', async () => {
    const other = await startHttpServer({ root: fixture.root, token: 'a-token' });
    try {
      const result = await runner.main({ inputs: { ref: 'main', 'github-server-url': `${other.origin}/` } });
      expect(result.errors).toEqual([]);
      expect(server.requests).toEqual([]);
      expect(git(runner.workspace, ['config', 'remote.origin.url'])).toBe(`${other.origin}/owner/repo`);
    } finally {
      await other.close();
    }
  });

  it('show-progress decides what of the fetch is shown', async () => {
    const [loud, quiet] = await Promise.all([
      runner.main({ inputs: { ref: 'refs/heads/main', transport: 'git', path: 'loud' } }),
      runner.main({ inputs: { ref: 'refs/heads/main', transport: 'git', 'show-progress': 'false', path: 'quiet' } }),
    ]);
    expect(loud.log).toMatch(/objects: 100% .* done\.|-> origin\/main/);
    expect(quiet.log).not.toMatch(/objects: 100%|-> origin\/main/);
  });

  it('set-safe-directory makes git trust the directory for this step alone', async () => {
    // What git does where the directory belongs to another user.
    const env = { GIT_TEST_ASSUME_DIFFERENT_OWNER: '1' };
    const result = await runner.main({ inputs: { ref: 'main' }, env });
    expect(result.errors).toEqual([]);
    const distrusted = await runner.main({
      inputs: { ref: 'refs/heads/main', 'set-safe-directory': 'false', path: 'other' },
      env,
    });
    expect(distrusted.exitCode).toBe(1);
    expect(distrusted.errors[0]).toMatch(/dubious ownership/);
    expect(readFileSync(join(runner.home, '.gitconfig'), 'utf8')).not.toContain('safe');
    expect(readdirSync(runner.temp).filter((name) => /^[0-9a-f-]{36}$/.test(name))).toEqual([]);
  });

  it('a depth that is no number means all history, with a warning', async () => {
    const result = await runner.main({ inputs: { ref: 'main', 'fetch-depth': 'one' } });
    expect(result.errors).toEqual([]);
    expect(result.warnings.some((line) => line.includes('fetch-depth'))).toBe(true);
    expect(existsSync(join(runner.workspace, '.git', 'shallow'))).toBe(false);
  });

  it('engine: git has git write the tree', async () => {
    const result = await runner.main({ inputs: { ref: 'main', engine: 'git' } });
    expect(result.errors).toEqual([]);
    expect(result.outputs['engine']).toBe('git');
    expect(git(runner.workspace, ['status', '--porcelain'])).toBe('');
  });

  it('engine and workers reach the engine', async () => {
    const result = await runner.main({
      inputs: { ref: 'main', engine: 'native', workers: '0', 'memory-limit': '64M' },
    });
    expect(result.errors).toEqual([]);
    expect(result.outputs).toMatchObject({ engine: 'native', workers: '0' });
    const report = JSON.parse(readFileSync(result.outputs['report']!, 'utf8')) as {
      plan: { memoryLimitBytes: number };
    };
    expect(report.plan.memoryLimitBytes).toBe(64 * 1024 * 1024);
  });
});
