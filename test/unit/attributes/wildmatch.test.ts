import { expect, test } from 'vitest';
import { compileGlob, matchGlob } from '../../../src/engine/attributes/wildmatch.ts';

function matches(pattern: string, text: string, { pathMode = true, fold = false } = {}): boolean {
  const glob = compileGlob(Buffer.from(pattern, 'latin1'), pathMode, fold);
  const bytes = Buffer.from(`/${text}/`, 'latin1');
  return glob !== null && matchGlob(glob, bytes, 1, bytes.length - 1);
}

test.each([
  ['a?c', 'abc a-c', 'ac a/c abbc'],
  ['a*c', 'ac abc abbc', 'a/c ab'],
  ['*', 'a abc', 'a/b'],
  ['a/*', 'a/b', 'a/b/c a'],
  ['**', 'a a/b', ''],
  ['a/**', 'a/b a/b/c', 'a ab'],
  ['**/a', 'a b/a c/b/a', 'ba a/b'],
  ['a/**/b', 'a/b a/x/b a/x/y/b', 'ab a/xb'],
  ['a**b', 'ab axb', 'a/b'],
  ['ab**/c', 'ab/c abx/c', 'abc ab/x/c abxc'],
  ['a/**\\/b', 'a//b a/x/b', 'a/b'],
  ['**/x*/**/*y', 'x/y x1/a/b/cy q/x/zy', 'x/z y'],
  ['[abc]', 'a b c', 'd'],
  ['[]a]', '] a', 'b'],
  ['[!]a]', 'b', '] a'],
  ['[a-]', 'a -', 'b'],
  ['[\\]-a]', '] ^ _ a', '[ b'],
  ['a[/]b', '', 'a/b'],
  ['a[!x]b', 'ayb', 'a/b axb'],
  ['[[:digit:]-z]', '5 - z', 'a'],
  ['[[:nope:]]', '', 'n :'],
  ['[a', '', 'a [a'],
  ['a\\', '', 'a a\\'],
  ['\\*', '*', 'a'],
])('%s', (pattern, yes, no) => {
  const words = (list: string) => (list === '' ? [] : list.split(' '));
  expect(words(yes).filter((text) => !matches(pattern, text))).toEqual([]);
  expect(words(no).filter((text) => matches(pattern, text))).toEqual([]);
});

test('case: ranges and [:upper:] match both, an escaped or listed capital matches none', () => {
  const fold = { fold: true };
  expect(matches('aBc', 'AbC', fold)).toBe(true);
  expect(matches('[A-Z]', 'q', fold)).toBe(true);
  expect(matches('[[:upper:]]', 'Q', fold)).toBe(true);
  expect(matches('\\A', 'A', fold)).toBe(false);
  expect(matches('[A]', 'A', fold)).toBe(false);
});

test('without path mode wildcards match slashes', () => {
  expect(matches('a*c', 'a/b/c', { pathMode: false })).toBe(true);
  expect(matches('a?c', 'a/c', { pathMode: false })).toBe(true);
  expect(matches('a**', 'a/b', { pathMode: false })).toBe(true);
});

test('hostile patterns take a moment, not forever', () => {
  const started = performance.now();
  expect(matches(`${'a*'.repeat(500)}b`, 'a'.repeat(2000))).toBe(false);
  expect(matches(`${'**/a/'.repeat(300)}b`, 'a/'.repeat(1500))).toBe(false);
  expect(matches(`${'**/*a*a*a/'.repeat(100)}b`, 'aaaaaaaa/'.repeat(200))).toBe(false);
  expect(performance.now() - started).toBeLessThan(2000);
});
