import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cacheKey, DeltaBaseCache } from '../../../src/engine/pack/delta-base-cache.ts';
import { randomBytes } from '../../support/random.ts';

const content = (key: number, size: number): Buffer => randomBytes(key + 1, size);

function held(cache: DeltaBaseCache, key: number): Buffer | null {
  if (!cache.find(key)) return null;
  return Buffer.from(cache.memory.subarray(cache.start, cache.start + cache.size));
}

describe('DeltaBaseCache', () => {
  it('gives back what was put, with its type', () => {
    const cache = new DeltaBaseCache(1000);
    cache.put(1, 3, content(1, 100), 100);
    cache.put(2, 2, Buffer.concat([content(2, 50), Buffer.from('scratch')]), 50);
    expect(held(cache, 1)).toEqual(content(1, 100));
    expect(cache.type).toBe(3);
    expect(held(cache, 2)).toEqual(content(2, 50));
    expect(cache.type).toBe(2);
    expect(held(cache, 3)).toBeNull();
  });

  it('copies: what is put may be changed after that', () => {
    const cache = new DeltaBaseCache(1000);
    const bytes = content(1, 100);
    cache.put(1, 3, bytes, 100);
    bytes.fill(0);
    expect(held(cache, 1)).toEqual(content(1, 100));
  });

  it('overwrites the oldest first', () => {
    const cache = new DeltaBaseCache(800);
    for (let key = 0; key < 8; key++) cache.put(key, 3, content(key, 100), 100);
    for (let key = 0; key < 8; key++) expect(held(cache, key)).not.toBeNull();
    cache.put(8, 3, content(8, 1), 1);
    expect(held(cache, 0)).toBeNull();
    expect(held(cache, 1)).not.toBeNull();
    cache.put(9, 3, content(9, 100), 100);
    expect([1, 2, 8, 9].map((key) => held(cache, key) !== null)).toEqual([false, true, true, true]);
  });

  it('leaves the end of the ring unused when an object does not fit there', () => {
    const cache = new DeltaBaseCache(800);
    for (let key = 0; key < 9; key++) cache.put(key, 3, content(key, 95), 95);
    expect(held(cache, 0)).toBeNull();
    for (let key = 1; key < 9; key++) expect(held(cache, key)).toEqual(content(key, 95));
  });

  it('does not keep an object that would push out much else', () => {
    const cache = new DeltaBaseCache(800);
    cache.put(1, 3, content(1, 100), 100);
    cache.put(2, 3, content(2, 101), 101);
    expect(held(cache, 2)).toBeNull();
    expect(held(cache, 1)).toEqual(content(1, 100));
  });

  it('keeps the first of two with the same key', () => {
    const cache = new DeltaBaseCache(800);
    cache.put(1, 3, content(1, 10), 10);
    cache.put(1, 3, content(2, 20), 20);
    expect(held(cache, 1)).toEqual(content(1, 10));
  });

  it('keeps nothing without memory', () => {
    const cache = new DeltaBaseCache(0);
    cache.put(1, 3, content(1, 10), 10);
    cache.put(2, 3, Buffer.alloc(0), 0);
    expect([cache.find(1), cache.find(2)]).toEqual([false, false]);
  });

  it('never gives other bytes because an empty object lay between', () => {
    const cache = new DeltaBaseCache(80);
    cache.put(1, 3, content(1, 10), 10);
    cache.put(2, 3, Buffer.alloc(0), 0);
    for (let key = 3; key < 40; key++) {
      cache.put(key, 3, content(key, 10), 10);
      for (let old = 3; old <= key; old++) {
        const bytes = held(cache, old);
        if (bytes !== null) expect(bytes).toEqual(content(old, 10));
      }
    }
  });

  it('what it finds is always what was put', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 400 }),
        fc.array(fc.tuple(fc.nat({ max: 12 }), fc.nat({ max: 60 })), { maxLength: 150 }),
        (capacity, puts) => {
          const cache = new DeltaBaseCache(capacity);
          const model = new Map<number, Buffer>();
          puts.forEach(([key, size], i) => {
            const bytes = content(1000 * i + key, size);
            const known = cache.find(key);
            cache.put(key, key % 4, bytes, size);
            if (!known) model.set(key, bytes);
            // What was put last is there, unless it is too large or empty.
            if (!known && size > 0 && size <= capacity >> 3) expect(cache.find(key)).toBe(true);
            for (const [each, expected] of model) {
              const found = held(cache, each);
              if (found === null) continue;
              expect(found).toEqual(expected);
              expect(cache.type).toBe(each % 4);
            }
          });
        },
      ),
      { numRuns: 150 },
    );
  });

  it('is right however often the ring has wrapped', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 8, max: 400 }),
        // Sizes in thousandths of what is kept at most, so that entries of one round lie across those of the one before.
        fc.array(fc.integer({ min: 1, max: 1000 }), { minLength: 20, maxLength: 80 }),
        (capacity, parts) => {
          const cache = new DeltaBaseCache(capacity);
          const most = capacity >> 3;
          const contents = parts.map((part, key) => content(key, Math.max(1, Math.ceil((part * most) / 1000))));
          contents.forEach((bytes, key) => {
            cache.put(key, key % 4, bytes, bytes.length);
            for (let old = 0; old <= key; old++) {
              const found = held(cache, old);
              if (found !== null) expect(found.equals(contents[old]!)).toBe(true);
              // Of a ring of eight times the largest entry, one wrap wastes one such place at most.
              if (old > key - 4) expect(found).not.toBeNull();
            }
          });
        },
      ),
      { numRuns: 100 },
    );
  });

  it('does not grow with the number of objects that have passed', () => {
    const cache = new DeltaBaseCache(80);
    const bytes = content(1, 10);
    for (let key = 0; key < 20_000; key++) cache.put(key, 3, bytes, 10);
    let found = 0;
    for (let key = 0; key < 20_000; key++) if (cache.find(key)) found++;
    expect(found).toBe(8);
    expect(cache.memory.length).toBe(80);
  });
});

it('keys of packs and offsets do not meet', () => {
  const keys = new Set<number>();
  for (const pack of [0, 1, 2, 499, 511]) {
    for (const offset of [0, 12, 2 ** 32, 2 ** 44 - 1]) keys.add(cacheKey(pack, offset));
  }
  expect(keys.size).toBe(20);
  for (const key of keys) expect(Number.isSafeInteger(key)).toBe(true);
});
