/**
 * Finds objects: by the multi-pack index, in packs, and as files of their own, in the repository's own object directory and then in
 * each alternate. The main thread owns the database; workers get places (a pack and an offset) and read by themselves.
 *
 * Packs and their indexes are opened when they are first needed. Another process may repack meanwhile, and a copy of an object
 * may be damaged: `findAgain` looks for another place, and reads the directories once more before it gives up.
 * docs/decisions/many-packs.md.
 */
import { existsSync, readdirSync, statSync, type BigIntStats } from 'node:fs';
import { join } from 'node:path';
import type { Bytes } from '../bytes.ts';
import { CheckoutError, errnoOf, ioError } from '../errors.ts';
import { oidToHex, type ObjectFormat } from '../oid.ts';
import { MAX_PACKS } from '../pack/delta-base-cache.ts';
import { closeRead, FilePool } from '../pack/file-pool.ts';
import type { MultiPackIndex } from '../pack/multi-pack-index.ts';
import { openPack, type PackFile } from '../pack/pack-file.ts';
import { isUnusable, PackIndex } from '../pack/pack-index.ts';
import { loosePath } from './loose.ts';
import { openMultiPackIndexes } from './multi-pack-indexes.ts';
import { LOOSE, ObjectReader } from './object-reader.ts';
import { ObjectChecksum } from './object-checksum.ts';
import { findReplacement, NO_REPLACEMENTS, type Replacements } from './replacements.ts';

export { LOOSE } from './object-reader.ts';

/**
 * The main thread reads trees, commits, tags, attribute files and link targets whole, outside of the memory budget. What takes more than
 * this is none of them: the tree of the most entries that a checkout may have (tables.ts) would.
 */
const MOST_WHOLE_BYTES = 2 ** 30;
/**
 * Packs that stay open for all threads, which also keeps them readable when another process removes them. Others are opened by each
 * thread for itself. With two workers and what Node needs, 96 open files are enough.
 */
const SHARED_PACKS = 24;
/** Packs whose objects are counted for a guess at the size of the tables. */
const COUNTED_PACKS = 16;

interface Pack {
  /** Path without ending. */
  readonly base: string;
  index: PackIndex | null;
  /** Place in the list that workers get; -1 until an object is found in this pack. */
  number: number;
  /** Its files are not there any more, or do not fit each other. */
  unusable: boolean;
}

interface Layer {
  readonly index: MultiPackIndex;
  /** By the layer's numbers; null for one that is not there. */
  readonly packs: readonly (Pack | null)[];
}

export interface DatabaseOptions {
  readonly replacements?: Replacements;
  /** Hash each object that is read whole, and compare. */
  readonly verify?: boolean;
}

export class ObjectDatabase {
  /** Set by `find`: where the object is; `pack` is LOOSE for one that may be in a file of its own, `offset` then the directory. */
  pack = 0;
  offset = 0;
  readonly directories: readonly string[];
  readonly format: ObjectFormat;
  readonly replacements: Replacements;
  readonly #warn: (line: string) => void;
  /** What was told already: directories are read more than once. */
  readonly #warned = new Set<string>();
  /** Whether what is read is hashed and compared. */
  readonly verify: boolean;
  readonly #pool = new FilePool();
  /** By path without ending. */
  readonly #known = new Map<string, Pack>();
  #layers: Layer[] = [];
  /** Packs that no multi-pack index covers, the one that had the last object first. */
  #byUse: Pack[] = [];
  /** The packs that objects were found in, by number. */
  readonly #numbered: PackFile[] = [];
  /** Places of objects that could not be read: "pack offset". */
  readonly #bad = new Set<string>();
  /** Objects of which no copy could be read, by hexadecimal id, and why: the first time says more than "missing" the next. */
  readonly #unreadable = new Map<string, CheckoutError>();
  #loose = false;
  /** What the directories looked like when they were read. */
  #stamp = '';
  #reader: ObjectReader | null = null;
  /** The object that is meant: itself, or its replacement. */
  #oid: Bytes = new Uint8Array(0);
  #oidAt = 0;

  private constructor(
    directories: readonly string[],
    format: ObjectFormat,
    warn: (line: string) => void,
    options: DatabaseOptions,
  ) {
    this.directories = directories;
    this.format = format;
    this.#warn = (line) => {
      if (this.#warned.size === this.#warned.add(line).size) return;
      warn(line);
    };
    this.replacements = options.replacements ?? NO_REPLACEMENTS;
    this.verify = options.verify === true;
  }

  /**
   * Lists the packs of the object directories. A pack that turns out not to fit its index is told to `warn` and left out: its
   * objects may be elsewhere.
   * @throws CheckoutError io
   */
  static open(
    directories: readonly string[],
    format: ObjectFormat,
    warn: (line: string) => void,
    options: DatabaseOptions = {},
  ): ObjectDatabase {
    const odb = new ObjectDatabase(directories, format, warn, options);
    try {
      odb.#stamp = odb.#stampNow();
      odb.#scan();
      // At once, so that it is not found out in the middle of a checkout.
      if (odb.#known.size > MAX_PACKS) throw tooManyPacks();
    } catch (error) {
      odb.close();
      throw error;
    }
    return odb;
  }

  /** The packs that objects were found in so far, for workers; grows. */
  get packs(): readonly PackFile[] {
    return this.#numbered;
  }

  /** About how many objects the packs hold; a guess where there are many packs. */
  get packedObjects(): number {
    let sum = 0;
    for (const { index } of this.#layers) sum += index.count;
    for (const pack of this.#byUse.slice(0, COUNTED_PACKS)) sum += this.#indexOf(pack)?.count ?? 0;
    return sum;
  }

  close(): void {
    this.#reader?.close();
    for (const { fd } of this.#numbered) if (fd >= 0) closeRead(fd);
    for (const { index } of this.#layers) index.close();
    for (const pack of this.#known.values()) pack.index?.close();
    this.#pool.closeAll();
  }

  /**
   * Finds where an object is, or what replaces it. Sets `pack` and `offset`.
   * @returns false when no pack has it and no loose object can exist
   * @throws CheckoutError io, unsupported for more packs than can be numbered
   */
  find(oid: Bytes, oidAt: number): boolean {
    this.#mean(oid, oidAt);
    if (this.#findPacked()) return true;
    this.pack = LOOSE;
    this.offset = 0;
    return this.#loose;
  }

  /**
   * Finds another place of an object, after it could not be read at one. Reads the directories again before it gives up. Sets
   * `pack` and `offset`.
   * @param pack where it could not be read; -1 when it was not found at all
   * @returns false when there is no other
   */
  findAgain(oid: Bytes, oidAt: number, pack: number, offset: number): boolean {
    this.#mean(oid, oidAt);
    if (pack >= 0 && pack !== LOOSE) this.#bad.add(`${pack} ${offset}`);
    if (this.#findPacked()) return true;
    if (this.#findLoose(pack === LOOSE ? offset + 1 : 0)) return true;
    this.#doubtLayers();
    if (this.#findPacked()) return true;
    if (!this.rescan()) return false;
    return this.#findPacked() || this.#findLoose(pack === LOOSE ? offset + 1 : 0);
  }

  /** Whether another object is read in place of this one. */
  isReplaced(oid: Bytes, oidAt: number): boolean {
    return this.replacements.count > 0 && findReplacement(this.replacements, oid, oidAt) >= 0;
  }

  /**
   * The id of an object, or of what replaces it, when it is not there: also not as a loose one, but maybe in a pack that came
   * since the directories were read. Null when it is there.
   */
  absent(oid: Bytes, oidAt: number): string | null {
    this.#mean(oid, oidAt);
    return this.#findPacked() || this.#findLoose(0) ? null : oidToHex(this.#oid, this.#oidAt, this.format.oidBytes);
  }

  /**
   * Reads the directories again, if they have changed: packs come and go while another process repacks or fetches.
   * @returns whether anything may be different
   */
  rescan(): boolean {
    const stamp = this.#stampNow();
    if (stamp === this.#stamp) return false;
    this.#stamp = stamp;
    this.#scan();
    return true;
  }

  /** The main thread's reader. */
  get reader(): ObjectReader {
    return (this.#reader ??= new ObjectReader(this.#numbered, this.directories, this.format, true, this.#pool));
  }

  /**
   * Gives back what reading has left in memory: a large base is kept for the next delta on it, in no budget. To be called
   * before others need the memory.
   */
  releaseMemory(): void {
    this.#reader?.finish();
    this.#reader?.dropRetained();
  }

  /**
   * Reads a whole object, or what replaces it; the bytes are valid until the next read.
   * @returns its bytes, its type is then `reader.type`
   * @throws CheckoutError object-missing, object-corrupt, memory
   */
  read(oid: Bytes, oidAt = 0): Bytes {
    if (!this.find(oid, oidAt) && !this.findAgain(oid, oidAt, -1, 0)) {
      throw this.#unreadable.get(oidToHex(oid, oidAt, this.format.oidBytes)) ?? missing(oid, oidAt, this.format);
    }
    let first: CheckoutError | null = null;
    for (;;) {
      try {
        return this.#readHere(oid, oidAt);
      } catch (error) {
        if (!(error instanceof CheckoutError) || error.code === 'memory') throw error;
        first ??= error;
        const offset = this.pack === LOOSE ? this.reader.looseDirectory : this.offset;
        if (this.findAgain(oid, oidAt, this.pack, offset)) continue;
        const hex = oidToHex(oid, oidAt, this.format.oidBytes);
        const why = this.#unreadable.get(hex) ?? first;
        this.#unreadable.set(hex, why);
        throw why;
      }
    }
  }

  /** Reads the object at `pack` and `offset`. */
  #readHere(oid: Bytes, oidAt: number): Bytes {
    const { reader } = this;
    // What was read before is not valid any more; a large one would stay in memory until somebody finishes it.
    reader.finish();
    if (this.pack === LOOSE) {
      if (!reader.openLoose(this.#oid, this.#oidAt, this.offset)) throw missing(oid, oidAt, this.format);
    } else {
      reader.open(this.pack, this.offset, this.#oid, this.#oidAt);
    }
    let bytes = reader.readSmall();
    if (bytes === null) {
      reader.measure();
      if (reader.readBytes > MOST_WHOLE_BYTES) {
        const hex = oidToHex(oid, oidAt, this.format.oidBytes);
        throw new CheckoutError('memory', `object ${hex} takes ${reader.readBytes} bytes, more than are read whole`, {
          oid: hex,
        });
      }
      bytes = reader.read();
    }
    if (this.verify)
      new ObjectChecksum(this.format, reader.type, bytes.length).update(bytes).check(this.#oid, this.#oidAt);
    return bytes;
  }

  /** Makes an object, or what replaces it, the one that is looked for. */
  #mean(oid: Bytes, oidAt: number): void {
    const at = this.replacements.count === 0 ? -1 : findReplacement(this.replacements, oid, oidAt);
    this.#oid = at < 0 ? oid : this.replacements.to;
    this.#oidAt = at < 0 ? oidAt : at;
  }

  #findPacked(): boolean {
    return this.#findInLayers() || this.#findInPacks();
  }

  #findInLayers(): boolean {
    for (const { index, packs } of this.#layers) {
      try {
        if (!index.find(this.#oid, this.#oidAt)) continue;
      } catch (error) {
        if (!isUnusable(error)) throw error;
        this.#warn(`${error.message}; it is ignored, as each pack has an index of its own`);
        this.#doubtLayers();
        return false;
      }
      const pack = packs[index.pack] ?? null;
      if (pack !== null && this.#take(pack, index.offset)) return true;
    }
    return false;
  }

  #findInPacks(): boolean {
    const byUse = this.#byUse;
    for (let i = 0; i < byUse.length; i++) {
      const pack = byUse[i];
      if (pack === undefined) break;
      const index = this.#indexOf(pack);
      if (index === null) continue;
      let offset: number;
      try {
        offset = index.find(this.#oid, this.#oidAt);
      } catch (error) {
        this.#leaveOut(pack, error);
        continue;
      }
      if (offset < 0 || !this.#take(pack, offset)) continue;
      if (i > 0) {
        // Objects that are used together lie together: try this pack first next time.
        byUse.splice(i, 1);
        byUse.unshift(pack);
      }
      return true;
    }
    return false;
  }

  /** Sets the place, unless the pack cannot be opened or the object could not be read there before. */
  #take(pack: Pack, offset: number): boolean {
    if (pack.number < 0 && !this.#number(pack)) return false;
    if (this.#bad.size > 0 && this.#bad.has(`${pack.number} ${offset}`)) return false;
    this.pack = pack.number;
    this.offset = offset;
    return true;
  }

  #findLoose(first: number): boolean {
    if (!this.#loose) return false;
    const hex = oidToHex(this.#oid, this.#oidAt, this.format.oidBytes);
    const { directories } = this;
    for (let i = first; i < directories.length; i++) {
      if (!existsSync(loosePath(directories[i] ?? '', hex))) continue;
      this.pack = LOOSE;
      this.offset = i;
      return true;
    }
    return false;
  }

  #indexOf(pack: Pack): PackIndex | null {
    if (pack.index !== null || pack.unusable) return pack.index;
    try {
      return (pack.index = PackIndex.open(`${pack.base}.idx`, this.format, this.#pool));
    } catch (error) {
      this.#leaveOut(pack, error);
      return null;
    }
  }

  /** Opens a pack that an object was found in, and gives it a number; false when it cannot be used. */
  #number(pack: Pack): boolean {
    const index = this.#indexOf(pack);
    if (index === null) return false;
    if (this.#numbered.length >= MAX_PACKS) {
      throw tooManyPacks();
    }
    try {
      let file = this.#openPack(pack.base, index);
      if (this.#numbered.length >= SHARED_PACKS) {
        closeRead(file.fd);
        file = { ...file, fd: -1 };
      }
      pack.number = this.#numbered.push(file) - 1;
      return true;
    } catch (error) {
      this.#leaveOut(pack, error);
      return false;
    }
  }

  #openPack(base: string, index: PackIndex): PackFile {
    try {
      return openPack(`${base}.pack`, `${base}.idx`, index);
    } catch (error) {
      if (isUnusable(error)) throw error;
      // No more files may be open. Those of the pool can be opened again.
      this.#pool.closeAll();
      return openPack(`${base}.pack`, `${base}.idx`, index);
    }
  }

  /** A pack that cannot be used is told, unless it has merely gone: a concurrent repack is no damage. */
  #leaveOut(pack: Pack, error: unknown): void {
    if (!isUnusable(error)) throw error;
    pack.unusable = true;
    pack.index?.close();
    pack.index = null;
    this.#byUse = this.#byUse.filter((other) => other !== pack);
    if (error.subject.errno !== 'ENOENT') this.#warn(error.message);
  }

  /** Looks into each pack's own index from now on: the multi-pack index is damaged, or does not lead to an object. */
  #doubtLayers(): void {
    if (this.#layers.length === 0) return;
    for (const { index } of this.#layers) index.close();
    this.#layers = [];
    this.#byUse = this.#usable();
  }

  #usable(): Pack[] {
    return [...this.#known.values()].filter((pack) => !pack.unusable);
  }

  /** Reads the directories: what is there, and what the multi-pack indexes cover. */
  #scan(): void {
    for (const { index } of this.#layers) index.close();
    this.#layers = [];
    this.#loose = this.directories.some((directory) => hasLooseObjects(directory));
    const there = new Set<string>();
    const covered = new Set<Pack>();
    for (const directory of this.directories) {
      for (const base of packBases(directory)) {
        there.add(base);
        const known = this.#known.get(base);
        // One of the name of a pack that has gone is another pack.
        if (known === undefined || known.unusable) {
          this.#known.set(base, { base, index: null, number: -1, unusable: false });
        }
      }
      for (const index of openMultiPackIndexes(directory, this.format, this.#pool, this.#warn)) {
        const packs = index.packNames.map((name) => this.#known.get(join(directory, 'pack', name)) ?? null);
        this.#layers.push({ index, packs });
        for (const pack of packs) if (pack !== null) covered.add(pack);
      }
    }
    for (const pack of this.#known.values()) {
      // One that is open for all threads can be read to the end.
      if (there.has(pack.base) || (this.#numbered[pack.number]?.fd ?? -1) >= 0) continue;
      pack.unusable = true;
      pack.index?.close();
      pack.index = null;
    }
    this.#byUse = this.#usable().filter((pack) => !covered.has(pack));
  }

  /** Times and sizes of the directories that change when packs or first loose objects come or go. */
  #stampNow(): string {
    let stamp = '';
    for (const directory of this.directories) {
      for (const path of [directory, join(directory, 'pack'), join(directory, 'pack', 'multi-pack-index.d')]) {
        let stat: BigIntStats | undefined;
        try {
          stat = statSync(path, { bigint: true, throwIfNoEntry: false });
        } catch (error) {
          throw ioError('look at', path, error);
        }
        if (stat === undefined) continue;
        // A directory that was changed a moment ago may be changed again within the same tick of the file system's clock.
        const young = Date.now() - Number(stat.mtimeMs) < YOUNG_MS;
        stamp += `${path} ${stat.mtimeNs}${young ? ` ${performance.now()}` : ''}\n`;
      }
    }
    return stamp;
  }
}

/** File systems tick every few milliseconds; two seconds is the worst known (FAT). */
const YOUNG_MS = 2000;

function tooManyPacks(): CheckoutError {
  return new CheckoutError('unsupported', `the repository has more than ${MAX_PACKS} packs`);
}

export function missing(oid: Bytes, oidAt: number, format: ObjectFormat): CheckoutError {
  const hex = oidToHex(oid, oidAt, format.oidBytes);
  return new CheckoutError('object-missing', `object ${hex} is missing`, { oid: hex });
}

/** Paths without ending of the packs that have both files, in a stable order. */
function packBases(objectDirectory: string): string[] {
  const directory = join(objectDirectory, 'pack');
  let names: string[];
  try {
    names = readdirSync(directory);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return [];
    throw ioError('read', directory, error);
  }
  const packs = new Set(names.filter((name) => name.endsWith('.pack')));
  return names
    .filter((name) => name.endsWith('.idx') && packs.has(`${name.slice(0, -4)}.pack`))
    .map((name) => join(directory, name.slice(0, -4)))
    .sort();
}

function hasLooseObjects(objectDirectory: string): boolean {
  try {
    return readdirSync(objectDirectory).some((name) => /^[0-9a-f]{2}$/.test(name));
  } catch (error) {
    throw ioError('read', objectDirectory, error);
  }
}
