import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyDelta, DeltaSizes, streamDelta } from '../../../src/engine/pack/delta.ts';
import { deltaSize } from '../../support/pack-writer.ts';
import { randomBytes } from '../../support/random.ts';
import { copy, deltaOf, insert, run, type Instruction } from './delta-instructions.ts';

const base = randomBytes(1, 300_000);

/** Applies the instructions (without the sizes) with room to spare, and checks that the room stays as it is. */
function apply(instructions: Uint8Array, resultSize: number, from = base): Buffer | null {
  const out = Buffer.alloc(resultSize + 16, 0xaa);
  const around = Buffer.concat([Buffer.from('head'), instructions, Buffer.from([1, 2, 3])]);
  const shifted = Buffer.concat([Buffer.alloc(9), from, Buffer.alloc(9)]);
  const good = applyDelta(shifted, 9, from.length, around, 4, 4 + instructions.length, out, resultSize);
  expect(out.subarray(resultSize).every((byte) => byte === 0xaa)).toBe(true);
  return good ? out.subarray(0, resultSize) : null;
}

function stream(instructions: Uint8Array, resultSize: number, pieceBytes: number, from = base): Buffer | null {
  const parts: Buffer[] = [];
  const good = streamDelta(
    from,
    0,
    from.length,
    instructions,
    0,
    instructions.length,
    resultSize,
    new Uint8Array(pieceBytes),
    (piece) => {
      expect(piece.length).toBeGreaterThan(0);
      expect(piece.length).toBeLessThanOrEqual(pieceBytes);
      parts.push(Buffer.from(piece));
    },
  );
  // Whatever the delta says: what is written from here was given room for so much.
  expect(parts.reduce((sum, part) => sum + part.length, 0)).toBeLessThanOrEqual(resultSize);
  return good ? Buffer.concat(parts) : null;
}

describe('instructions', () => {
  it('every way to write an offset', () => {
    for (let mask = 0; mask < 16; mask++) {
      const bytes = [0x05, 0x10, 0x01, 0x00].filter((_, i) => mask & (1 << i));
      const offset = (mask & 1 ? 5 : 0) + (mask & 2 ? 0x1000 : 0) + (mask & 4 ? 0x10000 : 0);
      const made = apply(Buffer.from([0x90 | mask, ...bytes, 30]), 30);
      expect(made, `mask ${mask}`).toEqual(base.subarray(offset, offset + 30));
    }
  });

  it('every way to write a size', () => {
    for (let mask = 1; mask < 8; mask++) {
      const bytes = [0x03, 0x02, 0x01].filter((_, i) => mask & (1 << i));
      const size = (mask & 1 ? 3 : 0) + (mask & 2 ? 0x200 : 0) + (mask & 4 ? 0x10000 : 0);
      expect(apply(Buffer.from([0x81 | (mask << 4), 7, ...bytes]), size), `mask ${mask}`).toEqual(
        base.subarray(7, 7 + size),
      );
    }
  });

  it('a size of zero is 64 KiB', () => {
    for (const bytes of [[0x80], [0x90, 0], [0xf0, 0, 0, 0]]) {
      expect(apply(Buffer.from(bytes), 0x10000)).toEqual(base.subarray(0, 0x10000));
    }
  });

  it('offsets beyond 31 bits are positive', () => {
    expect(apply(Buffer.from([0x98, 0xff, 1]), 1)).toBeNull();
    expect(apply(Buffer.from([0x9f, 0xff, 0xff, 0xff, 0xff, 1]), 1)).toBeNull();
  });

  it('literals of 1 to 127 bytes', () => {
    for (let size = 1; size < 128; size++) {
      const literal = randomBytes(size, size);
      expect(apply(Buffer.from([size, ...literal]), size)).toEqual(literal);
    }
  });

  it('zero is reserved', () => {
    expect(apply(Buffer.from([0]), 0)).toBeNull();
    expect(apply(Buffer.from([1, 65, 0]), 1)).toBeNull();
  });
});

describe('bounds', () => {
  const whole = base.length;
  it('a copy ends where the base ends', () => {
    expect(apply(copy(whole - 10, 10), 10)).toEqual(base.subarray(whole - 10));
    expect(apply(copy(whole - 10, 11), 11)).toBeNull();
    expect(apply(copy(whole, 1), 1)).toBeNull();
    expect(apply(Buffer.from([0x80]), 0x10000, base.subarray(0, 0xffff))).toBeNull();
  });

  it('a result has exactly its size', () => {
    const instructions = Buffer.concat([copy(0, 100), insert(Buffer.from('abc'))]);
    expect(apply(instructions, 103)?.length).toBe(103);
    for (const size of [0, 99, 100, 102, 104, 203]) expect(apply(instructions, size), `${size}`).toBeNull();
  });

  it('instructions that are cut off', () => {
    const instructions = Buffer.concat([copy(0x10203, 0x1020), insert(Buffer.from('abcdef'))]);
    for (let length = 0; length < instructions.length; length++) {
      expect(apply(instructions.subarray(0, length), 0x1026), `${length}`).toBeNull();
      expect(stream(instructions.subarray(0, length), 0x1026, 100), `${length}`).toBeNull();
    }
    expect(apply(instructions, 0x1026)).not.toBeNull();
  });

  it('an instruction does not go on in the bytes behind the delta', () => {
    // Behind it stand 1, 2 and 3 (see `apply`): a size of 1, and then an offset of 1 and a size of 2.
    expect(apply(Buffer.from([0x91, 5]), 1)).toBeNull();
    expect(apply(Buffer.from([0x91]), 2)).toBeNull();
    expect(apply(Buffer.from([1]), 1)).toBeNull();
  });

  it('nothing of nothing', () => {
    expect(apply(Buffer.alloc(0), 0)?.length).toBe(0);
    expect(stream(Buffer.alloc(0), 0, 1)?.length).toBe(0);
  });

  it('a result may not be written over a result', () => {
    expect(stream(Buffer.concat([copy(0, 1000), copy(0, 1)]), 1000, 64)).toBeNull();
  });
});

describe('properties', () => {
  const instruction = (baseLength: number): fc.Arbitrary<Instruction> =>
    fc.oneof(
      fc
        .tuple(fc.nat({ max: baseLength - 1 }), fc.integer({ min: 1, max: 70_000 }))
        .map(([offset, size]) => ({ offset, size: Math.min(size, baseLength - offset) })),
      fc.uint8Array({ minLength: 1, maxLength: 127 }),
    );

  it('both ways give what the reference gives, in pieces of any size', () => {
    fc.assert(
      fc.property(
        fc
          .integer({ min: 1, max: 70_000 })
          .chain((length) =>
            fc.tuple(fc.constant(base.subarray(0, length)), fc.array(instruction(length), { maxLength: 12 })),
          ),
        fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 100_000 })),
        ([from, list], pieceBytes) => {
          const expected = run(from, list);
          const instructions = deltaOf(list);
          // Tiny pieces of a large result say no more than those of a small one.
          const tiny = Math.max(pieceBytes, expected.length >> 10, 1);
          expect(apply(instructions, expected.length, from)?.equals(expected)).toBe(true);
          expect(stream(instructions, expected.length, tiny, from)?.equals(expected)).toBe(true);
          expect(apply(instructions, expected.length + 1, from)).toBeNull();
        },
      ),
      { numRuns: 100 },
    );
  });

  it('random bytes never write outside of the result, and both ways agree', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 30 }), fc.nat({ max: 200 }), (bytes, size) => {
        const from = base.subarray(0, 300);
        const applied = apply(bytes, size, from);
        expect(stream(bytes, size, 7, from)).toEqual(applied);
      }),
      { numRuns: 500 },
    );
  });
});

describe('the sizes at the head', () => {
  const sizes = new DeltaSizes();
  const parse = (bytes: Uint8Array): boolean => sizes.parse(bytes, 0, bytes.length);

  it.each([
    [0, 0],
    [127, 128],
    [2 ** 32 + 1, 2 ** 40],
    [2 ** 53 - 1, 5],
  ])('%i and %i', (baseSize, resultSize) => {
    const head = Buffer.concat([deltaSize(baseSize), deltaSize(resultSize)]);
    const bytes = Buffer.concat([Buffer.alloc(3), head, Buffer.alloc(4)]);
    expect(sizes.parse(bytes, 3, bytes.length)).toBe(true);
    expect([sizes.baseSize, sizes.resultSize, sizes.instructionsAt]).toEqual([baseSize, resultSize, 3 + head.length]);
  });

  it('are refused when they are cut off or out of range', () => {
    const head = Buffer.concat([deltaSize(2 ** 40), deltaSize(2 ** 40)]);
    for (let end = 0; end < head.length; end++) {
      expect(sizes.parse(Buffer.concat([head, Buffer.alloc(9)]), 0, end), `${end}`).toBe(false);
    }
    expect(parse(Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 1, 1]))).toBe(false);
    // Eight bytes and not nine, even where the ninth adds nothing.
    const padded = (bytes: number): Buffer => Buffer.from([...Array<number>(bytes - 1).fill(0x80), 0, 1, 1, 65]);
    expect([parse(padded(8)), parse(padded(9))]).toEqual([true, false]);
    expect(parse(Buffer.alloc(30, 0x80))).toBe(false);
    expect(parse(Buffer.alloc(30, 0xff))).toBe(false);
  });

  it('of a delta that is shorter than any of git’s are refused', () => {
    expect(parse(Buffer.from([5, 0]))).toBe(false);
    expect(parse(Buffer.from([5, 0, 0]))).toBe(false);
    expect(parse(Buffer.from([5, 1, 1, 65]))).toBe(true);
  });
});
