/**
 * Files whose content comes piece by piece from elsewhere and may turn out not to count: the output of a filter driver. Little is
 * held in memory; more goes into the file at once, which is emptied again if need be.
 */
import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  openSync,
  unlinkSync,
  writeSync,
  type BigIntStats,
} from 'node:fs';
import { MOST_AT_ONCE, type Bytes } from '../bytes.ts';
import { errnoOf } from '../errors.ts';
import { FileComparison } from './compare-file.ts';

const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;

/** Content up to this size is written at once when it is complete, so that the file appears whole. */
const HELD_BYTES = 1 << 20;

/** A new file, created exclusively as createFile does. */
export class FileSink {
  readonly #path: Buffer;
  readonly #executable: boolean;
  #held: Buffer[] = [];
  #length = 0;
  #fd: number | null = null;
  /** Something was at the path already. */
  #collided = false;

  /** @param path absolute; copied */
  constructor(path: Buffer, executable: boolean) {
    this.#path = Buffer.from(path);
    this.#executable = executable;
  }

  push(piece: Bytes): void {
    if (this.#collided) return;
    if (this.#fd === null) {
      this.#held.push(Buffer.from(piece));
      this.#length += piece.length;
      if (this.#length < HELD_BYTES) return;
      this.#open();
      return;
    }
    this.#write(this.#fd, piece);
  }

  discard(): void {
    this.#held = [];
    this.#length = 0;
    if (this.#fd === null) return;
    ftruncateSync(this.#fd, 0);
    this.#position = 0;
  }

  /**
   * Ends the content.
   * @returns the file's stat data, or null when something was at the path already
   * @throws the system's error; the file is gone then
   */
  finish(): BigIntStats | null {
    if (this.#fd === null && !this.#collided) this.#open();
    const fd = this.#fd;
    if (fd === null) return null;
    let complete = false;
    try {
      let stat: BigIntStats;
      try {
        stat = fstatSync(fd, { bigint: true });
      } finally {
        this.#fd = null;
        closeSync(fd);
      }
      complete = true;
      return stat;
    } finally {
      if (!complete) unlinkSync(this.#path);
    }
  }

  /** Gives up: nothing of the file stays. To be called unless `finish` was. */
  abandon(): void {
    this.#held = [];
    if (this.#fd === null) return;
    closeSync(this.#fd);
    this.#fd = null;
    unlinkSync(this.#path);
  }

  #position = 0;

  #open(): void {
    try {
      this.#fd = openSync(this.#path, CREATE, this.#executable ? 0o777 : 0o666);
    } catch (error) {
      const errno = errnoOf(error);
      if (errno !== 'EEXIST' && errno !== 'EISDIR') throw error;
      this.#collided = true;
      this.#held = [];
      return;
    }
    const held = this.#held;
    this.#held = [];
    try {
      for (const piece of held) this.#write(this.#fd, piece);
    } catch (error) {
      this.abandon();
      throw error;
    }
  }

  #write(fd: number, piece: Bytes): void {
    for (let at = 0; at < piece.length;) {
      const written = writeSync(fd, piece, at, Math.min(piece.length - at, MOST_AT_ONCE), this.#position);
      at += written;
      this.#position += written;
    }
  }
}

/** A file that is there, held against the content. */
export class ComparisonSink {
  readonly #path: Buffer;
  #comparison: FileComparison | null;

  /** @param path absolute; copied */
  constructor(path: Buffer) {
    this.#path = Buffer.from(path);
    this.#comparison = FileComparison.open(this.#path);
  }

  push(piece: Bytes): void {
    this.#comparison?.push(piece);
  }

  discard(): void {
    this.#comparison?.close();
    this.#comparison = FileComparison.open(this.#path);
  }

  /** Ends the content; returns whether the file has exactly this. */
  finish(): boolean {
    const same = this.#comparison?.isSame() ?? false;
    this.abandon();
    return same;
  }

  abandon(): void {
    this.#comparison?.close();
    this.#comparison = null;
  }
}
