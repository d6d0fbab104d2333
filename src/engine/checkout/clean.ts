/**
 * What `git clean -ffdx` does, by one walk of our own over the old index and the working tree; what is found goes with several
 * system calls under way. git does it where names fold, because only it can tell which names are one there, and where its
 * index has something that we do not read.
 */
import type { Config } from '../config/config.ts';
import { CheckoutError } from '../errors.ts';
import { foldsCase } from './collisions.ts';
import type { Repository } from '../gitdir/repository.ts';
import { readWholeIndex } from '../index/read-whole-index.ts';
import { hasSparseDirectories } from '../index/sparse-index.ts';
import type { IndexTable } from '../index/index-table.ts';
import type { GitProcess } from '../settings.ts';
import { KeptPaths } from '../worktree/kept-paths.ts';
import { WorktreePaths } from '../worktree/paths.ts';
import { removeMany } from '../worktree/remove-many.ts';
import { findUntracked } from '../worktree/untracked.ts';
import { indexNeedsGit } from './needs-git.ts';

export interface CleanJob {
  readonly repository: Repository;
  readonly config: Config;
  readonly git: GitProcess;
  /** Patterns of untracked paths that stay, as in a .gitignore file at the top. */
  readonly exclude: readonly string[];
  /** The process's own directory. */
  readonly keep: string;
  readonly signal?: AbortSignal | undefined;
}

/** What a clean came to. */
export interface CleanOutcome {
  readonly engine: 'native' | 'git';
  readonly ms: number;
  /** Files and links removed; null where git did it, which does not count. */
  readonly removed: number | null;
  /** What could not be removed, a line each. */
  readonly failures: readonly string[];
}

/**
 * Removes everything that the index does not have. Other than git it never takes the git directory for an untracked one,
 * wherever it is.
 * @throws CheckoutError interrupted; io when the working tree cannot be read
 */
export async function cleanWorkTree(job: CleanJob): Promise<CleanOutcome> {
  const { repository, config, keep, signal } = job;
  const started = performance.now();
  const index = indexForClean(job);
  if (index === 'git') return await cleanByGit(job, started);
  const kept = new KeptPaths(job.exclude, config.getBool('core.ignoreCase') ?? false);
  const spared = [repository.gitDir, repository.commonDir, repository.objectsDir];
  const untracked = findUntracked(index, new WorktreePaths(repository.workTree), kept, spared);
  const removed = await removeMany(untracked.paths, keep, signal);
  stopIfAborted(signal);
  return {
    engine: 'native',
    ms: performance.now() - started,
    removed: removed.files,
    failures: [...untracked.failures, ...removed.failures],
  };
}

function indexForClean({ repository, config }: CleanJob): IndexTable | null | 'git' {
  const folds =
    (config.getBool('core.ignoreCase') ?? false) ||
    (config.getBool('core.precomposeUnicode') ?? false) ||
    foldsCase(repository.workTree);
  if (folds) return 'git';
  try {
    const index = readWholeIndex(repository, null);
    if (index === null) return null;
    return hasSparseDirectories(index) || indexNeedsGit(index).length > 0 ? 'git' : index;
  } catch (error) {
    // git says what is wrong with it, or copes.
    if (error instanceof CheckoutError) return 'git';
    throw error;
  }
}

async function cleanByGit({ repository, git, exclude, signal }: CleanJob, started: number): Promise<CleanOutcome> {
  const result = await git({
    args: [...repository.gitOptions, 'clean', '-ffdxq', ...exclude.map((pattern) => `--exclude=${pattern}`)],
    cwd: repository.workTree,
    ...(signal === undefined ? {} : { signal }),
  });
  stopIfAborted(signal);
  const lines = result.stderr.split('\n').filter((line) => line.trim() !== '');
  const failures = result.exitCode === 0 ? [] : lines.length > 0 ? lines : [`git clean ended with ${result.exitCode}`];
  return { engine: 'git', ms: performance.now() - started, removed: null, failures };
}

function stopIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true)
    throw new CheckoutError('interrupted', 'interrupted while untracked files were removed');
}
