// The network and the server at their worst: one clear error within the limits, nothing left at work, and a directory that the
// next run can use. Rows run side by side, each with a server of its own: most of their time is waiting.
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { listProcesses, worksIn } from '../../src/engine/host/processes.ts';
import { startHttpServer, type Fault, type HttpServer } from '../support/http-server.ts';
import { git, makeFixture } from './git-fixture.ts';
import { filesBelow, TestRunner, type StepResult } from './run-action.ts';

const fixture = makeFixture();
// More than one packet of a pack.
fixture.commit('main', { big: Array.from({ length: 40_000 }, () => String(Math.random())).join('\n') });
afterAll(() => fixture.remove());

async function withServer<Result>(work: (server: HttpServer, runner: TestRunner) => Promise<Result>): Promise<Result> {
  const server = await startHttpServer({ root: fixture.root });
  const runner = new TestRunner(server.origin, 'owner/repo');
  try {
    return await work(server, runner);
  } finally {
    await server.close();
    runner.remove();
  }
}

const PACK = /\/git-upload-pack$/;
const status = (code: number): Fault => ({ kind: 'status', status: code });

function expectGood(result: StepResult, runner: TestRunner): void {
  expect(result.errors).toEqual([]);
  expect(git(runner.workspace, ['status', '--porcelain', '--ignored'])).toBe('');
}

describe.concurrent('a server', () => {
  const rows: readonly (readonly [what: string, fault: Fault, path: RegExp | undefined, says: RegExp])[] = [
    ['that takes the request and never answers', { kind: 'hang' }, undefined, /nothing came from the server for 1 s$/],
    ['that never sends the pack', { kind: 'hang' }, PACK, /nothing came from the server for 1 s$/],
    [
      'that sends its refs a few bytes a second',
      { kind: 'trickle', bytes: 10 },
      undefined,
      /(nothing|less than .*) came .*for 1 s$/,
    ],
    [
      'that sends the pack a few bytes a second',
      { kind: 'trickle', bytes: 200_000 },
      PACK,
      /1000 bytes a second came for 1 s$/,
    ],
    ['that cuts the connection in the pack', { kind: 'reset', bytes: 100_000 }, PACK, /failed: .*reset/],
    ['whose pack ends early', { kind: 'truncate', bytes: 100_000 }, PACK, /bytes of body are still expected$/],
    ['that says nothing at all', { kind: 'truncate', bytes: 0 }, undefined, /hung up unexpectedly$/],
    ['that answers with garbage', { kind: 'garbage', bytes: 0 }, undefined, /protocol error: bad line length/],
    ['that sends garbage in the pack', { kind: 'garbage', bytes: 100_000 }, PACK, /bad line length character/],
    ['that redirects without end', { kind: 'redirect' }, undefined, /Maximum \(20\) redirects followed$/],
    ['that refuses the token', status(401), undefined, /could not read Username/],
    ['that forbids', status(403), undefined, /error: 403\b/],
    ['that knows no such repository', status(404), undefined, /repository '.*' not found$/],
    ['that has had too many requests', status(429), undefined, /error: 429\b/],
    ['that is in trouble', status(500), undefined, /error: 500\b/],
    ['behind a proxy in trouble', status(502), PACK, /error: 502\b/],
  ];
  it.each(rows)('%s', async (_, fault, path, says) => {
    await withServer(async (server, runner) => {
      const inputs = { ref: 'refs/heads/main', 'fetch-retries': '0' };
      const isSlow = fault.kind === 'hang' || fault.kind === 'trickle';
      server.fail({ fault, ...(path === undefined ? {} : { path }) });
      const started = performance.now();
      const failed = await runner.main({ inputs: isSlow ? { ...inputs, 'fetch-stall-timeout': '1' } : inputs });
      expect([failed.exitCode, failed.errors.length, failed.stderr]).toEqual([1, 1, '']);
      expect(failed.errors[0]).toMatch(says);
      expect(failed.errors[0]).not.toMatch(/unexpected error|\n/);
      // Generous: the machine is shared with the other rows.
      expect(performance.now() - started).toBeLessThan(15_000);
      expect(filesBelow(join(runner.workspace, '.git')).filter((name) => /\.lock$|tmp_pack/.test(name))).toEqual([]);
      expect(listProcesses().filter((each) => worksIn(each, runner.workspace))).toEqual([]);
      server.reset();
      expectGood(await runner.main({ inputs }), runner);
    });
  });

  it('that is not there', async () => {
    await withServer(async (server, runner) => {
      await server.close();
      const failed = await runner.main({ inputs: { ref: 'main', 'fetch-retries': '0' } });
      expect([failed.exitCode, failed.errors.length]).toEqual([1, 1]);
      expect(failed.errors[0]).toMatch(/asking the server for 'main' failed: .*connect/);
    });
  });

  it('that recovers is asked again, as late as it wants, with a warning', async () => {
    await withServer(async (server, runner) => {
      server.fail({ fault: { kind: 'status', status: 429, headers: { 'Retry-After': '3' } }, times: 1 });
      const started = performance.now();
      const result = await runner.main({ inputs: { ref: 'main' } });
      expectGood(result, runner);
      expect(performance.now() - started).toBeGreaterThan(3000);
      expect(result.warnings[0]).toMatch(/^asking the server for 'main' failed: .*error: 429; trying again in [345]/);
    });
  });

  it('that never answers is left at fetch-timeout, for good, whatever fetch-stall-timeout says', async () => {
    await withServer(async (server, runner) => {
      server.fail({ fault: { kind: 'hang' } });
      const inputs = { ref: 'refs/heads/main', 'fetch-timeout': '1', 'fetch-stall-timeout': '0' };
      const failed = await runner.main({ inputs });
      expect(failed.errors).toHaveLength(1);
      expect(failed.errors[0]).toMatch(/fetch.* failed: it took longer than 1 s$/);
      expect(server.requests).toHaveLength(1);
    });
  });

  it('that asks to come back much later is not waited for', async () => {
    await withServer(async (server, runner) => {
      server.fail({ fault: { kind: 'status', status: 503, headers: { 'Retry-After': '86400' } } });
      const failed = await runner.main({ inputs: { ref: 'refs/heads/main' } });
      expect(failed.errors).toHaveLength(1);
      expect(failed.errors[0]).toMatch(/error: 503\b.*\(the server asks to come back in 24 h\)$/);
      expect(server.requests).toHaveLength(1);
    });
  });
});
