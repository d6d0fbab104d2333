/**
 * The part of a clone before its checkout: an empty repository with its remote, and the first fetch. What was made is
 * removed again when that fails, as `git clone` does.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { appendToConfig } from '../config/append-section.ts';
import { configArgs } from '../config/git-options.ts';
import { CheckoutError, errnoOf, ioError } from '../errors.ts';
import { parseSharedRepository, type SharedPermissions } from '../index/shared-permissions.ts';
import { formatOfHexOid, type ObjectFormat, SHA256 } from '../oid.ts';
import { refExists } from '../refs/read-refs.ts';
import { writeSymbolicRef } from '../refs/head-update.ts';
import type {
  CloneRequest,
  CheckoutTarget,
  ConfigOverride,
  EnginePorts,
  FetchLimits,
  FetchOutcome,
  FetchRequest,
} from '../settings.ts';
import {
  type CloneAttempt,
  parseRemoteHead,
  planCloneRefspecs,
  type RemoteHead,
  remoteObjectFormat,
} from './clone-plan.ts';
import { formatThatRemoteHas } from './fetch-error.ts';
import { runOnline } from './online-git.ts';
import { redactor, redactUrls } from './redact.ts';

/** An empty repository, ready to be fetched into. */
export interface NewRepository {
  /** Absolute. */
  readonly directory: string;
  /** Removes all that was made, and only that. */
  readonly remove: () => void;
}

/** What a clone's fetch came to. */
export interface Cloned {
  readonly directory: string;
  /** Where HEAD is to go; null when the remote has no commits. */
  readonly target: CheckoutTarget | null;
  readonly outcome: FetchOutcome | null;
  /** For the reflog lines of the first checkout. */
  readonly reflogMessage: string;
}

/** The way to the remote. */
export interface FetchRoute {
  /** What the remote says of itself; null where git is to be asked. The request is one that might follow. */
  head(request: FetchRequest): Promise<RemoteAnswer | null>;
  /** @throws CheckoutError as fetchByGit */
  fetch(request: FetchRequest): Promise<FetchOutcome>;
}

interface CloneOptions {
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly config?: readonly ConfigOverride[] | undefined;
  /** Without one git's own default holds: SHA-1 unless the environment says otherwise. */
  readonly objectFormat?: ObjectFormat | undefined;
  readonly limits?: FetchLimits | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * What a clone's URL means: the absolute path where it is one of an existing repository or bundle here, else itself.
 *
 * @throws CheckoutError 'usage' when it is neither a URL nor something that exists, or looks like an option
 */
export function cloneSource(url: string, cwd: string): string {
  if (url === '' || url.startsWith('-') || /[\0\n]/.test(url)) {
    throw new CheckoutError('usage', `'${redactUrls(url)}' is not a repository's URL`, { option: 'url' });
  }
  const path = resolve(cwd, url);
  if ([path, `${path}.git`, `${path}.bundle`].some((each) => existsSync(each))) return path;
  if (url.includes(':')) return url;
  throw new CheckoutError('usage', `the repository '${url}' does not exist`, { option: 'url', path: url });
}

/**
 * `git init` of `directory`, and remote.origin.url.
 *
 * @throws CheckoutError 'io' when the directory has something in it, or cannot be made; 'git-failed', 'git-missing'
 */
export async function initForClone(
  directory: string,
  url: string,
  ports: Pick<EnginePorts, 'git'>,
  options: CloneOptions = {},
): Promise<NewRepository> {
  const target = resolve(directory);
  const existed = claimDirectory(target);
  const remove = (): void => {
    try {
      const made = existed ? readdirSync(target).map((name) => join(target, name)) : [target];
      // Retries: on Windows a process that has just ended may still hold a file.
      for (const path of made) rmSync(path, { recursive: true, force: true, maxRetries: 3 });
    } catch (error) {
      throw ioError('remove', target, error);
    }
  };
  try {
    const { objectFormat, signal } = options;
    const format = objectFormat === undefined ? [] : [`--object-format=${objectFormat.name}`];
    const result = await ports.git({
      args: [...configArgs(options.config ?? []), 'init', '--quiet', ...format, '--', target],
      env: { LC_ALL: 'C' },
      ...(signal === undefined ? {} : { signal }),
    });
    if (result.exitCode !== 0) {
      const line =
        result.stderr.split('\n').find((each) => each.startsWith('fatal: ')) ?? result.stderr.split('\n')[0]!;
      throw new CheckoutError('git-failed', `git init failed: ${line.replace(/^fatal: /, '')}`, { path: target });
    }
    appendToConfig(join(target, '.git', 'config'), 'remote', 'origin', [['url', url]]);
  } catch (error) {
    remove();
    throw error;
  }
  return { directory: target, remove };
}

/** Makes the directory, or finds it empty; true when it was there. */
function claimDirectory(target: string): boolean {
  try {
    if (readdirSync(target).length > 0) {
      throw new CheckoutError('io', `the destination '${target}' exists and is not empty`, {
        path: target,
        errno: 'ENOTEMPTY',
      });
    }
    return true;
  } catch (error) {
    if (errnoOf(error) === 'ENOTDIR') {
      throw new CheckoutError('io', `the destination '${target}' exists and is not a directory`, {
        path: target,
        errno: 'ENOTDIR',
      });
    }
    if (errnoOf(error) !== 'ENOENT') throw ioError('read', target, error);
  }
  try {
    mkdirSync(target, { recursive: true });
  } catch (error) {
    throw ioError('make', target, error);
  }
  return false;
}

/** What a remote says of itself. */
export interface RemoteAnswer {
  readonly head: RemoteHead;
  /** Null when it has nothing whose id would tell. */
  readonly objectFormat: ObjectFormat | null;
}

/**
 * Asks the remote what its HEAD is.
 *
 * @throws CheckoutError as fetchByGit
 */
export async function askRemoteHead(
  url: string,
  ports: EnginePorts,
  options: CloneOptions = {},
): Promise<RemoteAnswer> {
  const { env, limits, signal } = options;
  const result = await runOnline(
    {
      what: `reading '${redactor(env)(url)}'`,
      args: [
        ...configArgs(options.config ?? []),
        '-c',
        'protocol.version=2',
        'ls-remote',
        '--symref',
        '--',
        url,
        'HEAD',
      ],
      limits,
      ...(env === undefined ? {} : { env }),
      ...(signal === undefined ? {} : { signal }),
    },
    ports,
  );
  const answer = result.stdout.toString('utf8');
  return { head: parseRemoteHead(answer), objectFormat: remoteObjectFormat(answer) };
}

/**
 * Makes the repository and fetches into it. When anything fails, nothing of it is left.
 *
 * @param cwd what a relative path in `request.url` or `request.directory` is relative to
 * @throws CheckoutError 'usage', 'io', 'git-failed', and as fetchByGit
 */
export async function makeClone(
  request: CloneRequest,
  cwd: string,
  ports: EnginePorts,
  route: FetchRoute,
  env?: Readonly<Record<string, string>>,
): Promise<Cloned> {
  const { config, depth, fetchLimits: limits, ref, signal } = request;
  const options: CloneOptions = { env, config, limits, signal };
  const url = cloneSource(request.url, cwd);
  // Refused before anything is made.
  let attempts = ref === undefined ? null : planCloneRefspecs(ref, depth, null);
  const target = resolve(cwd, request.directory);
  // A commit's id tells the format before the remote is asked. 40 digits tell nothing: that is what git makes by itself.
  const ofRef = ref !== undefined && formatOfHexOid(ref) === SHA256 ? SHA256 : undefined;
  let repository = await initForClone(target, url, ports, { ...options, objectFormat: ofRef });
  let fetched: Fetched | null = null;
  const makeAgain = async (objectFormat: ObjectFormat): Promise<void> => {
    repository.remove();
    repository = await initForClone(target, url, ports, { ...options, objectFormat });
  };
  try {
    if (attempts === null) {
      const ask = async (): Promise<RemoteAnswer> => {
        const { directory } = repository;
        const asked = await route.head(fetchRequestOf(request, directory, { refspecs: ['HEAD'], tags: true }, env));
        return asked ?? (await askRemoteHead(url, ports, options));
      };
      const { head, objectFormat } = await ask().catch(async (error: unknown) => {
        const other = formatThatRemoteHas(error);
        if (other === null) throw error;
        await makeAgain(other);
        return { ...(await ask()), objectFormat: null };
      });
      attempts = planCloneRefspecs(ref, depth, head);
      if (objectFormat === SHA256) await makeAgain(objectFormat);
    }
    const { directory } = repository;
    const dirs = { gitDir: join(directory, '.git'), commonDir: join(directory, '.git') };
    const reflogMessage = `clone: from ${redactUrls(url)}`;
    const fetchAll = async (ways: readonly CloneAttempt[]): Promise<Fetched> =>
      await fetchFirst(request, directory, ways, route, env);
    if (attempts.length > 0) {
      try {
        fetched = await fetchAll(attempts);
      } catch (error) {
        // Asking beforehand would cost every clone of a branch a round trip, for a format that is rare.
        const objectFormat = formatThatRemoteHas(error);
        if (objectFormat === null) throw error;
        await makeAgain(objectFormat);
        fetched = await fetchAll(attempts);
      }
    }
    const configured = fetched?.attempt.configuredRefspec ?? '+refs/heads/*:refs/remotes/origin/*';
    appendToConfig(join(dirs.commonDir, 'config'), 'remote', 'origin', [['fetch', configured]]);
    if (fetched === null) {
      ports.observer.warning('the remote repository is empty: there is nothing to check out');
      return { directory, target: null, outcome: null, reflogMessage };
    }
    const { remoteHead, target } = fetched.attempt;
    if (remoteHead !== null && refExists(dirs, `refs/remotes/origin/${remoteHead}`)) {
      const permissions = permissionsOfNew(join(dirs.commonDir, 'config'));
      writeSymbolicRef(dirs, 'refs/remotes/origin/HEAD', `refs/remotes/origin/${remoteHead}`, permissions);
    }
    return { directory, target, outcome: fetched.outcome, reflogMessage };
  } catch (error) {
    await fetched?.outcome.begun?.abandon();
    repository.remove();
    throw error;
  }
}

/**
 * core.sharedRepository of a repository that `git init` has just made. Wherever it was set, git writes it there, in this form;
 * asking for it would be a process more.
 */
function permissionsOfNew(configPath: string): SharedPermissions {
  let text: string;
  try {
    text = readFileSync(configPath, 'latin1');
  } catch (error) {
    throw ioError('read', configPath, error);
  }
  return parseSharedRepository(/^\tsharedrepository = (\S+)$/m.exec(text)?.[1]);
}

interface Fetched {
  readonly attempt: CloneAttempt;
  readonly outcome: FetchOutcome;
}

function fetchRequestOf(
  { depth, transport, fetchLimits, signal }: CloneRequest,
  directory: string,
  { refspecs, tags }: Pick<CloneAttempt, 'refspecs' | 'tags'>,
  env: Readonly<Record<string, string>> | undefined,
): FetchRequest {
  return {
    directory,
    remote: 'origin',
    refspecs,
    ...(depth === undefined ? {} : { depth }),
    tags,
    prune: false,
    progress: true,
    transport,
    ...(env === undefined ? {} : { env }),
    ...(fetchLimits === undefined ? {} : { limits: fetchLimits }),
    ...(signal === undefined ? {} : { signal }),
  };
}

/** Fetches by the first way that the remote can serve. */
async function fetchFirst(
  request: CloneRequest,
  directory: string,
  attempts: readonly CloneAttempt[],
  route: FetchRoute,
  env: Readonly<Record<string, string>> | undefined,
): Promise<Fetched> {
  let failure: unknown;
  for (const attempt of attempts) {
    try {
      const ahead = { ...request, directory, target: attempt.target };
      const outcome = await route.fetch({ ...fetchRequestOf(request, directory, attempt, env), ahead });
      return { attempt, outcome };
    } catch (error) {
      // Only the first failure names what the user asked for.
      failure ??= error;
      if (!(error instanceof CheckoutError) || error.code !== 'unknown-revision') throw error;
    }
  }
  if (failure instanceof CheckoutError && request.ref !== undefined && attempts.length > 1) {
    throw new CheckoutError('unknown-revision', `the remote has no branch, tag or commit '${request.ref}'`, {
      option: 'ref',
    });
  }
  throw failure;
}
