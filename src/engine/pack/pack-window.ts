/**
 * A window that moves over pack files, filled by large reads, in which entries are parsed and inflated in place. Node cannot map
 * files; for packs that are read from front to back this costs the same.
 *
 * There are two of them for each thread: one goes ahead over the entries that the caller is going through, the other serves
 * what lies elsewhere, mostly delta bases. With one alone, each base far from its delta threw away what had been read ahead:
 * going from Linux 6.12 to 6.1 read 35 GB of a pack of 293 MB, with two it reads 0.9 GB.
 */
import { readSync } from 'node:fs';
import { freeLarge, MOST_AT_ONCE } from '../bytes.ts';
import { CheckoutError, errnoOf, ioError } from '../errors.ts';
import { FilePool } from './file-pool.ts';
import type { PackFile } from './pack-file.ts';

/** How much of the pack is held at once. */
export const WINDOW_BYTES = 1280 << 10;
/** Read when nothing says that what follows is wanted too. */
const LONE_READ_BYTES = 32 << 10;

/** A buffer with a range of a pack; pack -1 is none. */
interface Region {
  bytes: Uint8Array<ArrayBuffer>;
  pack: number;
  start: number;
  end: number;
}

/** Without its buffer, which the first read makes: small checkouts need one of the two. */
function emptyRegion(): Region {
  return { bytes: new Uint8Array(0), pack: -1, start: 0, end: 0 };
}

export class PackWindow {
  /** Offsets in between are wanted soon, so that reading goes ahead to the end; outside of them it does not. */
  readAheadStart = 0;
  readAheadEnd = 0;
  readonly #ahead = emptyRegion();
  readonly #elsewhere = emptyRegion();
  /** The one that `ensure` or `advance` found or filled last. */
  #current = this.#ahead;
  readonly #packs: readonly PackFile[];
  readonly #pool: FilePool;

  /** @param packs may become longer while the window is in use */
  constructor(packs: readonly PackFile[], pool = new FilePool()) {
    this.#packs = packs;
    this.#pool = pool;
  }

  /** Frees the buffers; they are made again when they are needed. */
  close(): void {
    for (const region of [this.#ahead, this.#elsewhere]) {
      freeLarge(region.bytes);
      Object.assign(region, emptyRegion());
    }
  }

  get bytes(): Uint8Array {
    return this.#current.bytes;
  }

  /** `bytes` holds [start, end) of its pack. The first byte of the checksum may be in it, see PackReader. */
  get start(): number {
    return this.#current.start;
  }

  get end(): number {
    return this.#current.end;
  }

  file(pack: number): PackFile {
    const file = this.#packs[pack];
    if (file === undefined) throw new Error(`no pack ${pack}`);
    return file;
  }

  /** Where the entries of a pack end. */
  packEnd(pack: number): number {
    return this.file(pack).end;
  }

  /** Makes `length` bytes (at most WINDOW_BYTES) from an offset be in the window. */
  ensure(pack: number, offset: number, length: number): void {
    if (this.#has(pack, offset, length)) return;
    const ahead = offset >= this.readAheadStart && offset < this.readAheadEnd;
    this.#select(ahead);
    const wanted = Math.max(length, LONE_READ_BYTES, ahead ? this.readAheadEnd - offset : 0);
    this.#fill(pack, offset, Math.min(wanted, WINDOW_BYTES));
  }

  /**
   * Goes on in a long entry: makes the byte at an offset be in the window, with as much behind it as fits. At the end of the
   * entries that is the first byte of the checksum, see PackReader.
   * @returns false past that
   */
  advance(pack: number, offset: number): boolean {
    if (this.#has(pack, offset, 1)) return true;
    if (offset > this.packEnd(pack)) return false;
    this.#select(offset >= this.readAheadStart && offset < this.readAheadEnd);
    this.#fill(pack, offset, WINDOW_BYTES);
    return true;
  }

  /** Whether one of the two has this range; it is the current one then. */
  #has(pack: number, offset: number, length: number): boolean {
    if (holds(this.#current, pack, offset, length)) return true;
    const other = this.#current === this.#ahead ? this.#elsewhere : this.#ahead;
    if (!holds(other, pack, offset, length)) return false;
    this.#current = other;
    return true;
  }

  #select(ahead: boolean): void {
    this.#current = ahead ? this.#ahead : this.#elsewhere;
  }

  /** Reads from a pack past the window. */
  read(pack: number, into: Uint8Array, length: number, offset: number): void {
    const file = this.file(pack);
    const fd = file.fd >= 0 ? file.fd : this.#open(file);
    let done = 0;
    while (done < length) {
      let read: number;
      try {
        read = readSync(fd, into, done, Math.min(length - done, MOST_AT_ONCE), offset + done);
      } catch (error) {
        throw ioError('read', file.path, error);
      }
      if (read === 0) throw this.corrupt(pack, offset, 'is cut off');
      done += read;
    }
  }

  /** The error for an entry that is not what it must be. */
  corrupt(pack: number, offset: number, how: string): CheckoutError {
    const { path } = this.file(pack);
    return new CheckoutError('object-corrupt', `pack '${path}': the entry at offset ${offset} ${how}`, { path });
  }

  /** A pack that is opened again must be the one that was found. */
  #open(file: PackFile): number {
    try {
      return this.#pool.fd(file, (size) => {
        if (size === file.size) return;
        throw new CheckoutError('object-corrupt', `pack '${file.path}' has changed`, { path: file.path });
      });
    } catch (error) {
      if (errnoOf((error as Error).cause) !== 'ENOENT') throw error;
      // A concurrent repack may have removed it.
      throw new CheckoutError('object-missing', `pack '${file.path}' has gone`, { path: file.path }, error);
    }
  }

  #fill(pack: number, offset: number, length: number): void {
    const count = Math.min(length, this.packEnd(pack) + 1 - offset);
    const region = this.#current;
    region.pack = -1;
    if (region.bytes.length === 0) region.bytes = new Uint8Array(WINDOW_BYTES);
    this.read(pack, region.bytes, count, offset);
    region.pack = pack;
    region.start = offset;
    region.end = offset + count;
  }
}

function holds(region: Region, pack: number, offset: number, length: number): boolean {
  return pack === region.pack && offset >= region.start && offset + length <= region.end;
}
