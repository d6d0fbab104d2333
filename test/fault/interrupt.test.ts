/**
 * Runs that are stopped: by a signal, by the caller, by kill -9. Either nothing was decided yet and the old index stays, or all
 * is done; the lock goes with the run, and running again gets it right.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { runOurs } from '../support/ours.ts';
import { programPath } from '../support/programs.ts';
import { randomText } from '../support/random.ts';
import { git, GitRepository } from '../support/repository.ts';
import { memoryFolder, temporaryFolder } from '../support/temporary.ts';
import { leftovers } from '../support/worktree.ts';

const folder = temporaryFolder('interrupt', memoryFolder());
const cli = programPath('cli');

const repository = new GitRepository(folder, 'repository');
const text = randomText(1, 20_000);
let first = '';
let second = '';

beforeAll(() => {
  const spec = (version: number): Record<string, string> => {
    const files: Record<string, string> = {};
    for (let i = 0; i < 2000; i++) files[`v${version}/d${i % 50}/f${i}`] = `${version} ${text.slice(i, i + 3000)}`;
    return files;
  };
  const [one, two] = repository.commits([{ old: 'old\n', 'old-dir/file': 'x\n' }, spec(2)]);
  first = one!.commit;
  second = two!.commit;
});

function reset(): Buffer {
  rmSync(join(repository.gitDir, 'index.lock'), { force: true });
  for (const name of ['v2']) rmSync(join(repository.directory, name), { recursive: true, force: true });
  git(repository.directory, ['checkout', '-q', '--force', '--detach', first]);
  return readFileSync(join(repository.gitDir, 'index'));
}

function startCli(): {
  child: ChildProcess;
  ended: Promise<{ code: number | null; signal: string | null; stderr: string }>;
} {
  const args = [cli, 'checkout', second, '--workers', '2', '--quiet', '-c', 'checkout.thresholdForParallelism=0'];
  const child = spawn(process.execPath, args, { cwd: repository.directory, stdio: ['ignore', 'ignore', 'pipe'] });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const ended = new Promise<{ code: number | null; signal: string | null; stderr: string }>((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal, stderr }));
  });
  return { child, ended };
}

async function until(condition: () => boolean): Promise<void> {
  const end = Date.now() + 20_000;
  while (!condition()) {
    if (Date.now() > end) throw new Error('it never came');
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

/** The moments of a run that can be seen from outside. */
const moments: Record<string, () => boolean> = {
  'as it takes the lock': () => existsSync(join(repository.gitDir, 'index.lock')),
  'as it writes the first files': () => existsSync(join(repository.directory, 'v2', 'd0')),
  'in the middle': () => existsSync(join(repository.directory, 'v2', 'd40')),
};

async function expectDoneNow(): Promise<void> {
  const { report } = await runOurs({ directory: repository.directory, target: { kind: 'detach', revision: second } });
  expect(report.error).toBeUndefined();
  expect(git(repository.directory, ['status', '--porcelain']).toString()).toBe('');
  expect(git(repository.directory, ['rev-parse', 'HEAD']).toString().trim()).toBe(second);
}

describe('signals', () => {
  for (const [name, reached] of Object.entries(moments)) {
    it.each(['SIGINT', 'SIGTERM'] as const)(`%s ${name}`, async (signal) => {
      const index = reset();
      const { child, ended } = startCli();
      await until(reached);
      child.kill(signal);
      const { code, stderr } = await ended;
      expect(leftovers(repository.gitDir)).toEqual([]);
      const done = git(repository.directory, ['rev-parse', 'HEAD']).toString().trim() === second;
      expect(code).toBe(signal === 'SIGINT' ? 130 : 143);
      if (!done) {
        expect(stderr).toMatch(/interrupted/);
        expect(stderr.trim().split('\n').length).toBe(1);
        expect(readFileSync(join(repository.gitDir, 'index')).equals(index), 'the old index stays').toBe(true);
      }
      await expectDoneNow();
    });
  }
});

describe('kill -9', () => {
  it.each(Object.keys(moments))('%s: the lock tells of it, and without it the next run gets it right', async (name) => {
    const index = reset();
    const { child, ended } = startCli();
    await until(moments[name]!);
    child.kill('SIGKILL');
    expect((await ended).signal).toBe('SIGKILL');
    if (leftovers(repository.gitDir).length > 0) {
      expect(readFileSync(join(repository.gitDir, 'index')).equals(index), 'the old index stays').toBe(true);
      const again = startCli();
      const { code, stderr } = await again.ended;
      expect(code).toBe(1);
      expect(stderr).toMatch(/\.lock/);
      for (const lock of leftovers(repository.gitDir)) rmSync(join(repository.gitDir, lock));
    }
    await expectDoneNow();
  });
});

describe('the caller’s signal', () => {
  it.each([0, 20, 50, 100])('aborted after %i ms', async (delay) => {
    for (const workers of [0, 2]) {
      const index = reset();
      const controller = new AbortController();
      if (delay === 0) controller.abort();
      const timer = setTimeout(() => controller.abort(), delay);
      const { report } = await runOurs({
        directory: repository.directory,
        target: { kind: 'detach', revision: second },
        workers,
        request: { signal: controller.signal },
      });
      clearTimeout(timer);
      expect(leftovers(repository.gitDir)).toEqual([]);
      if (report.error !== undefined) {
        expect(report.error.code).toBe('interrupted');
        expect(readFileSync(join(repository.gitDir, 'index')).equals(index)).toBe(true);
        expect(git(repository.directory, ['rev-parse', 'HEAD']).toString().trim()).toBe(first);
      }
    }
    await expectDoneNow();
    mkdirSync(repository.directory, { recursive: true });
  });
});
