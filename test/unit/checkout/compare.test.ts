import {
  chmodSync,
  lstatSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { compareWithIndex, compareWithNothing } from '../../../src/engine/checkout/compare.ts';
import { State } from '../../../src/engine/checkout/tables.ts';
import { EXTENDED_FLAG, type IndexTable } from '../../../src/engine/index/index-table.ts';
import { readIndex } from '../../../src/engine/index/parse-index.ts';
import type { StatComparison } from '../../../src/engine/index/stat-words.ts';
import { MODE_EXECUTABLE, MODE_FILE, MODE_GITLINK, MODE_SYMLINK } from '../../../src/engine/object/tree.ts';
import { WorktreePaths } from '../../../src/engine/worktree/paths.ts';
import { GITLINK_OID, GitRepository } from '../../support/repository.ts';
import { temporaryFolder } from '../../support/temporary.ts';
import { tablesOf, type EntrySpec } from './made-job.ts';
import { SHA1 } from '../../../src/engine/oid.ts';

const folder = temporaryFolder('compare');
const comparison: StatComparison = {
  trustCtime: true,
  checkStatMinimal: false,
  fileMode: true,
  symlinks: true,
  platform: process.platform,
};

/** A repository with these files checked out, long before its index was written. */
function checkedOut(name: string): GitRepository {
  const repository = new GitRepository(folder, name);
  repository.commit({
    a: 'content of a',
    'd/b': 'content of b',
    'd/empty': '',
    'd/exe': { content: 'x', executable: true },
    link: { symlink: 'a' },
    sub: { gitlink: GITLINK_OID },
  });
  repository.git(['checkout', '-q', '--force', 'main']);
  for (const path of ['a', 'd/b', 'd/empty', 'd/exe'])
    utimesSync(join(repository.directory, path), 1_600_000_000, 1_600_000_000);
  repository.git(['update-index', '-q', '--refresh']);
  return repository;
}

function indexOf(repository: GitRepository): IndexTable {
  const index = readIndex(join(repository.gitDir, 'index'), SHA1);
  if (index === null) throw new Error('there is no index');
  return index;
}

/** The entries that an index has, as the new tree would have them. */
function sameAs(index: IndexTable): EntrySpec[] {
  return [...Array(index.count).keys()].map((i) => ({
    path: Buffer.from(index.pathBytes.subarray(index.pathOffsets[i], index.pathOffsets[i + 1])).toString('latin1'),
    mode: index.modes[i]!,
    oid: Buffer.from(index.oids.subarray(20 * i, 20 * i + 20)).toString('hex'),
  }));
}

const NAMES = Object.fromEntries(Object.entries(State).map(([name, value]) => [value, name]));

function compare(
  repository: GitRepository,
  change: (entries: EntrySpec[]) => EntrySpec[] = (entries) => entries,
  options: Partial<StatComparison> = {},
  index = indexOf(repository),
): {
  states: Record<string, string | undefined>;
  removals: string[];
  vanished: string[];
  kept: number;
  toWrite: number;
  stats: Uint32Array;
} {
  const entries = change(sameAs(index)).sort((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)));
  const tables = tablesOf(entries);
  const paths = new WorktreePaths(repository.directory);
  const result = compareWithIndex(tables, index, paths, { ...comparison, ...options }, null);
  return {
    states: Object.fromEntries(entries.map(({ path }, i) => [path, NAMES[tables.states[i]!]])),
    removals: [...result.removals].map((i) => sameAs(index)[i]!.path),
    vanished: [...result.vanished].map((i, at) => sameAs(index)[i]!.path.slice(0, result.vanishedLengths[at])),
    kept: result.kept,
    toWrite: result.toWrite,
    stats: tables.stats,
  };
}

const KEPT = { a: 'KEPT', 'd/b': 'KEPT', 'd/empty': 'KEPT', 'd/exe': 'KEPT', link: 'KEPT', sub: 'KEPT' };

describe.runIf(process.platform !== 'win32')('compareWithIndex', () => {
  const repository = checkedOut('untouched');
  // The link cannot be dated back, so the index is.
  const later = (index: IndexTable): IndexTable => ({ ...index, mtimeSeconds: 4_000_000_000 });
  const index = later(indexOf(repository));
  const untouched = (change?: (entries: EntrySpec[]) => EntrySpec[]): ReturnType<typeof compare> =>
    compare(repository, change, {}, index);

  it('keeps what has not changed, with its stat data', () => {
    const { states, removals, kept, toWrite, stats } = untouched();
    expect([states, removals, kept, toWrite]).toEqual([KEPT, [], 6, 0]);
    expect([...stats.subarray(0, 60)]).toEqual([...index.stats.subarray(0, 60)]);
  });

  it('writes what is new in the tree', () => {
    const { states, kept, toWrite } = untouched((entries) => [
      ...entries,
      { path: '0' },
      { path: 'd/a' },
      { path: 'z', mode: MODE_EXECUTABLE },
      { path: 'zl', mode: MODE_SYMLINK },
      { path: 'zs', mode: MODE_GITLINK },
    ]);
    expect(states).toEqual({ ...KEPT, '0': 'PENDING', 'd/a': 'PENDING', z: 'PENDING', zl: 'LATER', zs: 'LATER' });
    expect([kept, toWrite]).toEqual([6, 3]);
  });

  it('removes what the tree does not have', () => {
    const without = (...paths: string[]): string[] =>
      untouched((entries) => entries.filter(({ path }) => !paths.includes(path))).removals;
    expect(without('a')).toEqual(['a']);
    expect(without('d/b', 'sub')).toEqual(['d/b', 'sub']);
    expect(without('d/exe', 'link')).toEqual(['d/exe', 'link']);
    expect(untouched(() => []).removals).toEqual(Object.keys(KEPT));
    expect(untouched(() => [{ path: 'd' }, { path: 'a/b' }])).toMatchObject({
      removals: Object.keys(KEPT),
      states: { d: 'PENDING', 'a/b': 'PENDING' },
    });
  });

  it('tells which directories the tree does not have, parents first', () => {
    const deep = checkedOut('vanished');
    const oid = deep.object('blob', 'x');
    const paths = ['a/b/c/1', 'a/b/c/2', 'a/b/d/3', 'a/e', 'a-b/f', 'k/l/m', 'k/l/n', 'k/o/p', 'z/z/z/z'];
    deep.git(['read-tree', '--empty']);
    deep.git(['update-index', '--index-info'], { input: paths.map((path) => `100644 ${oid} 0\t${path}\n`).join('') });
    const vanished = (...stay: string[]): string[] =>
      compare(deep, () => stay.map((path) => ({ path, oid })), {}, later(indexOf(deep))).vanished;
    expect(vanished()).toEqual(['a-b', 'a', 'a/b', 'a/b/c', 'a/b/d', 'k', 'k/l', 'k/o', 'z', 'z/z', 'z/z/z']);
    expect(vanished(...paths)).toEqual([]);
    expect(vanished('a/b/c/0', 'k/l/mm', 'z/z/z/z0')).toEqual(['a-b', 'a/b/d', 'k/o']);
    expect(vanished('a/b', 'a-b/f/g', 'k/l/m', 'k/o/p', 'z/z/zz')).toEqual(['a/b', 'a/b/c', 'a/b/d', 'z/z/z']);
  });

  it('writes what has another id or mode', () => {
    const other = (path: string, more: Partial<EntrySpec>): string | undefined =>
      untouched((entries) => entries.map((entry) => (entry.path === path ? { ...entry, ...more } : entry))).states[
        path
      ];
    expect(other('a', { oid: '7'.repeat(40) })).toBe('REPLACE');
    expect(other('a', { mode: MODE_EXECUTABLE })).toBe('REPLACE');
    expect(other('d/exe', { mode: MODE_FILE })).toBe('REPLACE');
    expect(other('a', { mode: MODE_SYMLINK })).toBe('LATER');
    expect(other('link', { mode: MODE_FILE })).toBe('REPLACE');
    expect(other('link', { oid: '7'.repeat(40) })).toBe('LATER');
    expect(other('sub', { oid: '7'.repeat(40) })).toBe('LATER');
  });

  it('writes what is unmerged, or only intended, in the index', () => {
    const flags = index.flags.slice();
    flags[0] = 0x1000;
    expect(compare(repository, undefined, {}, { ...index, flags }).states).toEqual({ ...KEPT, a: 'REPLACE' });
    const extendedFlags = index.extendedFlags.slice();
    extendedFlags[0] = EXTENDED_FLAG.intentToAdd;
    expect(compare(repository, undefined, {}, { ...index, extendedFlags }).states).toEqual({ ...KEPT, a: 'REPLACE' });
  });

  it('keeps what is not to be looked at, but tells of what changed in the second of the index', () => {
    const other = checkedOut('skipped');
    const old = indexOf(other);
    const extendedFlags = old.extendedFlags.slice().fill(EXTENDED_FLAG.skipWorktree);
    const skipped = { ...old, extendedFlags, mtimeSeconds: 1_600_000_000 };
    writeFileSync(join(other.directory, 'a'), 'CONTENT of a');
    utimesSync(join(other.directory, 'a'), 1_600_000_000, 1_600_000_000);
    rmSync(join(other.directory, 'd/b'));
    const { states, stats } = compare(other, undefined, { trustCtime: false }, skipped);
    expect(states).toEqual(KEPT);
    const sizes = [0, 1, 2, 3, 4].map((i) => stats[10 * i + 9]);
    expect(sizes).toEqual([0, 12, 0, 1, 1]);
  });

  it('looks again at what is as young as the index', () => {
    const { states, kept, toWrite } = compare(repository, undefined, {}, { ...index, mtimeSeconds: 1_600_000_000 });
    expect(states).toEqual({
      a: 'VERIFY',
      'd/b': 'VERIFY',
      'd/empty': 'VERIFY',
      'd/exe': 'VERIFY',
      link: 'LATER',
      sub: 'KEPT',
    });
    expect([kept, toWrite]).toEqual([1, 4]);
  });

  it('leaves a link that may be right its stat data, by which it is known', () => {
    const racy = compare(repository, undefined, {}, { ...index, mtimeSeconds: 1_600_000_000 });
    expect(racy.stats[4 * 10 + 2]).toBe(Math.floor(lstatSync(join(repository.directory, 'link')).mtimeMs / 1000));
  });
});

describe.runIf(process.platform !== 'win32')('what is on disk', () => {
  const changes: [string, (at: (name: string) => string) => void, Record<string, string>][] = [
    ['a file that is gone', (at) => unlinkSync(at('a')), { a: 'PENDING' }],
    ['another time', (at) => utimesSync(at('a'), 1_500_000_000, 1_500_000_000), { a: 'REPLACE' }],
    [
      'another size',
      (at) => {
        writeFileSync(at('a'), 'longer than before');
        utimesSync(at('a'), 1_600_000_000, 1_600_000_000);
      },
      { a: 'REPLACE' },
    ],
    [
      'another file',
      (at) => {
        // Made before the old one goes, which would leave it its inode.
        writeFileSync(at('new'), 'CONTENT OF A');
        renameSync(at('new'), at('a'));
        utimesSync(at('a'), 1_600_000_000, 1_600_000_000);
      },
      { a: 'REPLACE' },
    ],
    ['another mode', (at) => chmodSync(at('a'), 0o755), { a: 'REPLACE' }],
    [
      'a directory in place of a file',
      (at) => {
        unlinkSync(at('a'));
        mkdirSync(at('a'));
      },
      { a: 'REPLACE' },
    ],
    [
      'a link in place of a file',
      (at) => {
        unlinkSync(at('a'));
        symlinkSync('d/b', at('a'));
      },
      { a: 'REPLACE' },
    ],
    [
      'a file in place of a directory',
      (at) => {
        rmSync(at('d'), { recursive: true });
        writeFileSync(at('d'), '');
      },
      { 'd/b': 'PENDING', 'd/empty': 'PENDING', 'd/exe': 'PENDING' },
    ],
    [
      'another link',
      (at) => {
        unlinkSync(at('link'));
        symlinkSync('elsewhere', at('link'));
      },
      { link: 'LATER' },
    ],
    ['no submodule', (at) => rmSync(at('sub'), { recursive: true }), { sub: 'LATER' }],
  ];

  it.each(changes)('%s', (_, change, expected) => {
    const repository = checkedOut(`changed-${changes.findIndex((each) => each[1] === change)}`);
    const index = { ...indexOf(repository), mtimeSeconds: 4_000_000_000 };
    change((name) => join(repository.directory, name));
    const { states, toWrite } = compare(repository, undefined, {}, index);
    expect(states).toEqual({ ...KEPT, ...expected });
    expect(toWrite).toBe(Object.values(expected).filter((state) => state === 'PENDING' || state === 'REPLACE').length);
  });

  it('counts by the settings', () => {
    const repository = checkedOut('settings');
    const index = { ...indexOf(repository), mtimeSeconds: 4_000_000_000 };
    chmodSync(join(repository.directory, 'a'), 0o755);
    // The change of mode has changed ctime as well.
    const state = (options: Partial<StatComparison>): string | undefined =>
      compare(repository, undefined, options, {
        ...index,
        stats: index.stats.map((word, i) => (i === 0 ? word - 5 : word)),
      }).states['a'];
    expect(state({})).toBe('REPLACE');
    expect(state({ fileMode: false })).toBe('REPLACE');
    expect(state({ fileMode: false, trustCtime: false })).toBe('KEPT');
    expect(state({ fileMode: false, checkStatMinimal: true })).toBe('KEPT');
  });
});

describe.runIf(process.platform !== 'win32')('unmerged paths', () => {
  it('are written once, or removed once', () => {
    const repository = new GitRepository(folder, 'unmerged');
    const oid = repository.object('blob', 'x');
    const lines = [1, 2, 3].flatMap((stage) =>
      ['both', 'gone', 'gone2'].map((path) => `100644 ${oid} ${stage}\t${path}`),
    );
    repository.git(['update-index', '--index-info'], { input: `${lines.join('\n')}\n` });
    const { states, removals, toWrite } = compare(repository, () => [
      { path: 'a' },
      { path: 'both', oid },
      { path: 'both2' },
    ]);
    expect(states).toEqual({ a: 'PENDING', both: 'REPLACE', both2: 'PENDING' });
    expect(toWrite).toBe(3);
    expect(removals).toEqual(['gone', 'gone2']);
  });
});

it('without an index everything is to be written', () => {
  const tables = tablesOf([
    { path: 'a' },
    { path: 'b', mode: MODE_EXECUTABLE },
    { path: 'c', mode: MODE_SYMLINK },
    { path: 'd', mode: MODE_GITLINK },
  ]);
  tables.states.fill(99);
  expect(compareWithNothing(tables, true)).toMatchObject({
    removals: new Uint32Array(0),
    kept: 0,
    toWrite: 2,
    needsGit: [],
  });
  expect([...tables.states]).toEqual([State.PENDING, State.PENDING, State.LATER, State.LATER]);
  // Links as files.
  expect(compareWithNothing(tables, false)).toMatchObject({
    removals: new Uint32Array(0),
    kept: 0,
    toWrite: 3,
    needsGit: [],
  });
  expect([...tables.states]).toEqual([State.PENDING, State.PENDING, State.PENDING, State.LATER]);
});
