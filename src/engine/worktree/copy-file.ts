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
import { createFile } from './create-file.ts';

const NO_FOLLOW = (constants as { O_NOFOLLOW?: number }).O_NOFOLLOW ?? 0;
/** Bytes read at a time. */
const PIECE_BYTES = 1 << 20;

export interface CopyOptions {
  readonly executable: boolean;
  /** Bytes that the source must have. */
  readonly size: number;
  /** Whether the file system may share blocks between files: then trying costs less than copying. */
  readonly shareBlocks: boolean;
  /** Permissions that new files do not get, as process.umask() tells. */
  readonly umask: number;
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
  let from: number;
  try {
    from = openSync(source, constants.O_RDONLY);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR') throw new NoSource();
    throw error;
  }
  try {
    const stat = fstatSync(from);
    if (!stat.isFile() || stat.size !== options.size) throw new NoSource();
    if (options.shareBlocks) return shareBlocks(source, path, options);
    return createFile(path, options.executable, (write) => {
      pipe(from, options.size, write);
    });
  } finally {
    closeSync(from);
  }
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

/** The system copies, by reference where it can; the copy has the source's permissions at first. */
function shareBlocks(source: string, path: Buffer, options: CopyOptions): BigIntStats | null {
  const { executable, size, umask } = options;
  try {
    copyFileSync(source, path, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'EEXIST' || errno === 'EISDIR') return null;
    throw error;
  }
  let complete = false;
  try {
    const fd = openSync(path, constants.O_RDONLY | NO_FOLLOW);
    try {
      fchmodSync(fd, (executable ? 0o777 : 0o666) & ~umask);
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
