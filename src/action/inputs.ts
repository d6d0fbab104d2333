/**
 * Reads what the runner hands over (INPUT_*, GITHUB_*, the event file) into one complete value, once. Nothing else in the
 * action looks at the environment for a decision. An input that cannot be honoured stops the step here, by name, before
 * anything is touched.
 *
 * How odd values are read is that of actions/checkout, so that a workflow means the same with both; where such a reading
 * is likely a slip (a depth that is no number), a warning says so.
 */
import { readFileSync, statSync } from 'node:fs';
import { isAbsolute, resolve, sep } from 'node:path';
import {
  parseEngineChoice,
  parseFetchLimits,
  parseMemoryLimit,
  parseSparseSetting,
  parseSubmoduleJobs,
  MAX_SUBMODULE_JOBS,
  parseTransportChoice,
  parseWorkers,
} from '../engine/engine.ts';
import { CheckoutError, errnoOf } from '../engine/errors.ts';
import type { EngineChoice, FetchLimits, SparseSetting, TransportChoice } from '../engine/settings.ts';
import type { GuardFacts } from './fork-guard.ts';
import type { SubmoduleInputs } from './submodules.ts';
import { pathList, type LfsInputs } from './lfs.ts';
import { comparisonBase, type ComparisonBase } from './merge-base.ts';
import { isObjectId, refForm, type RefForm } from './ref.ts';
import { restBaseUrl } from './rest-base-url.ts';
import { keyFault, normalizedKey, sshUrl, type SshSettings } from './ssh.ts';

/** Everything that the step does follows from this. */
export interface ActionSettings {
  /** GITHUB_WORKSPACE. */
  readonly workspace: string;
  /** RUNNER_TEMP. */
  readonly runnerTemp: string;
  /** Absolute path of the working tree. */
  readonly repositoryPath: string;
  readonly owner: string;
  readonly name: string;
  /** Such as `https://github.com`; the token goes nowhere else. */
  readonly serverOrigin: string;
  /** Where the REST interface of that server is, such as `https://api.github.com`. */
  readonly apiUrl: string;
  /** What `origin` is set to: over HTTP no user and no `.git`; with a key the address of the SSH server. */
  readonly url: string;
  /** The key to fetch with; null for the token. */
  readonly ssh: SshSettings | null;
  /** What to check out; null for the remote's default branch. */
  readonly form: RefForm | null;
  /** The value of the `ref` output where it is known already: empty for a bare commit, as typed for a short name. */
  readonly ref: string;
  readonly token: string;
  readonly persistCredentials: boolean;
  readonly clean: boolean;
  /** 'off' where none is asked for: a directory that was sparse is full again then. */
  readonly sparse: SparseSetting;
  /** What the server is to leave out, such as `blob:none`; null for nothing. */
  readonly filter: string | null;
  /** Which Git LFS files get their content; null for none. */
  readonly lfs: LfsInputs | null;
  /** Which submodules are checked out as well; null for none. */
  readonly submodules: SubmoduleInputs | null;
  /** The number of the organisation that the event is of; empty for none. */
  readonly organizationId: string;
  /** What cleaning leaves alone: lines of a gitignore file. */
  readonly cleanExclude: readonly string[];
  /** Commits of history; 0 is all. With `mergeBase` it is 1, and says nothing. */
  readonly fetchDepth: number;
  /** For as much history as a comparison with this needs; null where the depth says how much. */
  readonly mergeBase: ComparisonBase | null;
  readonly fetchTags: boolean;
  readonly fetchLimits: FetchLimits;
  readonly showProgress: boolean;
  readonly setSafeDirectory: boolean;
  readonly workers: number | 'auto';
  readonly memoryLimitBytes: number | 'auto';
  readonly engine: EngineChoice;
  readonly verify: boolean;
  readonly transport: TransportChoice;
  readonly annotations: boolean;
  readonly summary: boolean;
  /** For the user agent; empty if the runner gives none. */
  readonly orchestrationId: string;
  readonly guard: GuardFacts;
  /** What was read in a way that its writer may not have meant. */
  readonly warnings: readonly string[];
}

type Environment = Readonly<Record<string, string | undefined>>;

/** An input as it stands, and without the blanks around it. */
function rawInput(environment: Environment, name: string): string {
  return environment[`INPUT_${name.toUpperCase()}`] ?? '';
}
function input(environment: Environment, name: string): string {
  return rawInput(environment, name).trim();
}

function refuse(name: string, why: string): CheckoutError {
  return new CheckoutError('usage', `input '${name}' ${why}`, { option: name });
}

/** An input that must be given, with its value for the message left out: it may be a secret. */
function required(environment: Environment, name: string): string {
  const value = input(environment, name);
  if (value === '') throw refuse(name, 'is required and was not given');
  return value;
}

/** A variable of the runner's that must be there. */
function runnerVariable(environment: Environment, name: string): string {
  const value = environment[name] ?? '';
  if (value === '') throw new CheckoutError('usage', `${name} is not defined: this must run as a step of a job`);
  return value;
}

/** `TRUE` in any case is true and everything else false; an empty input is `whenEmpty`. */
function flag(environment: Environment, name: string, whenEmpty: boolean, warnings: string[]): boolean {
  const value = input(environment, name).toUpperCase();
  if (value === '') return whenEmpty;
  if (value !== 'TRUE' && value !== 'FALSE') warnings.push(`input '${name}' is neither true nor false; taken as false`);
  return value === 'TRUE';
}

/** For inputs that actions/checkout does not have, so that nothing has to be guessed. */
function strictFlag(environment: Environment, name: string, whenEmpty: boolean): boolean {
  const value = input(environment, name).toUpperCase();
  if (value === '') return whenEmpty;
  if (value !== 'TRUE' && value !== 'FALSE') throw refuse(name, 'must be true or false');
  return value === 'TRUE';
}

/** Patterns with `clean: false` are no mistake: a workflow may set that by an expression. */
function cleanExclude(environment: Environment): string[] {
  const text = rawInput(environment, 'clean-exclude');
  return text.trim() === '' ? [] : text.split('\n');
}

function wantsMergeBase(environment: Environment): boolean {
  return input(environment, 'fetch-depth').toLowerCase() === 'merge-base';
}

function fetchDepth(environment: Environment, warnings: string[]): number {
  const text = input(environment, 'fetch-depth');
  if (text === '' || wantsMergeBase(environment)) return 1;
  const depth = Math.floor(Number(text));
  if (!Number.isFinite(depth) || depth < 0) {
    warnings.push(`input 'fetch-depth' is not a number of commits; all history is fetched`);
    return 0;
  }
  return Math.min(depth, 0x7fffffff); // git's own "no limit"; a larger number is an error to it
}

function fetchLimits(environment: Environment): FetchLimits {
  const given = (name: string): string | undefined => input(environment, name) || undefined;
  return parseFetchLimits({
    'fetch-retries': given('fetch-retries'),
    'fetch-stall-timeout': given('fetch-stall-timeout'),
    'fetch-timeout': given('fetch-timeout'),
  });
}

function sparseSetting(environment: Environment, warnings: string[]): SparseSetting {
  const cone = flag(environment, 'sparse-checkout-cone-mode', true, warnings);
  const lines = input(environment, 'sparse-checkout').split('\n');
  const patterns = lines.map((line) => line.trim()).filter((line) => line !== '');
  return patterns.length === 0 ? { kind: 'off' } : parseSparseSetting(patterns, cone, 'sparse-checkout');
}

/** A sparse checkout needs few of the files, so that it fetches them by name, unless another filter is asked for. */
function objectFilter(environment: Environment, sparse: SparseSetting): string | null {
  const filter = input(environment, 'filter');
  if (filter !== '') return filter;
  return sparse.kind === 'off' ? null : 'blob:none';
}

/** `true` and `recursive` in any case, as with actions/checkout; the lists say nothing where it is off. */
function submoduleInputs(environment: Environment, warnings: string[]): SubmoduleInputs | null {
  const jobs = parseSubmoduleJobs(input(environment, 'submodule-jobs') || String(MAX_SUBMODULE_JOBS), 'submodule-jobs');
  const value = input(environment, 'submodules').toUpperCase();
  if (value !== 'TRUE' && value !== 'RECURSIVE') {
    if (value !== '' && value !== 'FALSE') {
      warnings.push("input 'submodules' is neither true, false nor recursive; taken as false");
    }
    return null;
  }
  const list = (name: string): readonly string[] => {
    const text = rawInput(environment, name);
    return text.trim() === '' ? [] : text.split('\n').map((line) => line.trim());
  };
  const lists = { include: list('submodules-include'), exclude: list('submodules-exclude') };
  return { recursive: value === 'RECURSIVE', jobs, ...lists };
}

/** The lists say nothing where `lfs` is off: a workflow may set that by an expression. */
function lfsInputs(environment: Environment, warnings: string[]): LfsInputs | null {
  if (!flag(environment, 'lfs', false, warnings)) return null;
  const list = (name: string): readonly string[] | null => pathList(rawInput(environment, name));
  return { include: list('lfs-include'), exclude: list('lfs-exclude') };
}

function repository(environment: Environment): { owner: string; name: string } {
  const text = input(environment, 'repository') || (environment['GITHUB_REPOSITORY'] ?? '');
  const parts = text.split('/');
  const [owner, name] = parts;
  if (parts.length !== 2 || owner === undefined || name === undefined || owner === '' || name === '') {
    throw refuse('repository', `must be 'owner/name', not '${text}'`);
  }
  return { owner, name };
}

function serverOrigin(environment: Environment): string {
  const given = input(environment, 'github-server-url');
  const text = given || (environment['GITHUB_SERVER_URL'] ?? '') || 'https://github.com';
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw refuse('github-server-url', `must be an http or https address, not '${text}'`);
  }
  return url.origin;
}

function directory(environment: Environment, name: string): string {
  const path = runnerVariable(environment, name);
  if (!isAbsolute(path)) throw new CheckoutError('usage', `${name} must be an absolute path, not '${path}'`, { path });
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats?.isDirectory() !== true) throw new CheckoutError('usage', `${name} '${path}' is not a directory`, { path });
  return resolve(path);
}

/** The path input, within the workspace. As in actions/checkout links are not followed for this test. */
function repositoryPath(environment: Environment, workspace: string): string {
  const path = resolve(workspace, input(environment, 'path') || '.');
  const inside = workspace.endsWith(sep) ? workspace : workspace + sep;
  if (path !== workspace && !path.startsWith(inside)) {
    throw refuse('path', `must lie within the workspace: '${path}' is not under '${workspace}'`);
  }
  return path;
}

/** The key and what belongs to it. Without a key the other three say nothing, as with actions/checkout. */
function sshSettings(environment: Environment, warnings: string[]): SshSettings | null {
  if (input(environment, 'ssh-key') === '') return null;
  const key = normalizedKey(rawInput(environment, 'ssh-key'));
  const fault = keyFault(key);
  if (fault !== null) throw refuse('ssh-key', fault);
  const user = input(environment, 'ssh-user') || 'git';
  // git takes the address apart at these, and ssh would take a dash for an option.
  if (/^-|[\s:/@]/.test(user)) throw refuse('ssh-user', `cannot be a user name: '${user}'`);
  return {
    key,
    user,
    strict: flag(environment, 'ssh-strict', true, warnings),
    knownHosts: input(environment, 'ssh-known-hosts'),
  };
}

/** The event's `organization.id`. */
function organizationId(event: unknown): string {
  const { organization } = (event ?? {}) as { organization?: { id?: unknown } | null };
  const id = organization?.id;
  return typeof id === 'number' || typeof id === 'string' ? String(id) : '';
}

/** The event's payload; an empty object where there is none. */
export function readEvent(environment: Environment): unknown {
  const path = environment['GITHUB_EVENT_PATH'] ?? '';
  if (path === '') return {};
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    // Not every runner writes one.
    if (errnoOf(error) === 'ENOENT') return {};
    throw new CheckoutError('usage', `the event file '${path}' (GITHUB_EVENT_PATH) cannot be read`, { path }, error);
  }
}

/**
 * The whole of the settings, or a `usage` error that names the input. Looks at the file system for the two directories of
 * the runner only.
 */
export function readSettings(environment: Environment, event: unknown): ActionSettings {
  const warnings: string[] = [];
  const workspace = directory(environment, 'GITHUB_WORKSPACE');
  const runnerTemp = directory(environment, 'RUNNER_TEMP');
  const { owner, name } = repository(environment);
  const qualified = `${owner}/${name}`;
  const isWorkflowRepository = qualified.toUpperCase() === (environment['GITHUB_REPOSITORY'] ?? '').toUpperCase();

  // Only ASCII blanks are taken off: a commit id behind a byte order mark or a wide blank would otherwise be a commit to
  // this code and a ref to the fork guard, or the other way round.
  const given = rawInput(environment, 'ref').replace(/^[ \t\n\v\f\r]+|[ \t\n\v\f\r]+$/g, '');
  let ref = given;
  let commit = '';
  if (given === '') {
    if (isWorkflowRepository) {
      ref = environment['GITHUB_REF'] ?? '';
      commit = environment['GITHUB_SHA'] ?? '';
      // Some events (a closed pull request) have a short name there.
      if (commit !== '' && ref !== '' && !/^refs\//i.test(ref)) ref = `refs/heads/${ref}`;
      if (commit !== '' && !isObjectId(commit)) {
        throw new CheckoutError('usage', `GITHUB_SHA is not a commit id: '${commit}'`);
      }
    }
  } else if (isObjectId(given)) {
    ref = '';
    commit = given;
  }
  const form = ref === '' && commit === '' ? null : refForm(ref, commit);

  const transport = parseTransportChoice(input(environment, 'transport') || 'auto', 'transport');
  const origin = serverOrigin(environment);
  const sparse = sparseSetting(environment, warnings);
  const ssh = sshSettings(environment, warnings);
  const repositoryName = `${encodeURIComponent(owner)}/${encodeURIComponent(name)}`;

  return {
    workspace,
    runnerTemp,
    repositoryPath: repositoryPath(environment, workspace),
    owner,
    name,
    serverOrigin: origin,
    apiUrl: restBaseUrl(input(environment, 'github-server-url'), origin, environment['GITHUB_API_URL'] ?? ''),
    url: ssh === null ? `${origin}/${repositoryName}` : sshUrl(ssh.user, origin, repositoryName),
    ssh,
    form,
    ref,
    token: required(environment, 'token'),
    persistCredentials: flag(environment, 'persist-credentials', false, warnings),
    clean: flag(environment, 'clean', true, warnings),
    sparse,
    filter: objectFilter(environment, sparse),
    lfs: lfsInputs(environment, warnings),
    submodules: submoduleInputs(environment, warnings),
    organizationId: organizationId(event),
    cleanExclude: cleanExclude(environment),
    fetchDepth: fetchDepth(environment, warnings),
    mergeBase: wantsMergeBase(environment) ? comparisonBase(isWorkflowRepository ? event : undefined, form) : null,
    fetchTags: flag(environment, 'fetch-tags', false, warnings),
    fetchLimits: fetchLimits(environment),
    showProgress: flag(environment, 'show-progress', true, warnings),
    setSafeDirectory: flag(environment, 'set-safe-directory', true, warnings),
    workers: parseWorkers(input(environment, 'workers') || 'auto', 'workers'),
    memoryLimitBytes: parseMemoryLimit(input(environment, 'memory-limit') || 'auto', 'memory-limit'),
    engine: parseEngineChoice(input(environment, 'engine') || 'auto', 'engine'),
    verify: strictFlag(environment, 'verify', false),
    transport,
    annotations: strictFlag(environment, 'annotations', true),
    summary: strictFlag(environment, 'summary', true),
    orchestrationId: environment['ACTIONS_ORCHESTRATION_ID'] ?? '',
    guard: {
      eventName: environment['GITHUB_EVENT_NAME'] ?? '',
      event,
      repository: qualified,
      isWorkflowRepository,
      ref: given === '' || isObjectId(given) ? '' : given,
      commit: isObjectId(given) ? given : '',
      refIsDefault: given === '',
      allowUnsafePrCheckout: flag(environment, 'allow-unsafe-pr-checkout', false, warnings),
    },
    warnings,
  };
}
