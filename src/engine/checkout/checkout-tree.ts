/**
 * Brings the working tree to a commit's tree: the stages of a checkout in their order. Nothing is touched before the manifest is
 * complete and every path in it was checked; the index is written last, through its lock, which the caller holds.
 */
import { lstatSync, readdirSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { PhaseCost, PhaseName, WorkerCost } from '../cost.ts';
import { bufferOver, type Bytes } from '../bytes.ts';
import { bug, CheckoutError, errnoOf, ioError, type ErrorJson } from '../errors.ts';
import type { Conversion } from '../filter/conversion.ts';
import { loadTables } from '../filter/encode.ts';
import { serializeCacheTree, UNKNOWN_TREE } from '../index/cache-tree.ts';
import type { IndexLock } from '../index/index-lock.ts';
import { EXTENDED_FLAG, FLAG, STAT, type IndexTable } from '../index/index-table.ts';
import { IndexSkeleton } from '../index/serialize-index.ts';
import { statToWords, type StatComparison } from '../index/stat-words.ts';
import type { PathRules } from '../object/path-validity.ts';
import { MODE_GITLINK, MODE_SYMLINK } from '../object/tree.ts';
import { missing, type ObjectDatabase } from '../odb/object-database.ts';
import { BLOB } from '../pack/entry.ts';
import { cutBatches, groupFamilies } from '../plan/batches.ts';
import type { Plan } from '../plan/plan.ts';
import type { Progress } from '../settings.ts';
import { createGitlinkDirectory, createLink, linkHasTarget } from '../worktree/create-link.ts';
import { LeadingDirectories } from '../worktree/leading-directories.ts';
import { PathPresence } from '../worktree/path-presence.ts';
import { displayPath, maxPathBytes, WorktreePaths } from '../worktree/paths.ts';
import { FilterDrivers } from '../driver/drivers.ts';
import { Budget } from './budget.ts';
import { addPartners, collisionWarning, findCollisions, type Collisions } from './collisions.ts';
import { clearEntry, endRemovals } from './clear-way.ts';
import { compareWithIndex, compareWithNothing, type Comparison } from './compare.ts';
import {
  BYTES_DONE,
  COUNTERS,
  createControl,
  createCounters,
  DEFERRED,
  FILES_DONE,
  NEXT_BATCH,
  READY,
  STOP,
} from './control.ts';
import { CostMeter } from './cost-meter.ts';
import { EntryWriter } from './entry-writer.ts';
import { FilterPass, openFilterEntries, pathReason } from './filter-pass.ts';
import { buildManifest, type ConversionLookup, type Manifest } from './manifest.ts';
import type { Job, LfsAccess, Pass } from './messages.ts';
import { settleOddTrees } from './odd-trees.ts';
import { WorkerPool } from './pool.ts';
import { createRemovals, removeFiles } from './removals.ts';
import { repairTrees } from './repair-trees.ts';
import type { SparseRules } from './sparse-rules.ts';
import { writeBatch } from './worker-loop.ts';
import { fetchBlobs, type FetchMissing } from './promised-objects.ts';
import { isForWorkers, State, STAT_WORDS, type Tables } from './tables.ts';
import { orderWrites, sortWrites } from './write-order.ts';

export interface TreeCheckout {
  readonly odb: ObjectDatabase;
  readonly treeOid: Bytes;
  /** Absolute path of the working tree. */
  readonly workTree: string;
  /** Nothing but .git is in it, so that nothing on disk needs to be looked at. */
  readonly rootIsEmpty: boolean;
  /** The current index, null without one. */
  readonly index: IndexTable | null;
  /** null where core.sparseCheckout is off. */
  readonly sparse: SparseRules | null;
  /** Held by the caller; committed here on success. */
  readonly lock: IndexLock;
  readonly rules: PathRules;
  /** core.maxTreeDepth; undefined for git's default. */
  readonly maxTreeDepth?: number | undefined;
  readonly statComparison: StatComparison;
  /** Version of the index to be written, see IndexSkeleton. */
  readonly indexFormat: 2 | 4;
  /** core.ignoreStat: files that are written are marked assume-valid. */
  readonly ignoreStat: boolean;
  /** Names that differ in case or Unicode form may be one file, so nothing is written before the way is clear everywhere. */
  readonly foldsNames: boolean;
  /** All that is there was written by this run, so that paths which displace others are told of. */
  readonly isClone: boolean;
  readonly conversions: ConversionLookup;
  /** The conversions that the look-up gave numbers to; read after the manifest is made. */
  readonly conversionList: () => readonly Conversion[];
  /** The local Git LFS store. */
  readonly lfs: LfsAccess | null;
  /** Pure: the plan for this many files. */
  readonly plan: (files: number) => Plan;
  /** Pure: bytes that large objects may take under a plan. */
  readonly objectBudget: (plan: Plan) => number;
  readonly signal?: AbortSignal;
  readonly onProgress: (progress: Progress) => void;
  readonly warn: (line: string) => void;
  /** For filter drivers: their environment, asked for when one is needed, and the ref and commit that they are told. */
  readonly driverEnvironment: () => Promise<NodeJS.ProcessEnv>;
  readonly ref: string | null;
  readonly commit: string;
  /** A directory that must not be removed: the process's own. */
  readonly keep: string;
  /** Brings objects that are not here; absent where none are promised. */
  readonly fetchMissing?: FetchMissing | undefined;
  /** Called when all is decided and nothing is touched yet; may still throw. */
  readonly beforeTouching?: () => void;
}

export interface TreeOutcome {
  readonly plan: Plan;
  readonly phases: readonly PhaseCost[];
  readonly workers: readonly WorkerCost[];
  readonly files: number;
  readonly kept: number;
  /** Entries outside of the sparse checkout. */
  readonly excluded: number;
  readonly removed: number;
  readonly bytesWritten: number;
  /** Entries that could not be written, in index order. */
  readonly failures: readonly CheckoutError[];
  /** What went wrong beside them, a line each. */
  readonly problems: readonly string[];
  readonly deaths: readonly string[];
}

/** This tree needs git, found out before anything was touched. */
export class NeedsGit extends Error {
  readonly reasons: readonly string[];
  constructor(reasons: readonly string[]) {
    super(reasons.join('; '));
    this.reasons = reasons;
  }
}

/** How often progress is told. */
const PROGRESS_MS = 100;

/** Directories are made this many entries at a time before workers are told, so that they are not told for each file. */
const READY_STEP = 256;

class PhaseClock {
  readonly phases: PhaseCost[] = [];
  #start = performance.now();
  end(name: PhaseName): void {
    const now = performance.now();
    this.phases.push({ name, ms: now - this.#start });
    this.#start = now;
  }
}

/**
 * Checks the tree out.
 * @throws NeedsGit, CheckoutError; the lock is then released by the caller, and the old index stays
 */
export async function checkoutTree(request: TreeCheckout): Promise<TreeOutcome> {
  const clock = new PhaseClock();
  const pool = new WorkerPool();
  try {
    const prepared = prepare(request, pool);
    await loadTables(request.conversionList());
    clock.end('manifest');
    if (request.fetchMissing !== undefined) {
      await fetchBlobs(request.odb, prepared.manifest.tables, request.fetchMissing);
      clock.end('fetch-missing');
    }
    stopIfAborted(request);
    request.beforeTouching?.();
    return await write(request, prepared, pool, clock);
  } catch (error) {
    pool.dismiss();
    throw error;
  }
}

interface Prepared {
  readonly manifest: Manifest;
  readonly comparison: Comparison;
  /** Entries that go through filter drivers, which no worker writes. */
  readonly toFilter: number;
  readonly plan: Plan;
  readonly paths: WorktreePaths;
  readonly rootIsEmpty: boolean;
  readonly collisions: Collisions | null;
}

/** Makes the manifest and the plan; starts workers as soon as it is clear that there is work for them. */
function prepare(request: TreeCheckout, pool: WorkerPool): Prepared {
  const paths = new WorktreePaths(request.workTree);
  const presence = new PathPresence(paths);
  const { rootIsEmpty } = request;
  const matcher = request.sparse?.matcher ?? null;
  const many = request.plan(Number.MAX_SAFE_INTEGER).workers;
  const walked = buildManifest(request.odb, request.treeOid, {
    rules: request.rules,
    ...(request.maxTreeDepth === undefined ? {} : { maxDepth: request.maxTreeDepth }),
    maxPathBytes: maxPathBytes(process.platform) - paths.rootBytes,
    conversions: request.conversions,
    ...(matcher === null ? {} : { sparse: matcher }),
    ...(rootIsEmpty ? {} : { hasDirectory: (path, start, end) => presence.hasDirectory(path, start, end) }),
    // With nothing on disk every entry will be written, so threads can start while trees are read.
    ...(rootIsEmpty && many > 0
      ? { many: { files: firstCountWith(request.plan, many), notify: () => pool.start(many) } }
      : {}),
  });
  const manifest = walked.isOdd ? settleOddTrees(walked, request.conversions, matcher) : walked;
  repairTrees(manifest, request.odb);
  const reasons = [...manifest.needsGit];
  for (const conversion of request.conversionList()) {
    if (conversion.kind === 'git') reasons.push(conversion.reason ?? 'a conversion that only git does');
  }
  const path = pathReason(manifest.tables, request.conversionList());
  if (path !== null) reasons.push(path);
  if (reasons.length > 0) throw new NeedsGit(reasons);
  const comparison =
    request.index === null
      ? compareWithNothing(manifest.tables, request.statComparison.symlinks)
      : compareWithIndex(manifest.tables, request.index, paths, request.statComparison, request.sparse);
  if (comparison.needsGit.length > 0) throw new NeedsGit(comparison.needsGit);
  const collisions = request.foldsNames ? findCollisions(manifest) : null;
  if (collisions !== null) keepFromWorkers(manifest.tables, collisions);
  refuseEntries(manifest.tables, request.conversionList());
  const toFilter = openFilterEntries(manifest.tables, request.conversionList(), request.lfs !== null);
  const plan = request.plan(comparison.toWrite - toFilter);
  if (plan.workers > pool.size) pool.start(plan.workers - pool.size);
  return { manifest, comparison, toFilter, plan, paths, rootIsEmpty, collisions };
}

/** Stops where git would, at the first file to be written that it refuses; but before anything is touched. */
function refuseEntries(tables: Tables, conversions: readonly Conversion[]): void {
  if (!conversions.some(({ kind }) => kind === 'refused')) return;
  for (let entry = 0; entry < tables.count; entry++) {
    const conversion = conversions[tables.conversions[entry] ?? 0];
    const open = isForWorkers(tables.states[entry]) || tables.states[entry] === State.COLLIDED;
    if (!open || conversion?.kind !== 'refused') continue;
    const path = displayPath(tables.pathBytes, tables.pathOffsets[entry] ?? 0, tables.pathOffsets[entry + 1] ?? 0);
    throw new CheckoutError('filter-failed', `cannot write '${path}': ${conversion.reason ?? ''}`, { path });
  }
}

function keepFromWorkers(tables: Tables, { groups }: Collisions): void {
  for (let entry = 0; entry < tables.count; entry++) {
    const state = tables.states[entry];
    if (groups[entry] !== 0 && (state === State.PENDING || state === State.REPLACE))
      tables.states[entry] = State.COLLIDED;
  }
}

/** The number of files from which the plan has this many workers. Plans are monotone in the files, so halving finds it. */
function firstCountWith(plan: (files: number) => Plan, workers: number): number {
  let low = 0;
  let high = 1 << 20;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (plan(middle).workers >= workers) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Whether nothing but .git is in the working tree. */
export function isEmptyWorkTree(workTree: string): boolean {
  try {
    return readdirSync(workTree).every((name) => name === '.git');
  } catch (error) {
    throw ioError('read', workTree, error);
  }
}

function stopIfAborted(request: TreeCheckout): void {
  if (request.signal?.aborted === true) throw new CheckoutError('interrupted', 'interrupted; the old index stays');
}

async function write(
  request: TreeCheckout,
  prepared: Prepared,
  pool: WorkerPool,
  clock: PhaseClock,
): Promise<TreeOutcome> {
  const { manifest, comparison, toFilter, plan, paths } = prepared;
  const { tables } = manifest;
  const failures = new Map<number, CheckoutError>();

  // From here on memory is the workers'.
  request.odb.releaseMemory();
  const control = createControl();
  const job: Job = {
    tables,
    control,
    counters: createCounters(pool.size),
    budget: Budget.create(request.objectBudget(plan), pool.size),
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
      fail(tables, failures, entry, missing(tables.oids, entry * tables.format.oidBytes, tables.format));
    }
    if (removals !== null) removeFiles(control, removals, paths);
    await removing;
    stopIfAborted(request);
    const removed =
      request.index === null || removals === null
        ? { count: 0, warnings: [] }
        : endRemovals(request.index, comparison, removals, paths, request.keep);
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
    const directories = new LeadingDirectories(manifest.directories, tables, paths, prepared.rootIsEmpty, request.keep);
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
    try {
      filters.clearWay();
      await clearWay(request, prepared, order, directories, control, failures);
    } catch (error) {
      stop();
      await running;
      throw error;
    }
    clock.end('clear');

    const skeleton = new IndexSkeleton(tables, cacheTreeOf(manifest), request.indexFormat);
    const runHere = async (pass: Pass): Promise<void> => {
      if (pass.packs !== undefined) mainWriter.usePacks(pass.packs);
      while (writeBatch(job, pass, mainWriter)) {
        mainMeter.sample();
        await nextTurn();
      }
    };
    try {
      // The main thread has nothing else to do while workers write.
      if (toFilter > 0) await filters.run();
    } catch (error) {
      stop();
      await running;
      throw error;
    }
    await (running ?? runHere(first));
    const second = secondPass(first, control);
    if (second !== null) await (threads ? pool.pass(second) : runHere(second));
    const third = passOverUnread(request.odb, tables, control);
    if (third !== null) await (threads ? pool.pass(third) : runHere(third));
    // Threads that were started early may have found nothing but files of filter drivers.
    const idle = !threads && pool.size > 0;
    if (idle) pool.dismiss();
    const result = idle ? { costs: [], deaths: [] } : await pool.end();
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

/**
 * The pass over what could not be read where it was found: a repack by another process may have moved all that is left, so this is done
 * by all workers again. What cannot be read there either is left to the main thread. Null when there is nothing to do.
 */
function passOverUnread(odb: ObjectDatabase, tables: Tables, control: Int32Array): Pass | null {
  if (Atomics.load(control, STOP) !== 0) return null;
  const moved: number[] = [];
  for (let entry = 0; entry < tables.count; entry++) {
    const state = tables.states[entry];
    if (!isUnread(state) || !findAgain(odb, tables, entry)) continue;
    tables.states[entry] = state === State.UNREAD ? State.PENDING : State.VERIFY;
    moved.push(entry);
  }
  if (moved.length === 0) return null;
  const { order, positions } = sortWrites(tables, Uint32Array.from(moved));
  Atomics.store(control, NEXT_BATCH, 0);
  Atomics.store(control, READY, order.length);
  return { order, batchStarts: cutBatches(positions), deferred: null, packs: [...odb.packs] };
}

/** Looks for another place of an entry's object that could not be read, and puts it into the tables. */
function findAgain(odb: ObjectDatabase, tables: Tables, entry: number): boolean {
  if (!odb.findAgain(tables.oids, entry * tables.format.oidBytes, tables.packs[entry] ?? 0, tables.offsets[entry] ?? 0))
    return false;
  tables.packs[entry] = odb.pack;
  tables.offsets[entry] = odb.offset;
  return true;
}

/**
 * Whether workers remove the files that theirs replace. Not where names may fold: a removal for one entry could
 * hit what has just been written for another. And not in an empty working tree, where nothing but such another file can
 * be in the way.
 */
function workersReplace(request: TreeCheckout, prepared: Prepared): boolean {
  return !request.foldsNames && !prepared.rootIsEmpty;
}

/** Makes directories, and removes what is in the way if workers do not, in write order, letting the workers follow. */
async function clearWay(
  request: TreeCheckout,
  prepared: Prepared,
  order: Uint32Array,
  directories: LeadingDirectories,
  control: Int32Array,
  failures: Map<number, CheckoutError>,
): Promise<void> {
  const { tables } = prepared.manifest;
  const replace = workersReplace(request, prepared);
  const publish = (ready: number): void => {
    Atomics.store(control, READY, ready);
    Atomics.notify(control, READY);
  };
  if (request.foldsNames) {
    // The first one to need a directory says how it is spelled.
    for (let entry = 0; entry < tables.count; entry++) {
      const state = tables.states[entry];
      if (isForWorkers(state) || state === State.LATER || state === State.COLLIDED) {
        directories.ensure(tables.directories[entry] ?? 0);
      }
    }
  }
  for (let i = 0; i < order.length; i++) {
    const entry = order[i] ?? 0;
    if (i % READY_STEP === 0 && i > 0) {
      // Where names fold, a removal for one entry could hit what a worker has just written for another.
      if (!request.foldsNames) publish(i);
      // Let signals through now and then.
      if (i % (16 * READY_STEP) === 0) {
        await nextTurn();
        stopIfAborted(request);
      }
    }
    const existed = directories.ensure(tables.directories[entry] ?? 0);
    if (!replace && existed && tables.states[entry] !== State.VERIFY) clearOrFail(request, prepared, failures, entry);
  }
  publish(order.length);
}

/**
 * Removes what is still at the place of an entry that failed before its turn to be cleared, for want of its blob: git clears
 * the way first, and an old file must not pass for the new one.
 */
function clearFailed(
  request: TreeCheckout,
  { manifest: { tables }, paths }: Prepared,
  directories: LeadingDirectories,
  failures: ReadonlyMap<number, CheckoutError>,
): void {
  for (const entry of failures.keys()) {
    // Stat data are those of a file that is as it should be, as far as can be told without the blob.
    if (tables.stats[entry * STAT_WORDS + STAT.mtimeSeconds] !== 0) continue;
    try {
      if (directories.ensure(tables.directories[entry] ?? 0)) clearEntry(tables, entry, paths, request.keep);
    } catch (error) {
      // It has failed already, and the first reason is the better one.
      if (!(error instanceof CheckoutError)) throw error;
    }
  }
}

/** Removes what is in an entry's way; where that fails the entry has failed, and the others go on. */
function clearOrFail(
  request: TreeCheckout,
  prepared: Prepared,
  failures: Map<number, CheckoutError>,
  entry: number,
): boolean {
  try {
    clearEntry(prepared.manifest.tables, entry, prepared.paths, request.keep);
    return true;
  } catch (error) {
    if (!(error instanceof CheckoutError)) throw error;
    fail(prepared.manifest.tables, failures, entry, error);
    return false;
  }
}

/** Writes in the main thread, in index order, what no worker did: entries of workers that died, and collisions. */
async function writeRemaining(
  request: TreeCheckout,
  prepared: Prepared,
  directories: LeadingDirectories,
  writer: EntryWriter,
  filters: FilterPass,
  failures: Map<number, CheckoutError>,
): Promise<void> {
  const { manifest, paths, collisions } = prepared;
  const { tables } = manifest;
  directories.forget();
  addPartners(tables, paths);
  /** Groups of which one entry has taken another's place. */
  const hit = new Set<number>();
  const write = (entry: number, state: number): void => {
    for (;;) {
      tables.states[entry] = state;
      writer.write(entry, null);
      writer.dropRetained();
      if (!isUnread(tables.states[entry])) return;
      if (!findAgain(request.odb, tables, entry)) break;
      writer.usePacks(request.odb.packs);
    }
    tables.states[entry] = State.FAILED;
    if (writer.unread !== null) failures.set(entry, writer.unread);
  };
  for (let entry = 0; entry < tables.count; entry++) {
    const state = tables.states[entry];
    const group = collisions?.groups[entry] ?? 0;
    const open = state === State.COLLIDED || isUnread(state) || isForWorkers(state);
    if (!open && (group === 0 || state !== State.LATER)) continue;
    stopIfAborted(request);
    // A worker that died may have left a part of the file; a collision, another file.
    const directory = tables.directories[entry] ?? 0;
    if (state === State.COLLIDED || group > 0) directories.ensureAnew(directory);
    else directories.ensure(directory);
    // What is there stays as long as nobody knows that it must be other.
    if (state === State.UNREAD_VERIFY && group === 0) {
      write(entry, State.VERIFY);
      const now = tables.states[entry];
      if (now !== State.COLLIDED && now !== State.FILTER_VERIFY) continue;
    }
    if (group > 0 && isThere(tables, entry, paths)) hit.add(group);
    if (state === State.LATER) {
      makeLater(request, prepared, directories, failures, entry);
      continue;
    }
    if (!clearOrFail(request, prepared, failures, entry)) continue;
    if (filters.isFiltered(entry)) {
      await filters.writeCollided(entry);
      continue;
    }
    if (group > 0 && !isUnread(state) && !locate(request.odb, tables, failures, entry)) continue;
    writer.usePacks(request.odb.packs);
    write(entry, State.PENDING);
    // A file of Git LFS that is not in the store.
    if (tables.states[entry] === State.FILTER) await filters.writeCollided(entry);
    await nextTurn();
  }
  if (request.isClone && hit.size > 0 && collisions !== null) {
    request.warn(collisionWarning(tables, collisions.groups, hit));
  }
}

/** Finds the blob of an entry that the workers did not get. */
function locate(odb: ObjectDatabase, tables: Tables, failures: Map<number, CheckoutError>, entry: number): boolean {
  const oidAt = entry * tables.format.oidBytes;
  if (!odb.find(tables.oids, oidAt) && !odb.findAgain(tables.oids, oidAt, -1, 0)) {
    fail(tables, failures, entry, missing(tables.oids, oidAt, tables.format));
    return false;
  }
  tables.packs[entry] = odb.pack;
  tables.offsets[entry] = odb.offset;
  return true;
}

function isUnread(state: number | undefined): boolean {
  return state === State.UNREAD || state === State.UNREAD_VERIFY;
}

/** Makes links and submodule directories, in index order. */
function writeLater(
  request: TreeCheckout,
  prepared: Prepared,
  directories: LeadingDirectories,
  failures: Map<number, CheckoutError>,
): void {
  const { tables } = prepared.manifest;
  for (let entry = 0; entry < tables.count; entry++) {
    if (tables.states[entry] === State.LATER) makeLater(request, prepared, directories, failures, entry);
  }
}

/** Makes one link or submodule directory. */
function makeLater(
  request: TreeCheckout,
  prepared: Prepared,
  directories: LeadingDirectories,
  failures: Map<number, CheckoutError>,
  entry: number,
): void {
  const { tables } = prepared.manifest;
  const start = tables.pathOffsets[entry] ?? 0;
  const end = tables.pathOffsets[entry + 1] ?? 0;
  const absolute = (): Buffer => prepared.paths.absolute(tables.pathBytes, start, end);
  try {
    const existed = directories.ensure(tables.directories[entry] ?? 0);
    let made: ReturnType<typeof createLink>;
    if (tables.modes[entry] === MODE_GITLINK) {
      if (existed) clearEntry(tables, entry, prepared.paths, request.keep);
      made = createGitlinkDirectory(absolute());
      if (made === null) {
        tables.states[entry] = State.KEPT;
        return;
      }
    } else {
      const target = readLinkTarget(request.odb, tables, entry);
      // Stat data from the old index: the link matched them, but may have been changed in the same second.
      const matched = tables.stats[entry * STAT_WORDS + STAT.mtimeSeconds] !== 0;
      // In a clone a link takes no directory's place: a submodule may be meant to go below it (CVE-2024-32002).
      const yields = request.isClone && isDirectory(absolute());
      if (yields || (matched && linkHasTarget(absolute(), target))) {
        tables.states[entry] = State.KEPT;
        return;
      }
      if (existed) clearEntry(tables, entry, prepared.paths, request.keep);
      made = createLink(absolute(), target);
      if (made === null) {
        clearEntry(tables, entry, prepared.paths, request.keep);
        made = createLink(absolute(), target);
      }
    }
    if (made === null) throw bug('a link that cannot be put in place');
    statToWords(made, process.platform, tables.stats, entry * STAT_WORDS, tables.modes[entry] ?? 0);
    tables.states[entry] = State.WRITTEN;
  } catch (error) {
    fail(tables, failures, entry, error);
  }
}

function isThere(tables: Tables, entry: number, paths: WorktreePaths): boolean {
  const path = paths.absolute(tables.pathBytes, tables.pathOffsets[entry] ?? 0, tables.pathOffsets[entry + 1] ?? 0);
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return false;
  }
}

function isDirectory(path: Buffer): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function readLinkTarget(odb: ObjectDatabase, tables: Tables, entry: number): Bytes {
  const content = odb.read(tables.oids, entry * tables.format.oidBytes);
  if (odb.reader.type !== BLOB) throw new CheckoutError('object-corrupt', 'the link target is not a blob');
  const target = Buffer.from(bufferOver(content));
  odb.releaseMemory();
  return target;
}

function fail(tables: Tables, failures: Map<number, CheckoutError>, entry: number, error: unknown): void {
  const path = displayPath(tables.pathBytes, tables.pathOffsets[entry] ?? 0, tables.pathOffsets[entry + 1] ?? 0);
  if (error instanceof CheckoutError) {
    failures.set(
      entry,
      new CheckoutError(error.code, `cannot write '${path}': ${error.message}`, { ...error.subject, path }),
    );
  } else {
    const kind = tables.modes[entry] === MODE_SYMLINK ? 'create the link' : 'write';
    failures.set(entry, ioError(kind, path, error));
  }
  tables.states[entry] = State.FAILED;
}

/** Counts the final states. Stat data of failed entries are cleared, so that git looks at them. */
function settle(tables: Tables, ignoreStat: boolean): { written: number; kept: number; excluded: number } {
  let written = 0;
  let kept = 0;
  let excluded = 0;
  for (let entry = 0; entry < tables.count; entry++) {
    switch (tables.states[entry]) {
      case State.WRITTEN:
        written++;
        if (ignoreStat) tables.flags[entry] = (tables.flags[entry] ?? 0) | FLAG.assumeValid;
        break;
      case State.KEPT:
        kept++;
        break;
      case State.SKIPPED:
        excluded++;
        break;
      case State.FAILED:
        tables.stats.fill(0, entry * STAT_WORDS, (entry + 1) * STAT_WORDS);
        break;
      default:
        throw bug(`entry ${entry} ended without a state`);
    }
  }
  return { written, kept, excluded };
}

/** The cache tree, as far as the ids of trees can be vouched for. */
function cacheTreeOf(manifest: Manifest): Bytes {
  const { directories, tables } = manifest;
  const known = knownEntryCounts(manifest);
  const { count, irregular } = directories;
  const { oidBytes } = directories.format;
  const parent = new Int32Array(count);
  const nameStart = new Uint32Array(count);
  const nameEnd = new Uint32Array(count);
  const entryCount = new Uint32Array(count);
  const oids = new Uint8Array(count * oidBytes);
  // Directories without entries are in no index, so the others move up.
  const numbers = new Int32Array(count);
  let rows = 0;
  for (let i = 0; i < count; i++) {
    if (i > 0 && directories.entryCount[i] === 0) continue;
    const row = rows++;
    numbers[i] = row;
    const above = directories.parent[i] ?? -1;
    parent[row] = above < 0 ? -1 : (numbers[above] ?? 0);
    if (i > 0) {
      const pathStart = tables.pathOffsets[directories.firstEntry[i] ?? 0] ?? 0;
      nameStart[row] = pathStart + (above === 0 ? 0 : (directories.pathLength[above] ?? 0) + 1);
      nameEnd[row] = pathStart + (directories.pathLength[i] ?? 0);
    }
    entryCount[row] = irregular[i] === 1 ? UNKNOWN_TREE : (known[i] ?? 0);
    oids.set(directories.oids.subarray(i * oidBytes, (i + 1) * oidBytes), row * oidBytes);
  }
  return serializeCacheTree(
    { format: directories.format, count: rows, parent, nameStart, nameEnd, entryCount, oids },
    tables.pathBytes,
  );
}

/** The entries of each directory. An entry that is intended only is in no tree that git would make of the index. */
function knownEntryCounts({ directories, tables }: Manifest): Uint32Array {
  let counts = directories.entryCount;
  for (let entry = 0; entry < tables.count; entry++) {
    if (((tables.extendedFlags[entry] ?? 0) & EXTENDED_FLAG.intentToAdd) === 0) continue;
    if (counts === directories.entryCount) counts = counts.slice();
    for (let above = tables.directories[entry] ?? 0; above >= 0; above = directories.parent[above] ?? -1) {
      counts[above] = UNKNOWN_TREE;
    }
  }
  return counts;
}
