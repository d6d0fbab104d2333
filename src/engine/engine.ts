/**
 * The engine's front door and the order of its stages: settings, plan, fetch, checkout, report. Nothing else is decided here.
 */
import { existsSync } from 'node:fs';
import { attributeFiles } from './config/attribute-files.ts';
import type { Config } from './config/config.ts';
import type { Environment } from './config/environment.ts';
import { makesLinks } from './config/symlinks.ts';
import { AttributeConversions } from './checkout/conversion-lookup.ts';
import { cleanWorkTree, type CleanOutcome } from './checkout/clean.ts';
import { checkoutTree, isEmptyWorkTree, NeedsGit, type TreeOutcome } from './checkout/checkout-tree.ts';
import { foldsCase } from './checkout/collisions.ts';
import { countFiles } from './checkout/count-files.ts';
import { hooksNeedGit, indexNeedsGit, repositoryNeedsGit } from './checkout/needs-git.ts';
import type { LfsAccess } from './checkout/messages.ts';
import { openObjects } from './checkout/open-objects.ts';
import { fetchTrees, peelPromised, type FetchMissing } from './checkout/promised-objects.ts';
import { peelToTree } from './checkout/peel.ts';
import { readSparseRules } from './checkout/sparse-rules.ts';
import type { PhaseCost } from './cost.ts';
import { CheckoutError, type ErrorJson } from './errors.ts';
import { cloneByGit } from './fetch/clone.ts';
import { fetchByGit } from './fetch/fetch.ts';
import { fetchPromised, promisorRemotes } from './fetch/promised.ts';
import { readConversionConfig } from './filter/conversion.ts';
import { lfsStore } from './filter/lfs-store.ts';
import { processEnvironment } from './gitdir/environment.ts';
import { childEnvironment } from './gitdir/child-environment.ts';
import { findGit } from './gitdir/git-executable.ts';
import { runHook, type HookName } from './gitdir/hooks.ts';
import { openRepositoryAndConfig, type Repository } from './gitdir/repository.ts';
import { writeSparseSettings } from './gitdir/sparse-settings.ts';
import type { HostFacts } from './host-facts.ts';
import { probeHost } from './host/probe-host.ts';
import { IndexLock } from './index/index-lock.ts';
import { EXTENDED_FLAG, type IndexTable } from './index/index-table.ts';
import { indexFormat } from './index/index-version.ts';
import { readWholeIndex } from './index/read-whole-index.ts';
import { parseSharedRepository } from './index/shared-permissions.ts';
import { hasSparseDirectories } from './index/sparse-index.ts';
import type { ObjectDatabase } from './odb/object-database.ts';
import { readTree } from './odb/read-tree.ts';
import { objectBudget } from './plan/object-budget.ts';
import { planCheckout } from './plan/plan-checkout.ts';
import type { Plan, PlanReason } from './plan/plan.ts';
import { routeEngine } from './plan/route.ts';
import { removeBranchState, stateThatNeedsGit } from './refs/branch-state.ts';
import { prepareHeadUpdate, type HeadChange, type HeadUpdate } from './refs/head-update.ts';
import { resolveRef } from './refs/read-refs.ts';
import { resolveCheckoutRevision, resolveRevision, type RevisionFacts } from './refs/revision.ts';
import { planUpstream, type UpstreamPlan } from './refs/remote-tracking.ts';
import { writeUpstream } from './refs/upstream.ts';
import { REPORT_SCHEMA_VERSION, type Fallback, type Report } from './report/report.ts';
import { parseSparseSetting } from './setting-values.ts';
import type {
  CheckoutRequest,
  CleanRequest,
  CloneRequest,
  EnginePorts,
  FetchOutcome,
  FetchRequest,
  PlanRequest,
  RunSettings,
  TransportChoice,
} from './settings.ts';

export { spawnGit } from './fetch/git-process.ts';
export {
  parseEngineChoice,
  parseMemoryLimit,
  parseSparseSetting,
  parseTransportChoice,
  parseWorkers,
} from './setting-values.ts';

export type { CleanOutcome } from './checkout/clean.ts';
export type { Report } from './report/report.ts';
export type * from './settings.ts';

/** Where a checkout stands when it ends, well or badly. */
interface RunState {
  readonly startedMs: number;
  readonly cpuStart: NodeJS.CpuUsage;
  readonly fetched: FetchOutcome | undefined;
  phases: PhaseCost[];
  plan: Plan;
  engine: 'native' | 'git';
  commit: string | null;
  fallbacks: Fallback[];
}

const NO_PLAN: Plan = { workers: 0, lanes: 1, memoryLimitBytes: 0, reasons: [] };

/** Numbers of a finished checkout that the report shows. */
interface Totals {
  readonly files: number;
  readonly kept: number;
  readonly excluded: number;
  readonly removed: number;
  readonly bytesWritten: number;
}

const NOTHING: Totals = { files: 0, kept: 0, excluded: 0, removed: 0, bytesWritten: 0 };

/**
 * Brings the working tree and index to what the request's target names, from objects at hand, as `git checkout --force`
 * does.
 * @param fetched what brought the objects, for the report
 * @returns the report; on an expected failure with its `error`. Only bugs are thrown.
 */
export async function checkout(request: CheckoutRequest, ports: EnginePorts, fetched?: FetchOutcome): Promise<Report> {
  return await runCheckout(request, ports, fetched);
}

/**
 * Brings objects into a repository.
 * @throws CheckoutError fetch-failed, authentication-failed, unknown-revision, interrupted, git-missing, usage
 */
export async function fetch(request: FetchRequest, ports: EnginePorts): Promise<FetchOutcome> {
  refuseStream(request.transport);
  return await fetchByGit(request, ports);
}

/**
 * Removes what is untracked or ignored, as `git clean -ffdx` does. It touches neither the git directory nor tracked files, so it
 * may run beside a fetch.
 * @throws CheckoutError what is wrong with the repository; interrupted; io
 */
export async function clean(request: CleanRequest, ports: EnginePorts): Promise<CleanOutcome> {
  const { directory, exclude, signal } = request;
  const opened = await openRepositoryAndConfig({ directory, config: [] }, ports.git, signal);
  return await cleanWorkTree({ ...opened, git: ports.git, exclude, keep: process.cwd(), signal });
}

/**
 * Makes a repository, fetches, and checks out.
 * @returns the report as `checkout`
 * @throws CheckoutError what keeps the repository from being made or fetched into; nothing of it is left then
 */
export async function clone(request: CloneRequest, ports: EnginePorts): Promise<Report> {
  refuseStream(request.transport);
  const started = performance.now();
  const cloned = await cloneByGit(request, process.cwd(), ports);
  const fetched = cloned.outcome === null ? undefined : { ...cloned.outcome, ms: performance.now() - started };
  if (cloned.target === null) {
    return report(beginRun(fetched), NOTHING, [], []);
  }
  return await runCheckout(
    { ...request, directory: cloned.directory, target: cloned.target },
    ports,
    fetched,
    cloned.reflogMessage,
  );
}

/**
 * Says what a checkout in a directory would do, and why: of so many files, or of those of the repository there.
 * @throws CheckoutError unsupported for an engine or transport that cannot be had here; what is wrong with the repository
 */
export async function plan(request: PlanRequest, ports: EnginePorts): Promise<Plan> {
  refuseStream(request.transport);
  const opened = await openOrNothing(request, ports);
  const reasons: PlanReason[] = [];
  let { files } = request;
  if (files === undefined) {
    const counted =
      opened === null
        ? null
        : countFiles(opened.repository, opened.config, processEnvironment(), (line) => ports.observer.warning(line));
    files = counted ?? DEFAULT_PLANNED_FILES;
    if (counted === null) {
      const text = `git finds no repository here: ${files} files are assumed`;
      reasons.push({ about: 'workers', text, decided: false });
    }
  }
  if (request.bytes !== undefined) {
    const text = `${request.bytes} bytes: no bound, as a checkout does not know sizes before it reads the files`;
    reasons.push({ about: 'workers', text, decided: false });
  }
  if (opened !== null || request.engine !== 'auto') {
    reasons.push(
      ...routeEngine(request.engine, opened === null ? [] : await whatNeedsGit(opened, ports, request.signal)).reasons,
    );
  }
  if (request.transport === 'git') reasons.push({ about: 'transport', text: 'git, as asked for', decided: true });
  const host = request.hostFacts ?? probeHost({ workTree: opened?.repository.workTree ?? request.directory });
  return planFor({ request, host, config: opened?.config ?? null }, files, reasons);
}

/** The repository of a plan; null where there is none with a working tree, or no git to ask. */
async function openOrNothing(request: PlanRequest, ports: EnginePorts): Promise<OpenedRepository | null> {
  const { directory, config, signal } = request;
  try {
    return await openRepositoryAndConfig({ directory, config }, ports.git, signal);
  } catch (error) {
    const absent = ['not-a-repository', 'io', 'git-missing'];
    if (error instanceof CheckoutError && absent.includes(error.code)) return null;
    throw error;
  }
}

function refuseStream(transport: TransportChoice): void {
  if (transport !== 'stream') return;
  throw new CheckoutError('unsupported', "transport 'stream' is not built yet; use 'auto' or 'git'", {
    option: 'transport',
  });
}

/** Files that a plan assumes where none are known: enough that the number is no bound. */
const DEFAULT_PLANNED_FILES = 100_000;

function beginRun(fetched: FetchOutcome | undefined): RunState {
  return {
    startedMs: performance.now(),
    cpuStart: process.cpuUsage(),
    fetched,
    phases: fetched === undefined ? [] : [{ name: 'fetch', ms: fetched.ms }],
    plan: NO_PLAN,
    engine: 'native',
    commit: null,
    fallbacks: [],
  };
}

async function runCheckout(
  request: CheckoutRequest,
  ports: EnginePorts,
  fetched: FetchOutcome | undefined,
  reflogMessage?: string,
): Promise<Report> {
  const run = beginRun(fetched);
  if (fetched === undefined) run.phases.push({ name: 'start', ms: run.startedMs });
  try {
    const location = {
      directory: request.directory,
      gitDir: request.gitDir,
      workTree: request.workTree,
      config: request.config,
    };
    // Before the configuration is read, since it changes with this.
    if (request.sparse !== undefined && request.sparse.kind !== 'off') {
      const { kind, patterns } = request.sparse;
      const setting = parseSparseSetting(patterns, kind === 'cone', 'sparse');
      await writeSparseSettings(location, setting, ports.git, request.signal);
    }
    const opened = await openRepositoryAndConfig(location, ports.git, request.signal);
    const host = request.hostFacts ?? probeHost({ workTree: opened.repository.workTree });
    const session = { request, ports, run, host, reflogMessage, ...opened };
    if (request.clean !== undefined) await cleanFirst(session, request.clean.exclude);
    return await route(session);
  } catch (error) {
    if (!(error instanceof CheckoutError)) throw error;
    return report(run, NOTHING, [], [], error);
  }
}

/** Removes what is untracked before a checkout. What cannot be removed is told and stays, as with `git clean`. */
async function cleanFirst(session: Session, exclude: readonly string[]): Promise<void> {
  const { request, ports, run } = session;
  const { repository, config } = session;
  const outcome = await cleanWorkTree({
    ...{ repository, config, exclude },
    git: ports.git,
    keep: process.cwd(),
    signal: request.signal,
  });
  run.phases.push({ name: 'clean', ms: outcome.ms });
  for (const line of outcome.failures) ports.observer.warning(`cannot remove ${line}`);
}

interface OpenedRepository {
  readonly repository: Repository;
  readonly config: Config;
}

/** What a checkout works with. */
interface Session extends OpenedRepository {
  readonly request: CheckoutRequest;
  readonly ports: EnginePorts;
  readonly run: RunState;
  readonly host: HostFacts;
  readonly reflogMessage: string | undefined;
}

/** Takes our own engine, and git where something needs it; all such things are found before anything is touched. */
async function route(session: Session): Promise<Report> {
  const early = routeEngine(session.request.engine, await whatNeedsGit(session, session.ports, session.request.signal));
  if (early.engine === 'git') return await checkoutByGit(session, early.reasons);
  try {
    return await checkoutNatively(session, early.reasons);
  } catch (error) {
    return await checkoutByGit(session, routeEngine(session.request.engine, reasonsForGit(error)).reasons);
  }
}

/** What the repository and its configuration have that only git can do. */
async function whatNeedsGit(
  { repository, config }: OpenedRepository,
  ports: EnginePorts,
  signal: AbortSignal | undefined,
): Promise<string[]> {
  const environment = processEnvironment();
  const reasons = repositoryNeedsGit(repository, config, environment);
  reasons.push(...(await hooksNeedGit({ repository, config, environment }, ports.git, signal)));
  const state = stateThatNeedsGit(repository.gitDir);
  return state === null ? reasons : [...reasons, state];
}

/** What our engine found that only git can do; all other errors go on. Nothing has been touched then. */
function reasonsForGit(error: unknown): readonly string[] {
  if (error instanceof NeedsGit) return error.reasons;
  if (error instanceof CheckoutError && error.code === 'unsupported') return [error.message];
  throw error;
}

function planFor(
  { request, host, config }: { request: RunSettings; host: HostFacts; config: Config | null },
  files: number,
  routeReasons: readonly PlanReason[],
): Plan {
  const threshold = config?.getInt('checkout.thresholdForParallelism');
  const planned = planCheckout({
    host,
    files,
    workers: request.workers,
    memoryLimitBytes: request.memoryLimitBytes,
    ...(threshold === undefined ? {} : { thresholdForParallelism: threshold }),
  });
  return { ...planned, reasons: [...planned.reasons, ...routeReasons] };
}

/** Where HEAD goes, with everything that the target's names stand for looked up. */
interface ResolvedTarget {
  /** Id of what was named: a commit, or a tag that leads to one. */
  readonly oid: string;
  /** The ref that was named, symbolic refs followed: what filter drivers are told. */
  readonly refName: string | null;
  /** null: HEAD stays as it is. */
  readonly change: ((commit: string) => HeadChange) | null;
  readonly upstream: UpstreamPlan | null;
}

async function resolveTarget(session: Session): Promise<ResolvedTarget> {
  const { request, repository, config, ports } = session;
  const facts: RevisionFacts = {
    dirs: repository,
    objectFormat: repository.objectFormat,
    config,
    git: ports.git,
    gitOptions: repository.gitOptions,
    cwd: repository.workTree,
    signal: request.signal,
  };
  const { target } = request;
  const branchFrom = (
    branch: string,
    start: { oid: string; refName: string | null },
    startPoint: string,
  ): ResolvedTarget => ({
    oid: start.oid,
    refName: start.refName,
    change: (commit) => ({ kind: 'reset-branch', refName: `refs/heads/${branch}`, oid: commit, startPoint }),
    upstream: start.refName === null ? null : planUpstream(config, branch, start.refName),
  });
  switch (target.kind) {
    case 'branch':
      return branchFrom(target.branch, await resolveRevision(facts, target.startPoint), target.startPoint);
    case 'detach': {
      const { oid, refName } = await resolveRevision(facts, target.revision);
      return {
        oid,
        refName,
        change: (commit) => ({ kind: 'detach', oid: commit, to: target.revision }),
        upstream: null,
      };
    }
    case 'head':
    case 'revision': {
      const text = target.kind === 'head' ? 'HEAD' : target.revision;
      const found = await resolveCheckoutRevision(facts, text);
      if (found.kind === 'head') return { oid: found.oid, refName: null, change: null, upstream: null };
      if (found.kind === 'detached') {
        // '@{-1}' stands for what was checked out before, and it is that which the reflog names.
        const to = /^(-|@\{-[0-9]+\})$/.test(text) ? found.oid : text;
        const change = (commit: string): HeadChange => ({ kind: 'detach', oid: commit, to });
        return { oid: found.oid, refName: found.refName, change, upstream: null };
      }
      if (found.trackingRef !== undefined) {
        const branch = found.refName.slice('refs/heads/'.length);
        return branchFrom(branch, { oid: found.oid, refName: found.trackingRef }, found.trackingRef);
      }
      const { oid, refName } = found;
      return { oid, refName, change: () => ({ kind: 'switch', refName }), upstream: null };
    }
  }
}

async function checkoutNatively(session: Session, routeReasons: readonly PlanReason[]): Promise<Report> {
  const { request, repository, config, ports } = session;
  const environment = processEnvironment();
  const target = await resolveTarget(session);
  const lock = IndexLock.acquire(
    repository.indexPath,
    parseSharedRepository(config.getAll('core.sharedRepository').at(-1)),
  );
  let odb: ObjectDatabase | null = null;
  const prepared: { head: HeadUpdate | null } = { head: null };
  try {
    const warn = (line: string): void => ports.observer.warning(line);
    odb = openObjects(repository, config, environment, warn, request.verify);
    const fetchMissing = missingObjectsFetch(session);
    const { commit, tree } =
      fetchMissing === undefined ? peelToTree(odb, target.oid) : await peelPromised(odb, target.oid, fetchMissing);
    if (fetchMissing !== undefined) await fetchTrees(odb, tree, fetchMissing);
    const trees = odb;
    const index = readWholeIndex(repository, (oids, oidAt) => readTree(trees, oids, oidAt));
    const sparse = readSparseRules(repository, config, request.sparse?.kind === 'off', warn);
    if (index !== null) {
      const reasons = indexNeedsGit(index);
      if (reasons.length > 0) throw new NeedsGit(reasons);
    }
    const rootIsEmpty = isEmptyWorkTree(repository.workTree);
    const ignoreCase = config.getBool('core.ignoreCase') ?? false;
    const conversions = new AttributeConversions(
      odb,
      readConversionConfig(config, process.platform),
      {
        info: repository.attributesPath,
        ...attributeFiles({
          config,
          environment,
          platform: process.platform,
          gitProgram: findGit(environment, process.platform),
        }),
      },
      ignoreCase,
      rootIsEmpty
        ? null
        : { workTree: repository.workTree, isTracked: (path) => index !== null && indexHas(index, path) },
    );
    const outcome = await checkoutTree({
      odb,
      treeOid: tree,
      workTree: repository.workTree,
      rootIsEmpty,
      index,
      sparse,
      lock,
      rules: {
        ntfs: config.getBool('core.protectNTFS') ?? true,
        hfs: config.getBool('core.protectHFS') ?? process.platform === 'darwin',
        windows: process.platform === 'win32',
      },
      maxTreeDepth: config.getInt('core.maxTreeDepth'),
      statComparison: {
        trustCtime: config.getBool('core.trustCtime') ?? true,
        checkStatMinimal: config.get('core.checkStat')?.toLowerCase() === 'minimal',
        fileMode: config.getBool('core.fileMode') ?? true,
        symlinks: makesLinks(config, environment, process.platform),
        platform: process.platform,
      },
      indexFormat: indexFormat({
        old: index?.version ?? null,
        environment: environment['GIT_INDEX_VERSION'],
        configured: config.getInt('index.version'),
        manyFiles: config.getBool('feature.manyFiles') ?? false,
      }),
      ignoreStat: config.getBool('core.ignoreStat') ?? false,
      foldsNames: ignoreCase || (config.getBool('core.precomposeUnicode') ?? false) || foldsCase(repository.workTree),
      isClone: session.reflogMessage !== undefined,
      conversions,
      conversionList: () => conversions.conversions,
      lfs: lfsAccess(session, { ...environment, ...request.environment }),
      plan: (files) => planFor(session, files, routeReasons),
      objectBudget: (plan) => objectBudget(plan, request.memoryLimitBytes),
      ...(request.signal === undefined ? {} : { signal: request.signal }),
      onProgress: (progress) => ports.observer.progress(progress),
      warn,
      driverEnvironment: async () =>
        childEnvironment({
          repository,
          location: request,
          environment: { ...environment, ...request.environment },
          execPath: await execPath(session),
        }),
      ref: target.refName,
      commit,
      keep: process.cwd(),
      fetchMissing,
      beforeTouching: () => {
        if (target.change === null) return;
        prepared.head = prepareHeadUpdate(
          { dirs: repository, config, environment, reflogMessage: session.reflogMessage },
          target.change(commit),
        );
      },
    });
    const oldCommit = resolveRef(repository, 'HEAD')?.oid ?? '0'.repeat(2 * repository.objectFormat.oidBytes);
    // The working tree was updated (1), and no skip-worktree bit changed (0); git heeds no exit status here.
    await hook(session, 'post-index-change', ['1', '0']);
    prepared.head?.commit();
    if (request.sparse?.kind === 'off') await endSparse(session);
    removeBranchState(repository.gitDir);
    if (target.upstream !== null) {
      await writeUpstream(
        { dirs: repository, config, git: ports.git, gitOptions: repository.gitOptions, cwd: repository.workTree },
        target.upstream,
      );
    }
    const hookStatus = await hook(session, 'post-checkout', [oldCommit, commit, '1']);
    return nativeReport(session, outcome, commit, hookStatus);
  } finally {
    prepared.head?.abort();
    lock.release();
    odb?.close();
  }
}

/** File systems of Linux on which two files may share blocks. */
const SHARING_FILE_SYSTEMS: readonly string[] = ['btrfs', 'xfs', 'bcachefs'];

function lfsAccess({ repository, config, host }: Session, environment: Environment): LfsAccess | null {
  const store = lfsStore({ storage: config.get('lfs.storage'), commonDir: repository.commonDir, environment });
  const shareBlocks = host.platform === 'linux' && SHARING_FILE_SYSTEMS.includes(host.fileSystem.type);
  return store === null ? null : { store, shareBlocks };
}

/** Where git's own programs are: those whom it starts find them first. */
async function execPath({ ports, request, repository }: Session): Promise<string> {
  const result = await ports.git({
    args: ['--exec-path'],
    cwd: repository.workTree,
    ...(request.signal === undefined ? {} : { signal: request.signal }),
  });
  if (result.exitCode !== 0) throw gitFailure('--exec-path', result.stderr);
  return result.stdout.toString('utf8').replace(/\r?\n$/, '');
}

/** How objects are fetched that a partial clone lacks; undefined where nobody has promised any. */
function missingObjectsFetch({ request, repository, config, ports }: Session): FetchMissing | undefined {
  const remotes = promisorRemotes(config, processEnvironment());
  if (remotes.length === 0) return undefined;
  const { gitOptions, workTree: cwd } = repository;
  const { signal, fetchEnv: env = {} } = request;
  return async (missing) => {
    await fetchPromised({ ports, gitOptions, cwd, remotes, env, signal }, missing);
  };
}

/** Runs a hook, and gives its exit status; 0 where there is none. */
async function hook(session: Session, name: HookName, args: readonly string[]): Promise<number> {
  const { request, ports, repository, config } = session;
  return await runHook(name, args, {
    repository,
    config,
    environment: processEnvironment(),
    location: request,
    git: ports.git,
    signal: request.signal,
    onLine: (line) => ports.observer.info(line),
  });
}

function hookFailure(session: Session, status: number): CheckoutError | undefined {
  if (status === 0) return undefined;
  return new CheckoutError('hook-failed', `the post-checkout hook ended with status ${status}`, {
    // 'git checkout' makes 1 of any failure, 'git clone' ends as its hook does.
    exitStatus: session.reflogMessage === undefined ? 1 : status,
  });
}

function nativeReport(session: Session, outcome: TreeOutcome, commit: string, hookStatus: number): Report {
  const { run, ports } = session;
  run.plan = outcome.plan;
  run.phases.push(...outcome.phases);
  run.commit = commit;
  for (const death of outcome.deaths) ports.observer.warning(death);
  const skipped = outcome.failures.map((error) => ({ path: error.subject.path ?? '', reason: error.message }));
  for (const problem of outcome.problems) ports.observer.warning(problem);
  const errors = [...outcome.failures, ...outcome.problems.map((line) => new CheckoutError('filter-failed', line))];
  const [first] = errors;
  const more = errors.length - 1;
  const error =
    first === undefined
      ? hookFailure(session, hookStatus)
      : new CheckoutError(
          'write-failed',
          more === 0 ? first.message : `${first.message} (and ${more} more)`,
          first.subject,
          first,
        );
  return report(run, outcome, outcome.workers, skipped, error);
}

/** Whether the index has an entry of this path: a binary search over its sorted paths. */
function indexHas(index: IndexTable, path: Uint8Array): boolean {
  let low = 0;
  let high = index.count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const start = index.pathOffsets[middle] ?? 0;
    const end = index.pathOffsets[middle + 1] ?? 0;
    const order = Buffer.compare(index.pathBytes.subarray(start, end), path);
    if (order === 0) return true;
    if (order < 0) low = middle + 1;
    else high = middle;
  }
  return false;
}

/** Ends the sparse checkout in the configuration, once everything has been written. */
async function endSparse({ request, repository, config, ports }: Session): Promise<void> {
  if (config.getBool('core.sparseCheckout') !== true) return;
  const { gitDir, workTree } = repository;
  const location = { directory: workTree, gitDir, workTree, config: request.config };
  await writeSparseSettings(location, { kind: 'off' }, ports.git, request.signal);
}

/** `git sparse-checkout disable`, where there is something to end: `git checkout` would not write what was left out. */
async function endSparseByGit({ request, repository, config, ports }: Session): Promise<void> {
  const index = existsSync(repository.indexPath) ? indexOrNothing(repository) : undefined;
  const skipping =
    index === null ||
    index?.extendedFlags.some((flags) => (flags & EXTENDED_FLAG.skipWorktree) !== 0) === true ||
    config.getBool('core.sparseCheckout') === true;
  if (!skipping) return;
  const result = await ports.git({
    args: [...repository.gitOptions, 'sparse-checkout', 'disable'],
    cwd: repository.workTree,
    ...(request.signal === undefined ? {} : { signal: request.signal }),
  });
  if (result.exitCode !== 0) throw gitFailure('sparse-checkout', result.stderr);
}

/** Hands the checkout to `git checkout`, with the workers that our plan would use. */
async function checkoutByGit(session: Session, routeReasons: readonly PlanReason[]): Promise<Report> {
  const { request, repository, ports, run } = session;
  run.engine = 'git';
  run.plan = planFor(session, DEFAULT_PLANNED_FILES, routeReasons);
  if (request.verify === true) {
    const why = routeReasons.map(({ text }) => text).join('; ');
    throw new CheckoutError('unsupported', `git does not verify the objects that it checks out (${why})`, {
      option: 'verify',
    });
  }
  for (const { text } of routeReasons) {
    const reason = text.replace(/^git(: |, )/, '');
    ports.observer.info(`checkout by git: ${reason}`);
    run.fallbacks.push({ stage: 'checkout', reason });
  }
  if (request.engine === 'git') run.fallbacks = [];
  const fresh = !existsSync(repository.indexPath);
  const before = indexOrNothing(repository);
  const started = performance.now();
  if (request.sparse?.kind === 'off') await endSparseByGit(session);
  const result = await ports.git({
    args: [
      ...repository.gitOptions,
      '-c',
      `checkout.workers=${Math.max(1, run.plan.workers)}`,
      'checkout',
      '--quiet',
      '--force',
      ...targetArguments(request),
      '--',
    ],
    cwd: repository.workTree,
    ...(request.signal === undefined ? {} : { signal: request.signal }),
  });
  run.phases.push({ name: 'git-checkout', ms: performance.now() - started });
  if (request.signal?.aborted === true) throw new CheckoutError('interrupted', 'interrupted while git checked out');
  if (result.exitCode !== 0) throw gitFailure('checkout', result.stderr);
  run.commit = resolveRef(repository, 'HEAD')?.oid ?? null;
  const after = indexOrNothing(repository);
  if (after !== null && (fresh || before !== null)) return report(run, compareIndexes(before, after), [], []);
  // An index that we cannot read: of a fresh tree all is written, of another one nothing is known.
  const totals = fresh ? await countTracked(session) : NOTHING;
  return report(run, totals, [], []);
}

function targetArguments({ target }: CheckoutRequest): string[] {
  switch (target.kind) {
    case 'head':
      return [];
    case 'revision':
      return [target.revision];
    case 'branch':
      return ['-B', target.branch, target.startPoint];
    case 'detach':
      return ['--detach', target.revision];
  }
}

function gitFailure(command: string, stderr: string): CheckoutError {
  const lines = stderr.split('\n').map((line) => line.trim());
  const line = lines.find((each) => /^(fatal|error): /.test(each)) ?? lines.find((each) => each !== '') ?? 'no message';
  return new CheckoutError('git-failed', `git ${command} failed: ${line.replace(/^(fatal|error): /, '')}`);
}

/** The index for counting only: one that we cannot read, or that has directories for files, counts as none. */
function indexOrNothing(repository: Repository): IndexTable | null {
  try {
    const index = readWholeIndex(repository, null);
    return index === null || hasSparseDirectories(index) ? null : index;
  } catch (error) {
    if (error instanceof CheckoutError) return null;
    throw error;
  }
}

/** Counts what git wrote into an empty working tree, where the index is of a kind that we cannot read. */
async function countTracked({ repository, ports }: Session): Promise<Totals> {
  const result = await ports.git({ args: [...repository.gitOptions, 'ls-files', '-z'], cwd: repository.workTree });
  const files = result.stdout.reduce((count, byte) => (byte === 0 ? count + 1 : count), 0);
  return { ...NOTHING, files };
}

/** Counts what git wrote: entries whose file is another one than before (inode, time or size). */
function compareIndexes(before: IndexTable | null, after: IndexTable | null): Totals {
  let files = 0;
  let bytesWritten = 0;
  let kept = 0;
  let excluded = 0;
  let old = 0;
  const count = after?.count ?? 0;
  const oldCount = before?.count ?? 0;
  let matched = 0;
  const path = (index: IndexTable, at: number): Uint8Array =>
    index.pathBytes.subarray(index.pathOffsets[at] ?? 0, index.pathOffsets[at + 1] ?? 0);
  for (let entry = 0; after !== null && entry < count; entry++) {
    while (before !== null && old < oldCount && Buffer.compare(path(before, old), path(after, entry)) < 0) old++;
    const known = before !== null && old < oldCount && Buffer.compare(path(before, old), path(after, entry)) === 0;
    if (known) matched++;
    const same =
      known && [0, 1, 2, 3, 5, 9].every((word) => before.stats[10 * old + word] === after.stats[10 * entry + word]);
    if (((after.extendedFlags[entry] ?? 0) & EXTENDED_FLAG.skipWorktree) !== 0) excluded++;
    else if (same) kept++;
    else if (after.stats[10 * entry + 2] !== 0) {
      files++;
      bytesWritten += after.stats[10 * entry + 9] ?? 0;
    }
  }
  return { files, kept, excluded, removed: oldCount - matched, bytesWritten };
}

function report(
  run: RunState,
  totals: Totals,
  workers: Report['workers'],
  skipped: Report['skipped'],
  error?: CheckoutError,
): Report {
  const cpu = process.cpuUsage(run.cpuStart);
  const json: ErrorJson | undefined = error?.toJSON();
  return {
    schemaVersion: REPORT_SCHEMA_VERSION,
    commit: run.commit,
    engine: run.engine,
    transport: run.fetched?.transport ?? null,
    plan: {
      ...run.plan,
      reasons: [
        ...run.plan.reasons,
        ...(run.fetched?.reasons ?? []).map((reason) => ({ about: 'transport' as const, ...reason })),
      ],
    },
    phases: run.phases,
    workers,
    totals: {
      files: totals.files,
      kept: totals.kept,
      excluded: totals.excluded,
      removed: totals.removed,
      bytesWritten: totals.bytesWritten,
      wallMs: performance.now() - run.startedMs + (run.fetched?.ms ?? 0),
      cpuUserMs: cpu.user / 1000,
      cpuSystemMs: cpu.system / 1000,
      peakRssBytes: process.resourceUsage().maxRSS * 1024,
    },
    skipped,
    fallbacks: run.fallbacks,
    ...(json === undefined ? {} : { error: json }),
  };
}
