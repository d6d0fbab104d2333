/**
 * The lock of a ref file, as git takes it: NAME.lock beside it, made exclusively, holding the new content, renamed into
 * place. Writing at once, before the working tree is touched, also finds a full disk early.
 */
import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { CheckoutError, errnoOf, ioError } from '../errors.ts';
import { shareDirectories, shareFile, type SharedPermissions } from '../index/shared-permissions.ts';

/** git tries for 100 ms (core.filesRefLockTimeout); so do we. */
const LOCK_TIMEOUT_MS = 100;
const RETRY_MS = 10;

/** Blocks this thread; only while another process holds a lock. */
function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** Removes directories that hold nothing but directories. False when a file is in the way. */
export function removeEmptyDirectories(path: string): boolean {
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    if (!entry.isDirectory() || !removeEmptyDirectories(join(path, entry.name))) return false;
  }
  rmdirSync(path);
  return true;
}

export class RefLock {
  private held = true;
  private readonly path: string;
  private readonly lockPath: string;

  private constructor(path: string, lockPath: string) {
    this.path = path;
    this.lockPath = lockPath;
  }

  /**
   * Locks the ref file at `path`, making its directories. `permissions` are those of core.sharedRepository.
   *
   * @throws CheckoutError 'ref-locked' when another process keeps the lock, 'io'
   */
  static acquire(path: string, timeoutMs: number = LOCK_TIMEOUT_MS, permissions: SharedPermissions = null): RefLock {
    const lockPath = `${path}.lock`;
    const deadline = Date.now() + timeoutMs;
    for (;;) {
      try {
        const directory = dirname(path);
        shareDirectories(mkdirSync(directory, { recursive: true }), directory, permissions);
        const descriptor = openSync(lockPath, 'wx', 0o666);
        const lock = new RefLock(path, lockPath);
        try {
          closeSync(descriptor);
          shareFile(lockPath, permissions);
        } catch (error) {
          lock.release();
          throw error;
        }
        return lock;
      } catch (error) {
        const errno = errnoOf(error);
        // ENOENT: somebody removed the directory that we had just made.
        if (errno !== 'EEXIST' && errno !== 'ENOENT') throw ioError('lock', path, error);
        if (Date.now() >= deadline) {
          if (errno === 'ENOENT') throw ioError('lock', path, error);
          throw new CheckoutError(
            'ref-locked',
            `cannot lock '${path}': '${lockPath}' exists; another git process may be running, or one has crashed`,
            { path: lockPath },
          );
        }
        pause(RETRY_MS);
      }
    }
  }

  /** Writes what the ref will hold. Once. */
  write(content: string): void {
    try {
      const descriptor = openSync(this.lockPath, 'r+');
      try {
        writeSync(descriptor, content);
      } finally {
        closeSync(descriptor);
      }
    } catch (error) {
      throw ioError('write', this.lockPath, error);
    }
  }

  /** Puts the content into place. Empty directories with the ref's name, left by deleted refs, make way. */
  commit(): void {
    for (let attempt = 0; ; attempt++) {
      try {
        renameSync(this.lockPath, this.path);
        this.held = false;
        return;
      } catch (error) {
        const errno = errnoOf(error);
        // EPERM is how Windows says that the target is a directory.
        const directory = errno === 'EISDIR' || errno === 'ENOTEMPTY' || errno === 'EEXIST' || errno === 'EPERM';
        if (attempt > 0 || !directory || !this.clearDirectory()) throw ioError('update', this.path, error);
      }
    }
  }

  /**
   * Gives the lock up; nothing when it was committed or given up before. Never throws: what went wrong before is on its way to the
   * user, other locks are still to be given up, and of a lock that stays the next run tells.
   */
  release(): void {
    if (!this.held) return;
    this.held = false;
    try {
      unlinkSync(this.lockPath);
    } catch {
      // See above.
    }
  }

  private clearDirectory(): boolean {
    try {
      return removeEmptyDirectories(this.path);
    } catch {
      return false; // not a directory after all, or not ours to remove
    }
  }
}

/** Removes a file if it is there. */
export function removeFile(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch (error) {
    throw ioError('remove', path, error);
  }
}
