import { readdirSync, readFileSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { CheckoutError } from '../../../src/engine/errors.ts';
import { Inflater } from '../../../src/engine/pack/inflate.ts';
import type { PackFile } from '../../../src/engine/pack/pack-file.ts';
import { BASE_CACHE_BYTES, PackReader, SCRATCH_BYTES } from '../../../src/engine/pack/pack-reader.ts';
import { WINDOW_BYTES } from '../../../src/engine/pack/pack-window.ts';
import { deltaSize, entryHeader, OFS_DELTA, offsetBytes, REF_DELTA } from '../../support/pack-writer.ts';
import { randomBytes, randomText } from '../../support/random.ts';
import { GitRepository } from '../../support/repository.ts';
import { temporaryFolder } from '../../support/temporary.ts';
import { copy, deltaOf, insert, type Instruction } from './delta-instructions.ts';
import { BLOB, MadePack, openByName, plainEntry, type OpenedPack } from './made-pack.ts';
import { SHA1 } from '../../../src/engine/oid.ts';

const folder = temporaryFolder('pack-reader');
const closers: (() => void)[] = [];
afterAll(() => {
  for (const close of closers) close();
});
let folders = 0;

function opened(made: MadePack): OpenedPack {
  const pack = made.write(join(folder, `${folders++}`));
  closers.push(pack.close);
  return pack;
}

function readerOf(packs: readonly PackFile[], options: { handle?: boolean; baseCacheBytes?: number } = {}): PackReader {
  const reader = new PackReader(packs, SHA1, {
    inflater: new Inflater(options.handle ?? true),
    ...(options.baseCacheBytes === undefined ? {} : { baseCacheBytes: options.baseCacheBytes }),
  });
  closers.push(() => {
    reader.close();
  });
  return reader;
}

/** The object as `read` gives it. */
function read(reader: PackReader, pack: number, offset: number): Buffer {
  reader.open(pack, offset);
  const small = reader.readSmall();
  const bytes = Buffer.from(small ?? reader.read());
  expect(reader.size).toBe(bytes.length);
  reader.finish();
  reader.dropRetained();
  return bytes;
}

/** The object as `stream` gives it. */
function stream(reader: PackReader, pack: number, offset: number): Buffer {
  reader.open(pack, offset);
  const parts: Buffer[] = [];
  reader.stream((piece) => {
    expect(piece.length).toBeGreaterThan(0);
    parts.push(Buffer.from(piece));
  });
  const bytes = Buffer.concat(parts);
  expect(reader.size).toBe(bytes.length);
  reader.finish();
  reader.dropRetained();
  return bytes;
}

function refusal(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    expect(error).toBeInstanceOf(CheckoutError);
    expect((error as CheckoutError).code).toBe('object-corrupt');
    expect((error as CheckoutError).message).toMatch(/^pack '.*\.pack': the entry at offset \d+ .+$/);
    return (error as CheckoutError).message;
  }
  throw new Error('it was not refused');
}

/** Every entry of a pack, in order and backwards, by every way of reading. */
function expectContents(made: MadePack, options: { handle?: boolean; baseCacheBytes?: number } = {}): void {
  const { file } = opened(made);
  const reader = readerOf([file], options);
  const numbers = [...made.contents.keys()];
  for (const order of [numbers, [...numbers].reverse()]) {
    for (const entry of order) {
      const offset = made.offset(entry);
      expect(Buffer.compare(read(reader, 0, offset), made.contents[entry]!), `entry ${entry} read`).toBe(0);
      expect(Buffer.compare(stream(reader, 0, offset), made.contents[entry]!), `entry ${entry} streamed`).toBe(0);
      expect(reader.type).toBe(BLOB);
    }
  }
}

const WAYS = [
  ['with the handle', { handle: true }],
  ['without the handle', { handle: false }],
  ['without a cache', { baseCacheBytes: 0 }],
] as const;

describe('packs made by git', () => {
  const repository = new GitRepository(join(folder, 'git'));
  const contents = new Map<string, { type: string; bytes: Buffer }>();
  const types: Record<string, number> = { commit: 1, tree: 2, blob: 3, tag: 4 };

  beforeAll(() => {
    const text = randomText(3, 30_000);
    const large = randomText(4, 1_400_000);
    repository.commits(
      [...Array(12).keys()].map((version) => ({
        empty: '',
        same: 'x',
        changing: `${version}\n${text}${version}`,
        [`only-${version}`]: `a line of ${version}\n`,
        'd/e/growing': text.slice(0, 100 + version * 2000),
        ...(version % 4 === 0 ? { large: `${version}${large}`, noise: randomBytes(version, 1_200_000) } : {}),
      })),
    );
    repository.git(['tag', '-a', '-m', 'a tag', 'v1', 'main']);
    const listed = repository.git(['cat-file', '--batch-all-objects', '--batch']);
    for (let at = 0; at < listed.length;) {
      const end = listed.indexOf(0x0a, at);
      const [oid, type, size] = listed.toString('latin1', at, end).split(' ');
      contents.set(oid!, { type: type!, bytes: listed.subarray(end + 1, end + 1 + Number(size)) });
      at = end + 1 + Number(size) + 1;
    }
  });

  it.each([
    ['offset deltas', ['-c', 'pack.threads=1', 'repack', '-adfq', '--depth=50', '--window=20']],
    [
      'reference deltas',
      ['-c', 'pack.threads=1', '-c', 'repack.useDeltaBaseOffset=false', 'repack', '-adfq', '--depth=50'],
    ],
    ['no deltas, no compression', ['-c', 'core.compression=0', 'repack', '-adFq', '--depth=0', '--window=0']],
  ])('%s', (_, command) => {
    repository.git(command);
    const packs = join(repository.gitDir, 'objects', 'pack');
    const name = readdirSync(packs)
      .find((file) => file.endsWith('.pack'))!
      .slice(5, -5);
    const pack = openByName(packs, name);
    expect(pack.index.count).toBe(contents.size);
    for (const [, options] of WAYS) {
      const reader = readerOf([pack.file], options);
      for (const [oid, { type, bytes }] of contents) {
        const offset = pack.index.find(Buffer.from(oid, 'hex'), 0);
        expect(Buffer.compare(read(reader, 0, offset), bytes), oid).toBe(0);
        expect(reader.type).toBe(types[type]);
        expect(Buffer.compare(stream(reader, 0, offset), bytes), oid).toBe(0);
        expect(reader.type).toBe(types[type]);
      }
      reader.close();
    }
    pack.close();
  });
});

/** Copies that make `size` bytes of a base, over and over. */
function repeated(baseSize: number, size: number): Instruction[] {
  const list: Instruction[] = [];
  for (let left = size; left > 0;) {
    const part = Math.min(left, baseSize, 0xffffff);
    list.push({ offset: 0, size: part });
    left -= part;
  }
  return list;
}

describe('objects around the size of the scratch buffers', () => {
  it.each(WAYS)('%s', (_, options) => {
    const made = new MadePack();
    const noise = randomBytes(5, 3 * SCRATCH_BYTES);
    const sizes = [0, 1, SCRATCH_BYTES - 1, SCRATCH_BYTES, SCRATCH_BYTES + 1, 2 * SCRATCH_BYTES + 77];
    const bases = sizes.map((size) => made.plain(noise.subarray(0, size), size % 2));
    for (const base of bases.slice(1)) {
      const from = made.contents[base]!;
      for (const size of [SCRATCH_BYTES, SCRATCH_BYTES + 1]) {
        made.delta(base, [...repeated(from.length, Math.min(size - 3, from.length * 50)), Buffer.from('end')]);
      }
    }
    expectContents(made, options);
  });

  it('deltas that are themselves larger', () => {
    for (const [, options] of WAYS) {
      const made = new MadePack();
      const base = made.plain(randomBytes(6, 1000));
      const list: Instruction[] = [];
      for (let i = 0; i < 8300; i++) list.push(randomBytes(i, 127));
      const first = made.delta(base, [...list, { offset: 5, size: 100 }], 'offset', 1);
      made.delta(first, [{ offset: 1_000_000, size: 500 }, ...list]);
      expectContents(made, options);
    }
  });
});

describe('chains', () => {
  function chain(length: number, by: 'offset' | 'id', baseSize: number): MadePack {
    const made = new MadePack();
    let last = made.plain(randomBytes(length, baseSize));
    for (let i = 0; i < length; i++) {
      const size = made.contents[last]!.length;
      last = made.delta(last, [{ offset: 1, size: size - 1 }, Buffer.from([i & 255])], by, 1);
    }
    return made;
  }

  it.each(['offset', 'id'] as const)('3000 deltas by %s', (by) => {
    const made = chain(3000, by, 400);
    const { file } = opened(made);
    for (const [, options] of WAYS) {
      const reader = readerOf([file], options);
      for (const entry of [3000, 0, 1, 1500, 2999]) {
        expect(read(reader, 0, made.offset(entry)).equals(made.contents[entry]!)).toBe(true);
        expect(stream(reader, 0, made.offset(entry)).equals(made.contents[entry]!)).toBe(true);
      }
    }
  });

  it('of large objects hold no more than two and the base at a time', () => {
    const made = chain(5, 'offset', 2 * SCRATCH_BYTES);
    expectContents(made);
    const { file } = opened(made);
    const reader = readerOf([file], { baseCacheBytes: 0 });
    const large = 2 * SCRATCH_BYTES + 1;
    reader.open(0, made.offset(5));
    reader.measure();
    expect([reader.readBytes, reader.streamBytes]).toEqual([3 * large, 3 * large]);
  });

  it('small and large objects in turns', () => {
    const made = new MadePack();
    let last = made.plain(randomBytes(9, 5000));
    for (let i = 0; i < 6; i++) {
      const size = made.contents[last]!.length;
      last = made.delta(
        last,
        i % 2 === 0 ? repeated(size, SCRATCH_BYTES + 1 + i * 1000) : [{ offset: i, size: 5000 + i }],
      );
    }
    for (const [, options] of WAYS) expectContents(made, options);
  });

  it('are put together right when a look at the small ones has changed the cache', () => {
    // The ring has room for eight objects of this size. The base comes in first, so that it is the next to go.
    const size = 8 << 10;
    const made = new MadePack();
    const base = made.plain(randomBytes(1, size));
    const brother = made.delta(base, [{ offset: 0, size: size - 1 }, Buffer.from('b')]);
    const small = made.delta(base, [{ offset: 1, size: size - 1 }, Buffer.from('s')]);
    const large = made.delta(small, repeated(size, 3 * SCRATCH_BYTES));
    const others: number[] = [];
    for (let i = 0; i < 3; i++) {
      const other = made.plain(randomBytes(50 + i, size));
      others.push(made.delta(other, [{ offset: 0, size: size - 1 }, Buffer.from('o')]));
    }
    const { file } = opened(made);
    for (const way of ['read', 'stream', 'measured'] as const) {
      const reader = readerOf([file], { baseCacheBytes: 8 * size });
      for (const entry of [brother, ...others]) read(reader, 0, made.offset(entry));
      reader.open(0, made.offset(large));
      expect(reader.readSmall()).toBeNull();
      if (way === 'measured') reader.measure();
      const parts: Buffer[] = [];
      if (way === 'stream') reader.stream((piece) => parts.push(Buffer.from(piece)));
      else parts.push(Buffer.from(reader.read()));
      reader.finish();
      expect(Buffer.concat(parts).equals(made.contents[large]!), way).toBe(true);
    }
  });
});

/** A zlib stream as no usual encoder writes it: stored blocks of so many bytes, five bytes before each. */
function inTinyBlocks(content: Uint8Array, blockBytes: number): Buffer {
  const parts: Uint8Array[] = [Buffer.from([0x78, 0x01])];
  for (let at = 0; at < content.length; at += blockBytes) {
    const block = content.subarray(at, at + blockBytes);
    const head = Buffer.from([at + blockBytes >= content.length ? 1 : 0, 0, 0, 0, 0]);
    head.writeUInt16LE(block.length, 1);
    head.writeUInt16LE(block.length ^ 0xffff, 3);
    parts.push(head, block);
  }
  return Buffer.concat([...parts, deflateSync(content).subarray(-4)]);
}

it('streams that are larger than what they hold', () => {
  const made = new MadePack();
  for (const size of [3000, SCRATCH_BYTES, SCRATCH_BYTES + 100]) {
    const content = Buffer.from(randomText(size, size));
    made.raw(Buffer.concat([entryHeader(BLOB, size), inTinyBlocks(content, 16)]), content);
  }
  made.plain(randomBytes(1, 100_000));
  for (const [, options] of WAYS) expectContents(made, options);
});

describe('the window', () => {
  /** Noise whose stored stream, with its header, takes exactly so many bytes. */
  function entryOf(bytes: number, seed: number): { entry: Buffer; content: Buffer } {
    for (let size = bytes - 12 - Math.ceil(bytes / 3000); size < bytes; size++) {
      const content = randomBytes(seed, size);
      const entry = Buffer.concat([entryHeader(BLOB, size), deflateSync(content, { level: 0 })]);
      if (entry.length === bytes) return { entry, content };
      if (entry.length > bytes) break;
      size += Math.max(0, bytes - entry.length - 16);
    }
    throw new Error(`no content makes an entry of ${bytes} bytes`);
  }

  const first = 32 << 10; // read for a header when nothing says that more is wanted
  it.each([
    ['ends one byte before the entry', -1],
    ['ends with the entry', 0],
    ['ends one byte behind the entry', 1],
  ])('%s', (_, difference) => {
    for (const windows of [1, 2]) {
      const { entry, content } = entryOf(first + windows * WINDOW_BYTES - difference, windows);
      for (const isLast of [true, false]) {
        const made = new MadePack();
        made.plain(Buffer.from('in front'));
        const number = made.raw(entry, content);
        if (!isLast) made.plain(Buffer.from('behind'));
        const { file } = opened(made);
        for (const [, options] of WAYS) {
          const reader = readerOf([file], options);
          expect(read(reader, 0, made.offset(number)).equals(content)).toBe(true);
          const again = readerOf([file], options);
          expect(stream(again, 0, made.offset(number)).equals(content)).toBe(true);
        }
      }
    }
  });

  it('reads ahead as far as it is told', () => {
    const made = new MadePack();
    for (let i = 0; i < 300; i++) made.plain(randomBytes(i, 9000));
    const { file } = opened(made);
    const reader = readerOf([file]);
    for (const end of [0, made.offset(50), made.end, made.end + 1_000_000]) {
      reader.readAheadEnd = end;
      for (const entry of [0, 1, 2, 49, 50, 51, 100, 299, 3]) {
        expect(read(reader, 0, made.offset(entry)).equals(made.contents[entry]!)).toBe(true);
      }
    }
  });

  it('serves several packs', () => {
    const packs = [1, 2, 3].map((seed) => {
      const made = new MadePack();
      const base = made.plain(randomBytes(seed, 2000));
      made.delta(base, [{ offset: 3, size: 1000 }, randomBytes(seed, 9)], 'id');
      return made;
    });
    const reader = readerOf(packs.map((made) => opened(made).file));
    for (const entry of [1, 0, 1]) {
      packs.forEach((made, pack) => {
        expect(read(reader, pack, made.offset(entry)).equals(made.contents[entry]!)).toBe(true);
      });
    }
    expect(() => read(reader, 3, 12)).toThrow('no pack 3');
  });
});

describe('memory', () => {
  /** Runs with a count of the large buffers that are made; gives the highest sum of those alive, and the last. */
  function memoryOf(run: (now: () => number) => void): { peak: number; left: number } {
    const Original = Uint8Array;
    const alive: Uint8Array[] = [];
    let peak = 0;
    // What was given back has no length any more.
    const now = (): number => alive.reduce((sum, each) => sum + each.length, 0);
    const counting = new Proxy(Original, {
      construct(target, args: unknown[]): Uint8Array {
        const made = Reflect.construct(target, args) as Uint8Array;
        // The reader's own buffers are made when they are first needed, once, and are in the size of a worker.
        const own = [WINDOW_BYTES, BASE_CACHE_BYTES];
        // The largest are the beginning of a larger buffer, whose rest is not touched.
        const bytes = args[0] instanceof ArrayBuffer && args.length === 3 ? args[2] : args[0];
        if (typeof bytes === 'number' && bytes > SCRATCH_BYTES + 1 && !own.includes(bytes)) {
          alive.push(made);
          peak = Math.max(peak, now());
        }
        return made;
      },
    });
    vi.stubGlobal('Uint8Array', counting);
    try {
      run(now);
    } finally {
      vi.unstubAllGlobals();
    }
    return { peak, left: now() };
  }

  const made = new MadePack();
  const LARGE = SCRATCH_BYTES + 5000;
  const small = made.plain(randomBytes(1, 70_000));
  const large = made.plain(randomBytes(2, LARGE), 1);
  const larger = made.plain(randomBytes(3, 2 * LARGE), 1);
  const noise: Instruction[] = [];
  for (let i = 0; i < 8400; i++) noise.push(randomBytes(i, 127));
  const cases: Record<string, number> = {
    'a large object': larger,
    'large from small': made.delta(small, repeated(70_000, LARGE)),
    'small from large': made.delta(large, [{ offset: 9, size: 999 }]),
    'large from large': made.delta(large, repeated(LARGE, LARGE + 10)),
    'a large delta on a small base': made.delta(small, noise, 'offset', 1),
    'a large delta on a large base': made.delta(large, [...noise, { offset: 0, size: LARGE }], 'offset', 1),
  };
  const second = made.delta(cases['large from large']!, repeated(LARGE, 3 * LARGE));
  cases['a chain of large ones'] = second;
  cases['a chain that ends small'] = made.delta(second, [{ offset: 0, size: 100 }]);
  const smallInChain = made.delta(cases['small from large']!, repeated(999, LARGE + 2));
  cases['a small one in the middle'] = smallInChain;
  cases['and another delta on that'] = made.delta(smallInChain, repeated(LARGE, LARGE + 3));
  const file = opened(made).file;

  it.each(Object.entries(cases))('%s takes what was measured', (_, entry) => {
    const reader = readerOf([file]);
    reader.open(0, made.offset(entry));
    expect(reader.readSmall()).toBeNull();
    reader.measure();
    const { readBytes, streamBytes } = reader;
    expect(reader.size).toBe(made.contents[entry]!.length);
    const readPeak = memoryOf(() => {
      expect(Buffer.compare(reader.read(), made.contents[entry]!)).toBe(0);
    });
    expect(readPeak.peak).toBe(readBytes);
    reader.close();

    const another = readerOf([file]);
    another.open(0, made.offset(entry));
    const parts: Buffer[] = [];
    const streamPeak = memoryOf(() => {
      another.stream((piece) => parts.push(Buffer.from(piece)));
    });
    expect(Buffer.concat(parts).equals(made.contents[entry]!)).toBe(true);
    expect(streamPeak.peak).toBe(streamBytes);
  });

  it('without the handle, more is measured', () => {
    const withHandle = readerOf([file]);
    const reader = readerOf([file], { handle: false });
    for (const entry of Object.values(cases)) {
      for (const each of [reader, withHandle]) {
        each.open(0, made.offset(entry));
        each.measure();
      }
      expect(reader.size).toBe(withHandle.size);
      // Streaming needs what reading does: an inflated part is whole in memory.
      expect(reader.readBytes).toBeGreaterThanOrEqual(withHandle.readBytes);
      expect(reader.streamBytes).toBeGreaterThanOrEqual(withHandle.streamBytes);
    }
    reader.open(0, made.offset(larger));
    reader.measure();
    expect(reader.streamBytes).toBeGreaterThan(4 * LARGE);
    reader.finish();
  });

  it('without the handle, no more is taken than was measured, and all is given back', () => {
    const reader = readerOf([file], { handle: false });
    for (const entry of Object.values(cases)) {
      const { peak, left } = memoryOf((now) => {
        reader.open(0, made.offset(entry));
        reader.measure();
        reader.read();
        reader.finish();
        expect(now()).toBe(reader.retainedBytes);
        reader.dropRetained();
      });
      expect(peak).toBeLessThanOrEqual(reader.readBytes);
      // The compressed bytes are among what is counted, and are given back with the rest.
      if (entry === larger) expect(peak).toBeGreaterThan(4 * LARGE);
      expect(left).toBe(0);
    }
  });

  it('a large delta is not small because its result is', () => {
    const pack = new MadePack();
    const base = pack.plain(randomBytes(1, 200));
    // Three bytes for each byte that they copy.
    const list = Array.from({ length: 360_000 }, (_, i) => ({ offset: 1 + (i % 199), size: 1 }));
    const entry = pack.delta(base, list, 'offset', 1);
    const reader = readerOf([opened(pack).file]);
    reader.open(0, pack.offset(entry));
    const looked = memoryOf(() => {
      expect(reader.readSmall()).toBeNull();
      reader.measure();
    });
    expect(looked.peak).toBe(0);
    expect(reader.size).toBe(360_000);
    const { peak } = memoryOf(() => {
      expect(Buffer.compare(reader.read(), pack.contents[entry]!)).toBe(0);
    });
    expect([peak, peak > SCRATCH_BYTES]).toEqual([reader.readBytes, true]);
    reader.finish();
  });

  it('a measured delta is not kept', () => {
    const reader = readerOf([file], { handle: false });
    reader.open(0, made.offset(cases['a large delta on a small base']!));
    const { peak, left } = memoryOf(() => {
      reader.measure();
      reader.measure();
    });
    expect(peak).toBeGreaterThan(SCRATCH_BYTES);
    expect(left).toBe(0);
  });

  it('gives everything back', () => {
    const reader = readerOf([file]);
    memoryOf((now) => {
      for (const entry of Object.values(cases)) {
        reader.open(0, made.offset(entry));
        reader.read();
        reader.finish();
        expect(now()).toBe(reader.retainedBytes);
      }
      reader.dropRetained();
      expect(now()).toBe(0);
      reader.open(0, made.offset(second));
      reader.read();
      expect(now()).toBe(3 * LARGE + 1 + LARGE + 1);
      reader.finish();
      expect([now(), reader.retainedBytes]).toEqual([LARGE + 1, LARGE + 1]);
      reader.dropRetained();
      expect([now(), reader.retainedBytes]).toEqual([0, 0]);
    });
  });

  it('gives everything back that a damaged object took', () => {
    const pack = new MadePack();
    const base = pack.plain(randomBytes(2, LARGE), 1);
    const delta = Buffer.concat([deltaSize(LARGE), deltaSize(LARGE + 5), deltaOf(repeated(LARGE, LARGE + 4))]);
    pack.raw(
      Buffer.concat([
        entryHeader(OFS_DELTA, delta.length),
        offsetBytes(pack.end - pack.offset(base)),
        deflateSync(delta),
      ]),
      Buffer.alloc(0),
    );
    const reader = readerOf([opened(pack).file]);
    const { peak, left } = memoryOf((now) => {
      reader.open(0, pack.offset(1));
      reader.measure();
      expect(() => reader.read()).toThrow(/invalid delta/);
      reader.finish();
      expect(now()).toBe(reader.retainedBytes);
      reader.dropRetained();
    });
    expect(peak).toBe(reader.readBytes);
    expect(left).toBe(0);
  });

  it('keeps a large base for the other deltas on it', () => {
    const reader = readerOf([file]);
    const family = [cases['small from large']!, cases['large from large']!];
    reader.open(0, made.offset(family[0]!));
    expect([reader.missesLargeBase, reader.usesRetained, reader.baseSize]).toEqual([true, false, LARGE]);
    const { baseKey } = reader;
    reader.read();
    reader.finish();
    for (const entry of family) {
      reader.open(0, made.offset(entry));
      expect([reader.missesLargeBase, reader.usesRetained]).toEqual([false, true]);
      expect(reader.readSmall()).toBeNull();
      reader.measure();
      // The base has its memory already.
      expect(reader.readBytes).toBe(entry === family[0] ? 0 : LARGE + 11);
      const peak = memoryOf(() => {
        expect(Buffer.compare(reader.read(), made.contents[entry]!)).toBe(0);
      });
      expect(peak.peak).toBe(reader.readBytes);
      reader.finish();
    }
    reader.dropRetained();
    reader.open(0, made.offset(family[1]!));
    expect([reader.missesLargeBase, reader.usesRetained, reader.baseKey]).toEqual([true, false, baseKey]);
    reader.open(0, made.offset(large));
    expect([reader.isPlain, reader.missesLargeBase]).toEqual([true, false]);
    reader.open(0, made.offset(small));
    expect([reader.isPlain, reader.missesLargeBase]).toEqual([true, false]);
  });

  it('a size that nothing could hold is one line of error', () => {
    const pack = new MadePack();
    // A copy instruction makes 16 MiB of four bytes, so that a delta of a megabyte may claim terabytes.
    const base = pack.plain(randomBytes(1, 100));
    const delta = Buffer.concat([deltaSize(100), deltaSize(2 ** 43), Buffer.alloc(2 ** 20, 0x80)]);
    pack.raw(
      Buffer.concat([entryHeader(OFS_DELTA, delta.length), offsetBytes(pack.end - 12), deflateSync(delta)]),
      Buffer.alloc(0),
    );
    expect(base).toBe(0);
    const reader = readerOf([opened(pack).file]);
    reader.open(0, pack.offset(1));
    expect(reader.readSmall()).toBeNull();
    reader.measure();
    expect(reader.readBytes).toBeGreaterThan(2 ** 43);
    expect(() => reader.read()).toThrow(expect.objectContaining({ code: 'memory' }));
    reader.finish();
  });
});

describe('hostile entries', () => {
  const content = Buffer.from(randomText(8, 5000));

  function refusedBoth(made: MadePack, entry: number, expected: RegExp): void {
    const { file } = opened(made);
    for (const [, options] of WAYS) {
      const reader = readerOf([file], options);
      expect(refusal(() => read(reader, 0, made.offset(entry)))).toMatch(expected);
      reader.finish();
      expect(refusal(() => stream(reader, 0, made.offset(entry)))).toMatch(expected);
      reader.finish();
      // The reader goes on with the next.
      expect(read(reader, 0, made.offset(0)).equals(made.contents[0]!)).toBe(true);
    }
  }

  function withEntry(bytes: Uint8Array): [MadePack, number] {
    const made = new MadePack();
    made.plain(content);
    return [made, made.raw(bytes, Buffer.alloc(0))];
  }

  it('another size than the header says', () => {
    for (const size of [content.length - 1, content.length + 1]) {
      const [made, entry] = withEntry(plainEntry(BLOB, content, size));
      refusedBoth(made, entry, /longer|shorter|cut off|does not inflate/);
    }
    for (const difference of [-1, 1]) {
      const large = randomBytes(1, SCRATCH_BYTES * 2);
      const [made, entry] = withEntry(plainEntry(BLOB, large, large.length + difference));
      made.plain(content);
      refusedBoth(made, entry, /longer|shorter|cut off|does not inflate/);
    }
  });

  it('much more than the header says does not pass by before it is refused', () => {
    const size = SCRATCH_BYTES + 100;
    const [made, entry] = withEntry(plainEntry(BLOB, Buffer.alloc(20 * SCRATCH_BYTES), size));
    const reader = readerOf([opened(made).file]);
    reader.open(0, made.offset(entry));
    let passed = 0;
    expect(refusal(() => reader.stream((piece) => void (passed += piece.length)))).toContain('longer');
    // A piece of 256 KiB may be on its way.
    expect(passed).toBeLessThanOrEqual(size + (256 << 10));
  });

  it('a delta that ends before its sizes do', () => {
    for (const [, options] of WAYS) {
      const made = new MadePack();
      made.plain(content);
      const good = made.delta(0, [{ offset: 0, size: 3000 }]);
      const short = deflateSync(deltaSize(content.length));
      const header = Buffer.concat([entryHeader(OFS_DELTA, 50), offsetBytes(made.end - 12)]);
      const entry = made.raw(Buffer.concat([header, short]), Buffer.alloc(0));
      const reader = readerOf([opened(made).file], options);
      // What it measured before must not help it.
      reader.open(0, made.offset(good));
      reader.measure();
      reader.open(0, made.offset(entry));
      expect(
        refusal(() => {
          reader.measure();
        }),
      ).toMatch(/is cut off|does not inflate/);
    }
  });

  it('a size that the pack cannot hold', () => {
    const [made, entry] = withEntry(plainEntry(BLOB, content, 2 ** 45));
    refusedBoth(made, entry, /declares a size that its pack cannot hold/);
  });

  it('a wrong checksum', () => {
    for (const body of [content, randomBytes(1, SCRATCH_BYTES * 2)]) {
      const bytes = plainEntry(BLOB, body);
      bytes[bytes.length - 1] = bytes[bytes.length - 1]! ^ 1;
      const [made, entry] = withEntry(bytes);
      refusedBoth(made, entry, /does not inflate/);
    }
  });

  it('a stream that the pack’s end cuts off', () => {
    for (const body of [content, randomBytes(1, SCRATCH_BYTES * 2)]) {
      for (const cut of [1, 4, 100]) {
        const [made, entry] = withEntry(plainEntry(BLOB, body).subarray(0, -cut));
        refusedBoth(made, entry, /is cut off|does not inflate/);
      }
    }
  });

  it('types that are none', () => {
    for (const type of [0, 5]) {
      const [made, entry] = withEntry(Buffer.concat([entryHeader(type, 10), deflateSync(content)]));
      refusedBoth(made, entry, /invalid header/);
    }
  });

  it('a base that is not there', () => {
    const delta = deflateSync(Buffer.concat([deltaSize(content.length), deltaSize(10), copy(0, 10)]));
    const size = 10;
    for (const distance of [0, 1, 12, 100_000, 2 ** 52]) {
      const [made, entry] = withEntry(Buffer.concat([entryHeader(OFS_DELTA, size), offsetBytes(distance), delta]));
      refusedBoth(made, entry, /outside of the pack|invalid header|cannot hold|inflate|cut off|invalid delta|size/);
    }
    const [made, entry] = withEntry(Buffer.concat([entryHeader(REF_DELTA, size), Buffer.alloc(20, 0xee), delta]));
    refusedBoth(made, entry, /not in its pack \((ee){20}\)/);
  });

  it('a ring of deltas', () => {
    const made = new MadePack();
    made.plain(content);
    const oids = ['aa', 'bb'].map((byte) => byte.repeat(20));
    const delta = Buffer.concat([deltaSize(10), deltaSize(10), copy(0, 10)]);
    for (const i of [0, 1]) {
      const base = Buffer.from(oids[1 - i]!, 'hex');
      made.raw(
        Buffer.concat([entryHeader(REF_DELTA, delta.length), base, deflateSync(delta)]),
        Buffer.alloc(0),
        oids[i],
      );
    }
    refusedBoth(made, 1, /is its own delta base/);
  });

  it('deltas that do not fit their base, or make another size', () => {
    const instructions = deltaOf([{ offset: 0, size: 4000 }, Buffer.from('end')]);
    const cases: [Buffer, RegExp][] = [
      [Buffer.concat([deltaSize(content.length - 1), deltaSize(4003), instructions]), /base of another size/],
      [Buffer.concat([deltaSize(content.length), deltaSize(4002), instructions]), /invalid delta/],
      [Buffer.concat([deltaSize(content.length), deltaSize(4004), instructions]), /invalid delta/],
      [Buffer.concat([deltaSize(content.length), deltaSize(2 ** 50), instructions]), /impossible size/],
      [Buffer.concat([deltaSize(content.length), deltaSize(1), copy(content.length, 1)]), /invalid delta/],
      [Buffer.concat([deltaSize(content.length), deltaSize(4), Buffer.from([5, 1])]), /invalid delta/],
      [Buffer.concat([deltaSize(content.length), deltaSize(0)]), /invalid delta/],
      [Buffer.alloc(0), /invalid delta/],
      [Buffer.alloc(20, 0xff), /invalid delta/],
      [
        Buffer.concat([deltaSize(content.length), deltaSize(3), insert(Buffer.from('abc')), Buffer.from([0])]),
        /invalid/,
      ],
    ];
    for (const [delta, expected] of cases) {
      const made = new MadePack();
      made.plain(content);
      const entry = made.raw(
        Buffer.concat([entryHeader(OFS_DELTA, delta.length), offsetBytes(made.end - 12), deflateSync(delta)]),
        Buffer.alloc(0),
      );
      refusedBoth(made, entry, expected);
    }
  });

  it('a place outside of the pack', () => {
    const made = new MadePack();
    made.plain(content);
    const { file } = opened(made);
    const reader = readerOf([file]);
    for (const offset of [0, 11, file.end, file.end + 19, 2 ** 40, 2 ** 52]) {
      expect(refusal(() => reader.open(0, offset))).toContain('outside of the pack');
    }
  });

  it('a pack that becomes shorter while it is read', () => {
    const made = new MadePack();
    made.plain(randomBytes(1, 500_000));
    made.plain(randomBytes(2, 500_000));
    const { file } = opened(made);
    truncateSync(file.path, made.offset(1) + 1000);
    const reader = readerOf([file]);
    expect(refusal(() => read(reader, 0, made.offset(1)))).toContain('cut off');
    expect(readFileSync(file.path).length).toBe(made.offset(1) + 1000);
  });
});
