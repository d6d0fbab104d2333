/**
 * A file of tables (a pack index, a multi-pack index) that is looked into here and there. Small files are read whole when they are
 * first needed; larger ones (a full history has hundreds of megabytes) in blocks as look-ups need them, because Node cannot map
 * files and the memory budget would not hold them.
 */
import { fstatSync, readSync } from 'node:fs';
import { CheckoutError, ioError } from '../errors.ts';
import type { FilePool, PooledFile } from './file-pool.ts';

/** Read whole up to this size: 16 MB hold 570,000 objects, which a shallow pack of a large repository stays below. */
const WHOLE_FILE_BYTES = 16 << 20;
/** One block of a larger file; 16 KiB hold 819 ids, so an interpolated look-up needs one or two. */
const BLOCK_BYTES = 16 << 10;
/** Blocks kept: 4 MB. */
const BLOCKS_KEPT = 256;
/** The longest piece that `locate` is asked for. */
const LONGEST_PIECE = 64;

export class BlockFile implements PooledFile {
  readonly path: string;
  readonly size: number;
  /** Set by `locate`: where the wanted bytes are. */
  buffer: Buffer = Buffer.alloc(0);
  at = 0;
  readonly #what: string;
  readonly #pool: FilePool;
  /** The file is to be held whole: its bytes were taken from the pool's allowance. */
  readonly #isWhole: boolean;
  #whole: Buffer | null = null;
  readonly #blocks = new Map<number, Buffer>();
  readonly #straddle = Buffer.alloc(LONGEST_PIECE);

  /**
   * Opens the file.
   * @param what what it is, for messages: 'pack index'
   * @throws CheckoutError io
   */
  constructor(path: string, what: string, pool: FilePool) {
    this.path = path;
    this.#what = what;
    this.#pool = pool;
    const fd = pool.fd(this);
    try {
      this.size = fstatSync(fd).size;
    } catch (error) {
      throw ioError('read', path, error);
    }
    this.#isWhole = this.size <= WHOLE_FILE_BYTES && this.size <= pool.wholeBytesLeft;
    if (this.#isWhole) pool.wholeBytesLeft -= this.size;
  }

  close(): void {
    this.#pool.close(this);
    this.#blocks.clear();
    if (this.#isWhole) this.#pool.wholeBytesLeft += this.size;
    this.#whole = null;
  }

  /** Makes `length` (at most 64) bytes at a position readable at `buffer[at]`. The caller keeps to the file's size. */
  locate(position: number, length: number): void {
    if (this.#isWhole) {
      this.buffer = this.#whole ??= this.#readWhole();
      this.at = position;
      return;
    }
    const number = Math.floor(position / BLOCK_BYTES);
    const within = position - number * BLOCK_BYTES;
    if (within + length <= BLOCK_BYTES) {
      this.buffer = this.#block(number);
      this.at = within;
      return;
    }
    const head = this.#block(number).copy(this.#straddle, 0, within);
    this.#block(number + 1).copy(this.#straddle, head, 0, length - head);
    this.buffer = this.#straddle;
    this.at = 0;
  }

  /** Reads a piece past the blocks. */
  read(into: Uint8Array, position: number): void {
    const fd = this.#pool.fd(this);
    let done = 0;
    while (done < into.length) {
      let read: number;
      try {
        read = readSync(fd, into, done, into.length - done, position + done);
      } catch (error) {
        throw ioError('read', this.path, error);
      }
      if (read === 0) throw this.corrupt('ends early');
      done += read;
    }
  }

  corrupt(how: string): CheckoutError {
    return new CheckoutError('object-corrupt', `${this.#what} '${this.path}' ${how}`, { path: this.path });
  }

  #readWhole(): Buffer {
    const whole = Buffer.allocUnsafeSlow(this.size);
    this.read(whole, 0);
    this.#pool.close(this);
    return whole;
  }

  #block(number: number): Buffer {
    const kept = this.#blocks.get(number);
    if (kept !== undefined) return kept;
    let block: Buffer | undefined;
    if (this.#blocks.size >= BLOCKS_KEPT) {
      for (const oldest of this.#blocks) {
        this.#blocks.delete(oldest[0]);
        if (oldest[1].length === BLOCK_BYTES) block = oldest[1];
        break;
      }
    }
    const length = Math.min(BLOCK_BYTES, this.size - number * BLOCK_BYTES);
    block = block?.length === length ? block : Buffer.allocUnsafeSlow(length);
    this.read(block, number * BLOCK_BYTES);
    this.#blocks.set(number, block);
    return block;
  }
}
