import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BLOB, EntryHeader, MAX_ENTRY_HEADER_BYTES, typeName } from '../../../src/engine/pack/entry.ts';
import { entryHeader, OFS_DELTA, offsetBytes, REF_DELTA } from '../../support/pack-writer.ts';

const header = new EntryHeader(20);
const parse = (bytes: Uint8Array, at = 0, end = bytes.length): boolean => header.parse(bytes, at, end);

describe('sizes', () => {
  it.each([0, 1, 15, 16, 2047, 2048, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 32 + 1, 2 ** 45, 2 ** 53 - 1])(
    '%i',
    (size) => {
      const bytes = entryHeader(BLOB, size);
      expect(parse(bytes)).toBe(true);
      expect([header.type, header.size, header.length]).toEqual([BLOB, size, bytes.length]);
    },
  );

  it('beyond what a number holds exactly are refused', () => {
    expect(parse(Buffer.from([0xbf, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]))).toBe(false);
    expect(parse(Buffer.from([0xb0, ...Array<number>(20).fill(0xff), 0]))).toBe(false);
    expect(parse(Buffer.from([0xb0, ...Array<number>(20).fill(0x80), 0]))).toBe(false);
  });
});

describe('types', () => {
  it.each([1, 2, 3, 4])('%i is an object', (type) => {
    expect(parse(entryHeader(type, 77))).toBe(true);
    expect(header.type).toBe(type);
  });

  it.each([0, 5])('%i is none', (type) => {
    expect(parse(Buffer.concat([entryHeader(type, 77), Buffer.alloc(30)]))).toBe(false);
  });

  it('have names', () => {
    expect([1, 2, 3, 4, 6].map(typeName)).toEqual(['commit', 'tree', 'blob', 'tag', 'type 6']);
  });
});

describe('deltas', () => {
  it.each([1, 127, 128, 16511, 16512, 2 ** 31, 2 ** 32 + 5, 2 ** 45])('distance %i', (distance) => {
    const bytes = Buffer.concat([entryHeader(OFS_DELTA, 300), offsetBytes(distance)]);
    expect(parse(bytes)).toBe(true);
    expect([header.type, header.size, header.baseDistance, header.length]).toEqual([
      OFS_DELTA,
      300,
      distance,
      bytes.length,
    ]);
  });

  it('any distance, as git counts it', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), (distance) => {
        const bytes = Buffer.concat([entryHeader(OFS_DELTA, 1), offsetBytes(distance)]);
        // Eight bytes, and no more: 2^55 is far beyond any file.
        expect(parse(bytes)).toBe(true);
        expect(header.baseDistance).toBe(distance);
      }),
    );
  });

  it('a distance without end is refused', () => {
    expect(parse(Buffer.concat([entryHeader(OFS_DELTA, 1), Buffer.alloc(40, 0xff)]))).toBe(false);
    const ofBytes = (bytes: number): Buffer =>
      Buffer.concat([entryHeader(OFS_DELTA, 1), Buffer.alloc(bytes - 1, 0x80), Buffer.alloc(1)]);
    expect([parse(ofBytes(8)), parse(ofBytes(9))]).toEqual([true, false]);
  });

  it('the base by its id', () => {
    const bytes = Buffer.concat([Buffer.from('xx'), entryHeader(REF_DELTA, 5000), Buffer.alloc(20, 7)]);
    expect(parse(bytes, 2)).toBe(true);
    expect([header.type, header.size, header.baseOidAt, header.length]).toEqual([REF_DELTA, 5000, 5, 23]);
  });
});

it('bytes that end anywhere in a header are refused', () => {
  const headers = [
    entryHeader(BLOB, 2 ** 40),
    Buffer.concat([entryHeader(OFS_DELTA, 2 ** 40), offsetBytes(2 ** 40)]),
    Buffer.concat([entryHeader(REF_DELTA, 2 ** 40), Buffer.alloc(20)]),
  ];
  for (const whole of headers) {
    // What lies behind the end does not count.
    const bytes = Buffer.concat([whole, Buffer.alloc(40)]);
    for (let end = 0; end < whole.length; end++) expect(parse(bytes, 0, end), `${end}`).toBe(false);
    expect(parse(bytes, 0, whole.length)).toBe(true);
    expect(header.length).toBe(whole.length);
  }
});

it('no bytes make it read further than the longest header', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
      if (parse(bytes)) {
        expect(header.length).toBeLessThanOrEqual(Math.min(bytes.length, MAX_ENTRY_HEADER_BYTES));
        expect(Number.isSafeInteger(header.size)).toBe(true);
      }
    }),
  );
});
