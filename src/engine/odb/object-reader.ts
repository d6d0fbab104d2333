/**
 * Reads an object from its place, in a pack or loose, through one interface. One reader for each thread.
 */
import type { Bytes } from '../bytes.ts';
import { CheckoutError } from '../errors.ts';
import { oidToHex } from '../oid.ts';
import { Inflater } from '../pack/inflate.ts';
import type { PackFile } from '../pack/pack-file.ts';
import { PackReader } from '../pack/pack-reader.ts';
import { LooseReader } from './loose.ts';

/** Pack number of a loose object. */
const LOOSE = 0xffff;

export class ObjectReader {
  /** Set by `open`: the object's type (pack/entry.ts) and size. */
  type = 0;
  size = 0;
  /** Set by `open`: bytes that `read` will allocate; 0 for small objects. */
  memoryNeeded = 0;
  /** Set by `open`: whether `stream` works without holding the object. */
  streamable = false;
  readonly #packs: PackReader;
  readonly #directories: readonly string[];
  #loose: LooseReader | null = null;
  #current: PackReader | LooseReader;

  constructor(packs: readonly PackFile[], objectDirectories: readonly string[], useHandle = true) {
    this.#packs = new PackReader(packs, { inflater: new Inflater(useHandle) });
    this.#directories = objectDirectories;
    this.#current = this.#packs;
  }

  close(): void {
    this.#packs.close();
    this.#loose?.close();
  }

  /** How far the caller will read on in the pack; see PackReader. */
  readAhead(end: number): void {
    this.#packs.readAheadEnd = end;
  }

  /**
   * Opens the object at a place.
   * @param oid its id, needed for loose objects and messages
   * @throws CheckoutError object-missing, object-corrupt, io; the error names the object
   */
  open(pack: number, offset: number, oid: Bytes, oidAt: number): void {
    if (pack === LOOSE) {
      if (!this.openLoose(oid, oidAt)) {
        const hex = oidToHex(oid, oidAt);
        throw new CheckoutError('object-missing', `object ${hex} is missing`, { oid: hex });
      }
      return;
    }
    this.#packs.open(pack, offset);
    this.#current = this.#packs;
    this.type = this.#packs.type;
    this.size = this.#packs.size;
    this.memoryNeeded = this.#packs.memoryNeeded;
    this.streamable = this.#packs.streamable;
  }

  /** Opens a loose object; false when there is none. */
  openLoose(oid: Bytes, oidAt: number): boolean {
    this.#loose ??= new LooseReader();
    for (const directory of this.#directories) {
      if (!this.#loose.open(directory, oid, oidAt)) continue;
      this.#current = this.#loose;
      this.type = this.#loose.type;
      this.size = this.#loose.size;
      this.memoryNeeded = this.#loose.memoryNeeded;
      this.streamable = true;
      return true;
    }
    return false;
  }

  /** The whole object; its bytes are valid until the next call. */
  read(): Bytes {
    return this.#current.read();
  }

  /** The object in pieces, each valid during the call. */
  stream(sink: (piece: Bytes) => void): void {
    this.#current.stream(sink);
  }

  /** Frees what reading a large object took. */
  finish(): void {
    this.#current.finish();
  }
}
