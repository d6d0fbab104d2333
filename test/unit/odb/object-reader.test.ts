import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { loosePath } from '../../../src/engine/odb/loose.ts';
import { ObjectDatabase } from '../../../src/engine/odb/object-database.ts';
import { LOOSE, ObjectReader } from '../../../src/engine/odb/object-reader.ts';
import { oidFromHex, SHA1 } from '../../../src/engine/oid.ts';
import { BLOB, TREE } from '../../../src/engine/pack/entry.ts';
import { SCRATCH_BYTES } from '../../../src/engine/pack/pack-reader.ts';
import { plainEntry } from '../../support/pack-writer.ts';
import { randomBytes, randomText } from '../../support/random.ts';
import { GitRepository } from '../../support/repository.ts';
import { temporaryFolder } from '../../support/temporary.ts';
import { MadePack } from '../pack/made-pack.ts';

const folder = temporaryFolder('object-reader');
const LARGE = SCRATCH_BYTES + 10;
const oid = (digit: string): Uint8Array => oidFromHex(digit.repeat(40));
const NONE = Buffer.alloc(20);

function loose(directory: string, digit: string, content: Uint8Array): void {
  const path = loosePath(join(folder, directory), digit.repeat(40));
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, deflateSync(Buffer.concat([Buffer.from(`blob ${content.length}\0`), content])));
}

const made = new MadePack();
const small = made.plain(randomBytes(1, 3000));
const delta = made.delta(small, [{ offset: 10, size: 500 }]);
const large = made.plain(randomBytes(2, LARGE), 1);
const onLarge = made.delta(large, [{ offset: 5, size: 100 }]);
const tree = made.raw(plainEntry(TREE, Buffer.from('a tree')), Buffer.from('a tree'));
const pack = made.write(join(folder, 'packed'));
const looseLarge = randomBytes(3, LARGE);
loose('one', '1', Buffer.from('in one'));
loose('two', '1', Buffer.from('in two'));
loose('two', '2', looseLarge);
const directories = ['one', 'two'].map((name) => join(folder, name));
afterAll(pack.close);

describe.each([
  ['with the handle', true],
  ['without the handle', false],
])('ObjectReader, %s', (_, useHandle) => {
  const reader = new ObjectReader([pack.file], directories, SHA1, useHandle);
  afterAll(() => {
    reader.close();
  });
  const openPacked = (entry: number): void => {
    reader.open(0, made.offset(entry), NONE, 0);
  };
  const openLoose = (digit: string): void => {
    reader.open(LOOSE, 0, oid(digit), 0);
  };

  it('reads packed and loose objects in turns, and says what they are', () => {
    for (let round = 0; round < 2; round++) {
      openPacked(tree);
      expect([reader.type, reader.size, reader.isPlain]).toEqual([TREE, 6, true]);
      expect(Buffer.from(reader.read()).toString()).toBe('a tree');
      openLoose('1');
      expect([reader.type, reader.size, reader.isPlain]).toEqual([BLOB, 6, true]);
      expect(Buffer.from(reader.read()).toString()).toBe('in one');
      openPacked(delta);
      expect([reader.type, reader.isPlain]).toEqual([BLOB, false]);
      expect(made.contents[delta]!.equals(reader.readSmall()!)).toBe(true);
      expect(reader.size).toBe(500);
      openLoose('2');
      expect([reader.size, reader.readSmall()]).toEqual([LARGE, null]);
      expect(looseLarge.equals(reader.read())).toBe(true);
      reader.finish();
      openPacked(large);
      expect(reader.readSmall()).toBeNull();
      expect(made.contents[large]!.equals(reader.read())).toBe(true);
      reader.finish();
    }
  });

  it('streams both', () => {
    const streamed = (): Buffer => {
      const parts: Buffer[] = [];
      reader.stream((piece) => parts.push(Buffer.from(piece)));
      reader.finish();
      return Buffer.concat(parts);
    };
    openLoose('2');
    expect(streamed().equals(looseLarge)).toBe(true);
    openPacked(large);
    expect(streamed().equals(made.contents[large]!)).toBe(true);
  });

  it('measures the one that is open', () => {
    openPacked(onLarge);
    reader.measure();
    expect(reader.size).toBe(100);
    const packed = [reader.readBytes, reader.streamBytes];
    expect(packed[0]).toBeGreaterThanOrEqual(LARGE + 1);
    openLoose('1');
    reader.measure();
    expect([reader.size, reader.readBytes, reader.streamBytes]).toEqual([6, 0, 0]);
    openPacked(onLarge);
    reader.measure();
    expect([reader.size, reader.readBytes, reader.streamBytes]).toEqual([100, ...packed]);
  });

  it('takes a loose object from the first directory that has it', () => {
    const other = new ObjectReader([], [...directories].reverse(), SHA1, useHandle);
    other.open(LOOSE, 0, oid('1'), 0);
    expect(Buffer.from(other.read()).toString()).toBe('in two');
    other.close();
  });

  it('says which object is missing', () => {
    expect(() => {
      reader.open(LOOSE, 0, Buffer.concat([Buffer.alloc(4), oid('e')]), 4);
    }).toThrow(expect.objectContaining({ code: 'object-missing', subject: { oid: 'e'.repeat(40) } }));
    expect(reader.openLoose(oid('e'), 0)).toBe(false);
    openLoose('1');
    expect(Buffer.from(reader.read()).toString()).toBe('in one');
  });

  it('keeps a large base until it is dropped; a loose object has none', () => {
    openPacked(onLarge);
    expect([reader.missesLargeBase, reader.usesRetained, reader.baseSize]).toEqual([true, false, LARGE]);
    const { baseKey } = reader;
    openLoose('1');
    expect([reader.missesLargeBase, reader.usesRetained]).toEqual([false, false]);
    openPacked(onLarge);
    expect(made.contents[onLarge]!.equals(reader.read())).toBe(true);
    reader.finish();
    expect(reader.retainedBytes).toBe(LARGE + 1);
    openPacked(onLarge);
    expect([reader.missesLargeBase, reader.usesRetained, reader.baseKey]).toEqual([false, true, baseKey]);
    openLoose('1');
    expect([reader.missesLargeBase, reader.usesRetained, reader.retainedBytes]).toEqual([false, false, LARGE + 1]);
    reader.dropRetained();
    expect(reader.retainedBytes).toBe(0);
  });
});

describe('what the database keeps in memory after a read', () => {
  it('is given back on demand: a large base among it', () => {
    const repository = new GitRepository(folder, 'retained');
    const content = Buffer.from(randomText(3, LARGE));
    const { commit } = repository.commit({ a: content, b: Buffer.concat([content, Buffer.from('more')]) });
    repository.git(['repack', '-adfq']);
    const odb = ObjectDatabase.open([join(repository.gitDir, 'objects')], SHA1, () => undefined);
    let retained = 0;
    for (const path of ['a', 'b']) {
      odb.read(oidFromHex(repository.text(['rev-parse', `${commit}:${path}`])));
      odb.reader.finish();
      retained = Math.max(retained, odb.reader.retainedBytes);
      odb.releaseMemory();
      expect(odb.reader.retainedBytes).toBe(0);
    }
    expect(retained).toBeGreaterThanOrEqual(LARGE);
    odb.close();
  });
});
