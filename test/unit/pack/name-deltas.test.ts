import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { SHA1 } from '../../../src/engine/oid.ts';
import { OidNumbers } from '../../../src/engine/pack/oid-numbers.ts';
import { allocatePackObjects } from '../../../src/engine/pack/pack-objects.ts';
import {
  BLOB,
  deltaSize,
  entryHeader,
  OFS_DELTA,
  offsetBytes,
  plainEntry,
  REF_DELTA,
} from '../../support/pack-writer.ts';
import { randomBytes } from '../../support/random.ts';
import { oidOf, rawPack, Receiver, type ReceiverOptions } from '../../support/received-pack.ts';
import { temporaryFolder } from '../../support/temporary.ts';
import { wholeDelta } from './delta-instructions.ts';

const folder = temporaryFolder('name-deltas');

async function oidsOf(pack: Buffer, options: ReceiverOptions = {}): Promise<string[]> {
  const receiver = new Receiver(mkdtempSync(join(folder, 'o-')), options);
  try {
    await receiver.take(pack);
    return receiver.oids;
  } finally {
    await receiver.abandon();
  }
}

function refDelta(base: string, delta: Uint8Array): Buffer {
  return Buffer.concat([entryHeader(REF_DELTA, delta.length), Buffer.from(base, 'hex'), deflateSync(delta)]);
}

/** Versions of a text, each a delta on the one before. */
function versions(count: number): { contents: Buffer[]; deltas: Buffer[] } {
  const contents = [Buffer.from('version 0 of a text')];
  const deltas: Buffer[] = [];
  for (let i = 1; i < count; i++) {
    const before = contents[i - 1]!;
    const line = Buffer.from(` v${i}`);
    deltas.push(wholeDelta(before, [line, { offset: 0, size: 10 }]));
    contents.push(Buffer.concat([line, before.subarray(0, 10)]));
  }
  return { contents, deltas };
}

describe('ids of deltas', () => {
  it('are found along a chain by offset', async () => {
    const { contents, deltas } = versions(300);
    const entries = [plainEntry(BLOB, contents[0]!)];
    for (const delta of deltas) {
      const distance = entries.at(-1)!.length;
      entries.push(Buffer.concat([entryHeader(OFS_DELTA, delta.length), offsetBytes(distance), deflateSync(delta)]));
    }
    expect(await oidsOf(rawPack(entries))).toEqual(contents.map((content) => oidOf('blob', content)));
  });

  it('are found where bases are named by id and come later, in time that does not grow with the square', async () => {
    const { contents, deltas } = versions(4000);
    const oids = contents.map((content) => oidOf('blob', content));
    const entries = [plainEntry(BLOB, contents[0]!), ...deltas.map((delta, i) => refDelta(oids[i]!, delta))];
    // The last version first: each waits for the next one.
    expect(await oidsOf(rawPack(entries.toReversed()))).toEqual(oids.toReversed());
  }, 20_000);

  it('are found of large objects within the memory limit, and not beyond it', async () => {
    const content = Buffer.concat([randomBytes(1, 1 << 20), Buffer.alloc(1 << 20, 'x')]);
    const changed = Buffer.concat([Buffer.from('new'), content]);
    const base = plainEntry(BLOB, content);
    const delta = Buffer.concat([
      deltaSize(content.length),
      deltaSize(changed.length),
      Buffer.from([3, ...Buffer.from('new')]),
      ...Array.from({ length: 32 }, (_, i) => Buffer.from([0x80 | 0x04, i])),
    ]);
    const pack = rawPack([
      base,
      Buffer.concat([entryHeader(OFS_DELTA, delta.length), offsetBytes(base.length), deflateSync(delta)]),
    ]);
    expect(await oidsOf(pack)).toEqual([oidOf('blob', content), oidOf('blob', changed)]);
    await expect(oidsOf(pack, { memoryBytes: 1 << 20 })).rejects.toMatchObject({ code: 'memory' });
  });

  it.each([
    ['a base that is not there', ['f'.repeat(40)]],
    ['bases that are each other', ['1'.repeat(40), '2'.repeat(40)]],
  ])('are not made up: %s', async (_, bases) => {
    const { contents, deltas } = versions(3);
    const entries = [plainEntry(BLOB, contents[0]!), ...bases.map((base) => refDelta(base, deltas[0]!))];
    await expect(oidsOf(rawPack(entries))).rejects.toMatchObject({
      code: 'object-corrupt',
      message: expect.stringMatching(/delta base that is not in its pack/) as string,
    });
  });

  it('are not made up of a delta for another base', async () => {
    const { contents, deltas } = versions(3);
    const base = plainEntry(BLOB, Buffer.from('short'));
    const delta = deltas[0]!;
    const entries = [
      base,
      Buffer.concat([entryHeader(OFS_DELTA, delta.length), offsetBytes(base.length), deflateSync(delta)]),
    ];
    await expect(oidsOf(rawPack(entries))).rejects.toMatchObject({ code: 'object-corrupt' });
    const missing = [plainEntry(BLOB, contents[0]!), refDelta(oidOf('blob', contents[0]!), Buffer.from([1]))];
    await expect(oidsOf(rawPack(missing))).rejects.toMatchObject({ code: 'object-corrupt' });
  });

  it('are not made up of a base that begins in the middle of an entry', async () => {
    const { contents, deltas } = versions(2);
    const base = plainEntry(BLOB, contents[0]!);
    for (let distance = 1; distance < base.length; distance++) {
      const entry = Buffer.concat([
        entryHeader(OFS_DELTA, deltas[0]!.length),
        offsetBytes(distance),
        deflateSync(deltas[0]!),
      ]);
      await expect(oidsOf(rawPack([base, entry]))).rejects.toMatchObject({ code: 'object-corrupt' });
    }
  });
});

describe('OidNumbers', () => {
  it('finds what was added and nothing else, with ids that begin alike, too', () => {
    const count = 5000;
    const objects = allocatePackObjects(count, SHA1);
    objects.oids.set(randomBytes(5, 20 * count));
    for (let i = 0; i < 200; i++) objects.oids.fill(9, 20 * i, 20 * i + 14);
    // One id twice.
    objects.oids.copyWithin(20 * 4999, 20 * 4998, 20 * 4999);
    const numbers = new OidNumbers(objects);
    objects.named.fill(1, 0, 2500);
    numbers.addNamed();
    for (let i = 0; i < count; i++) expect(numbers.find(objects.oids, 20 * i)).toBe(i < 2500 ? i : -1);
    for (let i = 2500; i < count; i++) numbers.add(i);
    for (let i = 0; i < count; i++) expect(numbers.find(objects.oids, 20 * i)).toBe(Math.min(i, 4998));
    expect(new OidNumbers(allocatePackObjects(0, SHA1)).find(objects.oids, 0)).toBe(-1);
  });
});
