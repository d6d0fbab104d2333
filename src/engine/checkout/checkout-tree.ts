/**
 * Brings the working tree to a commit's tree: the stages of a checkout in their order. Nothing is touched before the manifest is
 * complete and every path in it was checked; the index is written last, through its lock, which the caller holds.
 */
import { readdirSync } from 'node:fs';
import { CheckoutError, ioError } from '../errors.ts';
import type { Conversion } from '../filter/conversion.ts';
import { loadTables } from '../filter/encode.ts';
import { knownTrees } from '../index/known-trees.ts';
import type { Plan } from '../plan/plan.ts';
import { PathPresence } from '../worktree/path-presence.ts';
import { WorktreePaths, displayPath, maxPathBytes } from '../worktree/paths.ts';
import { TablesBeforeCleaning } from './before-cleaning.ts';
import { cleanWorkTree } from './clean.ts';
import { trackedPaths } from './clean-walk.ts';
import { type Collisions, findCollisions } from './collisions.ts';
import { type Comparison, compareWithIndex, compareWithNothing } from './compare.ts';
import { openFilterEntries, pathReason } from './filter-pass.ts';
import { buildManifest, type Manifest } from './manifest.ts';
import { bringLfs, openSmallKept, settleKept } from './lfs-content.ts';
import { lookUpConversions } from './open-conversions.ts';
import { settleOddTrees } from './odd-trees.ts';
import { WorkerPool } from './pool.ts';
import { fetchBlobs } from './promised-objects.ts';
import { repairTrees } from './repair-trees.ts';
import { NeedsGit, PhaseClock, type Prepared, type TreeCheckout, type TreeOutcome, stopIfAborted } from './request.ts';
import { carryOver } from './stream/carry-over.ts';
import { State, type Tables, isForWorkers } from './tables.ts';
import { writeTree } from './write-tree.ts';

/**
 * Checks the tree out.
 * @throws NeedsGit, CheckoutError; the lock is then released by the caller, and the old index stays
 */
export async function checkoutTree(request: TreeCheckout): Promise<TreeOutcome> {
  const clock = new PhaseClock();
  const pool = request.streamed?.pool ?? new WorkerPool();
  try {
    const manifest = makeManifest(request, pool);
    const { cleaned, look } = await cleanAndLook(request, manifest, pool, clock);
    const prepared = prepare(request, manifest, look, pool);
    await loadTables(request.conversionList());
    clock.end('manifest');
    if (request.fetchMissing !== undefined) {
      await fetchBlobs(request.odb, prepared.manifest.tables, request.fetchMissing);
      clock.end('fetch-missing');
    }
    if (request.lfsSource !== undefined) {
      const { manifest: all, compared } = prepared;
      await bringLfs(
        request.odb,
        all.tables,
        request.conversionList,
        compared,
        request.lfsSource,
        request.fetchMissing,
      );
      clock.end('fetch-lfs');
    }
    stopIfAborted(request);
    request.beforeTouching?.();
    return { ...(await writeTree(request, prepared, pool, clock)), cleaned };
  } catch (error) {
    pool.dismiss();
    throw error;
  }
}

/**
 * Cleans, if that is asked for, and compares with what is there. git cleans first, too: what is compared does not meet what was
 * there before. Only a look at it, for what only git can do, comes before.
 */
async function cleanAndLook(
  request: TreeCheckout,
  manifest: Manifest,
  pool: WorkerPool,
  clock: PhaseClock,
): Promise<{ readonly cleaned: number; readonly look: Look }> {
  const { index } = request;
  if (request.clean === undefined) return { cleaned: 0, look: lookAtTree(request, manifest) };
  const before = index === null ? null : new TablesBeforeCleaning(manifest.tables, index);
  let first: Look | null = null;
  try {
    if (index !== null) first = lookAtTree(request, manifest);
  } catch (error) {
    // A change to a marked file, for one, may be gone when all is clean: that is for the second look to say.
    if (!(error instanceof CheckoutError)) throw error;
  }
  const showIndex = before?.hideIndex();
  const cleaned = await clock.within('clean', () => clean(request, pool));
  if (first !== null && cleaned === 0) {
    showIndex?.();
    return { cleaned, look: first };
  }
  before?.restore();
  return { cleaned, look: lookAtTree(request, manifest) };
}

/** Removes what is untracked, and gives the number of files. */
async function clean(request: TreeCheckout, pool: WorkerPool): Promise<number> {
  const { workTree, index, foldsNames, keep, signal, warn } = request;
  const { exclude = [], ignoreCase = false, spared = [] } = request.clean ?? {};
  return await cleanWorkTree(
    { workTree, tracked: trackedPaths(index), exclude, ignoreCase, foldsNames, spared, keep },
    { workers: request.plan(Number.MAX_SAFE_INTEGER).workers, pool, signal, warn },
  );
}

/** Makes the manifest; starts workers as soon as it is clear that there is work for them. */
function makeManifest(request: TreeCheckout, pool: WorkerPool): Manifest {
  const paths = new WorktreePaths(request.workTree);
  const presence = new PathPresence(paths);
  const { rootIsEmpty } = request;
  const matcher = request.sparse?.matcher ?? null;
  const many = request.plan(Number.MAX_SAFE_INTEGER).workers;
  const known = request.index === null ? null : knownTrees(request.index);
  // Over an index most files stay, and need no conversion.
  const conversions = request.index === null ? request.conversions : null;
  const walked = buildManifest(request.odb, request.treeOid, {
    rules: request.rules,
    ...(request.maxTreeDepth === undefined ? {} : { maxDepth: request.maxTreeDepth }),
    maxPathBytes: maxPathBytes(process.platform) - paths.rootBytes,
    conversions,
    ...(known === null ? {} : { known }),
    ...(matcher === null ? {} : { sparse: matcher }),
    ...(rootIsEmpty ? {} : { hasDirectory: (path, start, end) => presence.hasDirectory(path, start, end) }),
    // With nothing on disk every entry will be written, so threads can start while trees are read.
    ...(rootIsEmpty && many > 0 && pool.size === 0
      ? { many: { files: firstCountWith(request.plan, many), notify: () => pool.start(many) } }
      : {}),
  });
  const manifest = walked.isOdd ? settleOddTrees(walked, conversions, matcher) : walked;
  repairTrees(manifest, request.odb);
  const reasons = [...manifest.needsGit, ...(conversions === null ? [] : conversionReasons(request, manifest))];
  if (reasons.length > 0) throw new NeedsGit(reasons);
  return manifest;
}

/** Why only git can convert the files whose conversions were looked up. */
function conversionReasons(request: TreeCheckout, { tables }: Manifest): string[] {
  const conversions = request.conversionList();
  const path = pathReason(tables, conversions);
  return [
    ...conversions
      .filter(({ kind }) => kind === 'git')
      .map(({ reason }) => reason ?? 'a conversion that only git does'),
    ...(path === null ? [] : [path]),
  ];
}

/** What a comparison with the index and the working tree came to; the rest of it is in the tables. */
interface Look {
  readonly comparison: Comparison;
  /** Entries that `openSmallKept` has opened. */
  readonly opened: readonly number[];
}

/**
 * Compares with what is there.
 * @throws NeedsGit, CheckoutError
 */
function lookAtTree(request: TreeCheckout, manifest: Manifest): Look {
  const paths = new WorktreePaths(request.workTree);
  const comparison =
    request.index === null
      ? compareWithNothing(manifest.tables, request.statComparison.symlinks)
      : compareWithIndex(manifest.tables, request.index, paths, request.statComparison, request.sparse);
  const reasons = [...comparison.needsGit];
  const opened = request.index === null || request.lfsSource === undefined ? [] : openSmallKept(manifest.tables);
  if (request.index !== null && comparison.toWrite + opened.length > 0) {
    lookUpConversions(manifest, request.conversions, request.foldsNames);
    reasons.push(...conversionReasons(request, manifest));
  }
  if (reasons.length > 0) throw new NeedsGit(reasons);
  return { comparison, opened };
}

/** Makes the plan of what was found. */
function prepare(request: TreeCheckout, manifest: Manifest, look: Look, pool: WorkerPool): Prepared {
  const paths = new WorktreePaths(request.workTree);
  const { rootIsEmpty } = request;
  const compared = settleKept(manifest.tables, request.conversionList(), look.opened);
  let comparison: Comparison = {
    ...look.comparison,
    kept: look.comparison.kept - compared.length,
    toWrite: look.comparison.toWrite + compared.length,
  };
  // The plan is for all of them.
  const files = comparison.toWrite;
  if (request.streamed !== undefined) comparison = withStreamed(manifest, comparison, request);
  const collisions = request.foldsNames ? findCollisions(manifest) : null;
  if (collisions !== null) keepFromWorkers(manifest.tables, collisions);
  refuseEntries(manifest.tables, request.conversionList());
  const toFilter = openFilterEntries(manifest.tables, request.conversionList(), request.lfs !== null);
  const plan = request.plan(files - toFilter);
  if (plan.workers > pool.size) pool.start(plan.workers - pool.size);
  return { manifest, comparison, compared, toFilter, plan, paths, rootIsEmpty, collisions };
}

/** Leaves out what was written while the pack came. */
function withStreamed(manifest: Manifest, comparison: Comparison, request: TreeCheckout): Comparison {
  if (request.streamed !== undefined) carryOver(manifest, request.conversionList(), request.streamed);
  const { tables } = manifest;
  let toWrite = 0;
  for (let entry = 0; entry < tables.count; entry++) if (isForWorkers(tables.states[entry])) toWrite++;
  return { ...comparison, toWrite };
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
