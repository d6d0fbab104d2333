/**
 * A pack's index (.idx, gitformat-pack versions 1 and 2): which objects the pack holds and where.
 *
 * Small files are read whole; larger ones (a full history has hundreds of megabytes) are read in blocks as look-ups need them,
 * because Node cannot map files and the memory budget would not hold them.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import type { Bytes } from '../bytes.ts';
import { CheckoutError, ioError } from '../errors.ts';
import type { ObjectFormat } from '../oid.ts';

/** Read whole up to this size: 16 MB hold 570,000 objects, which a shallow pack of a large repository stays below. */
const WHOLE_FILE_BYTES = 16 << 20;
/** One block of a larger file; 16 KiB hold 819 ids of SHA-1, so an interpolated look-up needs one or two. */
const BLOCK_BYTES = 16 << 10;
/** Blocks kept: 4 MB. */
const BLOCKS_KEPT = 256;

const FANOUT_BYTES = 1024;
const HEADER_V2_BYTES = 8;
const SIGNATURE_V2 = 0xff744f63;

export class PackIndex {
  /** Objects in the pack. */
  readonly count: number;
  /** Length of an id. */
  readonly oidBytes: number;
  readonly #path: string;
  readonly #fd: number;
  readonly #version: 1 | 2;
  readonly #size: number;
  readonly #fanout: Uint32Array;
  /** The whole file, or null where it is read in blocks. */
  readonly #whole: Buffer | null;
  readonly #blocks = new Map<number, Buffer>();
  /** Set by `#locate`: the buffer and position where the wanted bytes are. */
  #buffer: Buffer = Buffer.alloc(0);
  #at = 0;
  readonly #straddle = Buffer.alloc(64);

  private constructor(path: string, fd: number, size: number, oidBytes: number) {
    this.oidBytes = oidBytes;
    this.#path = path;
    this.#fd = fd;
    this.#size = size;
    const head = Buffer.alloc(Math.min(size, HEADER_V2_BYTES + FANOUT_BYTES));
    this.#readFully(head, 0);
    if (size < FANOUT_BYTES + 2 * oidBytes) throw this.#corrupt('is too small');
    this.#version = head.readUInt32BE(0) === SIGNATURE_V2 ? 2 : 1;
    if (this.#version === 2 && head.readUInt32BE(4) !== 2) throw this.#corrupt('has an unknown version');
    const fanoutAt = this.#version === 2 ? HEADER_V2_BYTES : 0;
    if (size < fanoutAt + FANOUT_BYTES + 2 * oidBytes) throw this.#corrupt('is too small');
    this.#fanout = new Uint32Array(256);
    let previous = 0;
    for (let i = 0; i < 256; i++) {
      const value = head.readUInt32BE(fanoutAt + 4 * i);
      if (value < previous) throw this.#corrupt('has a fan-out table out of order');
      this.#fanout[i] = previous = value;
    }
    this.count = previous;
    const fixed = fanoutAt + FANOUT_BYTES + 2 * oidBytes;
    if (this.#version === 1) {
      if (size !== fixed + this.count * (4 + oidBytes)) throw this.#corrupt('has a wrong size');
    } else {
      const least = fixed + this.count * (oidBytes + 4 + 4);
      const most = least + Math.max(0, this.count - 1) * 8;
      if (size < least || size > most) throw this.#corrupt('has a wrong size');
    }
    if (size <= WHOLE_FILE_BYTES) {
      this.#whole = Buffer.allocUnsafeSlow(size);
      this.#readFully(this.#whole, 0);
    } else {
      this.#whole = null;
    }
  }

  /**
   * Opens an index file and checks its shape (not its checksum, as git). Nothing in the file names the format of its ids, but
   * a file of the one format never has a size that the other allows.
   * @throws CheckoutError object-corrupt, io
   */
  static open(path: string, format: ObjectFormat): PackIndex {
    let fd: number;
    try {
      fd = openSync(path, 'r');
    } catch (error) {
      throw ioError('open', path, error);
    }
    try {
      return new PackIndex(path, fd, fstatSync(fd).size, format.oidBytes);
    } catch (error) {
      closeSync(fd);
      throw ioError('read', path, error);
    }
  }

  close(): void {
    closeSync(this.#fd);
    this.#blocks.clear();
  }

  /** The pack's checksum as this index states it: the last but one hash of the file. */
  packChecksum(): Buffer {
    this.#locate(this.#size - 2 * this.oidBytes, this.oidBytes);
    return Buffer.from(this.#buffer.subarray(this.#at, this.#at + this.oidBytes));
  }

  /**
   * Finds an object.
   * @param oid bytes that hold the id from `oidAt`
   * @returns its offset in the pack, or -1
   */
  find(oid: Bytes, oidAt: number): number {
    const first = oid[oidAt] ?? 0;
    let low = first === 0 ? 0 : (this.#fanout[first - 1] ?? 0);
    let high = this.#fanout[first] ?? 0;
    const bucketLow = low;
    const bucketSize = high - low;
    // Ids are uniformly distributed, so the first probe goes where the next 24 bits say; then halve.
    let probe =
      bucketLow +
      Math.floor(
        (bucketSize * (((oid[oidAt + 1] ?? 0) << 16) | ((oid[oidAt + 2] ?? 0) << 8) | (oid[oidAt + 3] ?? 0))) /
          0x1000000,
      );
    while (low < high) {
      const order = this.#compareAt(probe, oid, oidAt);
      if (order === 0) return this.offsetAt(probe);
      if (order < 0) low = probe + 1;
      else high = probe;
      probe = (low + high) >>> 1;
    }
    return -1;
  }

  /** Offset in the pack of the object at a position of the sorted table. */
  offsetAt(position: number): number {
    if (this.#version === 1) {
      this.#locate(FANOUT_BYTES + position * (4 + this.oidBytes), 4);
      return this.#buffer.readUInt32BE(this.#at);
    }
    const offsets = HEADER_V2_BYTES + FANOUT_BYTES + this.count * (this.oidBytes + 4);
    this.#locate(offsets + position * 4, 4);
    const word = this.#buffer.readUInt32BE(this.#at);
    if (word < 0x80000000) return word;
    const largeAt = offsets + this.count * 4 + (word - 0x80000000) * 8;
    if (largeAt + 8 > this.#size - 2 * this.oidBytes) throw this.#corrupt('points past its table of large offsets');
    this.#locate(largeAt, 8);
    const high = this.#buffer.readUInt32BE(this.#at);
    if (high >= 0x200000) throw this.#corrupt('has an offset out of range');
    return high * 0x100000000 + this.#buffer.readUInt32BE(this.#at + 4);
  }

  /** Orders the id at a position relative to a wanted id. */
  #compareAt(position: number, oid: Bytes, oidAt: number): number {
    const at =
      this.#version === 1
        ? FANOUT_BYTES + position * (4 + this.oidBytes) + 4
        : HEADER_V2_BYTES + FANOUT_BYTES + position * this.oidBytes;
    const { oidBytes } = this;
    this.#locate(at, oidBytes);
    for (let i = 0; i < oidBytes; i++) {
      const difference = (this.#buffer[this.#at + i] ?? 0) - (oid[oidAt + i] ?? 0);
      if (difference !== 0) return difference;
    }
    return 0;
  }

  /** Makes `length` (at most 64) bytes at a file position readable at `#buffer[#at]`. */
  #locate(at: number, length: number): void {
    if (this.#whole !== null) {
      this.#buffer = this.#whole;
      this.#at = at;
      return;
    }
    const number = Math.floor(at / BLOCK_BYTES);
    const within = at - number * BLOCK_BYTES;
    if (within + length <= BLOCK_BYTES) {
      this.#buffer = this.#block(number);
      this.#at = within;
      return;
    }
    const head = this.#block(number).copy(this.#straddle, 0, within);
    this.#block(number + 1).copy(this.#straddle, head, 0, length - head);
    this.#buffer = this.#straddle;
    this.#at = 0;
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
    const length = Math.min(BLOCK_BYTES, this.#size - number * BLOCK_BYTES);
    block = block?.length === length ? block : Buffer.allocUnsafeSlow(length);
    this.#readFully(block, number * BLOCK_BYTES);
    this.#blocks.set(number, block);
    return block;
  }

  #readFully(into: Buffer, position: number): void {
    let done = 0;
    while (done < into.length) {
      const read = readSync(this.#fd, into, done, into.length - done, position + done);
      if (read === 0) throw this.#corrupt('ends early');
      done += read;
    }
  }

  #corrupt(how: string): CheckoutError {
    return new CheckoutError('object-corrupt', `pack index '${this.#path}' ${how}`, { path: this.#path });
  }
}
