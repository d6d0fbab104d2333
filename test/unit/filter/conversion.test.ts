import { describe, expect, test } from 'vitest';
import type { AttributeSet } from '../../../src/engine/attributes/attribute-sets.ts';
import { CheckoutError } from '../../../src/engine/errors.ts';
import { hasGlibc } from '../../../src/engine/filter/encodings.ts';
import {
  conversionFor,
  readConversionConfig,
  type ConversionConfig,
  type ConversionConfigSource,
} from '../../../src/engine/filter/conversion.ts';

const UNSPECIFIED: AttributeSet = {
  text: null,
  crlf: null,
  eol: null,
  ident: null,
  filter: null,
  workingTreeEncoding: null,
};

const PLAIN: ConversionConfig = {
  autocrlf: 'false',
  eol: 'native',
  nativeEol: 'lf',
  glibc: true,
  runsDrivers: true,
  filters: new Map(),
};

// The other half of the table is in test/git/conversion; here is what this machine's git cannot show: another platform.
test.each<[Partial<AttributeSet>, Partial<ConversionConfig>, string]>([
  [{}, { nativeEol: 'crlf' }, 'none none'],
  [{ text: true }, { nativeEol: 'crlf' }, 'stream text'],
  [{ text: 'auto' }, { nativeEol: 'crlf' }, 'in-core auto'],
  [{ text: true }, { nativeEol: 'crlf', eol: 'lf' }, 'none none'],
  [{ text: true }, { nativeEol: 'crlf', autocrlf: 'input' }, 'none none'],
  [{ text: true }, { nativeEol: 'lf', eol: 'crlf' }, 'stream text'],
  [{ text: true }, { nativeEol: 'lf', eol: 'lf', autocrlf: 'true' }, 'stream text'],
  [{ eol: 'lf' }, { nativeEol: 'crlf', autocrlf: 'true' }, 'none none'],
  [{ text: 'auto', eol: 'lf' }, { nativeEol: 'crlf' }, 'none none'],
])('%j under %j: %s', (attributes, config, expected) => {
  const { kind, crlf } = conversionFor({ ...UNSPECIFIED, ...attributes }, { ...PLAIN, ...config });
  expect(`${kind} ${crlf}`).toBe(expected);
});

function source(values: Readonly<Record<string, string | null | boolean>>): ConversionConfigSource {
  return {
    getAll: (key) => (key in values ? [values[key] as string | null] : []),
    getBool: (key) => values[key] as boolean | undefined,
    getBoolOrText: (key) => values[key] as boolean | string | undefined,
    subsections: () => [
      ...new Set(Object.keys(values).flatMap((key) => /^filter\.(.*)\.\w+$/.exec(key)?.slice(1) ?? [])),
    ],
  };
}

describe('configuration', () => {
  test('nothing set', () => {
    expect(readConversionConfig(source({}), 'linux')).toEqual({ ...PLAIN, glibc: hasGlibc() });
    expect(readConversionConfig(source({}), 'win32').nativeEol).toBe('crlf');
    expect(readConversionConfig(source({}), 'darwin').nativeEol).toBe('lf');
  });

  test('everything set', () => {
    const values = {
      'core.autocrlf': 'Input',
      'core.eol': 'CRLF',
      'filter.lfs.smudge': 'git-lfs smudge -- %f',
      'filter.lfs.process': 'git-lfs filter-process',
      'filter.lfs.required': true,
      'filter.a.b.clean': '',
      'filter.odd.unknown': 'x',
    };
    expect(readConversionConfig(source(values), 'linux')).toEqual({
      autocrlf: 'input',
      eol: 'crlf',
      nativeEol: 'lf',
      glibc: hasGlibc(),
      runsDrivers: true,
      filters: new Map([
        ['lfs', { smudge: 'git-lfs smudge -- %f', process: 'git-lfs filter-process', required: true }],
        ['a.b', { clean: '', required: false }],
        ['odd', { required: false }],
      ]),
    });
    expect(readConversionConfig(source({ 'core.autocrlf': true, 'core.eol': 'what' }), 'linux')).toMatchObject({
      autocrlf: 'true',
      eol: 'native',
    });
    expect(readConversionConfig(source({ 'core.autocrlf': false }), 'linux').autocrlf).toBe('false');
  });

  test.each([{ 'core.autocrlf': 'maybe' }, { 'filter.x.smudge': null }])('%j is refused', (values) => {
    expect(() => readConversionConfig(source(values), 'linux')).toThrow(CheckoutError);
  });
});
