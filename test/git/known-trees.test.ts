/**
 * What an index knows of trees is what git says they are, and a manifest that takes from it is the one that reading makes.
 */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { buildManifest, type Manifest, type ManifestOptions } from '../../src/engine/checkout/manifest.ts';
import { settleOddTrees } from '../../src/engine/checkout/odd-trees.ts';
import type { IndexTable } from '../../src/engine/index/index-table.ts';
import { knownTrees, type KnownTrees } from '../../src/engine/index/known-trees.ts';
import { readIndex } from '../../src/engine/index/parse-index.ts';
import { ObjectDatabase } from '../../src/engine/odb/object-database.ts';
import { oidFromHex, oidToHex, SHA1, SHA256, type ObjectFormat } from '../../src/engine/oid.ts';
import { ALL, NONE, type SparseMatcher } from '../../src/engine/sparse/matcher.ts';
import { randomNumbers } from '../support/random.ts';
import { git, GITLINK_OID, GitRepository, type TreeSpec } from '../support/repository.ts';
import { temporaryFolder } from '../support/temporary.ts';

const folder = temporaryFolder('known-trees');
const repository = new GitRepository(folder, 'repository');

const base: TreeSpec = {
  'a-b/f': 'f',
  'a.b': 'f',
  'a/b/c/one': '1',
  'a/b/c/two': { content: '2', executable: true },
  'a/b.c/f': 'f',
  'a/b0': 'f',
  'a/link': { symlink: 'b0' },
  a0: '0',
  'lib/x/y/z/deep': 'd',
  'lib/sub': { gitlink: GITLINK_OID },
  'long-name-of-a-directory/f': 'f',
  'p/f': 'f',
  'q/f': 'f',
  top: 't',
};
const first = repository.commit(base);
const second = repository.commit({ ...base, 'a/b/c/one': 'other', 'lib/new/f': 'new', 'new/dir/f': 'x', 'p/f': 'p' });

function load(directory: string, format: ObjectFormat = SHA1): IndexTable {
  const index = readIndex(join(directory, '.git', 'index'), format);
  if (index === null) throw new Error('there is no index');
  return index;
}

/** `path id entries` of each known directory, in order. */
function describeTrees(trees: KnownTrees | null): string[] {
  if (trees === null) return [];
  const { index, count } = trees;
  const { oidBytes } = index.format;
  return [...Array(count).keys()]
    .filter((i) => trees.isKnown[i] === 1)
    .map((i) => {
      const start = index.pathOffsets[trees.firstEntry[i]!]!;
      const path = Buffer.from(index.pathBytes.subarray(start, start + trees.pathLength[i]!)).toString();
      return `${path} ${oidToHex(trees.oids, i * oidBytes, oidBytes)} ${trees.entryCount[i]}`;
    });
}

/** The same of a tree, as git has it. */
function treesOfGit(directory: string, tree: string): string[] {
  const lines = git(directory, ['ls-tree', '-r', '-t', tree]).toString().trim().split('\n');
  const rows = lines.map((line) => /^\d+ (\w+) (\w+)\t(.*)$/.exec(line)!.slice(1) as [string, string, string]);
  const files = rows.filter(([type]) => type !== 'tree').map(([, , path]) => path);
  const within = (path: string): number => files.filter((file) => path === '' || file.startsWith(`${path}/`)).length;
  const root = git(directory, ['rev-parse', `${tree}^{tree}`])
    .toString()
    .trim();
  return [['tree', root, ''] as const, ...rows.filter(([type]) => type === 'tree')].map(
    ([, oid, path]) => `${path} ${oid} ${within(path)}`,
  );
}

const startFrom = (commit: string): void => {
  git(repository.directory, ['reset', '-q', '--hard', commit]);
  git(repository.directory, ['checkout', '-qf', '--detach', commit]);
};

describe('what the index knows', () => {
  it.each(['2', '4'])('is what git says, version %s', (version) => {
    startFrom(first.commit);
    git(repository.directory, ['update-index', '--index-version', version]);
    const trees = knownTrees(load(repository.directory));
    expect(describeTrees(trees).sort()).toEqual(treesOfGit(repository.directory, first.commit).sort());
    const at = (path: string): number =>
      treesOfGit(repository.directory, first.commit).findIndex((row) => row.startsWith(`${path} `));
    expect(trees!.height[0]).toBe(5);
    expect(trees!.height[at('a/b')]).toBe(2);
    expect(trees!.end[0]).toBe(trees!.count);
  });

  it('with SHA-256', () => {
    const other = new GitRepository(folder, 'sha256', ['--object-format=sha256']);
    const { 'lib/sub': _, ...spec } = base;
    const { commit } = other.commit(spec);
    git(other.directory, ['checkout', '-qf', '--detach', commit]);
    const trees = knownTrees(load(other.directory, SHA256));
    expect(describeTrees(trees).sort()).toEqual(treesOfGit(other.directory, commit).sort());
  });

  it.each<[string, (directory: string) => void]>([
    [
      'a staged change',
      (directory) => git(directory, ['update-index', '--cacheinfo', `100644,${'1'.repeat(40)},a/b/c/one`]),
    ],
    ['a staged removal', (directory) => git(directory, ['update-index', '--force-remove', 'a/b/c/one'])],
    [
      'an unmerged path',
      (directory) =>
        git(directory, ['update-index', '--index-info'], {
          input: `0 ${'0'.repeat(40)}\ta/b/c/one\n100644 ${'1'.repeat(40)} 1\ta/b/c/one\n100644 ${'1'.repeat(40)} 2\ta/b/c/one\n`,
        }),
    ],
  ])('is nothing about directories with %s', (_, change) => {
    startFrom(first.commit);
    change(repository.directory);
    const unknown = ['', 'a', 'a/b', 'a/b/c'];
    const expected = treesOfGit(repository.directory, first.commit).filter(
      (row) => !unknown.includes(row.split(' ')[0]!),
    );
    expect(describeTrees(knownTrees(load(repository.directory))).sort()).toEqual(expected.sort());
  });

  it('never is believed where it does not fit the entries', () => {
    startFrom(first.commit);
    const index = load(repository.directory);
    const { bytes } = index.extensions.find(({ signature }) => signature === 'TREE')!;
    const random = randomNumbers(5);
    let damaged = 0;
    for (let round = 0; round < 2000; round++) {
      const changed = bytes.slice(0, round % 4 === 0 ? random(bytes.length + 1) : bytes.length);
      for (let n = random(4); n > 0 && changed.length > 0; n--) changed[random(changed.length)] = random(256);
      const trees = knownTrees({ ...index, extensions: [{ signature: 'TREE', bytes: changed }] });
      if (trees === null) damaged++;
      else {
        // Whatever it says, ranges are those of the entries themselves.
        const whole = knownTrees(index)!;
        for (const of of ['parent', 'firstEntry', 'entryCount', 'end', 'directoryOf'] as const) {
          expect(trees[of]).toEqual(whole[of]);
        }
      }
    }
    expect(damaged).toBeGreaterThan(200);
    const tooMany = Buffer.from(`\0${index.count} 4294967295\n${'x'.repeat(20)}`, 'latin1');
    expect(knownTrees({ ...index, extensions: [{ signature: 'TREE', bytes: tooMany }] })).toBeNull();
    expect(knownTrees({ ...index, extensions: [] })).toBeNull();
  });
});

describe('a manifest that takes from it', () => {
  /** With the number of trees that were read. */
  function build(tree: string, known: KnownTrees | null, options: Partial<ManifestOptions> = {}): [Manifest, number] {
    const odb = ObjectDatabase.open([join(repository.gitDir, 'objects')], SHA1, () => undefined);
    let reads = 0;
    const read = odb.read.bind(odb);
    odb.read = (...args: Parameters<typeof read>) => {
      reads++;
      return read(...args);
    };
    try {
      const manifest = buildManifest(odb, oidFromHex(tree), {
        rules: { ntfs: true, hfs: false, windows: false },
        maxPathBytes: 4000,
        conversions: null,
        ...(known === null ? {} : { known }),
        ...options,
      });
      return [manifest.isOdd ? settleOddTrees(manifest, null, null) : manifest, reads];
    } finally {
      odb.close();
    }
  }

  const shape = ({ tables, directories, needsGit }: Manifest): unknown => ({
    needsGit,
    entries: [...Array(tables.count).keys()].map((i) => [
      Buffer.from(tables.pathBytes.subarray(tables.pathOffsets[i], tables.pathOffsets[i + 1])).toString('latin1'),
      tables.modes[i],
      oidToHex(tables.oids, 20 * i, 20),
      tables.directories[i],
      tables.states[i],
    ]),
    directories: [...Array(directories.count).keys()].map((i) => [
      directories.parent[i],
      directories.pathLength[i],
      directories.firstEntry[i],
      directories.entryCount[i],
      directories.irregular[i],
      oidToHex(directories.oids, 20 * i, 20),
    ]),
  });

  const treeOf = (commit: string): string =>
    git(repository.directory, ['rev-parse', `${commit}^{tree}`])
      .toString()
      .trim();
  const indexOf = (commit: string): KnownTrees => {
    startFrom(commit);
    return knownTrees(load(repository.directory))!;
  };

  it('is the same, and reads what is new only', () => {
    const known = indexOf(first.commit);
    for (const [commit, most] of [
      // The root is always read.
      [first.commit, 1],
      // And a, a/b, a/b/c, lib, lib/new, new, new/dir, p.
      [second.commit, 9],
    ] as const) {
      const [read, all] = build(treeOf(commit), null);
      const [taken, reads] = build(treeOf(commit), known);
      expect(shape(taken)).toEqual(shape(read));
      expect(reads).toBe(most);
      expect(all).toBeGreaterThan(10);
    }
  });

  it('of trees in no order', () => {
    const known = indexOf(first.commit);
    const oid = (path: string): string =>
      git(repository.directory, ['rev-parse', `${first.commit}:${path}`])
        .toString()
        .trim();
    const dir = (name: string, path = name): { mode: string; name: string; oid: string } => ({
      mode: '40000',
      name,
      oid: oid(path),
    });
    for (const entries of [
      [dir('q'), dir('lib'), dir('a'), dir('p')],
      [dir('p', 'q'), dir('p'), dir('lib'), dir('lib', 'a')],
      [{ mode: '100644', name: 'lib', oid: oid('top') }, dir('lib'), { mode: '100644', name: 'lib', oid: oid('top') }],
      [dir('elsewhere', 'lib'), dir('lib', 'lib/x'), dir('q', 'p')],
    ]) {
      const tree = repository.rawTree(entries);
      expect(shape(build(tree, known)[0])).toEqual(shape(build(tree, null)[0]));
    }
  });

  it('keeps to the bounds, the names and the sparse checkout', () => {
    const known = indexOf(first.commit);
    const tree = treeOf(first.commit);
    for (const bound of [{ maxDepth: 4 }, { maxEntries: 9 }, { maxDirectories: 9 }] as const) {
      const messages = [null, known].map((trees) => {
        try {
          build(tree, trees, bound);
          return 'no error';
        } catch (error) {
          return String(error);
        }
      });
      expect(messages[1]).toBe(messages[0]);
      expect(messages[0]).not.toBe('no error');
    }
    expect(shape(build(tree, known, { maxDepth: 5, maxEntries: 14, maxDirectories: 13 })[0])).toEqual(
      shape(build(tree, null)[0]),
    );
    expect(build(tree, known, { maxPathBytes: 13 })[0].needsGit).toEqual(
      build(tree, null, { maxPathBytes: 13 })[0].needsGit,
    );
    expect(build(tree, known, { maxPathBytes: 13 })[0].needsGit).toHaveLength(1);

    // Inside: a and what is in lib that begins with x.
    const starts = (path: Uint8Array, start: number, text: string): boolean =>
      Buffer.from(path.subarray(start, start + text.length)).toString() === text;
    const SOME = 2 as ReturnType<SparseMatcher['directory']>;
    const sparse: SparseMatcher = {
      root: SOME,
      directory: (path, from, length) => {
        const name = Buffer.from(path.subarray(from, length)).toString();
        return name === 'a' || name === 'x' ? ALL : name === 'lib' ? SOME : NONE;
      },
      includes: (path, start) => starts(path, start, 'top'),
    };
    const [read] = build(tree, null, { sparse });
    const [taken, reads] = build(tree, known, { sparse });
    expect(shape(taken)).toEqual(shape(read));
    expect(reads).toBe(2);
  });

  it('refuses names as they would be in trees', () => {
    const inside = repository.rawTree([{ mode: '100644', name: 'GIT~1', oid: repository.object('blob', 'x') }]);
    const tree = repository.rawTree([
      { mode: '40000', name: 'd', oid: repository.rawTree([{ mode: '40000', name: 'e', oid: inside }]) },
    ]);
    git(repository.directory, ['-c', 'core.protectNTFS=false', 'read-tree', tree]);
    const known = knownTrees(load(repository.directory))!;
    expect(known.isKnown[1]).toBe(1);
    expect(() => build(tree, known)).toThrow(/refusing to check out 'd\/e\/GIT~1'/);
    expect(build(tree, known, { rules: { ntfs: false, hfs: false, windows: false } })[1]).toBe(1);
  });
});
