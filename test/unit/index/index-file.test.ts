import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync, utimesSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { CheckoutError } from '../../../src/engine/errors.ts';
import { EXTENDED_FLAG, FLAG, STAT, STAT_WORDS } from '../../../src/engine/index/index-table.ts';
import type { IndexEntries } from '../../../src/engine/index/index-table.ts';
import { parseIndex, readIndex } from '../../../src/engine/index/parse-index.ts';
import { IndexSkeleton, serializeIndex } from '../../../src/engine/index/serialize-index.ts';
import { SHA1 } from '../../../src/engine/oid.ts';

const folder = mkdtempSync(join(tmpdir(), 'index-file-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Row {
  readonly path: string;
  readonly mode?: number;
  readonly flags?: number;
  readonly extendedFlags?: number;
}

type Tables = IndexEntries & { stats: Uint32Array; flags: Uint16Array; extendedFlags: Uint16Array };

/** Tables over shared memory; ids and stat words are numbers that tell entries and places apart. */
function tables(rows: readonly Row[]): Tables {
  const count = rows.length;
  const paths = rows.map((row) => Buffer.from(row.path, 'latin1'));
  const joined = Buffer.concat(paths);
  const pathBytes = new Uint8Array(new SharedArrayBuffer(joined.length));
  pathBytes.set(joined);
  const pathOffsets = new Uint32Array(count + 1);
  paths.forEach((path, i) => (pathOffsets[i + 1] = pathOffsets[i]! + path.length));
  const stats = new Uint32Array(new SharedArrayBuffer(4 * STAT_WORDS * count));
  const modes = Uint32Array.from(rows, (row) => row.mode ?? 0o100644);
  for (let i = 0; i < stats.length; i++) stats[i] = 0xfedc0000 + i;
  for (let i = 0; i < count; i++) stats[i * STAT_WORDS + STAT.mode] = modes[i]!;
  return {
    format: SHA1,
    count,
    pathBytes,
    pathOffsets,
    oids: Uint8Array.from({ length: 20 * count }, (_, i) => i * 7),
    modes,
    stats,
    flags: Uint16Array.from(rows, (row) => row.flags ?? 0),
    extendedFlags: Uint16Array.from(rows, (row) => row.extendedFlags ?? 0),
  };
}

/** Puts a right trailer behind what is not one any more. */
function withTrailer(content: Buffer): Buffer {
  return Buffer.concat([content, createHash('sha1').update(content).digest()]);
}

function expectCorrupt(bytes: Buffer, what: RegExp): void {
  let caught: unknown;
  try {
    parseIndex(bytes, 'some/index', SHA1);
  } catch (error) {
    caught = error;
  }
  expect(caught).toBeInstanceOf(CheckoutError);
  const error = caught as CheckoutError;
  expect(error.code).toBe('index-corrupt');
  expect(error.message).toContain("'some/index'");
  expect(error.message).toMatch(what);
  expect(error.subject.path).toBe('some/index');
}

describe('layout', () => {
  it('is that of gitformat-index, byte for byte', () => {
    const entries = tables([{ path: 'a' }]);
    const file = serializeIndex(entries, Buffer.from('tree'));
    const expected = Buffer.alloc(12 + 64 + 12);
    expected.write('DIRC', 0);
    expected.writeUInt32BE(2, 4);
    expected.writeUInt32BE(1, 8);
    for (let word = 0; word < 10; word++) expected.writeUInt32BE(entries.stats[word]!, 12 + 4 * word);
    Buffer.from(entries.oids).copy(expected, 12 + 40);
    expected.writeUInt16BE(1, 12 + 60);
    expected.write('a', 12 + 62);
    expected.write('TREE', 76);
    expected.writeUInt32BE(4, 80);
    expected.write('tree', 84);
    expect(file).toEqual(withTrailer(expected));
  });

  it.each([1, 2, 8, 9, 10, 0xffe])('pads a name of %i bytes with 1 to 8 NULs', (length) => {
    const file = serializeIndex(tables([{ path: 'x'.repeat(length) }]), null);
    const entry = file.length - 12 - 20;
    expect(entry % 8).toBe(0);
    expect(entry - 62 - length).toBeGreaterThanOrEqual(1);
    expect(entry - 62 - length).toBeLessThanOrEqual(8);
    expect(file.readUInt16BE(12 + 60)).toBe(length);
  });

  it.each([0xfff, 0x1000, 0x2345])('says 0xFFF for a name of %i bytes', (length) => {
    const entries = tables([{ path: 'x'.repeat(length) }, { path: 'y' }]);
    const file = serializeIndex(entries, null);
    expect(file.readUInt16BE(12 + 60)).toBe(0xfff);
    expect(parseIndex(file, 'i', SHA1).pathOffsets).toEqual(entries.pathOffsets);
  });

  it('is version 3 exactly when an entry has extended flags, and only that entry is longer', () => {
    const plain = serializeIndex(tables([{ path: 'a' }, { path: 'b' }]), null);
    const extended = serializeIndex(
      tables([{ path: 'a' }, { path: 'b', flags: FLAG.assumeValid, extendedFlags: EXTENDED_FLAG.skipWorktree }]),
      null,
    );
    expect(plain.readUInt32BE(4)).toBe(2);
    expect(extended.readUInt32BE(4)).toBe(3);
    expect(extended.readUInt16BE(12 + 60)).toBe(1);
    expect(extended.readUInt16BE(12 + 64 + 60)).toBe(FLAG.assumeValid | FLAG.extended | 1);
    expect(extended.readUInt16BE(12 + 64 + 62)).toBe(EXTENDED_FLAG.skipWorktree);
  });

  it('takes the mode from the entry, not from the stat words, and zeros where there is no stat', () => {
    const entries = tables([{ path: 'a', mode: 0o120000 }]);
    const table = parseIndex(new IndexSkeleton(entries, null).finish(new Uint32Array(10)), 'i', SHA1);
    expect([...table.stats]).toEqual([0, 0, 0, 0, 0, 0, 0o120000, 0, 0, 0]);
    expect(table.modes[0]).toBe(0o120000);
  });

  it('copies at construction: later changes of the tables do not show', () => {
    const entries = tables([{ path: 'a' }]);
    const skeleton = new IndexSkeleton(entries, null);
    entries.pathBytes[0] = 0x7a;
    const table = parseIndex(skeleton.finish(entries.stats), 'i', SHA1);
    expect(table.pathBytes[0]).toBe(0x61);
    expect(() => skeleton.finish(entries.stats)).toThrow(/twice/);
  });

  it('refuses tables that are too short', () => {
    const entries = tables([{ path: 'a' }]);
    expect(() => new IndexSkeleton({ ...entries, count: 2 }, null)).toThrow(/BUG/);
    expect(() => new IndexSkeleton(entries, null).finish(new Uint32Array(9))).toThrow(/BUG/);
  });
});

describe('round trip', () => {
  it('gives the tables back', () => {
    const entries = tables([
      { path: 'a', mode: 0o100755, flags: FLAG.assumeValid },
      { path: 'b\xff', mode: 0o120000, extendedFlags: EXTENDED_FLAG.intentToAdd },
      { path: 'b\xff/c', mode: 0o160000 },
      { path: 'm', flags: 0x1000 },
      { path: 'm', flags: 0x2000 },
      { path: 'm', flags: 0x3000 },
    ]);
    const table = parseIndex(serializeIndex(entries, Buffer.from('xyz')), 'i', SHA1);
    expect(table.version).toBe(3);
    expect(table.count).toBe(6);
    expect(Buffer.from(table.pathBytes)).toEqual(Buffer.from(entries.pathBytes));
    expect(table.pathOffsets).toEqual(entries.pathOffsets);
    expect(table.oids).toEqual(entries.oids);
    expect(table.modes).toEqual(entries.modes);
    expect([...table.stats]).toEqual([...entries.stats]);
    expect(table.flags.map((flags) => flags & ~FLAG.extended)).toEqual(entries.flags);
    expect(table.extendedFlags).toEqual(entries.extendedFlags);
    expect(table.extensions).toEqual([{ signature: 'TREE', bytes: Uint8Array.from(Buffer.from('xyz')) }]);
    expect(table.mtimeSeconds).toBe(0);
  });

  it('works without entries', () => {
    const table = parseIndex(serializeIndex(tables([]), null), 'i', SHA1);
    expect(table.count).toBe(0);
    expect([...table.pathOffsets]).toEqual([0]);
  });
});

describe('corrupt files', () => {
  const good = serializeIndex(tables([{ path: 'a' }, { path: 'b/c' }]), Buffer.from('tree'));
  const changed = (at: number, ...bytes: number[]): Buffer => {
    const copy = Buffer.from(good);
    copy.set(bytes, at);
    return copy;
  };

  it('names what is wrong', () => {
    expectCorrupt(Buffer.alloc(0), /only 0 bytes/);
    expectCorrupt(changed(0, 0x58), /no index header/);
    expectCorrupt(changed(7, 5), /version 5/);
    expectCorrupt(changed(7, 1), /version 1/);
    expectCorrupt(changed(8, 0xff, 0xff, 0xff, 0xff), /4294967295 entries do not fit/);
    expectCorrupt(changed(11, 1), /no extension at byte/);
    expectCorrupt(changed(11, 3), /entries do not fit|ends within entry|does not end/);
    expectCorrupt(changed(12 + 60, 0x00, 0x05), /path of entry 0 does not end/);
    expectCorrupt(changed(12 + 60, 0x0f, 0xff), /path of entry 0 is shorter than it says/);
    expectCorrupt(changed(12 + 60, 0x40), /unknown flags/);
    expectCorrupt(changed(12 + 24, 0, 0, 0, 0), /mode 0/);
    expectCorrupt(changed(12 + 62, 0x63), /not in order/);
    expectCorrupt(changed(12 + 136, 0x01), /no extension at byte/);
    expectCorrupt(changed(12 + 136 + 4, 0x7f), /longer than the file/);
    expectCorrupt(good.subarray(0, good.length - 1), /longer than the file/);
    expectCorrupt(good.subarray(0, good.length - 10), /within an extension/);
    expectCorrupt(good.subarray(0, good.length - 21), /2 entries do not fit/);
    const long = serializeIndex(tables([{ path: 'a'.repeat(200) }, { path: 'b' }]), null);
    expectCorrupt(long.subarray(0, long.length - 40), /ends within entry 1/);
  });

  it('refuses unordered and duplicate entries, and mixed stages', () => {
    expectCorrupt(serializeIndex(tables([{ path: 'b' }, { path: 'a' }]), null), /not in order/);
    expectCorrupt(serializeIndex(tables([{ path: 'ab' }, { path: 'a' }]), null), /not in order/);
    expectCorrupt(serializeIndex(tables([{ path: 'a' }, { path: 'a' }]), null), /same path/);
    expectCorrupt(serializeIndex(tables([{ path: 'a' }, { path: 'a', flags: 0x1000 }]), null), /same path/);
    const twice = [
      { path: 'a', flags: 0x2000 },
      { path: 'a', flags: 0x2000 },
    ];
    expectCorrupt(serializeIndex(tables(twice), null), /same path/);
  });

  it.each(['../x', '.git/config', 'a/../../x', '/etc/passwd', 'a//b', '', 'a/', '.GIT/hooks/x'])(
    'refuses the path %j, which a removal would follow',
    (path) => expectCorrupt(serializeIndex(tables([{ path }]), null), /refused/),
  );

  it('allows the trailing slash of a sparse directory only', () => {
    expect(parseIndex(serializeIndex(tables([{ path: 'd/', mode: 0o040000 }]), null), 'i', SHA1).count).toBe(1);
    expectCorrupt(serializeIndex(tables([{ path: 'd//', mode: 0o040000 }]), null), /refused/);
  });

  it('limits the number of extensions', () => {
    const extension = Buffer.from('ABCD\0\0\0\0', 'latin1');
    const body = good.subarray(0, 12 + 136);
    expect(parseIndex(withTrailer(Buffer.concat([body, ...Array<Buffer>(64).fill(extension)])), 'i', SHA1).count).toBe(
      2,
    );
    expectCorrupt(withTrailer(Buffer.concat([body, ...Array<Buffer>(65).fill(extension)])), /too many extensions/);
  });
});

describe('readIndex', () => {
  const path = join(folder, 'index');
  const file = serializeIndex(tables([{ path: 'a' }]), null);

  it('is null without a file', () => {
    expect(readIndex(join(folder, 'none'), SHA1)).toBeNull();
  });

  it('knows when the file was modified', () => {
    writeFileSync(path, file);
    utimesSync(path, 1_500_000_000.25, 1_500_000_000.25);
    const table = readIndex(path, SHA1);
    expect(table?.mtimeSeconds).toBe(1_500_000_000);
    expect(table?.mtimeNanoseconds).toBe(250_000_000);
  });

  it('verifies the checksum, and accepts zeros in its place', () => {
    const skipped = Buffer.from(file);
    skipped.fill(0, file.length - 20);
    writeFileSync(path, skipped);
    expect(readIndex(path, SHA1)?.count).toBe(1);
    const wrong = Buffer.from(file);
    wrong[20]! ^= 1;
    writeFileSync(path, wrong);
    expect(() => readIndex(path, SHA1)).toThrow(/checksum does not match/);
  });

  it('refuses what is not a file', () => {
    const directory = join(folder, 'directory');
    mkdirSync(directory);
    expect(() => readIndex(directory, SHA1)).toThrow(CheckoutError);
  });
});
