/**
 * One multi-pack index file (gitformat-pack, versions 1 and 2): which of many packs holds an object, and where, by one search. A layer
 * of an incremental chain is such a file as well, its pack numbers being its own.
 *
 * Every number in it is held against the size of the file before it is used; nothing but the names of packs is held in memory.
 */
import type { Bytes } from '../bytes.ts';
import type { ObjectFormat } from '../oid.ts';
import { BlockFile } from './block-file.ts';
import type { FilePool } from './file-pool.ts';
import { FANOUT_BYTES, OidTable, parseFanout } from './oid-table.ts';
import { readLargeOffset } from './pack-index.ts';

const HEADER_BYTES = 12;
const CHUNK_ROW_BYTES = 12;
const SIGNATURE = 0x4d494458; // "MIDX"
const PACK_NAMES = 0x504e414d; // "PNAM"
const FANOUT = 0x4f494446; // "OIDF"
const OIDS = 0x4f49444c; // "OIDL"
const OFFSETS = 0x4f4f4646; // "OOFF"
const LARGE_OFFSETS = 0x4c4f4646; // "LOFF"
/** A row of OOFF: number of the pack, offset. */
const OFFSET_ROW_BYTES = 8;
/** The names of 300,000 packs; more is no list of packs. */
const MOST_NAME_BYTES = 16 << 20;
/** What git numbers the hash functions in this file. */
const HASH_NUMBERS: Readonly<Record<ObjectFormat['name'], number>> = { sha1: 1, sha256: 2 };

interface Chunk {
  readonly at: number;
  readonly size: number;
}

export class MultiPackIndex {
  /** Names of the packs without ending, by number. */
  readonly packNames: readonly string[];
  /** Objects in this file. */
  readonly count: number;
  /** Set by `find`: number of the pack, and offset in it. */
  pack = 0;
  offset = 0;
  readonly #file: BlockFile;
  readonly #oidBytes: number;
  readonly #oids: OidTable;
  readonly #offsets: Chunk;
  readonly #large: Chunk;

  private constructor(file: BlockFile, { name, oidBytes }: ObjectFormat) {
    this.#oidBytes = oidBytes;
    this.#file = file;
    const { size } = file;
    if (size < HEADER_BYTES + CHUNK_ROW_BYTES + oidBytes) throw file.corrupt('is too small');
    const head = Buffer.alloc(HEADER_BYTES);
    file.read(head, 0);
    if (head.readUInt32BE(0) !== SIGNATURE) throw file.corrupt('does not begin with MIDX');
    const version = head[4] ?? 0;
    if (version !== 1 && version !== 2) throw file.corrupt(`has version ${version}`);
    if (head[5] !== HASH_NUMBERS[name]) throw file.corrupt('is made for object ids of another kind');
    if (head[7] !== 0) throw file.corrupt('builds on files that are not named');
    const chunks = readChunks(file, head[6] ?? 0, file.size - oidBytes);
    const chunk = (id: number, bytes?: number): Chunk => {
      const found = chunks.get(id);
      if (found === undefined) throw file.corrupt('lacks one of its tables');
      if (bytes !== undefined && found.size !== bytes) throw file.corrupt('has a table of a wrong size');
      return found;
    };
    const fanoutChunk = chunk(FANOUT, FANOUT_BYTES);
    const fanoutBytes = Buffer.alloc(FANOUT_BYTES);
    file.read(fanoutBytes, fanoutChunk.at);
    const fanout = parseFanout(file, fanoutBytes, 0);
    const count = fanout[255] ?? 0;
    this.count = count;
    this.#oids = new OidTable(file, fanout, chunk(OIDS, count * oidBytes).at, oidBytes, oidBytes);
    this.#offsets = chunk(OFFSETS, count * OFFSET_ROW_BYTES);
    this.#large = chunks.get(LARGE_OFFSETS) ?? { at: 0, size: 0 };
    this.packNames = readPackNames(file, chunk(PACK_NAMES), head.readUInt32BE(8));
  }

  /**
   * Opens a multi-pack index and checks its shape (not its checksum, as git).
   * @throws CheckoutError object-corrupt, io
   */
  static open(path: string, format: ObjectFormat, pool: FilePool): MultiPackIndex {
    const file = new BlockFile(path, 'multi-pack index', pool);
    try {
      return new MultiPackIndex(file, format);
    } catch (error) {
      file.close();
      throw error;
    }
  }

  close(): void {
    this.#file.close();
  }

  /** The file's own checksum as it states it; the name of a layer in a chain. */
  checksum(): Buffer {
    const checksum = Buffer.alloc(this.#oidBytes);
    this.#file.read(checksum, this.#file.size - this.#oidBytes);
    return checksum;
  }

  /**
   * Finds an object. Sets `pack` and `offset`.
   * @throws CheckoutError object-corrupt, io
   */
  find(oid: Bytes, oidAt: number): boolean {
    const position = this.#oids.find(oid, oidAt);
    if (position < 0) return false;
    const file = this.#file;
    file.locate(this.#offsets.at + position * OFFSET_ROW_BYTES, OFFSET_ROW_BYTES);
    const pack = file.buffer.readUInt32BE(file.at);
    const word = file.buffer.readUInt32BE(file.at + 4);
    if (pack >= this.packNames.length) throw file.corrupt('names a pack that it does not list');
    this.pack = pack;
    // Without the table of large offsets all 32 bits are an offset.
    if (word < 0x80000000 || this.#large.size === 0) {
      this.offset = word;
      return true;
    }
    const at = (word - 0x80000000) * 8;
    if (at + 8 > this.#large.size) throw file.corrupt('points past its table of large offsets');
    this.offset = readLargeOffset(file, this.#large.at + at);
    return true;
  }
}

/** The table of contents: rows of an id and where the chunk begins; the next row's beginning is its end, `most` the last one's. */
function readChunks(file: BlockFile, count: number, most: number): Map<number, Chunk> {
  const rows = Buffer.alloc((count + 1) * CHUNK_ROW_BYTES);
  const least = HEADER_BYTES + rows.length;
  if (least > most) throw file.corrupt('is too small');
  file.read(rows, HEADER_BYTES);
  const position = (row: number): number => {
    const high = rows.readUInt32BE(row * CHUNK_ROW_BYTES + 4);
    // What does not fit 53 bits is past every file.
    return high * 0x100000000 + rows.readUInt32BE(row * CHUNK_ROW_BYTES + 8);
  };
  const chunks = new Map<number, Chunk>();
  for (let row = 0; row < count; row++) {
    const id = rows.readUInt32BE(row * CHUNK_ROW_BYTES);
    const at = position(row);
    const end = position(row + 1);
    if (id === 0 || chunks.has(id) || at < least || end < at || end > most) {
      throw file.corrupt('has an invalid table of contents');
    }
    chunks.set(id, { at, size: end - at });
  }
  if (rows.readUInt32BE(count * CHUNK_ROW_BYTES) !== 0) throw file.corrupt('has an invalid table of contents');
  return chunks;
}

/** The names end in NUL; what fills the chunk up to a multiple of 4 bytes is NUL as well. */
function readPackNames(file: BlockFile, chunk: Chunk, count: number): string[] {
  if (chunk.size > MOST_NAME_BYTES) throw file.corrupt('has too many names of packs');
  const bytes = Buffer.alloc(chunk.size);
  file.read(bytes, chunk.at);
  const names: string[] = [];
  for (let at = 0; names.length < count;) {
    const end = bytes.indexOf(0, at);
    if (end < 0) throw file.corrupt('lacks names of packs');
    const name = bytes.toString('utf8', at, end);
    // A plain name in the same folder; anything else leads out of it.
    if (!/^[^/\\]+\.idx$/.test(name)) throw file.corrupt('has an invalid name of a pack');
    names.push(name.slice(0, -'.idx'.length));
    at = end + 1;
  }
  return names;
}
