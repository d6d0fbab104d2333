import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SHA1, SHA256, type ObjectFormat } from '../../../src/engine/oid.ts';
import { allocatePackObjects } from '../../../src/engine/pack/pack-objects.ts';
import { serializePackIndex, serializeReverseIndex, sortByOid } from '../../../src/engine/pack/write-pack-index.ts';
import { Receiver } from '../../support/received-pack.ts';
import { randomBytes, randomText } from '../../support/random.ts';
import { git, GitRepository } from '../../support/repository.ts';
import { temporaryFolder } from '../../support/temporary.ts';
import { indexFile } from './index-file.ts';

const folder = temporaryFolder('write-pack-index');

/** A pack of git's with deltas, a tag and some history. */
function gitPack(format: ObjectFormat): { bytes: Buffer; index: Buffer; reverse: Buffer } {
  const repository = new GitRepository(folder, `${format.name}-source`, [`--object-format=${format.name}`]);
  const text = randomText(1, 3000);
  const files = Object.fromEntries(
    Array.from({ length: 300 }, (_, i) => [`d${i % 7}/f${i}`, `${text}${i}\n${randomText(i, 50)}`]),
  );
  repository.commits([files, { ...files, more: randomBytes(7, 5000) }]);
  repository.git(['tag', '-a', '-m', 'x', 'v1']);
  repository.git(['-c', 'pack.writeReverseIndex=true', 'repack', '-adfq']);
  const packs = join(repository.gitDir, 'objects/pack');
  const file = (ending: string): Buffer =>
    readFileSync(join(packs, readdirSync(packs).find((name) => name.endsWith(ending)) ?? ''));
  return { bytes: file('.pack'), index: file('.idx'), reverse: file('.rev') };
}

describe.each([SHA1, SHA256])('the index of a pack ($name)', (format) => {
  it("is byte for byte git's, and so is the reverse index", async () => {
    const { bytes, index, reverse } = gitPack(format);
    const target = new GitRepository(folder, `${format.name}-target`, [`--object-format=${format.name}`]);
    const objects = join(target.gitDir, 'objects');
    const receiver = new Receiver(objects, { format });
    await receiver.take(bytes, 1000, {});
    const path = await receiver.install();
    expect(readFileSync(path)).toEqual(bytes);
    expect(readFileSync(path.replace(/pack$/, 'idx'))).toEqual(index);
    expect(readFileSync(path.replace(/pack$/, 'rev'))).toEqual(reverse);
    expect(readdirSync(join(objects, 'pack'))).toHaveLength(3);
    git(target.directory, ['fsck', '--full', '--strict', '--no-dangling']);
  });
});

describe('serializePackIndex', () => {
  it('puts offsets beyond 2 GiB into a table of their own', () => {
    const count = 1000;
    const objects = allocatePackObjects(count, SHA1);
    objects.oids.set(randomBytes(3, 20 * count));
    // Some ids that begin alike: the whole id decides.
    for (let i = 0; i < 50; i++) objects.oids.set([1, 2, 3, 4], 20 * i);
    for (let i = 0; i < count; i++) {
      objects.offsets[i] = 12 + i * 5e6 + (i > 990 ? 2 ** 33 : 0);
      objects.crcs[i] = i * 4_000_000;
    }
    const order = sortByOid(objects);
    const checksum = createHash('sha1').update('pack').digest();
    const hex = Array.from(order, (i) => Buffer.from(objects.oids.subarray(20 * i, 20 * i + 20)).toString('hex'));
    expect(hex).toEqual([...hex].sort());
    const expected = indexFile({
      version: 2,
      oids: Buffer.from(hex.join(''), 'hex'),
      offsets: Array.from(order, (i) => objects.offsets[i] ?? 0),
      packChecksum: checksum,
    });
    // The other writer knows nothing of these.
    Array.from(order).forEach((i, at) => expected.writeUInt32BE(objects.crcs[i] ?? 0, 8 + 1024 + 20 * count + 4 * at));
    const found = serializePackIndex(objects, order, checksum);
    const end = found.length - 20;
    expect(found.subarray(0, end)).toEqual(expected.subarray(0, end));
    expect(found.subarray(end)).toEqual(createHash('sha1').update(found.subarray(0, end)).digest());
  });

  it('writes one of nothing, too', () => {
    const objects = allocatePackObjects(0, SHA1);
    const checksum = Buffer.alloc(20, 1);
    expect(serializePackIndex(objects, sortByOid(objects), checksum)).toHaveLength(8 + 1024 + 40);
    expect(serializeReverseIndex(objects, sortByOid(objects), checksum)).toHaveLength(12 + 40);
  });
});
