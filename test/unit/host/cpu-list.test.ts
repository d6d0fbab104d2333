import { expect, it } from 'vitest';
import { countCommonCpus, countCpus, parseCpuList } from '../../../src/engine/host/cpu-list.ts';

it.each([
  ['0\n', 1],
  ['0-3', 4],
  ['0-3,8,10-11\n', 7],
  ['', 0],
])('counts %j', (text, count) => {
  expect(countCpus(parseCpuList(text)!)).toBe(count);
});

it.each(['x', '1-', '3-1', '0,,1', '-1'])('refuses %j', (text) => {
  expect(parseCpuList(text)).toBeNull();
});

it.each([
  ['0-7', '0-127', 8],
  ['0-3,8-9', '2-8', 3],
  ['0', '1', 0],
  ['0-3', '', 0],
])('%s and %s have %i in common', (a, b, count) => {
  expect(countCommonCpus(parseCpuList(a)!, parseCpuList(b)!)).toBe(count);
});
