/**
 * What git processes leave in a repository when they are killed: locks, of which `config.lock` or `HEAD.lock` alone would fail every
 * later run, and packs and objects that were not finished, which only take room. Nothing that a living process may be using is
 * touched: somebody's `git gc` in the background is not ours to break. docs/decisions/left-overs.md.
 */
import { type Dirent, existsSync, lstatSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { errnoOf, ioError } from '../errors.ts';
import { listProcesses, openPaths, startTime, worksIn } from '../host/processes.ts';
import { UNFINISHED } from './unfinished-packs.ts';

/** Levels of submodules within submodules, and parts of their names, that are looked through. */
const MODULE_DEPTH = 32;

/** The times of a file and the start of a process come from clocks that differ by up to a second. */
const CLOCK_SLACK_MS = 2000;

/** What was found, as paths. */
export interface LeftOvers {
  readonly removed: readonly string[];
  /** Left, since a process that may be using them is at work. */
  readonly held: readonly string[];
}

/**
 * Removes them from the git directory, its working trees and its submodules. Links are not followed.
 *
 * @param gitDir absolute
 * @param workTree absolute; git processes that work in there hold the locks that are younger than they are
 * @throws CheckoutError 'io'
 */
export function removeLeftOvers(gitDir: string, workTree: string): LeftOvers {
  const found = leftOversIn(gitDir);
  if (found.length === 0) return { removed: [], held: [] };
  const isHeld = holders(workTree);
  const removed: string[] = [];
  const held: string[] = [];
  for (const path of found) {
    if (isHeld(path)) {
      held.push(path);
      continue;
    }
    try {
      rmSync(path, { force: true });
    } catch (error) {
      throw ioError('remove', path, error);
    }
    removed.push(path);
  }
  return { removed, held };
}

/**
 * Looks at the processes once, and tells of a file whether one that lives may be using it: it is open (git keeps a pack
 * open that it receives, but no lock), or a git process that is older than the file works in the repository.
 */
function holders(workTree: string): (path: string) => boolean {
  const others = listProcesses().filter(({ pid }) => pid !== process.pid);
  const open = new Set(others.flatMap((each) => openPaths(each)));
  const directory = realPath(workTree);
  const starts = others
    .filter((each) => each.name.startsWith('git') && worksIn(each, directory))
    .map((each) => startTime(each));
  const oldest = Math.min(...starts);
  return (path) => {
    if (open.has(join(realPath(dirname(path)), basename(path)))) return true;
    const changed = lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    return changed + CLOCK_SLACK_MS >= oldest;
  };
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function leftOversIn(gitDir: string): string[] {
  const found: string[] = [];
  const list = (directory: string): Dirent[] => {
    try {
      return readdirSync(directory, { withFileTypes: true });
    } catch (error) {
      if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR') return [];
      throw ioError('read', directory, error);
    }
  };
  // No ref, and so no part of its path, may end like this.
  const isLock = (name: string): boolean => name.endsWith('.lock');
  const sweep = (directory: string, recursive: boolean, goes: (name: string) => boolean): void => {
    for (const entry of list(directory)) {
      const path = join(directory, entry.name);
      if (entry.isDirectory()) {
        if (recursive) sweep(path, true, goes);
      } else if (goes(entry.name)) {
        found.push(path);
      }
    }
  };
  const sweepWorktree = (directory: string): void => {
    for (const place of ['', 'info', 'reftable']) sweep(join(directory, place), false, isLock);
    for (const place of ['refs', 'logs']) sweep(join(directory, place), true, isLock);
  };
  const sweepGitDir = (directory: string): void => {
    sweepWorktree(directory);
    const objects = join(directory, 'objects');
    for (const place of ['', 'info', 'info/commit-graphs']) sweep(join(objects, place), false, isLock);
    sweep(join(objects, 'pack'), false, (name) => isLock(name) || UNFINISHED.test(name));
    for (const entry of list(objects)) {
      if (entry.isDirectory() && /^[0-9a-f]{2}$/.test(entry.name)) {
        sweep(join(objects, entry.name), false, (name) => UNFINISHED.test(name));
      }
    }
    for (const entry of list(join(directory, 'worktrees'))) {
      if (entry.isDirectory()) sweepWorktree(join(directory, 'worktrees', entry.name));
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
  return found;
}
