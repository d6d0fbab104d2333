/**
 * Names of refs: which are valid (git-check-ref-format(1)), which belong to one working tree, and what a short name may
 * stand for (gitrevisions(7)). Strings, since a run handles a few of them.
 */
import { join } from 'node:path';
import { CheckoutError } from '../errors.ts';
import { displayBytes } from '../bytes.ts';

/** Where refs are kept; a Repository is one. */
export interface RefDirs {
  /** The working tree's own directory: HEAD and other pseudorefs. */
  readonly gitDir: string;
  /** The directory shared by all working trees: branches, tags, packed-refs. */
  readonly commonDir: string;
}

/** Longest name that we take. Linux allows 4095 bytes in a path, so git cannot store a longer one in a file either. */
const MAX_NAME_LENGTH = 4000;

/** Whether `name` may be a ref: one level is enough (HEAD). */
export function isValidRefName(name: string): boolean {
  return (
    name.length > 0 &&
    name.length <= MAX_NAME_LENGTH &&
    name !== '@' &&
    // eslint-disable-next-line no-control-regex -- control characters are what git forbids
    !/[\u0000-\u0020\u007f~^:?*[\\]/.test(name) &&
    !/\.\.|@\{|\/\/|^\/|\/$|\.$/.test(name) &&
    name.split('/').every((component) => !component.startsWith('.') && !component.endsWith('.lock'))
  );
}

/** Whether `name` may be a branch: valid below refs/heads/, and not like an option or HEAD. */
export function isValidBranchName(name: string): boolean {
  return !name.startsWith('-') && name !== 'HEAD' && isValidRefName(`refs/heads/${name}`);
}

/** A pseudoref such as HEAD or FETCH_HEAD: a file beside `config`, told from it by its capitals. */
export function isPseudoRef(name: string): boolean {
  return /^[A-Z][A-Z_]*$/.test(name);
}

/** Whether each working tree has its own ref of this name (git-worktree(1), "REFS"). */
export function isPerWorktree(name: string): boolean {
  return !name.startsWith('refs/') || /^refs\/(bisect|worktree|rewritten)\//.test(name);
}

/** The loose file of a ref. The name has been checked: it cannot leave the directory. */
export function refPath(dirs: RefDirs, name: string): string {
  return join(isPerWorktree(name) ? dirs.gitDir : dirs.commonDir, name);
}

/** The log of a ref. */
export function reflogPath(dirs: RefDirs, name: string): string {
  return join(isPerWorktree(name) ? dirs.gitDir : dirs.commonDir, 'logs', name);
}

/** What a short name may stand for; the first that exists is meant. */
export function candidateNames(short: string): string[] {
  const names = [
    `refs/${short}`,
    `refs/tags/${short}`,
    `refs/heads/${short}`,
    `refs/remotes/${short}`,
    `refs/remotes/${short}/HEAD`,
  ];
  if (isPseudoRef(short) || short.startsWith('refs/')) names.unshift(short);
  return names;
}

/** The branch's short name, or null for a ref that is no branch. */
export function branchOf(refName: string): string | null {
  return refName.startsWith('refs/heads/') ? refName.slice('refs/heads/'.length) : null;
}

/** A name for a message. */
export function displayName(name: string): string {
  return displayBytes(Buffer.from(name.length > 200 ? `${name.slice(0, 200)}…` : name));
}

/** The error for a name that does not resolve. */
export function unknownRevision(text: string, why = 'is not known in this repository'): CheckoutError {
  return new CheckoutError('unknown-revision', `'${displayName(text)}' ${why}`, { option: displayName(text) });
}
