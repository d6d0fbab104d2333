/**
 * Pack indexes by hand (gitformat-pack): of any size, with any offsets, and with faults.
 */
export interface IndexSpec {
  readonly version: 1 | 2;
  /** Sorted, `oidBytes` each. */
  readonly oids: Uint8Array;
  readonly offsets: ArrayLike<number>;
  /** Default: 20. */
  readonly oidBytes?: number;
  readonly packChecksum?: Uint8Array;
  /** Version 2: offsets from this on go to the table of large ones. */
  readonly largeFrom?: number;
}

const SIGNATURE = [0xff, 0x74, 0x4f, 0x63, 0, 0, 0, 2];

export function indexFile(spec: IndexSpec): Buffer {
  const { version, oids, offsets, oidBytes = 20 } = spec;
  const row = 4 + oidBytes;
  const count = offsets.length;
  const fanout = Buffer.alloc(1024);
  const ofFirstByte = new Uint32Array(256);
  for (let i = 0; i < count; i++) ofFirstByte[oids[oidBytes * i]!]!++;
  let sum = 0;
  for (let byte = 0; byte < 256; byte++) fanout.writeUInt32BE((sum += ofFirstByte[byte]!), 4 * byte);
  const trailer = Buffer.concat([spec.packChecksum ?? Buffer.alloc(oidBytes, 0xcc), Buffer.alloc(oidBytes, 0xdd)]);
  if (version === 1) {
    const rows = Buffer.alloc(row * count);
    for (let i = 0; i < count; i++) {
      rows.writeUInt32BE(offsets[i]!, row * i);
      rows.set(oids.subarray(oidBytes * i, oidBytes * (i + 1)), row * i + 4);
    }
    return Buffer.concat([fanout, rows, trailer]);
  }
  const largeFrom = spec.largeFrom ?? 0x80000000;
  const words = Buffer.alloc(4 * count);
  const large: Buffer[] = [];
  for (let i = 0; i < count; i++) {
    const offset = offsets[i]!;
    if (offset < largeFrom) {
      words.writeUInt32BE(offset, 4 * i);
      continue;
    }
    words.writeUInt32BE(0x80000000 + large.length, 4 * i);
    const entry = Buffer.alloc(8);
    entry.writeBigUInt64BE(BigInt(offset));
    large.push(entry);
  }
  return Buffer.concat([Buffer.from(SIGNATURE), fanout, oids, Buffer.alloc(4 * count), words, ...large, trailer]);
}

/** Ids that are spread evenly and sorted: the number in the first four bytes, noise behind. */
export function manyOids(count: number, oidBytes = 20): Uint8Array {
  const oids = new Uint8Array(oidBytes * count);
  const view = new DataView(oids.buffer);
  for (let i = 0; i < count; i++) {
    view.setUint32(oidBytes * i, Math.floor((i * 2 ** 32) / count));
    view.setUint32(oidBytes * i + 4, Math.imul(i, 0x9e3779b1) >>> 0);
    view.setUint32(oidBytes * i + oidBytes - 4, i);
  }
  return oids;
}
