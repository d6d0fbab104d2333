/**
 * The step: reads the inputs, has the engine fetch and check out, publishes what came of it. The order of the stages is
 * here, and so is the exit code; nothing else in the action sets it.
 */
import { existsSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { debug, info, setFailed, setSecret, warning } from '@actions/core';
import { checkout, fetch, formatThatRemoteHas } from '../engine/engine.ts';
import { CheckoutError, type ErrorJson } from '../engine/errors.ts';
import type { Report } from '../engine/report/report.ts';
import type {
  CheckoutRequest,
  CheckoutTarget,
  EnginePorts,
  FetchOutcome,
  FetchRequest,
  GitProcess,
} from '../engine/settings.ts';
import { publishAnnotations } from './annotations.ts';
import { certificateHint } from './certificate-hint.ts';
import {
  basicCredential,
  credentialEnvironment,
  includeCredentials,
  newCredentialsPath,
  removeCredentials,
  submoduleConfigFiles,
  writeCredentialsFile,
} from './credentials.ts';
import { refuseUnsafePullRequestCheckout } from './fork-guard.ts';
import { gitEnvironment, hasGit, loggedGit, readsConfigCount } from './git.ts';
import { readEvent, readSettings, type ActionSettings } from './inputs.ts';
import { installLfs, lfsConfig, lfsFilterConfig, requireLfs, setLfsFilter } from './lfs.ts';
import { harmlessLine, logGroup, logLine, logObserver } from './log.ts';
import { fetchToMergeBase } from './merge-base.ts';
import { publishError, publishOutputs } from './outputs.ts';
import {
  configureRepository,
  emptyDirectory,
  initRepository,
  makeDirectory,
  reuseRepository,
} from './prepare-directory.ts';
import { addProblemMatcher, removeProblemMatcher } from './problem-matcher.ts';
import {
  checkoutTarget,
  exactRefspecs,
  fetchedRevision,
  refspecs,
  refTest,
  type RefForm,
  type RemoteName,
} from './ref.ts';
import { lookUpDefaultBranch, lookUpFetchedName, lookUpRemoteName } from './remote.ts';
import { makeTemporaryHome, newTemporaryHome, removeTemporaryHome } from './safe-directory.ts';
import { newSshFiles, planSsh, removeSshFile, secretLines, sshHint, type PlannedSsh } from './ssh.ts';
import { saveStepState } from './state.ts';
import { persistInSubmodules, submoduleEnvironment, type SubmoduleCredentials } from './submodules.ts';
import { publishSummary } from './summary.ts';

/** What the stages share, all of it decided before the first of them. */
interface Step {
  readonly settings: ActionSettings;
  readonly gitDir: string;
  readonly git: GitProcess;
  /** What every git process gets beside the job's own environment. */
  readonly environment: Readonly<Record<string, string>>;
  readonly ports: EnginePorts;
  readonly signal: AbortSignal;
  /** Servers whose credentials may be left in the configuration. */
  readonly origins: readonly string[];
  /** Where the token is persisted; null if it is not. */
  readonly credentialsPath: string | null;
  /** Where a key is given. */
  readonly ssh: PlannedSsh | null;
  /** For git processes that talk to the server; holds the token if it is not persisted, and what they run for ssh. */
  readonly serverEnvironment: Readonly<Record<string, string>>;
  readonly submoduleCredentials: SubmoduleCredentials;
  /** For git processes that talk to the servers of submodules. */
  readonly submoduleEnvironment: Readonly<Record<string, string>>;
}

interface StepResult {
  readonly report: Report;
  /** The `ref` output. */
  readonly ref: string;
}

/** What was brought from the server, and what it is to become. */
interface Fetched {
  readonly form: RefForm;
  readonly ref: string;
  readonly remote: RemoteName | undefined;
  readonly outcome: FetchOutcome;
}

/** A reused repository turned out not to be usable. */
class Unusable extends Error {}

/** Failures of a reused repository that a new one would not have. */
const GONE_WITH_A_NEW_REPOSITORY = new Set([
  'object-missing',
  'object-corrupt',
  'tree-invalid',
  'index-corrupt',
  'clean-failed',
]);

function isGoneWithANewRepository({ code, subject }: ErrorJson): boolean {
  // The engine has made that one's repository anew by itself.
  if (subject.submodule !== undefined) return false;
  // A file that could not be written names a blob if that was the reason, rather than the disk.
  return GONE_WITH_A_NEW_REPOSITORY.has(code) || (code === 'write-failed' && subject.oid !== undefined);
}

/** Removes what a reused directory holds, or finds it usable. True if there is an earlier checkout to build on. */
async function prepareDirectory(step: Step): Promise<boolean> {
  const { settings, git, gitDir } = step;
  const { repositoryPath } = settings;
  if (!makeDirectory(repositoryPath) || readdirSync(repositoryPath).length === 0) return false;
  const { url, form, mergeBase } = settings;
  const unusable = await reuseRepository({ repositoryPath, url, form, base: mergeBase?.form ?? null, git });
  const failures = removeCredentials({ gitDir, runnerTemp: settings.runnerTemp, origins: step.origins });
  if (unusable === null && failures.length === 0) return true;
  const reason = unusable?.reason ?? failures[0]!.message;
  discard(step, reason, unusable?.expected !== true || !settings.clean);
  return false;
}

function discard(step: Step, reason: string, asWarning: boolean): void {
  const { repositoryPath, clean, cleanExclude } = step.settings;
  // What is kept for long may be dear, and nobody reads a log for that.
  const keeps = clean && cleanExclude.length > 0;
  const too = keeps ? ", with what 'clean-exclude' names" : '';
  const line = `The contents of '${repositoryPath}' are removed${too}, since ${reason}`;
  if (asWarning || keeps) warning(harmlessLine(line));
  else logLine(line);
  emptyDirectory(repositoryPath);
}

/** The repository with its remote and, if it is to be persisted, the token. */
async function setUpRepository(step: Step, reused: boolean, objectFormat?: 'sha1' | 'sha256'): Promise<void> {
  const { settings, gitDir, credentialsPath } = step;
  // Only the length of a commit id tells beforehand that a repository is SHA-256.
  const commit = settings.form !== null && 'commit' in settings.form ? settings.form.commit : '';
  const format = objectFormat ?? (commit.length === 64 ? 'sha256' : 'sha1');
  if (!reused) await initRepository(step.git, settings.repositoryPath, format);
  configureRepository(gitDir, settings.url);
  if (credentialsPath !== null) {
    const command = step.ssh?.command ?? null;
    includeCredentials(gitDir, settings.workspace, settings.repositoryPath, credentialsPath, command);
  }
  if (settings.lfs !== null) await installLfs(step.git, gitDir);
}

/** Whether the ref is where the event says; refs move between an event and its job. */
async function passesRefTest(step: Step, form: RefForm): Promise<boolean> {
  const test = refTest(form, step.settings.fetchDepth);
  if (test === null) return true;
  const result = await step.git({ args: ['rev-parse', '--verify', '--quiet', test.revision] });
  if (result.exitCode !== 0) return false;
  return test.expected === null || result.stdout.toString('latin1').trim() === test.expected.toLowerCase();
}

function checkoutRequest(step: Step, reused: boolean, target: CheckoutTarget): CheckoutRequest {
  const { settings } = step;
  return {
    directory: settings.repositoryPath,
    target,
    sparse: settings.sparse,
    ...(reused && settings.clean ? { clean: { exclude: settings.cleanExclude } } : {}),
    workers: settings.workers,
    memoryLimitBytes: settings.memoryLimitBytes,
    engine: settings.engine,
    verify: settings.verify,
    transport: settings.transport,
    ...(settings.lfs === null ? {} : { lfs: { remote: 'origin' } }),
    config:
      settings.lfs === null
        ? []
        : [...lfsConfig(settings.lfs), ...(settings.submodules === null ? [] : lfsFilterConfig())],
    environment: step.environment,
    ...(settings.submodules === null
      ? {}
      : {
          submodules: {
            ...settings.submodules,
            ...(settings.fetchDepth > 0 ? { depth: settings.fetchDepth } : {}),
            env: step.submoduleEnvironment,
          },
        }),
    fetchEnv: step.serverEnvironment,
    fetchLimits: settings.fetchLimits,
    signal: step.signal,
  };
}

async function fetchCommits(step: Step, reused: boolean): Promise<Fetched> {
  const { settings, git, gitDir, ports, serverEnvironment: env, signal } = step;
  const { fetchDepth: depth, fetchLimits: limits } = settings;
  const server = { ports, env, limits, signal };
  const form = settings.form ?? (await lookUpDefaultBranch(server));
  const ref = settings.form === null && form.kind === 'branch' ? `refs/heads/${form.name}` : settings.ref;
  let remote = form.kind === 'unqualified' && depth > 0 ? await lookUpRemoteName(server, form.name) : undefined;

  const request = {
    directory: settings.repositoryPath,
    remote: 'origin',
    tags: false,
    prune: true,
    progress: settings.showProgress,
    ...(settings.filter === null ? {} : { filter: settings.filter }),
    transport: settings.transport,
    env,
    limits,
    signal,
  };
  const shallow = depth === 0 && existsSync(join(gitDir, 'shallow'));
  const bring = (what: Pick<FetchRequest, 'refspecs' | 'depth' | 'unshallow' | 'ahead'>): Promise<FetchOutcome> =>
    fetch({ ...request, ...what }, ports);
  const specs = refspecs(form, { depth, tags: settings.fetchTags }, remote);
  let outcome =
    settings.mergeBase === null
      ? await bring({
          refspecs: specs,
          ...(depth > 0 ? { depth } : {}),
          ...(shallow ? { unshallow: true } : {}),
          // What a short name becomes without a depth is known when all is here.
          ...(form.kind === 'unqualified' && remote === undefined
            ? {}
            : { ahead: checkoutRequest(step, reused, checkoutTarget(form, remote)) }),
        })
      : await fetchToMergeBase({
          base: settings.mergeBase,
          head: { revision: fetchedRevision(form, remote), refspecs: specs },
          gitDir,
          git,
          fetch: bring,
          ahead: checkoutRequest(step, reused, checkoutTarget(form, remote)),
          defaultBranch: () => lookUpDefaultBranch(server),
          info: logLine,
          warn: (line) => warning(harmlessLine(line)),
        });
  try {
    if (form.kind === 'unqualified') remote ??= await lookUpFetchedName(git, form.name);
    if (!(await passesRefTest(step, form))) {
      if (depth === 0) {
        // The branch has moved on, or is gone: the commit itself may still be had.
        const again = await bring({ refspecs: exactRefspecs(form) });
        outcome = { ...again, ms: outcome.ms + again.ms };
      }
      if (depth > 0 || !(await passesRefTest(step, form))) {
        const what = form.kind === 'commit' ? `commit ${form.commit}` : `'${ref}'`;
        const expected = form.kind === 'commit' ? 'was not found' : 'no longer points at the commit of the event';
        throw new CheckoutError('unknown-revision', `${what} ${expected}`, { option: 'ref' });
      }
    }
  } catch (error) {
    await outcome.begun?.abandon();
    throw error;
  }
  return { form, ref, remote, outcome };
}

/** Fetches and checks out, once. Throws Unusable if a reused repository has to go first. */
async function bringAndCheckOut(step: Step, reused: boolean): Promise<StepResult> {
  const { settings } = step;
  const isUnusable = (error: ErrorJson): boolean => reused && settings.clean && isGoneWithANewRepository(error);
  const fetched = await logGroup('Fetching', () => fetchCommits(step, reused)).catch((error: unknown) => {
    throw error instanceof CheckoutError && isUnusable(error.toJSON()) ? new Unusable(error.message) : error;
  });
  const report = await logGroup('Checking out', () =>
    checkout(checkoutRequest(step, reused, checkoutTarget(fetched.form, fetched.remote)), step.ports, fetched.outcome),
  );
  const { error } = report;
  if (error !== undefined && isUnusable(error)) throw new Unusable(error.message);
  if (settings.submodules !== null && settings.lfs !== null) {
    for (const file of submoduleConfigFiles(step.gitDir)) setLfsFilter(file);
  }
  if (settings.submodules !== null && step.credentialsPath !== null) {
    const { workspace, repositoryPath } = settings;
    persistInSubmodules(
      { gitDir: step.gitDir, workspace, repositoryPath },
      step.credentialsPath,
      step.submoduleCredentials,
    );
  }
  return { report, ref: fetched.ref };
}

async function work(step: Step): Promise<StepResult> {
  const { settings, credentialsPath } = step;
  const setUp = async (reused: boolean): Promise<boolean> => {
    await setUpRepository(step, reused);
    return reused;
  };
  logLine(`Checking out ${settings.owner}/${settings.name} from ${settings.serverOrigin}`);
  const reused = await logGroup('Preparing the directory', async () => {
    if (settings.lfs !== null) await requireLfs(step.git, settings.workspace);
    const usable = await prepareDirectory(step);
    if (credentialsPath !== null) writeCredentialsFile(credentialsPath, settings.serverOrigin, settings.token);
    await step.ssh?.writeFiles();
    return setUp(usable);
  });
  try {
    return await bringAndCheckOut(step, reused);
  } catch (error) {
    const objectFormat = reused ? null : formatThatRemoteHas(error);
    if (objectFormat !== null) {
      // Asking beforehand would cost every job a round trip, for a format that is rare.
      logLine(`The repository names its objects by ${objectFormat.name}: it is made anew.`);
      emptyDirectory(settings.repositoryPath);
      await setUpRepository(step, false, objectFormat.name);
      return bringAndCheckOut(step, false);
    }
    if (!(error instanceof Unusable)) throw error;
    discard(step, error.message, true);
    return bringAndCheckOut(step, await setUp(false));
  }
}

/** For clean-up, which must neither fail the step nor hide why it failed. */
function warnOfFailure(cleanUp: () => void): void {
  try {
    cleanUp();
  } catch (error) {
    warning(harmlessLine(error instanceof Error ? error.message : String(error)));
  }
}

/** Nothing of it is left to the post phase, so no state is saved. */
async function runWithoutGit(
  settings: ActionSettings,
  environment: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<void> {
  try {
    // Loaded here alone, since hardly any job needs it.
    const { checkOutArchive } = await import(/* webpackChunkName: "rest-archive" */ './rest-archive.ts');
    await checkOutArchive(settings, environment, signal);
  } catch (error) {
    if (error instanceof CheckoutError) publishError(error, settings.runnerTemp);
    throw error;
  }
}

async function run(environment: NodeJS.ProcessEnv): Promise<void> {
  const settings = readSettings(environment, readEvent(environment));
  refuseUnsafePullRequestCheckout(settings.guard);
  // The runner knows its own token; one from elsewhere it does not, nor the form that it takes in the header.
  setSecret(settings.token);
  setSecret(basicCredential(settings.token));
  for (const line of secretLines(settings.ssh?.key ?? '')) setSecret(line);
  for (const line of settings.warnings) warning(line);

  const abort = new AbortController();
  const stop = (): void => abort.abort();
  process.on('SIGINT', stop).on('SIGTERM', stop);
  if (!hasGit(environment)) return runWithoutGit(settings, environment, abort.signal);

  const { runnerTemp, repositoryPath, serverOrigin, persistCredentials } = settings;
  const temporaryHome = settings.setSafeDirectory ? newTemporaryHome(runnerTemp) : null;
  const credentialsPath = persistCredentials ? newCredentialsPath(runnerTemp) : null;
  const sshFiles = settings.ssh === null ? null : newSshFiles(runnerTemp);
  saveStepState({
    repositoryPath,
    serverOrigin,
    ...(sshFiles === null ? {} : { sshKeyPath: sshFiles.keyPath, sshKnownHostsPath: sshFiles.knownHostsPath }),
    ...(credentialsPath === null ? {} : { credentialsPath }),
    ...(temporaryHome === null ? {} : { temporaryHome }),
  });
  info(addProblemMatcher(runnerTemp));
  let result: StepResult;
  try {
    const userHome = environment['HOME'] ?? homedir();
    const home = temporaryHome === null ? {} : makeTemporaryHome(temporaryHome, repositoryPath, userHome, environment);
    const gitVariables = { ...gitEnvironment(settings.orchestrationId, settings.lfs !== null), ...home };
    const git = loggedGit(repositoryPath, gitVariables, abort.signal);
    const ssh = sshFiles === null ? null : await planSsh(settings, sshFiles, userHome, environment, abort.signal);
    const readsCount =
      persistCredentials && settings.submodules === null ? true : await readsConfigCount(git, settings.workspace);
    const credentials = persistCredentials
      ? {}
      : credentialEnvironment(serverOrigin, settings.token, environment, readsCount);
    const ofSubmodules: SubmoduleCredentials = {
      origin: serverOrigin,
      token: settings.token,
      organizationId: settings.organizationId,
      sshCommand: ssh?.command ?? null,
    };
    result = await work({
      settings,
      gitDir: join(repositoryPath, '.git'),
      git,
      environment: gitVariables,
      ports: { observer: logObserver(settings.showProgress), git },
      signal: abort.signal,
      origins: [serverOrigin, environment['GITHUB_SERVER_URL'] ?? ''],
      credentialsPath,
      ssh,
      serverEnvironment: {
        ...credentials,
        // The engine, too, asks servers by itself.
        GIT_HTTP_USER_AGENT: gitVariables.GIT_HTTP_USER_AGENT,
        ...(ssh === null ? {} : { GIT_SSH_COMMAND: ssh.command }),
      },
      submoduleCredentials: ofSubmodules,
      submoduleEnvironment: submoduleEnvironment(ofSubmodules, environment, readsCount),
    });
  } catch (error) {
    const failure = certificateHint(settings.ssh === null ? error : sshHint(error), environment);
    if (failure instanceof CheckoutError) publishError(failure, runnerTemp);
    throw failure;
  } finally {
    info(removeProblemMatcher());
    if (temporaryHome !== null) warnOfFailure(() => removeTemporaryHome(temporaryHome));
    if (sshFiles !== null && !persistCredentials) {
      for (const path of [sshFiles.keyPath, sshFiles.knownHostsPath]) warnOfFailure(() => removeSshFile(path));
    }
    process.off('SIGINT', stop).off('SIGTERM', stop);
  }

  const { report, ref } = result;
  publishOutputs(report, ref, runnerTemp);
  if (settings.annotations) publishAnnotations(report);
  if (settings.summary && (environment['GITHUB_STEP_SUMMARY'] ?? '') !== '') await publishSummary(report);
  if (report.error !== undefined) throw CheckoutError.fromJSON(report.error);
}

try {
  await run(process.env);
} catch (error) {
  if (error instanceof CheckoutError) {
    setFailed(harmlessLine(error.message));
  } else {
    const message = error instanceof Error ? error.message : String(error);
    setFailed(harmlessLine(`unexpected error, please report it: ${message}`));
    if (error instanceof Error && error.stack !== undefined) debug(error.stack);
  }
}
