/**
 * The two hooks of a checkout: post-index-change after the new index is in place, post-checkout at the very end. git itself
 * runs them (`git hook run`), started where and as the user's own git would have been, so that the hook finds the environment,
 * directory and streams that it finds under `git checkout`. Where there is no hook, no process is started.
 */
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import type { Config } from '../config/config.ts';
import { expandConfigPath } from '../config/config-values.ts';
import type { Environment } from '../config/environment.ts';
import { configArgs, type RepositoryLocation } from '../config/git-options.ts';
import type { GitProcess } from '../settings.ts';
import type { Repository } from './repository.ts';

export type HookName = 'post-checkout' | 'post-index-change' | 'reference-transaction';

export interface HookFacts {
  readonly repository: Repository;
  readonly config: Config;
  readonly environment: Environment;
}

/**
 * Whether git would have something to run for this hook. Where only git can tell (`~user` in core.hooksPath), it says yes; git
 * then finds nothing and is content.
 */
export function hookExists(name: HookName, { repository, config, environment }: HookFacts): boolean {
  // Hooks that are configuration: git 2.54 and later; older ones have no such key.
  if (config.subsections('hook').some((hook) => config.getAll(`hook.${hook}.event`).includes(name))) return true;
  const configured = config.get('core.hooksPath');
  let folder = join(repository.commonDir, 'hooks');
  if (configured !== undefined) {
    const expanded = expandConfigPath(configured, environment);
    if (expanded === null) return true;
    folder = isAbsolute(expanded) ? expanded : resolve(repository.workTree, expanded);
  }
  try {
    const path = join(folder, name);
    if (!statSync(path).isFile()) return false;
    // On Windows every file is executable, as git has it there.
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Whether the answer of `git version` is of a git that has `git hook run`: 2.36 and later. */
export function hasHookCommand(versionAnswer: string): boolean {
  const [, major, minor] = /(\d+)\.(\d+)/.exec(versionAnswer) ?? [];
  return Number(major) > 2 || (Number(major) === 2 && Number(minor) >= 36);
}

export interface HookCall extends HookFacts {
  readonly location: RepositoryLocation;
  readonly git: GitProcess;
  readonly signal?: AbortSignal | undefined;
  /** Told of each line that the hook prints: git sends both of its streams to standard error. */
  readonly onLine: (line: string) => void;
}

/**
 * Runs a hook if there is one.
 * @returns its exit status; 0 where there is none
 * @throws CheckoutError git-missing, interrupted
 */
export async function runHook(name: HookName, args: readonly string[], call: HookCall): Promise<number> {
  if (!hookExists(name, call)) return 0;
  const { location, repository, environment, git, signal } = call;
  const named = [location.gitDir, location.workTree, environment['GIT_DIR'], environment['GIT_WORK_TREE']];
  const discovered = named.every((each) => each === undefined);
  // git looks for the repository where the user's git would; but the checkout may have removed that directory.
  const cwd = discovered && existsSync(location.directory) ? location.directory : repository.workTree;
  const where = discovered ? [] : [`--git-dir=${repository.gitDir}`, '--work-tree=.'];
  const result = await git({
    args: [...where, ...configArgs(location.config ?? []), 'hook', 'run', '--ignore-missing', name, '--', ...args],
    cwd,
    onStderrLine: call.onLine,
    ...(signal === undefined ? {} : { signal }),
  });
  return result.exitCode;
}
