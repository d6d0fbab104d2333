import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CheckoutError } from '../../../src/engine/errors.ts';
import { convertedSize, convertInto, createStreamConverter } from '../../../src/engine/filter/convert.ts';
import type { Conversion } from '../../../src/engine/filter/conversion.ts';

const OID = Buffer.from('0123456789abcdef0123456789abcdef01234567', 'hex');
const EXPANDED = '$Id: 0123456789abcdef0123456789abcdef01234567 $';

const TEXT: Conversion = { kind: 'stream', crlf: 'text', ident: false };
const AUTO: Conversion = { kind: 'in-core', crlf: 'auto', ident: false };
const IDENT: Conversion = { kind: 'stream', crlf: 'none', ident: true };
const IDENT_TEXT: Conversion = { kind: 'stream', crlf: 'text', ident: true };
const IDENT_IN_CORE: Conversion = { kind: 'in-core', crlf: 'none', ident: true };
const IDENT_AUTO: Conversion = { kind: 'in-core', crlf: 'auto', ident: true };
const NONE: Conversion = { kind: 'none', crlf: 'none', ident: false };

function whole(conversion: Conversion, text: string): string | null {
  const content = Buffer.from(text, 'latin1');
  const size = convertedSize(conversion, content, content.length, OID);
  if (size < 0) return null;
  const out = new Uint8Array(new SharedArrayBuffer(size));
  expect(convertInto(conversion, content, content.length, OID, out)).toBe(size);
  return Buffer.from(out).toString('latin1');
}

function pieces(conversion: Conversion, parts: readonly string[], limit?: number): string {
  const converter = createStreamConverter(conversion, OID, limit);
  const made: Buffer[] = [];
  const write = (piece: Uint8Array): void => void made.push(Buffer.from(piece));
  for (const part of parts) converter.push(Buffer.from(part, 'latin1'), write);
  converter.end(write);
  return Buffer.concat(made).toString('latin1');
}

test.each<[string, Conversion, string, string | null]>([
  ['text', TEXT, 'a\nb\r\nc\n', 'a\r\nb\r\nc\r\n'],
  ['text, nothing to do', TEXT, 'a\r\nb', null],
  ['text, binary content all the same', TEXT, '\0\n\r', '\0\r\n\r'],
  ['text, empty', TEXT, '', null],
  ['auto', AUTO, 'a\nb\n', 'a\r\nb\r\n'],
  ['auto, a CR somewhere', AUTO, 'a\nb\r\n', null],
  ['auto, a NUL somewhere', AUTO, 'a\nb\0', null],
  ['auto, no line feed', AUTO, 'ab', null],
  ['auto, control characters', AUTO, '\x01\n', null],
  ['auto, a final SUB', AUTO, 'a\n\x1a', 'a\r\n\x1a'],
  ['ident as a stream', IDENT, 'a $Id$ $$Id$', `a ${EXPANDED} $$Id$`],
  ['ident in core', IDENT_IN_CORE, 'a $Id$ $$Id$', `a ${EXPANDED} $${EXPANDED}`],
  ['ident as a stream loses what it held', IDENT, '$IdX$Id: y$', EXPANDED],
  ['ident, an expansion of the same size', IDENT, EXPANDED.replace(/\d/g, '9'), EXPANDED],
  ['ident and text', IDENT_TEXT, '$Id$\n', `${EXPANDED}\r\n`],
  ['ident and auto: the decision is about the expanded content', IDENT_AUTO, '$Id:\r$\n', `${EXPANDED}\r\n`],
  ['ident and auto, a CR left', IDENT_AUTO, '$Id$\n\r', `${EXPANDED}\n\r`],
  ['ident and auto without a keyword', IDENT_AUTO, 'a\n', 'a\r\n'],
  ['ident without a keyword', IDENT, 'a\n$Ix$', null],
  ['none', NONE, '$Id$\n', null],
])('%s', (_, conversion, content, expected) => {
  expect(whole(conversion, content)).toBe(expected);
  if (conversion.kind === 'in-core') return;
  expect(pieces(conversion, [content])).toBe(expected ?? content);
  expect(pieces(conversion, Array.from(content))).toBe(expected ?? content);
});

test('auto counts control characters against printable ones, one in 128', () => {
  const converts = (text: string): boolean => whole(AUTO, text) !== null;
  expect(converts(`${'a'.repeat(128)}\x01\n`)).toBe(true);
  expect(converts(`${'a'.repeat(127)}\x01\n`)).toBe(false);
  // Over the borders of the blocks that are counted at once.
  expect(converts(`${'a'.repeat(5000)}${'\x02'.repeat(39)}\n`)).toBe(true);
  expect(converts(`${'a'.repeat(5000)}${'\x02'.repeat(40)}\n`)).toBe(false);
  expect(converts(`\n${'a'.repeat(5000)}\r`)).toBe(false);
});

test('only the first bytes of a buffer are content', () => {
  const buffer = Buffer.from('a\nb$Id$\n\r\0');
  expect(convertedSize(AUTO, buffer, 3, OID)).toBe(4);
  expect(convertedSize(IDENT, buffer, 6, OID)).toBe(-1);
  expect(convertedSize(IDENT, buffer, 7, OID)).toBe(3 + EXPANDED.length);
});

test('pieces give what the whole gives, wherever they are cut', () => {
  const token = fc.constantFrom('$', 'I', 'd', ':', ' ', '\n', '\r', '\0', 'x', '$Id', '$Id$', '$Id: ', '$IdX', '\t');
  const parts = fc.array(
    fc.array(token, { maxLength: 8 }).map((tokens) => tokens.join('')),
    { maxLength: 8 },
  );
  fc.assert(
    fc.property(parts, fc.constantFrom(TEXT, IDENT, IDENT_TEXT, NONE), (each, conversion) => {
      const content = each.join('');
      expect(pieces(conversion, each)).toBe(whole(conversion, content) ?? content);
    }),
    { numRuns: 2000 },
  );
});

describe('what a stream holds is bounded', () => {
  test('text of another system is let go of while it is still open', () => {
    const part = 'some words '.repeat(1000);
    const converter = createStreamConverter(IDENT, OID, 100_000);
    let longest = 0;
    let written = '';
    const write = (piece: Uint8Array): void => {
      longest = Math.max(longest, piece.length);
      written += Buffer.from(piece).toString('latin1');
    };
    converter.push(Buffer.from('$Id: '), write);
    for (let i = 0; i < 300; i++) converter.push(Buffer.from(part), write);
    expect(written.length).toBeGreaterThan(250 * part.length);
    converter.push(Buffer.from('$$Id$'), write);
    converter.end(write);
    expect(written).toBe(`$Id: ${part.repeat(300)}$${EXPANDED}`);
    expect(longest).toBeLessThanOrEqual(65536);
  });

  test('text that cannot be decided on ends in an error', () => {
    const parts = ['$Id:', ...Array.from({ length: 100 }, () => 'x'.repeat(1000))];
    expect(pieces(IDENT, [...parts, '$'], 200_000)).toBe(EXPANDED);
    expect(() => pieces(IDENT, [...parts, '$'], 50_000)).toThrow(CheckoutError);
    expect(() => pieces(IDENT, ['$IdX'.repeat(1000)], 1000)).toThrow(/longer than 1000 bytes/);
  });
});

test('kinds that cannot be done are refused as bugs', () => {
  expect(() => createStreamConverter(AUTO, OID)).toThrow(/BUG/);
  const git: Conversion = { kind: 'git', crlf: 'none', ident: false, reason: 'why' };
  expect(() => convertedSize(git, Buffer.from('a'), 1, OID)).toThrow(/BUG.*why/);
});
