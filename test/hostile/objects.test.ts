/**
 * Damaged and lying objects: packs, pack indexes, loose files. Each case ends in a coded error or in a right result; never in
 * a hang, a crash, an allocation out of proportion, or a byte outside of the working tree.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Verdict } from '../support/hostile-job.ts';
import { runHostileJob, wrongOnes } from '../support/hostile.ts';
import { LONG } from '../support/long-tests.ts';
import {
  BLOB,
  COMMIT,
  deltaSize,
  entryHeader,
  OFS_DELTA,
  offsetBytes,
  plainEntry,
  REF_DELTA,
  TREE,
  writePack,
  type PackEntry,
} from '../support/pack-writer.ts';
import { randomBytes, randomText } from '../support/random.ts';
import { GitRepository, type TreeSpec } from '../support/repository.ts';
import { memoryFolder, temporaryFolder } from '../support/temporary.ts';

const folder = temporaryFolder('hostile', memoryFolder());
/** How many seeds of each kind are tried. */
const SEEDS = LONG ? 10_000 : 120;
const TIME_LIMIT_MS = LONG ? 3_600_000 : 600_000;
const MEBIBYTE = 2 ** 20;
/** Node itself with the engine and its fixed buffers stays below 150 MiB; what an object claims must not add to it. */
const MOST_MEMORY = 400 * MEBIBYTE;

function spec(version: number): TreeSpec {
  const files: Record<string, TreeSpec[string]> = {
    '.gitattributes': '*.crlf eol=crlf\n*.id ident\n',
    'a.crlf': 'a\nb\n',
    'b.id': '$Id$\n',
    link: { symlink: 'a.crlf' },
    'd/random': randomBytes(7, 3000),
    large: `${randomText(11, 600 << 10)}${version}`,
  };
  for (let i = 0; i < 12; i++) files[`d/e${i % 3}/f${i}`] = `${randomText(i, 900)}${version}\n`;
  return files;
}

function damagedRepository(name: string): { repository: GitRepository; commit: string } {
  const repository = new GitRepository(join(folder, name), 'case');
  const [, last] = repository.commits([spec(1), spec(2)]);
  return { repository, commit: last!.commit };
}

function outsideOf(repository: GitRepository): string[] {
  return readdirSync(join(repository.directory, '..'));
}

function filesIn(repository: GitRepository, pattern: RegExp): string[] {
  return readdirSync(join(repository.gitDir, 'objects'), { recursive: true, encoding: 'utf8' })
    .filter((name) => pattern.test(name))
    .map((name) => join('objects', name));
}

describe('random damage', () => {
  it.each([
    ['packs', /\.pack$/],
    ['pack indexes', /\.idx$/],
    ['packs of reference deltas', /\.pack$/],
    ['pack indexes of version 1', /\.idx$/],
    ['loose objects', /^[0-9a-f]{2}.[0-9a-f]{38}$/],
  ] as const)(
    '%s',
    async (name, pattern) => {
      const { repository, commit } = damagedRepository(name.replaceAll(' ', '-'));
      if (name === 'packs of reference deltas') {
        repository.git(['-c', 'repack.useDeltaBaseOffset=false', 'repack', '-adfq']);
      } else if (name.endsWith('version 1')) {
        repository.git(['-c', 'pack.indexVersion=1', 'repack', '-adfq']);
      } else if (name === 'loose objects') {
        const packs = filesIn(repository, /\.(pack|idx)$/).map((path) => join(repository.gitDir, path));
        const contents = packs.filter((path) => path.endsWith('.pack')).map((path) => readFileSync(path));
        for (const path of packs) rmSync(path);
        for (const input of contents) repository.git(['unpack-objects', '-q'], { input });
      } else {
        repository.git(['repack', '-adfq']);
      }
      const files = filesIn(repository, pattern);
      expect(files.length).toBe(name === 'loose objects' ? 43 : 1);
      const outside = outsideOf(repository);
      const verdicts = await runHostileJob({
        directory: repository.directory,
        commit,
        kind: 'files',
        files,
        seeds: [1, 1 + SEEDS],
      });
      expect(wrongOnes(verdicts)).toEqual([]);
      expect(outsideOf(repository)).toEqual(outside);
      expect(Math.max(...verdicts.map((verdict) => verdict.maxRssBytes))).toBeLessThan(MOST_MEMORY);
      // The damage reached something: not every case may end well, nor every one the same way.
      expect(new Set(verdicts.map((verdict) => verdict.outcome)).size).toBeGreaterThan(1);
    },
    TIME_LIMIT_MS,
  );
});

const person = 'A <a@example.com> 1700000000 +0000';
const sha1 = (type: string, body: Uint8Array): string =>
  createHash('sha1').update(`${type} ${body.length}\0`).update(body).digest('hex');
const treeOf = (entries: readonly [mode: string, name: string, oid: string][]): Buffer =>
  Buffer.concat(
    entries.map(([mode, name, oid]) => Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(oid, 'hex')])),
  );

describe('objects that lie', () => {
  const GIGABYTES = 10 * 2 ** 30;
  const good = Buffer.from('good\n');
  const goodOid = sha1('blob', good);
  const evilOid = 'e1'.repeat(20);
  const otherOid = 'e2'.repeat(20);
  const tree = treeOf([
    ['100644', 'a-good', goodOid],
    ['100644', 'evil', evilOid],
    ['100644', 'z-good', goodOid],
  ]);
  const treeOid = sha1('tree', tree);
  const commit = Buffer.from(`tree ${treeOid}\nauthor ${person}\ncommitter ${person}\n\nx\n`);
  const commitOid = sha1('commit', commit);
  const around: PackEntry[] = [
    { oid: commitOid, bytes: plainEntry(COMMIT, commit) },
    { oid: treeOid, bytes: plainEntry(TREE, tree) },
    { oid: goodOid, bytes: plainEntry(BLOB, good) },
  ];
  const goodOffset = 12 + around[0]!.bytes.length + around[1]!.bytes.length;
  const evilOffset = goodOffset + around[2]!.bytes.length;
  const toGood = offsetBytes(evilOffset - goodOffset);
  const delta = (body: Buffer, base: Buffer = toGood, type = OFS_DELTA): Buffer =>
    Buffer.concat([entryHeader(type, body.length), base, deflateSync(body)]);
  const zeros = deflateSync(Buffer.alloc(64 * MEBIBYTE));

  const evils: Record<string, Uint8Array | PackEntry[]> = {
    'ten gigabytes claimed of five bytes': plainEntry(BLOB, good, GIGABYTES),
    'the largest size that can be written': plainEntry(BLOB, good, Number.MAX_SAFE_INTEGER),
    'a size of more bits than any number': Buffer.concat([
      Buffer.from([0xbf]),
      Buffer.alloc(40, 0xff),
      Buffer.from([1]),
      deflateSync(good),
    ]),
    'one byte less than claimed': plainEntry(BLOB, good, 6),
    'one byte more than claimed': plainEntry(BLOB, good, 4),
    'nothing claimed, something there': plainEntry(BLOB, good, 0),
    'small claim, 64 MiB of zeros inside': Buffer.concat([entryHeader(BLOB, 100), zeros]),
    'just above the scratch buffer, 64 MiB inside': Buffer.concat([entryHeader(BLOB, (512 << 10) + 1), zeros]),
    'type 0': plainEntry(0, good),
    'type 5': plainEntry(5, good),
    'a commit where a file is': plainEntry(COMMIT, commit),
    'no zlib at all': Buffer.concat([entryHeader(BLOB, 5), Buffer.from('good\ngood\ngood\n')]),
    'cut in the middle': plainEntry(BLOB, randomBytes(3, 4000)).subarray(0, 900),
    'delta of a result of ten gigabytes': delta(
      Buffer.concat([deltaSize(5), deltaSize(GIGABYTES), Buffer.from([0x90, 5])]),
    ),
    'delta that makes a gigabyte': delta(
      Buffer.concat([
        deltaSize(5),
        deltaSize(2 ** 30),
        ...Array.from({ length: 64 }, () => Buffer.from([0x80 | 0x10 | 0x20 | 0x40, 0xff, 0xff, 0xff])),
      ]),
    ),
    'delta whose copy is outside of the base': delta(
      Buffer.concat([deltaSize(5), deltaSize(5), Buffer.from([0x91, 3, 5])]),
    ),
    'delta whose copy is far outside': delta(
      Buffer.concat([deltaSize(5), deltaSize(5), Buffer.from([0x9f, 0xff, 0xff, 0xff, 0xff, 5])]),
    ),
    'delta of another base size': delta(Buffer.concat([deltaSize(6), deltaSize(5), Buffer.from([0x90, 5])])),
    'delta that makes less than it says': delta(Buffer.concat([deltaSize(5), deltaSize(9), Buffer.from([0x90, 5])])),
    'delta that makes more than it says': delta(Buffer.concat([deltaSize(5), deltaSize(4), Buffer.from([0x90, 5])])),
    'delta with the reserved opcode': delta(Buffer.concat([deltaSize(5), deltaSize(5), Buffer.from([0, 0x90, 5])])),
    'delta that ends in an opcode': delta(Buffer.concat([deltaSize(5), deltaSize(5), Buffer.from([0x97])])),
    'delta that ends in a literal': delta(Buffer.concat([deltaSize(5), deltaSize(5), Buffer.from([5, 0x61])])),
    'delta without sizes': delta(Buffer.from([0x80])),
    'an empty delta': delta(Buffer.alloc(0)),
    'delta sizes of endless bytes': delta(Buffer.alloc(30, 0x80)),
    'delta that claims ten gigabytes of instructions': Buffer.concat([
      entryHeader(OFS_DELTA, GIGABYTES),
      toGood,
      deflateSync(good),
    ]),
    'its base is itself': delta(Buffer.concat([deltaSize(5), deltaSize(5), Buffer.from([0x90, 5])]), Buffer.from([0])),
    'its base lies before the pack': delta(Buffer.from([5, 5, 0x90, 5]), offsetBytes(evilOffset + 100)),
    'its base is the pack header': delta(Buffer.from([5, 5, 0x90, 5]), offsetBytes(evilOffset)),
    'its base is in the middle of another': delta(
      Buffer.from([5, 5, 0x90, 5]),
      offsetBytes(evilOffset - goodOffset - 3),
    ),
    'a distance of endless bytes': delta(
      Buffer.from([5, 5, 0x90, 5]),
      Buffer.concat([Buffer.alloc(30, 0xff), Buffer.from([1])]),
    ),
    'its base is a commit': delta(
      Buffer.concat([deltaSize(commit.length), deltaSize(5), Buffer.from([0x90, 5])]),
      offsetBytes(evilOffset - 12),
    ),
    'its named base is nowhere': delta(Buffer.from([5, 5, 0x90, 5]), Buffer.from('d7'.repeat(20), 'hex'), REF_DELTA),
    'its named base is itself': delta(Buffer.from([5, 5, 0x90, 5]), Buffer.from(evilOid, 'hex'), REF_DELTA),
    'two that are each other’s base': [
      { oid: evilOid, bytes: delta(Buffer.from([5, 5, 0x90, 5]), Buffer.from(otherOid, 'hex'), REF_DELTA) },
      { oid: otherOid, bytes: delta(Buffer.from([5, 5, 0x90, 5]), Buffer.from(evilOid, 'hex'), REF_DELTA) },
    ],
  };

  // One process for all: what starts it costs more than what it does.
  let verdicts: Verdict[] = [];
  beforeAll(async () => {
    const directories = Object.values(evils).map((evil, i) => {
      const repository = new GitRepository(join(folder, `lie-${i}`), 'case');
      const entries = Array.isArray(evil) ? evil : [{ oid: evilOid, bytes: evil }];
      writePack(join(repository.gitDir, 'objects'), [...around, ...entries]);
      return repository.directory;
    });
    const seeds = [0, 2 * directories.length] as const;
    verdicts = await runHostileJob({
      directory: directories[0]!,
      directories,
      commit: commitOid,
      kind: 'as-is',
      seeds,
    });
  }, 60_000);

  it.each(Object.keys(evils).map((name, i) => [name, i] as const))('%s', (_, i) => {
    for (const verdict of verdicts.slice(2 * i, 2 * i + 2)) {
      expect(verdict.outcome, JSON.stringify(verdict)).toBe('write-failed');
      expect(verdict.maxRssBytes).toBeLessThan(MOST_MEMORY);
    }
  });

  it('the same for trees and commits, and for loose headers', async () => {
    const bad = [
      Buffer.from(`tree ${GIGABYTES}\0`),
      Buffer.from('tree 99999999999999999999999999\0'),
      Buffer.from(`tree 5\0${'x'.repeat(MEBIBYTE)}`),
      Buffer.from('tree 05\0hello'),
      Buffer.from('tree -1\0hello'),
      Buffer.from('tree 5hello'),
      Buffer.from('treetreetreetreetreetreetreetreetreetree 5\0hello'),
      Buffer.from('bush 5\0hello'),
      Buffer.from(''),
      Buffer.concat([Buffer.from(`tree ${64 * MEBIBYTE}\0`), Buffer.alloc(64 * MEBIBYTE)]),
    ];
    const cases = [
      ...bad.map((content) => ['loose tree', content] as const),
      ['packed tree', Buffer.alloc(0)] as const,
      ['packed commit', Buffer.alloc(0)] as const,
    ];
    const directories = cases.map(([place, content], i) => {
      const repository = new GitRepository(join(folder, `header-${i}`), 'case');
      const objects = join(repository.gitDir, 'objects');
      if (place === 'loose tree') {
        writePack(objects, [around[0]!, around[2]!]);
        mkdirSync(join(objects, treeOid.slice(0, 2)));
        writeFileSync(join(objects, treeOid.slice(0, 2), treeOid.slice(2)), deflateSync(content));
      } else if (place === 'packed tree') {
        writePack(objects, [around[0]!, { oid: treeOid, bytes: plainEntry(TREE, tree, GIGABYTES) }, around[2]!]);
      } else {
        writePack(objects, [{ oid: commitOid, bytes: plainEntry(COMMIT, commit, GIGABYTES) }, around[1]!, around[2]!]);
      }
      return repository.directory;
    });
    const verdicts = await runHostileJob({
      directory: directories[0]!,
      directories,
      commit: commitOid,
      kind: 'as-is',
      seeds: [0, 2 * directories.length],
    });
    for (const [i, verdict] of verdicts.entries()) {
      expect(verdict.outcome, `${i >> 1}: ${JSON.stringify(verdict)}`).toMatch(
        /^(object-corrupt|object-missing|tree-invalid|memory|unknown-revision|path-invalid)$/,
      );
      expect(verdict.maxRssBytes, `${i >> 1}`).toBeLessThan(MOST_MEMORY);
    }
  }, 60_000);

  it('pack indexes that claim what they do not have', async () => {
    const changes: Record<string, (index: Buffer) => Buffer> = {
      'four thousand million objects': (index) => (index.fill(0xff, 8, 8 + 1024), index),
      'a fanout that falls': (index) => (index.writeUInt32BE(4, 8), index),
      'offsets behind the end': (index) => (index.fill(0x7f, 8 + 1024 + 4 * 24, 8 + 1024 + 4 * 28), index),
      'offsets into a table that is not there': (index) => (
        index.fill(0xff, 8 + 1024 + 4 * 24, 8 + 1024 + 4 * 28),
        index
      ),
      'version 9': (index) => (index.writeUInt32BE(9, 4), index),
      nothing: () => Buffer.alloc(0),
      'the magic alone': (index) => index.subarray(0, 8),
      'another pack’s checksum': (index) => (index.fill(0, index.length - 40, index.length - 20), index),
    };
    const directories = Object.values(changes).map((change, i) => {
      const repository = new GitRepository(join(folder, `index-${i}`), 'case');
      const objects = join(repository.gitDir, 'objects');
      const name = writePack(objects, [...around, { oid: evilOid, bytes: plainEntry(BLOB, good) }]);
      const path = join(objects, 'pack', `pack-${name}.idx`);
      writeFileSync(path, change(readFileSync(path)));
      return repository.directory;
    });
    const verdicts = await runHostileJob({
      directory: directories[0]!,
      directories,
      commit: commitOid,
      kind: 'as-is',
      seeds: [0, 2 * directories.length],
    });
    for (const [i, verdict] of verdicts.entries()) {
      const name = Object.keys(changes)[i >> 1];
      expect(verdict.outcome, `${name ?? ''}: ${JSON.stringify(verdict)}`).not.toMatch(/^(WRONG|right)$/);
      expect(verdict.maxRssBytes, name).toBeLessThan(MOST_MEMORY);
    }
  }, 60_000);
});
