/**
 * Index files that were damaged or made to hurt: each ends in a table that holds together or in an error that says the
 * file is corrupt, soon, and without memory out of proportion to the file.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CheckoutError } from '../../src/engine/errors.ts';
import { STAT_WORDS } from '../../src/engine/index/index-table.ts';
import type { IndexTable } from '../../src/engine/index/index-table.ts';
import { parseIndex, readIndex } from '../../src/engine/index/parse-index.ts';
import { readBitmap } from '../../src/engine/index/ewah.ts';
import { readWholeIndex } from '../../src/engine/index/read-whole-index.ts';
import { serializeIndex } from '../../src/engine/index/serialize-index.ts';
import { oidToHex, SHA1, SHA256, type ObjectFormat } from '../../src/engine/oid.ts';

const folder = mkdtempSync(join(tmpdir(), 'index-hostile-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const indexPath = join(folder, '.git', 'index');
const git = (...args: string[]): Buffer => execFileSync('git', args, { cwd: folder, stdio: ['pipe', 'pipe', 'pipe'] });

const samples = new Map<string, Buffer>();
beforeAll(() => {
  git('init', '-q');
  const blob = git('hash-object', '-w', '-t', 'blob', '--stdin').toString().trim();
  const paths = ['a', 'a-b/c', 'dir/sub/file-1', 'dir/sub/file-2', 'dir/sub/file-20', 'x'.repeat(4100), 'z'];
  const lines = paths.map((path) => `100644 ${blob} 0\t${path}\n`);
  execFileSync('git', ['update-index', '--add', '--index-info'], { cwd: folder, input: lines.join('') });
  git('read-tree', git('write-tree').toString().trim());
  samples.set('version 2', readFileSync(indexPath));
  git('update-index', '--skip-worktree', 'dir/sub/file-2');
  samples.set('version 3', readFileSync(indexPath));
  git('-c', 'index.threads=2', 'update-index', '--index-version', '4');
  samples.set('version 4', readFileSync(indexPath));
  const other = join(folder, 'sha256');
  const there = (args: readonly string[], input = ''): string =>
    execFileSync('git', args, { cwd: other, input, encoding: 'utf8' }).trim();
  git('init', '-q', '--object-format=sha256', other);
  const otherBlob = there(['hash-object', '-w', '-t', 'blob', '--stdin']);
  there(['update-index', '--add', '--index-info'], lines.join('').replaceAll(blob, otherBlob));
  there(['read-tree', there(['write-tree'])]);
  samples.set('SHA-256', readFileSync(join(other, '.git', 'index')));
});

/** mulberry32, so that a failure repeats. */
function randomNumbers(seed: number): (below: number) => number {
  return (below) => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

const INTERESTING = [0, 1, 0x7f, 0x80, 0xff, 0x2f, 0x2e, 0x0f, 0x40];

/** One to four changes: bits, bytes, cuts, doubled or dropped ranges. */
function damaged(sample: Buffer, random: (below: number) => number): Buffer {
  let bytes: Buffer = Buffer.from(sample);
  for (let changes = 1 + random(4); changes > 0 && bytes.length > 0; changes--) {
    // Most of the long name is of no interest: aim at the rest more often.
    const at = random(3) === 0 ? random(bytes.length) : random(Math.min(bytes.length, 520));
    const kind = random(10);
    if (kind < 4) bytes[at]! ^= 1 << random(8);
    else if (kind < 7) bytes[at] = INTERESTING[random(INTERESTING.length)]!;
    else if (kind === 7) bytes = bytes.subarray(0, at);
    else if (kind === 8) bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + random(80))]);
    else bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(Math.max(0, at - random(80)))]);
  }
  return bytes;
}

/** The table, or null when the file was refused as it should be; anything else is thrown. */
function parsed(bytes: Buffer, format: ObjectFormat = SHA1): IndexTable | null {
  try {
    return parseIndex(bytes, 'hostile', format);
  } catch (error) {
    if (!(error instanceof CheckoutError)) throw error;
    expect(error.code).toBe('index-corrupt');
    // eslint-disable-next-line no-control-regex -- a message must be one printable line
    expect(error.message).toMatch(/^index file 'hostile' is corrupt: [^\u0000-\u001f\u007f-\uffff]+$/);
    return null;
  }
}

function expectWhole(table: IndexTable, fileBytes: number): void {
  const { count, pathOffsets, pathBytes, format } = table;
  expect(pathOffsets.length).toBe(count + 1);
  for (let i = 0; i < count; i++) expect(pathOffsets[i + 1]).toBeGreaterThanOrEqual(pathOffsets[i]!);
  expect(pathOffsets[count]).toBe(pathBytes.length);
  expect(pathBytes.length).toBeLessThanOrEqual(64 * fileBytes);
  expect(table.oids.length).toBe(format.oidBytes * count);
  expect(table.stats.length).toBe(STAT_WORDS * count);
  const again = parseIndex(serializeIndex(table, null), 'again', format);
  expect(again.pathBytes).toEqual(pathBytes);
  expect(again.modes).toEqual(table.modes);
}

describe('damaged files', () => {
  it.each(['version 2', 'version 3', 'version 4', 'SHA-256'])('%s, 3000 times', (name) => {
    const sample = samples.get(name)!;
    const format = name === 'SHA-256' ? SHA256 : SHA1;
    const random = randomNumbers(sample.length);
    let accepted = 0;
    for (let i = 0; i < 3000; i++) {
      const bytes = damaged(sample, random);
      const table = parsed(bytes, format);
      if (table === null) continue;
      accepted++;
      expectWhole(table, bytes.length);
    }
    // Both outcomes must have been seen, or the damage was of no use.
    expect(accepted).toBeGreaterThan(100);
    expect(accepted).toBeLessThan(2900);
  });

  it.each(['version 2', 'version 3', 'version 4', 'SHA-256'])('%s cut at every length', (name) => {
    const sample = samples.get(name)!;
    const format = name === 'SHA-256' ? SHA256 : SHA1;
    for (let length = 0; length < sample.length; length += length < 600 ? 1 : 7) {
      const table = parsed(sample.subarray(0, length), format);
      if (table !== null) expectWhole(table, length);
    }
  });

  it('what we accept, git accepts and reads alike', () => {
    const random = randomNumbers(7);
    let compared = 0;
    for (let i = 0; compared < 60 && i < 600; i++) {
      const name = ['version 2', 'version 3', 'version 4'][i % 3]!;
      const bytes = damaged(samples.get(name)!, random);
      const table = parsed(bytes);
      // Extensions that a reader must know are the caller's to refuse.
      if (table === null || table.extensions.some(({ signature }) => /^[a-z]/.test(signature))) continue;
      compared++;
      writeFileSync(join(folder, 'damaged'), bytes);
      const env = { ...process.env, GIT_INDEX_FILE: join(folder, 'damaged') };
      const listed = spawnSync('git', ['ls-files', '-s', '-z'], { cwd: folder, env, encoding: 'latin1' });
      const ours = Array.from({ length: table.count }, (_, entry) => {
        const path = Buffer.from(table.pathBytes.subarray(table.pathOffsets[entry], table.pathOffsets[entry + 1]));
        const mode = table.modes[entry]!.toString(8).padStart(6, '0');
        return `${mode} ${oidToHex(table.oids, 20 * entry, 20)} ${(table.flags[entry]! & 0x3000) >> 12}\t${path.toString('latin1')}\0`;
      });
      expect(listed.stderr.replace(/^ignoring .* extension\n/gm, '')).toBe('');
      expect(listed.stdout).toBe(ours.join(''));
    }
    expect(compared).toBe(60);
  });

  it('are found by their checksum when read from disk', () => {
    const sample = samples.get('version 2')!;
    const random = randomNumbers(11);
    const path = join(folder, 'flipped');
    for (let i = 0; i < 200; i++) {
      const bytes = Buffer.from(sample);
      bytes[random(bytes.length)]! ^= 1 << random(8);
      writeFileSync(path, bytes);
      expect(() => readIndex(path, SHA1)).toThrow(CheckoutError);
    }
    writeFileSync(path, sample);
    expect(readIndex(path, SHA1)?.count).toBe(7);
  });
});

describe('an index in more than one part', () => {
  interface Parts {
    readonly index: Buffer;
    readonly shared: Buffer;
  }
  const tree = Buffer.concat(
    ['100644 a', '100755 b', '40000 dir', '120000 link', '160000 sub'].map((entry, i) =>
      Buffer.from(`${entry}\0${String.fromCharCode(65 + i).repeat(20)}`, 'latin1'),
    ),
  );
  const leaf = Buffer.from(`100644 x\0${'x'.repeat(20)}100644 y\0${'y'.repeat(20)}`, 'latin1');
  const parts = new Map<string, Parts>();
  let gitDir = '';

  beforeAll(() => {
    gitDir = join(folder, 'parts');
    mkdirSync(gitDir);
    git('read-tree', '--empty');
    const blob = git('hash-object', '-w', '-t', 'blob', '--stdin').toString().trim();
    const add = (rows: string[]): void =>
      void execFileSync('git', ['update-index', '--add', '--index-info'], { cwd: folder, input: rows.join('') });
    const names = Array.from({ length: 140 }, (_, i) => `d${i % 7}/f${i}`);
    add(names.map((name) => `100644 ${blob} 0\t${name}\n`));
    git('config', 'splitIndex.maxPercentChange', '100');
    git('update-index', '--split-index');
    add([
      ...names.slice(40, 50).map((name) => `100755 ${blob} 0\t${name}\n`),
      ...names.slice(60, 140).map((name) => `0 ${'0'.repeat(40)} 0\t${name}\n`),
      `100644 ${blob} 0\tnew/a\n`,
      `100644 ${blob} 0\tnew/b\n`,
    ]);
    const [sharedName] = readdirSync(join(folder, '.git')).filter((name) => name.startsWith('sharedindex.'));
    parts.set('split', { index: readFileSync(indexPath), shared: readFileSync(join(folder, '.git', sharedName!)) });

    // Sparse directories: entries of this mode, and the extension that allows them.
    const directory = { mode: 0o040000, flags: 0, extendedFlags: 0x4000 };
    const rows = [
      { path: 'a', mode: 0o100644, flags: 0, extendedFlags: 0 },
      { path: 'd/', ...directory },
      { path: 'e/f/', ...directory },
      { path: 'z', mode: 0o100644, flags: 0x8000, extendedFlags: 0 },
    ];
    const pathOffsets = new Uint32Array(rows.length + 1);
    rows.forEach(({ path }, i) => (pathOffsets[i + 1] = pathOffsets[i]! + path.length));
    const plain = serializeIndex(
      {
        format: SHA1,
        count: rows.length,
        pathBytes: Buffer.from(rows.map(({ path }) => path).join('')),
        pathOffsets,
        oids: new Uint8Array(20 * rows.length).fill(1),
        modes: Uint32Array.from(rows, ({ mode }) => mode),
        flags: Uint16Array.from(rows, ({ flags }) => flags),
        extendedFlags: Uint16Array.from(rows, ({ extendedFlags }) => extendedFlags),
        stats: new Uint32Array(STAT_WORDS * rows.length),
      },
      null,
    );
    const sdir = Buffer.from('sdir\0\0\0\0', 'latin1');
    parts.set('sparse', {
      index: Buffer.concat([plain.subarray(0, -20), sdir, Buffer.alloc(20)]),
      shared: Buffer.alloc(0),
    });
  });

  /** The file's hash is made right again, as whoever forges an index would. */
  function resealed(bytes: Buffer): { bytes: Buffer; id: Buffer } {
    const body = bytes.subarray(0, Math.max(0, bytes.length - 20));
    const id = createHash('sha1').update(body).digest();
    return { bytes: Buffer.concat([body, id]), id };
  }

  function read({ index, shared }: Parts, readTree: () => Buffer): IndexTable | null {
    const path = join(gitDir, 'index');
    let main = index;
    if (shared.length > 0) {
      const sealed = resealed(shared);
      writeFileSync(join(gitDir, `sharedindex.${sealed.id.toString('hex')}`), sealed.bytes);
      const link = main.lastIndexOf('link');
      if (link >= 0 && link + 28 <= main.length) {
        main = Buffer.from(main);
        main.set(sealed.id, link + 8);
      }
    }
    writeFileSync(path, resealed(main).bytes);
    try {
      return readWholeIndex({ gitDir, indexPath: path, objectFormat: SHA1 }, readTree);
    } catch (error) {
      if (!(error instanceof CheckoutError)) throw error;
      expect(error.code).toBe('index-corrupt');
      // eslint-disable-next-line no-control-regex -- a message must be one printable line
      expect(error.message).toMatch(/^index file '[^']+' is corrupt: [^\u0000-\u001f\u007f-\uffff]+$/);
      return null;
    }
  }

  /** Gives the tree, then always its one subtree. */
  function trees(root: Buffer): () => Buffer {
    let calls = 0;
    return () => (calls++ === 0 ? root : leaf);
  }

  it('reads the samples whole', () => {
    expect(read(parts.get('split')!, trees(tree))?.count).toBe(140 - 80 + 2);
    expect(read(parts.get('sparse')!, trees(tree))?.count).toBe(2 + 6 + 2);
  });

  it.each(['split', 'sparse'])('%s, a thousand times damaged', (kind) => {
    const sample = parts.get(kind)!;
    const random = randomNumbers(kind.length);
    let accepted = 0;
    for (let i = 0; i < 1000; i++) {
      const part = kind === 'split' ? random(3) : 2 * random(2);
      // The lists of a split index lie in its last bytes, before the hash.
      const lists = Math.max(0, sample.index.lastIndexOf('link') + 28);
      const table = read(
        {
          index:
            part === 0
              ? damaged(sample.index, random)
              : part === 1
                ? Buffer.concat([sample.index.subarray(0, lists), damaged(sample.index.subarray(lists), random)])
                : sample.index,
          shared: part === 2 && kind === 'split' ? damaged(sample.shared, random) : sample.shared,
        },
        trees(part === 2 && kind === 'sparse' ? damaged(tree, random) : tree),
      );
      if (kind === 'split') {
        for (const name of readdirSync(gitDir)) if (name.startsWith('sharedindex.')) rmSync(join(gitDir, name));
      }
      if (table === null) continue;
      accepted++;
      expectWhole(table, 1 << 20);
    }
    expect(accepted).toBeGreaterThan(20);
    expect(accepted).toBeLessThan(980);
  });

  it('bitmaps that claim more bits than there can be', () => {
    const bitmap = (...words: bigint[]): Buffer => {
      const bytes = Buffer.alloc(12 + 8 * words.length);
      bytes.writeUInt32BE(words.length, 4);
      words.forEach((word, i) => bytes.writeBigUInt64BE(word, 8 + 8 * i));
      return bytes;
    };
    const marker = (bit: bigint, run: bigint, literals: bigint): bigint => bit | (run << 1n) | (literals << 33n);
    const most = (1n << 32n) - 1n;
    expect(readBitmap(bitmap(marker(1n, most, 0n)), 0, 1000)).toBeNull();
    expect(readBitmap(bitmap(marker(1n, 16n, 0n)), 0, 1023)).toBeNull();
    expect(readBitmap(bitmap(marker(1n, 16n, 0n)), 0, 1024)?.positions.length).toBe(1024);
    // Zeros without end are nothing but far apart.
    const far = Array.from({ length: 100 }, () => marker(0n, most, 0n));
    expect(readBitmap(bitmap(...far), 0, 1000)?.positions.length).toBe(0);
    expect(readBitmap(bitmap(...far, marker(0n, 0n, 1n), 1n), 0, 1000)).toBeNull();
    expect(readBitmap(bitmap(marker(0n, 0n, 2n), 1n), 0, 1000)).toBeNull();
    expect(readBitmap(bitmap(marker(0n, 0n, (1n << 31n) - 1n)), 0, 1000)).toBeNull();
    const top = bitmap(marker(0n, 1n, 1n), (1n << 63n) | (1n << 31n) | 1n);
    expect([...readBitmap(top, 0, 128)!.positions]).toEqual([64, 95, 127]);
    expect(readBitmap(top, 0, 127)).toBeNull();
    for (let length = 0; length < top.length; length++) expect(readBitmap(top.subarray(0, length), 0, 128)).toBeNull();
  });

  it('a tree that contains itself, and one of names that add up', () => {
    const name = 'n'.repeat(40_000);
    for (const endless of ['d', name]) {
      const loop = Buffer.from(`40000 ${endless}\0${'L'.repeat(20)}`, 'latin1');
      expect(read(parts.get('sparse')!, () => loop)).toBeNull();
    }
  });
});

describe('files made to exhaust', () => {
  /** A header, then one version 4 entry for each [bytes to drop as they are encoded, suffix]. */
  function version4(rows: Iterable<readonly [Buffer, string]>, claimedCount?: number): Buffer {
    const parts: Buffer[] = [];
    let count = 0;
    let length = 0;
    for (const [drop, suffix] of rows) {
      length += suffix.length;
      const fixed = Buffer.alloc(62);
      fixed.writeUInt32BE(0o100644, 24);
      fixed.writeUInt16BE(Math.min(length, 0xfff), 60);
      parts.push(fixed, drop, Buffer.from(`${suffix}\0`));
      count++;
    }
    const header = Buffer.from('DIRC\0\0\0\x04\0\0\0\0', 'latin1');
    header.writeUInt32BE(claimedCount ?? count, 8);
    return Buffer.concat([header, ...parts, Buffer.alloc(20)]);
  }
  const nothing = Buffer.from([0]);

  /** Runs and gives the bytes of buffers that were allocated and are still held or not yet collected. */
  function allocatedBy(action: () => void): number {
    const before = process.memoryUsage().arrayBuffers;
    action();
    return process.memoryUsage().arrayBuffers - before;
  }

  it('a count that the file cannot hold', () => {
    const bytes = Buffer.from(samples.get('version 2')!);
    bytes.writeUInt32BE(0xffff_ffff, 8);
    expect(allocatedBy(() => expect(parsed(bytes)).toBeNull())).toBeLessThan(1 << 20);
  });

  it('names that unfold to gigabytes', () => {
    const long = 'n'.repeat(200_000);
    const rows = Array.from({ length: 20_000 }, (_, i): [Buffer, string] => [nothing, i === 0 ? long : 'x']);
    const bytes = version4(rows);
    // 4 GB of names out of 1.5 MB.
    expect(() => parseIndex(bytes, 'bomb', SHA1)).toThrow(/its paths are too long/);
    expect(allocatedBy(() => expect(parsed(bytes)).toBeNull())).toBeLessThan(1 << 20);
  });

  it('names that share much: refused only beyond what any real path needs', () => {
    const rows = (count: number, length: number): [Buffer, string][] =>
      Array.from({ length: count }, (_, i) => [nothing, i === 0 ? 'n'.repeat(length) : 'x']);
    expect(() => parseIndex(version4(rows(2000, 4095)), 'bomb', SHA1)).toThrow(/its paths are too long/);
    const bytes = version4(rows(1000, 2000));
    const table = parseIndex(bytes, 'long names', SHA1);
    expect(table.pathBytes.length).toBe(1000 * 2000 + 499_500);
    expectWhole(table, bytes.length);
  });

  it('prefix lengths beyond the path, beyond 64 bits, and without end', () => {
    const long = 'n'.repeat(5000);
    const drops: readonly (readonly [Buffer, RegExp])[] = [
      [Buffer.from([0xff, 0x7f]), /drops more of a path/],
      [Buffer.from([...new Array<number>(9).fill(0xff), 0x7f]), /prefix length that does not end/],
      [Buffer.alloc(40, 0x80), /prefix length that does not end/],
    ];
    for (const [drop, what] of drops) {
      const bytes = version4([
        [nothing, long],
        [drop, long],
      ]);
      expect(() => parseIndex(bytes, 'hostile', SHA1)).toThrow(what);
    }
    expect(parseIndex(version4([[nothing, long]]), 'fine', SHA1).count).toBe(1);
    expect(() => parseIndex(version4([[nothing, long]], 2), 'hostile', SHA1)).toThrow(CheckoutError);
  });

  it('an extension of four gigabytes', () => {
    const sample = samples.get('version 2')!;
    const bytes = Buffer.from(sample);
    bytes.writeUInt32BE(0xffff_fff0, bytes.indexOf('TREE') + 4);
    expect(allocatedBy(() => expect(parsed(bytes)).toBeNull())).toBeLessThan(1 << 20);
  });

  it.skipIf(process.platform === 'win32')('a named pipe in the place of the index', () => {
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    expect(() => readIndex(pipe, SHA1)).toThrow(/not a regular file/);
  });
});
