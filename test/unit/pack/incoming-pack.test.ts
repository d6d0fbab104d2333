import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SHA1 } from '../../../src/engine/oid.ts';
import { IncomingPack } from '../../../src/engine/pack/incoming-pack.ts';
import { BLOB, plainEntry } from '../../support/pack-writer.ts';
import { oidOf, rawPack, Receiver } from '../../support/received-pack.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const folder = temporaryFolder('incoming-pack');
let made = 0;
function objectFolder(): { objects: string; packs: () => string[] } {
  const objects = join(folder, `objects-${made++}`);
  const packFolder = join(objects, 'pack');
  return { objects, packs: () => readdirSync(packFolder).sort() };
}
const contents = ['one', 'two', 'three'].map((text) => Buffer.from(text));
const pack = rawPack(contents.map((content) => plainEntry(BLOB, content)));
const name = `pack-${pack.toString('hex', pack.length - 20)}`;

describe('IncomingPack', () => {
  it('keeps what comes under a name of left-overs until it is installed', async () => {
    const { objects, packs } = objectFolder();
    const receiver = new Receiver(objects);
    receiver.push(pack.subarray(0, 20));
    expect(packs()).toEqual([expect.stringMatching(/^tmp_pack_[0-9a-f]{12}$/)]);
    expect([receiver.pack.size, receiver.pack.stored]).toEqual([20, 0]);
    receiver.push(pack.subarray(20));
    await receiver.finish();
    expect(receiver.pack.stored).toBe(pack.length);
    expect(receiver.oids).toEqual(contents.map((content) => oidOf('blob', content)));
    expect(await receiver.install(true)).toBe(join(objects, 'pack', `${name}.pack`));
    expect(packs()).toEqual([`${name}.idx`, `${name}.pack`, `${name}.promisor`, `${name}.rev`]);
    writeFileSync(join(folder, 'plain'), '', { mode: 0o444 });
    const withoutUmask = statSync(join(folder, 'plain')).mode & 0o777;
    for (const each of packs()) expect(statSync(join(objects, 'pack', each)).mode & 0o777).toBe(withoutUmask);
    await receiver.abandon();
    expect(packs()).toHaveLength(4);
  });

  it('leaves a pack alone that is there already', async () => {
    const { objects, packs } = objectFolder();
    const first = new Receiver(objects);
    await first.take(pack);
    const path = await first.install();
    const before = statSync(path).ino;
    const second = new Receiver(objects);
    await second.take(pack);
    expect(await second.install()).toBe(path);
    expect(statSync(path).ino).toBe(before);
    expect(packs()).toEqual([`${name}.idx`, `${name}.pack`, `${name}.rev`]);
  });

  it('leaves nothing when it is abandoned, at whatever byte', async () => {
    const { objects, packs } = objectFolder();
    for (let end = 0; end <= pack.length; end++) {
      const receiver = new Receiver(objects);
      receiver.push(pack.subarray(0, end));
      if (end < pack.length) expect(() => receiver.pack.complete()).toThrow(/cut off/);
      else receiver.pack.complete();
      await receiver.abandon();
      await receiver.abandon();
      expect(packs()).toEqual([]);
    }
  });

  it.each(['.pack', '.rev', '.promisor', '.idx'])(
    'leaves nothing when %s cannot be put into its place',
    async (ending) => {
      const { objects, packs } = objectFolder();
      const receiver = new Receiver(objects);
      await receiver.take(pack);
      // A folder of that name is in the way.
      mkdirSync(join(objects, 'pack', `${name}${ending}`, 'x'), { recursive: true });
      await expect(receiver.install(true)).rejects.toMatchObject({ code: 'io' });
      expect(packs()).toEqual([`${name}${ending}`]);
    },
  );

  it('compares the checksum', async () => {
    const { objects, packs } = objectFolder();
    for (let at = pack.length - 20; at < pack.length; at++) {
      const wrong = Buffer.from(pack);
      wrong[at]! ^= 1;
      const receiver = new Receiver(objects);
      receiver.push(wrong);
      expect(() => receiver.pack.complete()).toThrow(expect.objectContaining({ code: 'object-corrupt' }) as Error);
      await receiver.abandon();
    }
    expect(packs()).toEqual([]);
  });

  it('tells where it cannot write', () => {
    expect(() => new IncomingPack(join(import.meta.filename, 'x'), SHA1, {} as never)).toThrow(
      expect.objectContaining({ code: 'io' }) as Error,
    );
  });

  it('stores packs of more than one write', async () => {
    const { objects } = objectFolder();
    const large = rawPack(
      Array.from({ length: 40 }, (_, i) => plainEntry(BLOB, Buffer.from(String(i).repeat(1 + i * 900)))),
    );
    const raw = rawPack(
      [plainEntry(BLOB, Buffer.alloc(3_000_000, 'x')), large.subarray(12, large.length - 20)],
      SHA1,
      41,
    );
    const receiver = new Receiver(objects);
    await receiver.take(raw, 100_000);
    const path = await receiver.install();
    expect(readFileSync(path)).toEqual(raw);
    expect(existsSync(path.replace(/pack$/, 'promisor'))).toBe(false);
  });
});
