import { describe, expect, it } from 'vitest';
import {
  formatBytes,
  formatCount,
  formatMs,
  formatRate,
  plural,
  printable,
} from '../../../src/engine/report/format.ts';

describe('formatBytes', () => {
  it.each([
    [0, '0 B'],
    [999, '999 B'],
    [1000, '1.00 kB'],
    [9994, '9.99 kB'],
    [9996, '10.0 kB'],
    [99_960, '100 kB'],
    [999_499, '999 kB'],
    [999_500, '1.00 MB'],
    [43_120_000, '43.1 MB'],
    [1_400_000_000, '1.40 GB'],
    [2e18, '2000 PB'],
    [-1, '0 B'],
    [NaN, '0 B'],
  ])('%d is %s', (bytes, text) => {
    expect(formatBytes(bytes)).toBe(text);
  });
});

describe('formatMs', () => {
  it.each([
    [0, '0 ms'],
    [0.2, '<1 ms'],
    [0.5, '1 ms'],
    [999.4, '999 ms'],
    [999.6, '1.00 s'],
    [3150, '3.15 s'],
    [12_340, '12.3 s'],
    [599_400, '599 s'],
    [599_600, '10 min 00 s'],
    [724_000, '12 min 04 s'],
    [Infinity, '0 ms'],
  ])('%d is %s', (ms, text) => {
    expect(formatMs(ms)).toBe(text);
  });
});

it('counts with commas and the right number', () => {
  expect(formatCount(86_691)).toBe('86,691');
  expect(formatCount(1_234_567)).toBe('1,234,567');
  expect(formatCount(100)).toBe('100');
  expect(plural(1, 'file')).toBe('1 file');
  expect(plural(0, 'file')).toBe('0 files');
  expect(formatRate(520_000_000)).toBe('520 MB/s');
});

describe('printable', () => {
  it('leaves ordinary text of any script alone', () => {
    expect(printable('src/größe/日本語/😀.c')).toBe('src/größe/日本語/😀.c');
  });

  it('escapes what could drive a terminal, break a line, or reorder text', () => {
    expect(printable('a\u001b[31mb\r\n\u009bc\u202ed\u2028e\u200bf')).toBe(
      'a\\x1b[31mb\\x0d\\x0a\\x9bc\\u{202e}d\\u{2028}e\\u{200b}f',
    );
  });

  it('replaces unpaired surrogates, also one that its own cut makes', () => {
    expect(printable('a\ud800b')).toBe('a\ufffdb');
    expect(printable('ab😀', 3)).toBe('ab\ufffd…');
  });

  it('bounds the length, escapes included', () => {
    expect(printable('x'.repeat(50), 10)).toBe(`${'x'.repeat(10)}…`);
    expect(printable('\u0000'.repeat(10), 10).length).toBeLessThanOrEqual(11);
    expect(printable('x'.repeat(10), 10)).toBe('x'.repeat(10));
  });
});
