/**
 * Finds the entries of a pack in its bytes as they come (gitformat-pack). Where an entry ends is told by nothing but its compressed data, so each
 * is inflated; what comes out is handed on, and nobody has to inflate it again.
 */
import { crc32 } from 'node:zlib';
import type { Bytes } from '../bytes.ts';
import { CheckoutError } from '../errors.ts';
import type { ObjectFormat } from '../oid.ts';
import { EntryHeader, MAX_ENTRY_HEADER_BYTES, OFS_DELTA, REF_DELTA } from './entry.ts';
import { Inflater } from './inflate.ts';
import { PACK_HEADER_BYTES } from './pack-file.ts';
import { allocatePackObjects, type PackObjects } from './pack-objects.ts';

const SIGNATURE = 0x5041434b; // "PACK"
/** What passes by without being held comes in pieces of this size. */
const PIECE_BYTES = 128 << 10;

/** Where an entry's content goes. */
export interface EntryTarget {
  readonly bytes: Bytes;
  /** There must be room for one byte more than the entry's size. */
  readonly at: number;
}

/** Gets what the stream finds. */
export interface EntrySink {
  /** The header has come: so many objects there will be. */
  begin(objects: PackObjects): void;
  /**
   * An entry's header has come.
   * @param size of what will be inflated: the object, or the delta
   * @returns where it is to go; null to get it by `piece`
   */
  entry(number: number, type: number, size: number): EntryTarget | null;
  /** Of an entry without a target: valid during the call. */
  piece(bytes: Bytes): void;
  /** The entry's content is complete. */
  end(number: number, type: number, size: number): void;
}

export class PackStream {
  /** Set once the header has come. */
  objects: PackObjects | null = null;
  /** Bytes of the pack that were taken, the checksum not counted. */
  position = 0;
  readonly #format: ObjectFormat;
  readonly #sink: EntrySink;
  readonly #inflater: Inflater;
  readonly #header: EntryHeader;
  /** A header that has come in part only. */
  readonly #held = new Uint8Array(Math.max(PACK_HEADER_BYTES, MAX_ENTRY_HEADER_BYTES));
  #heldBytes = 0;
  #number = 0;
  #inEntry = false;
  #type = 0;
  #size = 0;
  #crc = 0;
  #target: EntryTarget | null = null;
  #made = 0;
  #pieceBytes = 0;
  #piece: Uint8Array | null = null;
  readonly #trailer: Uint8Array;
  #trailerBytes = 0;

  /** @param inflater must be able to inflate in pieces (Inflater.usesHandle) */
  constructor(format: ObjectFormat, sink: EntrySink, inflater = new Inflater()) {
    this.#format = format;
    this.#sink = sink;
    this.#inflater = inflater;
    this.#header = new EntryHeader(format.oidBytes);
    this.#trailer = new Uint8Array(format.oidBytes);
  }

  close(): void {
    this.#inflater.close();
  }

  /** The pack's checksum as it stands at its end; to be compared by the caller. Empty until the last byte has come. */
  get trailer(): Bytes {
    return this.#trailerBytes === this.#trailer.length ? this.#trailer : this.#trailer.subarray(0, 0);
  }

  /** Whether all entries have come. */
  get #isComplete(): boolean {
    return this.objects !== null && this.#number === this.objects.count && !this.#inEntry;
  }

  /**
   * Takes the next bytes.
   * @returns how many of them the pack's checksum covers: all but those of the checksum itself
   * @throws CheckoutError object-corrupt, unsupported, memory; what the sink throws
   */
  push(bytes: Bytes): number {
    let at = 0;
    while (at < bytes.length && !this.#isComplete) {
      if (this.#inEntry) at = this.#inflate(bytes, at);
      else at = this.objects === null ? this.#packHeader(bytes, at) : this.#entryHeader(bytes, at);
    }
    const covered = at;
    if (at < bytes.length) {
      const rest = bytes.subarray(at);
      if (this.#trailerBytes + rest.length > this.#trailer.length) throw corrupt('has bytes behind its checksum');
      this.#trailer.set(rest, this.#trailerBytes);
      this.#trailerBytes += rest.length;
    }
    return covered;
  }

  #packHeader(bytes: Bytes, from: number): number {
    const at = this.#gather(bytes, from, PACK_HEADER_BYTES);
    if (this.#heldBytes < PACK_HEADER_BYTES) return at;
    const head = new DataView(this.#held.buffer);
    if (head.getUint32(0) !== SIGNATURE) throw corrupt('does not begin with PACK');
    const version = head.getUint32(4);
    if (version !== 2 && version !== 3) throw corrupt(`has version ${version}`);
    this.objects = allocatePackObjects(head.getUint32(8), this.#format);
    this.#heldBytes = 0;
    this.position = PACK_HEADER_BYTES;
    this.objects.offsets[0] = PACK_HEADER_BYTES;
    this.#sink.begin(this.objects);
    return at;
  }

  #gather(bytes: Bytes, from: number, wanted: number): number {
    const end = Math.min(bytes.length, from + wanted - this.#heldBytes);
    this.#held.set(bytes.subarray(from, end), this.#heldBytes);
    this.#heldBytes += end - from;
    return end;
  }

  #entryHeader(bytes: Bytes, from: number): number {
    const header = this.#header;
    if (this.#heldBytes === 0 && bytes.length - from >= MAX_ENTRY_HEADER_BYTES) {
      if (!header.parse(bytes, from, bytes.length)) throw this.#corruptEntry('has an invalid header');
      this.#beginEntry(bytes, from);
      return from + header.length;
    }
    // Byte by byte, so that nothing behind the header is taken for it.
    let at = from;
    while (at < bytes.length) {
      at = this.#gather(bytes, at, this.#heldBytes + 1);
      if (header.parse(this.#held, 0, this.#heldBytes)) {
        this.#heldBytes = 0;
        this.#beginEntry(this.#held, 0);
        return at;
      }
      if (this.#heldBytes === MAX_ENTRY_HEADER_BYTES) throw this.#corruptEntry('has an invalid header');
    }
    return at;
  }

  #beginEntry(bytes: Bytes, at: number): void {
    const { objects } = this;
    if (objects === null) return;
    const { type, size, length, baseDistance } = this.#header;
    const offset = this.position;
    const number = this.#number;
    objects.types[number] = type;
    if (!isDelta(type)) objects.kinds[number] = type;
    if (type === OFS_DELTA) {
      if (baseDistance <= 0 || baseDistance > offset - PACK_HEADER_BYTES) {
        throw this.#corruptEntry('has a delta base outside of the pack');
      }
      objects.bases[number] = offset - baseDistance;
    }
    this.#crc = crc32(bytes.subarray(at, at + length));
    this.position += length;
    this.#type = type;
    this.#size = size;
    this.#made = 0;
    this.#pieceBytes = 0;
    this.#inEntry = true;
    this.#target = this.#sink.entry(number, type, size);
    if (!this.#inflater.begin())
      throw new CheckoutError('unsupported', 'this version of Node cannot inflate in pieces');
  }

  #inflate(bytes: Bytes, from: number): number {
    const inflater = this.#inflater;
    const target = this.#target;
    const size = this.#size;
    let at = from;
    while (at < bytes.length) {
      let failure;
      let room: number;
      if (target === null) {
        const piece = (this.#piece ??= new Uint8Array(PIECE_BYTES));
        room = PIECE_BYTES - this.#pieceBytes;
        failure = inflater.step(bytes, at, bytes.length, piece, this.#pieceBytes, PIECE_BYTES);
      } else {
        const end = target.at + size + 1;
        room = size + 1 - this.#made;
        failure = inflater.step(bytes, at, bytes.length, target.bytes, target.at + this.#made, end);
      }
      if (failure !== null) throw this.#corruptEntry('does not inflate');
      const { consumed, produced } = inflater;
      if (consumed > 0) {
        this.#crc = crc32(bytes.subarray(at, at + consumed), this.#crc);
        at += consumed;
        this.position += consumed;
      }
      this.#made += produced;
      if (this.#made > size) throw this.#corruptEntry('is longer than its header says');
      if (target === null) {
        this.#pieceBytes += produced;
        if (this.#pieceBytes === PIECE_BYTES) this.#flush();
      }
      // With input at hand and room for output, nothing but its end stops a stream.
      if (at < bytes.length && produced < room) {
        if (this.#made !== size) throw this.#corruptEntry('is shorter than its header says');
        this.#endEntry();
        break;
      }
    }
    return at;
  }

  #flush(): void {
    if (this.#pieceBytes === 0) return;
    this.#sink.piece((this.#piece ?? new Uint8Array(0)).subarray(0, this.#pieceBytes));
    this.#pieceBytes = 0;
  }

  #endEntry(): void {
    const { objects } = this;
    if (objects === null) return;
    this.#flush();
    const number = this.#number++;
    objects.crcs[number] = this.#crc >>> 0;
    objects.offsets[number + 1] = this.position;
    this.#inEntry = false;
    this.#target = null;
    this.#sink.end(number, this.#type, this.#size);
  }

  #corruptEntry(how: string): CheckoutError {
    return corrupt(`is damaged: the entry at offset ${this.position} ${how}`);
  }
}

/** Whether an entry of this type is a delta. */
export function isDelta(type: number): boolean {
  return type === OFS_DELTA || type === REF_DELTA;
}

function corrupt(how: string): CheckoutError {
  return new CheckoutError('object-corrupt', `the pack that the server sent ${how}`);
}
