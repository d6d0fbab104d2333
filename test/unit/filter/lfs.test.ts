/**
 * Git LFS: which text is a pointer, which command is git-lfs's, and where its store is.
 */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { LFS_POINTER_BYTES, lfsPointerOid, lfsPointerSize } from '../../../src/engine/filter/lfs-pointer.ts';
import { lfsCommand, lfsObjectPath, lfsStore } from '../../../src/engine/filter/lfs-store.ts';

const oid = '78cfb46e87e1f7f70713a111e4060e210f3444f489dd5dde382fbbf0a5bcf4be';
const pointer = (size: string, id = oid): string =>
  `version https://git-lfs.github.com/spec/v1\noid sha256:${id}\nsize ${size}\n`;

describe('pointers', () => {
  it.each([
    ['1', 1],
    ['1000', 1000],
    ['999999999999999', 999_999_999_999_999],
  ])('size %s', (text, size) => {
    const content = Buffer.from(pointer(text));
    expect(lfsPointerSize(content)).toBe(size);
    expect(content.length).toBeLessThanOrEqual(LFS_POINTER_BYTES);
    expect(lfsPointerOid(Buffer.concat([Buffer.from('xx'), content]).subarray(2))).toBe(oid);
  });

  // git-lfs 3.3 takes some of these for pointers, others not: they go through it.
  it.each([
    ['nothing', ''],
    ['other text', 'x'.repeat(130)],
    ['size 0', pointer('0')],
    ['a leading zero', pointer('01000')],
    ['a sign', pointer('+1000')],
    ['no size', pointer('')],
    ['a size beyond numbers', pointer('9999999999999999')],
    ['capital digits', pointer('1000', oid.toUpperCase())],
    ['a short id', pointer('1000', oid.slice(1))],
    ['a slash in the id', pointer('1000', `../${oid.slice(3)}`)],
    ['a NUL in the id', pointer('1000', `\0${oid.slice(1)}`)],
    ['no line feed at its end', pointer('1000').slice(0, -1)],
    ['CR LF', pointer('1000').replaceAll('\n', '\r\n')],
    ['more lines', `${pointer('1000')}x 1\n`],
    ['an extension', pointer('1000').replace('\noid', `\next-0-foo sha256:${oid}\noid`)],
    ['another version', pointer('1000').replace('git-lfs', 'hawser')],
    ['spaces before', ` ${pointer('1000')}`],
  ])('not %s', (_, text) => {
    expect(lfsPointerSize(Buffer.from(text, 'latin1'))).toBe(-1);
  });
});

describe('the driver', () => {
  it('is known by the command that git-lfs installs', () => {
    expect(lfsCommand('git-lfs filter-process', true)).toEqual({ skip: false });
    expect(lfsCommand('git-lfs filter-process --skip', true)).toEqual({ skip: true });
    expect(lfsCommand('git-lfs smudge -- %f', false)).toEqual({ skip: false });
    expect(lfsCommand('git-lfs smudge --skip -- %f', false)).toEqual({ skip: true });
    for (const other of ['git-lfs filter-process; rm x', 'my-lfs filter-process', 'git-lfs smudge -- %f', 'cat']) {
      expect(lfsCommand(other, true), other).toBeNull();
    }
    expect(lfsCommand('git-lfs filter-process', false)).toBeNull();
  });
});

describe('the store', () => {
  const commonDir = join('/', 'r', '.git');
  it('is in the common directory, or where lfs.storage says', () => {
    const at = (storage?: string): string | undefined => lfsStore({ storage, commonDir, environment: {} })?.objects;
    expect(at()).toBe(join(commonDir, 'lfs', 'objects'));
    expect(at('other')).toBe(join(commonDir, 'other', 'objects'));
    expect(at(join('/', 'big'))).toBe(join('/', 'big', 'objects'));
    expect(at('~/big')).toBeUndefined();
    const inHome = lfsStore({ storage: '~/big', commonDir, environment: { HOME: join('/', 'home', 'u') } });
    expect(inHome?.objects).toBe(join('/', 'home', 'u', 'big', 'objects'));
    expect(lfsStore({ storage: '~u/big', commonDir, environment: { HOME: '/home/u' } })).toBeNull();
    expect(at('')).toBeUndefined();
  });

  it('is skipped as GIT_LFS_SKIP_SMUDGE says', () => {
    const skip = (value?: string): boolean | undefined =>
      lfsStore({ storage: undefined, commonDir, environment: { GIT_LFS_SKIP_SMUDGE: value } })?.skip;
    for (const value of ['1', 'true', 'T', 'yes', 'ON']) expect(skip(value), value).toBe(true);
    for (const value of [undefined, '', '0', 'false', 'no', 'nonsense']) expect(skip(value), value).toBe(false);
  });

  it('has its objects by the first digits', () => {
    const store = lfsStore({ storage: undefined, commonDir, environment: {} })!;
    expect(lfsObjectPath(store, oid)).toBe(join(commonDir, 'lfs', 'objects', '78', 'cf', oid));
  });
});
