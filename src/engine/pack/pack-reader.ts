/**
 * Reads objects out of packs: a window that moves over the file, a few scratch buffers that are used again and again,
 * deltas resolved without recursion, and a small cache of bases. One reader for each thread.
 *
 * Small objects (up to SCRATCH_BYTES) cost no allocation. For larger ones the caller first asks what reading takes
 * (`open` sets `memoryNeeded`), finds that memory in the budget, and gives it back through `finish`.
 */
import { readSync } from 'node:fs';
import { allocateLarge, freeLarge, type Bytes } from '../bytes.ts';
import { CheckoutError, ioError } from '../errors.ts';
import { oidToHex } from '../oid.ts';
import { applyDelta, DeltaSizes } from './delta.ts';
import { cacheKey, DeltaBaseCache } from './delta-base-cache.ts';
import { EntryHeader, MAX_ENTRY_HEADER_BYTES, OFS_DELTA, REF_DELTA } from './entry.ts';
import type { InflateFailure } from './inflate.ts';
import { Inflater } from './inflate.ts';
import type { PackFile } from './pack-file.ts';
import { PACK_HEADER_BYTES } from './pack-file.ts';
import { PackIndex } from './pack-index.ts';

/** Objects up to this size go through the reusable buffers; of the 86,691 files of Linux 6.12 all but 150 do. */
export const SCRATCH_BYTES = 512 << 10;
/** How much of the pack is held at once. */
export const WINDOW_BYTES = 1 << 20;
/** Bases kept for each thread. */
export const BASE_CACHE_BYTES = 4 << 20;
/** Read when nothing says that what follows is wanted too. */
const LONE_READ_BYTES = 32 << 10;
/** Deflate never packs denser than 1032 to 1 (zlib's technical details), so a larger claim is a lie. */
const MAX_INFLATE_RATIO = 1032;
/** Pieces in which large objects are streamed. */
const STREAM_PIECE_BYTES = 256 << 10;

/** Compressed bytes that a stream of `size` bytes may take with any ordinary encoder: stored blocks cost 5 in 16,383. */
function compressedBound(size: number): number {
  return size + (size >> 6) + 64;
}

interface ChainLink {
  offset: number;
  dataAt: number;
  deltaSize: number;
}

/** A scratch buffer has one byte more than it is good for: the inflater's spare. */
function scratch(): Uint8Array {
  return new Uint8Array(SCRATCH_BYTES + 1);
}

export class PackReader {
  /** Set by `open`: type and size of the whole object. */
  type = 0;
  size = 0;
  /** Set by `open`: bytes that `read` will allocate, 0 for small objects. */
  memoryNeeded = 0;
  /** Set by `open`: not a delta, so `stream` needs no memory. */
  streamable = false;
  /** The highest offset that the caller will want soon; reading ahead stops there. */
  readAheadEnd = 0;

  readonly #packs: readonly PackFile[];
  readonly #inflater: Inflater;
  readonly #cache: DeltaBaseCache;
  readonly #header = new EntryHeader();
  readonly #sizes = new DeltaSizes();
  readonly #indexes = new Map<number, PackIndex>();
  readonly #window = new Uint8Array(WINDOW_BYTES);
  #windowPack = -1;
  #windowStart = 0;
  #windowEnd = 0;
  /** Holds the last object that was stored whole, as long as nothing else was inflated there. */
  #plain: Bytes = scratch();
  #plainKey = -1;
  #plainType = 0;
  #plainSize = 0;
  #delta: Uint8Array | null = null;
  #results: [Uint8Array | null, Uint8Array | null] = [null, null];
  #streamOut: Uint8Array | null = null;
  /** The head of a delta: two sizes of at most 10 bytes each. */
  readonly #probe = new Uint8Array(24);
  /** Large buffers of the object being read. */
  readonly #large: Uint8Array<ArrayBuffer>[] = [];
  // State of the object that was opened.
  #pack = 0;
  #offset = 0;
  #chain: ChainLink[] = [];
  #chainLength = 0;
  #baseOffset = 0;
  #baseDataAt = 0;
  #baseSize = 0;
  /** Key of the base where it is at hand already, in the cache or in the plain buffer; else -1. */
  #baseKey = -1;
  /** Offset of the delta that `#delta` holds inflated, or -1. */
  #deltaAt = -1;

  constructor(packs: readonly PackFile[], options: { baseCacheBytes?: number; inflater?: Inflater } = {}) {
    this.#packs = packs;
    this.#inflater = options.inflater ?? new Inflater();
    this.#cache = new DeltaBaseCache(options.baseCacheBytes ?? BASE_CACHE_BYTES);
  }

  close(): void {
    this.finish();
    this.#inflater.close();
    for (const index of this.#indexes.values()) index.close();
    this.#indexes.clear();
  }

  /**
   * Finds out what the object at an offset is: follows its chain of deltas down to a base that is stored whole.
   * @throws CheckoutError object-corrupt, io
   */
  open(pack: number, offset: number): void {
    this.#pack = pack;
    this.#offset = offset;
    this.#chainLength = 0;
    this.#deltaAt = -1;
    let at = offset;
    for (;;) {
      const key = cacheKey(pack, at);
      if (this.#chainLength > 0) {
        if (key === this.#plainKey) {
          this.type = this.#plainType;
          this.#baseSize = this.#plainSize;
          this.#baseKey = key;
          break;
        }
        const cached = this.#cache.get(key);
        if (cached !== undefined) {
          this.type = cached.type;
          this.#baseSize = cached.size;
          this.#baseKey = key;
          break;
        }
      }
      const dataAt = this.#readHeader(pack, at);
      const { type, size } = this.#header;
      if (type === OFS_DELTA || type === REF_DELTA) {
        const link = (this.#chain[this.#chainLength] ??= { offset: 0, dataAt: 0, deltaSize: 0 });
        this.#chainLength++;
        link.offset = at;
        link.dataAt = dataAt;
        link.deltaSize = size;
        // A base always lies before an OFS_DELTA; a chain of REF_DELTA that is longer than the pack has entries is a loop.
        if (type === OFS_DELTA) {
          at -= this.#header.baseDistance;
        } else {
          at = this.#findBase(pack, at);
          if (this.#chainLength > this.#index(pack).count) throw this.#corrupt(pack, offset, 'is its own delta base');
        }
        if (at < PACK_HEADER_BYTES || (type === OFS_DELTA && this.#header.baseDistance <= 0)) {
          throw this.#corrupt(pack, offset, 'has a delta base outside of the pack');
        }
        continue;
      }
      this.type = type;
      this.#baseOffset = at;
      this.#baseDataAt = dataAt;
      this.#baseSize = size;
      this.#baseKey = -1;
      break;
    }
    this.streamable = this.#chainLength === 0;
    if (this.streamable) {
      this.size = this.#baseSize;
      this.memoryNeeded = this.size > SCRATCH_BYTES ? this.size + 1 : 0;
      return;
    }
    this.#measureChain();
  }

  /**
   * Reads the object of the last `open` whole.
   * @returns its bytes, valid until the next call of any method
   */
  read(): Bytes {
    if (this.#chainLength === 0) {
      const out = this.#readPlain(this.#pack, this.#offset, this.#baseDataAt, this.type, this.size);
      return out.subarray(0, this.size);
    }
    return this.#readDelta();
  }

  /** Gives the object of the last `open`, if `streamable`, to `sink` in pieces that are valid during the call only. */
  stream(sink: (piece: Bytes) => void): void {
    const pack = this.#pack;
    const end = this.#packEnd(pack);
    if (!this.#inflater.begin()) {
      sink(this.read());
      return;
    }
    this.#streamOut ??= new Uint8Array(STREAM_PIECE_BYTES);
    const out = this.#streamOut;
    let at = this.#baseDataAt;
    let total = 0;
    let filled = 0;
    for (;;) {
      // The checksum behind the last entry is read too: a stream has ended when it leaves input untouched.
      if (at >= this.#windowEnd || at < this.#windowStart || this.#windowPack !== pack) {
        if (at >= end) throw this.#corrupt(pack, this.#offset, 'is cut off');
        this.#fill(pack, at, Math.min(WINDOW_BYTES, end + 1 - at));
      }
      const from = at - this.#windowStart;
      const available = this.#windowEnd - this.#windowStart;
      const failure = this.#inflater.step(this.#window, from, available, out, filled, out.length);
      if (failure !== null) throw this.#inflateError(pack, this.#offset, failure);
      at += this.#inflater.consumed;
      filled += this.#inflater.produced;
      total += this.#inflater.produced;
      if (total > this.size) throw this.#corrupt(pack, this.#offset, 'is longer than its header says');
      const ended = filled < out.length && at < this.#windowEnd;
      if (filled > 0 && (ended || filled === out.length)) {
        sink(out.subarray(0, filled));
        filled = 0;
      }
      if (ended) break;
    }
    if (total !== this.size) throw this.#corrupt(pack, this.#offset, 'is shorter than its header says');
  }

  /** Frees the large buffers of the last `read` at once, rather than when garbage is next collected. */
  finish(): void {
    for (const bytes of this.#large) freeLarge(bytes);
    this.#large.length = 0;
    this.#deltaAt = -1;
  }

  #packFile(pack: number): PackFile {
    const file = this.#packs[pack];
    if (file === undefined) throw new Error(`no pack ${pack}`);
    return file;
  }

  #packEnd(pack: number): number {
    return this.#packFile(pack).end;
  }

  #index(pack: number): PackIndex {
    let index = this.#indexes.get(pack);
    if (index === undefined) {
      index = PackIndex.open(this.#packFile(pack).indexPath);
      this.#indexes.set(pack, index);
    }
    return index;
  }

  /** Decodes the entry header at an offset into `#header`; returns where the compressed data begin. */
  #readHeader(pack: number, offset: number): number {
    const end = this.#packEnd(pack);
    if (offset < PACK_HEADER_BYTES || offset >= end) throw this.#corrupt(pack, offset, 'lies outside of the pack');
    this.#ensure(pack, offset, Math.min(MAX_ENTRY_HEADER_BYTES, end - offset));
    const from = offset - this.#windowStart;
    const to = Math.min(this.#windowEnd, end) - this.#windowStart;
    if (!this.#header.parse(this.#window, from, to)) throw this.#corrupt(pack, offset, 'has an invalid header');
    const dataAt = offset + this.#header.length;
    if (this.#header.size > (end - dataAt) * MAX_INFLATE_RATIO) {
      throw this.#corrupt(pack, offset, 'declares a size that its pack cannot hold');
    }
    return dataAt;
  }

  #findBase(pack: number, at: number): number {
    const oidAt = this.#header.baseOidAt;
    const base = this.#index(pack).find(this.#window, oidAt);
    if (base < 0) {
      throw this.#corrupt(pack, at, `has a delta base that is not in its pack (${oidToHex(this.#window, oidAt)})`);
    }
    return base;
  }

  /** Reads the head of each delta of the chain: the size of the object, and the most memory that a step takes. */
  #measureChain(): void {
    const probe = this.#probe;
    let baseSize = this.#baseSize;
    let need = 0;
    for (let i = this.#chainLength - 1; i >= 0; i--) {
      const link = this.#chain[i];
      if (link === undefined) break;
      if (this.#chainLength === 1 && link.deltaSize <= SCRATCH_BYTES) {
        // The common case: measure by inflating the delta, which `read` needs anyway.
        this.#inflateDelta(link);
        this.#parseSizes(link, baseSize);
      } else {
        this.#inflateHead(link, probe);
        if (!this.#sizes.parse(probe, 0, Math.min(probe.length, link.deltaSize))) {
          throw this.#corrupt(this.#pack, link.offset, 'is an invalid delta');
        }
        if (this.#sizes.baseSize !== baseSize) {
          throw this.#corrupt(this.#pack, link.offset, 'is a delta for a base of another size');
        }
      }
      const result = this.#sizes.resultSize;
      // A delta of n bytes makes at most n / 4 copies of 16 MiB; so no plausible object is refused here.
      if (result > (link.deltaSize + 1) * 0x1000000) {
        throw this.#corrupt(this.#pack, link.offset, 'is a delta with an impossible size');
      }
      const deltaNeed = link.deltaSize > SCRATCH_BYTES ? link.deltaSize + 1 : 0;
      const baseNeed = baseSize > SCRATCH_BYTES ? baseSize + 1 : 0;
      const resultNeed = result > SCRATCH_BYTES ? result + 1 : 0;
      need = Math.max(need, deltaNeed + baseNeed + resultNeed);
      baseSize = result;
    }
    this.size = baseSize;
    this.memoryNeeded = need;
  }

  #parseSizes(link: ChainLink, baseSize: number): void {
    const delta = this.#delta;
    if (delta === null || !this.#sizes.parse(delta, 0, link.deltaSize)) {
      throw this.#corrupt(this.#pack, link.offset, 'is an invalid delta');
    }
    if (this.#sizes.baseSize !== baseSize) {
      throw this.#corrupt(this.#pack, link.offset, 'is a delta for a base of another size');
    }
  }

  /** Inflates the first bytes of a delta. */
  #inflateHead(link: ChainLink, probe: Uint8Array): void {
    const end = this.#packEnd(this.#pack);
    this.#ensure(this.#pack, link.dataAt, Math.min(64, end - link.dataAt));
    if (!this.#inflater.begin()) {
      this.#inflateDelta(link);
      if (this.#delta !== null) probe.set(this.#delta.subarray(0, Math.min(probe.length, link.deltaSize)));
      return;
    }
    const from = link.dataAt - this.#windowStart;
    const to = Math.min(this.#windowEnd, end) - this.#windowStart;
    // The first block may have a long code table, so all that is in the window is offered.
    const failure = this.#inflater.step(this.#window, from, to, probe, 0, probe.length);
    if (failure !== null) throw this.#inflateError(this.#pack, link.offset, failure);
    if (this.#inflater.produced < Math.min(probe.length, link.deltaSize)) {
      throw this.#corrupt(this.#pack, link.offset, 'is cut off');
    }
  }

  /** Inflates a delta's instructions into `#delta`. */
  #inflateDelta(link: ChainLink): void {
    let out: Uint8Array;
    if (link.deltaSize > SCRATCH_BYTES) out = this.#allocate(link.deltaSize + 1);
    else out = this.#deltaScratch();
    this.#deltaAt = -1;
    this.#inflateAt(this.#pack, link.offset, link.dataAt, out, link.deltaSize);
    this.#delta = out;
    this.#deltaAt = link.offset;
  }

  #deltaScratchBuffer: Uint8Array | null = null;
  #deltaScratch(): Uint8Array {
    return (this.#deltaScratchBuffer ??= scratch());
  }

  #readDelta(): Bytes {
    const pack = this.#pack;
    let base: Bytes;
    let baseStart = 0;
    let baseSize = this.#baseSize;
    if (this.#baseKey >= 0) {
      const slot = this.#cache.get(this.#baseKey);
      if (slot !== undefined) {
        base = this.#cache.memory;
        baseStart = slot.start;
      } else {
        base = this.#plain;
      }
    } else {
      base = this.#readPlain(pack, this.#baseOffset, this.#baseDataAt, this.type, baseSize);
      this.#cache.put(cacheKey(pack, this.#baseOffset), this.type, base, 0, baseSize);
    }
    for (let i = this.#chainLength - 1; i >= 0; i--) {
      const link = this.#chain[i];
      if (link === undefined) break;
      // `open` has inflated the only delta of a short chain already.
      if (this.#deltaAt !== link.offset) this.#inflateDelta(link);
      this.#parseSizes(link, baseSize);
      const resultSize = this.#sizes.resultSize;
      const out: Bytes = resultSize > SCRATCH_BYTES ? this.#allocate(resultSize + 1) : this.#resultScratch(i & 1);
      const delta = this.#delta;
      if (
        delta === null ||
        !applyDelta(base, baseStart, baseSize, delta, this.#sizes.instructionsAt, link.deltaSize, out, 0, resultSize)
      ) {
        throw this.#corrupt(pack, link.offset, 'is an invalid delta');
      }
      this.#release(base);
      this.#release(delta);
      // What was built is likely to be the base of what comes next in the pack.
      this.#cache.put(cacheKey(pack, link.offset), this.type, out, 0, resultSize);
      base = out;
      baseStart = 0;
      baseSize = resultSize;
    }
    return base.subarray(baseStart, baseStart + baseSize);
  }

  #resultScratch(which: number): Uint8Array {
    const at = which === 0 ? 0 : 1;
    return (this.#results[at] ??= scratch());
  }

  /** Inflates an object that is stored whole into `#plain`, or into memory of its own where it is large. */
  #readPlain(pack: number, offset: number, dataAt: number, type: number, size: number): Bytes {
    if (size > SCRATCH_BYTES) {
      const out = this.#allocate(size + 1);
      this.#inflateAt(pack, offset, dataAt, out, size);
      return out;
    }
    this.#plainKey = -1;
    this.#inflateAt(pack, offset, dataAt, this.#plain, size);
    this.#plainKey = cacheKey(pack, offset);
    this.#plainType = type;
    this.#plainSize = size;
    return this.#plain;
  }

  #inflateAt(pack: number, offset: number, dataAt: number, out: Bytes, size: number): void {
    const end = this.#packEnd(pack);
    const want = Math.min(compressedBound(size), end - dataAt);
    if (want <= WINDOW_BYTES) {
      this.#ensure(pack, dataAt, want);
      const from = dataAt - this.#windowStart;
      const to = Math.min(this.#windowEnd, end) - this.#windowStart;
      const failure = this.#inflater.inflateExact(this.#window, from, to, out, 0, size);
      if (failure === null) return;
      if (failure === 'corrupt' || this.#windowStart + to >= end) throw this.#inflateError(pack, offset, failure);
    }
    this.#inflateInPieces(pack, offset, dataAt, out, size);
  }

  /** For objects larger than the window, and for the odd encoder whose output is larger than its input. */
  #inflateInPieces(pack: number, offset: number, dataAt: number, out: Bytes, size: number): void {
    const end = this.#packEnd(pack);
    if (!this.#inflater.begin()) {
      // Without pieces the whole compressed object is needed at once.
      const length = Math.min(2 * compressedBound(size), end - dataAt);
      const input = Buffer.allocUnsafeSlow(length);
      this.#readFully(pack, input, length, dataAt);
      const failure = this.#inflater.inflateExact(input, 0, length, out, 0, size);
      if (failure !== null) throw this.#inflateError(pack, offset, failure);
      return;
    }
    let at = dataAt;
    let filled = 0;
    for (;;) {
      if (at < this.#windowStart || at >= this.#windowEnd || this.#windowPack !== pack) {
        if (at >= end) throw this.#corrupt(pack, offset, 'is cut off');
        this.#fill(pack, at, Math.min(WINDOW_BYTES, end + 1 - at));
      }
      const from = at - this.#windowStart;
      const to = this.#windowEnd - this.#windowStart;
      const failure = this.#inflater.step(this.#window, from, to, out, filled, size + 1);
      if (failure !== null) throw this.#inflateError(pack, offset, failure);
      at += this.#inflater.consumed;
      filled += this.#inflater.produced;
      if (filled > size) throw this.#corrupt(pack, offset, 'is longer than its header says');
      if (at < this.#windowEnd) break;
    }
    if (filled !== size) throw this.#corrupt(pack, offset, 'is shorter than its header says');
  }

  /** Makes `length` bytes (at most the window) from an offset be in the window. */
  #ensure(pack: number, offset: number, length: number): void {
    if (pack === this.#windowPack && offset >= this.#windowStart && offset + length <= this.#windowEnd) {
      return;
    }
    const ahead = Math.max(this.readAheadEnd - offset, LONE_READ_BYTES);
    this.#fill(pack, offset, Math.min(Math.max(length, ahead), WINDOW_BYTES));
  }

  #fill(pack: number, offset: number, length: number): void {
    // One byte of the checksum may be included, see `stream`.
    const count = Math.min(length, this.#packEnd(pack) + 1 - offset);
    this.#windowPack = -1;
    this.#readFully(pack, this.#window, count, offset);
    this.#windowPack = pack;
    this.#windowStart = offset;
    this.#windowEnd = offset + count;
  }

  #readFully(pack: number, into: Uint8Array, length: number, offset: number): void {
    const file = this.#packFile(pack);
    let done = 0;
    while (done < length) {
      let read: number;
      try {
        read = readSync(file.fd, into, done, length - done, offset + done);
      } catch (error) {
        throw ioError('read', file.path, error);
      }
      if (read === 0) throw this.#corrupt(pack, offset, 'is cut off');
      done += read;
    }
  }

  #allocate(bytes: number): Uint8Array<ArrayBuffer> {
    let large: Uint8Array<ArrayBuffer>;
    try {
      large = allocateLarge(bytes);
    } catch (error) {
      throw new CheckoutError('memory', `cannot allocate ${bytes} bytes for an object`, {}, error);
    }
    this.#large.push(large);
    return large;
  }

  /** Frees one large buffer early; scratch buffers and the cache are not in the list and stay. */
  #release(bytes: Bytes): void {
    const at = this.#large.indexOf(bytes as Uint8Array<ArrayBuffer>);
    if (at < 0) return;
    freeLarge(bytes as Uint8Array<ArrayBuffer>);
    this.#large.splice(at, 1);
  }

  #inflateError(pack: number, offset: number, failure: InflateFailure): CheckoutError {
    return this.#corrupt(pack, offset, failure === 'truncated' ? 'is cut off' : 'does not inflate to what it declares');
  }

  #corrupt(pack: number, offset: number, how: string): CheckoutError {
    const { path } = this.#packFile(pack);
    return new CheckoutError('object-corrupt', `pack '${path}': the entry at offset ${offset} ${how}`, { path });
  }
}
