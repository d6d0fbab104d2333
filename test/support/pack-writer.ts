/**
 * Packs by hand, with an index that fits them: for entries that no git would write.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32, deflateSync } from 'node:zlib';

export interface PackEntry {
  /** What the index calls it, true or not. */
  readonly oid: string;
  /** The whole entry: header and deflated content. */
  readonly bytes: Uint8Array;
}

export const COMMIT = 1;
export const TREE = 2;
export const BLOB = 3;
export const OFS_DELTA = 6;
export const REF_DELTA = 7;

/** The head of an entry: type and the size that it claims. */
export function entryHeader(type: number, size: number): Buffer {
  const bytes: number[] = [];
  let rest = Math.floor(size / 16);
  bytes.push((type << 4) | (size % 16) | (rest > 0 ? 0x80 : 0));
  while (rest > 0) {
    const next = Math.floor(rest / 128);
    bytes.push((rest % 128) | (next > 0 ? 0x80 : 0));
    rest = next;
  }
  return Buffer.from(bytes);
}

/** How far back the base of an offset delta lies. */
export function offsetBytes(distance: number): Buffer {
  const bytes = [distance % 128];
  let rest = Math.floor(distance / 128);
  while (rest > 0) {
    rest--;
    bytes.unshift(0x80 | (rest % 128));
    rest = Math.floor(rest / 128);
  }
  return Buffer.from(bytes);
}

/** A size as deltas write it. */
export function deltaSize(size: number): Buffer {
  const bytes: number[] = [];
  let rest = size;
  do {
    const next = Math.floor(rest / 128);
    bytes.push((rest % 128) | (next > 0 ? 0x80 : 0));
    rest = next;
  } while (rest > 0);
  return Buffer.from(bytes);
}

/** An entry that is what it says. */
export function plainEntry(type: number, content: Uint8Array, claimedSize = content.length): Buffer {
  return Buffer.concat([entryHeader(type, claimedSize), deflateSync(content)]);
}

/** The offsets of entries that follow each other. */
export function offsetsOf(entries: readonly PackEntry[]): number[] {
  let at = 12;
  return entries.map(({ bytes }) => {
    const offset = at;
    at += bytes.length;
    return offset;
  });
}

/** Writes pack and version 2 index below an object directory. */
export function writePack(
  objectDirectory: string,
  entries: readonly PackEntry[],
  claimedCount = entries.length,
): string {
  const header = Buffer.alloc(12);
  header.write('PACK');
  header.writeUInt32BE(2, 4);
  header.writeUInt32BE(claimedCount, 8);
  const body = Buffer.concat([header, ...entries.map((entry) => entry.bytes)]);
  const trailer = createHash('sha1').update(body).digest();
  const name = trailer.toString('hex');
  const directory = join(objectDirectory, 'pack');
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, `pack-${name}.pack`), Buffer.concat([body, trailer]));

  const offsets = offsetsOf(entries);
  const order = entries.map((_, i) => i).sort((a, b) => (entries[a]!.oid < entries[b]!.oid ? -1 : 1));
  const fanout = Buffer.alloc(1024);
  for (let byte = 0; byte < 256; byte++) {
    fanout.writeUInt32BE(entries.filter(({ oid }) => parseInt(oid.slice(0, 2), 16) <= byte).length, 4 * byte);
  }
  const words = (value: (entry: number) => number): Buffer => {
    const out = Buffer.alloc(4 * entries.length);
    order.forEach((entry, i) => out.writeUInt32BE(value(entry), 4 * i));
    return out;
  };
  const index = Buffer.concat([
    Buffer.from([0xff, 0x74, 0x4f, 0x63, 0, 0, 0, 2]),
    fanout,
    ...order.map((entry) => Buffer.from(entries[entry]!.oid, 'hex')),
    words((entry) => crc32(entries[entry]!.bytes)),
    words((entry) => offsets[entry] ?? 0),
    trailer,
  ]);
  writeFileSync(join(directory, `pack-${name}.idx`), Buffer.concat([index, createHash('sha1').update(index).digest()]));
  return name;
}
