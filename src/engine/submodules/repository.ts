/**
 * A submodule's own repository: made as `git submodule update` makes it, or found from an earlier run and put right, and
 * brought the one commit that its outer repository names. docs/decisions/submodules.md says where this asks less of the
 * server than git does.
 */
import { join } from 'node:path';
import { openObjects } from '../checkout/open-objects.ts';
import { appendSections, type AppendedSection } from '../config/append-section.ts';
import { configArgs } from '../config/git-options.ts';
import { CheckoutError } from '../errors.ts';
import { fetchByGit } from '../fetch/fetch.ts';
import { FETCH_ENVIRONMENT } from '../fetch/online-git.ts';
import { parseRemoteHead, type RemoteHead } from '../fetch/clone-plan.ts';
import { redactUrls } from '../fetch/redact.ts';
import { processEnvironment } from '../gitdir/environment.ts';
import { openRepositoryAndConfig } from '../gitdir/repository.ts';
import { oidFromHex, type ObjectFormat } from '../oid.ts';
import { writeSymbolicRef } from '../refs/head-update.ts';
import { resolveRef } from '../refs/read-refs.ts';
import { RefLock } from '../refs/ref-lock.ts';
import { refPath } from '../refs/ref-names.ts';
import { gitFailure } from '../run/git-failure.ts';
import type { OpenedRepository } from '../run/session.ts';
import type { CheckoutRequest, EnginePorts } from '../settings.ts';
import { type SubmodulePlace, worktreeSetting, writeGitFile } from './place.ts';

/** What is to be brought, and how. */
export interface SubmoduleFetch {
  readonly place: SubmodulePlace;
  /** The remote's URL, resolved. */
  readonly url: string;
  /** The commit that the outer repository's index names. */
  readonly oid: string;
  /** Commits of history; undefined for all. */
  readonly depth: number | undefined;
  readonly objectFormat: ObjectFormat;
  readonly request: CheckoutRequest;
  readonly ports: EnginePorts;
  readonly signal: AbortSignal;
}

const ALL_BRANCHES = '+refs/heads/*:refs/remotes/origin/*';
const ALL_TAGS = '+refs/tags/*:refs/tags/*';
const REMOTE_HEAD = 'refs/remotes/origin/HEAD';

/** A server that gives only what it has a name for. One that does not have the commit says 'not our ref'. */
const UNADVERTISED = /unadvertised object/i;

/**
 * The environment of git processes that talk to a submodule's server. The URL comes from a file of the repository, not from
 * the user, so that transports which git allows to users alone (`file`, since CVE-2022-39253) are not open to it.
 */
function serverEnvironment({ request }: SubmoduleFetch): Record<string, string> {
  return { GIT_PROTOCOL_FROM_USER: '0', ...request.submodules?.env };
}

/** Opens the repository at a place. It is named, not looked for, so that nothing outside can be taken for it. */
export async function openSubmodule({ place, request, ports, signal }: SubmoduleFetch): Promise<OpenedRepository> {
  const { gitDir, workTree } = place;
  return await openRepositoryAndConfig(
    { directory: workTree, gitDir, workTree, config: request.config },
    ports.git,
    signal,
  );
}

/**
 * Makes the repository and fetches into it.
 *
 * @throws CheckoutError 'git-failed', 'io', and as fetchByGit
 */
export async function makeSubmodule(fetch: SubmoduleFetch): Promise<void> {
  const { place, url, oid, objectFormat, request, ports, signal } = fetch;
  const { gitDir, workTree } = place;
  const config = join(gitDir, 'config');
  const made = await ports.git({
    args: [...configArgs(request.config), 'init', '--quiet', `--separate-git-dir=${gitDir}`, '--', workTree],
    cwd: workTree,
    // Refs are written as files here, and ids have the length that the index gives.
    env: { LC_ALL: 'C', GIT_DEFAULT_HASH: objectFormat.name, GIT_DEFAULT_REF_FORMAT: 'files' },
    signal,
  });
  if (made.exitCode !== 0) throw gitFailure('init', made.stderr);
  writeGitFile(place);
  appendSections(config, [
    { section: 'core', subsection: null, values: [['worktree', worktreeSetting(place)]] },
    { section: 'remote', subsection: 'origin', values: [['url', url]] },
  ]);
  const [fetched, asked] = await Promise.allSettled([fetchNew(fetch), askHead(fetch)]);
  if (fetched.status === 'rejected') throw fetched.reason;
  // The commit is here. Without an answer only the remote's default branch stays unknown.
  const head: RemoteHead = asked.status === 'fulfilled' ? asked.value : { kind: 'empty' };
  if (asked.status === 'rejected' && signal.aborted) throw asked.reason;
  const branch = head.kind === 'branch' ? takeBranch(fetch, head.branch) : null;
  const refspec =
    branch !== null && fetch.depth !== undefined ? `+refs/heads/${branch}:refs/remotes/origin/${branch}` : ALL_BRANCHES;
  const sections: AppendedSection[] = [{ section: 'remote', subsection: 'origin', values: [['fetch', refspec]] }];
  if (branch !== null) {
    const merge = `refs/heads/${branch}`;
    sections.push({
      section: 'branch',
      subsection: branch,
      values: [
        ['remote', 'origin'],
        ['merge', merge],
      ],
    });
  }
  // Maintenance would run beside the job. Last, and so what tells that the repository was finished.
  sections.push({ section: 'gc', subsection: null, values: [['auto', '0']] });
  appendSections(config, sections);
  if (!hasCommit(await openSubmodule(fetch), oid, ports)) throw commitMissing(fetch);
}

/** The commit, and the tip of the remote's default branch, which git clones first. */
async function fetchNew(fetch: SubmoduleFetch): Promise<void> {
  const { oid, depth } = fetch;
  try {
    if (depth === undefined) await fetchRefs(fetch, [ALL_BRANCHES, ALL_TAGS, oid]);
    else await fetchRefs(fetch, [`+HEAD:${REMOTE_HEAD}`, oid]);
  } catch (error) {
    if (!(error instanceof CheckoutError) || error.code !== 'unknown-revision') throw error;
    // All that has a name, with its history, since the commit may be anywhere in it.
    if (UNADVERTISED.test(error.message)) await fetchRefs(fetch, [ALL_BRANCHES, ALL_TAGS], { depth: undefined });
    // The remote's HEAD may be on a branch that is gone.
    else await fetchRefs(fetch, [oid]);
  }
}

/**
 * What `git clone` leaves of the remote's default branch: where it is, and a branch of the same name here, which HEAD is on
 * until the commit is checked out. Null where the branch was not fetched.
 */
function takeBranch({ place }: SubmoduleFetch, branch: string): string | null {
  const dirs = { gitDir: place.gitDir, commonDir: place.gitDir };
  const tracking = `refs/remotes/origin/${branch}`;
  const tip = resolveRef(dirs, tracking)?.oid ?? resolveRef(dirs, REMOTE_HEAD)?.oid;
  if (tip === undefined || tip === null) return null;
  for (const name of [tracking, `refs/heads/${branch}`]) {
    const lock = RefLock.acquire(refPath(dirs, name));
    try {
      lock.write(`${tip}\n`);
      lock.commit();
    } finally {
      lock.release();
    }
  }
  writeSymbolicRef(dirs, REMOTE_HEAD, tracking);
  writeSymbolicRef(dirs, 'HEAD', `refs/heads/${branch}`);
  return branch;
}

/** Asks which branch is the remote's default; beside the fetch, so that it costs no time. */
async function askHead(fetch: SubmoduleFetch): Promise<RemoteHead> {
  const { place, request, ports, signal } = fetch;
  const result = await ports.git({
    args: [
      `--git-dir=${place.gitDir}`,
      ...configArgs(request.config),
      '-c',
      'protocol.version=2',
      'ls-remote',
      '--symref',
      '--',
      'origin',
      'HEAD',
    ],
    cwd: place.gitDir,
    env: { ...FETCH_ENVIRONMENT, ...serverEnvironment(fetch) },
    // What went wrong the fetch tells, too.
    onStderrLine: () => undefined,
    signal,
  });
  return result.exitCode === 0 ? parseRemoteHead(result.stdout.toString('utf8')) : { kind: 'empty' };
}

/** Whether an earlier run's repository can be fetched into: it was finished. */
export function isFinished(opened: OpenedRepository | null): opened is OpenedRepository {
  return opened?.config.get('remote.origin.fetch') !== undefined;
}

/**
 * Puts an earlier run's repository right and fetches into it what is not there.
 *
 * @param opened the repository as it was found
 * @returns whether anything was changed, so that it must be opened again
 * @throws CheckoutError as makeSubmodule
 */
export async function updateSubmodule(fetch: SubmoduleFetch, opened: OpenedRepository): Promise<boolean> {
  const { place, oid, url, depth, ports } = fetch;
  const { config, repository } = opened;
  let changed = false;
  const set = async (key: string, value: string): Promise<void> => {
    if (config.getAll(key).length === 1 && config.get(key) === value) return;
    await setConfig(fetch, key, value);
    changed = true;
  };
  await set('core.worktree', worktreeSetting(place));
  await set('remote.origin.url', url);
  if (config.get('gc.auto') !== '0') await set('gc.auto', '0');
  writeGitFile(place);
  const unshallow = depth === undefined && repository.shallow;
  if (hasCommit(opened, oid, ports) && !unshallow) return changed;
  const tracked = config.getAll('remote.origin.fetch').flatMap((refspec) => (refspec === null ? [] : [refspec]));
  try {
    await fetchRefs(fetch, [...tracked, oid], unshallow ? { unshallow } : {});
  } catch (error) {
    if (!(error instanceof CheckoutError)) throw error;
    if (error.code === 'unknown-revision' && UNADVERTISED.test(error.message)) {
      await fetchRefs(fetch, [ALL_BRANCHES, ALL_TAGS], {
        depth: undefined,
        ...(repository.shallow ? { unshallow: true } : {}),
      });
    } else if (error.code === 'unknown-revision' || /lock ref|local refs/.test(error.message)) {
      // The branch that is followed is gone, or in the way of another one: it is not what is asked for.
      await fetchRefs(fetch, [oid], unshallow ? { unshallow } : {});
    } else throw error;
  }
  if (!hasCommit(await openSubmodule(fetch), oid, ports)) throw commitMissing(fetch);
  return true;
}

async function fetchRefs(
  fetch: SubmoduleFetch,
  refspecs: readonly string[],
  other: { readonly depth?: number | undefined; readonly unshallow?: boolean } = {},
): Promise<void> {
  const { place, request, ports, signal } = fetch;
  const depth = 'depth' in other ? other.depth : fetch.depth;
  await fetchByGit(
    {
      directory: place.gitDir,
      gitDir: place.gitDir,
      remote: 'origin',
      refspecs,
      ...(depth === undefined ? {} : { depth }),
      ...(other.unshallow === true ? { unshallow: true } : {}),
      tags: true,
      prune: false,
      // Several meters at once would be read by nobody.
      progress: false,
      transport: request.transport,
      env: serverEnvironment(fetch),
      ...(request.fetchLimits === undefined ? {} : { limits: request.fetchLimits }),
      signal,
    },
    ports,
    request.config,
  );
}

function hasCommit({ repository, config }: OpenedRepository, oid: string, ports: EnginePorts): boolean {
  const odb = openObjects(repository, config, processEnvironment(), (line) => ports.observer.warning(line));
  try {
    return odb.absent(oidFromHex(oid), 0) === null;
  } finally {
    odb.close();
  }
}

async function setConfig({ place, ports, signal }: SubmoduleFetch, key: string, value: string): Promise<void> {
  const result = await ports.git({
    args: ['config', '--file', join(place.gitDir, 'config'), '--replace-all', key, value],
    cwd: place.gitDir,
    signal,
  });
  if (result.exitCode !== 0) throw gitFailure('config', result.stderr);
}

function commitMissing({ oid, url }: SubmoduleFetch): CheckoutError {
  return new CheckoutError('unknown-revision', `the server at '${redactUrls(url)}' does not have commit ${oid}`, {
    oid,
  });
}
