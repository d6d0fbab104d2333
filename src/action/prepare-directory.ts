/**
 * Gets the directory into a state that can be fetched into: made, emptied, or an earlier checkout of the same repository
 * with what could be in the way removed. When an earlier checkout is used again and when it is thrown away are the rules
 * of actions/checkout; it asks git up to twenty times for it, this once where nothing is in the way.
 */
import { existsSync, mkdirSync, readdirSync, realpathSync, rmSync, statSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { endOrphans, removeLeftOvers } from '../engine/engine.ts';
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
import { logLine } from './log.ts';
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
  // A repository without its configuration is not used again, so that one of which half is gone is never taken for a whole one.
  const first = statOf(join(path, '.git'))?.isDirectory() === true ? [join('.git', 'config')] : [];
  const entries = [...first, ...names].map((name) => join(path, name));
  for (const entry of entries) {
    try {
      // Windows refuses for a moment what a virus scanner holds open.
      rmSync(entry, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    } catch (error) {
      throw ioError('remove', entry, error);
    }
  }
}

/** Ends what killed steps left at work in the directory, and removes what they left lying about. */
async function clearLeftOvers(repositoryPath: string, gitDir: string): Promise<void> {
  const orphans = await endOrphans(realpathSync(repositoryPath));
  if (orphans.length > 0) {
    logLine(
      `A step that was killed had left git at work here (process ${orphans.map(({ pid }) => pid).join(', ')}): ended`,
    );
  }
  const { held } = removeLeftOvers(gitDir, repositoryPath);
  if (held.length > 0) {
    const more = held.length === 1 ? '' : ` and ${held.length - 1} more like it`;
    logLine(`'${held[0]!}'${more} is left alone, since a git process is at work in the repository`);
  }
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
 * way round (`a` and `a/b` cannot both be; case does not count, since it does not on some file systems), nor of that of `base`,
 * which is fetched too. Pure. The branch
 * that HEAD is on stays if it is the one to be checked out, which saves detaching HEAD first.
 */
export function planRefChanges(
  refs: readonly ExistingRef[],
  form: RefForm | null,
  base: RefForm | null = null,
): RefChanges {
  let detachAt: string | null = null;
  const remove: string[] = [];
  const tracking = [form, base]
    .map((each) => (each === null ? null : branchOf(each)))
    .filter((branch) => branch !== null)
    .map((branch) => `refs/remotes/origin/${branch}`.toLowerCase());
  for (const ref of refs) {
    if (ref.name.startsWith('refs/heads/')) {
      if (ref.isHead && form?.kind === 'branch' && ref.name === `refs/heads/${form.name}`) continue;
      if (ref.isHead) detachAt = ref.oid;
      remove.push(ref.name);
    } else {
      const name = ref.name.toLowerCase();
      if (tracking.some((its) => name.startsWith(`${its}/`) || its.startsWith(`${name}/`))) remove.push(ref.name);
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
  /** What else is fetched to be compared with. */
  readonly base?: RefForm | null;
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
    await clearLeftOvers(request.repositoryPath, gitDir);
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
    const changes = planRefChanges(refs, request.form, request.base);
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
