// What a checkout by git writes against what our conversion makes of the same blobs: attributes x core.autocrlf x core.eol
// x contents. `git checkout-index` writes as every checkout does, streaming included.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { convertedSize, convertInto, createStreamConverter } from '../../../src/engine/filter/convert.ts';
import {
  conversionFor,
  ConversionTable,
  type Conversion,
  type ConversionConfig,
  type FilterDriver,
} from '../../../src/engine/filter/conversion.ts';
import { AttributeSets } from '../../../src/engine/attributes/attribute-sets.ts';
import { OracleRepository, resolveAll } from './oracle.ts';

const NATIVE = process.platform === 'win32' ? 'crlf' : 'lf';

const ATTRIBUTES = [
  '-diff',
  'text',
  '-text',
  'text=auto',
  'text=input',
  'text=bogus',
  'text=',
  'eol=crlf',
  'eol=lf',
  'eol=bogus',
  'eol',
  '-text eol=crlf',
  'text=input eol=crlf',
  'text=auto eol=crlf',
  'text=auto eol=lf',
  'text=bogus eol=crlf',
  'crlf',
  '-crlf',
  'crlf=input',
  'crlf=auto',
  'text=bogus crlf',
  '-text crlf',
  'crlf=auto eol=crlf',
  'ident',
  'ident=yes',
  'text ident',
  'text=auto ident',
  'eol=crlf ident',
  'text=auto eol=crlf ident',
  'text=auto eol=lf ident',
  'binary ident',
  'working-tree-encoding=utf8 ident eol=crlf',
  'working-tree-encoding= ident eol=crlf',
  // Drivers of the configuration below.
  'filter=unknown ident',
  'filter ident',
  '-filter ident eol=crlf',
  'filter=clean ident',
  'filter=clean eol=crlf',
  'filter=clean text=auto ident',
  'filter=empty ident eol=crlf',
  'filter=off ident',
  'filter=nothing ident',
  'filter=required ident eol=crlf',
];

/** These get every content; the others, which come to one of the same few conversions, a choice that tells them apart. */
const THOROUGH = new Set([
  'text',
  'text=auto',
  'eol=crlf',
  'text=auto eol=crlf',
  'ident',
  'text=auto ident',
  'eol=crlf ident',
  'text=auto eol=crlf ident',
  'filter=clean ident',
]);

const DRIVERS: ReadonlyMap<string, FilterDriver> = new Map<string, FilterDriver>([
  ['clean', { clean: 'exit 1', required: false }],
  ['empty', { smudge: '', required: false }],
  // A process, be it empty, keeps the other command from running.
  ['off', { process: '', smudge: 'exit 1', required: false }],
  ['nothing', { required: false }],
  ['required', { required: true }],
]);

const K = '$Id$';
const FILL = 'some words of text to go on with\n';

function repeated(text: string, length: number): string {
  return text.repeat(Math.ceil(length / text.length)).slice(0, length);
}

const CONTENTS: readonly string[] = [
  // Line ends.
  '',
  'one\ntwo\n',
  'one\r\ntwo\r\n',
  'one\r\ntwo\n',
  'one\rtwo\n',
  'one\rtwo',
  'one\ntwo',
  '\n',
  '\r\n',
  '\r\r\n',
  '\n\r\n\n\r',
  'x\r',
  'no end',
  '\0one\ntwo\n',
  `${repeated(FILL, 100_000)}\0\n`,
  `${repeated(FILL, 20_000)}\r\n`,
  `${repeated(FILL, 20_000)}\r`,
  'h\xef\xbb\xbfigh\xff\n\xfe\n',
  // Control characters at and over one in 128.
  `${'a'.repeat(128)}\x01\n`,
  `${'a'.repeat(127)}\x01\n`,
  `${'a'.repeat(255)}\x01\x7f\n`,
  `${'a'.repeat(256)}\x01\x7f\n`,
  `${'a'.repeat(126)}\t\b\x1b\f\n\x01`,
  `${'a'.repeat(124)}\t\b\x1b\x0b\n`,
  'text\n\x1a',
  '\x1a\n',
  'text\n\x01\x1a',
  '\x1a',
  // Line ends at the borders of git's buffers.
  ...[1023, 1024, 1025, 16383, 16384, 16385, 32768].flatMap((at) => [
    `${'a'.repeat(at)}\nb\n`,
    `${'a'.repeat(at)}\r\nb`,
    `${'a'.repeat(at - 1)}\r\n\nb`,
    `${'a'.repeat(at)}\r`,
  ]),
  '\n'.repeat(20_000),
  `${'\r'.repeat(20_000)}\n`,
  // Keywords.
  K,
  `a ${K} b\n`,
  `${K}${K}\n`,
  `$${K}\n`,
  `$I${K}\n`,
  '$Id',
  '$Id:',
  '$Id: no end\n',
  `$Id: no end\n${K}\n`,
  `$Id: no end ${K}\n`,
  '$Id:$\n',
  '$Id: $\n',
  '$Id:  $\n',
  '$Id:x$\n',
  '$Id: x$\n',
  '$Id: x $\n',
  '$Id: x  $\n',
  '$Id:foo bar$\n',
  '$Id: foo bar$\n',
  '$Id: foo bar $\n',
  '$Id:foo bar $\n',
  '$Id:\tfoo$\n',
  '$Id: foo\tbar$\n',
  '$Id: foo\t$\n',
  '$Id: foo\vbar$\n',
  '$Id: foo\rbar$\n',
  '$Id: foo\r$\n',
  '$Id:\r$\n',
  '$Id:\0$\n',
  '$Id: \0 a b$\n',
  '$Id: a \0b$\n',
  `$Id: 0123456789012345678901234567890123456789 $\nnext\n`,
  '$IdX$Id: y$\n',
  '$IdX$Id: y z$\n',
  `$IdX${K}\n`,
  '$Idx$Id: foo $\n',
  '$IdX$IdY$Id: z$ and $Id$\n',
  '$IdX$IdY\n$Id$\n',
  '$IdX',
  '$IdX$',
  '$IdX$I',
  '$IdX$Id: open',
  '$IdX$Id: open\n$Id$',
  '$Id\0$Id$\n',
  '$Id\0',
  '$Id\0x$Id$\n',
  '$id$ $ID$ Id$ $ Id$\n',
  `$Id: a b${K}\n`,
  `$Id: a b$Id: c$\n`,
  '$Id: a\n b$ $Id$\n',
  `${K}\r\n$Id: x$\r\n`,
  'a\n$Id: x\ry$\nb\n',
  'a\n$Id:x\ry$\nb\n',
  ...[1018, 1020, 1022, 1023, 16380, 16382, 16383].flatMap((at) => [
    `${'a'.repeat(at)}${K}\nb\n`,
    `${'a'.repeat(at)}$Id: x$\r\n${K}`,
    `${'a'.repeat(at)}$Id: x y$\n$IdX$Id: y$`,
  ]),
  `$Id: ${'a'.repeat(40_000)}$\n`,
  `$Id: ${'a '.repeat(20_000)}$\n`,
  `$Id: ${'a '.repeat(90_000)}\n${K}\n`,
  `$Id: ${'a'.repeat(40_000)}\n${K}\n`,
  `${'$IdX'.repeat(6000)}$Id: y$\n`,
  // Held bytes that do not fit the buffer at the end of content: git writes the last ones again.
  `${'$IdX'.repeat(6000)}$I`,
  `${'$IdX'.repeat(6000)}$Id`,
  '$IdX'.repeat(6000),
  `${'$IdX'.repeat(4096)}$`,
  `${'$IdX'.repeat(256)}$I`,
  `${'$IdX'.repeat(255)}$Id\0`,
  `${'$IdX'.repeat(255)}$I`,
];

const TELLING = new Set([
  '',
  'one\ntwo\n',
  'one\r\ntwo\n',
  'one\rtwo\n',
  '\0one\ntwo\n',
  'a\n$Id:x\ry$\nb\n',
  `$${K}\n`,
  `a ${K} b\n`,
]);

const BLOBS = CONTENTS.map((text) => {
  const content = Buffer.from(text, 'latin1');
  return {
    content,
    telling: TELLING.has(text),
    oid: createHash('sha1').update(`blob ${content.length}\0`).update(content).digest(),
  };
});

function isTested(a: number, c: number): boolean {
  return THOROUGH.has(ATTRIBUTES[a]!) || BLOBS[c]!.telling;
}

const FILES = new Map<string, Buffer>([
  ['.gitattributes', Buffer.from(ATTRIBUTES.map((each, i) => `/${i}/* ${each}\n`).join(''))],
  ...ATTRIBUTES.flatMap((_, a) =>
    BLOBS.flatMap(({ content }, c): [string, Buffer][] => (isTested(a, c) ? [[`${a}/${c}`, content]] : [])),
  ),
]);

let repository: OracleRepository;
beforeAll(() => {
  repository = new OracleRepository(FILES);
});
afterAll(() => repository.remove());

function convertWhole(conversion: Conversion, { content, oid }: { content: Buffer; oid: Buffer }): Buffer {
  const padded = Buffer.concat([content, Buffer.from('\n$Id$\r\0')]);
  const size = convertedSize(conversion, padded, content.length, oid);
  if (size < 0) return content;
  const out = Buffer.alloc(size + 8, 0xaa);
  const made = convertInto(conversion, padded, content.length, oid, out);
  expect(made).toBe(size);
  expect(out.subarray(size).every((byte) => byte === 0xaa)).toBe(true);
  return out.subarray(0, size);
}

function convertInPieces(
  conversion: Conversion,
  { content, oid }: { content: Buffer; oid: Buffer },
  size: number,
): Buffer {
  const converter = createStreamConverter(conversion, oid);
  const pieces: Buffer[] = [];
  // Read back at once: a piece is valid during the call only.
  const write = (piece: Uint8Array): void => void pieces.push(Buffer.from(piece));
  for (let at = 0; at < content.length; at += size) {
    const piece = Buffer.from(content.subarray(at, at + size));
    converter.push(piece, write);
    piece.fill(0x24);
  }
  converter.end(write);
  return Buffer.concat(pieces);
}

function show(content: Buffer): string {
  const text = JSON.stringify(content.toString('latin1'));
  return text.length > 300 ? `${text.slice(0, 150)}...${text.slice(-120)} (${content.length})` : text;
}

const SETTINGS = [
  ['false', 'unset'],
  ['false', 'lf'],
  ['false', 'crlf'],
  ['false', 'native'],
  ['true', 'unset'],
  ['true', 'lf'],
  ['true', 'crlf'],
  ['input', 'unset'],
  ['input', 'crlf'],
] as const;

describe.each(SETTINGS)('core.autocrlf=%s core.eol=%s', (autocrlf, eol) => {
  const config: ConversionConfig = {
    autocrlf,
    eol: eol === 'unset' ? 'native' : eol,
    nativeEol: NATIVE,
    glibc: true,
    runsDrivers: true,
    filters: DRIVERS,
  };

  test('every file is as git writes it', () => {
    const prefix = `out-${autocrlf}-${eol}/`;
    const settings = [`core.autocrlf=${autocrlf}`, ...(eol === 'unset' ? [] : [`core.eol=${eol}`])];
    for (const [name, driver] of DRIVERS) {
      for (const [key, value] of Object.entries(driver)) settings.push(`filter.${name}.${key}=${String(value)}`);
    }
    repository.git([...settings.flatMap((each) => ['-c', each]), 'checkout-index', '-a', '-f', `--prefix=${prefix}`]);

    const sets = resolveAll(
      FILES,
      ATTRIBUTES.map((_, a) => `${a}/0`),
    );
    const wrong: string[] = [];
    const kinds = new Set<string>();
    sets.forEach((set, a) => {
      const conversion = conversionFor(set, config);
      kinds.add(conversion.kind);
      // Required, in git's in-core class and without a command: git dies of it, so it cannot be among the files here.
      expect(conversion.kind).not.toBe('git');
      BLOBS.forEach((blob, c) => {
        if (!isTested(a, c)) return;
        const expected = readFileSync(join(repository.directory, prefix, String(a), String(c)));
        const compare = (how: string, actual: Buffer): void => {
          if (actual.equals(expected)) return;
          wrong.push(
            `${ATTRIBUTES[a]!} ${how}: ${show(blob.content)}\n  git  ${show(expected)}\n  ours ${show(actual)}`,
          );
        };
        compare('whole', convertWhole(conversion, blob));
        if (conversion.kind === 'in-core') return;
        for (const size of blob.content.length < 100 ? [1, 2, 3, 7] : [4099, 1 << 20]) {
          compare(`in pieces of ${size}`, convertInPieces(conversion, blob, size));
        }
      });
    });
    expect(wrong).toEqual([]);
    expect(kinds).toContain('stream');
    expect(kinds).toContain('in-core');
  });
});

describe('what this part does not do by itself', () => {
  const drivers = new Map<string, FilterDriver>([
    ['smudge', { smudge: 'tr a b', required: false }],
    ['process', { process: 'no-such-filter', required: false }],
    ['off', { process: '', required: true }],
    ['clean', { clean: 'cat', required: true }],
    ['required', { required: true }],
  ]);
  const config: ConversionConfig = {
    autocrlf: 'false',
    eol: 'native',
    nativeEol: NATIVE,
    glibc: true,
    runsDrivers: true,
    filters: drivers,
  };
  const settings = [...drivers].flatMap(([name, driver]) =>
    Object.entries(driver).flatMap(([key, value]) => ['-c', `filter.${name}.${key}=${String(value)}`]),
  );

  test.each([
    ['filter=smudge', 'filter', undefined],
    ['filter=process', 'filter', undefined],
    ['filter=off', 'refused', "filter driver 'off' is required and has no command"],
    ['filter=clean', 'refused', "filter driver 'clean' is required and has no command"],
    ['filter=required text=auto', 'refused', "filter driver 'required' is required and has no command"],
    ['filter=required text=auto eol=lf', 'none', undefined],
    ['filter=required eol=crlf', 'stream', undefined],
    ['working-tree-encoding', 'refused', 'its working-tree-encoding has no value'],
    ['-working-tree-encoding', 'none', undefined],
    ['working-tree-encoding=UTF-7', 'git', "working-tree-encoding 'UTF-7'"],
    ['working-tree-encoding=Utf8', 'none', undefined],
  ])('%s: %s', (attributes, kind, reason) => {
    const files = new Map([
      ['.gitattributes', Buffer.from(`file ${attributes}\n`)],
      ['file', Buffer.from('abc\n')],
    ]);
    const one = new OracleRepository(files);
    try {
      const conversion = conversionFor(resolveAll(files, ['file'])[0]!, config);
      expect(conversion.kind).toBe(kind);
      expect(conversion.reason).toBe(reason);
      const checkout = (): Buffer => one.git([...settings, 'checkout-index', '-f', 'file']);
      if (kind === 'refused') expect(checkout).toThrow();
      else checkout();
      if (kind === 'git' || kind === 'refused' || kind === 'filter') return;
      const blob = { content: Buffer.from('abc\n'), oid: Buffer.alloc(20) };
      expect(convertWhole(conversion, blob)).toEqual(readFileSync(join(one.directory, 'file')));
    } finally {
      one.remove();
    }
  });
});

test('the table gives each attribute set a number below 256, however many drivers there are', () => {
  const drivers = new Map<string, FilterDriver>();
  for (let i = 0; i < 400; i++) drivers.set(`d${i}`, { smudge: 'cat', required: false });
  const lines = [...drivers.keys()].map((name) => `${name} filter=${name}\n`);
  const attributes = Buffer.from(`${lines.join('')}crlf eol=crlf\nauto text=auto eol=crlf ident\nid ident\n`);
  const sets = new AttributeSets();
  const paths = [...drivers.keys(), 'crlf', 'auto', 'id', 'plain'];
  const files = new Map([['.gitattributes', attributes]]);
  const config: ConversionConfig = {
    autocrlf: 'false',
    eol: 'native',
    nativeEol: 'lf',
    glibc: true,
    runsDrivers: true,
    filters: drivers,
  };
  const table = new ConversionTable(config, sets);
  const resolved = resolveAll(files, paths, { sets });
  const numbers = resolved.map((_, i) => table.fromAttributes(i === paths.length - 1 ? 0 : i + 1));
  expect(Math.max(...numbers)).toBeLessThan(256);
  const conversions = numbers.map((number) => table.conversions[number]!);
  // One number is that of no conversion, and the last one stands for all that have none.
  expect(conversions.slice(0, 254).map(({ driver }) => driver?.name)).toEqual([...drivers.keys()].slice(0, 254));
  expect(new Set(numbers.slice(254, -1))).toEqual(new Set([255]));
  expect(table.conversions[255]).toMatchObject({ kind: 'git', reason: 'more than 255 different conversions' });
  expect(numbers.at(-1)).toBe(0);
});
