/**
 * A checkout by our own engine: gathers what it depends on, holds the locks around it, and does what follows it (HEAD, hooks, upstream).
 */
import { join } from 'node:path';
import { checkoutTree, isEmptyWorkTree } from '../checkout/checkout-tree.ts';
import { NeedsGit, type TreeOutcome } from '../checkout/request.ts';
import { foldsCase } from '../checkout/collisions.ts';
import { AttributeConversions } from '../checkout/conversion-lookup.ts';
import { indexNeedsGit } from '../checkout/needs-git.ts';
import { openObjects } from '../checkout/open-objects.ts';
import { peelToTree } from '../checkout/peel.ts';
import { type FetchMissing, fetchTrees, peelPromised } from '../checkout/promised-objects.ts';
import { readSparseRules } from '../checkout/sparse-rules.ts';
import { attributeFiles } from '../config/attribute-files.ts';
import { makesLinks } from '../config/symlinks.ts';
import { CheckoutError } from '../errors.ts';
import { fetchPromised, promisorRemotes } from '../fetch/promised.ts';
import { readConversionConfig } from '../filter/conversion.ts';
import { childEnvironment } from '../gitdir/child-environment.ts';
import { processEnvironment } from '../gitdir/environment.ts';
import { findGit } from '../gitdir/git-executable.ts';
import { type HookName, runHook } from '../gitdir/hooks.ts';
import type { Repository } from '../gitdir/repository.ts';
import { writeSparseSettings } from '../gitdir/sparse-settings.ts';
import { IndexLock } from '../index/index-lock.ts';
import type { IndexTable } from '../index/index-table.ts';
import { indexFormat } from '../index/index-version.ts';
import { readWholeIndex } from '../index/read-whole-index.ts';
import { parseSharedRepository } from '../index/shared-permissions.ts';
import type { ObjectDatabase } from '../odb/object-database.ts';
import { readTree } from '../odb/read-tree.ts';
import { objectBudget } from '../plan/object-budget.ts';
import type { PlanReason } from '../plan/plan.ts';
import { removeBranchState } from '../refs/branch-state.ts';
import { type HeadUpdate, prepareHeadUpdate } from '../refs/head-update.ts';
import { resolveRef } from '../refs/read-refs.ts';
import { writeUpstream } from '../refs/upstream.ts';
import type { Report } from '../report/report.ts';
import { gitFailure } from './git-failure.ts';
import { lfsAccess, lfsSource } from './lfs.ts';
import { resolveTarget } from './resolve-target.ts';
import { report } from './run-state.ts';
import { type Session, planFor } from './session.ts';

export async function checkoutNatively(session: Session, routeReasons: readonly PlanReason[]): Promise<Report> {
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
    const rootIsEmpty = session.streamed !== undefined || isEmptyWorkTree(repository.workTree);
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
      lfs: lfsAccess(session),
      lfsSource: lfsSource(session, (number) => conversions.leavingPointers(number)),
      plan: (files) => planFor(session, files, routeReasons),
      objectBudget: (plan, heldBytes) => objectBudget(plan, request.memoryLimitBytes, heldBytes),
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
      streamed: session.streamed,
      // Where a stream has begun there was nothing before it.
      ...(request.clean === undefined || session.streamed !== undefined
        ? {}
        : {
            clean: { exclude: request.clean.exclude, ignoreCase, spared: ownPaths(repository) },
            removesSubmodules: request.submodules !== undefined,
          }),
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
  const { gitOptions, workTree: cwd, commonDir } = repository;
  const packDirectory = join(commonDir, 'objects', 'pack');
  const { signal, fetchEnv: env = {}, fetchLimits: limits } = request;
  return async (missing) => {
    await fetchPromised({ ports, gitOptions, cwd, packDirectory, remotes, env, limits, signal }, missing);
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

/** What belongs to the repository and may lie among the files of the working tree. */
function ownPaths({ gitDir, commonDir, objectsDir, indexPath }: Repository): string[] {
  return [gitDir, commonDir, objectsDir, indexPath, `${indexPath}.lock`];
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
