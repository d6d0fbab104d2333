/**
 * A pack's index (.idx, gitformat-pack versions 1 and 2): which objects the pack holds and where.
 */
import type { Bytes } from '../bytes.ts';
import { CheckoutError } from '../errors.ts';
import type { ObjectFormat } from '../oid.ts';
import { BlockFile } from './block-file.ts';
import { FilePool } from './file-pool.ts';
import { FANOUT_BYTES, OidTable, parseFanout } from './oid-table.ts';

const HEADER_V2_BYTES = 8;
const SIGNATURE_V2 = 0xff744f63;

/** A 64-bit offset: `at` of the bytes. Offsets are exact up to 2^53. */
export function readLargeOffset(file: BlockFile, at: number): number {
  file.locate(at, 8);
  const high = file.buffer.readUInt32BE(file.at);
  if (high >= 0x200000) throw file.corrupt('has an offset out of range');
  return high * 0x100000000 + file.buffer.readUInt32BE(file.at + 4);
}

export class PackIndex {
  /** Objects in the pack. */
  readonly count: number;
  /** Length of an id. */
  readonly oidBytes: number;
  readonly #file: BlockFile;
  readonly #version: 1 | 2;
  readonly #oids: OidTable;

  private constructor(file: BlockFile, oidBytes: number) {
    this.oidBytes = oidBytes;
    this.#file = file;
    const { size } = file;
    const head = Buffer.alloc(Math.min(size, HEADER_V2_BYTES + FANOUT_BYTES));
    file.read(head, 0);
    if (size < FANOUT_BYTES + 2 * oidBytes) throw file.corrupt('is too small');
    this.#version = head.readUInt32BE(0) === SIGNATURE_V2 ? 2 : 1;
    if (this.#version === 2 && head.readUInt32BE(4) !== 2) throw file.corrupt('has an unknown version');
    const fanoutAt = this.#version === 2 ? HEADER_V2_BYTES : 0;
    if (size < fanoutAt + FANOUT_BYTES + 2 * oidBytes) throw file.corrupt('is too small');
    const fanout = parseFanout(file, head, fanoutAt);
    const tablesAt = fanoutAt + FANOUT_BYTES;
    this.#oids =
      this.#version === 2
        ? new OidTable(file, fanout, tablesAt, oidBytes, oidBytes)
        : new OidTable(file, fanout, tablesAt + 4, oidBytes + 4, oidBytes);
    this.count = this.#oids.count;
    const fixed = tablesAt + 2 * oidBytes;
    if (this.#version === 1) {
      if (size !== fixed + this.count * (4 + oidBytes)) throw file.corrupt('has a wrong size');
    } else {
      const least = fixed + this.count * (oidBytes + 4 + 4);
      const most = least + Math.max(0, this.count - 1) * 8;
      if (size < least || size > most) throw file.corrupt('has a wrong size');
    }
  }

  /**
   * Opens an index file and checks its shape (not its checksum, as git). Nothing in the file names the format of its ids, but
   * a file of the one format never has a size that the other allows. The tables are read when an object is looked for.
   * @throws CheckoutError object-corrupt, io
   */
  static open(path: string, format: ObjectFormat, pool = new FilePool(1)): PackIndex {
    const file = new BlockFile(path, 'pack index', pool);
    try {
      return new PackIndex(file, format.oidBytes);
    } catch (error) {
      file.close();
      throw error;
    }
  }

  close(): void {
    this.#file.close();
  }

  /** The pack's checksum as this index states it: the last but one hash of the file. */
  packChecksum(): Buffer {
    const checksum = Buffer.alloc(this.oidBytes);
    this.#file.read(checksum, this.#file.size - 2 * this.oidBytes);
    return checksum;
  }

  /**
   * Finds an object.
   * @param oid bytes that hold the id from `oidAt`
   * @returns its offset in the pack, or -1
   * @throws CheckoutError object-corrupt, io
   */
  find(oid: Bytes, oidAt: number): number {
    const position = this.#oids.find(oid, oidAt);
    return position < 0 ? -1 : this.offsetAt(position);
  }

  /** Offset in the pack of the object at a position of the sorted table. */
  offsetAt(position: number): number {
    const file = this.#file;
    if (this.#version === 1) {
      file.locate(FANOUT_BYTES + position * (4 + this.oidBytes), 4);
      return file.buffer.readUInt32BE(file.at);
    }
    const offsets = HEADER_V2_BYTES + FANOUT_BYTES + this.count * (this.oidBytes + 4);
    file.locate(offsets + position * 4, 4);
    const word = file.buffer.readUInt32BE(file.at);
    if (word < 0x80000000) return word;
    const largeAt = offsets + this.count * 4 + (word - 0x80000000) * 8;
    if (largeAt + 8 > file.size - 2 * this.oidBytes) throw file.corrupt('points past its table of large offsets');
    return readLargeOffset(file, largeAt);
  }
}

/** Whether a pack, or its index, cannot be used for what it is rather than for what the process has no room for. */
export function isUnusable(error: unknown): error is CheckoutError {
  return error instanceof CheckoutError && error.subject.errno !== 'EMFILE' && error.subject.errno !== 'ENFILE';
}
