import { chmodSync, lstatSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import type { BigIntStats } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { oidFromHex, SHA1 } from '../../../src/engine/oid.ts';
import { isEmptyBlob, isRacy, matchStat, statToWords } from '../../../src/engine/index/stat-words.ts';
import type { StatComparison } from '../../../src/engine/index/stat-words.ts';

const folder = mkdtempSync(join(tmpdir(), 'stat-words-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const file = join(folder, 'file');
writeFileSync(file, 'hello');
utimesSync(file, 1_600_000_000, 1_600_000_000);

const real = (path = file): BigIntStats => lstatSync(path, { bigint: true });
const altered = (changes: Partial<BigIntStats>, path = file): BigIntStats => Object.assign(real(path), changes);
const words = (stat: BigIntStats, platform: NodeJS.Platform = 'linux', mode = 0o100644): Uint32Array => {
  const out = new Uint32Array(12).fill(0xaaaaaaaa);
  statToWords(stat, platform, out, 1, mode);
  expect(out[0]).toBe(0xaaaaaaaa);
  expect(out[11]).toBe(0xaaaaaaaa);
  return out.slice(1, 11);
};

describe('statToWords', () => {
  const stat = altered({
    ctimeNs: 1_700_000_001_123_456_789n,
    mtimeNs: 1_700_000_002_999_999_999n,
    birthtimeNs: 1_700_000_000_000_000_001n,
    dev: 0x1_2345_6789n,
    ino: 0xffff_fffe_8000_0001n,
    uid: 1000n,
    gid: 0xffff_fffen,
    size: 5n,
  });

  it.each(['linux', 'darwin', 'freebsd'] as const)('keeps low words and nanoseconds on %s', (platform) => {
    expect([...words(stat, platform, 0o100755)]).toEqual([
      1_700_000_001, 123_456_789, 1_700_000_002, 999_999_999, 0x2345_6789, 0x8000_0001, 0o100755, 1000, 0xffff_fffe, 5,
    ]);
  });

  it('has the creation time and neither device, inode nor owner on Windows', () => {
    expect([...words(stat, 'win32')]).toEqual([1_700_000_000, 1, 1_700_000_002, 999_999_999, 0, 0, 0o100644, 0, 0, 5]);
  });

  it.each([
    [0n, 0],
    [1n, 1],
    [0xffff_ffffn, 0xffff_ffff],
    [0x1_0000_0000n, 0],
    [0x1_0000_0001n, 1],
    [0x3_0000_0000n, 0],
    [0x1_8000_0000n, 0x8000_0000],
  ])('stores size %i as %i', (size, word) => {
    expect(words(altered({ size }))[9]).toBe(word);
  });

  it.each([
    [0n, 0, 0],
    [-1n, 0xffff_ffff, 999_999_999],
    [-1_000_000_000n, 0xffff_ffff, 0],
    [-1_000_000_500n, 0xffff_fffe, 999_999_500],
    [0x1_0000_0005n * 1_000_000_000n + 7n, 5, 7],
  ])('splits %i ns into words', (mtimeNs, seconds, nanoseconds) => {
    expect([...words(altered({ mtimeNs })).slice(2, 4)]).toEqual([seconds, nanoseconds]);
  });

  it('does not write beyond its table', () => {
    expect(() => statToWords(stat, 'linux', new Uint32Array(10), 1, 0o100644)).toThrow(/BUG/);
  });
});

describe('matchStat', () => {
  const git: StatComparison = {
    trustCtime: true,
    checkStatMinimal: false,
    fileMode: true,
    symlinks: true,
    platform: 'linux',
  };
  const match = (
    remembered: Uint32Array,
    stat: BigIntStats,
    options: Partial<StatComparison> = {},
    emptyBlob = false,
  ): string => matchStat(remembered, 0, stat, { ...git, ...options }, emptyBlob);

  it('is the same for an untouched file', () => {
    expect(match(words(real()), real())).toBe('same');
  });

  const later = 5_000_000_000n;
  const cases: readonly (readonly [string, Partial<BigIntStats>, Partial<StatComparison>, string])[] = [
    ['mtime second', { mtimeNs: later }, {}, 'changed'],
    ['mtime nanoseconds', { mtimeNs: real().mtimeNs + 1n }, {}, 'same'],
    ['ctime second', { ctimeNs: later }, {}, 'changed'],
    ['ctime second', { ctimeNs: later }, { trustCtime: false }, 'same'],
    ['ctime second', { ctimeNs: later }, { checkStatMinimal: true }, 'same'],
    ['ctime second', { ctimeNs: later }, { platform: 'win32' }, 'same'],
    ['device', { dev: 77n }, {}, 'same'],
    ['inode', { ino: 77n }, {}, 'changed'],
    ['inode', { ino: 77n }, { checkStatMinimal: true }, 'same'],
    ['inode', { ino: 77n }, { platform: 'win32' }, 'same'],
    ['owner', { uid: 77n }, {}, 'changed'],
    ['group', { gid: 77n }, {}, 'changed'],
    ['group', { gid: 77n }, { checkStatMinimal: true }, 'same'],
    ['size', { size: 6n }, { checkStatMinimal: true }, 'changed'],
    ['executable bit', { mode: 0o100755n }, {}, 'changed'],
    ['executable bit', { mode: 0o100755n }, { fileMode: false }, 'same'],
    ['group executable bit', { mode: 0o100654n }, {}, 'same'],
  ];
  it.each(cases)('%s differs: %o with %o is %s', (_, changes, options, verdict) => {
    const platform = options.platform ?? 'linux';
    expect(match(words(real(), platform), altered(changes), options)).toBe(verdict);
  });

  it('of a multiple of 4 GiB: as new versions of git store it, and not as old ones, who look at the content', () => {
    const remembered = words(altered({ size: 0x1_0000_0000n }));
    expect(match(remembered, altered({ size: 0x1_0000_0000n }))).toBe('changed');
    remembered[9] = 0x8000_0000;
    expect(match(remembered, altered({ size: 0x1_0000_0000n }))).toBe('same');
    expect(match(remembered, altered({ size: 0n }))).toBe('changed');
    expect(match(remembered, altered({ size: 0x8000_0000n }))).toBe('same');
  });

  it('looks at the type', () => {
    const link = join(folder, 'link');
    const directory = join(folder, 'directory');
    symlinkSync('file', link);
    mkdirSync(directory);
    expect(match(words(real(), 'linux', 0o120000), real())).toBe('changed');
    expect(match(words(real(), 'linux', 0o120000), real(), { symlinks: false })).toBe('same');
    expect(match(words(real(link), 'linux', 0o120000), real(link))).toBe('same');
    expect(match(words(real(link)), real(link))).toBe('changed');
    expect(match(words(real(directory)), real(directory))).toBe('changed');
    expect(match(words(real(directory), 'linux', 0o160000), altered({ mtimeNs: 1n }, directory))).toBe('same');
    expect(match(words(real(), 'linux', 0o160000), real())).toBe('changed');
    expect(match(words(real(directory), 'linux', 0o040000), real(directory))).toBe('changed');
  });

  it('takes a remembered size of 0 for "look at the content" unless the blob is empty', () => {
    const empty = altered({ size: 0n });
    expect(match(words(empty), empty)).toBe('changed');
    expect(match(words(empty), empty, {}, true)).toBe('same');
    expect(match(words(altered({ size: 0n })), real())).toBe('changed');
  });

  it('sees a real change of mode', () => {
    const script = join(folder, 'script');
    writeFileSync(script, 'x');
    chmodSync(script, 0o644);
    const remembered = words(real(script), 'linux', 0o100755);
    expect(match(remembered, real(script))).toBe(process.platform === 'win32' ? 'same' : 'changed');
  });
});

describe('isRacy', () => {
  const at = (mtimeSeconds: number, mode = 0o100644): Uint32Array =>
    Uint32Array.from([0, 0, mtimeSeconds, 0, 0, 0, mode, 0, 0, 0]);

  it.each([
    [100, 99, false],
    [100, 100, true],
    [100, 101, true],
    [0, 100, false],
  ])('index of second %i, file of second %i: %s', (index, entry, racy) => {
    expect(isRacy(at(entry), 0, index)).toBe(racy);
  });

  it('never holds for a gitlink', () => {
    expect(isRacy(at(100, 0o160000), 0, 100)).toBe(false);
  });
});

it('knows the empty blob', () => {
  const oids = Buffer.concat([Buffer.alloc(20), oidFromHex('e69de29bb2d1d6434b8b29ae775ad8c2e48c5391')]);
  expect(isEmptyBlob(oids, 0, SHA1)).toBe(false);
  expect(isEmptyBlob(oids, 20, SHA1)).toBe(true);
});
