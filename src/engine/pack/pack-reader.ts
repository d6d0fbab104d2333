/**
 * Reads objects out of packs: a few scratch buffers that are used again and again, deltas resolved without recursion, and a
 * small cache of bases. One reader for each thread.
 *
 * Small objects (up to SCRATCH_BYTES, with all that they are made of) cost no allocation: `readSmall`. For larger ones the
 * caller asks what reading takes (`measure`), finds that memory in the budget, reads (`read`) or lets the object pass by in
 * pieces (`stream`), and gives the memory back (`finish`). A large base is retained until `dropRetained`, for the other
 * deltas on it.
 */
import { allocateLarge, freeLarge, type Bytes } from '../bytes.ts';
import { CheckoutError } from '../errors.ts';
import { oidToHex, type ObjectFormat } from '../oid.ts';
import { applyDelta, DeltaSizes, streamDelta } from './delta.ts';
import { cacheKey, DeltaBaseCache } from './delta-base-cache.ts';
import { EntryHeader, MAX_ENTRY_HEADER_BYTES, OFS_DELTA, REF_DELTA } from './entry.ts';
import { FilePool } from './file-pool.ts';
import { Inflater, type InflateFailure } from './inflate.ts';
import { PACK_HEADER_BYTES, type PackFile } from './pack-file.ts';
import { PackIndex } from './pack-index.ts';
import { PackWindow, WINDOW_BYTES } from './pack-window.ts';

/** Objects up to this size go through the reusable buffers; of the 86,691 files of Linux 6.12 all but 290 do. */
export const SCRATCH_BYTES = 1 << 20;
/** Bases kept for each thread. */
export const BASE_CACHE_BYTES = 4 << 20;
/** Deflate never packs denser than 1032 to 1 (zlib's technical details), so a larger claim is a lie. */
export const MAX_INFLATE_RATIO = 1032;
/** A longer chain of deltas than this is a ring, where no index tells how many objects there are. git makes 4,095 at most. */
const MOST_CHAIN = 100_000;
/** Indexes kept open for deltas whose base is named by id: few packs have such. */
const INDEXES_KEPT = 8;
/** Pieces in which large objects are streamed: they fit the second-level cache of a core. */
const PIECE_BYTES = 256 << 10;

/** Compressed bytes that a stream of `size` bytes may take with any ordinary encoder: stored blocks cost 5 in 16,383. */
function compressedBound(size: number): number {
  return size + (size >> 6) + 64;
}

interface ChainLink {
  offset: number;
  dataAt: number;
  deltaSize: number;
}

/** Where the base of a chain of deltas is. */
const BASE_IN_PACK = 0;
const BASE_IN_PLAIN = 1;
const BASE_IN_CACHE = 2;
const BASE_RETAINED = 3;

/** A scratch buffer has one byte more than it is good for: the inflater's spare. */
function scratch(): Uint8Array<ArrayBuffer> {
  return new Uint8Array(SCRATCH_BYTES + 1);
}

/** What `#large` counts for objects that fit the scratch buffers. */
function largeBytes(size: number): number {
  return size > SCRATCH_BYTES ? size + 1 : 0;
}

export class PackReader {
  /** Set by `open`: type of the whole object. */
  type = 0;
  /** Size of the whole object; of a delta it is known after `measure` or a read only. */
  size = 0;
  /** Set by `open`: stored as it is, so that `stream` needs no memory. */
  isPlain = false;
  /** Set by `measure`: bytes that `read` and `stream` allocate. */
  readBytes = 0;
  streamBytes = 0;

  readonly #window: PackWindow;
  readonly #pool: FilePool;
  readonly #inflater: Inflater;
  readonly #cache: DeltaBaseCache;
  readonly #header: EntryHeader;
  readonly #format: ObjectFormat;
  readonly #sizes = new DeltaSizes();
  readonly #indexes = new Map<number, PackIndex>();
  readonly #findBase: ((oid: Bytes, oidAt: number) => number) | undefined;
  /** Holds the last small object that was stored as it is. */
  #plain: Uint8Array<ArrayBuffer> | null = null;
  #plainKey = -1;
  #plainType = 0;
  #plainSize = 0;
  #deltaScratch: Uint8Array<ArrayBuffer> | null = null;
  readonly #resultScratch: [Uint8Array<ArrayBuffer> | null, Uint8Array<ArrayBuffer> | null] = [null, null];
  #piece: Uint8Array<ArrayBuffer> | null = null;
  /** The head of a delta: two sizes of at most 10 bytes each. */
  readonly #probe = new Uint8Array(24);
  /** Large buffers of the object being read. */
  readonly #large: Uint8Array<ArrayBuffer>[] = [];
  /** A large object that stays after `finish`, until `dropRetained`. */
  #retained: Uint8Array<ArrayBuffer> | null = null;
  #retainedKey = -1;
  #retainedType = 0;
  #retainedSize = 0;
  // The object that was opened: links from it down to its base.
  #pack = 0;
  #offset = 0;
  readonly #chain: ChainLink[] = [];
  #chainLength = 0;
  #baseOffset = 0;
  #baseDataAt = 0;
  #baseSize = 0;
  #baseAt = BASE_IN_PACK;

  /** @param packs by number; may become longer while the reader is in use */
  constructor(
    packs: readonly PackFile[],
    format: ObjectFormat,
    options: {
      baseCacheBytes?: number;
      inflater?: Inflater;
      pool?: FilePool;
      /** Where the object of an id is, or -1; in place of the packs' indexes. */
      findBase?: (oid: Bytes, oidAt: number) => number;
    } = {},
  ) {
    this.#findBase = options.findBase;
    this.#header = new EntryHeader(format.oidBytes);
    this.#format = format;
    this.#pool = options.pool ?? new FilePool();
    this.#window = new PackWindow(packs, this.#pool);
    this.#inflater = options.inflater ?? new Inflater();
    this.#cache = new DeltaBaseCache(options.baseCacheBytes ?? BASE_CACHE_BYTES);
  }

  close(): void {
    this.finish();
    this.dropRetained();
    this.#inflater.close();
    // At once, not when the garbage is collected: another reader may take as much next.
    for (const bytes of [this.#plain, this.#deltaScratch, ...this.#resultScratch, this.#piece]) {
      if (bytes !== null) freeLarge(bytes);
    }
    this.#plain = this.#deltaScratch = this.#piece = null;
    this.#plainKey = -1;
    this.#resultScratch.fill(null);
    this.#cache.close();
    this.#window.close();
    for (const index of this.#indexes.values()) index.close();
    this.#indexes.clear();
    this.#pool.closeAll();
  }

  /** The highest offset that the caller will want soon; reading ahead stops there. */
  set readAheadEnd(offset: number) {
    this.#window.readAheadEnd = offset;
  }

  /** Whether the opened object is a delta on a large base that would have to be inflated for it. */
  get missesLargeBase(): boolean {
    return !this.isPlain && this.#baseAt === BASE_IN_PACK && this.#baseSize > SCRATCH_BYTES;
  }

  /** Names the base in the pack of the opened object: equal for deltas that share it. */
  get baseKey(): number {
    return cacheKey(this.#pack, this.#baseOffset);
  }

  get baseSize(): number {
    return this.#baseSize;
  }

  /** Whether the opened object is made of what is retained. */
  get usesRetained(): boolean {
    return this.#baseAt === BASE_RETAINED;
  }

  /** Bytes that are retained beyond `finish`. */
  get retainedBytes(): number {
    return this.#retained === null ? 0 : this.#retainedSize + 1;
  }

  /**
   * Finds out what the object at an offset is: follows its chain of deltas down to a base that is stored as it is, or that
   * is at hand.
   * @throws CheckoutError object-corrupt, io
   */
  open(pack: number, offset: number): void {
    this.#pack = pack;
    this.#offset = offset;
    this.#chainLength = 0;
    this.#baseAt = BASE_IN_PACK;
    this.#window.readAheadStart = offset;
    let at = offset;
    while (!this.#baseAtHand(cacheKey(pack, at))) {
      const dataAt = this.#readHeader(pack, at);
      const { type, size } = this.#header;
      if (type !== OFS_DELTA && type !== REF_DELTA) {
        this.type = type;
        this.#baseOffset = at;
        this.#baseDataAt = dataAt;
        this.#baseSize = size;
        break;
      }
      const link = (this.#chain[this.#chainLength++] ??= { offset: 0, dataAt: 0, deltaSize: 0 });
      link.offset = at;
      link.dataAt = dataAt;
      link.deltaSize = size;
      at = this.#baseOf(pack, at);
    }
    this.isPlain = this.#chainLength === 0;
    this.size = this.isPlain ? this.#baseSize : 0;
  }

  /**
   * Reads the opened object if it, and all that it is made of, fits the scratch buffers.
   * @returns its bytes, valid until the next call of any method; null when it is larger
   */
  readSmall(): Bytes | null {
    if (this.#baseAt === BASE_RETAINED || this.#baseSize > SCRATCH_BYTES) return null;
    for (let i = 0; i < this.#chainLength; i++) {
      if ((this.#chain[i]?.deltaSize ?? 0) > SCRATCH_BYTES) return null;
    }
    const bytes = this.#readChain(false);
    // What was built on the way may have taken the place of the base in the cache.
    if (bytes === null) this.open(this.#pack, this.#offset);
    return bytes;
  }

  /** Finds out what reading a large object takes: sets `size`, `readBytes` and `streamBytes`. */
  measure(): void {
    if (this.isPlain) {
      const inflating = this.#inflatingBytes(this.size);
      this.readBytes = largeBytes(this.size) + inflating;
      this.streamBytes = inflating === 0 ? 0 : this.readBytes;
      return;
    }
    let baseSize = this.#baseSize;
    // A large base stays to the end, for other deltas on it. One that is at hand has its memory already.
    const retained = this.#baseAt === BASE_IN_PACK ? largeBytes(baseSize) : 0;
    let most = this.#baseAt === BASE_IN_PACK ? retained + this.#inflatingBytes(baseSize) : 0;
    let before = 0;
    for (let i = this.#chainLength - 1; i >= 0; i--) {
      const link = this.#chainLink(i);
      this.#inflateHead(link);
      this.#parseSizes(link, this.#probe, Math.min(this.#probe.length, link.deltaSize), baseSize);
      const { resultSize } = this.#sizes;
      const needed = retained + before + largeBytes(link.deltaSize);
      most = Math.max(most, needed + this.#inflatingBytes(link.deltaSize));
      if (i === 0) this.streamBytes = most;
      most = Math.max(most, needed + largeBytes(resultSize));
      baseSize = resultSize;
      before = largeBytes(resultSize);
    }
    this.readBytes = most;
    this.size = baseSize;
  }

  /**
   * Reads the opened object whole.
   * @returns its bytes, valid until `finish` or the next read
   */
  read(): Bytes {
    const bytes = this.#readChain(true);
    if (bytes === null) throw new Error('a read that may allocate gave up');
    return bytes;
  }

  /**
   * Reads the opened object, which must be plain, into memory that stays until `dropRetained`: deltas on it will come.
   * @returns its bytes
   */
  readRetained(): Bytes {
    return this.#retain().subarray(0, this.#baseSize);
  }

  /** Gives the opened object to `sink` in pieces that are valid during the call only. */
  stream(sink: (piece: Bytes) => void): void {
    if (!this.isPlain) {
      this.#streamChain(sink);
      return;
    }
    if (!this.#inflater.begin()) {
      const whole = this.read();
      if (whole.length > 0) sink(whole);
      return;
    }
    const out = (this.#piece ??= new Uint8Array(PIECE_BYTES));
    let filled = 0;
    this.#inflateInPieces(this.#pack, this.#offset, this.#baseDataAt, this.size, (from, to) => {
      const failure = this.#inflater.step(this.#window.bytes, from, to, out, filled, out.length);
      if (failure !== null) return failure;
      filled += this.#inflater.produced;
      if (filled === out.length) {
        sink(out);
        filled = 0;
      }
      return null;
    });
    if (filled > 0) sink(out.subarray(0, filled));
  }

  /** Frees the large buffers of the last read at once, but for what is retained. */
  finish(): void {
    for (const bytes of this.#large) freeLarge(bytes);
    this.#large.length = 0;
  }

  /** Frees what is retained. */
  dropRetained(): void {
    if (this.#retained !== null) freeLarge(this.#retained);
    this.#retained = null;
    this.#retainedKey = -1;
  }

  /** What inflating a large part takes beside its output: without the handle the compressed bytes, their inflated pieces and a copy. */
  #inflatingBytes(size: number): number {
    return size <= SCRATCH_BYTES || this.#inflater.usesHandle ? 0 : 2 * compressedBound(size) + 2 * size;
  }

  #chainLink(i: number): ChainLink {
    const link = this.#chain[i];
    if (link === undefined) throw new Error('no such link in the chain of deltas');
    return link;
  }

  /** Whether the object of this key is at hand as a base. */
  #baseAtHand(key: number): boolean {
    if (this.#chainLength === 0) return false;
    if (key === this.#plainKey) {
      this.type = this.#plainType;
      this.#baseSize = this.#plainSize;
      this.#baseAt = BASE_IN_PLAIN;
      return true;
    }
    if (key === this.#retainedKey) {
      this.type = this.#retainedType;
      this.#baseSize = this.#retainedSize;
      this.#baseAt = BASE_RETAINED;
      return true;
    }
    if (!this.#cache.find(key)) return false;
    this.type = this.#cache.type;
    this.#baseSize = this.#cache.size;
    this.#baseAt = BASE_IN_CACHE;
    return true;
  }

  /** Offset of the base of the delta whose header was read last. */
  #baseOf(pack: number, at: number): number {
    let base: number;
    if (this.#header.type === OFS_DELTA) {
      base = at - this.#header.baseDistance;
      if (this.#header.baseDistance <= 0) base = 0;
    } else {
      const oidAt = this.#header.baseOidAt;
      const index = this.#findBase === undefined ? this.#index(pack) : null;
      base = index?.find(this.#window.bytes, oidAt) ?? this.#findBase?.(this.#window.bytes, oidAt) ?? -1;
      if (base < 0) {
        const hex = oidToHex(this.#window.bytes, oidAt, this.#format.oidBytes);
        throw this.#corrupt(pack, at, `has a delta base that is not in its pack (${hex})`);
      }
      // A base by id may lie anywhere, so such deltas could form a ring.
      if (this.#chainLength > (index?.count ?? MOST_CHAIN)) throw this.#corrupt(pack, at, 'is its own delta base');
    }
    if (base < PACK_HEADER_BYTES || base >= this.#window.packEnd(pack))
      throw this.#corrupt(pack, at, 'has a delta base outside of the pack');
    return base;
  }

  #index(pack: number): PackIndex {
    let index = this.#indexes.get(pack);
    if (index === undefined) {
      for (const [oldest, opened] of this.#indexes) {
        if (this.#indexes.size < INDEXES_KEPT) break;
        opened.close();
        this.#indexes.delete(oldest);
      }
      index = PackIndex.open(this.#window.file(pack).indexPath, this.#format, this.#pool);
      this.#indexes.set(pack, index);
    }
    return index;
  }

  /** Decodes the entry header at an offset into `#header`; returns where the compressed data begin. */
  #readHeader(pack: number, offset: number): number {
    const window = this.#window;
    const end = window.packEnd(pack);
    if (offset < PACK_HEADER_BYTES || offset >= end) throw this.#corrupt(pack, offset, 'lies outside of the pack');
    window.ensure(pack, offset, Math.min(MAX_ENTRY_HEADER_BYTES, end - offset));
    if (!this.#header.parse(window.bytes, offset - window.start, Math.min(window.end, end) - window.start)) {
      throw this.#corrupt(pack, offset, 'has an invalid header');
    }
    const dataAt = offset + this.#header.length;
    if (this.#header.size > (end - dataAt) * MAX_INFLATE_RATIO) {
      throw this.#corrupt(pack, offset, 'declares a size that its pack cannot hold');
    }
    return dataAt;
  }

  #parseSizes(link: ChainLink, delta: Bytes, end: number, baseSize: number): void {
    if (!this.#sizes.parse(delta, 0, end)) throw this.#corrupt(this.#pack, link.offset, 'is an invalid delta');
    if (this.#sizes.baseSize !== baseSize) {
      throw this.#corrupt(this.#pack, link.offset, 'is a delta for a base of another size');
    }
    // A delta of n bytes makes less than n copies of at most 16 MiB.
    if (this.#sizes.resultSize > link.deltaSize * 0x1000000) {
      throw this.#corrupt(this.#pack, link.offset, 'is a delta with an impossible size');
    }
  }

  /** Inflates the first bytes of a delta into `#probe`. */
  #inflateHead(link: ChainLink): void {
    const window = this.#window;
    const probe = this.#probe;
    const wanted = Math.min(probe.length, link.deltaSize);
    if (!this.#inflater.begin()) {
      const delta = this.#inflateDelta(link);
      probe.set(delta.subarray(0, wanted));
      this.#release(delta);
      return;
    }
    const end = window.packEnd(this.#pack);
    // A code table may come before the first byte, so more than a few bytes are offered.
    window.ensure(this.#pack, link.dataAt, Math.min(1024, end - link.dataAt));
    const from = link.dataAt - window.start;
    const to = Math.min(window.end, end) - window.start;
    const failure = this.#inflater.step(window.bytes, from, to, probe, 0, probe.length);
    if (failure !== null) throw this.#inflateError(this.#pack, link.offset, failure);
    if (this.#inflater.produced < wanted) throw this.#corrupt(this.#pack, link.offset, 'is cut off');
  }

  /** Inflates a delta's instructions. */
  #inflateDelta(link: ChainLink): Bytes {
    const out =
      link.deltaSize > SCRATCH_BYTES ? this.#allocate(link.deltaSize + 1) : (this.#deltaScratch ??= scratch());
    this.#inflateAt(this.#pack, link.offset, link.dataAt, out, link.deltaSize);
    return out;
  }

  /**
   * Inflates the base and applies the chain of deltas.
   * @param large whether memory beyond the scratch buffers may be taken; without, null for what does not fit
   */
  #readChain(large: boolean): Bytes | null {
    let base = this.#base();
    let baseStart = this.#baseAt === BASE_IN_CACHE ? this.#cache.start : 0;
    let baseSize = this.#baseSize;
    for (let i = this.#chainLength - 1; i >= 0; i--) {
      const link = this.#chainLink(i);
      const delta = this.#inflateDelta(link);
      this.#parseSizes(link, delta, link.deltaSize, baseSize);
      const { resultSize, instructionsAt } = this.#sizes;
      if (resultSize > SCRATCH_BYTES && !large) return null;
      const out = resultSize > SCRATCH_BYTES ? this.#allocate(resultSize + 1) : this.#result(i & 1);
      if (!applyDelta(base, baseStart, baseSize, delta, instructionsAt, link.deltaSize, out, resultSize)) {
        throw this.#corrupt(this.#pack, link.offset, 'is an invalid delta');
      }
      this.#release(base);
      this.#release(delta);
      // What was built is likely to be the base of what comes next in the pack.
      this.#cache.put(cacheKey(this.#pack, link.offset), this.type, out, resultSize);
      base = out;
      baseStart = 0;
      baseSize = resultSize;
    }
    this.size = baseSize;
    return base.subarray(baseStart, baseStart + baseSize);
  }

  /** Like `#readChain`, but the last delta's result passes by instead of being held. */
  #streamChain(sink: (piece: Bytes) => void): void {
    const last = this.#chainLink(0);
    let base: Bytes;
    let baseStart = 0;
    let baseSize: number;
    if (this.#chainLength === 1) {
      base = this.#base();
      if (this.#baseAt === BASE_IN_CACHE) baseStart = this.#cache.start;
      baseSize = this.#baseSize;
    } else {
      const whole = this.#readUpTo(1);
      base = whole;
      baseSize = whole.length;
    }
    const delta = this.#inflateDelta(last);
    this.#parseSizes(last, delta, last.deltaSize, baseSize);
    const { resultSize, instructionsAt } = this.#sizes;
    this.size = resultSize;
    const piece = (this.#piece ??= new Uint8Array(PIECE_BYTES));
    const { deltaSize } = last;
    if (!streamDelta(base, baseStart, baseSize, delta, instructionsAt, deltaSize, resultSize, piece, sink)) {
      throw this.#corrupt(this.#pack, last.offset, 'is an invalid delta');
    }
  }

  /** Reads the object that the links from `first` on make, leaving the opened one as it is. */
  #readUpTo(first: number): Bytes {
    const removed = this.#chain.splice(0, first);
    this.#chainLength -= first;
    try {
      return this.read();
    } finally {
      this.#chain.unshift(...removed);
      this.#chainLength += first;
    }
  }

  #result(which: number): Uint8Array {
    const at = which === 0 ? 0 : 1;
    return (this.#resultScratch[at] ??= scratch());
  }

  /** The base of the chain. */
  #base(): Bytes {
    switch (this.#baseAt) {
      case BASE_IN_PLAIN:
        return (this.#plain ??= scratch());
      case BASE_IN_CACHE:
        return this.#cache.memory;
      case BASE_RETAINED:
        if (this.#retained === null) throw new Error('the base was dropped');
        return this.#retained;
      default:
    }
    const size = this.#baseSize;
    if (size > SCRATCH_BYTES) {
      // A base may serve more than one delta; an object for its own sake need not stay.
      if (this.#chainLength > 0) return this.#retain();
      const out = this.#allocate(size + 1);
      this.#inflateAt(this.#pack, this.#baseOffset, this.#baseDataAt, out, size);
      return out;
    }
    const key = cacheKey(this.#pack, this.#baseOffset);
    this.#plainKey = -1;
    const plain = (this.#plain ??= scratch());
    this.#inflateAt(this.#pack, this.#baseOffset, this.#baseDataAt, plain, size);
    this.#plainKey = key;
    this.#plainType = this.type;
    this.#plainSize = size;
    if (this.#chainLength > 0) this.#cache.put(key, this.type, plain, size);
    return plain;
  }

  /** Inflates the base of the chain into memory that stays after `finish`. */
  #retain(): Bytes {
    this.dropRetained();
    const size = this.#baseSize;
    const out = this.#allocate(size + 1);
    this.#inflateAt(this.#pack, this.#baseOffset, this.#baseDataAt, out, size);
    this.#large.splice(this.#large.indexOf(out), 1);
    this.#retained = out;
    this.#retainedKey = cacheKey(this.#pack, this.#baseOffset);
    this.#retainedType = this.type;
    this.#retainedSize = size;
    return out;
  }

  #inflateAt(pack: number, offset: number, dataAt: number, out: Bytes, size: number): void {
    const window = this.#window;
    const end = window.packEnd(pack);
    const want = Math.min(compressedBound(size), end - dataAt);
    if (want <= WINDOW_BYTES) {
      window.ensure(pack, dataAt, want);
      const to = Math.min(window.end, end);
      const from = dataAt - window.start;
      const failure = this.#inflater.inflateExact(window.bytes, from, to - window.start, out, 0, size);
      if (failure === null) return;
      if (failure === 'corrupt' || to >= end) throw this.#inflateError(pack, offset, failure);
    }
    // For objects larger than the window, and for the odd encoder whose output is larger than its input.
    if (!this.#inflater.begin()) {
      // Without pieces the whole compressed object is needed at once.
      const length = Math.min(2 * compressedBound(size), end - dataAt);
      const input = this.#allocate(length);
      window.read(pack, input, length, dataAt);
      const failure = this.#inflater.inflateExact(input, 0, length, out, 0, size);
      this.#release(input);
      if (failure !== null) throw this.#inflateError(pack, offset, failure);
      return;
    }
    let filled = 0;
    this.#inflateInPieces(pack, offset, dataAt, size, (from, to) => {
      const failure = this.#inflater.step(window.bytes, from, to, out, filled, size + 1);
      filled += this.#inflater.produced;
      return failure;
    });
  }

  /**
   * Moves the window over a stream that was begun and lets `step` inflate, until the stream has ended after exactly `size` bytes.
   * A stream has ended when it leaves input untouched; behind the last entry there is the pack's checksum to leave.
   * @param step inflates from the window's range; the inflater's counts are then set
   */
  #inflateInPieces(
    pack: number,
    offset: number,
    dataAt: number,
    size: number,
    step: (from: number, to: number) => InflateFailure | null,
  ): void {
    const window = this.#window;
    let at = dataAt;
    let total = 0;
    for (;;) {
      if (!window.advance(pack, at)) throw this.#corrupt(pack, offset, 'is cut off');
      const failure = step(at - window.start, window.end - window.start);
      if (failure !== null) throw this.#inflateError(pack, offset, failure);
      const { consumed, produced } = this.#inflater;
      at += consumed;
      total += produced;
      if (total > size) throw this.#corrupt(pack, offset, 'is longer than its header says');
      // Room for output is always left or made by `step`; no progress with input at hand means the end.
      if (consumed === 0 && produced === 0) break;
    }
    if (total !== size) throw this.#corrupt(pack, offset, 'is shorter than its header says');
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

  /** Frees one large buffer early; scratch buffers, the cache and what is retained are not in the list and stay. */
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
    return this.#window.corrupt(pack, offset, how);
  }
}
