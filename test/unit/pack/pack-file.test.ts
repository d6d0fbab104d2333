import { closeSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CheckoutError } from '../../../src/engine/errors.ts';
import { openPack } from '../../../src/engine/pack/pack-file.ts';
import { PackIndex } from '../../../src/engine/pack/pack-index.ts';
import { temporaryFolder } from '../../support/temporary.ts';
import { MadePack } from './made-pack.ts';
import { SHA1 } from '../../../src/engine/oid.ts';

const folder = temporaryFolder('pack-file');
const made = new MadePack();
made.plain(Buffer.from('one'));
made.plain(Buffer.from('two'));
const opened = made.write(folder);
const good = readFileSync(opened.file.path);
opened.close();

let cases = 0;
/** The error for a pack with these bytes beside the good index; null when it opens. */
function refusal(bytes: Uint8Array): CheckoutError | null {
  const path = join(folder, `case-${cases++}.pack`);
  writeFileSync(path, bytes);
  const index = PackIndex.open(opened.file.indexPath, SHA1);
  const descriptors = readdirSync('/proc/self/fd').length;
  try {
    closeSync(openPack(path, opened.file.indexPath, index).fd);
    return null;
  } catch (error) {
    expect(error).toBeInstanceOf(CheckoutError);
    expect((error as CheckoutError).message).toContain(path);
    expect((error as CheckoutError).subject.path).toBe(path);
    expect(readdirSync('/proc/self/fd').length, 'the file is closed').toBe(descriptors);
    return error as CheckoutError;
  } finally {
    index.close();
  }
}

function changed(change: (bytes: Buffer) => void): Buffer {
  const bytes = Buffer.from(good);
  change(bytes);
  return bytes;
}

describe.runIf(process.platform === 'linux')('openPack', () => {
  it('takes a pack that fits its index, of version 2 or 3', () => {
    expect(refusal(good)).toBeNull();
    expect(refusal(changed((bytes) => bytes.writeUInt32BE(3, 4)))).toBeNull();
  });

  it('knows where the entries end', () => {
    expect(opened.file.end).toBe(made.end);
    expect(opened.file.end).toBe(good.length - 20);
  });

  it.each<[string, Uint8Array, RegExp]>([
    ['nothing', Buffer.alloc(0), /too small/],
    ['less than a header and a checksum', good.subarray(0, 31), /too small/],
    ['another signature', changed((bytes) => bytes.write('PICK')), /does not begin with PACK/],
    ['version 4', changed((bytes) => bytes.writeUInt32BE(4, 4)), /version 4/],
    ['version 1', changed((bytes) => bytes.writeUInt32BE(1, 4)), /version 1/],
    ['another number of objects', changed((bytes) => bytes.writeUInt32BE(3, 8)), /number of objects/],
    ['another checksum', changed((bytes) => bytes.fill(0, bytes.length - 1)), /checksum/],
    ['a byte less', good.subarray(0, -1), /checksum/],
    ['a byte more', Buffer.concat([good, Buffer.alloc(1)]), /checksum/],
  ])('refuses %s', (_, bytes, message) => {
    const error = refusal(bytes);
    expect(error?.code).toBe('object-corrupt');
    expect(error?.message).toMatch(message);
  });

  it('refuses what is no file, or not there', () => {
    const index = PackIndex.open(opened.file.indexPath, SHA1);
    mkdirSync(join(folder, 'folder.pack'));
    expect(() => openPack(join(folder, 'folder.pack'), '', index)).toThrow(/not a regular file/);
    expect(() => openPack(join(folder, 'absent.pack'), '', index)).toThrow(
      expect.objectContaining({ code: 'io', subject: expect.objectContaining({ errno: 'ENOENT' }) as unknown }),
    );
    index.close();
  });
});
