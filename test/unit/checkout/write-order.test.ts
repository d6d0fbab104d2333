import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { State, type Tables } from '../../../src/engine/checkout/tables.ts';
import { orderWrites } from '../../../src/engine/checkout/write-order.ts';
import { LOOSE, ObjectDatabase } from '../../../src/engine/odb/object-database.ts';
import { BLOB, plainEntry, writePack } from '../../support/pack-writer.ts';
import { temporaryFolder } from '../../support/temporary.ts';
import { tablesOf } from './made-job.ts';
import { SHA1 } from '../../../src/engine/oid.ts';

const folder = temporaryFolder('write-order');
let cases = 0;

const oid = (n: number): string => `${n.toString(16).padStart(4, '0')}${'ab'.repeat(18)}`;

/** Orders entries of the objects of these numbers, which lie in packs in the given order. */
function order(
  packs: readonly (readonly number[])[],
  entries: readonly number[],
  options: { loose?: boolean; states?: Record<number, number> } = {},
): {
  tables: Tables;
  order: number[];
  positions: number[];
  missing: readonly number[];
} {
  const directory = join(folder, `${cases++}`);
  mkdirSync(directory);
  for (const pack of packs) {
    writePack(
      directory,
      pack.map((n) => ({ oid: oid(n), bytes: plainEntry(BLOB, Buffer.from(`content of ${n}`)) })),
    );
  }
  if (options.loose === true) mkdirSync(join(directory, '00'));
  const tables = tablesOf(
    entries.map((n, i) => ({ path: `f${i}`, oid: oid(n), state: options.states?.[i] ?? State.PENDING })),
  );
  const odb = ObjectDatabase.open([directory], SHA1, () => undefined);
  const result = orderWrites(tables, odb, entries.length);
  odb.close();
  return { tables, order: [...result.order], positions: [...result.positions], missing: result.missing };
}

describe('orderWrites', () => {
  it('as the objects lie in their pack', () => {
    const { tables, order: found, positions } = order([[5, 3, 9, 1]], [1, 3, 5, 9]);
    expect(found).toEqual([2, 1, 3, 0]);
    expect(positions).toEqual([...tables.offsets.subarray(0, 4)].sort((a, b) => a - b));
    expect(found.map((entry) => tables.offsets[entry])).toEqual(positions);
    expect(positions[0]).toBe(12);
  });

  it('one pack after the other, loose objects last, in the order of their paths', () => {
    const {
      tables,
      order: found,
      missing,
    } = order(
      [
        [1, 2],
        [3, 4],
      ],
      [90, 4, 2, 91, 3, 1],
      { loose: true },
    );
    expect(missing).toEqual([]);
    const packs = found.map((entry) => tables.packs[entry]!);
    expect(packs).toEqual([0, 0, 1, 1, LOOSE, LOOSE]);
    expect(found.slice(4)).toEqual([0, 3]);
    expect(found.slice(0, 4).map((entry) => tables.offsets[entry])).toEqual([
      12,
      expect.any(Number),
      12,
      expect.any(Number),
    ]);
  });

  it('says what can be nowhere', () => {
    expect(order([[1, 2]], [1, 7, 2, 8])).toMatchObject({ order: [0, 2], missing: [1, 3] });
    expect(order([], [1])).toMatchObject({ order: [], positions: [], missing: [0] });
  });

  it('only what is to be written or compared', () => {
    const states = { 1: State.KEPT, 2: State.VERIFY, 3: State.LATER };
    const { order: found } = order([[1, 2, 3, 4, 5]], [5, 4, 3, 2, 1], { states });
    expect(found).toEqual([4, 2, 0]);
  });

  it('an object that is there several times', () => {
    expect(order([[2, 1]], [1, 2, 1, 1]).order).toEqual([1, 0, 2, 3]);
  });

  it('many entries of many packs', () => {
    const numbers = [...Array(5000).keys()];
    const packs = [0, 1, 2].map((pack) => numbers.filter((n) => n % 3 === pack).reverse());
    const { tables, order: found } = order(packs, numbers);
    expect([...found].sort((a, b) => a - b)).toEqual(numbers);
    for (let i = 1; i < found.length; i++) {
      const [before, now] = [found[i - 1]!, found[i]!];
      if (tables.packs[before] === tables.packs[now])
        expect(tables.offsets[now]).toBeGreaterThan(tables.offsets[before]!);
      else expect(tables.packs[now]).toBeGreaterThan(tables.packs[before]!);
    }
  });

  it('offsets in packs beyond 4 GiB', () => {
    // Too large to be made: whoever finds the objects is all that is needed here.
    const offsets = [2 ** 40 - 1, 12, 2 ** 32, 2 ** 32 - 1, 2 ** 39 + 255, 2 ** 39 + 256, 2 ** 32 + 1];
    const tables = tablesOf(offsets.map((_, i) => ({ path: `f${i}` })));
    const found = {
      pack: 0,
      offset: 0,
      find(_: Uint8Array, oidAt: number): boolean {
        this.offset = offsets[oidAt / 20]!;
        return true;
      },
    };
    const { order: sorted, positions } = orderWrites(tables, found as unknown as ObjectDatabase, offsets.length);
    expect([...sorted]).toEqual([1, 3, 2, 6, 4, 5, 0]);
    expect([...positions]).toEqual([...offsets].sort((a, b) => a - b));
  });
});
