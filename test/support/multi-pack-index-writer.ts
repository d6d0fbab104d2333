/**
 * Multi-pack indexes by hand (gitformat-pack): both versions, layers of a chain, and with faults. git 2.39 writes version 1 alone.
 */
import { createHash } from 'node:crypto';

export interface MultiPackIndexSpec {
  readonly version?: number;
  readonly hashNumber?: number;
  /** Without ending; version 1 wants them sorted. */
  readonly packs: readonly string[];
  readonly objects: readonly { readonly oid: string; readonly pack: number; readonly offset: number }[];
  /** Offsets from this on go to the table of large ones. */
  readonly largeFrom?: number;
  readonly without?: string;
}

function words(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  values.forEach((value, i) => bytes.writeUInt32BE(value >>> 0, 4 * i));
  return bytes;
}

function longWord(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return bytes;
}

export function multiPackIndex(spec: MultiPackIndexSpec): Buffer {
  const objects = [...spec.objects].sort((a, b) => (a.oid < b.oid ? -1 : 1));
  const counts = Array<number>(256).fill(0);
  for (const { oid } of objects) counts[parseInt(oid.slice(0, 2), 16)]!++;
  let sum = 0;
  const large: Buffer[] = [];
  const offsets = objects.map(({ pack, offset }) => {
    if (offset < (spec.largeFrom ?? 2 ** 31)) return words(pack, offset);
    large.push(longWord(offset));
    return words(pack, 0x80000000 + large.length - 1);
  });
  const names = Buffer.from(spec.packs.map((name) => `${name}.idx\0`).join(''));
  const chunks: [string, Buffer][] = [
    ['PNAM', Buffer.concat([names, Buffer.alloc((4 - (names.length % 4)) % 4)])],
    ['OIDF', words(...counts.map((count) => (sum += count)))],
    ['OIDL', Buffer.from(objects.map(({ oid }) => oid).join(''), 'hex')],
    ['OOFF', Buffer.concat(offsets)],
  ];
  if (large.length > 0) chunks.push(['LOFF', Buffer.concat(large)]);
  const present = chunks.filter(([id]) => id !== spec.without);
  let at = 12 + 12 * (present.length + 1);
  const rows = present.map(([id, bytes]) => {
    const row = Buffer.concat([Buffer.from(id), longWord(at)]);
    at += bytes.length;
    return row;
  });
  const body = Buffer.concat([
    Buffer.from('MIDX'),
    Buffer.from([spec.version ?? 1, spec.hashNumber ?? 1, present.length, 0]),
    words(spec.packs.length),
    ...rows,
    words(0),
    longWord(at),
    ...present.map(([, bytes]) => bytes),
  ]);
  return Buffer.concat([body, createHash('sha1').update(body).digest()]);
}

/** The name of a layer in a chain: its checksum. */
export function layerName(bytes: Buffer): string {
  return bytes.subarray(-20).toString('hex');
}
