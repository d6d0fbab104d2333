/**
 * Worker threads that end early, at every moment: the run ends all the same, complete and right, and the report says who
 * died. Node tells of each thread as it is made, so that the tests can end it without a hook in the program.
 */
import { mkdirSync, rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { LONG } from '../support/long-tests.ts';
import { runOurs, type OurRun, type RunOptions } from '../support/ours.ts';
import { randomBytes, randomText } from '../support/random.ts';
import { git, GitRepository } from '../support/repository.ts';
import { memoryFolder, temporaryFolder } from '../support/temporary.ts';
import { differences, snapshot, type Snapshot } from '../support/worktree.ts';

const folder = temporaryFolder('worker-death', memoryFolder());
const MEBIBYTE = 2 ** 20;

const many = new GitRepository(folder, 'many');
const text = randomText(1, 20_000);
const spec: Record<string, string> = {};
for (let i = 0; i < 2000; i++) spec[`d${i % 60}/f${i}`] = text.slice(i, i + 3000);
const { commit } = many.commit(spec);
many.git(['checkout', '-q', '--detach', commit]);
const right = snapshot(many.directory);

function empty(repository: GitRepository): void {
  git(repository.directory, ['rm', '-q', '-r', '-f', '--ignore-unmatch', '.']);
  rmSync(join(repository.gitDir, 'index'), { force: true });
}

/** All is there, and git needs to read nothing to see it. */
function expectComplete(repository: GitRepository, expected: Snapshot, run: OurRun, died: number): void {
  const { report } = run;
  expect(report.error).toBeUndefined();
  expect(report.skipped).toEqual([]);
  expect(differences(expected, snapshot(repository.directory))).toEqual([]);
  const later = Date.now() / 1000 + 10;
  utimesSync(join(repository.gitDir, 'index'), later, later);
  expect(git(repository.directory, ['diff-files', '--name-only']).toString()).toBe('');
  expect(git(repository.directory, ['status', '--porcelain']).toString()).toBe('');
  const dead = report.workers.filter((worker) => worker.died === true);
  expect(dead.length, 'dead workers in the report').toBe(died);
  if (died > 0) expect(run.warnings.join('\n')).toMatch(/worker \d/);
  expect(report.totals.files).toBe([...expected.values()].filter((value) => value.startsWith('file')).length);
}

async function run(repository: GitRepository, options: Partial<RunOptions>): Promise<OurRun> {
  empty(repository);
  mkdirSync(repository.directory, { recursive: true });
  return await runOurs({
    directory: repository.directory,
    target: { kind: 'detach', revision: 'main' },
    workers: 2,
    ...options,
  });
}

describe('a worker that ends early', () => {
  it('before it has begun', async () => {
    let killed = false;
    const result = await run(many, {
      onWorker: (worker) => {
        if (killed) return;
        killed = true;
        void worker.terminate();
      },
    });
    expectComplete(many, right, result, 1);
    expect(result.report.workers.filter((worker) => worker.died !== true && worker.files > 0).length).toBeGreaterThan(
      0,
    );
  });

  it('all of them, before they have begun', async () => {
    const result = await run(many, { workers: 5, onWorker: (worker) => void worker.terminate() });
    expectComplete(many, right, result, 5);
    // Ending a thread takes a moment, in which it may write a file.
    expect(result.report.workers.find((worker) => worker.id === 0)?.files).toBeGreaterThan(1900);
  });

  it.each(LONG ? [5, 40, 80, 120] : [5, 80])('one of two, or both, about %i ms later', async (delay) => {
    for (const victims of [1, 2]) {
      const workers: Worker[] = [];
      const ended: Promise<number>[] = [];
      let timer: NodeJS.Timeout | undefined;
      const result = await run(many, {
        onWorker: (worker) => {
          workers.push(worker);
          timer ??= setTimeout(() => {
            for (const each of workers.slice(0, victims)) ended.push(each.terminate());
          }, delay);
        },
      });
      clearTimeout(timer);
      // One that was done before it could be ended has died for nobody.
      const dead = result.report.workers.filter((worker) => worker.died === true).length;
      expect(dead).toBeLessThanOrEqual(victims);
      expectComplete(many, right, result, dead);
    }
  });

  it('in the middle of its files, as soon as there is progress', async () => {
    const workers: Worker[] = [];
    let killed = false;
    const result = await run(many, {
      onWorker: (worker) => workers.push(worker),
      onProgress: (progress) => {
        if (killed || progress.filesDone === 0 || progress.filesDone >= 1800) return;
        killed = true;
        void workers[1]?.terminate();
      },
    });
    expectComplete(many, right, result, result.report.workers.filter((worker) => worker.died === true).length);
  });

  it('with memory of the budget in its hands: the others do not wait for it for ever', async () => {
    const large = new GitRepository(folder, 'large');
    const files: Record<string, string | Uint8Array> = { '.gitattributes': '*.txt text=auto eol=crlf\n' };
    const lines = randomText(2, 3 * MEBIBYTE);
    for (let i = 0; i < 8; i++) files[`big-${i}.txt`] = `${i}\n${lines.slice(0, (3 * MEBIBYTE) / (1 + (i % 3)))}`;
    for (let i = 0; i < 4; i++) files[`random-${i}`] = randomBytes(i, MEBIBYTE);
    const made = large.commit(files);
    large.git(['repack', '-adfq']);
    large.git(['checkout', '-q', '--detach', made.commit]);
    const expected = snapshot(large.directory);
    for (const delay of LONG ? [60, 90, 120, 150] : [60, 120]) {
      const workers: Worker[] = [];
      let timer: NodeJS.Timeout | undefined;
      const result = await run(large, {
        // Room for one such file at a time beside the two threads.
        request: { memoryLimitBytes: 90 * MEBIBYTE },
        onWorker: (worker) => {
          workers.push(worker);
          timer ??= setTimeout(() => void workers[0]?.terminate(), delay);
        },
      });
      clearTimeout(timer);
      expectComplete(large, expected, result, result.report.workers.filter((worker) => worker.died === true).length);
    }
  }, 60_000);
});
