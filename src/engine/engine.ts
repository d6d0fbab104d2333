/**
 * The engine's front door and the order of its stages: settings, plan, fetch, checkout, report. Nothing else is decided here.
 */
import { NeedsGit } from './checkout/request.ts';
import { countFiles } from './checkout/count-files.ts';
import { StreamedCheckout } from './checkout/stream/streamed-checkout.ts';
import { CheckoutError } from './errors.ts';
import { type Cloned, makeClone } from './fetch/clone.ts';
import { processEnvironment } from './gitdir/environment.ts';
import { openRepositoryAndConfig } from './gitdir/repository.ts';
import { writeSparseSettings } from './gitdir/sparse-settings.ts';
import { probeHost } from './host/probe-host.ts';
import type { Plan, PlanReason } from './plan/plan.ts';
import { routeEngine } from './plan/route.ts';
import type { Report } from './report/report.ts';
import { checkoutByGit } from './run/git-checkout.ts';
import { checkoutNatively } from './run/native-checkout.ts';
import { whatNeedsGit } from './run/needs-git.ts';
import { NOTHING, beginRun, report, type RunState } from './run/run-state.ts';
import { StreamOrGit } from './run/fetch-route.ts';
import { repositoryOf } from './run/stream-fetch.ts';
import { DEFAULT_PLANNED_FILES, type OpenedRepository, type Session, planFor } from './run/session.ts';
import { parseSparseSetting } from './setting-values.ts';
import { updateSubmodules } from './submodules/update-submodules.ts';
import { withSubmodules } from './submodules/report-submodules.ts';
import type {
  CheckoutRequest,
  CloneRequest,
  EnginePorts,
  FetchOutcome,
  FetchRequest,
  PlanRequest,
} from './settings.ts';

export { formatThatRemoteHas } from './fetch/fetch-error.ts';
export { spawnGit } from './fetch/git-process.ts';
export { removeLeftOvers } from './fetch/left-overs.ts';
export { DEADLINE_MS, runOnline, STALL_MS } from './fetch/online-git.ts';
export { redactor } from './fetch/redact.ts';
export { isTransientStatus, parseRetryAfter, TransientFetchError, withRetries } from './fetch/retry.ts';
export { findGit } from './gitdir/git-executable.ts';
export { endOrphans, runMark } from './host/orphans.ts';
export { refusedPath } from './object/refused-path.ts';
export {
  MAX_SUBMODULE_JOBS,
  parseEngineChoice,
  parseFetchLimits,
  parseMemoryLimit,
  parseSparseSetting,
  parseSubmoduleJobs,
  parseTransportChoice,
  parseWorkers,
} from './setting-values.ts';
export type { Report } from './report/report.ts';
export type * from './settings.ts';

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
  const route = new StreamOrGit(ports);
  try {
    return await route.fetch(request);
  } finally {
    route.close();
  }
}

/**
 * Makes a repository, fetches, and checks out.
 * @returns the report as `checkout`
 * @throws CheckoutError what keeps the repository from being made or fetched into; nothing of it is left then
 */
export async function clone(request: CloneRequest, ports: EnginePorts): Promise<Report> {
  const started = performance.now();
  const route = new StreamOrGit(ports, request.config);
  let cloned: Cloned;
  try {
    cloned = await makeClone(request, process.cwd(), ports, route);
  } finally {
    route.close();
  }
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
 * @throws CheckoutError unsupported for an engine that cannot be had here; what is wrong with the repository
 */
export async function plan(request: PlanRequest, ports: EnginePorts): Promise<Plan> {
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
  if (request.transport !== 'auto') {
    reasons.push({ about: 'transport', text: `${request.transport}, as asked for`, decided: true });
  }
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

async function runCheckout(
  request: CheckoutRequest,
  ports: EnginePorts,
  fetched: FetchOutcome | undefined,
  reflogMessage?: string,
): Promise<Report> {
  const run = beginRun(fetched);
  const begun = fetched?.begun instanceof StreamedCheckout ? fetched.begun : undefined;
  if (fetched === undefined) run.phases.push({ name: 'start', ms: run.startedMs });
  const opened = begun === undefined ? null : repositoryOf(begun);
  const own = await checkOutOne(run, request, ports, { reflogMessage, begun, opened });
  const { submodules: settings } = request;
  if (settings === undefined || own.report.error !== undefined || own.opened === null) return own.report;
  const started = performance.now();
  const outcome = await updateSubmodules(
    {
      request,
      settings,
      ports,
      checkOut: (inner, opened, turn) => checkOutOne(beginRun(undefined), inner, ports, { opened, turn }),
    },
    own.opened,
  );
  return withSubmodules(own.report, outcome, performance.now() - started, process.cpuUsage(run.cpuStart));
}

interface CheckedOut {
  readonly report: Report;
  /** The repository as it was found; null where that failed. */
  readonly opened: OpenedRepository | null;
}

interface CheckOutOptions {
  readonly reflogMessage?: string | undefined;
  /** What was written while the pack came. */
  readonly begun?: StreamedCheckout | undefined;
  /** The repository, where it has been opened. */
  readonly opened?: OpenedRepository | null;
  /** Waits for the turn to write. */
  readonly turn?: <Value>(work: () => Promise<Value>) => Promise<Value>;
}

/** Checks out one repository. Only bugs are thrown. */
async function checkOutOne(
  run: RunState,
  request: CheckoutRequest,
  ports: EnginePorts,
  { reflogMessage, begun, opened: known = null, turn = (work) => work() }: CheckOutOptions,
): Promise<CheckedOut> {
  let opened = known;
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
    const found = opened ?? (await openRepositoryAndConfig(location, ports.git, request.signal));
    opened = found;
    const host = request.hostFacts ?? probeHost({ workTree: found.repository.workTree });
    const session = { request, ports, run, host, reflogMessage, ...found, streamed: begun };
    return { report: await turn(() => route(session)), opened };
  } catch (error) {
    await begun?.abandon();
    if (!(error instanceof CheckoutError)) throw error;
    return { report: report(run, NOTHING, [], [], error), opened };
  }
}

/** Takes our own engine, and git where something needs it; all such things are found before anything is touched. */
async function route(session: Session): Promise<Report> {
  const early = routeEngine(session.request.engine, await whatNeedsGit(session, session.ports, session.request.signal));
  if (early.engine === 'git') {
    await session.streamed?.abandon();
    return await checkoutByGit(session, early.reasons);
  }
  try {
    return await checkoutNatively(session, early.reasons);
  } catch (error) {
    await session.streamed?.abandon();
    return await checkoutByGit(session, routeEngine(session.request.engine, reasonsForGit(error)).reasons);
  }
}

/** What our engine found that only git can do; all other errors go on. Nothing has been touched then. */
function reasonsForGit(error: unknown): readonly string[] {
  if (error instanceof NeedsGit) return error.reasons;
  if (error instanceof CheckoutError && error.code === 'unsupported') return [error.message];
  throw error;
}
