/**
 * A window that moves over pack files: one buffer for each thread, filled by large reads, in which entries are parsed and inflated in
 * place. Node cannot map files; for packs that are read from front to back this costs the same.
 */
import { readSync } from 'node:fs';
import { CheckoutError, ioError } from '../errors.ts';
import type { PackFile } from './pack-file.ts';

/** How much of the pack is held at once. */
export const WINDOW_BYTES = 1280 << 10;
/** Read when nothing says that what follows is wanted too. */
const LONE_READ_BYTES = 32 << 10;

export class PackWindow {
  readonly bytes = new Uint8Array(WINDOW_BYTES);
  /** The window holds this range of its pack. The first byte of the checksum may be in it, see PackReader. */
  start = 0;
  end = 0;
  /** The highest offset that the caller will want soon; reading ahead stops there. */
  readAheadEnd = 0;
  #pack = -1;
  readonly #packs: readonly PackFile[];

  constructor(packs: readonly PackFile[]) {
    this.#packs = packs;
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
    if (pack === this.#pack && offset >= this.start && offset + length <= this.end) return;
    const ahead = Math.max(this.readAheadEnd - offset, LONE_READ_BYTES);
    this.#fill(pack, offset, Math.min(Math.max(length, ahead), WINDOW_BYTES));
  }

  /**
   * Goes on in a long entry: makes the byte at an offset be in the window, with as much behind it as fits. At the end of the
   * entries that is the first byte of the checksum, see PackReader.
   * @returns false past that
   */
  advance(pack: number, offset: number): boolean {
    if (pack === this.#pack && offset >= this.start && offset < this.end) return true;
    if (offset > this.packEnd(pack)) return false;
    this.#fill(pack, offset, WINDOW_BYTES);
    return true;
  }

  /** Reads from a pack past the window. */
  read(pack: number, into: Uint8Array, length: number, offset: number): void {
    const file = this.file(pack);
    let done = 0;
    while (done < length) {
      let read: number;
      try {
        read = readSync(file.fd, into, done, length - done, offset + done);
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

  #fill(pack: number, offset: number, length: number): void {
    const count = Math.min(length, this.packEnd(pack) + 1 - offset);
    this.#pack = -1;
    this.read(pack, this.bytes, count, offset);
    this.#pack = pack;
    this.start = offset;
    this.end = offset + count;
  }
}
