import { describe, expect, test } from 'vitest';
import { AttributeSets, NO_ATTRIBUTES, type AttributeSet } from '../../../src/engine/attributes/attribute-sets.ts';
import { AttributeStack, type AttributeSources } from '../../../src/engine/attributes/attribute-stack.ts';
import { parseAttributes } from '../../../src/engine/attributes/gitattributes.ts';

function rules(...lines: string[]) {
  return parseAttributes(Buffer.from(lines.join('\n')), { fromBlob: true, macros: true });
}

function stackOf(sources: Partial<AttributeSources> = {}): AttributeStack {
  return new AttributeStack({ info: null, global: null, system: null, ignoreCase: false, ...sources });
}

function resolve(stack: AttributeStack, path: string): number {
  return stack.resolve(Buffer.from(path), 0, Buffer.byteLength(path));
}

function setOf(stack: AttributeStack, path: string): AttributeSet {
  return stack.sets.get(resolve(stack, path));
}

test('the first frame that decides wins, for each attribute: info, directories, global, system', () => {
  const stack = stackOf({
    info: rules('*.i text=info'),
    global: rules('* text=global ident', '*.n filter=global'),
    system: rules('* eol=system ident=system filter=system'),
  });
  stack.enterDirectory(rules('*.r text=root', '*.[in] -ident'), 0);
  stack.enterDirectory(rules('*.r text=sub', '*.n !filter'), 4);
  expect(setOf(stack, 'sub/a.i')).toMatchObject({ text: 'info', ident: false, eol: 'system', filter: 'system' });
  expect(setOf(stack, 'sub/a.r')).toMatchObject({ text: 'sub', ident: true, eol: 'system' });
  expect(setOf(stack, 'sub/a.n')).toMatchObject({ text: 'global', ident: false, filter: null });
  stack.leaveDirectory();
  expect(setOf(stack, 'a.r')).toMatchObject({ text: 'root' });
  expect(setOf(stack, 'a.n')).toMatchObject({ filter: 'global' });
});

test('leaving a directory takes its rules away, and the macros of the root with the root', () => {
  const stack = stackOf({ global: rules('* mine') });
  expect(resolve(stack, 'a')).toBe(NO_ATTRIBUTES);
  stack.enterDirectory(rules('[attr]mine text'), 0);
  expect(setOf(stack, 'a').text).toBe(true);
  stack.enterDirectory(rules('[attr]mine -text', '* eol=lf'), 2);
  expect(setOf(stack, 'd/a')).toMatchObject({ text: true, eol: 'lf' });
  stack.leaveDirectory();
  expect(setOf(stack, 'd/a')).toMatchObject({ text: true, eol: null });
  stack.leaveDirectory();
  expect(resolve(stack, 'a')).toBe(NO_ATTRIBUTES);
  expect(() => stack.leaveDirectory()).toThrow(RangeError);
});

test('lines that say nothing about conversion leave every path without attributes', () => {
  const stack = stackOf({ system: rules('* merge=union') });
  stack.enterDirectory(
    rules('*.c diff=cpp', '*.h diff=cpp', '[attr]doc diff export-ignore', '* doc', '*.rs -text2'),
    0,
  );
  expect(resolve(stack, 'kernel/fork.c')).toBe(NO_ATTRIBUTES);
  expect(stack.sets.count).toBe(1);
});

test('equal attributes give one id, and "unspecified by !" is as not mentioned', () => {
  const stack = stackOf();
  stack.enterDirectory(rules('*.a text=auto eol=crlf', '*.b eol=crlf text=auto', '*.c !text'), 0);
  expect(resolve(stack, 'x.a')).toBe(resolve(stack, 'd/y.b'));
  expect(resolve(stack, 'x.c')).toBe(NO_ATTRIBUTES);
});

test('a path is a range of a larger table', () => {
  const stack = stackOf();
  stack.enterDirectory(rules('/a.c text', 'a.c ident'), 0);
  const table = Buffer.from('x/a.ca.cx');
  const at = (start: number, end: number) => stack.sets.get(stack.resolve(table, start, end));
  expect(at(6, 9)).toMatchObject({ text: null, ident: null });
  expect(at(6, 9 - 1)).toMatchObject({ text: null });
  expect(at(5, 8)).toMatchObject({ text: true, ident: true });
  expect(at(0, 5)).toMatchObject({ text: null, ident: true });
});

test('a chain of macros as long as a file neither overflows nor takes long', () => {
  const length = 100_000;
  const lines = Array.from({ length }, (_, i) => `[attr]m${i} m${i + 1} filter=x${i % 7}`);
  const stack = stackOf();
  stack.enterDirectory(rules(...lines, `[attr]m${length} text`, '* m0'), 0);
  expect(setOf(stack, 'a')).toMatchObject({ filter: 'x0', text: true });
});

test('a macro that lists itself and others in a circle ends', () => {
  const stack = stackOf();
  stack.enterDirectory(rules('[attr]a a b', '[attr]b a text', '* a'), 0);
  expect(setOf(stack, 'x').text).toBe(true);
});

test('rules of a large file are looked at in order even where the last byte sorts them', () => {
  const lines = Array.from({ length: 30 }, (_, i) => `*.x${i} filter=f${i}`);
  const stack = stackOf({ ignoreCase: true });
  stack.enterDirectory(rules(...lines, '*.X7 text', 'A* ident', '*7 eol=lf', '?.x7 -ident'), 0);
  expect(setOf(stack, 'a.x7')).toMatchObject({ filter: 'f7', text: true, ident: false, eol: 'lf' });
  expect(setOf(stack, 'aB.x17')).toMatchObject({ filter: 'f17', text: null, ident: true, eol: 'lf' });
});

describe('interned sets', () => {
  test('stay as they are while the table grows', () => {
    const sets = new AttributeSets();
    const words = (n: number) => Int32Array.of(n % 2, 0, sets.valueId(`eol${n}`), 0, sets.valueId(`f${n % 5}`), 0);
    const ids = Array.from({ length: 1000 }, (_, n) => sets.find(words(n)));
    expect(new Set(ids).size).toBe(1000);
    expect(ids.every((id, n) => sets.find(words(n)) === id)).toBe(true);
    expect(sets.get(ids[501]!)).toMatchObject({ text: true, eol: 'eol501', filter: 'f1', ident: null });
    expect(() => sets.get(5000)).toThrow(RangeError);
  });

  test('a value that is spelt "true" is not true', () => {
    const sets = new AttributeSets();
    expect(sets.valueId('true')).not.toBe(sets.valueId(true));
    expect(sets.valueId('')).not.toBe(sets.valueId(null));
  });
});
