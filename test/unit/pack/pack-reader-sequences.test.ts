/**
 * A reader keeps much from one object to the next: the window, the last plain object, the cache, a large base. Here objects of
 * two packs are read in any order, by any way, damaged ones among them, with and without giving memory back.
 */
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { CheckoutError } from '../../../src/engine/errors.ts';
import { Inflater } from '../../../src/engine/pack/inflate.ts';
import { PackReader, SCRATCH_BYTES } from '../../../src/engine/pack/pack-reader.ts';
import { entryHeader } from '../../support/pack-writer.ts';
import { randomBytes, randomNumbers } from '../../support/random.ts';
import { temporaryFolder } from '../../support/temporary.ts';
import type { Instruction } from './delta-instructions.ts';
import { MadePack, plainEntry } from './made-pack.ts';
import { SHA1 } from '../../../src/engine/oid.ts';

const folder = temporaryFolder('sequences');
const LARGE = SCRATCH_BYTES + 1000;

interface Case {
  readonly made: MadePack;
  /** Of each entry; 0 for a damaged one. */
  readonly types: number[];
}

/** The same shape for each seed, so that offsets are the same in both packs; other contents. */
function makeCase(seed: number): Case {
  const made = new MadePack();
  const types: number[] = [];
  const shape = randomNumbers(1);
  const plain = (type: number, content: Buffer, damage = false): void => {
    // Stored, so that the entry's size does not depend on what is in it.
    const bytes = Buffer.concat([entryHeader(type, content.length), deflateSync(content, { level: 0 })]);
    if (damage) bytes[bytes.length - 1]! ^= 1;
    made.raw(bytes, content);
    types.push(damage ? 0 : type);
  };
  const large = (i: number): Buffer => Buffer.concat([randomBytes(seed + i, 1000), Buffer.alloc(LARGE - 1000, i)]);
  for (let i = 0; i < 4; i++) {
    plain(1 + (i % 4), randomBytes(seed + i, 500 + 700 * i));
    plain(3, randomBytes(seed + 10 + i, 3000), true);
    plain(1 + ((i + 2) % 4), large(i));
  }
  for (let i = 0; i < 40; i++) {
    let base = shape(made.entries.length);
    if (types[base] === 0) base = 0;
    const { length } = made.contents[base]!;
    const start = shape(Math.min(length, 300));
    const list: Instruction[] = [randomBytes(seed + 100 + i, 1 + shape(100)), { offset: start, size: length - start }];
    // Some become large, some small again.
    if (i % 9 === 0) for (let size = length; size <= LARGE; size += length) list.push({ offset: 0, size: length });
    if (i % 5 === 0) list.splice(1, 1, { offset: start, size: Math.min(200, length - start) });
    made.delta(base, list, shape(2) === 0 ? 'offset' : 'id', 0);
    types.push(types[base]!);
  }
  return { made, types };
}

const cases = [makeCase(1000), makeCase(2000)];
const opened = cases.map(({ made }, i) => made.write(join(folder, `${i}`)));
afterAll(() => {
  for (const pack of opened) pack.close();
});

const step = fc.record({
  pack: fc.nat({ max: 1 }),
  entry: fc.nat({ max: cases[0]!.types.length - 1 }),
  how: fc.constantFrom('read', 'stream', 'open'),
  small: fc.boolean(),
  measure: fc.boolean(),
  finish: fc.boolean(),
  drop: fc.integer({ min: 0, max: 3 }).map((n) => n === 0),
});

describe('objects in any order', () => {
  it('the packs have their entries at the same places', () => {
    for (const [entry] of cases[0]!.types.entries()) {
      expect(cases[0]!.made.offset(entry)).toBe(cases[1]!.made.offset(entry));
    }
    const sizes = cases[0]!.made.contents.map((content) => content.length);
    expect(sizes.filter((size) => size > SCRATCH_BYTES).length).toBeGreaterThan(8);
    expect(sizes.filter((size) => size < 5000).length).toBeGreaterThan(20);
  });

  it.each([
    ['with the handle', true, undefined],
    ['with a small cache', true, 40_000],
    ['without the handle and the cache', false, 0],
  ])('%s', (_, useHandle, baseCacheBytes) => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 5, maxLength: 50 }), (steps) => {
        const reader = new PackReader(
          opened.map((pack) => pack.file),
          SHA1,
          { inflater: new Inflater(useHandle), ...(baseCacheBytes === undefined ? {} : { baseCacheBytes }) },
        );
        for (const { pack, entry, how, small, measure, finish, drop } of steps) {
          const { made, types } = cases[pack]!;
          const content = made.contents[entry]!;
          reader.open(pack, made.offset(entry));
          const parts: Buffer[] = [];
          const get = (): void => {
            const bytes = small ? reader.readSmall() : null;
            if (bytes !== null) {
              parts.push(Buffer.from(bytes));
              return;
            }
            if (measure) {
              reader.measure();
              expect(reader.size).toBe(content.length);
            }
            if (how === 'stream') reader.stream((piece) => parts.push(Buffer.from(piece)));
            else if (how === 'read') parts.push(Buffer.from(reader.read()));
            else parts.push(content);
          };
          if (types[entry] === 0) {
            if (how !== 'open') expect(get).toThrow(CheckoutError);
          } else {
            get();
            expect(reader.type).toBe(types[entry]);
            expect(Buffer.concat(parts).equals(content), `entry ${entry} of pack ${pack}, ${how}`).toBe(true);
          }
          if (finish) reader.finish();
          if (drop) reader.dropRetained();
          expect([0, LARGE + 1]).toContain(reader.retainedBytes);
        }
        reader.close();
        expect(reader.retainedBytes).toBe(0);
      }),
      { numRuns: 25 },
    );
  });
});

it('a delta is not put on what a damaged object left behind', () => {
  const made = new MadePack();
  const base = made.plain(randomBytes(1, 3000));
  const damaged = plainEntry(3, randomBytes(2, 3000));
  damaged[damaged.length - 1]! ^= 1;
  const bad = made.raw(damaged, Buffer.alloc(0));
  const delta = made.delta(base, [{ offset: 5, size: 2000 }]);
  const pack = made.write(join(folder, 'damaged'));
  const reader = new PackReader([pack.file], SHA1);
  reader.open(0, made.offset(base));
  reader.readSmall();
  reader.open(0, made.offset(bad));
  expect(() => reader.readSmall()).toThrow(CheckoutError);
  reader.open(0, made.offset(delta));
  expect(made.contents[delta]!.equals(reader.readSmall()!)).toBe(true);
  reader.close();
  pack.close();
});
