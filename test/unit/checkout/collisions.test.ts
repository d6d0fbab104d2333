import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { collisionWarning, findCollisions, foldName, foldsCase } from '../../../src/engine/checkout/collisions.ts';
import type { Directories } from '../../../src/engine/checkout/manifest.ts';
import { newDirectories } from '../../../src/engine/checkout/manifest.ts';
import type { Tables } from '../../../src/engine/checkout/tables.ts';
import { SHA1 } from '../../../src/engine/oid.ts';
import { utf8 } from '../../support/repository.ts';
import { temporaryFolder } from '../../support/temporary.ts';
import { tablesOf } from './made-job.ts';

/** Tables of sorted paths, with their directories. */
function treeOf(paths: readonly string[]): { tables: Tables; directories: Directories } {
  const sorted = [...paths].sort();
  const tables = tablesOf(sorted.map((path) => ({ path })));
  const directories = newDirectories(sorted.length * 4 + 1, SHA1);
  directories.count = 1;
  directories.parent[0] = -1;
  directories.entryCount[0] = sorted.length;
  const numbers = new Map([['', 0]]);
  sorted.forEach((path, entry) => {
    let parent = 0;
    for (let slash = path.indexOf('/'); slash >= 0; slash = path.indexOf('/', slash + 1)) {
      const name = path.slice(0, slash);
      let number = numbers.get(name);
      if (number === undefined) {
        number = directories.count++;
        numbers.set(name, number);
        directories.parent[number] = parent;
        directories.pathLength[number] = slash;
        directories.firstEntry[number] = entry;
      }
      directories.entryCount[number]!++;
      parent = number;
    }
    tables.directories[entry] = parent;
  });
  return { tables, directories };
}

/** The groups, each as its paths in order. */
function groupsOf(paths: readonly string[]): string[][] {
  const found = findCollisions(treeOf(paths));
  if (found === null) return [];
  const sorted = [...paths].sort();
  const groups = new Map<number, string[]>();
  sorted.forEach((path, entry) => {
    const group = found.groups[entry]!;
    if (group > 0) groups.set(group, [...(groups.get(group) ?? []), path]);
  });
  return [...groups.values()].sort((a, b) => (a[0]! < b[0]! ? -1 : 1));
}

describe('what collides', () => {
  it('names in one directory, and in directories that are one', () => {
    expect(groupsOf(['A', 'a', 'b', 'ab', 'B/a', 'b.x'])).toEqual([
      ['A', 'a'],
      ['B/a', 'b'],
    ]);
    expect(groupsOf(['A/x', 'a/X', 'a/y', 'A/z'])).toEqual([['A/x', 'a/X']]);
    expect(groupsOf(['A/B/c', 'a/b/C', 'a/B/d', 'A/b/D'])).toEqual([
      ['A/B/c', 'a/b/C'],
      ['A/b/D', 'a/B/d'],
    ]);
    expect(groupsOf(['d/A', 'e/a', 'd/b', 'e/B'])).toEqual([]);
  });

  it('a file and all that is in the directory of its name', () => {
    expect(groupsOf(['A/x/y', 'A/z', 'a', 'b'])).toEqual([['A/x/y', 'A/z', 'a']]);
    expect(groupsOf(['d/E', 'd/e/f', 'D/e/g', 'd/x'])).toEqual([['D/e/g', 'd/E', 'd/e/f']]);
  });

  it('Unicode: composed or not, other cases, what HFS+ ignores, what is no UTF-8', () => {
    expect(groupsOf([utf8('\u00e9'), utf8('e\u0301'), utf8('\u00c9'), 'e'])).toHaveLength(1);
    expect(foldName(Buffer.from('Stra\u00dfe'))).toBe(foldName(Buffer.from('STRASSE')));
    expect(foldName(Buffer.from('.g\u200cit'))).toBe('.git');
    expect(foldName(Buffer.from('\u212a'))).toBe('k');
    expect(groupsOf(['\xff', '\xfe', 'a'])).toHaveLength(1);
  });

  it('nothing among a hundred thousand names, in little time', () => {
    const paths = Array.from({ length: 100_000 }, (_, i) => `dir${i % 1000}/File${i}.txt`);
    const tree = treeOf(paths);
    const start = performance.now();
    expect(findCollisions(tree)).toBeNull();
    // Quadratic would take minutes.
    expect(performance.now() - start).toBeLessThan(5000);
  });
});

it('the warning names the groups that were hit, and not too many paths', () => {
  const { tables } = treeOf(['A', 'B', 'a', 'b', 'c']);
  const text = collisionWarning(tables, Uint32Array.of(1, 2, 1, 2, 0), new Set([1]));
  expect(text).toMatch(/only one from the same colliding group is in the working tree: 'A', 'a'$/);
  const many = treeOf(Array.from({ length: 250 }, (_, i) => `f${i}`));
  expect(collisionWarning(many.tables, new Uint32Array(250).fill(1), new Set([1]))).toMatch(/ and 150 more$/);
});

it('a folder folds case when .git is also .GIT, and not when both are there or none', () => {
  const folder = temporaryFolder('folds');
  expect(foldsCase(folder)).toBe(false);
  mkdirSync(join(folder, '.git'));
  const folds = foldsCase(folder);
  mkdirSync(join(folder, '.GIT'), { recursive: true });
  expect(foldsCase(folder)).toBe(folds);
  expect(foldsCase(join(folder, 'nowhere'))).toBe(false);
});
