import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CheckoutError } from '../../../src/engine/errors.ts';
import { PackIndex } from '../../../src/engine/pack/pack-index.ts';
import { GitRepository } from '../../support/repository.ts';
import { temporaryFolder } from '../../support/temporary.ts';
import { indexFile, manyOids, type IndexSpec } from './index-file.ts';
import { SHA1 } from '../../../src/engine/oid.ts';

const folder = temporaryFolder('pack-index');
let files = 0;

function write(bytes: Uint8Array): string {
  const path = join(folder, `${files++}.idx`);
  writeFileSync(path, bytes);
  return path;
}

function withIndex<T>(bytes: Uint8Array, run: (index: PackIndex) => T): T {
  const index = PackIndex.open(write(bytes), SHA1);
  try {
    return run(index);
  } finally {
    index.close();
  }
}

function refusal(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    expect(error).toBeInstanceOf(CheckoutError);
    const { code, message } = error as CheckoutError;
    expect(code).toBe('object-corrupt');
    expect(message).toMatch(/^pack index '.*\.idx' .+$/);
    return message;
  }
  throw new Error('it was not refused');
}

/** Each id is found at its offset, and its neighbours are not found. */
function expectAll(index: PackIndex, oids: Uint8Array, offsets: ArrayLike<number>, step = 1): void {
  const wrong: number[] = [];
  const near = new Uint8Array(20);
  for (let i = 0; i < offsets.length; i += step) {
    if (index.find(oids, 20 * i) !== offsets[i]) wrong.push(i);
    if (index.offsetAt(i) !== offsets[i]) wrong.push(i);
    for (const change of [1, 255]) {
      near.set(oids.subarray(20 * i, 20 * i + 20));
      near[19] = (near[19]! + change) & 255;
      if (index.find(near, 0) !== -1) wrong.push(i);
    }
  }
  expect(wrong.slice(0, 5)).toEqual([]);
}

/** Ids whose neighbours (last byte one more or one less) are not in the index. */
function apart(oids: Uint8Array): Uint8Array {
  for (let i = 0; i < oids.length / 20; i++) oids[20 * i + 19] = 0x40;
  return oids;
}

describe.each([1, 2] as const)('version %i', (version) => {
  it.each([0, 1, 2, 255, 1000])('%i objects', (count) => {
    const oids = apart(manyOids(count));
    const offsets = Array.from({ length: count }, (_, i) => 12 + 7 * ((i * 31) % Math.max(1, count)));
    withIndex(indexFile({ version, oids, offsets, packChecksum: Buffer.alloc(20, 0x5a) }), (index) => {
      expect(index.count).toBe(count);
      expectAll(index, oids, offsets);
      expect(index.packChecksum()).toEqual(Buffer.alloc(20, 0x5a));
      expect(index.find(Buffer.alloc(20, 0xff), 0)).toBe(-1);
    });
  });

  it('ids that are not spread evenly', () => {
    // All in one bucket, and all but one in a corner of it.
    const list = [...Array(300).keys()].map((i) =>
      Buffer.from([7, 0, 0, 0, i >> 4, (i & 15) << 4, ...Array<number>(14).fill(9)]),
    );
    list.push(Buffer.alloc(20, 7));
    list.sort((a, b) => Buffer.compare(a, b));
    const oids = Buffer.concat(list);
    const offsets = list.map((_, i) => 100 + i);
    withIndex(indexFile({ version, oids, offsets }), (index) => {
      expectAll(index, oids, offsets);
    });
  });

  it('the id may stand anywhere in the bytes', () => {
    const oids = apart(manyOids(50));
    withIndex(indexFile({ version, oids, offsets: [...Array(50).keys()] }), (index) => {
      expect(index.find(Buffer.concat([Buffer.from('tree entry\0'), oids.subarray(200, 220)]), 11)).toBe(10);
    });
  });

  it('offsets up to 31 bits, and in version 1 up to 32', () => {
    const offsets = [12, 0x7fffffff, ...(version === 1 ? [0x80000000, 0xffffffff] : [])];
    const oids = apart(manyOids(offsets.length));
    withIndex(indexFile({ version, oids, offsets }), (index) => {
      expectAll(index, oids, offsets);
    });
  });
});

describe('large offsets', () => {
  const offsets = [12, 2 ** 31, 2 ** 32, 2 ** 32 + 1, 2 ** 40 + 77, 2 ** 53 - 1];
  const oids = apart(manyOids(offsets.length));

  it('are found through their table', () => {
    withIndex(indexFile({ version: 2, oids, offsets }), (index) => {
      expectAll(index, oids, offsets);
    });
  });

  it('may be small', () => {
    withIndex(indexFile({ version: 2, oids, offsets, largeFrom: 13 }), (index) => {
      expectAll(index, oids, offsets);
    });
  });

  it('beyond what a number holds are refused', () => {
    const bytes = indexFile({ version: 2, oids, offsets });
    bytes.writeUInt32BE(0x200000, bytes.length - 40 - 8);
    withIndex(bytes, (index) => {
      expect(refusal(() => index.find(oids, 100))).toContain('out of range');
      expect(index.find(oids, 80)).toBe(offsets[4]);
    });
  });

  it('that are not in their table are refused', () => {
    const bytes = indexFile({ version: 2, oids, offsets });
    bytes.writeUInt32BE(0x80000005, 8 + 1024 + 24 * 6);
    bytes.writeUInt32BE(0xffffffff, 8 + 1024 + 24 * 6 + 4);
    withIndex(bytes, (index) => {
      expect(refusal(() => index.find(oids, 0))).toContain('large offsets');
      expect(refusal(() => index.find(oids, 20))).toContain('large offsets');
    });
  });
});

describe('files larger than are read whole', () => {
  const count = 700_000;
  const unique = apart(manyOids(count));
  const offsets = new Float64Array(count);
  for (let i = 0; i < count; i++) offsets[i] = i % 5 === 0 ? 2 ** 33 + i : 12 + 3 * i;

  it.each([
    [2, offsets],
    [1, offsets.map((_, i) => 12 + i)],
  ] as const)('version %i', (version, places) => {
    const bytes = indexFile({ version, oids: unique, offsets: places });
    expect(bytes.length).toBeGreaterThan(16 << 20);
    const before = process.memoryUsage().arrayBuffers;
    const path = write(bytes);
    const index = PackIndex.open(path, SHA1);
    expect(index.count).toBe(count);
    // In order, then all over the file: blocks are dropped and read again.
    expectAll(index, unique, places, 61);
    const wrong: number[] = [];
    for (let i = 0; i < 5000; i++) {
      const at = (i * 7919 * 13) % count;
      if (index.find(unique, 20 * at) !== places[at]) wrong.push(at);
    }
    expect(wrong).toEqual([]);
    expect(index.packChecksum()).toEqual(Buffer.alloc(20, 0xcc));
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(8 << 20);
    index.close();
  });

  it('that shrink while they are open are told', () => {
    const path = write(indexFile({ version: 2, oids: unique, offsets }));
    const index = PackIndex.open(path, SHA1);
    writeFileSync(path, Buffer.alloc(100));
    expect(refusal(() => index.find(unique, 20 * 350_000))).toContain('ends early');
    index.close();
  });
});

describe('hostile files', () => {
  const spec: IndexSpec = { version: 2, oids: apart(manyOids(20)), offsets: [...Array(20).keys()] };
  const good = { 1: indexFile({ ...spec, version: 1 }), 2: indexFile(spec) };

  it.each([0, 1, 8, 1031, 1032, 1063, 1064, 1071])('of %i bytes', (length) => {
    expect(refusal(() => PackIndex.open(write(good[2].subarray(0, length)), SHA1))).toMatch(/too small|wrong size/);
    refusal(() => PackIndex.open(write(good[1].subarray(0, length)), SHA1));
  });

  it('cut or longer by a byte', () => {
    for (const bytes of Object.values(good)) {
      expect(refusal(() => PackIndex.open(write(bytes.subarray(0, -1)), SHA1))).toContain('wrong size');
    }
    expect(refusal(() => PackIndex.open(write(Buffer.concat([good[1], Buffer.alloc(1)])), SHA1))).toContain(
      'wrong size',
    );
    // Version 2 may have up to count - 1 large offsets.
    PackIndex.open(write(Buffer.concat([good[2], Buffer.alloc(19 * 8)])), SHA1).close();
    expect(refusal(() => PackIndex.open(write(Buffer.concat([good[2], Buffer.alloc(19 * 8 + 1)])), SHA1))).toContain(
      'wrong size',
    );
  });

  it('of a version that is not known', () => {
    const bytes = Buffer.from(good[2]);
    bytes.writeUInt32BE(3, 4);
    expect(refusal(() => PackIndex.open(write(bytes), SHA1))).toContain('unknown version');
  });

  it('with a fan-out table that falls, or counts more than there is', () => {
    const falling = Buffer.from(good[2]);
    falling.writeUInt32BE(21, 8 + 4 * 100);
    expect(refusal(() => PackIndex.open(write(falling), SHA1))).toContain('out of order');
    const many = Buffer.from(good[2]);
    many.writeUInt32BE(0xffffffff, 8 + 4 * 255);
    expect(refusal(() => PackIndex.open(write(many), SHA1))).toContain('wrong size');
  });

  it('that are not files, or not there', () => {
    mkdirSync(join(folder, 'd.idx'));
    for (const name of ['d.idx', 'absent.idx']) {
      expect(() => PackIndex.open(join(folder, name), SHA1)).toThrow(
        expect.objectContaining({ code: 'io', message: expect.stringContaining(name) as string }),
      );
    }
  });

  it.runIf(process.platform === 'linux')('are closed again', () => {
    const path = write(good[2].subarray(0, -1));
    const descriptors = readdirSync('/proc/self/fd').length;
    refusal(() => PackIndex.open(path, SHA1));
    PackIndex.open(write(good[2]), SHA1).close();
    expect(readdirSync('/proc/self/fd').length).toBe(descriptors);
  });

  it('with ids out of order: what is found is still what was asked for', () => {
    const bytes = Buffer.from(good[2]);
    bytes.subarray(8 + 1024, 8 + 1024 + 400).reverse();
    withIndex(bytes, (index) => {
      for (let i = 0; i < 20; i++) {
        const offset = index.find(spec.oids, 20 * i);
        expect(offset).toBeLessThan(20);
      }
    });
  });
});

it.each(['1', '2', '2,0x100'])('finds in an index made by git (version %s) what git lists', (version) => {
  const repository = new GitRepository(join(folder, `version-${version}`));
  repository.commit(Object.fromEntries([...Array(300).keys()].map((i) => [`d${i % 7}/f${i}`, `content ${i}\n`])));
  const packs = join(repository.gitDir, 'objects', 'pack');
  const pack = join(
    packs,
    readdirSync(packs).find((name) => name.endsWith('.pack'))!,
  );
  const path = join(folder, `${version}.idx`);
  repository.git(['index-pack', `--index-version=${version}`, '-o', path, pack]);
  const listed = repository.text(['show-index'], { input: readFileSync(path) }).split('\n');
  const index = PackIndex.open(path, SHA1);
  expect(index.count).toBe(listed.length);
  for (const line of listed) {
    const [offset, oid] = line.split(' ');
    expect(index.find(Buffer.from(oid!, 'hex'), 0)).toBe(Number(offset));
  }
  expect(index.packChecksum()).toEqual(readFileSync(pack).subarray(-20));
  index.close();
});
