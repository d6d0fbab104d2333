/**
 * Makes a repository sparse, or ends that: the configuration and the file info/sparse-checkout. `git sparse-checkout` writes
 * them, since where they belong (linked worktrees, config.worktree, settings that have to move there) and what the file
 * looks like are git's own business. But it would also update the working tree, with one process and no workers, and that
 * is the work of the checkout that follows. So it is given an index that does not exist: nothing is tracked then, and the
 * settings are all that it changes.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { locationArgs, type RepositoryLocation } from '../config/git-options.ts';
import { CheckoutError, ioError } from '../errors.ts';
import type { GitProcess, GitResult, SparseSetting } from '../settings.ts';
import { repositoryError } from './repository.ts';

/**
 * Does what `git sparse-checkout set` or `disable` does, but for the working tree and the index. The patterns are those that
 * `parseSparseSetting` lets through.
 *
 * @throws CheckoutError 'git-failed', 'io', and as openRepository
 */
export async function writeSparseSettings(
  location: RepositoryLocation,
  setting: SparseSetting,
  git: GitProcess,
  signal?: AbortSignal,
): Promise<void> {
  const cone = setting.kind === 'cone';
  const folder = temporaryFolder();
  const run = async (args: readonly string[], input?: string): Promise<GitResult> =>
    await git({
      // No hook is to hear of an index that is not the repository's, nor half of it to be put beside the real one.
      args: [...locationArgs(location), '-c', `core.hooksPath=${folder}`, '-c', 'core.splitIndex=false', ...args],
      cwd: location.directory,
      env: { LC_ALL: 'C', GIT_INDEX_FILE: join(folder, 'index') },
      ...(input === undefined ? {} : { input: Buffer.from(input, 'utf8') }),
      ...(signal === undefined ? {} : { signal }),
    });
  try {
    let result: GitResult;
    if (setting.kind === 'off') {
      result = await run(['sparse-checkout', 'disable']);
    } else {
      const lines = setting.patterns.map((pattern) => `${cone ? quoted(pattern) : pattern}\n`).join('');
      const mode = cone ? '--cone' : '--no-cone';
      result = await run(['sparse-checkout', 'set', mode, '--stdin'], lines);
      if (result.exitCode === USAGE) {
        // Before 2.35 `set` has no mode of its own.
        result = await run(['sparse-checkout', 'init', ...(cone ? ['--cone'] : [])]);
        if (result.exitCode === 0) result = await run(['sparse-checkout', 'set', '--stdin'], lines);
      }
    }
    if (signal?.aborted === true)
      throw new CheckoutError('interrupted', 'interrupted while git set the sparse checkout');
    if (result.exitCode !== 0) throw sparseError(result.stderr, location.directory);
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** git's exit status for an option that it does not know. */
const USAGE = 129;

function temporaryFolder(): string {
  try {
    return mkdtempSync(join(tmpdir(), 'parallel-checkout-'));
  } catch (error) {
    throw ioError('make a directory in', tmpdir(), error);
  }
}

/** In cone mode git takes a line that begins with a quote for a quoted one. */
function quoted(pattern: string): string {
  return pattern.startsWith('"') ? `"${pattern.replace(/["\\]/g, '\\$&')}"` : pattern;
}

function sparseError(stderr: string, directory: string): CheckoutError {
  const error = repositoryError(stderr, directory);
  const isRepository = !/not a git repository|dubious ownership|must be run in a work tree/.test(stderr);
  if (!isRepository || error.code !== 'not-a-repository') return error;
  return new CheckoutError('git-failed', `git sparse-checkout failed: ${error.message}`, { path: directory });
}
