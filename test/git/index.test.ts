/** git is the oracle: what it wrote we read as it does, and what we write it takes for its own. */
import { execFileSync, spawnSync } from 'node:child_process';
import { lstatSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bufferOver } from '../../src/engine/bytes.ts';
import { serializeCacheTree } from '../../src/engine/index/cache-tree.ts';
import { IndexLock } from '../../src/engine/index/index-lock.ts';
import { EXTENDED_FLAG, FLAG, FLAG_STAGE_SHIFT, STAT, STAT_WORDS } from '../../src/engine/index/index-table.ts';
import type { IndexEntries, IndexTable } from '../../src/engine/index/index-table.ts';
import { readIndex } from '../../src/engine/index/parse-index.ts';
import { readWholeIndex, type IndexPlace } from '../../src/engine/index/read-whole-index.ts';
import { IndexSkeleton, serializeIndex } from '../../src/engine/index/serialize-index.ts';
import { isEmptyBlob, isRacy, matchStat, statToWords } from '../../src/engine/index/stat-words.ts';
import { invalidComponent } from '../../src/engine/object/path-validity.ts';
import { ObjectDatabase } from '../../src/engine/odb/object-database.ts';
import { readTree } from '../../src/engine/odb/read-tree.ts';
import { oidFromHex, oidToHex, SHA1 } from '../../src/engine/oid.ts';

const WINDOWS = process.platform === 'win32';
const folders: string[] = [];
afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })));

class Repository {
  readonly folder = mkdtempSync(join(tmpdir(), 'index-git-'));
  readonly index = join(this.folder, '.git', 'index');
  private readonly environment = {
    ...process.env,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: join(this.folder, 'no-such-config'),
    GIT_AUTHOR_NAME: 'a',
    GIT_AUTHOR_EMAIL: 'a@example.com',
    GIT_COMMITTER_NAME: 'a',
    GIT_COMMITTER_EMAIL: 'a@example.com',
  };

  constructor() {
    folders.push(this.folder);
    this.git(['init', '-q']);
  }

  git(args: readonly string[], input?: string | Buffer, more: Record<string, string> = {}): Buffer {
    const env = { ...this.environment, ...more };
    const maxBuffer = 1 << 28;
    return execFileSync('git', args, { cwd: this.folder, env, input, maxBuffer, stdio: ['pipe', 'pipe', 'pipe'] });
  }

  line(args: readonly string[], input?: string | Buffer): string {
    return this.git(args, input).toString('latin1').trimEnd();
  }

  blob(content: string): string {
    return this.line(['hash-object', '-w', '--stdin'], content);
  }

  /** Adds entries, paths in latin1. */
  add(rows: readonly (readonly [mode: string, oid: string, path: string, stage?: number])[]): void {
    const lines = rows.map(([mode, oid, path, stage]) => `${mode} ${oid} ${stage ?? 0}\t${path}\0`);
    this.git(['update-index', '-z', '--add', '--index-info'], Buffer.from(lines.join(''), 'latin1'));
  }

  read(): IndexTable {
    const table = readIndex(this.index, SHA1);
    if (table === null) throw new Error('no index');
    return table;
  }
}

/** One text an entry: what `git ls-files --stage --debug` says of the index. */
function asGitSees(repository: Repository, folded = true): string[] {
  const more = folded ? ['--sparse'] : [];
  const text = repository.git(['ls-files', '--stage', '--debug', '-z', ...more]).toString('latin1');
  const entry =
    /(\d+) ([0-9a-f]{40}) (\d)\t([^\0]*)\0 {2}ctime: (\d+):(\d+)\n {2}mtime: (\d+):(\d+)\n {2}dev: (\d+)\tino: (\d+)\n {2}uid: (\d+)\tgid: (\d+)\n {2}size: (\d+)\tflags: ([0-9a-f]+)\n/gy;
  const seen: string[] = [];
  let end = 0;
  for (const match of text.matchAll(entry)) {
    end = match.index + match[0].length;
    const inMemory = Number.parseInt(match[14]!, 16);
    const flags = inMemory & FLAG.assumeValid;
    const extended = (inMemory >>> 16) & (EXTENDED_FLAG.skipWorktree | EXTENDED_FLAG.intentToAdd);
    seen.push([...match.slice(1, 14), flags, extended].join(' '));
  }
  expect(end).toBe(text.length);
  return seen;
}

function asWeSee(table: IndexTable): string[] {
  return Array.from({ length: table.count }, (_, i) => {
    const word = (place: number): number => table.stats[i * STAT_WORDS + place]!;
    return [
      table.modes[i]!.toString(8).padStart(6, '0'),
      oidToHex(table.oids, 20 * i, 20),
      (table.flags[i]! & FLAG.stage) >> FLAG_STAGE_SHIFT,
      bufferOver(table.pathBytes, table.pathOffsets[i], table.pathOffsets[i + 1]).toString('latin1'),
      ...[0, 1, 2, 3, STAT.dev, STAT.ino, STAT.uid, STAT.gid, STAT.size].map(word),
      table.flags[i]! & FLAG.assumeValid,
      table.extendedFlags[i],
    ].join(' ');
  });
}

const extensionOf = (table: IndexTable, signature: string): Uint8Array | null =>
  table.extensions.find((extension) => extension.signature === signature)?.bytes ?? null;

/** Names that test the order of directories in trees, in the index and in the cache tree; a link, a gitlink, modes. */
function fillWorkTree(repository: Repository): void {
  const blob = repository.blob('content\n');
  const rows: [string, string, string][] = [
    ['100755', repository.blob('#!/bin/sh\n'), 'run.sh'],
    ['100644', repository.blob(''), 'empty'],
    ['120000', repository.blob('a/b'), 'link'],
    ['160000', '1'.repeat(40), 'submodule'],
  ];
  for (const directory of ['a', 'a-b', 'a.b', 'aa', 'b', 'zz', 'Z', 'lib', 'libc', 'a/deep/er/and/deeper', 'a/d']) {
    for (const name of ['f', 'g.txt', 'h-long-name-of-a-file']) rows.push(['100644', blob, `${directory}/${name}`]);
  }
  if (!WINDOWS) rows.push(['100644', blob, 'a/\xc3\xa9'], ['100644', blob, 'q"uote\\d\n']);
  if (process.platform === 'linux') rows.push(['100644', blob, 'lib/\xff\x80']);
  repository.add(rows);
}

const placeOf = ({ folder, index }: Repository): IndexPlace => ({
  gitDir: join(folder, '.git'),
  indexPath: index,
  objectFormat: SHA1,
});

describe('reading what git wrote', () => {
  const both = (repository: Repository): IndexTable => {
    const table = repository.read();
    expect(asWeSee(table)).toEqual(asGitSees(repository));
    return table;
  };

  it('version 2 with a cache tree; written again it is the same file', () => {
    const repository = new Repository();
    fillWorkTree(repository);
    repository.git(['read-tree', '-u', '--reset', repository.line(['write-tree'])]);
    const table = both(repository);
    expect(table.version).toBe(2);
    expect(table.extensions.map((extension) => extension.signature)).toEqual(['TREE']);
    expect(table.mtimeSeconds).toBe(Math.floor(lstatSync(repository.index).mtimeMs / 1000));
    expect(serializeIndex(table, extensionOf(table, 'TREE'))).toEqual(readFileSync(repository.index));
  });

  it('version 3 with skip-worktree, intent-to-add and assume-valid', () => {
    const repository = new Repository();
    fillWorkTree(repository);
    repository.git(['read-tree', '-u', '--reset', repository.line(['write-tree'])]);
    repository.git(['update-index', '--skip-worktree', 'a/f', 'zz/f']);
    repository.git(['update-index', '--assume-unchanged', 'run.sh']);
    writeFileSync(join(repository.folder, 'new file'), 'x');
    repository.git(['add', '-N', 'new file']);
    const table = both(repository);
    expect(table.version).toBe(3);
    expect([...table.extendedFlags].filter((flags) => flags === EXTENDED_FLAG.skipWorktree).length).toBe(2);
    expect([...table.extendedFlags].filter((flags) => flags === EXTENDED_FLAG.intentToAdd).length).toBe(1);
    expect([...table.flags].filter((flags) => (flags & FLAG.assumeValid) !== 0).length).toBe(1);
    expect(serializeIndex(table, extensionOf(table, 'TREE'))).toEqual(readFileSync(repository.index));
  });

  it('version 4, and version 4 in blocks that each start anew', () => {
    const repository = new Repository();
    fillWorkTree(repository);
    repository.git(['read-tree', '-u', '--reset', repository.line(['write-tree'])]);
    const before = readFileSync(repository.index);
    repository.git(['update-index', '--index-version', '4']);
    const table = both(repository);
    expect(table.version).toBe(4);
    expect(serializeIndex(table, extensionOf(table, 'TREE'), 4)).toEqual(readFileSync(repository.index));
    // The same entries as a version 2 file: the one that git wrote before.
    expect(serializeIndex(table, extensionOf(table, 'TREE'))).toEqual(before);
    repository.git(['-c', 'index.threads=3', 'update-index', '--force-write-index']);
    const blocks = both(repository);
    expect(blocks.extensions.map((extension) => extension.signature)).toEqual(['IEOT', 'TREE', 'EOIE']);
    expect(serializeIndex(blocks, extensionOf(blocks, 'TREE'))).toEqual(before);
  });

  it.each(['2', '4'])('long names in version %s', (version) => {
    const repository = new Repository();
    const blob = repository.blob('x');
    const lengths = [1, 2, 4000, 4093, 4094, 4095, 4096, 4097, 5000, 10_000];
    repository.add(lengths.map((length, i) => ['100644', blob, `${'d'.repeat(length - 1)}${'abcdefghij'[i]!}`]));
    repository.add([['100644', blob, `${'d'.repeat(4094)}x/y`]]);
    const file = readFileSync(repository.index);
    repository.git(['update-index', '--index-version', version]);
    const table = both(repository);
    expect(table.version).toBe(Number(version));
    expect(serializeIndex(table, null)).toEqual(file);
    if (version === '4') expect(serializeIndex(table, null, 4)).toEqual(readFileSync(repository.index));
  });

  it('in version 4, what is dropped of a path in each length of its number', () => {
    const repository = new Repository();
    const blob = repository.blob('x');
    // 7 bits, 14 and 21, each with 1 taken off: the last number of one length, and the first of the next.
    const lengths = [126, 127, 128, 129, 130, 16_510, 16_511, 16_512, 16_513, 16_514];
    repository.git(['update-index', '--index-version', '4']);
    repository.add(
      lengths.flatMap((length, i): [string, string, string][] => [
        ['100644', blob, `${'abcdefghij'[i]!}${'x'.repeat(length - 1)}`],
        ['100644', blob, `${'abcdefghij'[i]!}y`],
      ]),
    );
    expect(serializeIndex(both(repository), null, 4)).toEqual(readFileSync(repository.index));
  });

  it('stages of a conflict, and the undo record of its resolution', () => {
    const repository = new Repository();
    const blob = repository.blob('x');
    repository.add([1, 2, 3].map((stage) => ['100644', blob, 'conflict', stage]));
    repository.add([['100644', blob, 'conflict2', 2]]);
    const table = both(repository);
    expect([...table.flags].map((flags) => flags >> FLAG_STAGE_SHIFT)).toEqual([1, 2, 3, 2]);
    expect(serializeIndex(table, null)).toEqual(readFileSync(repository.index));
    writeFileSync(join(repository.folder, 'conflict'), 'y');
    repository.git(['add', 'conflict']);
    expect(both(repository).extensions.map((extension) => extension.signature)).toContain('REUC');
  });

  it('many entries', () => {
    const repository = new Repository();
    const blob = repository.blob('x');
    const rows = Array.from({ length: 12_000 }, (_, i): [string, string, string] => {
      return ['100644', blob, `dir${i % 97}/sub${i % 13}/file-${i}`];
    });
    repository.add(rows);
    expect(both(repository).count).toBe(12_000);
    repository.git(['write-tree']);
    repository.git(['update-index', '--index-version', '4']);
    expect(both(repository).version).toBe(4);
  });

  it('a sparse index, folded as it stands and unfolded', () => {
    const repository = new Repository();
    fillWorkTree(repository);
    repository.git(['read-tree', '-u', '--reset', repository.line(['write-tree'])]);
    repository.git(['commit', '-qm', 'x']);
    repository.git(['sparse-checkout', 'set', '--cone', '--sparse-index', 'a/deep']);
    const sparse = both(repository);
    expect(sparse.extensions.map((extension) => extension.signature)).toContain('sdir');
    expect([...sparse.modes]).toContain(0o040000);
    const gitDir = join(repository.folder, '.git');
    const odb = ObjectDatabase.open([join(gitDir, 'objects')], SHA1, () => undefined);
    const whole = readWholeIndex(placeOf(repository), (oids, oidAt) => readTree(odb, oids, oidAt));
    odb.close();
    expect(asWeSee(whole!)).toEqual(asGitSees(repository, false));
    expect(whole!.count).toBeGreaterThan(sparse.count);
    expect(whole!.extensions.map((extension) => extension.signature)).toEqual(['TREE']);
    expect(readWholeIndex(placeOf(repository), null)!.count).toBe(sparse.count);
  });

  it.each(['2', '4'])('a split index of version %s, and joined with its shared index', (version) => {
    const repository = new Repository();
    fillWorkTree(repository);
    const blob = repository.blob('x');
    // Bits in several words, runs of words without any, and of words with nothing else.
    const name = (i: number): string => `many/${String(i).padStart(4, '0')}`;
    const numbers = Array.from({ length: 1000 }, (_, i) => i);
    repository.add(numbers.map((i) => ['100644', blob, name(i)]));
    repository.git(['update-index', '--index-version', version]);
    repository.git(['-c', 'splitIndex.maxPercentChange=100', 'update-index', '--split-index']);
    repository.git(['config', 'splitIndex.maxPercentChange', '100']);
    const changed = repository.blob('changed content');
    const gone = new Set(numbers.filter((i) => (i >= 200 && i < 520) || i % 97 === 0));
    const none = '0'.repeat(40);
    repository.add([
      ['100644', changed, 'a/f'],
      ['100644', changed, 'Z/new'],
      ['100755', changed, 'many/0003'],
      ...numbers.filter((i) => i > 700 && !gone.has(i)).map((i) => ['100644', changed, name(i)] as const),
      ...[...gone].map((i) => ['0', none, name(i)] as const),
      ['0', none, 'many/0004'],
      ['100644', blob, 'many/0004', 1],
      ['100644', changed, 'many/0004', 3],
      ['100644', changed, 'zzz'],
    ]);
    const split = repository.read();
    expect(split.extensions.map((extension) => extension.signature)).toContain('link');
    // Entries that replace others have no path of their own, and come before new ones.
    const paths = asWeSee(split).map((line) => line.split(' ')[3]);
    expect(paths.slice(0, 3)).toEqual(['', '', '']);
    expect(paths.filter((path) => path !== '')).toEqual(['Z/new', 'many/0004', 'many/0004', 'zzz']);
    const whole = readWholeIndex(placeOf(repository), null);
    expect(asWeSee(whole!)).toEqual(asGitSees(repository));
    expect(whole!.version).toBe(Number(version));
    expect(whole!.extensions.map((extension) => extension.signature)).not.toContain('link');
  });

  it('an index without entries', () => {
    const repository = new Repository();
    repository.git(['read-tree', '--empty']);
    const table = both(repository);
    expect(table.count).toBe(0);
    expect(serializeIndex(table, extensionOf(table, 'TREE'))).toEqual(readFileSync(repository.index));
  });
});

/** Entries of a tree from `git ls-tree`, without looking at any index. */
function entriesOfTree(repository: Repository, tree: string): IndexEntries {
  const listed = repository.git(['ls-tree', '-r', '-z', tree]).toString('latin1').split('\0').slice(0, -1);
  const rows = listed.map((line) => /^(\d+) \w+ ([0-9a-f]+)\t([^]*)$/.exec(line)!);
  const paths = rows.map((row) => Buffer.from(row[3]!, 'latin1'));
  const pathOffsets = new Uint32Array(rows.length + 1);
  paths.forEach((path, i) => (pathOffsets[i + 1] = pathOffsets[i]! + path.length));
  return {
    format: SHA1,
    count: rows.length,
    pathBytes: Buffer.concat(paths),
    pathOffsets,
    oids: Buffer.concat(rows.map((row) => oidFromHex(row[2]!))),
    modes: Uint32Array.from(rows, (row) => Number.parseInt(row[1]!, 8)),
  };
}

function pathOf(entries: IndexEntries, i: number): Buffer {
  return bufferOver(entries.pathBytes, entries.pathOffsets[i], entries.pathOffsets[i + 1]);
}

/** The cache tree of a tree, again from `git ls-tree`. */
function cacheTreeOf(repository: Repository, tree: string): Uint8Array {
  const listed = repository.git(['ls-tree', '-r', '-d', '-z', tree]).toString('latin1').split('\0').slice(0, -1);
  const rows = listed.map((line) => /^(\d+) (\w+) ([0-9a-f]+)\t([^]*)$/.exec(line)!).filter((row) => row[2] === 'tree');
  const paths = ['', ...rows.map((row) => row[4]!)];
  const entries = entriesOfTree(repository, tree);
  const files = Array.from({ length: entries.count }, (_, i) => pathOf(entries, i).toString('latin1'));
  const names = paths.map((path) => path.slice(path.lastIndexOf('/') + 1));
  const nameEnd = new Uint32Array(paths.length);
  names.forEach((name, i) => (nameEnd[i] = (nameEnd[i - 1] ?? 0) + name.length));
  return serializeCacheTree(
    {
      format: SHA1,
      count: paths.length,
      parent: Int32Array.from(paths, (path, i) => {
        return i === 0 ? -1 : paths.indexOf(path.slice(0, Math.max(0, path.lastIndexOf('/'))));
      }),
      nameStart: nameEnd.map((end, i) => end - names[i]!.length),
      nameEnd,
      entryCount: Uint32Array.from(paths, (path) => {
        return files.filter((file) => path === '' || file.startsWith(`${path}/`)).length;
      }),
      oids: Buffer.concat([tree, ...rows.map((row) => row[3]!)].map((hex) => oidFromHex(hex))),
    },
    Buffer.from(names.join(''), 'latin1'),
  );
}

describe('writing what git reads', () => {
  let repository: Repository;
  let tree: string;
  let gitsIndex: Buffer;
  let ours: Buffer;
  let gitSees: string[];

  beforeAll(() => {
    repository = new Repository();
    fillWorkTree(repository);
    tree = repository.line(['write-tree']);
    repository.git(['update-ref', 'HEAD', repository.line(['commit-tree', '-m', 'x', tree])]);
    rmSync(repository.index);
    repository.git(['read-tree', '-u', '--reset', tree]);
    gitsIndex = readFileSync(repository.index);
    gitSees = asGitSees(repository);

    const entries = entriesOfTree(repository, tree);
    const skeleton = new IndexSkeleton(entries, cacheTreeOf(repository, tree));
    const stats = new Uint32Array(new SharedArrayBuffer(4 * STAT_WORDS * entries.count));
    for (let i = 0; i < entries.count; i++) {
      const path = Buffer.concat([Buffer.from(`${repository.folder}/`), pathOf(entries, i)]);
      const stat = lstatSync(path, { bigint: true });
      statToWords(stat, process.platform, stats, i * STAT_WORDS, entries.modes[i]!);
    }
    ours = skeleton.finish(stats);
    rmSync(repository.index);
    IndexLock.acquire(repository.index).writeAndCommit(ours);
  });

  it('gives the very bytes of git read-tree', () => {
    expect(ours.equals(gitsIndex), `${ours.length} and ${gitsIndex.length} bytes`).toBe(true);
  });

  it('is believed by git', () => {
    expect(asGitSees(repository)).toEqual(gitSees);
    expect(repository.line(['status', '--porcelain'])).toBe('');
    expect(repository.line(['diff-index', '--cached', 'HEAD'])).toBe('');
    expect(repository.line(['write-tree'])).toBe(tree);
    expect(repository.line(['fsck', '--strict'])).toBe('');
  });

  it('has a cache tree that stands git’s own check, and one that is wrong does not', () => {
    const check = { GIT_TEST_CHECK_CACHE_TREE: '1' };
    repository.git(['update-index', '--force-write-index'], undefined, check);
    const entries = entriesOfTree(repository, tree);
    const wrong = cacheTreeOf(repository, tree).slice();
    wrong[wrong.length - 1]! ^= 1;
    writeFileSync(repository.index, new IndexSkeleton(entries, wrong).finish(new Uint32Array(10 * entries.count)));
    expect(() => repository.git(['update-index', '--force-write-index'], undefined, check)).toThrow();
    rmSync(`${repository.index}.lock`, { force: true });
    writeFileSync(repository.index, ours);
  });

  it('has stat data that git need not look behind', () => {
    // An index from the future has no racy entries, and diff-files compares stat data only.
    const future = Date.now() / 1000 + 1000;
    utimesSync(repository.index, future, future);
    expect(repository.line(['diff-files', '--raw'])).toBe('');
    // The same with other stat data is noticed, so the line above can fail.
    const table = repository.read();
    table.stats[STAT.size] = 9999;
    writeFileSync(repository.index, serializeIndex(table, extensionOf(table, 'TREE')));
    utimesSync(repository.index, future, future);
    expect(repository.line(['diff-files', '--raw'])).not.toBe('');
    writeFileSync(repository.index, ours);
  });

  it('agrees with git on what is unchanged, in an index that either wrote', () => {
    const comparison = {
      trustCtime: true,
      checkStatMinimal: false,
      fileMode: !WINDOWS,
      symlinks: !WINDOWS,
      platform: process.platform,
    };
    const table = repository.read();
    const verdicts = (): string[] => {
      return Array.from({ length: table.count }, (_, i) => {
        const path = Buffer.concat([Buffer.from(`${repository.folder}/`), pathOf(table, i)]);
        const stat = lstatSync(path, { bigint: true });
        const at = i * STAT_WORDS;
        const verdict = matchStat(table.stats, at, stat, comparison, isEmptyBlob(table.oids, 20 * i, SHA1));
        return verdict === 'changed' ? pathOf(table, i).toString('latin1') : '';
      }).filter((path) => path !== '');
    };
    expect(verdicts()).toEqual([]);
    expect(isRacy(table.stats, 0, table.mtimeSeconds - 1000)).toBe(true);
    expect(isRacy(table.stats, 0, table.mtimeSeconds + 1000)).toBe(false);
    utimesSync(join(repository.folder, 'lib', 'f'), 1_000_000_000, 1_000_000_000);
    writeFileSync(join(repository.folder, 'zz', 'g.txt'), 'longer than it was before');
    const future = Date.now() / 1000 + 1000;
    utimesSync(repository.index, future, future);
    const dirty = repository.git(['diff-files', '--name-only', '-z']).toString('latin1').split('\0').slice(0, -1);
    expect(dirty).toEqual(['lib/f', 'zz/g.txt']);
    expect(verdicts()).toEqual(dirty);
  });
});

describe('names that git refuses', () => {
  const pieces = [
    '.git', '.GIT', '.gIt', 'git~1', 'GIT~1', 'git~2', '.gitmodules', '.GitModules', 'gitmod~1', 'GITMOD~4', 'gitmod~5',
    'gi7eba', 'gi7eba~1', 'GI7EB~12', 'gi7e~123', '~1234567', '~', '1', '.', '..', '...', '/', '/', '/', '\\', '\\', ' ',
    ':', 'x', 'aux', 'modules', '.g', 'it', '\xe2\x80\x8c', '\xe2\x80\xaa', '\xef\xbb\xbf', '\xe2\x81\xaf', '\xff', '\xc3',
    '\xe2\x80', '\xc3\xa9', '\xed\xa0\x80', '\xf0\x9f\x98\x80', '\xc0\xae', '\xef\xbf\xbe', ':$DATA',
  ]; // prettier-ignore

  /** A small generator with a fixed seed (mulberry32), so that a failure repeats. */
  const random = (seed: number) => (): number => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };

  const next = random(20261201);
  const names = new Set<string>(pieces);
  while (names.size < 4000) {
    let name = '';
    for (let left = 1 + Math.floor(next() * 5); left > 0; left--) name += pieces[Math.floor(next() * pieces.length)]!;
    names.add(name);
  }

  const settings = [true, false].flatMap((ntfs) => {
    return [true, false].flatMap((hfs) => [true, false].map((link) => ({ ntfs, hfs, link })));
  });
  // On Windows we refuse a little more than git where protectNTFS is off.
  it.skipIf(WINDOWS).each(settings)('are those that we refuse: %o', ({ ntfs, hfs, link }) => {
    const repository = new Repository();
    const blob = repository.blob('x');
    const lines = [...names].map((name) => `${link ? '120000' : '100644'} ${blob}\t${name}\0`);
    const config = ['-c', `core.protectNTFS=${ntfs}`, '-c', `core.protectHFS=${hfs}`];
    const result = spawnSync('git', [...config, 'update-index', '-z', '--add', '--replace', '--index-info'], {
      cwd: repository.folder,
      input: Buffer.from(lines.join(''), 'latin1'),
      encoding: 'latin1',
    });
    expect(result.status).toBe(0);
    const prefix = 'Ignoring path ';
    const refused = result.stderr.split('\n').filter((line) => line.startsWith(prefix));
    const gitRefuses = new Set(refused.map((line) => line.slice(prefix.length)));
    expect(gitRefuses.size).toBeGreaterThan(100);
    expect(names.size - gitRefuses.size).toBeGreaterThan(100);
    const differences = [...names].filter((name) => {
      const bytes = Buffer.from(name, 'latin1');
      const reason = invalidComponent(bytes, 0, bytes.length, link, { ntfs, hfs, windows: false });
      return (reason !== null) !== gitRefuses.has(name);
    });
    expect(differences).toEqual([]);
  });
});
