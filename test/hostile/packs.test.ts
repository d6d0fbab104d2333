/**
 * Packs that a server must not send: each ends in one error with a code, or in what git would have made of it, and nothing of it stays.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { CheckoutError } from '../../src/engine/errors.ts';
import { SHA1 } from '../../src/engine/oid.ts';
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
} from '../support/pack-writer.ts';
import { oidOf, rawPack, Receiver } from '../support/received-pack.ts';
import { memoryFolder, temporaryFolder } from '../support/temporary.ts';
import { runPackJob } from './pack-job-runner.ts';

const folder = temporaryFolder('hostile-packs', memoryFolder());

/** A commit with files, one of them a delta by offset and one by id. */
function smallPack(): { pack: Buffer; commit: string } {
  const file = Buffer.from('the content of a file\n');
  const delta = Buffer.concat([
    deltaSize(file.length),
    deltaSize(file.length + 3),
    Buffer.from([3, 97, 98, 99, 0x90, file.length]),
  ]);
  const changed = Buffer.concat([Buffer.from('abc'), file]);
  const second = Buffer.concat([deltaSize(changed.length), deltaSize(5), Buffer.from([0x90, 5])]);
  const named = (mode: string, name: string, oid: string): Buffer =>
    Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(oid, 'hex')]);
  const tree = Buffer.concat([
    named('100644', 'a', oidOf('blob', file)),
    named('100644', 'b', oidOf('blob', changed)),
    named('100644', 'c', oidOf('blob', changed.subarray(0, 5))),
  ]);
  const commit = Buffer.from(`tree ${oidOf('tree', tree)}\nauthor a <a> 1 +0000\ncommitter a <a> 1 +0000\n\nx\n`);
  const base = plainEntry(BLOB, file);
  const pack = rawPack([
    plainEntry(COMMIT, commit),
    plainEntry(TREE, tree),
    base,
    Buffer.concat([entryHeader(OFS_DELTA, delta.length), offsetBytes(base.length), deflateSync(delta)]),
    Buffer.concat([
      entryHeader(REF_DELTA, second.length),
      Buffer.from(oidOf('blob', changed), 'hex'),
      deflateSync(second),
    ]),
  ]);
  return { pack, commit: oidOf('commit', commit) };
}

const { pack, commit } = smallPack();
const objects = mkdtempSync(join(folder, 'objects-'));
const workTree = join(folder, 'tree');
mkdirSync(workTree);

/** What a pack comes to; with the working tree that it writes meanwhile. */
async function outcome(bytes: Buffer): Promise<string> {
  const receiver = new Receiver(objects, { workTree: { path: workTree, commit } });
  try {
    await receiver.take(bytes, 50, { wants: [commit] });
    return 'taken';
  } catch (error) {
    if (!(error instanceof CheckoutError)) throw error;
    expect(error.message).not.toContain('\n');
    return error.code;
  } finally {
    await receiver.abandon();
    expect(readdirSync(join(objects, 'pack'))).toEqual([]);
    expect(readdirSync(workTree)).toEqual([]);
  }
}

/** The pack with the checksum that its bytes have. */
function sealed(bytes: Uint8Array): Buffer {
  return Buffer.concat([bytes, createHash('sha1').update(bytes).digest()]);
}

describe('a small pack', () => {
  it('is taken as it is', async () => {
    expect(await outcome(pack)).toBe('taken');
  });

  it('with one flipped bit anywhere is refused', async () => {
    for (let at = 0; at < pack.length; at++) {
      const flipped = Buffer.from(pack);
      flipped[at]! ^= 1 << (at % 8);
      expect(await outcome(flipped), `byte ${at}`).toMatch(/^(object-corrupt|unsupported|memory|object-missing)$/);
    }
  }, 60_000);

  it('with one flipped bit and the checksum for that is refused, or says the same with other bytes', async () => {
    let taken = 0;
    for (let at = 0; at < pack.length - 20; at++) {
      const flipped = Buffer.from(pack.subarray(0, pack.length - 20));
      flipped[at]! ^= 1 << ((at + 3) % 8);
      const code = await outcome(sealed(flipped));
      expect(code, `byte ${at}`).toMatch(/^(object-corrupt|object-missing|tree-invalid|unsupported|memory|taken)$/);
      if (code === 'taken') taken++;
    }
    // Bits of zlib's header and of the pack's version that mean nothing to whoever reads.
    expect(taken).toBeLessThan(12);
  }, 60_000);

  it('that ends at any byte is refused, with the checksum for that, too', async () => {
    for (let end = 0; end < pack.length; end++) {
      expect(await outcome(pack.subarray(0, end)), `byte ${end}`).toBe('object-corrupt');
      if (end < pack.length - 20)
        expect(await outcome(sealed(pack.subarray(0, end))), `byte ${end}`).toMatch(
          /^(object-corrupt|unsupported|memory)$/,
        );
    }
  }, 60_000);

  it('with more behind it, fewer or more objects than it says is refused', async () => {
    const entries = [pack.subarray(12, pack.length - 20)];
    for (const bytes of [
      Buffer.concat([pack, pack]),
      Buffer.concat([pack, Buffer.from([1])]),
      rawPack(entries, SHA1, 4),
      rawPack(entries, SHA1, 6),
    ]) {
      expect(await outcome(bytes)).toBe('object-corrupt');
    }
    expect(await outcome(rawPack(entries, SHA1, 0xffffffff))).toBe('unsupported');
  });
});

describe('packs that would take much', () => {
  const long = process.env['LONG_TESTS'] === '1';

  // Node itself takes 50 to 70 MB; tables of which nothing is used take address space only.
  it.each([
    ['claims 16 million objects', { code: 'object-corrupt', mb: 200, seconds: 20 }],
    ['very many tiny entries', { code: 'taken', mb: 450, seconds: 40 }],
    [`a file of ${long ? 10 : 0.2} GB`, { code: 'taken', mb: 200, seconds: long ? 300 : 20 }],
    ['many large trees', { code: 'taken', mb: 300, seconds: 30 }],
    ['deltas that each make a large tree', { code: 'taken', mb: 350, seconds: 30 }],
    ['a tree of a huge size', { code: 'object-corrupt', mb: 200, seconds: 20 }],
    ['a delta of a huge result', { code: 'object-corrupt', mb: 200, seconds: 20 }],
    ['a file beyond the memory limit, and a delta on it', { code: 'memory', mb: 200, seconds: 20 }],
    // Of a million deltas most are lists of what is known of each.
    ['a long chain of deltas', { code: 'taken', mb: long ? 700 : 300, seconds: long ? 90 : 30 }],
    ['a tree that names very many directories', { code: 'taken', mb: 500, seconds: 30 }],
    ['directories with very long names', { code: 'taken', mb: 300, seconds: 30 }],
    ['names without end', { code: 'taken', mb: 300, seconds: 30 }],
  ])(
    '%s',
    async (name, { code, mb, seconds }) => {
      const found = await runPackJob(name, long, mkdtempSync(join(folder, 'job-')));
      expect(found).toMatchObject({ code, left: [] });
      expect(found.peakMb).toBeLessThan(mb);
      expect(found.seconds).toBeLessThan(seconds);
    },
    330_000,
  );
});
