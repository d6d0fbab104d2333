/**
 * `index.lock`: how git's programs keep out of each other's way. The lock is the file that becomes the index, so taking
 * it is an exclusive create, and committing it is a rename; whoever finds it there fails at once and touches nothing.
 */
import { closeSync, openSync, readlinkSync, renameSync, unlinkSync, writeSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { MOST_AT_ONCE } from '../bytes.ts';
import { CheckoutError, errnoOf, ioError } from '../errors.ts';
import { shareFile, type SharedPermissions } from './shared-permissions.ts';

/** How many symbolic links from the index to its true place are followed; as many as git follows. */
const MOST_LINKS = 5;
/** Waits in milliseconds before a rename is tried again on Windows, where a reader of the old index makes it fail. */
const RENAME_WAITS = [0, 1, 10, 20, 40];

/**
 * The lock of one index file. Take it before reading the index. Everything is synchronous, so `release` can run in a
 * signal handler; it also runs when the process (or this thread) exits.
 */
export class IndexLock {
  /** The index file itself, behind symbolic links. */
  readonly indexPath: string;
  readonly lockPath: string;
  /** Null once closed. */
  private descriptor: number | null;
  private held = true;
  private readonly releaseAtExit = (): void => this.release();

  private constructor(indexPath: string, lockPath: string, descriptor: number) {
    this.indexPath = indexPath;
    this.lockPath = lockPath;
    this.descriptor = descriptor;
    process.once('exit', this.releaseAtExit);
  }

  /**
   * Creates `<indexPath>.lock`, or that of the file which indexPath is a symbolic link to. The new index has mode 0666
   * less the umask, or what `permissions` say.
   *
   * @throws CheckoutError index-locked when another process holds it, io otherwise
   */
  static acquire(indexPath: string, permissions: SharedPermissions = null): IndexLock {
    const target = behindLinks(indexPath);
    const lockPath = `${target}.lock`;
    let lock: IndexLock | null = null;
    try {
      lock = new IndexLock(target, lockPath, openSync(lockPath, 'wx', 0o666));
      shareFile(lockPath, permissions);
      return lock;
    } catch (error) {
      lock?.release();
      if (errnoOf(error) !== 'EEXIST') throw ioError('create', lockPath, error);
      throw new CheckoutError(
        'index-locked',
        `the index is locked: '${lockPath}' exists. Another git process may be running; if none is, one ended early: remove the file`,
        { path: lockPath, errno: 'EEXIST' },
        error,
      );
    }
  }

  /**
   * Writes the new index and puts it in place. On failure the lock is gone and the old index as it was.
   *
   * @throws CheckoutError io
   */
  writeAndCommit(content: Uint8Array): void {
    const descriptor = this.descriptor;
    if (!this.held || descriptor === null) throw new Error('BUG in parallel-checkout: the index lock is not held');
    try {
      for (let at = 0; at < content.length;) {
        at += writeSync(descriptor, content, at, Math.min(content.length - at, MOST_AT_ONCE));
      }
      this.descriptor = null;
      closeSync(descriptor);
      this.rename();
    } catch (error) {
      this.release();
      throw ioError('write the index', this.indexPath, error);
    }
    this.held = false;
    process.off('exit', this.releaseAtExit);
  }

  /** Gives the lock up and leaves the index as it was. Does nothing after `writeAndCommit` or a second time. */
  release(): void {
    if (!this.held) return;
    this.held = false;
    process.off('exit', this.releaseAtExit);
    const descriptor = this.descriptor;
    this.descriptor = null;
    if (descriptor !== null) quietly(() => closeSync(descriptor));
    quietly(() => unlinkSync(this.lockPath));
  }

  private rename(): void {
    for (let attempt = 0; ; attempt++) {
      try {
        renameSync(this.lockPath, this.indexPath);
        return;
      } catch (error) {
        const busy = process.platform === 'win32' && ['EPERM', 'EACCES', 'EBUSY'].includes(errnoOf(error) ?? '');
        if (!busy || attempt === RENAME_WAITS.length) throw error;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RENAME_WAITS[attempt]);
      }
    }
  }
}

/** Follows symbolic links by hand, since the file at the end need not exist. */
function behindLinks(path: string): string {
  let current = path;
  for (let links = 0; links < MOST_LINKS; links++) {
    let target: string;
    try {
      target = readlinkSync(current);
    } catch (error) {
      // Not a link, or nothing there yet. UNKNOWN is what Windows says of some files that are no links.
      if (['EINVAL', 'ENOENT', 'UNKNOWN'].includes(errnoOf(error) ?? '')) return current;
      throw ioError('read the link', current, error);
    }
    current = resolve(dirname(current), target);
  }
  return current;
}

/** Runs what may fail without harm: there is no one left to tell, and the first error is on its way. */
function quietly(action: () => void): void {
  try {
    action();
  } catch {
    // See above.
  }
}
