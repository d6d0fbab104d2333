/**
 * Compares a file of the working tree with the content that it should have.
 */
import { createHash } from 'node:crypto';
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
  const comparison = FileComparison.open(path);
  if (comparison === null) return false;
  try {
    if (typeof content === 'function') content((piece) => comparison.push(piece));
    else if (comparison.size === content.length) comparison.push(content);
    return comparison.isSame();
  } finally {
    comparison.close();
  }
}

/**
 * Whether there is a file at `path` of this size whose content has this hash (hexadecimal). What cannot be opened has not.
 * @param before hashed before the content
 */
export function fileHasHash(path: Buffer, size: number, algorithm: string, hex: string, before = ''): boolean {
  let fd: number;
  try {
    fd = openSync(path, READ);
  } catch (error) {
    if (errnoOf(error) !== undefined) return false;
    throw error;
  }
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile() || stat.size !== size) return false;
    const hash = createHash(algorithm).update(before);
    const piece = Buffer.allocUnsafe(PIECE_BYTES);
    for (
      let got = readSync(fd, piece, 0, PIECE_BYTES, null);
      got > 0;
      got = readSync(fd, piece, 0, PIECE_BYTES, null)
    ) {
      hash.update(piece.subarray(0, got));
    }
    return hash.digest('hex') === hex;
  } finally {
    closeSync(fd);
  }
}

/** A file that is held against content that comes in pieces. To be closed. */
export class FileComparison {
  readonly size: number;
  readonly #fd: number;
  readonly #read = Buffer.allocUnsafe(PIECE_BYTES);
  #position = 0;
  #same = true;

  private constructor(fd: number, size: number) {
    this.#fd = fd;
    this.size = size;
  }

  /** Opens the file; null when there is none that can be opened. */
  static open(path: Buffer): FileComparison | null {
    let fd: number;
    try {
      fd = openSync(path, READ);
    } catch (error) {
      if (errnoOf(error) !== undefined) return null;
      throw error;
    }
    try {
      const stat = fstatSync(fd);
      // A directory opens, too: it cannot be read, and an empty one may be as large as an empty file.
      if (stat.isFile()) return new FileComparison(fd, stat.size);
    } catch (error) {
      closeSync(fd);
      throw error;
    }
    closeSync(fd);
    return null;
  }

  /** Takes the next piece of the content. */
  push(piece: Bytes): void {
    for (let at = 0; this.#same && at < piece.length;) {
      const want = Math.min(PIECE_BYTES, piece.length - at);
      const got = readSync(this.#fd, this.#read, 0, want, this.#position);
      if (got === 0 || !bufferOver(piece, at, at + got).equals(this.#read.subarray(0, got))) this.#same = false;
      at += got;
      this.#position += got;
    }
  }

  /** Whether the file has what was pushed, and nothing more. */
  isSame(): boolean {
    return this.#same && this.#position === this.size;
  }

  close(): void {
    closeSync(this.#fd);
  }
}
