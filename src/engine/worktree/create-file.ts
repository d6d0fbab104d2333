/**
 * Creates one file of the working tree. Always a new file: exclusive create means that nothing is followed, truncated or
 * shared, and that what is there is found out rather than overwritten. A file or link that is to be replaced is removed by
 * its name; a directory never is.
 */
import { closeSync, constants, fstatSync, openSync, unlinkSync, writeSync, type BigIntStats } from 'node:fs';
import { MOST_AT_ONCE, type Bytes } from '../bytes.ts';
import { errnoOf } from '../errors.ts';

const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;

/** Gives the content to `write`, in one or more pieces. */
export type Producer = (write: (piece: Bytes) => void) => void;

function writeFully(fd: number, piece: Bytes): void {
  const { length } = piece;
  for (let at = 0; at < length;) at += writeSync(fd, piece, at, Math.min(length - at, MOST_AT_ONCE));
}

/** What becomes of a file or link at the path: it stays, it goes, or it goes and is so likely there that this is the first try. */
export type Existing = 'stays' | 'goes' | 'is-likely';

/** Removes a file or link; what cannot be removed will be in the way. Linux and Windows refuse to unlink a directory. */
function unlinkIfPossible(path: Buffer): boolean {
  try {
    unlinkSync(path);
    return true;
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return false;
  }
}

/**
 * Creates something at a path where a file or link may be that is to go.
 * @param create null when something is at the path
 */
export function replacing<Made>(path: Buffer, existing: Existing, create: () => Made | null): Made | null {
  if (existing === 'is-likely') unlinkIfPossible(path);
  const made = create();
  if (made !== null || existing !== 'goes' || !unlinkIfPossible(path)) return made;
  return create();
}

/** Opens a new file; null when something is at the path. */
function openNew(path: Buffer, mode: number): number | null {
  try {
    return openSync(path, CREATE, mode);
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'EEXIST' || errno === 'EISDIR') return null;
    throw error;
  }
}

/**
 * Creates the file with the content.
 * @param path absolute
 * @param content bytes, or a producer of pieces
 * @returns the file's stat data, or null when something is at the path that stays
 * @throws the system's error, or what the producer throws; the half-written file is gone then
 */
export function createFile(
  path: Buffer,
  executable: boolean,
  content: Bytes | Producer,
  existing: Existing = 'stays',
): BigIntStats | null {
  const mode = executable ? 0o777 : 0o666;
  const fd = replacing(path, existing, () => openNew(path, mode));
  if (fd === null) return null;
  let complete = false;
  try {
    let stat: BigIntStats;
    try {
      if (typeof content === 'function') content((piece) => writeFully(fd, piece));
      else writeFully(fd, content);
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
