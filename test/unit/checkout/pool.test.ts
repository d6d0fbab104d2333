import { spawnSync } from 'node:child_process';
import { closeSync, constants, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { afterAll, describe, expect, it } from 'vitest';
import { Budget } from '../../../src/engine/checkout/budget.ts';
import { NEXT_BATCH, READY } from '../../../src/engine/checkout/control.ts';
import type { Job, Pass } from '../../../src/engine/checkout/messages.ts';
import { WorkerPool } from '../../../src/engine/checkout/pool.ts';
import { State } from '../../../src/engine/checkout/tables.ts';
import type { ErrorJson } from '../../../src/engine/errors.ts';
import { randomBytes } from '../../support/random.ts';
import { temporaryFolder } from '../../support/temporary.ts';
import { MadePack } from '../pack/made-pack.ts';
import { jobOf, type EntrySpec } from './made-job.ts';

const folder = temporaryFolder('pool');
const made = new MadePack();
const small = [...Array(40).keys()].map((i) => made.plain(randomBytes(i, 500)));
const base = made.plain(randomBytes(1, 1_200_000), 0);
const delta = made.delta(base, [{ offset: 1, size: 1_199_999 }]);
const opened = made.write(folder);
afterAll(() => {
  opened.close();
});

let cases = 0;
function set(entries: readonly EntrySpec[], workers: number): { job: Job; pass: Pass; at: (name: string) => string } {
  const workTree = join(folder, `work-${cases++}`);
  const job = {
    ...jobOf(entries, { workTree, packs: [opened.file], budgetBytes: 1 }),
    // The first one to ask gets all.
    budget: Budget.create(1, workers),
    counters: new Float64Array(new SharedArrayBuffer(16 * (workers + 1))),
  };
  job.control[READY] = entries.length;
  const order = new Uint32Array(new SharedArrayBuffer(4 * entries.length));
  entries.forEach((_, i) => (order[i] = i));
  const pass = { order, batchStarts: Uint32Array.from([...order, order.length]), deferred: null };
  return { job, pass, at: (name) => join(workTree, name) };
}
const spec = (entry: number, path: string): EntrySpec => ({ path, offset: made.offset(entry) });

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** A pool of so many threads, and they themselves: Node tells of each a moment after it was made. */
async function started(count: number): Promise<{ pool: WorkerPool; workers: Worker[] }> {
  const workers: Worker[] = [];
  const listener = (worker: Worker): void => void workers.push(worker);
  process.on('worker', listener);
  const pool = new WorkerPool();
  pool.start(count);
  await sleep(0);
  process.off('worker', listener);
  expect(workers.length).toBe(count);
  return { pool, workers };
}

describe('WorkerPool', () => {
  it('writes a pass with all of its workers, tells failures, and says what each cost', async () => {
    const entries = [...small.map((entry, i) => spec(entry, `f${i}`)), spec(small[0]!, 'no/directory')];
    const { job, pass, at } = set(entries, 3);
    const pool = new WorkerPool();
    pool.start(2);
    pool.start(1);
    expect(pool.size).toBe(3);
    const failures: [number, ErrorJson][] = [];
    pool.begin(job, (entry, error) => failures.push([entry, error]));
    await pool.pass(pass);
    const { costs, deaths } = await pool.end();
    expect(deaths).toEqual([]);
    expect(costs.map(({ id }) => id)).toEqual([1, 2, 3]);
    expect(costs.reduce((sum, cost) => sum + cost.files, 0)).toBe(40);
    expect(costs.reduce((sum, cost) => sum + cost.bytesWritten, 0)).toBe(40 * 500);
    for (const cost of costs) expect(cost.peakMemoryBytes).toBeGreaterThan(1_000_000);
    for (const [i, entry] of small.entries()) {
      expect(readFileSync(at(`f${i}`)).equals(made.contents[entry]!)).toBe(true);
      expect(job.tables.states[i]).toBe(State.WRITTEN);
    }
    expect(failures).toMatchObject([[40, { code: 'io', subject: { path: 'no/directory', errno: 'ENOENT' } }]]);
  });

  it('ends when it got nothing to do', async () => {
    const { pool, workers } = await started(2);
    const ended = workers.map((worker) => new Promise((resolve) => worker.once('exit', resolve)));
    pool.dismiss();
    await Promise.all(ended);
    expect((await pool.end()).costs.map(({ died }) => died)).toEqual([true, true]);
  });

  it.runIf(process.platform === 'linux')('goes on when one ends with all of the memory in its hands', async () => {
    const entries = [
      // Comparing with a pipe blocks the thread that does it, after it has reserved.
      { ...spec(delta, 'pipe'), state: State.VERIFY },
      spec(delta, 'other'),
      ...small.map((entry, i) => spec(entry, `f${i}`)),
    ];
    const { job, pass, at } = set(entries, 2);
    expect(spawnSync('mkfifo', [at('pipe')]).status).toBe(0);
    const { pool, workers } = await started(2);
    pool.begin(job, () => undefined);
    const running = pool.pass(pass);
    // The third word and those behind it say what each thread holds, see budget.ts.
    const holder = (): number => job.budget.subarray(2).findIndex((units) => units > 0);
    // Whoever holds it for long is the one at the pipe; the other waits for it, or has come before.
    for (let polls = 0; polls < 8; polls = holder() < 0 ? 0 : polls + 1) await sleep(10);
    const victim = holder();
    const terminated = workers[victim - 1]!.terminate();
    // Lets it go on to its end.
    const fd = openSync(at('pipe'), constants.O_RDWR | constants.O_NONBLOCK);
    await terminated;
    await running;
    closeSync(fd);
    const { costs, deaths } = await pool.end();
    expect(deaths.length).toBe(1);
    expect(costs.filter(({ died }) => died === true).map(({ id }) => id)).toEqual([victim]);
    expect(deaths[0]).toMatch(new RegExp(`^worker ${victim} ended early: .+; what it had not written was written by`));
    expect([...job.tables.states.subarray(0, 2)]).toEqual([State.VERIFY, State.WRITTEN]);
    expect(readFileSync(at('other')).equals(made.contents[delta]!)).toBe(true);
    expect(new Budget(job.budget, 0).idle).toBe(true);
  });

  it('counts what one wrote that was killed, and leaves the rest to the others', async () => {
    const names = (part: string): EntrySpec[] => small.map((entry, i) => spec(entry, `${part}${i}`));
    const { job, pass, at } = set([...names('a'), ...names('b')], 2);
    const half = (from: number): Pass => {
      const order = new Uint32Array(new SharedArrayBuffer(4 * small.length));
      order.set(pass.order.subarray(from, from + small.length));
      return { ...pass, order, batchStarts: pass.batchStarts.slice(0, small.length + 1) };
    };
    const { pool, workers } = await started(2);
    pool.begin(job, () => undefined);
    await pool.pass(half(0));
    const wrote = (id: number): number => job.counters[2 * id]!;
    const victim = wrote(1) > 0 ? 1 : 2;
    const before = wrote(victim);
    await workers[victim - 1]!.terminate();
    job.control[NEXT_BATCH] = 0;
    await pool.pass(half(small.length));
    const { costs, deaths } = await pool.end();
    expect(deaths.length).toBe(1);
    expect(costs[victim - 1]).toMatchObject({ id: victim, died: true, files: before, bytesWritten: 500 * before });
    expect(before).toBeGreaterThan(0);
    expect(costs[2 - victim]).toMatchObject({ id: 3 - victim, files: 80 - before });
    expect([...job.tables.states]).toEqual(Array(80).fill(State.WRITTEN));
    for (const [i, entry] of small.entries()) {
      expect(readFileSync(at(`b${i}`)).equals(made.contents[entry]!)).toBe(true);
    }
  });

  it('settles when all are killed, before a job or in the middle of one', async () => {
    const { job, pass } = set(
      small.map((entry, i) => spec(entry, `f${i}`)),
      2,
    );
    // Nothing is ready, so they wait until they are killed.
    job.control[READY] = 0;
    const { pool, workers } = await started(2);
    await workers[0]!.terminate();
    pool.begin(job, () => undefined);
    const running = pool.pass(pass);
    while (Atomics.load(job.control, NEXT_BATCH) === 0) await sleep(2);
    await workers[1]!.terminate();
    await running;
    const { costs, deaths } = await pool.end();
    expect(deaths.length).toBe(2);
    expect(costs.map(({ id, files, died }) => [id, files, died])).toEqual([
      [1, 0, true],
      [2, 0, true],
    ]);
    expect([...job.tables.states]).toEqual(Array(40).fill(State.PENDING));
  });

  it('goes on with fewer threads where the system allows no more', ({ skip }) => {
    // Only root can become a user whose processes are counted apart from ours.
    const user = ['--reuid', '54321', '--clear-groups'];
    const allowed = process.platform === 'linux' && process.getuid?.() === 0;
    if (!allowed || spawnSync('setpriv', [...user, 'prlimit', '--nproc=14', process.execPath, '-v']).status !== 0)
      skip();
    const program = `
      import { WorkerPool } from ${JSON.stringify(new URL('../../../src/engine/checkout/pool.ts', import.meta.url).href)};
      const pool = new WorkerPool();
      pool.start(30);
      const { size } = pool;
      const { deaths } = await pool.end();
      console.log(JSON.stringify({ size, deaths }));`;
    const child = spawnSync(
      'setpriv',
      [...user, 'prlimit', '--nproc=14', process.execPath, '--no-warnings', '--input-type=module', '-e', program],
      { encoding: 'utf8' },
    );
    if (child.stderr.includes('EACCES')) skip();
    const { size, deaths } = JSON.parse(child.stdout) as { size: number; deaths: string[] };
    expect(size).toBeLessThan(30);
    expect(deaths[0]).toBe(`${30 - size} of 30 workers could not be started: EAGAIN; the others write their files`);
  });
});
