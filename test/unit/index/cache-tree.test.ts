import { expect, it } from 'vitest';
import { serializeCacheTree, UNKNOWN_TREE } from '../../../src/engine/index/cache-tree.ts';
import type { CacheTreeDirectories } from '../../../src/engine/index/cache-tree.ts';
import { SHA1 } from '../../../src/engine/oid.ts';

/** Directories from [parent, name, entry count] in pre-order; the id of number n is twenty bytes n. */
function directories(rows: readonly (readonly [number, string, number])[]): {
  table: CacheTreeDirectories;
  pathBytes: Buffer;
} {
  const names = rows.map(([, name]) => Buffer.from(name, 'latin1'));
  const ends = names.map((_, i) => names.slice(0, i + 1).reduce((sum, name) => sum + name.length, 0));
  return {
    pathBytes: Buffer.concat(names),
    table: {
      format: SHA1,
      count: rows.length,
      parent: Int32Array.from(rows, ([parent]) => parent),
      nameStart: Uint32Array.from(ends, (end, i) => end - names[i]!.length),
      nameEnd: Uint32Array.from(ends),
      entryCount: Uint32Array.from(rows, ([, , entries]) => entries),
      oids: Uint8Array.from(rows.flatMap((_, i) => new Array<number>(20).fill(i))),
    },
  };
}

const id = (n: number): string => String.fromCharCode(n).repeat(20);

it('writes the root alone', () => {
  const { table, pathBytes } = directories([[-1, '', 3]]);
  expect(Buffer.from(serializeCacheTree(table, pathBytes)).toString('latin1')).toBe(`\x003 0\n${id(0)}`);
});

it('orders children by length of the name, then bytes, and goes depth first', () => {
  const { table, pathBytes } = directories([
    [-1, '', 9],
    [0, 'aaa', 4],
    [1, 'x', 2],
    [1, 'w', 1],
    [0, 'b', 2],
    [0, 'B', 1],
    [0, '\xff', 1],
    [0, 'ab', 1],
  ]);
  const expected = [
    `\x009 5\n${id(0)}`,
    `B\x001 0\n${id(5)}`,
    `b\x002 0\n${id(4)}`,
    `\xff\x001 0\n${id(6)}`,
    `ab\x001 0\n${id(7)}`,
    `aaa\x004 2\n${id(1)}`,
    `w\x001 0\n${id(3)}`,
    `x\x002 0\n${id(2)}`,
  ];
  expect(Buffer.from(serializeCacheTree(table, pathBytes)).toString('latin1')).toBe(expected.join(''));
});

it('leaves the id of an unknown tree out', () => {
  const { table, pathBytes } = directories([
    [-1, '', UNKNOWN_TREE],
    [0, 'd', 7],
  ]);
  expect(Buffer.from(serializeCacheTree(table, pathBytes)).toString('latin1')).toBe(`\x00-1 1\nd\x007 0\n${id(1)}`);
});

it('needs no recursion for a deep tree, and gives nothing for no directory', () => {
  const depth = 50_000;
  const table: CacheTreeDirectories = {
    format: SHA1,
    count: depth,
    parent: Int32Array.from({ length: depth }, (_, i) => i - 1),
    nameStart: new Uint32Array(depth),
    nameEnd: new Uint32Array(depth).fill(1, 1),
    entryCount: new Uint32Array(depth).fill(1),
    oids: new Uint8Array(20 * depth),
  };
  const bytes = serializeCacheTree(table, Buffer.from('d'));
  expect(bytes.length).toBe(25 + (depth - 1) * 26);
  expect(serializeCacheTree({ ...table, count: 0 }, Buffer.alloc(0)).length).toBe(0);
});

it('takes a directory before its parent for a bug', () => {
  const { table, pathBytes } = directories([
    [-1, '', 1],
    [2, 'a', 1],
    [0, 'b', 1],
  ]);
  expect(() => serializeCacheTree(table, pathBytes)).toThrow(/BUG/);
});
