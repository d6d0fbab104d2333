import { expect, test } from 'vitest';
import { ATTRIBUTES_FILE_LIMIT, parseAttributes } from '../../../src/engine/attributes/gitattributes.ts';

function parse(text: string, options = { fromBlob: true, macros: true }) {
  const { rules, macros } = parseAttributes(Buffer.from(text, 'latin1'), options);
  return {
    rules: rules.map(({ pattern, assignments }) => [Buffer.from(pattern).toString('latin1'), ...assignments]),
    macros: [...macros],
  };
}

test('states of attributes', () => {
  expect(parse('*.c a -b !c d=e f= -g=h i=j=k').rules).toEqual([
    [
      '*.c',
      { name: 'a', value: true },
      { name: 'b', value: false },
      { name: 'c', value: null },
      { name: 'd', value: 'e' },
      { name: 'f', value: '' },
      { name: 'g', value: false },
      { name: 'i', value: 'j=k' },
    ],
  ]);
});

const TEXT = { name: 'text', value: true };

test.each([
  ['#a text', []],
  ['"#a" text', [['#a', TEXT]]],
  ['"a b"text', [['a b', TEXT]]],
  ['"\\303\\251\\t" text', [['\xc3\xa9\t', TEXT]]],
  ['"a\\8" text', [['"a\\8"', TEXT]]],
  ['"a text', [['"a', TEXT]]],
  ['"a\\', []],
  ['"" text', []],
  ['!a text', []],
  ['a/ text', []],
  ['/ text', []],
  ['a', []],
  ['a text b@d', []],
  ['a text -', []],
  ['a text builtin_objectmode=1', []],
  ['\t a\ttext \r', [['a', TEXT]]],
  ['a\0 text', []],
  ['a text\0\nb text', [['a', TEXT]]],
])('line %j', (line, expected) => {
  expect(parse(line).rules).toEqual(expected);
});

test('macros, where they are allowed', () => {
  const text = '[attr]m text\n[attr] n text\n[attr]-o text\n[attr]m -a\n"[attr] p" text';
  expect(parse(text).macros).toEqual([
    ['m', [{ name: 'a', value: false }]],
    ['p', [TEXT]],
  ]);
  expect(parse(text).rules.map(([pattern]) => pattern)).toEqual(['[attr]']);
  const elsewhere = parse(text, { fromBlob: true, macros: false });
  expect(elsewhere.macros).toEqual([]);
  expect(elsewhere.rules).toHaveLength(1);
});

test('files and blobs differ in byte order mark, NUL and CR LF', () => {
  const text = `\xef\xbb\xbfa text\nb text\0x\nc${' text'.repeat(409)}\r\nd text`;
  const names = (fromBlob: boolean) => parse(text, { fromBlob, macros: false }).rules.map(([pattern]) => pattern);
  expect(names(true)).toEqual(['\xef\xbb\xbfa', 'b']);
  expect(names(false)).toEqual(['a', 'b', 'c', 'd']);
});

test('lines and files that are too long are ignored', () => {
  const line = (length: number) => `a text ${'x'.repeat(length - 7)}`;
  expect(parse(line(2047)).rules).toHaveLength(1);
  expect(parse(line(2048)).rules).toHaveLength(0);
  // CR before LF belongs to the line in a blob, not in a file.
  expect(parse(`${line(2047)}\r\n`).rules).toHaveLength(0);
  expect(parse(`${line(2047)}\r\n`, { fromBlob: false, macros: true }).rules).toHaveLength(1);
  const huge = Buffer.alloc(ATTRIBUTES_FILE_LIMIT);
  huge.write('a text\n');
  expect(parseAttributes(huge, { fromBlob: true, macros: true }).rules).toEqual([]);
});
