/**
 * Loose objects (gitrepository-layout): one zlib stream a file, holding "<type> <size>\0" and the content. The size and
 * the end of the stream are checked even where git would stream without looking.
 */
import { closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs';
import { constants, inflateSync } from 'node:zlib';
import type { Bytes } from '../bytes.ts';
import { bufferOver, freeLarge } from '../bytes.ts';
import { CheckoutError, errnoOf, ioError } from '../errors.ts';
import { BLOB, COMMIT, TAG, TREE } from '../pack/entry.ts';
import { Inflater } from '../pack/inflate.ts';
import { MAX_INFLATE_RATIO, SCRATCH_BYTES } from '../pack/pack-reader.ts';
import { oidToHex, type ObjectFormat } from '../oid.ts';

/** Read in pieces of this size. */
const INPUT_BYTES = 64 << 10;
const PIECE_BYTES = 256 << 10;
/** Compressed bytes that are enough for a header, whatever the encoder. */
const HEAD_INPUT_BYTES = 1024;
/** Longest header: a type of 6 letters and a size of 16 digits. */
const MAX_HEADER_BYTES = 32;

const TYPES: Readonly<Record<string, number>> = { commit: COMMIT, tree: TREE, blob: BLOB, tag: TAG };

/** Path of a loose object below its object directory. */
export function loosePath(objectDirectory: string, hex: string): string {
  return `${objectDirectory}/${hex.slice(0, 2)}/${hex.slice(2)}`;
}

/** Reads loose objects one after another; the counterpart of PackReader. */
export class LooseReader {
  type = 0;
  size = 0;
  /** Set by `measure`. */
  readBytes = 0;
  streamBytes = 0;
  readonly #inflater: Inflater;
  readonly #oidBytes: number;
  readonly #input = new Uint8Array(INPUT_BYTES);
  #piece: Uint8Array | null = null;
  #scratch: Uint8Array | null = null;
  #large: Uint8Array<ArrayBuffer> | null = null;
  /** Without the handle there are no pieces: the whole compressed object. */
  #compressed: Buffer | null = null;
  #fd = -1;
  #path = '';
  #inputStart = 0;
  #inputEnd = 0;
  #atEnd = false;
  /** Content bytes that came with the header. */
  readonly #head = new Uint8Array(MAX_HEADER_BYTES);
  #headStart = 0;
  #headEnd = 0;

  constructor(format: ObjectFormat, inflater: Inflater = new Inflater()) {
    this.#oidBytes = format.oidBytes;
    this.#inflater = inflater;
  }

  close(): void {
    this.finish();
    this.#inflater.close();
  }

  /**
   * Opens an object and reads its header.
   * @returns false when there is no such file
   * @throws CheckoutError object-corrupt, io
   */
  open(objectDirectory: string, oid: Bytes, oidAt: number): boolean {
    this.finish();
    this.#path = loosePath(objectDirectory, oidToHex(oid, oidAt, this.#oidBytes));
    try {
      this.#fd = openSync(this.#path, 'r');
    } catch (error) {
      const errno = errnoOf(error);
      if (errno === 'ENOENT' || errno === 'ENOTDIR') return false;
      throw ioError('open', this.#path, error);
    }
    this.#inputStart = this.#inputEnd = 0;
    this.#atEnd = false;
    if (!this.#inflater.begin()) {
      this.#openWithoutPieces();
    } else {
      this.#openInPieces();
    }
    if (this.size > SCRATCH_BYTES && this.size > fstatSync(this.#fd).size * MAX_INFLATE_RATIO) {
      throw this.#corrupt('declares a size that it cannot hold');
    }
    return true;
  }

  #openInPieces(): void {
    let filled = 0;
    while (filled < MAX_HEADER_BYTES) {
      if (!this.#refill()) break;
      filled += this.#step(this.#head, filled, MAX_HEADER_BYTES);
      if (this.#inputStart < this.#inputEnd && filled < MAX_HEADER_BYTES) break; // the stream has ended
    }
    this.#headStart = this.#parseHeader(this.#head.subarray(0, filled));
    this.#headEnd = filled;
  }

  /** Sets type and size; returns where the content begins. */
  #parseHeader(head: Bytes): number {
    const zero = head.subarray(0, MAX_HEADER_BYTES).indexOf(0);
    if (zero < 0) throw this.#corrupt('has no valid header');
    const text = bufferOver(head, 0, zero).toString('latin1');
    const match = /^(commit|tree|blob|tag) (0|[1-9][0-9]{0,15})$/.exec(text);
    if (match === null) throw this.#corrupt('has no valid header');
    this.type = TYPES[match[1] ?? ''] ?? 0;
    this.size = Number(match[2]);
    return zero + 1;
  }

  /** The way of runtimes that cannot inflate in pieces: an object is whole in memory, compressed and inflated. */
  #openWithoutPieces(): void {
    let head: Buffer;
    try {
      this.#compressed = readFileSync(this.#fd);
      // What comes of the first bytes of a stream that goes on: they make at most 1 MiB.
      const options = { finishFlush: constants.Z_SYNC_FLUSH };
      head = inflateSync(this.#compressed.subarray(0, HEAD_INPUT_BYTES), options);
    } catch (error) {
      if (this.#compressed === null) throw ioError('read', this.#path, error);
      throw this.#corrupt('is damaged');
    }
    this.#headStart = this.#parseHeader(head);
  }

  #inflateWhole(compressed: Buffer): Bytes {
    const end = this.#headStart + this.size;
    let whole: Buffer;
    let used: number;
    try {
      const result = inflateSync(compressed, { maxOutputLength: end + 1, info: true }) as unknown as {
        buffer: Buffer;
        engine: { bytesWritten: number };
      };
      whole = result.buffer;
      used = result.engine.bytesWritten;
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      if (code === 'ERR_BUFFER_TOO_LARGE') throw this.#corrupt('is longer than its header says');
      throw this.#corrupt(code === 'Z_BUF_ERROR' ? 'is cut off' : 'is damaged');
    }
    if (whole.length !== end)
      throw this.#corrupt(`is ${whole.length < end ? 'shorter' : 'longer'} than its header says`);
    if (used !== compressed.length) throw this.#corrupt('has garbage at its end');
    return whole.subarray(this.#headStart);
  }

  /** Reads the opened object if it fits the scratch buffer, else null. */
  readSmall(): Bytes | null {
    return this.size > SCRATCH_BYTES ? null : this.read();
  }

  measure(): void {
    const large = this.size > SCRATCH_BYTES;
    if (this.#compressed === null) {
      this.readBytes = large ? this.size + 1 : 0;
      this.streamBytes = 0;
    } else {
      // The inflated pieces and the whole that they are put together to.
      this.readBytes = this.streamBytes = large ? this.#compressed.length + 2 * this.size : 0;
    }
  }

  /** Reads the opened object whole; the bytes are valid until the next call. */
  read(): Bytes {
    if (this.#compressed !== null) return this.#inflateWhole(this.#compressed);
    let out: Bytes;
    if (this.size > SCRATCH_BYTES) {
      try {
        this.#large = new Uint8Array(this.size + 1);
      } catch (error) {
        throw new CheckoutError('memory', `cannot allocate ${this.size} bytes for '${this.#path}'`, {}, error);
      }
      out = this.#large;
    } else {
      out = this.#scratch ??= new Uint8Array(SCRATCH_BYTES + 1);
    }
    const head = this.#takeHead();
    out.set(head, 0);
    let filled = head.length;
    for (;;) {
      if (!this.#refill()) break;
      const before = filled;
      filled += this.#step(out, filled, this.size + 1);
      if (filled > this.size) throw this.#corrupt('is longer than its header says');
      if (this.#inputStart < this.#inputEnd) {
        if (filled === before) break;
        continue;
      }
    }
    this.#checkEnd(filled);
    return out.subarray(0, this.size);
  }

  /** Gives the opened object to `sink` in pieces that are valid during the call only. */
  stream(sink: (piece: Bytes) => void): void {
    if (this.#compressed !== null) {
      const whole = this.#inflateWhole(this.#compressed);
      if (whole.length > 0) sink(whole);
      return;
    }
    this.#piece ??= new Uint8Array(PIECE_BYTES);
    const piece = this.#piece;
    const head = this.#takeHead();
    piece.set(head, 0);
    let filled = head.length;
    let total = head.length;
    for (;;) {
      if (!this.#refill()) break;
      const made = this.#step(piece, filled, piece.length);
      filled += made;
      total += made;
      if (total > this.size) throw this.#corrupt('is longer than its header says');
      if (filled === piece.length) {
        sink(piece);
        filled = 0;
        continue;
      }
      if (this.#inputStart < this.#inputEnd) break;
    }
    if (filled > 0) sink(piece.subarray(0, filled));
    this.#checkEnd(total);
  }

  /** Closes the file and frees a large buffer at once. */
  finish(): void {
    if (this.#fd >= 0) closeSync(this.#fd);
    this.#fd = -1;
    this.#compressed = null;
    if (this.#large !== null) freeLarge(this.#large);
    this.#large = null;
  }

  #takeHead(): Bytes {
    const length = this.#headEnd - this.#headStart;
    if (length > this.size) throw this.#corrupt('is longer than its header says');
    return this.#head.subarray(this.#headStart, this.#headEnd);
  }

  /** True when there is input to inflate. */
  #refill(): boolean {
    if (this.#inputStart < this.#inputEnd) return true;
    if (this.#atEnd) return false;
    let read: number;
    try {
      read = readSync(this.#fd, this.#input, 0, INPUT_BYTES, null);
    } catch (error) {
      throw ioError('read', this.#path, error);
    }
    if (read === 0) {
      this.#atEnd = true;
      return false;
    }
    this.#inputStart = 0;
    this.#inputEnd = read;
    return true;
  }

  #step(out: Bytes, from: number, to: number): number {
    const failure = this.#inflater.step(this.#input, this.#inputStart, this.#inputEnd, out, from, to);
    if (failure !== null) throw this.#corrupt('is damaged');
    this.#inputStart += this.#inflater.consumed;
    return this.#inflater.produced;
  }

  #checkEnd(total: number): void {
    if (total !== this.size) throw this.#corrupt('is shorter than its header says');
    if (this.#inputStart < this.#inputEnd || this.#refill()) throw this.#corrupt('has garbage at its end');
    if (!this.#inflater.ended()) throw this.#corrupt('is cut off');
  }

  #corrupt(how: string): CheckoutError {
    return new CheckoutError('object-corrupt', `loose object '${this.#path}' ${how}`, { path: this.#path });
  }
}
