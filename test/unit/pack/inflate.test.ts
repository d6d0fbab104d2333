import { createHash } from 'node:crypto';
import { constants, deflateRawSync, deflateSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { Inflater } from '../../../src/engine/pack/inflate.ts';
import { randomBytes, randomText } from '../../support/random.ts';

const text = Buffer.from(randomText(1, 20_000));
const noise = randomBytes(2, 21_000);

/** Whole stream into a buffer of its size and the spare byte; checks that nothing else is written to. */
function inflate(inflater: Inflater, stream: Uint8Array, size: number, outStart = 3): Buffer | string {
  const out = Buffer.alloc(outStart + size + 1 + 8, 0xaa);
  const failure = inflater.inflateExact(stream, 0, stream.length, out, outStart, size);
  expect(out.subarray(0, outStart).every((byte) => byte === 0xaa)).toBe(true);
  expect(out.subarray(outStart + size + 1).every((byte) => byte === 0xaa)).toBe(true);
  return failure ?? out.subarray(outStart, outStart + size);
}

describe.each([
  ['through the handle', true],
  ['as documented', false],
])('whole streams, %s', (_, useHandle) => {
  const inflater = new Inflater(useHandle);
  afterAll(() => {
    inflater.close();
  });

  it('goes the way that was asked for', () => {
    expect(inflater.usesHandle).toBe(useHandle);
  });

  it.each([
    ['nothing', Buffer.alloc(0)],
    ['one byte', Buffer.from('x')],
    ['text', text],
    ['noise', noise],
    ['zeros', Buffer.alloc(3_000_000)],
  ])('inflates %s', (_name, content) => {
    for (const level of [0, 1, 9]) {
      const stream = deflateSync(content, { level });
      expect(Buffer.compare(inflate(inflater, stream, content.length) as Buffer, content)).toBe(0);
      expect([inflater.consumed, inflater.produced]).toEqual([stream.length, content.length]);
    }
  });

  it('leaves what follows a stream', () => {
    const stream = deflateSync(text);
    const input = Buffer.concat([Buffer.from('before'), stream, Buffer.from('behind, and more of it')]);
    const out = Buffer.alloc(text.length + 1);
    expect(inflater.inflateExact(input, 6, input.length, out, 0, text.length)).toBeNull();
    expect(inflater.consumed).toBe(stream.length);
    expect(out.subarray(0, -1).equals(text)).toBe(true);
  });

  it('does not read past the end that it is given', () => {
    const stream = deflateSync(text);
    const out = Buffer.alloc(text.length + 1);
    expect(inflater.inflateExact(stream, 0, stream.length - 1, out, 0, text.length)).toBe('truncated');
  });

  it('tells every cut from a whole stream', () => {
    const content = text.subarray(0, 300);
    const stream = deflateSync(content);
    for (let length = 0; length < stream.length; length++) {
      expect(inflate(inflater, stream.subarray(0, length), content.length), `${length} bytes`).toBe('truncated');
    }
    expect(inflate(inflater, stream, content.length)).toEqual(content);
  });

  it('tells streams of another size', () => {
    const stream = deflateSync(text);
    expect(inflate(inflater, stream, text.length - 1)).toBe('corrupt');
    expect(inflate(inflater, stream, 0)).toBe('corrupt');
    expect(inflate(inflater, stream, text.length + 1)).toBe('truncated');
    expect(inflate(inflater, stream, text.length * 2)).toBe('truncated');
  });

  it('tells what is no stream, and what is damaged', () => {
    expect(inflate(inflater, text, 100)).toBe('corrupt');
    expect(inflate(inflater, deflateRawSync(text), text.length)).toBe('corrupt');
    for (const at of [0, 1, -1, -4]) {
      const stream = deflateSync(text);
      const place = at < 0 ? stream.length + at : at;
      stream[place] = (stream[place] ?? 0) ^ 0xff;
      expect(inflate(inflater, stream, text.length), `byte ${at}`).toBe('corrupt');
    }
    const withDictionary = deflateSync(text, { dictionary: Buffer.from('alpha beta gamma') });
    expect(inflate(inflater, withDictionary, text.length)).toBe('corrupt');
  });

  it('works on after each error', () => {
    const good = deflateSync(noise);
    for (const bad of [good.subarray(0, 50), Buffer.from('no stream'), deflateSync(text)]) {
      expect(typeof inflate(inflater, bad, noise.length)).toBe('string');
      expect((inflate(inflater, good, noise.length) as Buffer).equals(noise)).toBe(true);
    }
  });

  it('works on after it was closed', () => {
    inflater.close();
    inflater.close();
    expect((inflate(inflater, deflateSync(text), text.length) as Buffer).equals(text)).toBe(true);
  });

  it('reads and writes shared memory', () => {
    const stream = deflateSync(text);
    const input = new Uint8Array(new SharedArrayBuffer(stream.length));
    input.set(stream);
    const out = new Uint8Array(new SharedArrayBuffer(text.length + 1));
    expect(inflater.inflateExact(input, 0, input.length, out, 0, text.length)).toBeNull();
    expect(Buffer.compare(out.subarray(0, text.length), text)).toBe(0);
  });
});

describe('in pieces', () => {
  const inflater = new Inflater();
  afterAll(() => {
    inflater.close();
  });

  /** Feeds `inputPiece` bytes at a time into a buffer of `outputPiece`, as the readers do. */
  function inPieces(stream: Uint8Array, inputPiece: number, outputPiece: number): Buffer {
    const parts: Buffer[] = [];
    const out = new Uint8Array(outputPiece);
    expect(inflater.begin()).toBe(true);
    for (let at = 0; at < stream.length;) {
      const end = Math.min(stream.length, at + inputPiece);
      expect(inflater.step(stream, at, end, out, 0, outputPiece)).toBeNull();
      const { consumed, produced } = inflater;
      if (consumed === 0 && produced === 0) break;
      at += consumed;
      parts.push(Buffer.from(out.subarray(0, produced)));
    }
    return Buffer.concat(parts);
  }

  it.each([
    [1, 1],
    [1, 1000],
    [1000, 1],
    [7, 13],
    [1 << 20, 1 << 20],
  ])('of %i bytes into %i', (inputPiece, outputPiece) => {
    const content = text.subarray(0, 3000);
    expect(inPieces(deflateSync(content), inputPiece, outputPiece).equals(content)).toBe(true);
    expect(inflater.ended()).toBe(true);
  });

  it('takes nothing of what follows the stream', () => {
    const stream = deflateSync(text);
    const input = Buffer.concat([stream, Buffer.from('more')]);
    const out = Buffer.alloc(text.length + 10);
    inflater.begin();
    expect(inflater.step(input, 0, input.length, out, 0, out.length)).toBeNull();
    expect([inflater.consumed, inflater.produced]).toEqual([stream.length, text.length]);
    expect(inflater.step(input, stream.length, input.length, out, text.length, out.length)).toBeNull();
    expect([inflater.consumed, inflater.produced]).toEqual([0, 0]);
    expect(inflater.ended()).toBe(true);
  });

  it('knows a stream that has not ended', () => {
    const stream = deflateSync(text);
    const out = Buffer.alloc(text.length + 1);
    for (const cut of [1, 4, stream.length - 1]) {
      inflater.begin();
      expect(inflater.step(stream, 0, stream.length - cut, out, 0, out.length)).toBeNull();
      expect(inflater.ended(), `${cut} bytes short`).toBe(false);
    }
    inflater.begin();
    expect(inflater.ended()).toBe(false);
  });

  it('knows a stream whose output is still to come', () => {
    // All but the checksum is taken long before it is given out.
    const stream = deflateSync(Buffer.alloc(250, 'a'));
    const out = Buffer.alloc(250);
    inflater.begin();
    expect(inflater.step(stream, 0, stream.length - 4, out, 0, 5)).toBeNull();
    expect(inflater.produced).toBe(5);
    expect(inflater.ended()).toBe(false);
  });

  it('tells damage, and can begin again', () => {
    const stream = deflateSync(text);
    const bad = Buffer.from(stream);
    bad[bad.length - 1] = (bad[bad.length - 1] ?? 0) ^ 1;
    const out = Buffer.alloc(text.length + 1);
    inflater.begin();
    expect(inflater.step(bad, 0, bad.length, out, 0, out.length)).toBe('corrupt');
    expect(inflater.step(stream, 0, stream.length, out, 0, out.length)).toBe('corrupt');
    expect(inflater.ended()).toBe(false);
    expect(inPieces(stream, 100, 100).equals(text)).toBe(true);
  });

  it('a whole stream in between does no harm', () => {
    const stream = deflateSync(text, { strategy: constants.Z_HUFFMAN_ONLY });
    const out = Buffer.alloc(text.length + 1);
    inflater.begin();
    inflater.step(stream, 0, 10, out, 0, out.length);
    expect((inflate(inflater, deflateSync(noise), noise.length) as Buffer).equals(noise)).toBe(true);
    expect(inPieces(stream, 1 << 20, 1 << 20).equals(text)).toBe(true);
  });

  it('are not to be had without the handle', () => {
    const documented = new Inflater(false);
    expect(documented.begin()).toBe(false);
    expect(documented.step(deflateSync(text), 0, 10, Buffer.alloc(10), 0, 10)).toBe('corrupt');
    expect(documented.ended()).toBe(false);
  });

  it('go beyond 4 GiB of output', () => {
    // zlib counts in 32 bits. The memory is never touched but for its last page.
    const out = new Uint8Array(4.5 * 2 ** 30);
    const at = out.length - 100;
    const content = Buffer.from('far out');
    const stream = deflateSync(content);
    inflater.begin();
    expect(inflater.step(stream, 0, stream.length, out, at, out.length)).toBeNull();
    expect([inflater.consumed, inflater.produced]).toEqual([stream.length, content.length]);
    expect(Buffer.from(out.subarray(at, at + content.length)).toString()).toBe('far out');
    expect(out[at - 2 ** 32]).toBe(0);
    inflater.begin();
    expect(inflater.step(stream, 0, stream.length, out, 50, out.length)).toBeNull();
    expect([inflater.consumed, inflater.produced]).toEqual([stream.length, content.length]);
    expect(inflater.inflateExact(stream, 0, stream.length, out, 0, 2 ** 32)).toBe('truncated');
  });
});

it('gives the same bytes both ways', () => {
  const ways = [new Inflater(true), new Inflater(false)];
  const hashes = ways.map((inflater) => {
    const hash = createHash('sha1');
    for (let i = 0; i < 50; i++) hash.update(inflate(inflater, deflateSync(text.subarray(i * 7)), text.length - i * 7));
    inflater.close();
    return hash.digest('hex');
  });
  expect(hashes[0]).toBe(hashes[1]);
});
