import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  buildManifest,
  type ConversionLookup,
  type Manifest,
  type ManifestOptions,
} from '../../../src/engine/checkout/manifest.ts';
import { CheckoutError } from '../../../src/engine/errors.ts';
import { ObjectDatabase } from '../../../src/engine/odb/object-database.ts';
import { oidFromHex, SHA1 } from '../../../src/engine/oid.ts';
import { plainEntry, TREE, writePack } from '../../support/pack-writer.ts';
import { GitRepository, GITLINK_OID, sortedEntries, utf8, type RawEntry } from '../../support/repository.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const folder = temporaryFolder('manifest');
const repository = new GitRepository(folder, 'repository');
const objects = join(repository.gitDir, 'objects');
const blob = repository.object('blob', 'content');

class Recorder implements ConversionLookup {
  readonly calls: string[] = [];
  enterDirectory(tree: { next(): number }, path: Uint8Array): void {
    // Whoever looks through the tree may leave the cursor anywhere.
    tree.next();
    this.calls.push(`> ${Buffer.from(path).toString('latin1')}`);
  }
  leaveDirectory(): void {
    this.calls.push('<');
  }
  lookUp(path: Uint8Array, start: number, end: number): number {
    const text = Buffer.from(path.subarray(start, end)).toString('latin1');
    this.calls.push(text);
    return text.endsWith('.txt') ? 7 : 0;
  }
}

function build(tree: string, options: Partial<ManifestOptions> = {}, directory = objects): Manifest {
  const odb = ObjectDatabase.open([directory], SHA1, () => undefined);
  try {
    return buildManifest(odb, oidFromHex(tree), {
      rules: { ntfs: true, hfs: false, windows: false },
      maxPathBytes: 4000,
      conversions: new Recorder(),
      ...options,
    });
  } finally {
    odb.close();
  }
}

const entriesOf = ({ tables }: Manifest): string[] =>
  [...Array(tables.count).keys()].map((i) => {
    const path = Buffer.from(tables.pathBytes.subarray(tables.pathOffsets[i], tables.pathOffsets[i + 1]));
    const oid = Buffer.from(tables.oids.subarray(20 * i, 20 * i + 20)).toString('hex');
    return `${tables.modes[i]!.toString(8)} ${oid} 0\t${path.toString('latin1')}`;
  });

const directoriesOf = ({ directories, tables }: Manifest): string[] =>
  [...Array(directories.count).keys()].map((i) => {
    const start = tables.pathOffsets[directories.firstEntry[i]!]!;
    const path = Buffer.from(tables.pathBytes.subarray(start, start + directories.pathLength[i]!));
    return `${path.toString('latin1')}:${directories.parent[i]}:${directories.firstEntry[i]}+${directories.entryCount[i]}`;
  });

function refusal(run: () => unknown): CheckoutError {
  try {
    run();
  } catch (error) {
    expect(error).toBeInstanceOf(CheckoutError);
    expect((error as CheckoutError).message).not.toContain('\n');
    return error as CheckoutError;
  }
  throw new Error('it was not refused');
}

const file = (name: string, mode = '100644'): RawEntry => ({ mode, name, oid: blob });
const directory = (name: string, oid: string): RawEntry => ({ mode: '40000', name, oid });

/** Ids of trees that are in a pack under names of our choice. */
const made = (i: number): string => (i + 1).toString(16).padStart(40, '0');

/** An object directory with a pack of these trees, the first one being `made(0)`. */
function packOfTrees(name: string, trees: readonly (readonly RawEntry[])[]): string {
  const place = join(folder, name);
  writePack(
    place,
    trees.map((entries, i) => ({
      oid: made(i),
      bytes: plainEntry(
        TREE,
        Buffer.concat(
          entries.flatMap((entry) => [
            Buffer.from(`${entry.mode} ${entry.name}\0`, 'latin1'),
            Buffer.from(entry.oid, 'hex'),
          ]),
        ),
      ),
    })),
  );
  return place;
}

describe('tables', () => {
  it('are those of git’s index', () => {
    const { tree } = repository.commit({
      a: 'x',
      'a.b/c': { content: 'y', executable: true },
      'a/b': 'x',
      'a/d/e/f/g': 'x',
      'a-b': { symlink: 'a' },
      [utf8('é/ü')]: 'x',
      'sub/module': { gitlink: GITLINK_OID },
      'z\xff\x01': 'x',
    });
    repository.git(['read-tree', tree]);
    const manifest = build(tree);
    const listed = repository.git(['-c', 'core.quotePath=false', 'ls-files', '-s', '-z']).toString('latin1');
    expect(entriesOf(manifest)).toEqual(listed.split('\0').slice(0, -1));
    expect([manifest.needsGit, manifest.isOdd]).toEqual([[], false]);
  });

  it('say which directory each entry is in', () => {
    const { tree } = repository.commit({ 'a/b/c': 'x', 'a/d': 'x', 'e/f': 'x', g: 'x' });
    const manifest = build(tree);
    expect(directoriesOf(manifest)).toEqual([':-1:0+4', 'a:0:0+2', 'a/b:1:0+1', 'e:0:2+1']);
    expect([...manifest.tables.directories.subarray(0, 4)]).toEqual([2, 1, 3, 0]);
    const oids = [...Array(4).keys()].map((i) =>
      Buffer.from(manifest.directories.oids.subarray(20 * i, 20 * i + 20)).toString('hex'),
    );
    expect(oids).toEqual(repository.text(['rev-parse', tree, `${tree}:a`, `${tree}:a/b`, `${tree}:e`]).split('\n'));
  });

  it('have the conversion of each regular file', () => {
    const { tree } = repository.commit({
      'a.txt': 'x',
      'b/c.txt': 'x',
      'b/d': 'x',
      'link.txt': { symlink: 'a.txt' },
      'module.txt': { gitlink: GITLINK_OID },
    });
    const conversions = new Recorder();
    const { tables } = build(tree, { conversions });
    expect([...tables.conversions.subarray(0, tables.count)]).toEqual([7, 7, 0, 0, 0]);
    expect(conversions.calls).toEqual(['> ', 'a.txt', '> b', 'b/c.txt', 'b/d', '<', '<']);
  });

  it('an empty tree', () => {
    const manifest = build(repository.object('tree', ''));
    expect([manifest.tables.count, manifest.directories.count, manifest.isOdd]).toEqual([0, 1, false]);
  });

  it('grow with entries, paths, directories and names', () => {
    const spec: Record<string, string> = {};
    for (let i = 0; i < 1500; i++) spec[`d${i}/${'n'.repeat(40)}/f${i}`] = 'x';
    spec[`long/${'l'.repeat(3000)}/${'m'.repeat(3000)}/${'n'.repeat(60_000)}`] = 'x';
    const { tree } = repository.commit(spec);
    const manifest = build(tree, { maxPathBytes: 100_000 });
    expect(entriesOf(manifest).map((line) => line.slice(line.indexOf('\t') + 1))).toEqual(Object.keys(spec).sort());
    expect(manifest.directories.count).toBe(3004);
    expect(manifest.needsGit).toEqual([]);
  });
});

describe('what is left to odd-trees.ts', () => {
  const odd = (entries: readonly RawEntry[]): boolean => build(repository.rawTree(entries)).isOdd;
  const inner = repository.rawTree([file('x')]);

  it('trees out of order', () => {
    expect(odd([file('b'), file('a')])).toBe(true);
    expect(odd([directory('a', inner), file('a.b')])).toBe(true);
    expect(odd([file('a0'), directory('a', inner)])).toBe(true);
    expect(odd([file('b'), file('a'), file('d'), file('c')])).toBe(true);
  });

  it('not those in order, as git orders them', () => {
    const names = ['a', 'a-b', 'a.b', 'a0', 'ab', 'abc', 'b', 'A', '\xff', '\x01'];
    expect(odd(sortedEntries(names.map((name) => file(name))))).toBe(false);
    expect(odd(sortedEntries(names.map((name) => directory(name, inner))))).toBe(false);
    expect(odd([file('a.b'), directory('a', inner), file('a0')])).toBe(false);
  });

  it('names that are there twice', () => {
    expect(odd([file('a'), file('a')])).toBe(true);
    expect(odd([directory('a', inner), directory('a', inner)])).toBe(true);
  });

  it('a file and a directory of one name, wherever they lie', () => {
    expect(odd([file('a'), directory('a', inner)])).toBe(true);
    expect(odd([file('a'), file('a.b'), directory('a', inner)])).toBe(true);
    expect(odd([file('a'), file('a-'), file('a-b'), file('a.'), directory('a', inner), file('b')])).toBe(true);
    expect(odd([file('a', '120000'), file('a-x', '160000'), directory('a', inner)])).toBe(true);
    expect(odd([file('a'), file('a-'), directory('a-', inner), file('a.x'), directory('a', inner)])).toBe(true);
  });

  it('not where names only begin alike', () => {
    expect(odd([file('a'), file('a-'), directory('a.', inner), directory('ab', inner), directory('b', inner)])).toBe(
      false,
    );
  });

  it('names with a slash', () => {
    expect(odd([file('a/b')])).toBe(true);
    expect(odd([directory('a/b', inner)])).toBe(true);
  });
});

describe('what is left to git', () => {
  const needs = (entries: readonly RawEntry[], options: Partial<ManifestOptions> = {}): readonly string[] =>
    build(repository.rawTree(entries), options).needsGit;
  const inner = repository.rawTree([file('x')]);

  it('paths that are too long to be opened', () => {
    expect(needs([directory('a'.repeat(50), inner)], { maxPathBytes: 52 })).toEqual([]);
    expect(needs([directory('a'.repeat(50), inner)], { maxPathBytes: 51 })).toEqual([
      'a path is too long to be opened by its absolute name',
    ]);
  });
});

describe('the cache tree', () => {
  /** Of which directories, by number, nobody may vouch for the id. */
  const irregular = (entries: readonly RawEntry[]): number[] => {
    const { directories } = build(repository.rawTree(entries));
    return [...directories.irregular.subarray(0, directories.count)];
  };

  it('is not vouched for where git would write other trees, there and above', () => {
    const empty = repository.object('tree', '');
    const inner = repository.rawTree([file('x')]);
    const odd = repository.rawTree([file('x', '100664')]);
    expect(irregular([file('a'), directory('b', inner)])).toEqual([0, 0]);
    expect(irregular([file('a'), directory('b', empty)])).toEqual([1, 0]);
    expect(irregular([directory('b', repository.rawTree([directory('c', empty)])), directory('d', inner)])).toEqual([
      1, 1, 0, 0,
    ]);
    expect(irregular([file('a', '100664'), directory('d', inner)])).toEqual([1, 0]);
    expect(irregular([directory('a', inner), directory('b', odd), directory('c', inner)])).toEqual([1, 0, 1, 0]);
    expect(irregular([{ mode: '040000', name: 'a', oid: inner }])).toEqual([1, 0]);
  });
});

describe('refusals', () => {
  const refused = (entries: readonly RawEntry[], options: Partial<ManifestOptions> = {}): CheckoutError =>
    refusal(() => build(repository.rawTree(entries), options));

  it('names that must not be checked out, with their whole path', () => {
    for (const name of ['.git', '.GIT', '..', '.', 'git~1']) {
      const inner = repository.rawTree([file(name)]);
      const error = refused([directory('d', repository.rawTree([directory('e', inner)]))]);
      expect(error).toMatchObject({ code: 'path-invalid', subject: { path: `d/e/${name}` } });
      expect(error.message).toContain(`d/e/${name}`);
      expect(refused([directory(name, repository.rawTree([file('x')]))]).code).toBe('path-invalid');
    }
    expect(refused([file('.gitmodules', '120000')]).code).toBe('path-invalid');
    expect(build(repository.rawTree([file('.gitmodules')])).tables.count).toBe(1);
  });

  it('by the rules that it is given', () => {
    const rules = { ntfs: false, hfs: false, windows: false };
    expect(build(repository.rawTree([file('git~1')]), { rules }).tables.count).toBe(1);
    expect(refused([file('a:b')], { rules: { ...rules, windows: true } }).code).toBe('path-invalid');
    expect(
      refused([file('.g\u200cit'.replace('\u200c', '\xe2\x80\x8c'))], { rules: { ...rules, hfs: true } }).code,
    ).toBe('path-invalid');
  });

  it('what is no tree, or a damaged one', () => {
    expect(refusal(() => build(blob))).toMatchObject({ code: 'tree-invalid', subject: { oid: blob } });
    expect(refused([directory('d', blob)])).toMatchObject({ code: 'tree-invalid', subject: { oid: blob } });
    const damaged = repository.object('tree', '100644 a\0short');
    expect(refused([file('a'), directory('d', damaged)])).toMatchObject({
      code: 'tree-invalid',
      message: "the tree of 'd/' is damaged",
    });
    expect(refusal(() => build(damaged)).message).toBe('the root tree is damaged');
    expect(refused([directory('d', repository.rawTree([file('')]))]).code).toBe('tree-invalid');
  });

  it('trees that are missing, by path and id', () => {
    const error = refused([directory('d', repository.rawTree([directory('e', '12'.repeat(20))]))]);
    expect(error).toMatchObject({ code: 'object-missing', subject: { path: 'd/e', oid: '12'.repeat(20) } });
    const root = refusal(() => build('34'.repeat(20)));
    expect(root.message).toBe(`cannot read the root tree: object ${'34'.repeat(20)} is missing`);
  });

  it('trees that are too deep', () => {
    let tree = repository.rawTree([file('x')]);
    for (let i = 1; i < 10; i++) tree = repository.rawTree([directory('d', tree)]);
    expect(build(tree, { maxDepth: 10 }).directories.count).toBe(10);
    const error = refusal(() => build(tree, { maxDepth: 9 }));
    expect(error).toMatchObject({ code: 'tree-too-deep', subject: { path: Array(9).fill('d').join('/') } });
  });

  it('as deep as git by default, without running out of stack', () => {
    const DEPTH = 2048;
    const place = packOfTrees(
      'deep',
      Array.from({ length: DEPTH + 1 }, (_, i) => [i === DEPTH ? file('x') : directory('d', made(i + 1))]),
    );
    expect(build(made(1), { maxPathBytes: 10_000 }, place).directories.count).toBe(DEPTH);
    expect(refusal(() => build(made(0), {}, place)).code).toBe('tree-too-deep');
  });

  it('trees that contain themselves, which only a false index can bring about', () => {
    const place = packOfTrees('cycles', [
      [directory('again', made(0))],
      [directory('one', made(2))],
      [file('a'), directory('two', made(1))],
      // The same tree side by side is none of that.
      [directory('a', made(4)), directory('b', made(4))],
      [file('f')],
    ]);
    expect(refusal(() => build(made(0), {}, place))).toMatchObject({
      code: 'tree-invalid',
      message: "the tree of 'again/' contains itself",
    });
    expect(refusal(() => build(made(1), {}, place))).toMatchObject({
      code: 'tree-invalid',
      message: "the tree of 'one/two/' contains itself",
    });
    expect(build(made(3), {}, place).tables.count).toBe(2);
  });
});

describe('trees that name others again and again', () => {
  // Ten levels of ten: ten thousand million files in eleven objects.
  let bomb = repository.rawTree([file('f')]);
  let empty = repository.object('tree', '');
  for (let level = 0; level < 10; level++) {
    const names = [...Array(10).keys()].map((i) => `d${i}`);
    bomb = repository.rawTree(names.map((name) => directory(name, bomb)));
    empty = repository.rawTree(names.map((name) => directory(name, empty)));
  }

  it('are bounded by their entries', () => {
    const error = refusal(() => build(bomb, { maxEntries: 2000, maxDirectories: Infinity }));
    expect(error).toMatchObject({ code: 'tree-invalid', message: 'the root tree has more than 2000 entries' });
    expect(refusal(() => build(bomb)).message).toBe('the root tree has more than 4000000 directories');
  });

  it('are bounded by their directories, where there are no entries', () => {
    const error = refusal(() => build(empty, { maxDirectories: 2000 }));
    expect(error).toMatchObject({ code: 'tree-invalid', message: 'the root tree has more than 2000 directories' });
  });

  it('are found out before much was made of them', () => {
    for (const [tree, bound] of [
      [bomb, { maxEntries: 16_000, maxDirectories: Infinity }],
      [empty, { maxDirectories: 16_000 }],
    ] as const) {
      const conversions = new Recorder();
      expect(refusal(() => build(tree, { ...bound, conversions })).code).toBe('tree-invalid');
      expect(conversions.calls.length).toBeLessThan(4000);
    }
  });

  it('are taken up to the bounds', () => {
    const small = repository.rawTree(['a', 'b'].map((name) => directory(name, repository.rawTree([file('f')]))));
    expect(build(small, { maxEntries: 2, maxDirectories: 3 }).tables.count).toBe(2);
    expect(refusal(() => build(small, { maxEntries: 1 })).code).toBe('tree-invalid');
    expect(refusal(() => build(small, { maxDirectories: 2 })).code).toBe('tree-invalid');
  });
});

describe('many', () => {
  it('is told once, when so many regular files are known', () => {
    const { tree } = repository.commit({
      a: 'x',
      b: { symlink: 'a' },
      c: 'x',
      d: { gitlink: GITLINK_OID },
      e: 'x',
      f: 'x',
    });
    for (const [files, times] of [
      [1, 1],
      [4, 1],
      [5, 0],
    ] as const) {
      let told = 0;
      build(tree, { many: { files, notify: () => told++ } });
      expect(told, `${files}`).toBe(times);
    }
  });
});
