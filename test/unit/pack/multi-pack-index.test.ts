import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CheckoutError } from '../../../src/engine/errors.ts';
import { oidFromHex, SHA1 } from '../../../src/engine/oid.ts';
import { FilePool } from '../../../src/engine/pack/file-pool.ts';
import { MultiPackIndex } from '../../../src/engine/pack/multi-pack-index.ts';
import { multiPackIndex, type MultiPackIndexSpec } from '../../support/multi-pack-index-writer.ts';
import { randomNumbers } from '../../support/random.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const folder = temporaryFolder('multi-pack-index');
let files = 0;

function withIndex<T>(bytes: Uint8Array, run: (index: MultiPackIndex) => T): T {
  const path = join(folder, `${files++}`);
  writeFileSync(path, bytes);
  const pool = new FilePool();
  try {
    const index = MultiPackIndex.open(path, SHA1, pool);
    try {
      return run(index);
    } finally {
      index.close();
    }
  } finally {
    pool.closeAll();
  }
}

const objects = [...Array(300).keys()].map((i) => ({
  oid: `${((i * 7) % 256).toString(16).padStart(2, '0')}${i.toString(16).padStart(38, '0')}`,
  pack: i % 3,
  offset: i % 10 === 0 ? 2 ** 33 + i : 12 + i,
}));
const spec: MultiPackIndexSpec = { packs: ['pack-a', 'pack-b', 'pack-c'], objects };
const good = multiPackIndex(spec);

function expectAll(bytes: Uint8Array): void {
  withIndex(bytes, (index) => {
    expect([index.packNames, index.count]).toEqual([spec.packs, objects.length]);
    for (const { oid, pack, offset } of objects) {
      expect(index.find(oidFromHex(oid), 0)).toBe(true);
      expect([index.pack, index.offset]).toEqual([pack, offset]);
    }
    expect(index.find(oidFromHex('7'.repeat(40)), 0)).toBe(false);
  });
}

describe('MultiPackIndex', () => {
  it.each([1, 2])('finds every object, version %i, large offsets and all', (version) => {
    expectAll(multiPackIndex({ ...spec, version }));
    expectAll(multiPackIndex({ ...spec, version, largeFrom: 100 }));
  });

  it('takes names out of order, and no packs at all', () => {
    withIndex(multiPackIndex({ ...spec, version: 2, packs: ['pack-z', 'pack-b', 'pack-a'] }), (index) => {
      expect(index.packNames).toEqual(['pack-z', 'pack-b', 'pack-a']);
    });
    withIndex(multiPackIndex({ packs: [], objects: [] }), (index) => {
      expect([index.count, index.find(oidFromHex('0'.repeat(40)), 0)]).toEqual([0, false]);
    });
  });

  it('without a table of large offsets all 32 bits are an offset', () => {
    const [object] = objects;
    const one = { ...object!, pack: 0, offset: 0xfffffff0 };
    withIndex(multiPackIndex({ packs: ['pack-a'], objects: [one], largeFrom: 2 ** 32 }), (index) => {
      expect([index.find(oidFromHex(one.oid), 0), index.offset]).toEqual([true, 0xfffffff0]);
    });
  });

  const refusal = (bytes: Uint8Array): string => {
    try {
      withIndex(bytes, () => undefined);
    } catch (error) {
      expect(error).toBeInstanceOf(CheckoutError);
      expect((error as CheckoutError).code).toBe('object-corrupt');
      return (error as CheckoutError).message;
    }
    return 'opened';
  };
  const changed = (change: (bytes: Buffer) => void): Buffer => {
    const bytes = Buffer.from(good);
    change(bytes);
    return bytes;
  };

  it.each<[string, Uint8Array, RegExp]>([
    ['nothing', Buffer.alloc(0), /too small/],
    ['another signature', changed((bytes) => bytes.write('IDXM')), /does not begin with MIDX/],
    ['version 3', multiPackIndex({ ...spec, version: 3 }), /version 3/],
    ['another hash function', multiPackIndex({ ...spec, hashNumber: 2 }), /another kind/],
    ['base files', changed((bytes) => (bytes[7] = 1)), /not named/],
    ['255 chunks', changed((bytes) => (bytes[6] = 255)), /table of contents/],
    ...['PNAM', 'OIDF', 'OIDL', 'OOFF'].map((without): [string, Uint8Array, RegExp] => [
      `no ${without}`,
      multiPackIndex({ ...spec, without }),
      /lacks one of its tables/,
    ]),
    ['a chunk beyond the end', changed((bytes) => bytes.writeUInt32BE(1, 12 + 4)), /table of contents/],
    ['chunks that go back', changed((bytes) => bytes.writeUInt32BE(20, 12 + 12 + 8)), /table of contents/],
    ['more packs than names', changed((bytes) => bytes.writeUInt32BE(1000, 8)), /names? of/],
    ['a name that leads elsewhere', multiPackIndex({ ...spec, packs: ['../a', 'b', 'c'] }), /invalid name/],
    ['an empty name', multiPackIndex({ ...spec, packs: ['', 'b', 'c'] }), /invalid name/],
  ])('refuses %s', (_, bytes, message) => {
    expect(refusal(bytes)).toMatch(message);
  });

  it('a pack that is not listed, and a large offset that is not there, are told when they are looked up', () => {
    const [object] = objects;
    for (const [wrong, message] of [
      [{ packs: ['pack-a'], objects: [{ ...object!, pack: 1, offset: 12 }] }, /does not list/],
      [{ packs: ['pack-a'], objects: [{ ...object!, pack: 0, offset: 2 ** 60 }] }, /out of range/],
    ] as const) {
      withIndex(multiPackIndex(wrong), (index) => {
        expect(() => index.find(oidFromHex(object!.oid), 0)).toThrow(message);
      });
    }
  });

  it('any damage is an error with a code, or finds what is within its bounds', () => {
    const below = randomNumbers(11);
    const openFiles = (): number => (process.platform === 'linux' ? readdirSync('/proc/self/fd').length : 0);
    const open = openFiles();
    for (let round = 0; round < 1000; round++) {
      const bytes = Buffer.from(good.subarray(0, round % 4 === 0 ? below(good.length) : good.length));
      // Half of them in the header and the tables before the ids, where numbers are.
      const within = round % 2 === 0 ? Math.min(bytes.length, 1200) : bytes.length;
      for (let i = 0; i < 3 && within > 0; i++) bytes[below(within)] = below(256);
      try {
        withIndex(bytes, (index) => {
          for (let i = 0; i < objects.length; i += 17) {
            if (!index.find(oidFromHex(objects[i]!.oid), 0)) continue;
            expect(index.pack).toBeLessThan(index.packNames.length);
            expect(Number.isSafeInteger(index.offset)).toBe(true);
          }
        });
      } catch (error) {
        if (!(error instanceof CheckoutError)) throw error;
        expect(error.code).toBe('object-corrupt');
      }
    }
    expect(openFiles()).toBe(open);
  });
});
