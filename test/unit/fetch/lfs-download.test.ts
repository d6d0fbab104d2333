// When path lists have a say about Git LFS files.
import { expect, it } from 'vitest';
import { hasPathLists } from '../../../src/engine/fetch/lfs-download.ts';

it('has path lists where the configuration or .lfsconfig sets one', () => {
  const none = (): undefined => undefined;
  const file = (text: string): Uint8Array => Buffer.from(text);
  expect(hasPathLists(none, null)).toBe(false);
  expect(hasPathLists(none, file('[lfs]\n\turl = x\n'))).toBe(false);
  expect(hasPathLists(none, file('[lfs]\n\tfetchExclude = x\n'))).toBe(true);
  expect(hasPathLists(none, file('[LFS]\nFETCHINCLUDE=x'))).toBe(true);
  expect(hasPathLists((key) => (key === 'lfs.fetchinclude' ? 'a' : undefined), null)).toBe(true);
  expect(hasPathLists((key) => (key === 'lfs.fetchexclude' ? 'a' : undefined), null)).toBe(true);
  // Set to nothing.
  expect(hasPathLists(() => '', null)).toBe(false);
});
