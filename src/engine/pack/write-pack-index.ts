/**
 * Writes the index of a pack (gitformat-pack, "Version 2 pack-*.idx files") and its reverse index ("pack-*.rev files") from what was found
 * out about its objects.
 */
import { createHash } from 'node:crypto';
import type { Bytes } from '../bytes.ts';
import { FANOUT_BYTES } from './oid-table.ts';
import type { PackObjects } from './pack-objects.ts';

const INDEX_SIGNATURE = 0xff744f63;
const INDEX_VERSION = 2;
const REVERSE_SIGNATURE = 0x52494458; // "RIDX"
const REVERSE_VERSION = 1;
/** Offsets from here on stand in a table of their own. */
const LARGE_OFFSET = 0x80000000;

/** Numbers of the objects in the order of their ids. */
export function sortByOid(objects: PackObjects): Uint32Array {
  const { count, oids, format } = objects;
  const { oidBytes } = format;
  // 32 bits of the id and the number in one 64-bit word: sorted natively, and equal beginnings put right after.
  const words = new Uint32Array(2 * count);
  for (let i = 0; i < count; i++) {
    const at = i * oidBytes;
    words[2 * i] = i;
    words[2 * i + 1] =
      (((oids[at] ?? 0) << 24) | ((oids[at + 1] ?? 0) << 16) | ((oids[at + 2] ?? 0) << 8) | (oids[at + 3] ?? 0)) >>> 0;
  }
  new BigUint64Array(words.buffer).sort();
  const order = new Uint32Array(count);
  for (let i = 0; i < count; i++) order[i] = words[2 * i] ?? 0;
  const compare = (a: number, b: number): number => {
    for (let i = 0, x = a * oidBytes, y = b * oidBytes; i < oidBytes; i++) {
      const difference = (oids[x + i] ?? 0) - (oids[y + i] ?? 0);
      if (difference !== 0) return difference;
    }
    return a - b;
  };
  for (let start = 0; start < count;) {
    let end = start + 1;
    while (end < count && words[2 * end + 1] === words[2 * start + 1]) end++;
    if (end - start > 1) order.subarray(start, end).sort(compare);
    start = end;
  }
  return order;
}

/**
 * The bytes of the index file.
 * @param order as sortByOid
 * @param packChecksum the last bytes of the pack
 */
export function serializePackIndex(objects: PackObjects, order: Uint32Array, packChecksum: Bytes): Buffer {
  const { count, oids, offsets, crcs, format } = objects;
  const { oidBytes } = format;
  let large = 0;
  for (let i = 0; i < count; i++) if ((offsets[i] ?? 0) >= LARGE_OFFSET) large++;
  const namesAt = 8 + FANOUT_BYTES;
  const crcsAt = namesAt + oidBytes * count;
  const offsetsAt = crcsAt + 4 * count;
  const largeAt = offsetsAt + 4 * count;
  const end = largeAt + 8 * large;
  const file = Buffer.alloc(end + 2 * oidBytes);
  file.writeUInt32BE(INDEX_SIGNATURE, 0);
  file.writeUInt32BE(INDEX_VERSION, 4);
  const fanout = new Uint32Array(256);
  large = 0;
  for (let i = 0; i < count; i++) {
    const number = order[i] ?? 0;
    const oidAt = number * oidBytes;
    fanout[oids[oidAt] ?? 0]!++;
    file.set(oids.subarray(oidAt, oidAt + oidBytes), namesAt + oidBytes * i);
    file.writeUInt32BE(crcs[number] ?? 0, crcsAt + 4 * i);
    const offset = offsets[number] ?? 0;
    if (offset < LARGE_OFFSET) {
      file.writeUInt32BE(offset, offsetsAt + 4 * i);
    } else {
      file.writeUInt32BE(LARGE_OFFSET + large, offsetsAt + 4 * i);
      file.writeBigUInt64BE(BigInt(offset), largeAt + 8 * large++);
    }
  }
  for (let byte = 0, sum = 0; byte < 256; byte++) {
    sum += fanout[byte] ?? 0;
    file.writeUInt32BE(sum, 8 + 4 * byte);
  }
  return seal(file, end, packChecksum, format.name);
}

/** The bytes of the reverse index: for each object in the order of the pack, its place in the index. */
export function serializeReverseIndex(objects: PackObjects, order: Uint32Array, packChecksum: Bytes): Buffer {
  const { count, format } = objects;
  const file = Buffer.alloc(12 + 4 * count + 2 * format.oidBytes);
  file.writeUInt32BE(REVERSE_SIGNATURE, 0);
  file.writeUInt32BE(REVERSE_VERSION, 4);
  file.writeUInt32BE(format.name === 'sha1' ? 1 : 2, 8);
  // Numbers are given in the order of the pack.
  for (let i = 0; i < count; i++) file.writeUInt32BE(i, 12 + 4 * (order[i] ?? 0));
  return seal(file, 12 + 4 * count, packChecksum, format.name);
}

/** Ends the file with the pack's checksum and its own. */
function seal(file: Buffer, end: number, packChecksum: Bytes, hash: string): Buffer {
  file.set(packChecksum, end);
  const sealed = end + packChecksum.length;
  file.set(createHash(hash).update(file.subarray(0, sealed)).digest(), sealed);
  return file;
}
