/**
 * Moves HEAD, and makes or moves the branch it goes to, in two steps: every lock is taken and every new content written
 * before the working tree is touched, and put into place when it is done. Reflog lines read as `git checkout` writes them.
 */
import { lstatSync } from 'node:fs';
import type { Config } from '../config/config.ts';
import type { Environment } from '../config/environment.ts';
import { CheckoutError, ioError } from '../errors.ts';
import { parseSharedRepository, type SharedPermissions } from '../index/shared-permissions.ts';
import { removeBranchState } from './branch-state.ts';
import { committerLine } from './identity.ts';
import {
  branchOf,
  displayName,
  isValidBranchName,
  isValidRefName,
  type RefDirs,
  reflogPath,
  refPath,
  unknownRevision,
} from './ref-names.ts';
import { conflictingPackedRef, readPackedRefs, readRef, refExists, resolveRef } from './read-refs.ts';
import { appendReflog, reflogLine } from './reflog.ts';
import { RefLock, removeEmptyDirectories, removeFile } from './ref-lock.ts';
import { otherWorktreeUsing } from './worktree-branches.ts';

/** Where HEAD goes. Ids in hexadecimal. */
export type HeadChange =
  /** Detached at a commit; `to` is how the user named it. */
  | { readonly kind: 'detach'; readonly oid: string; readonly to: string }
  /** To a branch that exists. */
  | { readonly kind: 'switch'; readonly refName: string }
  /** To a branch that is made, or moved, to a commit; `startPoint` is how the user named that. */
  | { readonly kind: 'reset-branch'; readonly refName: string; readonly oid: string; readonly startPoint: string };

export interface HeadUpdateFacts {
  readonly dirs: RefDirs;
  readonly config: Config;
  readonly environment: Environment;
  /** Reflog message in place of checkout's own ("clone: from URL"). */
  readonly reflogMessage?: string | undefined;
}

/** Locks held. Exactly one of the two ends it; both are synchronous, so that a signal handler can call `abort`. */
export interface HeadUpdate {
  /** Puts everything into place. @throws CheckoutError 'io' */
  commit(): void;
  /** Removes the locks; nothing has changed. Nothing after `commit`, and nothing the second time. */
  abort(): void;
}

/**
 * Locks HEAD and the branch, checks that the change is possible, and writes the new contents beside the old.
 *
 * @throws CheckoutError 'ref-locked' (a lock is held, another working tree uses the branch, a ref is in the way),
 *   'unknown-revision', 'io'
 */
export function prepareHeadUpdate(facts: HeadUpdateFacts, change: HeadChange): HeadUpdate {
  const locks: RefLock[] = [];
  const abort = (): void => {
    for (const lock of locks.splice(0)) lock.release();
  };
  try {
    return prepare(facts, change, locks, abort);
  } catch (error) {
    abort();
    throw error;
  }
}

function prepare(facts: HeadUpdateFacts, change: HeadChange, locks: RefLock[], abort: () => void): HeadUpdate {
  const { dirs, config } = facts;
  const timeout = config.getInt('core.filesRefLockTimeout');
  const permissions = parseSharedRepository(config.getAll('core.sharedRepository').at(-1));
  const lock = (name: string): RefLock => {
    const taken = RefLock.acquire(refPath(dirs, name), timeout, permissions);
    locks.push(taken);
    return taken;
  };

  const headLock = lock('HEAD');
  const head = readRef(dirs, 'HEAD');
  const onBranch = head?.kind === 'symbolic' ? head.target : null;
  const headOid = resolveRef(dirs, 'HEAD')?.oid ?? null;
  // Where HEAD's branch is a symbolic ref, git names the one that it leads to.
  const atEnd = onBranch === null ? null : (resolveRef(dirs, 'HEAD')?.name ?? onBranch);
  const from = (atEnd === null ? null : branchOf(atEnd)) ?? headOid ?? '(invalid)';
  const message = (to: string): string =>
    facts.reflogMessage ?? facts.environment['GIT_REFLOG_ACTION'] ?? `checkout: moving from ${from} to ${to}`;
  const log = (name: string, oldOid: string | null, newOid: string, text: string): void => {
    appendReflog(dirs, config, name, reflogLine(oldOid, newOid, committer(facts), text));
  };

  if (change.kind === 'detach') {
    headLock.write(`${change.oid}\n`);
    // Detached at this commit already: git writes no line for a ref that keeps its value.
    const unmoved = onBranch === null && headOid === change.oid;
    return {
      abort,
      commit: () =>
        committing(abort, () => {
          if (!unmoved) log('HEAD', headOid, change.oid, message(change.to));
          headLock.commit();
          removeBranchState(dirs.gitDir);
        }),
    };
  }

  const { refName } = change;
  const branch = branchOf(refName);
  if (branch === null || !isValidBranchName(branch)) {
    throw new CheckoutError('usage', `'${displayName(refName)}' is not a valid branch name`, {
      option: displayName(refName),
    });
  }
  if (onBranch !== refName) refuseBranchInUse(facts, refName, branch);
  // A branch that is a symbolic ref stays one: what it leads to is written, and all on the way there log it.
  const chain = change.kind === 'reset-branch' ? symbolicChain(dirs, refName) : [refName];
  const branchLock = change.kind === 'reset-branch' ? lockBranch(facts, chain[chain.length - 1]!, lock) : null;
  const oldOid = resolveRef(dirs, refName)?.oid ?? null;
  const newOid = change.kind === 'reset-branch' ? change.oid : oldOid;
  if (newOid === null) throw unknownRevision(branch, 'is not a branch of this repository');
  branchLock?.write(`${newOid}\n`);
  headLock.write(`ref: ${refName}\n`);

  return {
    abort,
    commit: () =>
      committing(abort, () => {
        let headNow = headOid;
        if (branchLock !== null && change.kind === 'reset-branch') {
          const text =
            facts.reflogMessage ?? `branch: ${oldOid === null ? 'Created from' : 'Reset to'} ${change.startPoint}`;
          if (oldOid !== newOid) for (const name of chain) log(name, oldOid, newOid, text);
          if (onBranch !== null && chain.includes(onBranch)) {
            // HEAD moves with its branch, and its log tells, even where the branch keeps its value.
            log('HEAD', headOid, newOid, text);
            headNow = newOid;
          }
          if (oldOid === newOid) branchLock.release();
          else branchLock.commit();
        }
        log('HEAD', headNow, newOid, message(branch));
        headLock.commit();
        // The log of a branch that never came to be.
        if (onBranch !== null && isValidRefName(onBranch) && !refExists(dirs, onBranch)) {
          removeFile(reflogPath(dirs, onBranch));
        }
        removeBranchState(dirs.gitDir);
      }),
  };
}

function committing(abort: () => void, work: () => void): void {
  try {
    work();
  } finally {
    // Locks that were committed release nothing; after a failure none stays behind.
    abort();
  }
}

function committer({ config, environment }: HeadUpdateFacts): string {
  const now = new Date();
  return committerLine(config, environment, now.getTime(), -now.getTimezoneOffset());
}

function refuseBranchInUse({ dirs, config }: HeadUpdateFacts, refName: string, branch: string): void {
  const path = otherWorktreeUsing(dirs, config, refName);
  if (path === null) return;
  throw new CheckoutError(
    'ref-locked',
    `the branch '${displayName(branch)}' is already used by the working tree at '${path}'`,
    { path },
  );
}

/** A ref and those that it leads to, the last one being no symbolic ref, or not there. */
function symbolicChain(dirs: RefDirs, refName: string): string[] {
  const end = resolveRef(dirs, refName)?.name ?? refName;
  const chain = [refName];
  for (let at = refName; at !== end;) {
    const value = readRef(dirs, at);
    if (value?.kind !== 'symbolic') break;
    at = value.target;
    chain.push(at);
  }
  return chain;
}

/** Locks a branch that will be written, and finds what its file would collide with. */
function lockBranch({ dirs }: HeadUpdateFacts, refName: string, lock: (name: string) => RefLock): RefLock {
  const conflict = (other: string): CheckoutError =>
    new CheckoutError('ref-locked', `cannot make '${displayName(refName)}' while '${displayName(other)}' exists`, {
      option: displayName(refName),
    });
  // From the top down: below a file nothing can be looked at.
  for (let slash = refName.indexOf('/', 'refs/heads/'.length); slash > 0; slash = refName.indexOf('/', slash + 1)) {
    const parent = refName.slice(0, slash);
    const stat = lstatSync(refPath(dirs, parent), { throwIfNoEntry: false });
    if (stat === undefined) break;
    if (!stat.isDirectory()) throw conflict(parent);
  }
  const packed = readPackedRefs(dirs);
  const inTheWay = packed === null ? null : conflictingPackedRef(packed, refName);
  if (inTheWay !== null) throw conflict(inTheWay);

  const taken = lock(refName);
  const path = refPath(dirs, refName);
  try {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat?.isDirectory() === true && !removeEmptyDirectories(path)) throw conflict(`${refName}/…`);
  } catch (error) {
    throw ioError('clear', path, error);
  }
  return taken;
}

/**
 * Makes a symbolic ref, such as refs/remotes/origin/HEAD after a clone. No reflog line: git writes none that matters
 * there, and a clone's refs have no past.
 *
 * @param permissions those of core.sharedRepository
 * @throws CheckoutError 'ref-locked', 'io'
 */
export function writeSymbolicRef(
  dirs: RefDirs,
  name: string,
  target: string,
  permissions: SharedPermissions = null,
): void {
  const lock = RefLock.acquire(refPath(dirs, name), undefined, permissions);
  try {
    lock.write(`ref: ${target}\n`);
    lock.commit();
  } finally {
    lock.release();
  }
}
