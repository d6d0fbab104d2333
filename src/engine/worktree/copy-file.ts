/**
 * Creates one file of the working tree as the copy of another file, such as an object of the LFS store. Exclusively, as
 * create-file.ts does; sharing the blocks where the file system can.
 */
import {
  closeSync,
  constants,
  copyFileSync,
  fchmodSync,
  fstatSync,
  openSync,
  readSync,
  unlinkSync,
  type BigIntStats,
} from 'node:fs';
import type { Bytes } from '../bytes.ts';
import { errnoOf } from '../errors.ts';
import { createFile, type Producer } from './create-file.ts';

const { O_NONBLOCK = 0 } = constants as { O_NONBLOCK?: number };
/** A pipe in the place of a file must not hold the thread. */
const READ = constants.O_RDONLY | O_NONBLOCK;
const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;
/** Bytes read at a time. */
const PIECE_BYTES = 1 << 20;

export interface CopyOptions {
  readonly executable: boolean;
  /** Bytes that the source must have. */
  readonly size: number;
  /** Whether the file system may share blocks between files, and has /proc: then trying costs less than copying. */
  readonly shareBlocks: boolean;
}

/** The source is not there, or not of the size that it should be. */
export class NoSource extends Error {}

let piece: Buffer | null = null;

/**
 * Copies.
 * @param source path of a regular file
 * @param path absolute
 * @returns the new file's stat data, or null when something is at the path already
 * @throws NoSource when nothing can be copied, and nothing was made; the system's error, the half-written file gone
 */
export function createCopy(source: string, path: Buffer, options: CopyOptions): BigIntStats | null {
  if (options.size < PIECE_BYTES && !options.shareBlocks) {
    return createFile(path, options.executable, readSmall(source, options.size));
  }
  const from = openSource(source, options.size);
  try {
    if (options.shareBlocks) return shareBlocks(source, path, options);
    return createFile(path, options.executable, (write) => {
      pipe(from, options.size, write);
    });
  } finally {
    closeSync(from);
  }
}

/**
 * The content of a source, piece by piece.
 * @throws NoSource from the producer
 */
export function contentOf(source: string, size: number): Producer {
  return (write) => {
    const from = openSource(source, size);
    try {
      pipe(from, size, write);
    } finally {
      closeSync(from);
    }
  };
}

/** Reads a file of this size, valid until the next one. One byte more is asked for, which tells its size without asking for that. */
function readSmall(source: string, size: number): Bytes {
  piece ??= Buffer.allocUnsafeSlow(PIECE_BYTES);
  const from = openOrNoSource(source);
  let length = 0;
  try {
    for (let got = -1; got !== 0 && length <= size; length += got) {
      got = readSync(from, piece, length, size + 1 - length, null);
      // What is cut off does not go on; whole files take one call.
      if (length + got === size) return piece.subarray(0, size);
    }
  } catch (error) {
    // A directory, or a pipe that nobody writes to.
    if (errnoOf(error) === 'EISDIR' || errnoOf(error) === 'EAGAIN') throw new NoSource();
    throw error;
  } finally {
    closeSync(from);
  }
  throw new NoSource();
}

function openOrNoSource(source: string): number {
  try {
    return openSync(source, READ);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR') throw new NoSource();
    throw error;
  }
}

/** Opens a regular file of this size. */
function openSource(source: string, size: number): number {
  const from = openOrNoSource(source);
  let right = false;
  try {
    const stat = fstatSync(from);
    right = stat.isFile() && stat.size === size;
  } finally {
    if (!right) closeSync(from);
  }
  if (!right) throw new NoSource();
  return from;
}

function pipe(from: number, size: number, write: (piece: Bytes) => void): void {
  piece ??= Buffer.allocUnsafeSlow(PIECE_BYTES);
  let left = size;
  while (left > 0) {
    const got = readSync(from, piece, 0, Math.min(left, PIECE_BYTES), null);
    if (got === 0) throw new NoSource();
    write(piece.subarray(0, got));
    left -= got;
  }
}

/**
 * The system copies, by reference where it can. Into a file that is ours already: it is named by its descriptor, so that nothing that
 * somebody puts at its path is written to. The copy has the source's permissions until they are put right.
 */
function shareBlocks(source: string, path: Buffer, { executable, size }: CopyOptions): BigIntStats | null {
  let fd: number;
  try {
    fd = openSync(path, CREATE, executable ? 0o777 : 0o666);
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'EEXIST' || errno === 'EISDIR') return null;
    throw error;
  }
  let complete = false;
  try {
    try {
      const { mode } = fstatSync(fd);
      copyFileSync(source, `/proc/self/fd/${fd}`, constants.COPYFILE_FICLONE);
      fchmodSync(fd, mode & 0o7777);
      const stat = fstatSync(fd, { bigint: true });
      if (Number(stat.size) !== size) throw new NoSource();
      complete = true;
      return stat;
    } finally {
      closeSync(fd);
    }
  } finally {
    if (!complete) unlinkSync(path);
  }
}
