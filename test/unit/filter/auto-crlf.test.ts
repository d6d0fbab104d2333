/**
 * Line ends looked at four bytes at a time: the same as one by one, whatever stands where; and deciding and copying in one pass is
 * deciding and then copying.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { autoLineFeeds, bareLineFeeds, copyAutoCrlf, copyWithCrlf } from '../../../src/engine/filter/sinks.ts';

/** Mostly text, with what matters strewn in, at any alignment. */
const contents = fc
  .tuple(
    fc.array(
      fc.oneof(
        { weight: 12, arbitrary: fc.constantFrom('word', 'a', 'some text ', '\xe9\xff\x80', '    ') },
        { weight: 4, arbitrary: fc.constantFrom('\n', '\n\n', '\t') },
        { weight: 1, arbitrary: fc.constantFrom('\r\n', '\r', '\0', '\x01', '\x7f', '\x1a', '\x1f', '\x08') },
      ),
      { maxLength: 400 },
    ),
    fc.integer({ min: 0, max: 7 }),
  )
  .map(([parts, shift]) => {
    const text = Buffer.from(parts.join(''), 'latin1');
    const shifted = Buffer.alloc(text.length + shift);
    text.copy(shifted, shift);
    return shifted.subarray(shift);
  });

function bareByOne(content: Uint8Array): number {
  return content.filter((byte, at) => byte === 0x0a && content[at - 1] !== 0x0d).length;
}

function copiedByOne(content: Uint8Array): number[] {
  return [...content].flatMap((byte, at) => (byte === 0x0a && content[at - 1] !== 0x0d ? [0x0d, byte] : [byte]));
}

describe('four bytes at a time', () => {
  it('counts and copies as one by one', () => {
    fc.assert(
      fc.property(contents, (content) => {
        expect(bareLineFeeds(content, content.length)).toBe(bareByOne(content));
        const out = new Uint8Array(2 * content.length);
        const end = copyWithCrlf(content, 0, content.length, 0, out, 0);
        expect([...out.subarray(0, end)]).toEqual(copiedByOne(content));
      }),
      { numRuns: 300 },
    );
  });

  it('decides and copies in one pass as in two', () => {
    fc.assert(
      fc.property(contents, (content) => {
        const lineFeeds = autoLineFeeds(content, content.length);
        const out = new Uint8Array(2 * content.length);
        const made = copyAutoCrlf(content, content.length, out);
        expect(made).toBe(lineFeeds === 0 ? -1 : content.length + lineFeeds);
        if (made >= 0) expect([...out.subarray(0, made)]).toEqual(copiedByOne(content));
      }),
      { numRuns: 300 },
    );
  });

  it('at the borders of what counts as binary', () => {
    for (const controls of [0, 1, 2, 3]) {
      for (const length of [127, 128, 129, 255, 256, 257, 513]) {
        const content = Buffer.from(`${'\x01'.repeat(controls)}${'x'.repeat(length)}\n`, 'latin1');
        const out = new Uint8Array(2 * content.length);
        const lineFeeds = autoLineFeeds(content, content.length);
        expect(lineFeeds).toBe(Math.floor(length / 128) < controls ? 0 : 1);
        expect(copyAutoCrlf(content, content.length, out)).toBe(lineFeeds === 0 ? -1 : content.length + 1);
      }
    }
  });
});
