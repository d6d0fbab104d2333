/**
 * Checks out the submodules of a working tree that has just been checked out itself, as `git submodule sync` and
 * `git submodule update --init --force` do, but that several are fetched side by side. Their working trees are written one
 * after the other, each by all workers: that is quicker than sharing the cores out, and takes the memory of one.
 */
import { join } from 'node:path';
import { foldsCase } from '../checkout/collisions.ts';
import { CheckoutError } from '../errors.ts';
import { redactUrls } from '../fetch/redact.ts';
import { processEnvironment } from '../gitdir/environment.ts';
import type { Fallback, Report, SkippedEntry, SubmoduleReport } from '../report/report.ts';
import type { OpenedRepository } from '../run/session.ts';
import type { CheckoutRequest, EnginePorts, SubmoduleSettings } from '../settings.ts';
import { activePaths, type Gitlink, type Gitlinks, readGitlinks, readGitmodules } from './gitlinks.ts';
import { isRelativeUrl, resolveSubmoduleUrl } from './submodule-url.ts';
import { refuseNestedNames, shown, type SubmoduleEntry } from './gitmodules.ts';
import { Limiter } from './limiter.ts';
import {
  checkPlace,
  emptyWorkTree,
  isGitDirectory,
  removeGitDirectory,
  type SubmodulePlace,
  workTreeState,
} from './place.ts';
import { registerSubmodules, updateModeOf } from './register.ts';
import { isFinished, makeSubmodule, openSubmodule, type SubmoduleFetch, updateSubmodule } from './repository.ts';
import { submoduleSelection } from './selection.ts';
import { sweepSubmodules } from './sweep.ts';

/** Submodules within submodules. git has no limit but that of paths; a chain this long was made to harm. */
const MAX_LEVELS = 32;

/** Variables that name one repository's own files, and would name them to its submodules. */
const OWN_FILES = [
  'GIT_INDEX_FILE',
  'GIT_OBJECT_DIRECTORY',
  'GIT_ALTERNATE_OBJECT_DIRECTORIES',
  'GIT_COMMON_DIR',
  'GIT_SHALLOW_FILE',
  'GIT_NAMESPACE',
];

/** What an earlier run's repository may have that a new one has not. */
const GONE_WITH_A_NEW_REPOSITORY = new Set([
  'object-missing',
  'object-corrupt',
  'tree-invalid',
  'index-corrupt',
  'config-invalid',
  'not-a-repository',
  'ref-locked',
  'git-failed',
]);

/** A checkout as the engine does it; `turn` is waited for between looking at the repository and writing. */
export type CheckOut = (
  request: CheckoutRequest,
  opened: OpenedRepository | null,
  turn: <Value>(work: () => Promise<Value>) => Promise<Value>,
) => Promise<{ readonly report: Report; readonly opened: OpenedRepository | null }>;

export interface SubmoduleFacts {
  /** The request of the outermost checkout. */
  readonly request: CheckoutRequest;
  readonly settings: SubmoduleSettings;
  readonly ports: EnginePorts;
  readonly checkOut: CheckOut;
}

export interface SubmodulesOutcome {
  /** By path. */
  readonly submodules: readonly SubmoduleReport[];
  readonly skipped: readonly SkippedEntry[];
  readonly fallbacks: readonly Fallback[];
  /** The first failure, with the submodule's path; the others were stopped then. */
  readonly error: CheckoutError | null;
}

/**
 * Checks out all submodules that are wanted.
 *
 * @param opened the outermost repository
 * @returns what came of it; an expected failure is in `error`
 */
export async function updateSubmodules(facts: SubmoduleFacts, opened: OpenedRepository): Promise<SubmodulesOutcome> {
  const run = new SubmoduleRun(facts);
  await run.update(opened);
  const { submodules, skipped, fallbacks, error } = run;
  submodules.sort((a, b) => (a.path < b.path ? -1 : 1));
  return { submodules, skipped, fallbacks, error };
}

/** One repository whose submodules are looked at. */
interface Level {
  readonly opened: OpenedRepository;
  /** From the top of the outermost working tree; empty for it, else with a slash at its end. */
  readonly prefix: string;
  readonly depth: number;
}

/** A submodule that is wanted. */
interface Wanted {
  readonly link: Gitlink;
  readonly entry: SubmoduleEntry;
  readonly path: string;
  /** For the repository that has it. */
  readonly url: string;
  /** For its own remote. */
  readonly remoteUrl: string;
}

class SubmoduleRun {
  readonly submodules: SubmoduleReport[] = [];
  readonly skipped: SkippedEntry[] = [];
  readonly fallbacks: Fallback[] = [];
  error: CheckoutError | null = null;
  readonly #facts: SubmoduleFacts;
  readonly #isSelected: (path: string) => boolean;
  readonly #fetches: Limiter;
  /** Whose turn it is to write. */
  readonly #writing = new Limiter(1);
  readonly #abort = new AbortController();
  readonly #signal: AbortSignal;
  /** Whether what is not wanted goes. */
  readonly #cleans: boolean;

  constructor(facts: SubmoduleFacts) {
    const { settings, request } = facts;
    this.#facts = facts;
    this.#isSelected = submoduleSelection(settings.include, settings.exclude);
    this.#fetches = new Limiter(settings.jobs);
    const { signal } = this.#abort;
    this.#signal = request.signal === undefined ? signal : AbortSignal.any([request.signal, signal]);
    this.#cleans = request.clean !== undefined;
  }

  async update(opened: OpenedRepository): Promise<void> {
    try {
      const environment = processEnvironment();
      const own = OWN_FILES.find((name) => (environment[name] ?? '') !== '');
      if (own !== undefined) {
        throw new CheckoutError('unsupported', `submodules cannot be checked out while ${own} is set`, { option: own });
      }
      await this.#level({ opened, prefix: '', depth: 0 });
    } catch (error) {
      this.#fail(error, null);
    }
    if (this.error === null && this.#facts.settings.include.length > 0 && this.submodules.length === 0) {
      this.#facts.ports.observer.warning('none of the submodules is one of those that are to be included');
    }
  }

  /** Notes the first failure and stops all else. Bugs go on. */
  #fail(error: unknown, wanted: Wanted | null): void {
    if (!(error instanceof CheckoutError)) {
      this.#abort.abort();
      throw error;
    }
    if (this.error === null) {
      const where = wanted === null ? '' : `submodule '${shown(wanted.path)}': `;
      const subject = wanted === null ? error.subject : { ...error.subject, submodule: shown(wanted.path) };
      this.error = new CheckoutError(error.code, where + error.message, subject, error);
    }
    this.#abort.abort();
  }

  async #level(level: Level): Promise<void> {
    const { opened, prefix } = level;
    const { ports, settings } = this.#facts;
    if (level.depth > MAX_LEVELS) {
      throw new CheckoutError('path-invalid', `submodules are within one another more than ${MAX_LEVELS} times`);
    }
    // Of a submodule none are wanted unless they were asked for.
    const isWanted = level.depth === 0 || settings.recursive;
    const gitlinks = readGitlinks(opened);
    const candidates = isWanted
      ? gitlinks.links.filter((link) => !link.isExcluded && this.#isSelected(prefix + link.path))
      : [];
    const active = candidates.length === 0 ? null : await activePaths(opened, ports, this.#signal);
    const links = active === null ? candidates : candidates.filter(({ path }) => active.has(path));
    const wanted = links.length === 0 ? [] : await this.#describe(level, gitlinks, links);
    refuseNestedNames(
      wanted.map(({ entry }) => entry.name),
      foldsCase(opened.repository.workTree),
    );
    if (this.#cleans) {
      const names = new Set(wanted.map(({ entry }) => entry.name));
      const gone = await sweepSubmodules({
        opened,
        gitlinks,
        wanted: names,
        ports,
        signal: this.#signal,
        keep: process.cwd(),
      });
      for (const name of gone)
        ports.observer.info(`Submodule '${shown(prefix + name)}' is not wanted any more: removed`);
    }
    if (wanted.length === 0) return;
    await registerSubmodules(opened, wanted, ports, this.#signal);
    const due = wanted.filter((each) => {
      if (updateModeOf(opened, each.entry) !== 'none') return true;
      ports.observer.info(`Submodule '${shown(each.path)}' is skipped: its update mode is 'none'`);
      return false;
    });
    // Each ends by itself, so that nothing is still at work when this is over.
    const results = await Promise.allSettled(due.map((each) => this.#submodule(level, each)));
    for (const result of results) if (result.status === 'rejected') throw result.reason;
  }

  /** Finds each gitlink's entry in .gitmodules and resolves its URL. */
  async #describe(level: Level, { hasGitmodules }: Gitlinks, links: readonly Gitlink[]): Promise<Wanted[]> {
    const { opened, prefix } = level;
    const { ports, request } = this.#facts;
    const entries = hasGitmodules
      ? await readGitmodules(opened, ports, request.fetchEnv ?? {}, this.#signal)
      : new Map<string, SubmoduleEntry>();
    // To git it is the remote of HEAD's branch; what a checkout step or a clone makes has no other one.
    const remote = opened.config.get('remote.origin.url') ?? opened.repository.workTree;
    return links.map((link) => {
      const path = prefix + link.path;
      const entry = entries.get(link.path);
      if (entry?.url === undefined || entry.url === null) {
        throw new CheckoutError('config-invalid', `no URL found for submodule path '${shown(path)}' in .gitmodules`, {
          path: shown(path),
          submodule: shown(path),
        });
      }
      const up = '../'.repeat(link.path.split('/').length);
      return {
        link,
        entry,
        path,
        url: resolveSubmoduleUrl(entry.url, remote),
        remoteUrl: isRelativeUrl(entry.url) ? resolveSubmoduleUrl(entry.url, remote, up) : entry.url,
      };
    });
  }

  async #submodule(level: Level, wanted: Wanted): Promise<void> {
    try {
      const opened = await this.#bring(level, wanted);
      await this.#level({ opened, prefix: `${wanted.path}/`, depth: level.depth + 1 });
    } catch (error) {
      this.#fail(error, wanted);
    }
  }

  /** Fetches one submodule and checks it out; once more with a new repository where that of an earlier run is broken. */
  async #bring(level: Level, wanted: Wanted): Promise<OpenedRepository> {
    try {
      return await this.#bringOnce(level, wanted, false);
    } catch (error) {
      if (!(error instanceof BrokenRepository)) throw error;
      this.#facts.ports.observer.warning(
        `the repository of submodule '${shown(wanted.path)}' is made anew: ${error.failure.message}`,
      );
      return await this.#bringOnce(level, wanted, true);
    }
  }

  async #bringOnce(level: Level, wanted: Wanted, anew: boolean): Promise<OpenedRepository> {
    const { request, ports, settings, checkOut } = this.#facts;
    const { repository: outer } = level.opened;
    const place: SubmodulePlace = {
      gitDir: join(outer.gitDir, 'modules', wanted.entry.name),
      workTree: join(outer.workTree, wanted.link.path),
    };
    const fetch: SubmoduleFetch = {
      place,
      url: wanted.remoteUrl,
      oid: wanted.link.oid,
      depth: settings.depth ?? (wanted.entry.shallow === true ? 1 : undefined),
      objectFormat: outer.objectFormat,
      request,
      ports,
      signal: this.#signal,
    };
    let ms = 0;
    const timed = async <Value>(work: () => Promise<Value>): Promise<Value> => {
      const start = performance.now();
      const value = await work();
      ms += performance.now() - start;
      return value;
    };
    const found = await this.#fetches.run(() =>
      timed(() => this.#fetchOne(fetch, { gitDir: outer.gitDir, workTree: outer.workTree }, anew)),
    );
    const { report, opened } = await checkOut(
      {
        ...withoutPlace(request),
        directory: place.workTree,
        gitDir: place.gitDir,
        workTree: place.workTree,
        target: { kind: 'detach', revision: wanted.link.oid },
        ...(settings.env === undefined ? {} : { fetchEnv: settings.env }),
        ...(this.#cleans ? { clean: { exclude: [] } } : {}),
        signal: this.#signal,
      },
      found.opened,
      (work) => this.#writing.run(() => timed(work)),
    );
    for (const { path, reason } of report.skipped) this.skipped.push({ path: `${wanted.path}/${path}`, reason });
    for (const { stage, reason } of report.fallbacks) {
      this.fallbacks.push({ stage, reason: `submodule '${shown(wanted.path)}': ${reason}` });
    }
    if (report.error !== undefined) {
      const failure = CheckoutError.fromJSON(report.error);
      // A file that could not be written names a blob if that was the reason, rather than the disk.
      const isBroken =
        GONE_WITH_A_NEW_REPOSITORY.has(failure.code) ||
        (failure.code === 'write-failed' && failure.subject.oid !== undefined);
      if (found.reused && !anew && this.#cleans && isBroken) throw new BrokenRepository(failure);
      throw failure;
    }
    if (opened === null) throw new Error('BUG in parallel-checkout: a checkout without a repository');
    this.submodules.push({
      path: shown(wanted.path),
      commit: wanted.link.oid,
      engine: report.engine,
      files: report.totals.files,
      kept: report.totals.kept,
      bytesWritten: report.totals.bytesWritten,
      workers: report.workers.filter(({ id }) => id > 0).length,
      ms,
    });
    ports.observer.info(`Submodule path '${shown(wanted.path)}': checked out '${wanted.link.oid}'`);
    return opened;
  }

  /** Has a repository with the commit at the place. */
  async #fetchOne(
    fetch: SubmoduleFetch,
    outer: SubmodulePlace,
    anew: boolean,
  ): Promise<{ readonly reused: boolean; readonly opened: OpenedRepository | null }> {
    const { place } = fetch;
    if (this.#signal.aborted) throw new CheckoutError('interrupted', 'interrupted before it was fetched');
    checkPlace(place, outer);
    this.#makeRoom(place);
    if (!anew && isGitDirectory(place.gitDir)) {
      const opened = await openOrNothing(fetch);
      if (isFinished(opened)) {
        try {
          const changed = await updateSubmodule(fetch, opened);
          return { reused: true, opened: changed ? null : opened };
        } catch (error) {
          const isBroken = error instanceof CheckoutError && GONE_WITH_A_NEW_REPOSITORY.has(error.code);
          if (isBroken && this.#cleans) throw new BrokenRepository(error);
          throw error;
        }
      }
    }
    removeGitDirectory(place.gitDir);
    // Files that no repository knows of would stay.
    if (workTreeState(place) !== 'empty') this.#clear(place);
    emptyWorkTree(place.workTree, process.cwd());
    this.#facts.ports.observer.info(`Cloning submodule from '${redactUrls(fetch.url)}' into '${place.workTree}'`);
    await makeSubmodule(fetch);
    return { reused: false, opened: null };
  }

  /** Sees to it that what is in the submodule's directory may be written over. */
  #makeRoom(place: SubmodulePlace): void {
    if (workTreeState(place) === 'other') this.#clear(place);
  }

  #clear(place: SubmodulePlace): void {
    if (!this.#cleans) {
      const path = shown(place.workTree);
      throw new CheckoutError('io', `'${path}' has something in it that is not this submodule's`, {
        path,
        errno: 'ENOTEMPTY',
      });
    }
    emptyWorkTree(place.workTree, process.cwd());
  }
}

/** An earlier run's repository that is better made anew. */
class BrokenRepository extends Error {
  readonly failure: CheckoutError;
  constructor(failure: CheckoutError) {
    super(failure.message);
    this.failure = failure;
  }
}

async function openOrNothing(fetch: SubmoduleFetch): Promise<OpenedRepository | null> {
  try {
    return await openSubmodule(fetch);
  } catch (error) {
    const broken = ['not-a-repository', 'config-invalid', 'unsupported-repository'];
    if (error instanceof CheckoutError && broken.includes(error.code)) return null;
    throw error;
  }
}

/** The request without what is only the outermost repository's. */
function withoutPlace(request: CheckoutRequest): Omit<CheckoutRequest, 'directory' | 'target'> {
  const {
    directory: _directory,
    gitDir: _gitDir,
    workTree: _workTree,
    target: _target,
    sparse: _sparse,
    clean: _clean,
    fetchEnv: _fetchEnv,
    signal: _signal,
    ...rest
  } = request;
  return rest;
}
