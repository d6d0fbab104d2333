/**
 * Creates one file of the working tree. Always a new file: exclusive create means that nothing is followed, truncated or
 * shared, and that what is unexpectedly there is found out rather than overwritten. The only thing ever removed here is
 * this call's own half-written file.
 */
import { closeSync, constants, fstatSync, openSync, unlinkSync, writeSync, type BigIntStats } from 'node:fs';
import type { Bytes } from '../bytes.ts';
import { errnoOf } from '../errors.ts';

const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;

/** Gives the content to `write`, in one or more pieces. */
export type Producer = (write: (piece: Bytes) => void) => void;

function writeFully(fd: number, piece: Bytes): void {
  const { length } = piece;
  let at = writeSync(fd, piece, 0, length);
  while (at < length) at += writeSync(fd, piece, at, length - at);
}

/**
 * Creates the file with the content.
 * @param path absolute
 * @param content bytes, or a producer of pieces
 * @returns the file's stat data, or null when something is at the path already
 * @throws the system's error, or what the producer throws; the half-written file is gone then
 */
export function createFile(path: Buffer, executable: boolean, content: Bytes | Producer): BigIntStats | null {
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
    let stat: BigIntStats;
    try {
      if (typeof content === 'function') content((piece) => writeFully(fd, piece));
      else if (content.length > 0) writeFully(fd, content);
      stat = fstatSync(fd, { bigint: true });
    } finally {
      // A file system on a network may say only here that the disk is full.
      closeSync(fd);
    }
    complete = true;
    return stat;
  } finally {
    if (!complete) unlinkSync(path);
  }
}
