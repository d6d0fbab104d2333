/**
 * Writes the tree that was prepared: removals, the passes of the workers, what is left to the main thread, and the index at last.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { FilterDrivers } from '../driver/drivers.ts';
import { CheckoutError, type ErrorJson } from '../errors.ts';
import { IndexSkeleton } from '../index/serialize-index.ts';
import { missing } from '../odb/object-database.ts';
import { cutBatches, groupFamilies } from '../plan/batches.ts';
import { LeadingDirectories } from '../worktree/leading-directories.ts';
import { displayPath } from '../worktree/paths.ts';
import { Budget } from './budget.ts';
import { endRemovals } from './clear-way.ts';
import {
  BYTES_DONE,
  COUNTERS,
  DEFERRED,
  FILES_DONE,
  NEXT_BATCH,
  READY,
  STOP,
  createControl,
  createCounters,
} from './control.ts';
import { CostMeter } from './cost-meter.ts';
import { EntryWriter } from './entry-writer.ts';
import { fail } from './failures.ts';
import { FilterPass } from './filter-pass.ts';
import { heldBytes } from './held-memory.ts';
import { writeLater } from './links-and-submodules.ts';
import { clearFailed, clearOrFail, clearWay, workersReplace } from './make-way.ts';
import type { Job, Pass } from './messages.ts';
import type { WorkerPool } from './pool.ts';
import { createRemovals, removeFiles } from './removals.ts';
import type { PhaseClock } from './request.ts';
import { type Prepared, type TreeCheckout, type TreeOutcome, stopIfAborted } from './request.ts';
import { settle } from './settle.ts';
import { State } from './tables.ts';
import { cacheTreeOf } from './tree-extension.ts';
import { passOverUnread } from './unread.ts';
import { keepByHash } from './verify-by-hash.ts';
import { writeBatch } from './worker-loop.ts';
import { orderWrites } from './write-order.ts';
import { writeRemaining } from './write-remaining.ts';

/** How often progress is told. */
const PROGRESS_MS = 100;

/**
 * Writes.
 * @throws CheckoutError; the old index stays then
 */
export async function writeTree(
  request: TreeCheckout,
  prepared: Prepared,
  pool: WorkerPool,
  clock: PhaseClock,
): Promise<Omit<TreeOutcome, 'cleaned'>> {
  const { manifest, comparison, toFilter, plan, paths } = prepared;
  const { tables } = manifest;
  const failures = new Map<number, CheckoutError>();

  // From here on memory is the workers'.
  request.odb.releaseMemory();
  const control = createControl();
  const job: Job = {
    tables,
    control,
    counters: request.streamed?.counters ?? createCounters(pool.size),
    budget: Budget.create(request.objectBudget(plan, heldBytes(tables, request.index)), pool.size),
    packs: request.odb.packs,
    replacements: request.odb.replacements,
    verify: request.odb.verify,
    objectDirectories: request.odb.directories,
    workTree: request.workTree,
    conversions: request.conversionList(),
    lfs: request.lfs,
    replaces: workersReplace(request, prepared),
    platform: process.platform,
  };
  const onFailure = (entry: number, error: ErrorJson): void => {
    failures.set(entry, CheckoutError.fromJSON(error));
  };
  const stop = (): void => {
    Atomics.store(control, STOP, 1);
    Atomics.notify(control, READY);
  };
  request.signal?.addEventListener('abort', stop, { once: true });
  const progress = setInterval(() => {
    request.onProgress({
      phase: 'write',
      filesDone: sumCounters(job.counters, FILES_DONE),
      filesTotal: comparison.toWrite,
      bytesDone: sumCounters(job.counters, BYTES_DONE),
    });
  }, PROGRESS_MS);

  const mainMeter = new CostMeter(0);
  const onUnencoded = (entry: number): void => {
    const path = displayPath(tables.pathBytes, tables.pathOffsets[entry] ?? 0, tables.pathOffsets[entry + 1] ?? 0);
    request.warn(`'${path}' cannot be written in its working-tree-encoding and stays in UTF-8`);
  };
  const onLarge = (): void => mainMeter.sample();
  const mainWriter = new EntryWriter(job, 0, onFailure, onLarge, onUnencoded);
  const drivers = new FilterDrivers({
    workTree: request.workTree,
    environment: request.driverEnvironment,
    warn: request.warn,
    signal: request.signal,
  });
  try {
    // Threads were started for what the walk met; of an odd tree there may be nothing left to write.
    const threads = pool.size > 0;
    if (threads) pool.begin(job, onFailure, onUnencoded);
    const removals = request.index === null ? null : createRemovals(request.index, comparison.removals);
    const removing = threads && removals !== null && removals.count > 0 ? pool.remove(removals) : null;
    const { order, positions, missing: absent } = orderWrites(tables, request.odb, comparison.toWrite - toFilter);
    for (const entry of absent) {
      if (tables.states[entry] === State.VERIFY && keepByHash(tables, entry, job.conversions, paths)) continue;
      fail(tables, failures, entry, missing(tables.oids, entry * tables.format.oidBytes, tables.format));
    }
    if (removals !== null) removeFiles(control, removals, paths);
    await removing;
    stopIfAborted(request);
    const removed =
      request.index === null || removals === null
        ? { count: 0, warnings: [] }
        : endRemovals(request.index, comparison, removals, paths, request.keep, request.removesSubmodules === true);
    for (const line of removed.warnings) request.warn(line);

    // Workers write from here on; each waits until its next batch is cleared.
    const first: Pass = {
      order,
      batchStarts: cutBatches(positions),
      deferred: {
        entries: new Uint32Array(new SharedArrayBuffer(4 * order.length)),
        bases: new Float64Array(new SharedArrayBuffer(8 * order.length)),
        baseSizes: new Float64Array(new SharedArrayBuffer(8 * order.length)),
      },
      // Workers got their job before it was known where the objects are.
      packs: [...request.odb.packs],
    };
    const running = threads ? pool.pass(first) : null;
    const directories = new LeadingDirectories(
      manifest.directories,
      tables,
      paths,
      prepared.rootIsEmpty && request.streamed === undefined,
      request.keep,
    );
    const filters = new FilterPass({
      tables,
      conversions: job.conversions,
      odb: request.odb,
      workTree: request.workTree,
      directories,
      drivers,
      withLfs: job.lfs !== null,
      writer: mainWriter,
      ref: request.ref,
      treeish: request.commit,
      clear: (entry) => clearOrFail(request, prepared, failures, entry),
      stopIfAborted: () => stopIfAborted(request),
    });
    let skeleton: IndexSkeleton;
    try {
      filters.clearWay();
      await clearWay(request, prepared, order, directories, control, failures);
      clock.end('clear');
      skeleton = new IndexSkeleton(tables, cacheTreeOf(manifest), request.indexFormat);
      // The main thread has nothing else to do while workers write.
      if (toFilter > 0) await filters.run();
    } catch (error) {
      stop();
      await running;
      throw error;
    }
    const runHere = async (pass: Pass): Promise<void> => {
      if (pass.packs !== undefined) mainWriter.usePacks(pass.packs);
      while (writeBatch(job, pass, mainWriter)) {
        mainMeter.sample();
        await nextTurn();
      }
    };
    await (running ?? runHere(first));
    const second = secondPass(first, control);
    if (second !== null) await (threads ? pool.pass(second) : runHere(second));
    const third = passOverUnread(request.odb, tables, control);
    if (third !== null) await (threads ? pool.pass(third) : runHere(third));
    const result = await pool.end();
    stopIfAborted(request);
    mainWriter.usePacks(request.odb.packs);

    await writeRemaining(request, prepared, directories, mainWriter, filters, failures);
    // What workers did not find in the Git LFS store.
    if (job.conversions.some(({ driver }) => driver?.lfs !== undefined)) await filters.run();
    const problems = await filters.finishDelayed();
    clock.end('write');
    writeLater(request, prepared, directories, failures);
    clearFailed(request, prepared, directories, failures);
    clock.end('links');
    stopIfAborted(request);

    const counts = settle(tables, request.ignoreStat);
    await drivers.close();
    request.lock.writeAndCommit(skeleton.finish(tables.stats, tables.flags));
    clock.end('index');
    const mainCost = mainMeter.cost(mainWriter);
    const workers = mainWriter.files > 0 || !threads ? [mainCost, ...result.costs] : result.costs;
    return {
      plan,
      phases: clock.phases,
      workers,
      files: counts.written,
      kept: counts.kept,
      excluded: counts.excluded,
      removed: removed.count,
      bytesWritten: workers.reduce((sum, cost) => sum + cost.bytesWritten, 0),
      problems,
      failures: [...failures.entries()].sort((a, b) => a[0] - b[0]).map(([, error]) => error),
      deaths: result.deaths,
    };
  } finally {
    stop();
    // After a failure only; a driver that waits for its next file ends when its pipe is closed.
    await drivers.close();
    clearInterval(progress);
    mainWriter.close();
    request.signal?.removeEventListener('abort', stop);
  }
}

function sumCounters(counters: Float64Array, which: number): number {
  let sum = 0;
  for (let i = which; i < counters.length; i += COUNTERS) sum += counters[i] ?? 0;
  return sum;
}

/** The pass over what the first one put off; null when that is nothing or the run was stopped. */
function secondPass(first: Pass, control: Int32Array): Pass | null {
  const count = Atomics.load(control, DEFERRED);
  if (first.deferred === null || count === 0 || Atomics.load(control, STOP) !== 0) return null;
  const { entries, bases, baseSizes } = first.deferred;
  const families = groupFamilies(entries.subarray(0, count), bases.subarray(0, count), baseSizes.subarray(0, count));
  Atomics.store(control, NEXT_BATCH, 0);
  Atomics.store(control, READY, count);
  return { ...families, deferred: null };
}
