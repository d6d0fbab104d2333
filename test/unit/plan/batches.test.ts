import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BATCH_BYTES, BATCH_ENTRIES, cutBatches, groupFamilies } from '../../../src/engine/plan/batches.ts';

const cut = (positions: readonly number[]): number[] => [...cutBatches(Float64Array.from(positions))];

describe('cutBatches', () => {
  it('nothing is no batch', () => {
    expect(cut([])).toEqual([0]);
  });

  it('few entries close together are one', () => {
    expect(cut([5])).toEqual([0, 1]);
    expect(cut([12, 13, 400, 5000])).toEqual([0, 4]);
  });

  it('by number', () => {
    expect(cut(Array.from({ length: 2 * BATCH_ENTRIES + 1 }, (_, i) => i))).toEqual([
      0,
      BATCH_ENTRIES,
      2 * BATCH_ENTRIES,
      2 * BATCH_ENTRIES + 1,
    ]);
  });

  it('by distance', () => {
    expect(cut([0, BATCH_BYTES - 1, BATCH_BYTES, 2 * BATCH_BYTES, 10 * BATCH_BYTES])).toEqual([0, 2, 3, 4, 5]);
  });

  it('where the next pack begins', () => {
    expect(cut([100, 200, 12, 50])).toEqual([0, 2, 4]);
  });

  it('loose objects by number', () => {
    expect(cut(Array<number>(BATCH_ENTRIES + 1).fill(0))).toEqual([0, BATCH_ENTRIES, BATCH_ENTRIES + 1]);
  });

  it('every entry is in one batch, and no batch is too large', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 3 * BATCH_BYTES }), { maxLength: 300 }), (positions) => {
        const starts = cut(positions);
        expect(starts[0]).toBe(0);
        expect(starts.at(-1)).toBe(positions.length);
        for (let i = 0; i + 1 < starts.length; i++) {
          const [start, end] = [starts[i]!, starts[i + 1]!];
          expect(end).toBeGreaterThan(start);
          expect(end - start).toBeLessThanOrEqual(BATCH_ENTRIES);
          const spans = positions.slice(start, end).map((position) => position - positions[start]!);
          expect(Math.min(...spans)).toBeGreaterThanOrEqual(0);
          expect(Math.max(...spans)).toBeLessThan(BATCH_BYTES);
          // And it was not cut without need.
          if (end < positions.length && end - start < BATCH_ENTRIES) {
            const span = positions[end]! - positions[start]!;
            expect(span < 0 || span >= BATCH_BYTES).toBe(true);
          }
        }
      }),
    );
  });
});

describe('groupFamilies', () => {
  const group = (list: readonly (readonly [entry: number, base: number, size: number])[]) => {
    const { order, batchStarts } = groupFamilies(
      Uint32Array.from(list.map(([entry]) => entry)),
      Float64Array.from(list.map(([, base]) => base)),
      Float64Array.from(list.map(([, , size]) => size)),
    );
    expect(order.buffer).toBeInstanceOf(SharedArrayBuffer);
    return { order: [...order], batchStarts: [...batchStarts] };
  };

  it('nothing', () => {
    expect(group([])).toEqual({ order: [], batchStarts: [0] });
  });

  it('members of a family together, large bases first, by entry within', () => {
    expect(
      group([
        [4, 100, 10],
        [1, 200, 99],
        [3, 100, 10],
        [9, 300, 50],
        [2, 200, 99],
        [5, 400, 50],
      ]),
    ).toEqual({ order: [1, 2, 9, 5, 3, 4], batchStarts: [0, 2, 3, 4, 6] });
  });

  it('any families', () => {
    const sizeOf = (base: number): number => (base * 7) % 5;
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.tuple(fc.nat({ max: 1000 }), fc.nat({ max: 9 })), {
          selector: ([entry]) => entry,
          maxLength: 60,
        }),
        (pairs) => {
          const { order, batchStarts } = group(pairs.map(([entry, base]) => [entry, base, sizeOf(base)]));
          const baseOf = new Map(pairs);
          expect([...order].sort((a, b) => a - b)).toEqual(pairs.map(([entry]) => entry).sort((a, b) => a - b));
          expect(batchStarts.length - 1).toBe(new Set(baseOf.values()).size);
          expect(batchStarts.at(-1)).toBe(pairs.length);
          let last = Infinity;
          for (let i = 0; i + 1 < batchStarts.length; i++) {
            const bases = new Set(order.slice(batchStarts[i], batchStarts[i + 1]).map((entry) => baseOf.get(entry)!));
            expect(bases.size).toBe(1);
            const size = sizeOf([...bases][0]!);
            expect(size).toBeLessThanOrEqual(last);
            last = size;
          }
        },
      ),
    );
  });
});
