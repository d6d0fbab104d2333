/**
 * Removes files and whole directories with several system calls under way at once, from the main thread: libuv's threads wait
 * for the file system, so this goes on beside a fetch. Links are never followed. Whatever cannot be removed is told, and the
 * rest goes.
 */
import type { Dirent } from 'node:fs';
import { lstat, readdir, rm, rmdir, unlink } from 'node:fs/promises';
import { displayBytes } from '../bytes.ts';
import { errnoOf } from '../errors.ts';

/** Files, or directories next to each other, that are under way at once. libuv has 4 threads; more only keeps them busy. */
const LANES = 16;
/** Directories this deep below what is removed go one after the other, which bounds how many are open. */
const PARALLEL_DEPTH = 3;
/** Windows refuses for a moment what a virus scanner holds open. */
const PATIENCE = { force: true, recursive: true, maxRetries: 5, retryDelay: 100 } as const;

const SLASH = Buffer.from('/');

/** What became of it. */
export interface RemovedMany {
  /** Files and links that are gone. */
  readonly files: number;
  /** What could not be removed: absolute path and why, a line each. */
  readonly failures: readonly string[];
}

/**
 * Removes what is at these absolute paths.
 * @param keep a directory that must not be removed, nor those above it: the process's own
 * @param signal stops it between two files
 */
export async function removeMany(paths: readonly Buffer[], keep: string, signal?: AbortSignal): Promise<RemovedMany> {
  const remover = new Remover(Buffer.from(keep, 'utf8'), signal);
  await inLanes(paths, (path) => remover.remove(path));
  return { files: remover.files, failures: remover.failures };
}

class Remover {
  files = 0;
  readonly failures: string[] = [];
  readonly #keep: Buffer;
  readonly #signal: AbortSignal | undefined;

  constructor(keep: Buffer, signal: AbortSignal | undefined) {
    this.#keep = keep;
    this.#signal = signal;
  }

  async remove(path: Buffer): Promise<void> {
    try {
      if ((await lstat(path)).isDirectory()) await this.#directory(path, 0);
      else await this.#file(path);
    } catch (error) {
      this.#failed(path, error);
    }
  }

  async #file(path: Buffer): Promise<void> {
    if (this.#signal?.aborted === true) return;
    try {
      await unlink(path);
      this.files++;
    } catch (error) {
      if (process.platform === 'win32')
        await rm(path, PATIENCE).then(
          () => this.files++,
          (last: unknown) => this.#failed(path, last),
        );
      else this.#failed(path, error);
    }
  }

  /** Says whether all is gone. */
  async #directory(path: Buffer, depth: number): Promise<void> {
    let children: Dirent<Buffer>[];
    try {
      children = await readdir(path, { withFileTypes: true, encoding: 'buffer' });
    } catch (error) {
      // One that is empty can be removed without having been read.
      if (await this.#emptyDirectory(path)) return;
      this.#failed(path, error);
      return;
    }
    const before = this.failures.length;
    const directories: Buffer[] = [];
    const files: Buffer[] = [];
    for (const child of children) {
      const childPath = Buffer.concat([path, SLASH, child.name]);
      const known = child.isFile() || child.isSymbolicLink() || child.isDirectory();
      const isDirectory = known ? child.isDirectory() : (await lstat(childPath)).isDirectory();
      (isDirectory ? directories : files).push(childPath);
    }
    await inLanes(files, (file) => this.#file(file));
    if (depth < PARALLEL_DEPTH) await inLanes(directories, (directory) => this.#directory(directory, depth + 1));
    else for (const directory of directories) await this.#directory(directory, depth + 1);
    if (this.#signal?.aborted === true) return;
    if (await this.#emptyDirectory(path)) return;
    // What is in it has been told of already; another lane's failures only hide a reason here, not a path.
    if (this.failures.length === before) this.#failed(path, 'it is not empty, or not ours to remove');
  }

  async #emptyDirectory(path: Buffer): Promise<boolean> {
    if (path.equals(this.#keep)) {
      this.#failed(path, 'it is the current working directory');
      return true;
    }
    try {
      await rmdir(path);
      return true;
    } catch (error) {
      return errnoOf(error) === 'ENOENT';
    }
  }

  #failed(path: Buffer, error: unknown): void {
    const errno = errnoOf(error);
    if (errno === 'ENOENT') return;
    const why = typeof error === 'string' ? error : (errno ?? String(error));
    this.failures.push(`'${displayBytes(path)}': ${why}`);
  }
}

/** Runs `work` on each item, several at once. */
async function inLanes<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < items.length) {
      const item = items[next++];
      if (item !== undefined) await work(item);
    }
  };
  await Promise.all(Array.from({ length: Math.min(LANES, items.length) }, lane));
}
