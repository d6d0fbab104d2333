/**
 * Descriptors of packs and their indexes: each file is opened when it is first read and may be closed again for another, so
 * that a repository of thousands of packs needs a handful of open files. One pool for each thread.
 */
import { closeSync, fstatSync, openSync } from 'node:fs';
import { errnoOf, ioError } from '../errors.ts';

/** A file that may be opened again and again; the object itself is its identity. */
export interface PooledFile {
  readonly path: string;
}

/** Files that a thread keeps open here. With eight threads and the shared packs the process stays below 256, the limit of macOS. */
const MOST_OPEN = 8;
/** Index files up to this many bytes in all are held whole; what is beyond is read in blocks. */
const WHOLE_BYTES = 128 << 20;

/** Closes what was only read: nothing is lost when that fails, and the run may have been right. */
export function closeRead(fd: number): void {
  try {
    closeSync(fd);
  } catch {
    // See above.
  }
}

export class FilePool {
  /** How much more may be held whole; see BlockFile. */
  wholeBytesLeft = WHOLE_BYTES;
  readonly #most: number;
  /** In the order of use, the latest last. */
  readonly #open = new Map<PooledFile, number>();
  #latest: PooledFile | null = null;
  #latestFd = -1;

  constructor(most = MOST_OPEN) {
    this.#most = most;
  }

  /**
   * The descriptor of a file, valid until the next call.
   * @param check looks at a file that was opened anew, by its size; may throw
   * @throws CheckoutError io
   */
  fd(file: PooledFile, check?: (size: number) => void): number {
    if (file === this.#latest) return this.#latestFd;
    let fd = this.#open.get(file);
    if (fd === undefined) {
      if (this.#open.size >= this.#most) this.#closeOldest();
      fd = this.#openFile(file);
      try {
        check?.(fstatSync(fd).size);
      } catch (error) {
        closeRead(fd);
        throw ioError('read', file.path, error);
      }
    } else {
      this.#open.delete(file);
    }
    this.#open.set(file, fd);
    this.#latest = file;
    this.#latestFd = fd;
    return fd;
  }

  /** Closes a file, if it is open. */
  close(file: PooledFile): void {
    const fd = this.#open.get(file);
    if (fd === undefined) return;
    if (file === this.#latest) this.#latest = null;
    this.#open.delete(file);
    closeRead(fd);
  }

  /** Closes all files; they are opened again when they are read. */
  closeAll(): void {
    for (const file of [...this.#open.keys()]) this.close(file);
  }

  #openFile(file: PooledFile): number {
    for (;;) {
      try {
        return openSync(file.path, 'r');
      } catch (error) {
        const errno = errnoOf(error);
        // The process has no more to give: one of ours goes.
        if ((errno === 'EMFILE' || errno === 'ENFILE') && this.#open.size > 0) this.#closeOldest();
        else throw ioError('open', file.path, error);
      }
    }
  }

  #closeOldest(): void {
    for (const file of this.#open.keys()) {
      this.close(file);
      return;
    }
  }
}
