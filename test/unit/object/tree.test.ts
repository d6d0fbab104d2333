import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalMode, TreeCursor } from '../../../src/engine/object/tree.ts';
import { GitRepository, runGit } from '../../support/repository.ts';
import { temporaryFolder } from '../../support/temporary.ts';

interface Entry {
  readonly mode: string;
  readonly name: string;
  readonly oid?: Uint8Array;
}

const OID = Buffer.alloc(20, 0x42);

function treeOf(entries: readonly Entry[]): Buffer {
  return Buffer.concat(
    entries.map(({ mode, name, oid = OID }) => Buffer.concat([Buffer.from(`${mode} ${name}\0`, 'latin1'), oid])),
  );
}

interface Found {
  readonly mode: string;
  readonly canonical: boolean;
  readonly name: string;
  readonly oid: string;
}

/** All entries, or the number of those before the damage. */
function walk(bytes: Uint8Array): Found[] | number {
  const cursor = new TreeCursor(bytes, 20);
  const found: Found[] = [];
  for (;;) {
    const next = cursor.next();
    if (next < 0) {
      expect(cursor.next(), 'damage stays where it is').toBe(-1);
      return found.length;
    }
    if (next === 0) {
      expect(cursor.next()).toBe(0);
      return found;
    }
    found.push({
      mode: cursor.mode.toString(8),
      canonical: cursor.isModeCanonical,
      name: Buffer.from(bytes.subarray(cursor.nameStart, cursor.nameEnd)).toString('latin1'),
      oid: Buffer.from(bytes.subarray(cursor.oidAt, cursor.oidAt + 20)).toString('hex'),
    });
  }
}

describe('TreeCursor', () => {
  it('gives the entries as they stand', () => {
    const other = Buffer.from([...Array(20).keys()]);
    expect(
      walk(
        treeOf([
          { mode: '100644', name: 'a' },
          { mode: '40000', name: 'b c', oid: other },
          { mode: '120000', name: 'd\xff' },
        ]),
      ),
    ).toEqual([
      { mode: '100644', canonical: true, name: 'a', oid: '42'.repeat(20) },
      { mode: '40000', canonical: true, name: 'b c', oid: other.toString('hex') },
      { mode: '120000', canonical: true, name: 'd\xff', oid: '42'.repeat(20) },
    ]);
  });

  it('an empty tree has none', () => {
    expect(walk(new Uint8Array(0))).toEqual([]);
  });

  it('ids may hold any bytes', () => {
    const oid = Buffer.from('100644 x\0'.padEnd(20, '\0'));
    expect(
      walk(
        treeOf([
          { mode: '100644', name: 'a', oid },
          { mode: '100755', name: 'b', oid },
        ]),
      ),
    ).toHaveLength(2);
  });

  it('can be walked again', () => {
    const cursor = new TreeCursor(treeOf([{ mode: '100644', name: 'a' }]), 20);
    for (let round = 0; round < 3; round++) {
      expect(cursor.next()).toBe(1);
      expect(cursor.next()).toBe(0);
      cursor.rewind();
    }
  });

  it.each([
    ['no mode', ' a\0'],
    ['no name', '100644 \0'],
    ['a mode that is not octal', '100648 a\0'],
    ['a mode with a sign', '-100644 a\0'],
    ['no space', '100644\0'],
    ['no NUL', '100644 a'],
    ['a mode without end', `${'1'.repeat(100)} a\0`],
  ])('%s is damage', (_, head) => {
    const bad = Buffer.concat([Buffer.from(head), OID]);
    expect(walk(head.includes('\0') ? bad : Buffer.from(head))).toBe(0);
    expect(walk(Buffer.concat([treeOf([{ mode: '100644', name: 'a' }]), bad]))).toBe(1);
  });

  it('every cut is damage', () => {
    const bytes = treeOf([
      { mode: '100644', name: 'abc' },
      { mode: '40000', name: 'def' },
    ]);
    const first = 7 + 4 + 20;
    for (let length = 0; length < bytes.length; length++) {
      const expected: unknown = length === 0 ? [] : length === first ? expect.any(Array) : length < first ? 0 : 1;
      expect(walk(bytes.subarray(0, length)), `${length} bytes`).toEqual(expected);
    }
  });

  it('says which modes are written in another way than git does', () => {
    const canonical = (mode: string): boolean | undefined => {
      const found = walk(treeOf([{ mode, name: 'a' }]));
      return typeof found === 'number' ? undefined : found[0]?.canonical;
    };
    for (const mode of ['100644', '100755', '120000', '40000', '160000']) expect(canonical(mode), mode).toBe(true);
    for (const mode of ['040000', '0100644', '100664', '100600', '40755', '644', '0', '1100644', '120777']) {
      expect(canonical(mode), mode).toBe(false);
    }
  });

  it('never leaves the bytes, whatever they are', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        const cursor = new TreeCursor(bytes, 20);
        let steps = 0;
        while (cursor.next() === 1) {
          expect(++steps).toBeLessThan(10);
          expect(cursor.nameEnd).toBeGreaterThan(cursor.nameStart);
          expect(cursor.oidAt + 20).toBeLessThanOrEqual(bytes.length);
        }
      }),
    );
  });

  it('gives back what was written', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.record({
            mode: fc.constantFrom('100644', '100755', '120000', '40000', '160000'),
            name: fc
              .uint8Array({ minLength: 1, maxLength: 30 })
              .map((bytes) => Buffer.from(bytes.map((byte) => byte || 1)).toString('latin1')),
            oid: fc.uint8Array({ minLength: 20, maxLength: 20 }),
          }),
          { maxLength: 8 },
        ),
        (entries) => {
          expect(walk(treeOf(entries))).toEqual(
            entries.map(({ mode, name, oid }) => ({
              mode,
              canonical: true,
              name,
              oid: Buffer.from(oid).toString('hex'),
            })),
          );
        },
      ),
    );
  });
});

describe('canonicalMode', () => {
  it.each([
    [0o100644, 0o100644],
    [0o100755, 0o100755],
    [0o100664, 0o100644],
    [0o100600, 0o100644],
    [0o100111, 0o100755],
    [0o100011, 0o100644],
    [0o120777, 0o120000],
    [0o040755, 0o040000],
    [0o160000, 0o160000],
    [0o644, 0o160000],
    [0, 0o160000],
    [0o060644, 0o160000],
    [0o020644, 0o160000],
    [0o140000, 0o160000],
  ])('%o becomes %o', (mode, expected) => {
    expect(canonicalMode(mode)).toBe(expected);
  });

  it('as git lists odd modes', () => {
    const repository = new GitRepository(temporaryFolder('tree'), 'modes');
    const oid = repository.object('blob', 'x');
    const odd = ['100600', '100111', '0100644', '000000100755', '60644', '644', '120777', '2100644', '20100755'];
    const entries = odd.map((mode, i) => ({ mode, name: `f${i}`, oid }));
    const tree = repository.rawTree(entries);
    expect(runGit(repository.directory, ['read-tree', tree]).status).toBe(0);
    const listed = repository
      .text(['ls-files', '-s'])
      .split('\n')
      .map((line) => line.slice(0, 6));
    const found = walk(treeOf(entries.map(({ mode, name }) => ({ mode, name }))));
    expect(typeof found === 'number' ? found : found.map((entry) => entry.mode.padStart(6, '0'))).toEqual(listed);
  });
});
