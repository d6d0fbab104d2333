/**
 * Reads an object from its place, in a pack or loose, through one interface. One reader for each thread.
 */
import type { Bytes } from '../bytes.ts';
import { CheckoutError } from '../errors.ts';
import { oidToHex, type ObjectFormat } from '../oid.ts';
import { Inflater } from '../pack/inflate.ts';
import type { FilePool } from '../pack/file-pool.ts';
import type { PackFile } from '../pack/pack-file.ts';
import { PackReader } from '../pack/pack-reader.ts';
import { LooseReader } from './loose.ts';

/** Pack number of a loose object. */
export const LOOSE = 0xffff;

export class ObjectReader {
  /** Set by `open`: the object's type (pack/entry.ts) and size. */
  type = 0;
  size = 0;
  /** Set by `measure`: bytes that `read` and `stream` allocate. */
  readBytes = 0;
  streamBytes = 0;
  /** Set by `open`: stored as it is, so that `stream` needs no memory. */
  isPlain = false;
  /** Set when a loose object is opened: the directory where it was found; behind the last one when it was not. */
  looseDirectory = 0;
  readonly #packs: PackReader;
  readonly #directories: readonly string[];
  readonly #format: ObjectFormat;
  readonly #useHandle: boolean;
  #loose: LooseReader | null = null;
  #current: PackReader | LooseReader;

  /**
   * @param packs by number; may become longer while the reader is in use
   * @param useHandle false inflates the documented way, see Inflater (for tests)
   */
  constructor(
    packs: readonly PackFile[],
    objectDirectories: readonly string[],
    format: ObjectFormat,
    useHandle = true,
    pool?: FilePool,
  ) {
    this.#format = format;
    this.#packs = new PackReader(packs, format, {
      inflater: new Inflater(useHandle),
      ...(pool === undefined ? {} : { pool }),
    });
    this.#directories = objectDirectories;
    this.#useHandle = useHandle;
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
   * @param offset in the pack; of a loose object, the number of the first directory to look in
   * @param oid its id, needed for loose objects and messages
   * @throws CheckoutError object-missing, object-corrupt, io; the error names the object
   */
  open(pack: number, offset: number, oid: Bytes, oidAt: number): void {
    if (pack === LOOSE) {
      if (!this.openLoose(oid, oidAt, offset)) {
        const hex = oidToHex(oid, oidAt, this.#format.oidBytes);
        throw new CheckoutError('object-missing', `object ${hex} is missing`, { oid: hex });
      }
      return;
    }
    this.#packs.open(pack, offset);
    this.#current = this.#packs;
    this.type = this.#packs.type;
    this.size = this.#packs.size;
    this.isPlain = this.#packs.isPlain;
  }

  /** Opens a loose object, looking in one directory after another; false when there is none. */
  openLoose(oid: Bytes, oidAt: number, first = 0): boolean {
    this.#loose ??= new LooseReader(this.#format, new Inflater(this.#useHandle));
    const directories = this.#directories;
    for (this.looseDirectory = first; this.looseDirectory < directories.length; this.looseDirectory++) {
      if (!this.#loose.open(directories[this.looseDirectory] ?? '', oid, oidAt)) continue;
      this.#current = this.#loose;
      this.type = this.#loose.type;
      this.size = this.#loose.size;
      this.isPlain = true;
      return true;
    }
    return false;
  }

  /** The whole object if reading it takes no memory beyond the scratch buffers, else null. */
  readSmall(): Bytes | null {
    const bytes = this.#current.readSmall();
    if (bytes !== null) this.size = bytes.length;
    return bytes;
  }

  /** Finds out what reading a large object takes: sets `size`, `readBytes` and `streamBytes`. */
  measure(): void {
    this.#current.measure();
    this.size = this.#current.size;
    this.readBytes = this.#current.readBytes;
    this.streamBytes = this.#current.streamBytes;
  }

  /** The whole object, whatever its size; its bytes are valid until the next call. */
  read(): Bytes {
    const bytes = this.#current.readSmall() ?? this.#current.read();
    this.size = bytes.length;
    return bytes;
  }

  /** Whether the opened object is a delta on a large base that would have to be inflated for it. */
  get missesLargeBase(): boolean {
    return this.#current === this.#packs && this.#packs.missesLargeBase;
  }

  /** Names the base in the pack of the opened object: equal for deltas that share it. */
  get baseKey(): number {
    return this.#packs.baseKey;
  }

  get baseSize(): number {
    return this.#packs.baseSize;
  }

  /** Whether the opened object is made of what is retained. */
  get usesRetained(): boolean {
    return this.#current === this.#packs && this.#packs.usesRetained;
  }

  /** Bytes that are retained. */
  get retainedBytes(): number {
    return this.#packs.retainedBytes;
  }

  dropRetained(): void {
    this.#packs.dropRetained();
  }

  /** The object in pieces, each valid during the call. */
  stream(sink: (piece: Bytes) => void): void {
    this.#current.stream(sink);
  }

  /** Frees what reading a large object took, but for what is retained. */
  finish(): void {
    this.#current.finish();
  }
}
