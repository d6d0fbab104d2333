/**
 * What is written after a fetch of our own when the pack is in its place (gitrepository-layout(5)): `shallow`, the refs with their logs, and
 * FETCH_HEAD; in this order, so that no ref ever names history that seems to be missing. For a partial clone, its settings come first.
 */
import { closeSync, openSync, readFileSync, renameSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { appendToConfig, raiseFormatVersion } from '../config/append-section.ts';
import type { Config } from '../config/config.ts';
import type { Environment } from '../config/environment.ts';
import { CheckoutError, errnoOf, ioError } from '../errors.ts';
import { committerLine } from '../refs/identity.ts';
import { isValidRefName, type RefDirs, refPath } from '../refs/ref-names.ts';
import { appendReflog, reflogLine } from '../refs/reflog.ts';
import { RefLock } from '../refs/ref-lock.ts';
import { fetchHeadLines, type RefUpdate, storedAs } from './stream-plan.ts';

export interface StoreFacts {
  readonly dirs: RefDirs;
  readonly config: Config;
  readonly environment: Environment;
  /** As it is to be shown; without secrets. */
  readonly url: string;
  /** What the logs say was done: `fetch ARGUMENTS`. */
  readonly action: string;
}

/**
 * Makes the repository a partial clone of a remote, as `git fetch --filter` does.
 * @throws CheckoutError ref-locked, io
 */
export function makePromisor(dirs: RefDirs, remote: string, filter: string): void {
  const path = join(dirs.commonDir, 'config');
  raiseFormatVersion(path);
  appendToConfig(path, 'remote', remote, [
    ['promisor', 'true'],
    ['partialclonefilter', filter],
  ]);
}

/**
 * Says where the history ends.
 * @param shallow hexadecimal ids of the commits without their parents
 * @throws CheckoutError ref-locked, io
 */
export function writeShallow(dirs: RefDirs, shallow: readonly string[]): void {
  if (shallow.length === 0) return;
  const path = join(dirs.commonDir, 'shallow');
  const lock = `${path}.lock`;
  let fd: number;
  try {
    fd = openSync(lock, 'wx', 0o666);
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw ioError('lock', path, error);
    throw new CheckoutError('ref-locked', `'${lock}' exists: another git process may be running`, { path: lock });
  }
  try {
    try {
      writeSync(
        fd,
        [...new Set(shallow)]
          .sort()
          .map((oid) => `${oid}\n`)
          .join(''),
      );
    } finally {
      closeSync(fd);
    }
    renameSync(lock, path);
  } catch (error) {
    rmSync(lock, { force: true });
    throw ioError('write', path, error);
  }
}

/**
 * Sets the refs, and tells in FETCH_HEAD what came.
 * @throws CheckoutError ref-locked, io
 */
export function storeRefs({ dirs, config, environment, url, action }: StoreFacts, updates: readonly RefUpdate[]): void {
  const timeout = config.getInt('core.filesRefLockTimeout');
  const now = new Date();
  let committer: string | null = null;
  for (const { source, destination, oid } of updates) {
    // A server may have names that cannot be refs here; git passes over them, too.
    if (destination === '' || !isValidRefName(destination)) continue;
    const lock = RefLock.acquire(refPath(dirs, destination), timeout);
    try {
      const old = readOld(refPath(dirs, destination));
      lock.write(`${oid}\n`);
      if (old !== oid) {
        committer ??= committerLine(config, environment, now.getTime(), -now.getTimezoneOffset());
        appendReflog(dirs, config, destination, reflogLine(old, oid, committer, `${action}: ${storedAs(source)}`));
      }
      lock.commit();
    } finally {
      lock.release();
    }
  }
  const path = join(dirs.gitDir, 'FETCH_HEAD');
  try {
    writeFileSync(path, fetchHeadLines(updates, url));
  } catch (error) {
    throw ioError('write', path, error);
  }
}

/** A ref may be there already where the objects are gone: of a fetch that was killed. */
function readOld(path: string): string | null {
  try {
    return /^[0-9a-f]{40,64}$/.exec(readFileSync(path, 'latin1').trim())?.[0] ?? null;
  } catch {
    return null;
  }
}
