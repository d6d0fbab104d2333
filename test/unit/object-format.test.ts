/**
 * Nothing in a tree, a pack index or an index says how long its ids are. So each reader is told, and a file of the other
 * format must be refused, not misread.
 */
import { createHash } from 'node:crypto';
import { closeSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CheckoutError } from '../../src/engine/errors.ts';
import { serializeCacheTree } from '../../src/engine/index/cache-tree.ts';
import { parseIndex, readIndex } from '../../src/engine/index/parse-index.ts';
import { serializeIndex } from '../../src/engine/index/serialize-index.ts';
import { isEmptyBlob } from '../../src/engine/index/stat-words.ts';
import type { IndexEntries } from '../../src/engine/index/index-table.ts';
import { TreeCursor } from '../../src/engine/object/tree.ts';
import { ObjectDatabase } from '../../src/engine/odb/object-database.ts';
import { loosePath } from '../../src/engine/odb/loose.ts';
import {
  formatOfHexOid,
  isHexOid,
  oidEquals,
  oidFromHex,
  oidToHex,
  SHA1,
  SHA256,
  type ObjectFormat,
} from '../../src/engine/oid.ts';
import { EntryHeader, MAX_ENTRY_HEADER_BYTES, REF_DELTA } from '../../src/engine/pack/entry.ts';
import { openPack } from '../../src/engine/pack/pack-file.ts';
import { PackIndex } from '../../src/engine/pack/pack-index.ts';
import { entryHeader } from '../support/pack-writer.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { indexFile, manyOids } from './pack/index-file.ts';

const folder = temporaryFolder('object-format');
let files = 0;

function write(bytes: Uint8Array, ending = 'bin'): string {
  const path = join(folder, `${files++}.${ending}`);
  writeFileSync(path, bytes);
  return path;
}

function codeOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof CheckoutError) return error.code;
    throw error;
  }
  return 'none';
}

/** An id of the format, told apart by its first and its last bytes. */
function someOid(format: ObjectFormat, n: number): Buffer {
  return createHash(format.name).update(`${n}`).digest();
}

function indexOf(format: ObjectFormat, paths: readonly string[]): IndexEntries & { stats: Uint32Array } {
  const names = paths.map((path) => Buffer.from(path));
  const pathOffsets = new Uint32Array(names.length + 1);
  names.forEach((name, i) => (pathOffsets[i + 1] = pathOffsets[i]! + name.length));
  return {
    format,
    count: names.length,
    pathBytes: Buffer.concat(names),
    pathOffsets,
    oids: Buffer.concat(names.map((_, i) => someOid(format, i))),
    modes: new Uint32Array(names.length).fill(0o100644),
    stats: new Uint32Array(10 * names.length).fill(7),
  };
}

describe('ids', () => {
  it('are told by the number of their digits', () => {
    expect(formatOfHexOid('a'.repeat(40))).toBe(SHA1);
    expect(formatOfHexOid('A'.repeat(64))).toBe(SHA256);
    for (const text of ['', 'a'.repeat(39), 'a'.repeat(41), 'a'.repeat(63), 'a'.repeat(65), `${'a'.repeat(63)}g`]) {
      expect(formatOfHexOid(text)).toBeNull();
    }
    expect(isHexOid('a'.repeat(40), SHA256)).toBe(false);
    expect(isHexOid('a'.repeat(64), SHA1)).toBe(false);
    expect(isHexOid(`${'a'.repeat(39)}\n`, SHA1)).toBe(false);
  });

  it('are equal when all of their bytes are', () => {
    const a = someOid(SHA256, 1);
    const b = Buffer.concat([Buffer.from('x'), a]);
    expect(oidEquals(a, 0, b, 1, 32)).toBe(true);
    b[32]! ^= 1;
    expect(oidEquals(a, 0, b, 1, 32)).toBe(false);
    expect(oidEquals(a, 0, b, 1, 20)).toBe(true);
    expect(oidToHex(b, 1, 32)).toBe(b.toString('hex', 1));
    expect(oidFromHex(oidToHex(a, 0, 32))).toEqual(new Uint8Array(a));
  });

  it.each([SHA1, SHA256])('the empty blob, $name', (format) => {
    const empty = createHash(format.name).update('blob 0\0').digest();
    const bytes = Buffer.concat([someOid(format, 1), empty]);
    expect(isEmptyBlob(bytes, 0, format)).toBe(false);
    expect(isEmptyBlob(bytes, format.oidBytes, format)).toBe(true);
    bytes[bytes.length - 1]! ^= 1;
    expect(isEmptyBlob(bytes, format.oidBytes, format)).toBe(false);
  });
});

describe.each([
  [SHA1, SHA256],
  [SHA256, SHA1],
])('$name', (format, other) => {
  const { oidBytes } = format;

  it('trees', () => {
    const names = ['a', 'bb', 'ccc'];
    const tree = Buffer.concat(names.flatMap((name, i) => [Buffer.from(`100644 ${name}\0`), someOid(format, i)]));
    const cursor = new TreeCursor(tree, oidBytes);
    for (const [i, name] of names.entries()) {
      expect(cursor.next()).toBe(1);
      expect(tree.toString('latin1', cursor.nameStart, cursor.nameEnd)).toBe(name);
      expect(tree.subarray(cursor.oidAt, cursor.oidAt + oidBytes)).toEqual(someOid(format, i));
    }
    expect(cursor.next()).toBe(0);
    expect(new TreeCursor(tree.subarray(0, 9 + oidBytes - 1), oidBytes).next()).toBe(-1);
    // The other format's reader comes to an end that is none, after one entry or none.
    const misread = new TreeCursor(tree, other.oidBytes);
    let last: number;
    do last = misread.next();
    while (last === 1);
    expect(last).toBe(-1);
  });

  it('delta bases by id', () => {
    const header = new EntryHeader(oidBytes);
    const bytes = Buffer.concat([entryHeader(REF_DELTA, 300), someOid(format, 1)]);
    expect(header.parse(bytes, 0, bytes.length)).toBe(true);
    expect([header.baseOidAt, header.length]).toEqual([2, 2 + oidBytes]);
    expect(header.length).toBeLessThanOrEqual(MAX_ENTRY_HEADER_BYTES);
    expect(header.parse(bytes, 0, bytes.length - 1)).toBe(false);
  });

  // The last one is read in blocks, with ids across their ends.
  it.each([
    [1, 0],
    [2, 0],
    [1, 1],
    [2, 300],
    [2, 600_000],
  ] as const)('pack indexes: version %i of %i objects', (version, count) => {
    const oids = manyOids(count, oidBytes);
    const offsets = Uint32Array.from({ length: count }, (_, i) => 12 + 3 * i);
    const packChecksum = someOid(format, 5);
    const path = write(indexFile({ version, oids, offsets, oidBytes, packChecksum }), 'idx');
    const index = PackIndex.open(path, format);
    try {
      expect(index.count).toBe(count);
      expect(index.packChecksum()).toEqual(packChecksum);
      const wrong: number[] = [];
      for (let i = 0; i < count; i += count > 1000 ? 97 : 1) {
        if (index.find(oids, oidBytes * i) !== offsets[i]) wrong.push(i);
        const near = oids.slice(oidBytes * i, oidBytes * (i + 1));
        near[oidBytes - 5]! ^= 0x80;
        if (index.find(near, 0) !== -1) wrong.push(i);
      }
      expect(wrong).toEqual([]);
    } finally {
      index.close();
    }
    expect(codeOf(() => PackIndex.open(path, other))).toBe('object-corrupt');
  });

  it('pack indexes with large offsets are not taken for the other format, however many there are', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 60 }), fc.nat(59), (count, small) => {
        const offsets = Array.from({ length: count }, (_, i) => (i <= small ? 12 + i : 2 ** 33 + i));
        const bytes = indexFile({ version: 2, oids: manyOids(count, oidBytes), offsets, oidBytes });
        expect(codeOf(() => PackIndex.open(write(bytes, 'idx'), other))).toBe('object-corrupt');
      }),
      { numRuns: 40 },
    );
  });

  it('packs end in a hash of their kind', () => {
    const checksum = someOid(format, 9);
    const head = Buffer.from([0x50, 0x41, 0x43, 0x4b, 0, 0, 0, 2, 0, 0, 0, 0]);
    const idx = write(indexFile({ version: 2, oids: Buffer.alloc(0), offsets: [], oidBytes, packChecksum: checksum }));
    const index = PackIndex.open(idx, format);
    try {
      const file = openPack(write(Buffer.concat([head, checksum]), 'pack'), idx, index);
      closeSync(file.fd);
      expect(file.end).toBe(12);
      checksum[oidBytes - 1]! ^= 1;
      expect(codeOf(() => openPack(write(Buffer.concat([head, checksum]), 'pack'), idx, index))).toBe('object-corrupt');
    } finally {
      index.close();
    }
  });

  it('loose objects', () => {
    const whole = Buffer.from('blob 5\0hello');
    const oid = createHash(format.name).update(whole).digest();
    const objects = join(folder, `objects-${format.name}`);
    const path = loosePath(objects, oid.toString('hex'));
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, deflateSync(whole));
    const odb = ObjectDatabase.open([objects], format, () => undefined);
    try {
      expect(Buffer.from(odb.read(Buffer.concat([Buffer.from('xx'), oid]), 2)).toString()).toBe('hello');
      oid[oidBytes - 1]! ^= 1;
      expect(() => odb.read(oid)).toThrow(`object ${oid.toString('hex')} is missing`);
    } finally {
      odb.close();
    }
  });

  it('the index, and its hash', () => {
    const entries = indexOf(format, ['a', 'b/c', 'x'.repeat(5000)]);
    const file = serializeIndex(entries, Buffer.from('tree'));
    const content = file.subarray(0, -oidBytes);
    expect(file.subarray(-oidBytes)).toEqual(createHash(format.name).update(content).digest());
    const table = readIndex(write(file), format);
    expect(table?.format).toBe(format);
    expect(table?.oids).toEqual(new Uint8Array(entries.oids));
    expect(table?.pathOffsets).toEqual(entries.pathOffsets);
    expect(serializeIndex(table!, Buffer.from('tree'))).toEqual(file);
    file[12 + 40 + oidBytes - 1]! ^= 1;
    expect(codeOf(() => readIndex(write(file), format))).toBe('index-corrupt');
  });

  it('an index of the other format, with a checksum or without', () => {
    const name = fc.stringMatching(/^[a-z]{1,30}$/);
    fc.assert(
      fc.property(fc.uniqueArray(name, { maxLength: 12 }), fc.boolean(), (names, skipHash) => {
        const file = serializeIndex(indexOf(other, names.sort()), null);
        if (skipHash) file.fill(0, file.length - other.oidBytes);
        expect(codeOf(() => parseIndex(file, 'i', other))).toBe('none');
        expect(codeOf(() => readIndex(write(file), format))).toBe('index-corrupt');
      }),
      { numRuns: 100 },
    );
  });

  it('the cache tree', () => {
    const oids = Buffer.concat([someOid(format, 1), someOid(format, 2)]);
    const bytes = serializeCacheTree(
      {
        format,
        count: 2,
        parent: Int32Array.of(-1, 0),
        nameStart: Uint32Array.of(0, 0),
        nameEnd: Uint32Array.of(0, 1),
        entryCount: Uint32Array.of(2, 1),
        oids,
      },
      Buffer.from('d'),
    );
    expect(Buffer.from(bytes)).toEqual(
      Buffer.concat([
        Buffer.from('\x002 1\n'),
        oids.subarray(0, oidBytes),
        Buffer.from('d\x001 0\n'),
        oids.subarray(oidBytes),
      ]),
    );
  });
});
