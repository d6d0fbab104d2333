/**
 * Removes what earlier runs left of submodules that are not wanted any more: git keeps their repositories for ever, and
 * their working trees where they were. Afterwards the directory is as a new checkout would have made it.
 */
import { type Dirent, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { CheckoutError, errnoOf, ioError } from '../errors.ts';
import type { OpenedRepository } from '../run/session.ts';
import type { EnginePorts } from '../settings.ts';
import { removeAll } from '../worktree/remove.ts';
import { type Gitlinks, hasEntriesBelow } from './gitlinks.ts';
import { isValidSubmoduleName } from './gitmodules.ts';
import { emptyWorkTree, isGitDirectory, isRealPath, removeGitDirectory, workTreeState } from './place.ts';
import { unregisterSubmodule } from './register.ts';

export interface Sweep {
  readonly opened: OpenedRepository;
  readonly gitlinks: Gitlinks;
  /** Names of the submodules that stay. */
  readonly wanted: ReadonlySet<string>;
  readonly ports: EnginePorts;
  readonly signal: AbortSignal;
  /** A directory that must not be removed. */
  readonly keep: string;
}

/**
 * Removes the repositories, and the working trees that belong to them, of submodules that are not wanted.
 *
 * @returns the names of those that are gone
 * @throws CheckoutError 'io'
 */
export async function sweepSubmodules(sweep: Sweep): Promise<readonly string[]> {
  const gone: { readonly gitDir: string; readonly name: string }[] = [];
  const tops: string[] = [];
  const { gitDir } = sweep.opened.repository;
  const walk = (directory: string, name: string, removed: boolean): void => {
    const isRepository = name !== '' && isGitDirectory(directory);
    const goes =
      removed || (name !== '' && (isRepository || ![...sweep.wanted].some((each) => each.startsWith(`${name}/`))));
    if (goes && !removed) tops.push(directory);
    if (isRepository) {
      gone.push({ gitDir: directory, name });
      return;
    }
    for (const entry of list(directory)) {
      const below = name === '' ? entry.name : `${name}/${entry.name}`;
      if (entry.isDirectory() && !sweep.wanted.has(below)) walk(join(directory, entry.name), below, goes);
    }
  };
  walk(join(gitDir, 'modules'), '', false);
  for (const each of gone) await removeWorkTree(sweep, each.gitDir);
  for (const directory of tops) removeGitDirectory(directory);
  for (const { name } of gone) {
    if (isValidSubmoduleName(name)) await unregisterSubmodule(sweep.opened, name, sweep.ports, sweep.signal);
  }
  return gone.map(({ name }) => name);
}

function list(directory: string): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch (error) {
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR') return [];
    throw ioError('read', directory, error);
  }
}

/** Removes the working tree of a repository that goes, if it is one of this repository's and says itself whose it is. */
async function removeWorkTree({ opened, gitlinks, ports, signal, keep }: Sweep, gitDir: string): Promise<void> {
  const { workTree: top } = opened.repository;
  const args = ['config', '--file', join(gitDir, 'config'), '-z', '--get', 'core.worktree'];
  const result = await ports.git({ args, cwd: opened.repository.gitDir, onStderrLine: () => undefined, signal });
  if (result.exitCode !== 0) return;
  const workTree = resolve(gitDir, result.stdout.toString('utf8').replace(/\0$/, ''));
  const path = relative(top, workTree).split(sep).join('/');
  if (path === '' || path === '..' || path.startsWith('../') || path.includes('\0')) return;
  const place = { gitDir, workTree };
  if (!isRealPath(top, workTree) || !isThere(place)) return;
  if (gitlinks.links.some((link) => link.path === path)) {
    emptyWorkTree(workTree, keep);
    return;
  }
  // Files of the repository itself have come there.
  if (gitlinks.index !== null && hasEntriesBelow(gitlinks.index, path)) {
    rmSync(join(workTree, '.git'), { force: true });
    return;
  }
  removeAll(Buffer.from(workTree), keep);
  for (let at = dirname(workTree); at.length > top.length; at = dirname(at)) {
    try {
      rmdirSync(at);
    } catch (error) {
      if (errnoOf(error) === undefined) throw error;
      return;
    }
  }
}

/** Whether the working tree leads back to the repository. */
function isThere(place: { readonly gitDir: string; readonly workTree: string }): boolean {
  try {
    const state = workTreeState(place);
    return state === 'ours' || (state === 'empty' && list(place.workTree).length > 0);
  } catch (error) {
    if (error instanceof CheckoutError && (error.subject.errno === 'ENOENT' || error.subject.errno === 'ENOTDIR')) {
      return false;
    }
    throw error;
  }
}
