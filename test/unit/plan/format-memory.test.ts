import { expect, it } from 'vitest';
import { formatMemory } from '../../../src/engine/plan/memory.ts';

it.each([
  [0, '0 bytes'],
  [1023, '1023 bytes'],
  [1024, '1 KiB'],
  [1536, '1.5 KiB'],
  [2 ** 20 - 1, '1023 KiB'],
  [22 * 2 ** 20, '22 MiB'],
  [1.99 * 2 ** 30, '1.9 GiB'],
  [256 * 2 ** 30, '256 GiB'],
  [2 ** 60, '1024 PiB'],
])('%d is shown as %s', (bytes, text) => {
  expect(formatMemory(bytes)).toBe(text);
});
