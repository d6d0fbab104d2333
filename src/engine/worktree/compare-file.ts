/**
 * Compares a file of the working tree with the content that it should have.
 */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { bufferOver, type Bytes } from '../bytes.ts';
import { errnoOf } from '../errors.ts';
import type { Producer } from './create-file.ts';

const PIECE_BYTES = 64 << 10;
/** Windows has no O_NOFOLLOW; there a link in place of the file has been noticed by its stat data. */
const READ = constants.O_RDONLY | ((constants as { O_NOFOLLOW?: number }).O_NOFOLLOW ?? 0);

/**
 * Whether there is a file at `path` that holds exactly this content. What cannot be opened does not.
 * @param content bytes, or a producer of pieces
 */
export function fileHasContent(path: Buffer, content: Bytes | Producer): boolean {
  let fd: number;
  try {
    fd = openSync(path, READ);
  } catch (error) {
    if (errnoOf(error) !== undefined) return false;
    throw error;
  }
  try {
    const stat = fstatSync(fd);
    // A directory opens, too: it cannot be read, and an empty one may be as large as an empty file.
    if (!stat.isFile()) return false;
    const { size } = stat;
    if (typeof content !== 'function' && size !== content.length) return false;
    const read = Buffer.allocUnsafe(PIECE_BYTES);
    let position = 0;
    const result = { same: true };
    const compare = (piece: Bytes): void => {
      for (let at = 0; result.same && at < piece.length;) {
        const want = Math.min(PIECE_BYTES, piece.length - at);
        const got = readSync(fd, read, 0, want, position);
        if (got === 0 || !bufferOver(piece, at, at + got).equals(read.subarray(0, got))) result.same = false;
        at += got;
        position += got;
      }
    };
    if (typeof content === 'function') content(compare);
    else compare(content);
    return result.same && position === size;
  } finally {
    closeSync(fd);
  }
}
