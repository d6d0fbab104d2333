import { describe, expect, it } from 'vitest';
import { newDirectories, type Manifest } from '../../../src/engine/checkout/manifest.ts';
import { carryOver, type Streamed } from '../../../src/engine/checkout/stream/carry-over.ts';
import type { LiveDirectory } from '../../../src/engine/checkout/stream/live-tree.ts';
import { conversionCode, conversionOf, createShare } from '../../../src/engine/checkout/stream/share.ts';
import { addWanted, firstWanted, nextWanted } from '../../../src/engine/checkout/stream/wanted.ts';
import { STAT_WORDS, State } from '../../../src/engine/checkout/tables.ts';
import { MODE_EXECUTABLE } from '../../../src/engine/object/tree.ts';
import { oidFromHex, SHA1 } from '../../../src/engine/oid.ts';
import { allocatePackObjects } from '../../../src/engine/pack/pack-objects.ts';
import { randomBytes } from '../../support/random.ts';
import { CONVERSIONS, tablesOf, type EntrySpec } from './made-job.ts';

describe('the entries that want a blob', () => {
  function wantedOf(oids: readonly string[]): (oid: string) => number[] {
    const tables = tablesOf(oids.map((oid, i) => ({ path: `f${i}`, oid })));
    const share = createShare(allocatePackObjects(1, SHA1), oids.length, 16, { path: '', fd: -1 });
    oids.forEach((_, entry) => addWanted(share, tables, entry));
    return (oid) => {
      const found: number[] = [];
      for (let entry = firstWanted(share, tables, oidFromHex(oid), 0); entry >= 0; entry = nextWanted(share, entry)) {
        found.push(entry);
      }
      return found.sort((a, b) => a - b);
    };
  }

  it('are all found, and no others', () => {
    const oids = Array.from({ length: 3000 }, (_, i) => randomBytes(2 * i + 1, 20).toString('hex'));
    const wanted = wantedOf([...oids, ...oids.slice(0, 10), ...oids.slice(0, 5)]);
    oids.forEach((oid, i) => {
      expect(wanted(oid)).toEqual(i < 5 ? [i, 3000 + i, 3010 + i] : i < 10 ? [i, 3000 + i] : [i]);
    });
    for (let i = 0; i < 1000; i++) expect(wanted(randomBytes(90_001 + 2 * i, 20).toString('hex'))).toEqual([]);
  });

  it('of ids that were chosen to meet are searched no longer than that', () => {
    const alike = Array.from({ length: 5000 }, (_, i) => `01020304${randomBytes(2 * i + 1, 16).toString('hex')}`);
    const wanted = wantedOf(alike);
    const begun = performance.now();
    const found = alike.filter((oid) => wanted(oid).length === 1).length;
    expect(found).toBe(64);
    expect(performance.now() - begun).toBeLessThan(2000);
  });
});

describe('conversion codes', () => {
  it('stand for one conversion each', () => {
    const codes = CONVERSIONS.map((conversion) => conversionCode(conversion));
    expect(new Set(codes).size).toBe(CONVERSIONS.length);
    expect(codes.map((code) => conversionOf(code))).toEqual(CONVERSIONS);
    expect(conversionCode({ kind: 'in-core', crlf: 'none', ident: false, encoding: 'UTF-16' } as never)).toBe(0);
    expect(conversionOf(0)).toBeNull();
  });
});

describe('carryOver', () => {
  const A = 'a'.repeat(40);
  const B = 'b'.repeat(40);

  function manifestOf(entries: readonly EntrySpec[]): Manifest {
    const tables = tablesOf(entries);
    const directories = newDirectories(16, SHA1);
    const numbers = new Map<string, number>();
    entries.forEach(({ path }, i) => {
      const folder = path.slice(0, path.lastIndexOf('/') + 1);
      let number = numbers.get(folder);
      if (number === undefined) {
        number = directories.count++;
        numbers.set(folder, number);
        directories.pathLength[number] = Math.max(0, folder.length - 1);
      }
      tables.directories[i] = number;
    });
    return { tables, directories, needsGit: [], isOdd: false };
  }

  function streamedOf(entries: readonly EntrySpec[]): Streamed {
    const tables = tablesOf(entries);
    const directories = new Map<string, LiveDirectory>();
    entries.forEach(({ path }, i) => {
      const folder = path.slice(0, path.lastIndexOf('/') + 1);
      const known = directories.get(folder);
      if (known === undefined) directories.set(folder, { firstEntry: i, endEntry: i + 1 } as LiveDirectory);
      else known.endEntry = i + 1;
      tables.stats.fill(i + 1, i * STAT_WORDS, (i + 1) * STAT_WORDS);
    });
    return { tables, directories, conversionCode: (number) => conversionCode(CONVERSIONS[number] ?? CONVERSIONS[0]!) };
  }

  const written = { state: State.WRITTEN };

  it('takes over what is on disk as it must be, with its stat data', () => {
    const manifest = manifestOf([
      { path: 'a', oid: A },
      { path: 'd/e/x', oid: A },
      { path: 'd/y', oid: B },
      { path: 'z', oid: B, conversion: 1 },
    ]);
    // Another order of directories, and other numbers.
    const streamed = streamedOf([
      { path: 'd/y', oid: B, ...written },
      { path: 'a', oid: A, ...written },
      { path: 'z', oid: B, conversion: 1, ...written },
      { path: 'd/e/x', oid: A, ...written },
    ]);
    expect(carryOver(manifest, CONVERSIONS, streamed)).toBe(4);
    expect(Array.from(manifest.tables.states.subarray(0, 4))).toEqual(Array(4).fill(State.WRITTEN));
    expect([0, 1, 2, 3].map((i) => manifest.tables.stats[i * STAT_WORDS])).toEqual([2, 4, 1, 3]);
  });

  it('has looked at again what is there and not as it must be', () => {
    const manifest = manifestOf([
      { path: 'id', oid: A },
      { path: 'kind', oid: A, conversion: 1 },
      { path: 'mode', oid: A, mode: MODE_EXECUTABLE },
      { path: 'part', oid: A },
    ]);
    const streamed = streamedOf([
      { path: 'id', oid: B, ...written },
      { path: 'kind', oid: A, ...written },
      { path: 'mode', oid: A, ...written },
      { path: 'part', oid: A, state: State.COLLIDED },
    ]);
    expect(carryOver(manifest, CONVERSIONS, streamed)).toBe(0);
    expect(Array.from(manifest.tables.states.subarray(0, 4))).toEqual(Array(4).fill(State.COLLIDED));
  });

  it('leaves what the stream has not, and what is not open', () => {
    const manifest = manifestOf([
      { path: 'a', oid: A },
      { path: 'b', oid: A },
      { path: 'c', oid: A, state: State.LATER },
      { path: 'd', oid: A },
      { path: 'sub/x', oid: A },
    ]);
    const streamed = streamedOf([
      { path: 'aa', oid: A, ...written },
      { path: 'b', oid: A, state: State.PENDING },
      { path: 'c', oid: A, ...written },
      { path: 'd', oid: A, ...written },
      { path: 'other/x', oid: A, ...written },
    ]);
    expect(carryOver(manifest, CONVERSIONS, streamed)).toBe(1);
    expect(Array.from(manifest.tables.states.subarray(0, 5))).toEqual([
      State.PENDING,
      State.PENDING,
      State.LATER,
      State.WRITTEN,
      State.PENDING,
    ]);
  });
});
