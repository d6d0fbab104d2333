import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { constants, deflateSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { CheckoutError } from '../../../src/engine/errors.ts';
import { LooseReader, loosePath } from '../../../src/engine/odb/loose.ts';
import { oidFromHex, SHA1 } from '../../../src/engine/oid.ts';
import { BLOB, COMMIT, TAG, TREE } from '../../../src/engine/pack/entry.ts';
import { Inflater } from '../../../src/engine/pack/inflate.ts';
import { SCRATCH_BYTES } from '../../../src/engine/pack/pack-reader.ts';
import { randomBytes, randomText } from '../../support/random.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const objects = temporaryFolder('loose');
let files = 0;

/** Writes a file where a loose object would be; returns its id. */
function put(bytes: Uint8Array): Uint8Array {
  const hex = (++files).toString(16).padStart(40, '0');
  const path = loosePath(objects, hex);
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, bytes);
  return oidFromHex(hex);
}

function object(type: string, content: Uint8Array, size: number | string = content.length, level = 6): Buffer {
  return deflateSync(Buffer.concat([Buffer.from(`${type} ${size}\0`), content]), { level });
}

describe.each([
  ['with the handle', true],
  ['without the handle', false],
])('loose objects, %s', (_, useHandle) => {
  const reader = new LooseReader(SHA1, new Inflater(useHandle));
  afterAll(() => {
    reader.close();
  });
  const open = (oid: Uint8Array): void => {
    expect(reader.open(objects, oid, 0)).toBe(true);
  };

  function expectContent(oid: Uint8Array, content: Buffer, type = BLOB): void {
    open(oid);
    expect([reader.type, reader.size]).toEqual([type, content.length]);
    const small = reader.readSmall();
    expect(small !== null).toBe(content.length <= SCRATCH_BYTES);
    expect(Buffer.compare(small ?? reader.read(), content)).toBe(0);
    open(oid);
    const parts: Buffer[] = [];
    reader.stream((piece) => {
      expect(piece.length).toBeGreaterThan(0);
      parts.push(Buffer.from(piece));
    });
    expect(Buffer.concat(parts).equals(content)).toBe(true);
    reader.finish();
  }

  /** The message for reading, and for streaming. */
  function refusal(bytes: Uint8Array): string {
    const oid = put(bytes);
    const [first, second] = ['read', 'stream'].map((way) => {
      try {
        open(oid);
        if (way === 'read') reader.read();
        else reader.stream(() => undefined);
      } catch (error) {
        expect(error).toBeInstanceOf(CheckoutError);
        const { code, message } = error as CheckoutError;
        expect(code).toBe('object-corrupt');
        expect(message).toMatch(/^loose object '.*[0-9a-f]{2}\/[0-9a-f]{38}' .+$/);
        return message.slice(message.lastIndexOf("' ") + 2);
      } finally {
        reader.finish();
      }
      return 'nothing is wrong';
    });
    expect(second).toBe(first);
    // And it goes on with the next.
    expectContent(put(object('blob', Buffer.from('fine'))), Buffer.from('fine'));
    return first ?? '';
  }

  it.each([0, 1, 20, 31, 32, 1000, SCRATCH_BYTES - 1, SCRATCH_BYTES, SCRATCH_BYTES + 1, 3 * SCRATCH_BYTES])(
    '%i bytes',
    (size) => {
      for (const content of [Buffer.from(randomText(1, size)), randomBytes(1, size), Buffer.alloc(size)]) {
        for (const level of [0, 1]) expectContent(put(object('blob', content, size, level)), content);
      }
    },
  );

  it('contents that end with a piece', () => {
    for (const pieces of [1, 2, 5]) {
      for (const difference of [-1, 0, 1]) {
        const content = randomBytes(pieces, pieces * (256 << 10) + difference);
        expectContent(put(object('blob', content)), content);
      }
    }
  });

  it('every type', () => {
    for (const [name, type] of Object.entries({ commit: COMMIT, tree: TREE, blob: BLOB, tag: TAG })) {
      expectContent(put(object(name, Buffer.from('content'))), Buffer.from('content'), type);
    }
  });

  it('streams of other encoders', () => {
    const content = randomBytes(3, 5000);
    const whole = Buffer.concat([Buffer.from(`blob ${content.length}\0`), content]);
    expectContent(put(deflateSync(whole, { windowBits: 9 })), content);
    expectContent(put(deflateSync(whole, { strategy: constants.Z_HUFFMAN_ONLY })), content);
    expectContent(put(deflateSync(whole, { memLevel: 1, level: 9 })), content);
  });

  it('one that is not there', () => {
    expect(reader.open(objects, Buffer.alloc(20, 0xee), 0)).toBe(false);
    expect(reader.open(join(objects, 'nowhere'), Buffer.alloc(20), 0)).toBe(false);
  });

  it('an id in the middle of other bytes', () => {
    const oid = put(object('blob', Buffer.from('here')));
    expect(reader.open(objects, Buffer.concat([Buffer.alloc(7, 1), oid, Buffer.alloc(3)]), 7)).toBe(true);
    expect(Buffer.from(reader.read()).toString()).toBe('here');
  });

  it('a folder in its place', () => {
    const oid = oidFromHex('fe'.repeat(20));
    mkdirSync(loosePath(objects, 'fe'.repeat(20)), { recursive: true });
    expect(() => reader.open(objects, oid, 0)).toThrow(expect.objectContaining({ code: 'io' }));
    reader.finish();
  });

  it('sizes that are not true', () => {
    for (const length of [100, SCRATCH_BYTES + 100]) {
      const content = randomBytes(2, length);
      expect(refusal(object('blob', content, length + 1))).toContain('shorter');
      expect(refusal(object('blob', content, length - 1))).toContain('longer');
      expect(refusal(object('blob', content, 1))).toContain('longer');
      expect(refusal(object('blob', content, 0))).toContain('longer');
    }
    expect(refusal(object('blob', Buffer.alloc(0), 5))).toContain('shorter');
  });

  it('sizes that no file like this could hold', () => {
    for (const size of ['100000000000', '9999999999999999']) {
      expect(refusal(object('blob', randomBytes(1, 100), size))).toContain('declares a size that it cannot hold');
    }
  });

  it('headers that are none', () => {
    for (const text of [
      'blob 05\0hello',
      'blob -5\0hello',
      'blob +5\0hello',
      'blob 5 \0hello',
      ' blob 5\0hello',
      'blob  5\0hello',
      'blob\0hello',
      'bush 5\0hello',
      'BLOB 5\0hello',
      'blob 5\nhello',
      'blob 0x5\0hello',
      'blob 99999999999999999\0hello',
      `blob ${'1'.repeat(40)}\0hello`,
      '\0hello',
      '',
      'blob 5',
    ]) {
      expect(refusal(deflateSync(Buffer.from(text))), JSON.stringify(text)).toContain('has no valid header');
    }
  });

  it('files that are no streams', () => {
    for (const bytes of [Buffer.from('blob 5\0hello'), randomBytes(1, 500)]) {
      expect(refusal(bytes)).toContain('is damaged');
    }
    expect(refusal(Buffer.alloc(0))).toMatch(/is damaged|has no valid header/);
  });

  it('garbage behind the stream', () => {
    for (const length of [5, 100, 64 << 10, SCRATCH_BYTES + 5]) {
      const bytes = object('blob', randomBytes(4, length));
      expect(refusal(Buffer.concat([bytes, Buffer.from([0])]))).toContain('has garbage at its end');
      expect(refusal(Buffer.concat([bytes, randomBytes(1, 70_000)]))).toContain('has garbage at its end');
    }
  });

  it('every cut of the stream’s end, its checksum with it', () => {
    for (const length of [0, 5, 10, 31, 2000, SCRATCH_BYTES + 5]) {
      const bytes = object('blob', randomBytes(4, length));
      for (const cut of [1, 2, 3, 4]) {
        expect(refusal(bytes.subarray(0, bytes.length - cut)), `${length} bytes, ${cut} less`).toContain('is cut off');
      }
    }
  });

  it('a stream that stops in the middle', () => {
    const bytes = object('blob', randomBytes(4, 200_000));
    for (const length of [1000, 64 << 10, 128 << 10]) {
      expect(refusal(bytes.subarray(0, length))).toMatch(/is cut off|is shorter/);
    }
  });

  it('a checksum that is wrong', () => {
    for (const length of [5, SCRATCH_BYTES + 5]) {
      const bytes = object('blob', randomBytes(4, length));
      bytes[bytes.length - 1] = bytes[bytes.length - 1]! ^ 1;
      expect(refusal(bytes)).toContain('is damaged');
    }
  });

  it('says what reading takes', () => {
    const size = 2 * SCRATCH_BYTES;
    open(put(object('blob', randomBytes(1, 100))));
    reader.measure();
    expect([reader.readBytes, reader.streamBytes]).toEqual([0, 0]);
    const bytes = object('blob', Buffer.alloc(size));
    open(put(bytes));
    reader.measure();
    expect([reader.readBytes, reader.streamBytes]).toEqual(
      useHandle ? [size + 1, 0] : [bytes.length + 2 * size, bytes.length + 2 * size],
    );
    reader.finish();
  });

  it.runIf(process.platform === 'linux')('leaves no file open', () => {
    const before = readdirSync('/proc/self/fd').length;
    const oids = [put(object('blob', Buffer.from('x'))), put(Buffer.from('damaged'))];
    for (let i = 0; i < 20; i++) {
      for (const oid of oids) {
        try {
          reader.open(objects, oid, 0);
          reader.read();
        } catch {
          // The damaged one.
        }
      }
    }
    reader.finish();
    reader.finish();
    expect(readdirSync('/proc/self/fd').length).toBe(before);
  });
});
