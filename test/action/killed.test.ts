// Jobs side by side in two directories, and one after another in the same: the first killed by force at a random moment, its git
// left at work; the second always ends right. LONG_TESTS=1 does it 100 times.
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listProcesses, type ProcessInfo, worksIn } from '../../src/engine/host/processes.ts';
import { startHttpServer, type HttpServer } from '../support/http-server.ts';
import { git, makeFixture } from './git-fixture.ts';
import { filesBelow, TestRunner } from './run-action.ts';

const LONG = process.env['LONG_TESTS'] === '1';
const ROUNDS = LONG ? 100 : 6;

const fixture = makeFixture();
const many = (what: string): Record<string, string> =>
  Object.fromEntries(
    Array.from({ length: LONG ? 1500 : 400 }, (_, at) => [`many/${at % 40}/${at}`, `${what} ${at}\n`.repeat(20)]),
  );
const tips = { main: fixture.commit('main', many('main')), 'feature/x': fixture.commit('feature/x', many('feature')) };
let server: HttpServer;
beforeAll(async () => {
  server = await startHttpServer({ root: fixture.root });
});
afterAll(async () => {
  await server.close();
  fixture.remove();
});

type Branch = keyof typeof tips;

function expectRight(workspace: string, branch: Branch): void {
  const here = (...args: string[]): string => git(workspace, args);
  expect([here('rev-parse', 'HEAD'), here('symbolic-ref', 'HEAD')]).toEqual([tips[branch], `refs/heads/${branch}`]);
  expect(here('status', '--porcelain', '--ignored')).toBe('');
  expect(here('fsck', '--no-progress', '--no-dangling')).toBe('');
  const left = filesBelow(join(workspace, '.git')).filter((name) => /\.lock$|[/\\](tmp_|\.tmp-)/.test(name));
  expect(left).toEqual([]);
}

describe('jobs of one runner', () => {
  it('work side by side in two directories', async () => {
    const runner = new TestRunner(server.origin, 'owner/repo');
    try {
      const branches = ['main', 'feature/x'] as const;
      const results = await Promise.all(branches.map((ref) => runner.main({ inputs: { ref, path: ref.slice(0, 4) } })));
      expect(results.flatMap(({ errors }) => errors)).toEqual([]);
      for (const branch of branches) expectRight(join(runner.workspace, branch.slice(0, 4)), branch);
    } finally {
      runner.remove();
    }
  });

  it.skipIf(process.platform !== 'linux')('end the git that a killed one left waiting for the server', async () => {
    const runner = new TestRunner(server.origin, 'owner/repo');
    try {
      server.reset();
      server.fail({ fault: { kind: 'hang' }, path: /\/git-upload-pack$/ });
      const abort = new AbortController();
      const inputs = { ref: 'main', transport: 'git' };
      const first = runner.main({ inputs, signal: abort.signal, killSignal: 'SIGKILL' });
      while (!server.requests.some(({ method }) => method === 'POST')) await sleep(20);
      abort.abort();
      expect((await first).exitCode).toBeNull();
      const atWork = (): ProcessInfo[] => listProcesses().filter((each) => worksIn(each, runner.workspace));
      expect(atWork().map(({ name }) => name)).toContain('git-remote-http');
      const lock = join(runner.workspace, '.git', 'shallow.lock');
      writeFileSync(lock, '');
      server.reset();
      const second = await runner.main({ inputs });
      expect(second.errors).toEqual([]);
      expect(second.log).toMatch(/A step that was killed had left git at work here \(process \d+/);
      expect(atWork()).toEqual([]);
      expectRight(runner.workspace, 'main');
    } finally {
      server.reset();
      runner.remove();
    }
  });

  it(
    `work in one directory, each after one that was killed (${ROUNDS} times)`,
    async () => {
      const runner = new TestRunner(server.origin, 'owner/repo');
      try {
        let started = performance.now();
        expect((await runner.main({ inputs: { ref: 'main' } })).errors).toEqual([]);
        let whole = performance.now() - started;
        let killed = 0;
        for (let round = 0; round < ROUNDS; round++) {
          // Every second job begins in an empty directory, the others in that of the other branch.
          if (round % 2 === 0)
            for (const name of readdirSync(runner.workspace)) rmSync(join(runner.workspace, name), { recursive: true });
          const branch: Branch = round % 4 < 2 ? 'feature/x' : 'main';
          // The first moments are Node’s.
          const moment = Math.round(50 + Math.random() * (whole - 50));
          const abort = new AbortController();
          const timer = setTimeout(() => abort.abort(), moment);
          const inputs = { ref: branch, transport: round % 3 === 0 ? 'git' : 'auto' };
          const first = await runner.main({ inputs, signal: abort.signal, killSignal: 'SIGKILL' });
          if (first.exitCode === null) killed++;
          clearTimeout(timer);
          const state = `round ${round}, killed after ${moment} of ${Math.round(whole)} ms`;
          started = performance.now();
          const second = await runner.main({ inputs });
          // The machine may be slower or faster by now.
          whole = performance.now() - started;
          expect([second.exitCode, second.errors, second.stderr], state).toEqual([0, [], '']);
          expectRight(runner.workspace, branch);
          expect(listProcesses().filter((each) => worksIn(each, runner.workspace))).toEqual([]);
        }
        // Some come too late, and show nothing.
        expect(killed).toBeGreaterThanOrEqual(ROUNDS / 3);
      } finally {
        runner.remove();
      }
    },
    ROUNDS * 20_000,
  );
});
