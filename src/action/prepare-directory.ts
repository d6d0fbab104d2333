/**
 * Gets the directory into a state that can be fetched into: made, emptied, or an earlier checkout of the same repository
 * with what could be in the way removed. When an earlier checkout is used again and when it is thrown away are the rules
 * of actions/checkout; it asks git up to twenty times for it, this once where nothing is in the way.
 */
import { type Dirent, existsSync, mkdirSync, readdirSync, rmSync, statSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { CheckoutError, errnoOf, ioError } from '../engine/errors.ts';
import type { GitProcess } from '../engine/settings.ts';
import {
  appendSections,
  configValues,
  configVariables,
  editConfigFile,
  readConfigFile,
  removeSections,
  removeVariables,
} from './config-file.ts';
import { gitFailure, gitText } from './git.ts';
import { branchOf, type RefForm } from './ref.ts';

function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (errnoOf(error) === 'ENOTDIR') return undefined;
    throw ioError('look at', path, error);
  }
}

/** Makes the directory; a file in its place is deleted. True if the directory was there. Throws `io`. */
export function makeDirectory(path: string): boolean {
  const stats = statOf(path);
  if (stats?.isDirectory() === true) return true;
  try {
    if (stats !== undefined) rmSync(path, { force: true });
    mkdirSync(path, { recursive: true });
  } catch (error) {
    throw ioError('make directory', path, error);
  }
  return false;
}

/** Removes everything in the directory, but not the directory, which may be a mount. Throws `io` with the path. */
export function emptyDirectory(path: string): void {
  let names: string[];
  try {
    names = readdirSync(path);
  } catch (error) {
    throw ioError('read', path, error);
  }
  for (const name of names) {
    const entry = join(path, name);
    try {
      // Windows refuses for a moment what a virus scanner holds open.
      rmSync(entry, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    } catch (error) {
      throw ioError('remove', entry, error);
    }
  }
}

/** Levels of submodules within submodules, and parts of their names, that are looked through for left-overs. */
const MODULE_DEPTH = 32;

/** What git calls a pack or an object that it has not finished. */
const UNFINISHED = /^(?:tmp_|\.tmp-)/;

/**
 * Removes what killed git processes left: locks, of which `config.lock` or `HEAD.lock` alone would fail every later run, and
 * packs and objects that were not finished, which only take room. In the git directory, its working trees and submodules; links are
 * not followed. Returns the paths.
 */
export function removeLeftOvers(gitDir: string): string[] {
  const removed: string[] = [];
  const list = (directory: string): Dirent[] => {
    try {
      return readdirSync(directory, { withFileTypes: true });
    } catch (error) {
      if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR') return [];
      throw ioError('read', directory, error);
    }
  };
  const remove = (path: string): void => {
    try {
      rmSync(path, { force: true });
    } catch (error) {
      throw ioError('remove', path, error);
    }
    removed.push(path);
  };
  const isLock = (name: string): boolean => name.endsWith('.lock');
  const sweep = (directory: string, recursive: boolean, goes: (name: string) => boolean): void => {
    for (const entry of list(directory)) {
      const path = join(directory, entry.name);
      if (entry.isDirectory()) {
        if (recursive) sweep(path, true, goes);
      } else if (goes(entry.name)) {
        remove(path);
      }
    }
  };
  const sweepGitDir = (directory: string): void => {
    sweep(directory, false, isLock);
    sweep(join(directory, 'refs'), true, isLock);
    const objects = join(directory, 'objects');
    for (const place of ['', 'info', 'info/commit-graphs']) sweep(join(objects, place), false, isLock);
    sweep(join(objects, 'pack'), false, (name) => isLock(name) || UNFINISHED.test(name));
    for (const entry of list(objects)) {
      if (entry.isDirectory() && /^[0-9a-f]{2}$/.test(entry.name)) {
        sweep(join(objects, entry.name), false, (name) => UNFINISHED.test(name));
      }
    }
    sweep(join(directory, 'reftable'), false, isLock);
    for (const entry of list(join(directory, 'worktrees'))) {
      if (entry.isDirectory()) sweep(join(directory, 'worktrees', entry.name), false, isLock);
    }
  };
  // A submodule's name may have slashes in it, so its git directory may lie some levels down.
  const sweepModules = (directory: string, depth: number): void => {
    if (depth > MODULE_DEPTH) return;
    for (const entry of list(directory)) {
      const path = join(directory, entry.name);
      if (!entry.isDirectory()) continue;
      if (existsSync(join(path, 'HEAD')) || existsSync(join(path, 'objects'))) {
        sweepGitDir(path);
        sweepModules(join(path, 'modules'), depth + 1);
      } else {
        sweepModules(path, depth + 1);
      }
    }
  };
  sweepGitDir(gitDir);
  sweepModules(join(gitDir, 'modules'), 0);
  return removed;
}

/** A ref of the reused repository. */
export interface ExistingRef {
  readonly name: string;
  readonly oid: string;
  /** Whether HEAD is on it. */
  readonly isHead: boolean;
}

/** What to do about the refs that are there. */
export interface RefChanges {
  /** HEAD is to be detached at this commit; null to leave it. */
  readonly detachAt: string | null;
  readonly remove: readonly string[];
}

/**
 * No local branch of an earlier run stays, and no tracking ref whose name is a directory of the new one's or the other
 * way round (`a` and `a/b` cannot both be; case does not count, since it does not on some file systems). Pure. The branch
 * that HEAD is on stays if it is the one to be checked out, which saves detaching HEAD first.
 */
export function planRefChanges(refs: readonly ExistingRef[], form: RefForm | null): RefChanges {
  let detachAt: string | null = null;
  const remove: string[] = [];
  const branch = form === null ? null : branchOf(form);
  const tracking = branch === null ? null : `refs/remotes/origin/${branch}`.toLowerCase();
  for (const ref of refs) {
    if (ref.name.startsWith('refs/heads/')) {
      if (ref.isHead && form?.kind === 'branch' && ref.name === `refs/heads/${form.name}`) continue;
      if (ref.isHead) detachAt = ref.oid;
      remove.push(ref.name);
    } else if (tracking !== null) {
      const name = ref.name.toLowerCase();
      if (name.startsWith(`${tracking}/`) || tracking.startsWith(`${name}/`)) remove.push(ref.name);
    }
  }
  return { detachAt, remove };
}

async function existingRefs(git: GitProcess): Promise<ExistingRef[]> {
  const format = '--format=%(objectname) %(HEAD) %(refname)';
  const args = ['for-each-ref', format, 'refs/heads', 'refs/remotes/origin'];
  const text = await gitText(git, { args }, 'cannot list the refs');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      // `<oid> <* or blank> <name>`
      const blank = line.indexOf(' ');
      return { oid: line.slice(0, blank), isHead: line[blank + 1] === '*', name: line.slice(blank + 3) };
    });
}

async function applyRefChanges(git: GitProcess, changes: RefChanges): Promise<void> {
  if (changes.detachAt !== null) {
    const args = ['update-ref', '--no-deref', '-m', 'checkout: leaving the branch', 'HEAD', changes.detachAt];
    await gitText(git, { args }, 'cannot detach HEAD');
  }
  if (changes.remove.length === 0) return;
  const input = Buffer.from(changes.remove.map((name) => `delete ${name}\0\0`).join(''), 'utf8');
  const args = ['update-ref', '--no-deref', '--stdin', '-z'];
  await gitText(git, { args, input }, 'cannot remove the refs of an earlier checkout');
}

const SPARSE_KEYS = new Set(['core.sparsecheckout', 'core.sparsecheckoutcone', 'index.sparse']);

/**
 * Ends the sparse checkout of an earlier run, in the configuration of the repository and of its main working tree. The
 * checkout then writes what the index has marked as not to be written, or sets patterns of its own.
 */
function endSparseCheckout(gitDir: string): void {
  const worktreeConfig = join(gitDir, 'config.worktree');
  const end = (text: string): string =>
    removeVariables(text, (variable) => {
      const key = `${variable.section}.${variable.name}`;
      return variable.subsection === null && SPARSE_KEYS.has(key);
    });
  editConfigFile(worktreeConfig, end);
  const rest = readConfigFile(worktreeConfig);
  // The extension stays where something else needs it.
  const needed = existsSync(join(gitDir, 'worktrees')) || (rest !== null && configVariables(rest).length > 0);
  editConfigFile(join(gitDir, 'config'), (text) =>
    removeVariables(end(text), ({ section, name }) => !needed && section === 'extensions' && name === 'worktreeconfig'),
  );
}

/** What is asked of a directory that was there. */
export interface ReuseRequest {
  readonly repositoryPath: string;
  readonly url: string;
  readonly form: RefForm | null;
  readonly git: GitProcess;
}

/** Why a directory cannot be used as it is. */
export interface Unusable {
  readonly reason: string;
  /** True where nothing is wrong with it: it is just not an earlier checkout of this repository. */
  readonly expected: boolean;
}

/**
 * Makes an earlier checkout ready to be fetched into. Returns why it cannot be used, so that its contents have to go, or
 * null. A failure on the way is such a reason too.
 */
export async function reuseRepository(request: ReuseRequest): Promise<Unusable | null> {
  const gitDir = join(request.repositoryPath, '.git');
  if (statOf(gitDir)?.isDirectory() !== true) return { reason: 'no git repository is in it', expected: true };
  try {
    removeLeftOvers(gitDir);
    const config = readConfigFile(join(gitDir, 'config'));
    if (config === null) return { reason: 'its git repository has no configuration', expected: false };
    const urls = configValues(config, 'remote', 'origin', 'url');
    if (urls.length !== 1 || urls[0] !== request.url) {
      return { reason: 'another repository is in it', expected: true };
    }

    const hasSubmodules =
      existsSync(join(request.repositoryPath, '.gitmodules')) || existsSync(join(gitDir, 'modules'));
    const [refs, submodules] = await Promise.all([
      existingRefs(request.git),
      hasSubmodules ? request.git({ args: ['submodule', 'status'] }) : null,
    ]);
    if (submodules !== null && submodules.exitCode !== 0) throw gitFailure('its submodules are broken', submodules);
    const changes = planRefChanges(refs, request.form);
    await applyRefChanges(request.git, changes);
    const removed = new Set(changes.remove);
    editConfigFile(join(gitDir, 'config'), (text) =>
      removeSections(text, (section, name) => section === 'branch' && removed.has(`refs/heads/${name ?? ''}`)),
    );
    endSparseCheckout(gitDir);
    return null;
  } catch (error) {
    // These say nothing about the repository, which must not be thrown away for them.
    if (!(error instanceof CheckoutError) || error.code === 'interrupted' || error.code === 'git-missing') throw error;
    return { reason: error.message, expected: false };
  }
}

/** Makes the repository. Throws `git-failed`. */
export async function initRepository(
  git: GitProcess,
  repositoryPath: string,
  objectFormat: 'sha1' | 'sha256',
): Promise<void> {
  const format = objectFormat === 'sha256' ? ['--object-format=sha256'] : [];
  await gitText(git, { args: ['init', '--quiet', ...format, repositoryPath] }, 'cannot make a repository');
}

/** Sets the remote and turns automatic maintenance off, which would run beside the job. Keeps what is set already. */
export function configureRepository(gitDir: string, url: string): void {
  const config = join(gitDir, 'config');
  if (readConfigFile(config) === null) {
    throw new CheckoutError('not-a-repository', `'${gitDir}' has no configuration file`, { path: gitDir });
  }
  editConfigFile(config, (text) => {
    let result = text;
    if (configValues(text, 'remote', 'origin', 'url').length === 0) {
      const fetch = '+refs/heads/*:refs/remotes/origin/*';
      const origin = {
        section: 'remote',
        subsection: 'origin',
        variables: [
          ['url', url],
          ['fetch', fetch],
        ],
      } as const;
      result = appendSections(result, [origin]);
    }
    const auto = configValues(text, 'gc', null, 'auto');
    if (auto.length !== 1 || auto[0] !== '0') {
      result = removeVariables(result, ({ section, name }) => section === 'gc' && name === 'auto');
      result = appendSections(result, [{ section: 'gc', subsection: null, variables: [['auto', '0']] }]);
    }
    return result;
  });
}
