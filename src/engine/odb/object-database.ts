/**
 * Finds objects: packs first, then loose ones, in the repository's own object directory and then in each alternate. The main
 * thread owns the database; workers get places (a pack and an offset) and read by themselves.
 */
import { closeSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Bytes } from '../bytes.ts';
import { CheckoutError, errnoOf, ioError } from '../errors.ts';
import { oidToHex, type ObjectFormat } from '../oid.ts';
import { openPack, type PackFile } from '../pack/pack-file.ts';
import { PackIndex } from '../pack/pack-index.ts';
import { LOOSE, ObjectReader } from './object-reader.ts';

export { LOOSE } from './object-reader.ts';

/**
 * The main thread reads trees, commits, tags, attribute files and link targets whole, outside of the memory budget. What takes more than
 * this is none of them: the tree of the most entries that a checkout may have (tables.ts) would.
 */
const MOST_WHOLE_BYTES = 2 ** 30;
/** More packs than this are left to git: a place has 16 bits for the pack's number. */
const MAX_PACKS = 500;

interface OpenPack {
  readonly file: PackFile;
  readonly index: PackIndex;
  readonly number: number;
}

export class ObjectDatabase {
  /** Set by `find`: where the object is; `pack` is LOOSE for one that may be in a file of its own. */
  pack = 0;
  offset = 0;
  readonly directories: readonly string[];
  readonly format: ObjectFormat;
  readonly #packs: PackFile[] = [];
  readonly #byUse: OpenPack[] = [];
  readonly #indexes: PackIndex[] = [];
  readonly #loose: boolean;
  #reader: ObjectReader | null = null;

  private constructor(directories: readonly string[], format: ObjectFormat, packs: OpenPack[], loose: boolean) {
    this.directories = directories;
    this.format = format;
    this.#loose = loose;
    for (const pack of packs) {
      this.#packs.push(pack.file);
      this.#indexes.push(pack.index);
      this.#byUse.push(pack);
    }
  }

  /**
   * Opens all packs of the object directories. A pack that does not fit its index is told to `warn` and left out: its
   * objects may be elsewhere.
   * @throws CheckoutError unsupported for more packs than can be numbered, io
   */
  static open(directories: readonly string[], format: ObjectFormat, warn: (line: string) => void): ObjectDatabase {
    const packs: OpenPack[] = [];
    const names = new Set<string>();
    let loose = false;
    try {
      for (const directory of directories) {
        loose ||= hasLooseObjects(directory);
        for (const base of packBases(directory)) {
          // The same pack in an alternate is the same pack.
          const name = base.slice(base.lastIndexOf('/') + 1);
          if (names.has(name)) continue;
          if (packs.length >= MAX_PACKS) {
            throw new CheckoutError('unsupported', `the repository has more than ${MAX_PACKS} packs`);
          }
          try {
            const index = PackIndex.open(`${base}.idx`, format);
            try {
              packs.push({ file: openPack(`${base}.pack`, `${base}.idx`, index), index, number: packs.length });
              names.add(name);
            } catch (error) {
              index.close();
              throw error;
            }
          } catch (error) {
            if (!(error instanceof CheckoutError)) throw error;
            if (error.subject.errno === 'EMFILE' || error.subject.errno === 'ENFILE') throw error;
            warn(error.message);
          }
        }
      }
    } catch (error) {
      for (const pack of packs) {
        closeSync(pack.file.fd);
        pack.index.close();
      }
      throw error;
    }
    return new ObjectDatabase(directories, format, packs, loose);
  }

  /** The open packs, for workers. */
  get packs(): readonly PackFile[] {
    return this.#packs;
  }

  /** How many objects the packs hold, those in several packs counted again. */
  get packedObjects(): number {
    return this.#indexes.reduce((sum, index) => sum + index.count, 0);
  }

  close(): void {
    this.#reader?.close();
    for (const { fd } of this.#packs) closeQuietly(() => closeSync(fd));
    for (const index of this.#indexes) closeQuietly(() => index.close());
  }

  /**
   * Finds where an object is. Sets `pack` and `offset`.
   * @returns false when no pack has it and no loose object can exist
   */
  find(oid: Bytes, oidAt: number): boolean {
    for (let i = 0; i < this.#byUse.length; i++) {
      const candidate = this.#byUse[i];
      if (candidate === undefined) break;
      const offset = candidate.index.find(oid, oidAt);
      if (offset < 0) continue;
      this.pack = candidate.number;
      this.offset = offset;
      if (i > 0) {
        // Objects that are used together lie together: try this pack first next time.
        this.#byUse.splice(i, 1);
        this.#byUse.unshift(candidate);
      }
      return true;
    }
    this.pack = LOOSE;
    this.offset = 0;
    return this.#loose;
  }

  /** The main thread's reader. */
  get reader(): ObjectReader {
    return (this.#reader ??= new ObjectReader(this.#packs, this.directories, this.format));
  }

  /**
   * Reads a whole object; the bytes are valid until the next read.
   * @returns its bytes, its type is then `reader.type`
   * @throws CheckoutError object-missing, object-corrupt, memory
   */
  read(oid: Bytes, oidAt = 0): Bytes {
    if (!this.find(oid, oidAt)) throw missing(oid, oidAt, this.format);
    const { reader } = this;
    // What was read before is not valid any more; a large one would stay in memory until somebody finishes it.
    reader.finish();
    reader.open(this.pack, this.offset, oid, oidAt);
    const small = reader.readSmall();
    if (small !== null) return small;
    reader.measure();
    if (reader.readBytes > MOST_WHOLE_BYTES) {
      const hex = oidToHex(oid, oidAt, this.format.oidBytes);
      throw new CheckoutError('memory', `object ${hex} takes ${reader.readBytes} bytes, more than are read whole`, {
        oid: hex,
      });
    }
    return reader.read();
  }
}

/** Of what was only read nothing is lost when closing it fails, and the run may have been right. */
function closeQuietly(close: () => void): void {
  try {
    close();
  } catch {
    // See above.
  }
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
    .map((name) => `${directory}/${name.slice(0, -4)}`)
    .sort();
}

function hasLooseObjects(objectDirectory: string): boolean {
  try {
    return readdirSync(objectDirectory).some((name) => /^[0-9a-f]{2}$/.test(name));
  } catch (error) {
    throw ioError('read', objectDirectory, error);
  }
}
