import { join } from 'node:path';
import { truncateSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { PackWindow, WINDOW_BYTES } from '../../../src/engine/pack/pack-window.ts';
import { randomBytes } from '../../support/random.ts';
import { temporaryFolder } from '../../support/temporary.ts';
import { MadePack, type OpenedPack } from './made-pack.ts';

const folder = temporaryFolder('pack-window');
const made = new MadePack();
for (let i = 0; i < 3; i++) made.plain(randomBytes(i, 600_000), 0);
const packs = ['a', 'b', 'c'].map((name): OpenedPack => made.write(join(folder, name)));
const files = packs.map((pack) => pack.file);
afterAll(() => {
  for (const pack of packs) pack.close();
});

describe('PackWindow', () => {
  it('reads little for one entry, as far as it is told for many, and never past the first byte of the checksum', () => {
    const endAfter = (readAheadEnd: number, offset: number, length = 10): number => {
      const window = new PackWindow(files);
      window.readAheadEnd = readAheadEnd;
      window.ensure(0, offset, length);
      expect(window.start).toBe(offset);
      return window.end;
    };
    expect(endAfter(0, 12)).toBe(12 + (32 << 10));
    expect(endAfter(100_000, 12)).toBe(100_000);
    expect(endAfter(100_000, 99_000)).toBe(99_000 + (32 << 10));
    expect(endAfter(0, 12, 500_000)).toBe(500_012);
    expect(endAfter(2 ** 40, 12)).toBe(12 + WINDOW_BYTES);
    expect(endAfter(2 ** 40, made.end - 10)).toBe(made.end + 1);
  });

  it('keeps what it has while that is enough', () => {
    const window = new PackWindow(files);
    window.ensure(0, 12, 1000);
    const { end } = window;
    window.ensure(0, 500, end - 500);
    expect(window.start).toBe(12);
    window.ensure(0, 500, end - 499);
    expect(window.start).toBe(500);
    window.ensure(1, 500, 10);
    window.ensure(1, 499, 10);
    expect(window.start).toBe(499);
  });

  it('keeps what it has read ahead while it looks at what lies elsewhere', () => {
    const window = new PackWindow(files);
    window.readAheadStart = 400_000;
    window.readAheadEnd = 900_000;
    window.ensure(0, 400_000, 10);
    expect(window.end).toBe(900_000);
    // A base in front: little is read, however far it is from what is wanted soon.
    window.ensure(0, 12, 10);
    expect([window.start, window.end]).toEqual([12, 12 + (32 << 10)]);
    window.ensure(0, 890_000, 10_000);
    expect([window.start, window.end]).toEqual([400_000, 900_000]);
    window.ensure(0, 100, 10);
    expect(window.start).toBe(12);
    // And one behind.
    window.ensure(0, 1_000_000, 10);
    expect([window.start, window.end]).toEqual([1_000_000, 1_000_000 + (32 << 10)]);
    window.ensure(1, 400_000, 10);
    expect(window.end).toBe(900_000);
    window.ensure(0, 1_000_000, 10);
    expect(window.start).toBe(1_000_000);
  });

  it('goes on up to the first byte of the checksum', () => {
    const window = new PackWindow(files);
    expect(window.advance(0, made.end)).toBe(true);
    expect([window.start, window.end]).toEqual([made.end, made.end + 1]);
    expect(window.advance(0, made.end + 1)).toBe(false);
  });

  it('holds nothing after a read that failed', () => {
    const window = new PackWindow(files);
    window.ensure(2, 12, 100_000);
    const before = Buffer.from(window.bytes.subarray(0, 100_000));
    truncateSync(files[2]!.path, 700_000);
    expect(() => {
      window.ensure(2, 600_000, 200_000);
    }).toThrow(/cut off/);
    window.ensure(2, 12, 100_000);
    expect(before.equals(window.bytes.subarray(0, 100_000))).toBe(true);
  });
});
