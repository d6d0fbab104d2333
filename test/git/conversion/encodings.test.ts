// Every encoding that we claim against iconv of GNU libc, which is what git uses: character by character for each table, and by random
// text, broken and whole, for all.
import { spawnSync } from 'node:child_process';
import { beforeAll, describe, expect, test } from 'vitest';
import { encode, loadTables } from '../../../src/engine/filter/encode.ts';
import { characterTable, UNMAPPABLE } from '../../../src/engine/filter/encoding-tables.ts';
import { encodingOf, hasGlibc, TABLE_NAMES } from '../../../src/engine/filter/encodings.ts';
import { randomNumbers } from '../../support/random.ts';

beforeAll(async () => {
  await loadTables([{ kind: 'in-core', crlf: 'none', ident: false, encoding: { kind: 'table', table: '' } }]);
});

function iconv(name: string, input: Uint8Array, drop = false): Buffer | null {
  const result = spawnSync('iconv', [...(drop ? ['-c'] : []), '-f', 'UTF-8', '-t', name], {
    input,
    maxBuffer: 1 << 26,
  });
  return result.status === 0 || drop ? result.stdout : null;
}

const MANY_BYTES = new Set(['CP936', 'CP949', 'SHIFT_JIS', 'EUC-JP', 'EUC-KR']);
const TABLES = new Set(
  TABLE_NAMES.map((name) => encodingOf(name, true)).map((encoding) =>
    encoding?.kind === 'table' ? encoding.table : '',
  ),
);
const OTHERS = ['UTF-16', 'UTF16', 'UTF-16LE', 'UTF-16BE', 'UTF-32', 'UTF-32LE', 'utf-32be', 'UTF32', 'UTF16LE'].concat(
  ['ISO-8859-1', 'LATIN1', 'L1', 'ISO8859-1', 'ISO_8859-1', 'US-ASCII', 'ascii'],
);

describe.runIf(hasGlibc())('against iconv', () => {
  test.each([...TABLES])('%s, each character', (name) => {
    const points: number[] = [];
    for (let point = 0x80; point < 0x10000; point++) {
      // Tables of one byte for each character have nothing in the scripts of East Asia.
      if (!MANY_BYTES.has(name) && point >= 0x2700 && point < 0xe000) continue;
      if (point < 0xd800 || point >= 0xe000) points.push(point);
    }
    const text = Buffer.from(points.map((point) => `${String.fromCharCode(point)}\n`).join(''));
    // What libc cannot encode it leaves out, when told to; the line is empty then.
    const lines = iconv(name, text, true)!.toString('latin1').split('\n');
    expect(lines).toHaveLength(points.length + 1);
    const table = characterTable(name);
    const wrong = points.flatMap((point, i) => {
      const code = table.get(point);
      const length = code >>> 24;
      const ours =
        code === UNMAPPABLE
          ? ''
          : code
              .toString(16)
              .padStart(8, '0')
              .slice(8 - 2 * length);
      const theirs = Buffer.from(lines[i]!, 'latin1').toString('hex');
      return ours === theirs ? [] : [`U+${point.toString(16)}: libc ${theirs}, ours ${ours}`];
    });
    expect(wrong).toEqual([]);
  });

  const broken = ['80', 'c080', 'c1bf', 'c2', 'e0809f', 'eda080', 'edbfbf', 'f0808080', 'f4908080', 'f8888080', 'e282'];
  test.each([...OTHERS, 'SHIFT_JIS', 'WINDOWS-1252'])('%s, text that is broken, and marks', (name) => {
    const encoding = encodingOf(name, true)!;
    const texts = [
      ...broken.map((hex) => Buffer.concat([Buffer.from('ab\n'), Buffer.from(hex, 'hex')])),
      ...broken.map((hex) => Buffer.concat([Buffer.from(hex, 'hex'), Buffer.from('ab\n')])),
      Buffer.from('\ufeffmark\n'),
      Buffer.from('a\u{e0041}b\u{e007f}\n'),
      Buffer.from('\u0000\u007f\u0080\u00ff\n'),
      Buffer.from('\u{10ffff}\u{10000}\uffff\ufffe\ufffd'),
    ];
    for (const text of texts) {
      const ours = encode(encoding, text, text.length);
      expect(ours === null ? null : Buffer.from(ours), text.toString('hex')).toEqual(iconv(name, text));
    }
  });

  test('each name, with random text', () => {
    const random = randomNumbers(1);
    for (const name of [...TABLE_NAMES, ...OTHERS]) {
      const encoding = encodingOf(name, true)!;
      const points: number[] = [];
      for (let i = 0; i < 600; i++) {
        const point = random(3) === 0 ? random(0xd800) : random(0x600);
        const character = Buffer.from(String.fromCodePoint(point));
        if (encode(encoding, character, character.length) !== null) points.push(point);
      }
      const text = Buffer.from(String.fromCodePoint(...points));
      expect(Buffer.from(encode(encoding, text, text.length)!).equals(iconv(name, text)!), name).toBe(true);
    }
  });
});

test('other libraries: what all agree on, and big-endian without a word about it', () => {
  expect(encodingOf('UTF-16', false)).toEqual({ kind: 'unicode', unit: 2, bigEndian: true, bom: true });
  expect(encodingOf('UTF-32', false)).toEqual({ kind: 'unicode', unit: 4, bigEndian: true, bom: true });
  expect(encodingOf('UTF-16LE', false)).toEqual({ kind: 'unicode', unit: 2, bigEndian: false, bom: false });
  expect(encodingOf('ISO-8859-1', false)).toEqual({ kind: 'bytes', limit: 0x100 });
  expect(encodingOf('SHIFT-JIS', false)).toBeNull();
});

test.each(['UTF-7', 'UTF-16-BOM', 'UTF-32LE-BOM', 'GBK', 'BIG5', 'ISO-8859-1//TRANSLIT', 'nonsense'])(
  '%s is left to git',
  (name) => {
    expect(encodingOf(name, true)).toBeNull();
  },
);
