import { describe, expect, it } from 'vitest';
import { commitTree, tagTarget } from '../../../src/engine/object/commit.ts';
import { SHA1, SHA256 } from '../../../src/engine/oid.ts';

const parse = (run: (bytes: Uint8Array) => Uint8Array | null, text: string): string | null => {
  const oid = run(Buffer.from(text, 'latin1'));
  return oid === null ? null : Buffer.from(oid).toString('hex');
};

const HEX_DIGITS = '0123456789abcdef0123456789abcdef01234567aaaabbbbccccddddeeeeffff';

describe.each([
  ['commitTree', 'sha1', commitTree, 'tree', SHA1, SHA256],
  ['commitTree', 'sha256', commitTree, 'tree', SHA256, SHA1],
  ['tagTarget', 'sha1', tagTarget, 'object', SHA1, SHA256],
  ['tagTarget', 'sha256', tagTarget, 'object', SHA256, SHA1],
] as const)('%s, %s', (_name, _format, read, key, format, otherFormat) => {
  const HEX = HEX_DIGITS.slice(0, 2 * format.oidBytes);
  const OTHER = HEX_DIGITS.slice(0, 2 * otherFormat.oidBytes);
  const run = (bytes: Uint8Array): Uint8Array | null => read(bytes, format);

  it('takes the id of the first line', () => {
    expect(parse(run, `${key} ${HEX}\n\n`)).toBe(HEX);
    expect(parse(run, `${key} ${HEX}\nauthor A <a> 1 +0000\n\n${key} ${'1'.repeat(40)}\n`)).toBe(HEX);
    expect(parse(run, `${key} ${HEX}\n\xff\0`)).toBe(HEX);
  });

  it.each([
    '',
    key,
    `${key} ${HEX}`,
    `${key} ${HEX} \n`,
    `${key}  ${HEX}\n`,
    `${key} ${HEX.slice(1)}\n`,
    `${key} ${HEX}0\n`,
    `${key} ${OTHER}\n`,
    `${key} ${HEX.toUpperCase()}\n`,
    `${key} ${HEX.slice(1)}g\n`,
    `x${key} ${HEX}\n`,
    `\n${key} ${HEX}\n`,
    `parent ${HEX}\n${key} ${HEX}\n`,
  ])('%j has none', (text) => {
    expect(parse(run, text)).toBeNull();
  });

  it('reads shared memory, and the middle of a buffer', () => {
    const text = Buffer.from(`${key} ${HEX}\n\n`);
    const shared = new Uint8Array(new SharedArrayBuffer(text.length + 8)).subarray(5, 5 + text.length);
    shared.set(text);
    expect(Buffer.from(run(shared)!).toString('hex')).toBe(HEX);
  });

  it('gives bytes of their own', () => {
    const bytes = Buffer.from(`${key} ${HEX}\n\n`);
    const oid = run(bytes)!;
    bytes.fill(0);
    expect(Buffer.from(oid).toString('hex')).toBe(HEX);
  });
});

describe.each([SHA1, SHA256])('a commit of $name', (format) => {
  const HEX = HEX_DIGITS.slice(0, 2 * format.oidBytes);
  const tree = (rest: string): string | null => parse((bytes) => commitTree(bytes, format), `tree ${HEX}\n${rest}`);

  it.each(['\n', `parent ${HEX}\n\n`, `parent ${HEX}\nparent ${HEX}\nauthor`, 'parent abc', `parent ${HEX}`])(
    'may go on with %j',
    (rest) => {
      expect(tree(rest)).toBe(HEX);
    },
  );

  it.each([
    '',
    `parent ${HEX}\n`,
    `parent ${HEX.slice(1)}\n\nmessage`,
    `parent x${HEX.slice(1)}\n\n`,
    `parent ${HEX}x\nmessage`,
    `parent ${HEX}\nparent x${HEX.slice(1)}\n\n`,
  ])('is none for git when it goes on with %j', (rest) => {
    expect(tree(rest)).toBeNull();
  });
});
