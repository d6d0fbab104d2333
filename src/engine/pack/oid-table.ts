/**
 * The sorted table of object ids that pack indexes and multi-pack indexes have, with its fan-out table: one search for both.
 */
import type { Bytes } from '../bytes.ts';
import type { BlockFile } from './block-file.ts';

export const FANOUT_BYTES = 1024;

/**
 * Reads a fan-out table: how many ids begin with a byte up to each value.
 * @throws CheckoutError object-corrupt when it is not in order
 */
export function parseFanout(file: BlockFile, bytes: Buffer, at: number): Uint32Array {
  const fanout = new Uint32Array(256);
  let previous = 0;
  for (let i = 0; i < 256; i++) {
    const value = bytes.readUInt32BE(at + 4 * i);
    if (value < previous) throw file.corrupt('has a fan-out table out of order');
    fanout[i] = previous = value;
  }
  return fanout;
}

export class OidTable {
  readonly count: number;
  readonly #file: BlockFile;
  readonly #fanout: Uint32Array;
  readonly #start: number;
  readonly #stride: number;
  readonly #oidBytes: number;

  /** The ids are `stride` bytes apart, the first at `start` of the file. */
  constructor(file: BlockFile, fanout: Uint32Array, start: number, stride: number, oidBytes: number) {
    this.#oidBytes = oidBytes;
    this.count = fanout[255] ?? 0;
    this.#file = file;
    this.#fanout = fanout;
    this.#start = start;
    this.#stride = stride;
  }

  /**
   * Finds an id.
   * @param oid bytes that hold the id from `oidAt`
   * @returns its position in the table, or -1
   */
  find(oid: Bytes, oidAt: number): number {
    const first = oid[oidAt] ?? 0;
    let low = first === 0 ? 0 : (this.#fanout[first - 1] ?? 0);
    let high = this.#fanout[first] ?? 0;
    const bucketLow = low;
    const bucketSize = high - low;
    // Ids are uniformly distributed, so the first probe goes where the next 24 bits say; then halve.
    let probe =
      bucketLow +
      Math.floor(
        (bucketSize * (((oid[oidAt + 1] ?? 0) << 16) | ((oid[oidAt + 2] ?? 0) << 8) | (oid[oidAt + 3] ?? 0))) /
          0x1000000,
      );
    while (low < high) {
      const order = this.#compareAt(probe, oid, oidAt);
      if (order === 0) return probe;
      if (order < 0) low = probe + 1;
      else high = probe;
      probe = (low + high) >>> 1;
    }
    return -1;
  }

  /** Orders the id at a position relative to a wanted id. */
  #compareAt(position: number, oid: Bytes, oidAt: number): number {
    const file = this.#file;
    const oidBytes = this.#oidBytes;
    file.locate(this.#start + position * this.#stride, oidBytes);
    const { buffer, at } = file;
    for (let i = 0; i < oidBytes; i++) {
      const difference = (buffer[at + i] ?? 0) - (oid[oidAt + i] ?? 0);
      if (difference !== 0) return difference;
    }
    return 0;
  }
}
