/**
 * Where a submodule's git directory and working tree are, and how each leads to the other. Nothing here goes through a
 * link: what leads to a submodule was written from a repository that may not be trusted (CVE-2024-32002).
 */
import { closeSync, lstatSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { CheckoutError, errnoOf, ioError } from '../errors.ts';
import { removeAll } from '../worktree/remove.ts';
import { shown } from './gitmodules.ts';

export interface SubmodulePlace {
  /** Absolute, `<git dir of its repository>/modules/<name>`. */
  readonly gitDir: string;
  /** Absolute. */
  readonly workTree: string;
}

/** A path as git writes it into a configuration or `.git` file. */
function posix(path: string): string {
  return path.split(sep).join('/');
}

/** What the git directory's core.worktree is: the way to the working tree. */
export function worktreeSetting({ gitDir, workTree }: SubmodulePlace): string {
  return posix(relative(gitDir, workTree));
}

function gitFile({ gitDir, workTree }: SubmodulePlace): string {
  return `gitdir: ${posix(relative(workTree, gitDir))}\n`;
}

/** Whether everything from `top` down to `path` is a directory and no link; a part that is not there ends the question. */
export function isRealPath(top: string, path: string): boolean {
  let at = top;
  for (const part of relative(top, path).split(sep)) {
    at = join(at, part);
    let stat;
    try {
      stat = lstatSync(at, { throwIfNoEntry: false });
    } catch (error) {
      throw ioError('look at', at, error);
    }
    if (stat === undefined) return true;
    if (!stat.isDirectory()) return false;
  }
  return true;
}

/** HEAD, objects and refs make a git directory; a configuration too, which a killed `git init` may not have written. */
export function isGitDirectory(path: string): boolean {
  const is = (name: string): boolean => {
    try {
      return lstatSync(join(path, name), { throwIfNoEntry: false }) !== undefined;
    } catch (error) {
      if (errnoOf(error) === 'ENOTDIR') return false;
      throw ioError('look at', path, error);
    }
  };
  return is('HEAD') && is('objects') && is('refs');
}

/**
 * Checks that nothing but directories leads to both, and makes those of the git directory.
 *
 * @param outer git directory and working tree of the repository that has the submodule
 * @throws CheckoutError 'path-invalid' where a link or a file, or the git directory of another submodule, is on the way
 */
export function checkPlace(place: SubmodulePlace, outer: SubmodulePlace): void {
  for (const [top, path] of [
    [outer.workTree, place.workTree],
    [outer.gitDir, place.gitDir],
  ] as const) {
    if (isRealPath(top, path)) continue;
    const what = shown(path);
    throw new CheckoutError('path-invalid', `something that is no directory is on the way to '${what}'`, {
      path: what,
    });
  }
  const modules = join(outer.gitDir, 'modules');
  for (let at = dirname(place.gitDir); at.length > modules.length; at = dirname(at)) {
    if (!isGitDirectory(at)) continue;
    const what = shown(place.gitDir);
    throw new CheckoutError('path-invalid', `the git directory '${what}' would be within another one, '${shown(at)}'`, {
      path: what,
    });
  }
  try {
    mkdirSync(dirname(place.gitDir), { recursive: true });
    mkdirSync(place.workTree, { recursive: true });
  } catch (error) {
    throw ioError('make', place.gitDir, error);
  }
}

/** What a submodule's directory holds. */
export type WorkTreeState =
  /** Nothing at all, or only a `.git` file that is ours. */
  | 'empty'
  /** Files, beside a `.git` file that is ours. */
  | 'ours'
  /** Files, and nothing that says whose they are. */
  | 'files'
  /** A repository of its own, or a `.git` file that leads elsewhere. */
  | 'other';

/** Looks at a submodule's directory. @throws CheckoutError 'io' */
export function workTreeState(place: SubmodulePlace): WorkTreeState {
  try {
    const names = readdirSync(place.workTree);
    if (names.length === 0) return 'empty';
    if (!names.includes('.git')) return 'files';
    const path = join(place.workTree, '.git');
    const stat = lstatSync(path);
    if (!stat.isFile() || stat.size > 65536 || readFileSync(path, 'utf8') !== gitFile(place)) return 'other';
    return names.length === 1 ? 'empty' : 'ours';
  } catch (error) {
    throw ioError('read', place.workTree, error);
  }
}

/** Removes everything in a submodule's directory, which itself stays. @throws CheckoutError 'io' */
export function emptyWorkTree(workTree: string, keep: string): void {
  let names: readonly Buffer[];
  try {
    names = readdirSync(workTree, { encoding: 'buffer' });
  } catch (error) {
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR') return;
    throw ioError('read', workTree, error);
  }
  for (const name of names) removeAll(Buffer.concat([Buffer.from(`${workTree}/`), name]), keep);
}

/** Removes a git directory. @throws CheckoutError 'io' */
export function removeGitDirectory(gitDir: string): void {
  try {
    // Windows refuses for a moment what a virus scanner holds open.
    rmSync(gitDir, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  } catch (error) {
    throw ioError('remove', gitDir, error);
  }
}

/** Writes the `.git` file that leads from the working tree to the git directory. @throws CheckoutError 'io' */
export function writeGitFile(place: SubmodulePlace): void {
  const path = join(place.workTree, '.git');
  try {
    rmSync(path, { force: true });
    // Exclusively: nothing that was put there meanwhile is followed.
    const descriptor = openSync(path, 'wx', 0o666);
    try {
      writeSync(descriptor, gitFile(place));
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    throw ioError('write', path, error);
  }
}
