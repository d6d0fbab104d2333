/**
 * Where objects are found: by multi-pack indexes, in more packs than may be open, in place of others, at a second look while another
 * process repacks, and in good copies beside damaged ones.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { checkout } from '../../../src/engine/engine.ts';
import { ObjectDatabase } from '../../../src/engine/odb/object-database.ts';
import { layerName, multiPackIndex } from '../../support/multi-pack-index-writer.ts';
import { expectSameAsGit, FEW_MODES } from '../../support/oracle.ts';
import { runOurs } from '../../support/ours.ts';
import { programPath } from '../../support/programs.ts';
import { BLOB, plainEntry, writePack } from '../../support/pack-writer.ts';
import { GitRepository, type Commit } from '../../support/repository.ts';
import { randomBytes } from '../../support/random.ts';
import { memoryFolder, temporaryFolder } from '../../support/temporary.ts';

const folder = temporaryFolder('object-sources', memoryFolder());
const PACKS = 520;

const blobId = (content: string | Uint8Array): string =>
  createHash('sha1')
    .update(`blob ${Buffer.byteLength(content)}\0`)
    .update(content)
    .digest('hex');

let made = 0;

/** A copy of a repository to be spoilt at will. */
function copyOf(repository: GitRepository): GitRepository {
  const copy = new GitRepository(join(folder, `case-${made++}`));
  rmSync(copy.gitDir, { recursive: true });
  cpSync(repository.gitDir, copy.gitDir, { recursive: true, preserveTimestamps: true });
  return copy;
}

/** A commit of files that are each in a pack of their own; its trees are loose. */
function scattered(count: number): { repository: GitRepository; commit: Commit; packs: string } {
  const repository = new GitRepository(join(folder, `scattered-${count}`));
  const entries = [...Array(count).keys()].map((i) => {
    const content = `content of ${i}\n`;
    const oid = blobId(content);
    writePack(join(repository.gitDir, 'objects'), [{ oid, bytes: plainEntry(BLOB, Buffer.from(content)) }]);
    return { mode: '100644', name: `file-${String(i).padStart(4, '0')}`, oid };
  });
  const commit = repository.rawCommit(repository.rawTree(entries));
  return { repository, commit, packs: join(repository.gitDir, 'objects', 'pack') };
}

let few: ReturnType<typeof scattered>;
let many: ReturnType<typeof scattered>;

beforeAll(() => {
  few = scattered(50);
  many = scattered(PACKS);
});

afterEach(() => {
  vi.restoreAllMocks();
});

/** Names of packs without ending, sorted. */
function packNames(packs: string): string[] {
  return readdirSync(packs)
    .filter((name) => name.endsWith('.idx'))
    .map((name) => name.slice(0, -4))
    .sort();
}

/** The objects of packs, as a multi-pack index has them. */
function objectsOf(packs: string, names: readonly string[]): { oid: string; pack: number; offset: number }[] {
  return names.flatMap((name, pack) => {
    const listed = execFileSync('git', ['show-index'], { input: readFileSync(join(packs, `${name}.idx`)) });
    return listed
      .toString()
      .trim()
      .split('\n')
      .map((line) => {
        const [offset, oid] = line.split(' ');
        return { oid: oid!, pack, offset: Number(offset) };
      });
  });
}

function writeChain(packs: string, layers: readonly Buffer[]): void {
  const chain = join(packs, 'multi-pack-index.d');
  mkdirSync(chain);
  for (const layer of layers) writeFileSync(join(chain, `multi-pack-index-${layerName(layer)}.midx`), layer);
  writeFileSync(join(chain, 'multi-pack-index-chain'), layers.map((layer) => `${layerName(layer)}\n`).join(''));
}

describe('multi-pack indexes', () => {
  const packsOf = (repository: GitRepository): string => join(repository.gitDir, 'objects', 'pack');

  /** How many indexes of packs were read from, told by the packs that got a number, and what was warned of. */
  async function ours(repository: GitRepository): Promise<{ warnings: readonly string[]; files: number }> {
    const run = await runOurs({
      directory: repository.directory,
      target: { kind: 'detach', revision: few.commit.commit },
    });
    expect(run.report.error).toBeUndefined();
    expect(run.report.engine).toBe('native');
    expect(spawnSync('git', ['status', '--porcelain'], { cwd: repository.directory }).stdout.toString()).toBe('');
    return { warnings: run.warnings, files: run.report.totals.files };
  }

  it('of version 1, by git, over 50 packs', async () => {
    const repository = copyOf(few.repository);
    repository.git(['multi-pack-index', 'write']);
    await expectSameAsGit({ repository, revision: few.commit.commit });
  });

  it('are what is looked into: indexes of packs that are not needed are not opened', async () => {
    const repository = copyOf(few.repository);
    const other = repository.commit({ other: 'file\n' });
    repository.git(['multi-pack-index', 'write']);
    const packs = packsOf(repository);
    for (const name of packNames(few.packs)) {
      rmSync(join(packs, `${name}.idx`));
      writeFileSync(join(packs, `${name}.idx`), 'no index');
    }
    const run = await runOurs({ directory: repository.directory, target: { kind: 'detach', revision: other.commit } });
    expect([run.report.error, run.warnings]).toEqual([undefined, []]);
    expect(readFileSync(join(repository.directory, 'other'), 'utf8')).toBe('file\n');
  });

  it('of version 2 with names out of order, large offsets in a table, and packs beside it', async () => {
    const repository = copyOf(few.repository);
    const packs = packsOf(repository);
    const names = packNames(packs).slice(0, 40).reverse();
    const objects = objectsOf(packs, names);
    writeFileSync(
      join(packs, 'multi-pack-index'),
      multiPackIndex({ version: 2, packs: names, objects, largeFrom: 12 }),
    );
    expect(await ours(repository)).toEqual({ warnings: [], files: 50 });
  });

  it('in an incremental chain, each layer with numbers of its own', async () => {
    const repository = copyOf(few.repository);
    const packs = packsOf(repository);
    const names = packNames(packs);
    const layers = [names.slice(0, 20), names.slice(20, 21), names.slice(21)].map((part, i) =>
      multiPackIndex({ version: 1 + (i % 2), packs: part, objects: objectsOf(packs, part) }),
    );
    writeChain(packs, layers);
    // Each object must come by the chain: this would be found at once otherwise.
    const find = vi.spyOn(ObjectDatabase.prototype, 'findAgain');
    expect(await ours(repository)).toEqual({ warnings: [], files: 50 });
    expect(find).not.toHaveBeenCalled();
  });

  it.each<[string, (packs: string, good: Buffer) => void, boolean]>([
    ['cut off', (packs, good) => writeFileSync(join(packs, 'multi-pack-index'), good.subarray(0, 900)), true],
    [
      'of another hash function',
      (packs) =>
        writeFileSync(join(packs, 'multi-pack-index'), multiPackIndex({ hashNumber: 2, packs: [], objects: [] })),
      true,
    ],
    [
      'that names packs that are not there',
      (packs) => {
        const objects = objectsOf(packs, packNames(packs)).map((object) => ({ ...object, pack: 0 }));
        writeFileSync(join(packs, 'multi-pack-index'), multiPackIndex({ packs: ['pack-gone'], objects }));
      },
      false,
    ],
    [
      'with wrong offsets',
      (packs) => {
        const names = packNames(packs);
        const objects = objectsOf(packs, names).map((object, i) => ({ ...object, offset: i % 2 === 0 ? 13 : 2 ** 40 }));
        writeFileSync(join(packs, 'multi-pack-index'), multiPackIndex({ packs: names, objects }));
      },
      false,
    ],
    [
      'in a chain with a layer missing',
      (packs, good) => {
        writeChain(packs, [good]);
        rmSync(join(packs, 'multi-pack-index.d', `multi-pack-index-${layerName(good)}.midx`));
      },
      true,
    ],
    [
      'in a chain under a wrong name',
      (packs, good) => {
        const other = Buffer.from(good);
        other[other.length - 1]! ^= 1;
        writeChain(packs, [other]);
        writeFileSync(join(packs, 'multi-pack-index.d', `multi-pack-index-${layerName(other)}.midx`), good);
      },
      true,
    ],
    [
      'in a chain that is none',
      (packs) => {
        writeChain(packs, []);
        writeFileSync(join(packs, 'multi-pack-index.d', 'multi-pack-index-chain'), '../../../etc/passwd\n');
      },
      true,
    ],
  ])('%s: each pack has its own index', async (_, spoil, warns) => {
    const repository = copyOf(few.repository);
    const packs = packsOf(repository);
    const names = packNames(packs);
    spoil(packs, multiPackIndex({ packs: names, objects: objectsOf(packs, names.slice(0, 5)) }));
    const { warnings, files } = await ours(repository);
    expect(files).toBe(50);
    expect(warnings.length).toBe(warns ? 1 : 0);
    if (warns) expect(warnings[0]).toMatch(/multi-pack-index.*; it is ignored, as each pack has an index of its own$/);
  });
});

describe(`${PACKS} packs`, () => {
  it('are read like one', async () => {
    await expectSameAsGit({ repository: many.repository, revision: many.commit.commit, modes: FEW_MODES, fsck: false });
  }, 60_000);

  it.runIf(process.platform === 'linux')('with few files that may be open', () => {
    const { directory } = copyOf(many.repository);
    const program = programPath('cli');
    const { status, stderr } = spawnSync(
      'sh',
      [
        '-c',
        'ulimit -n 96 && exec "$0" "$@"',
        process.execPath,
        program,
        'checkout',
        many.commit.commit,
        '--workers',
        '2',
        '--engine',
        'native',
        '-c',
        'checkout.thresholdForParallelism=0',
      ],
      { cwd: directory, encoding: 'utf8' },
    );
    expect([status, stderr.match(/error|warning|EMFILE/)]).toEqual([0, null]);
    expect(spawnSync('git', ['status', '--porcelain'], { cwd: directory }).stdout.toString()).toBe('');
  });
});

describe('another process repacks', () => {
  /** Does something once, between the moment when all objects were found and the moment when workers begin to read, in this file's engine. */
  function onceFound(action: () => void): void {
    const original = Object.getOwnPropertyDescriptor(ObjectDatabase.prototype, 'packs') as {
      readonly get: (this: ObjectDatabase) => ObjectDatabase['packs'];
    };
    let asked = 0;
    vi.spyOn(ObjectDatabase.prototype, 'packs', 'get').mockImplementation(function (this: ObjectDatabase) {
      // First for the job, then for the first pass.
      if (++asked === 2) action();
      return original.get.call(this);
    });
  }

  it.each(FEW_MODES)(
    'between finding objects and reading them, %i workers',
    async (workers) => {
      const repository = copyOf(many.repository);
      const target = { kind: 'detach', revision: many.commit.commit } as const;
      repository.git(['update-ref', 'refs/heads/main', many.commit.commit]);
      let packsLeft = 0;
      onceFound(() => {
        repository.git(['repack', '-adq']);
        packsLeft = packNames(join(repository.gitDir, 'objects', 'pack')).length;
      });
      const run = await runOurs({ directory: repository.directory, target, workers, checkout });
      expect(packsLeft).toBe(1);
      expect([run.report.error, run.report.skipped, run.warnings]).toEqual([undefined, [], []]);
      expect(run.report.totals.files).toBe(PACKS);
      expect(spawnSync('git', ['status', '--porcelain'], { cwd: repository.directory }).stdout.toString()).toBe('');
      // Written by those who write, not one by one at the end.
      if (workers > 0) expect(run.report.workers.every((worker) => worker.id > 0)).toBe(true);
    },
    60_000,
  );

  it('and loose objects go into a pack', async () => {
    const repository = new GitRepository(join(folder, `case-${made++}`));
    const spec = Object.fromEntries([...Array(200).keys()].map((i) => [`d${i % 3}/f${i}`, `loose ${i}\n`]));
    const { commit } = repository.rawCommit(repository.treeByHand(spec));
    repository.git(['update-ref', 'refs/heads/main', commit]);
    onceFound(() => repository.git(['repack', '-adq']));
    const target = { kind: 'detach', revision: commit } as const;
    const run = await runOurs({ directory: repository.directory, target, checkout });
    expect(existsSync(repository.loosePath(commit))).toBe(false);
    expect([run.report.error, run.report.totals.files]).toEqual([undefined, 200]);
    expect(spawnSync('git', ['status', '--porcelain'], { cwd: repository.directory }).stdout.toString()).toBe('');
  });
});

describe('damaged copies', () => {
  it('of packed objects, with good ones loose, in another pack, and in an alternate; and without', async () => {
    const repository = new GitRepository(join(folder, `case-${made++}`));
    const objects = join(repository.gitDir, 'objects');
    const store = new GitRepository(join(folder, `case-${made++}`));
    const content = (name: string): Buffer =>
      name === 'large' ? randomBytes(7, 3 << 20) : Buffer.from(`the content of ${name}\n`);
    const names = ['alternate', 'large', 'link', 'loose', 'packed', 'nowhere'];
    const entries = names.sort().map((name) => ({
      mode: name === 'link' ? '120000' : '100644',
      name,
      oid: blobId(content(name)),
    }));
    writePack(
      objects,
      entries.map(({ name, oid }) => {
        const bytes = plainEntry(BLOB, content(name));
        bytes.fill(0xff, bytes.length >> 1, (bytes.length >> 1) + 8);
        return { oid, bytes };
      }),
    );
    const { commit } = repository.rawCommit(repository.rawTree(entries));
    repository.object('blob', content('loose'));
    repository.object('blob', content('large'));
    store.object('blob', content('alternate'));
    store.object('blob', content('link'));
    // Damaged here as well, and good in the alternate.
    repository.object('blob', content('alternate'));
    rmSync(repository.loosePath(blobId(content('alternate'))));
    writeFileSync(repository.loosePath(blobId(content('alternate'))), deflateSync('blob 99\0short'));
    writePack(objects, [{ oid: blobId(content('packed')), bytes: plainEntry(BLOB, content('packed')) }]);
    writeFileSync(join(objects, 'info', 'alternates'), join(store.gitDir, 'objects'));
    for (const workers of [0, 1, 2]) {
      rmSync(join(repository.gitDir, 'index'), { force: true });
      const run = await runOurs({
        directory: repository.directory,
        target: { kind: 'detach', revision: commit },
        workers,
      });
      expect(run.report.skipped.map(({ path }) => path)).toEqual(['nowhere']);
      expect(run.report.skipped[0]?.reason).toMatch(
        /cannot write 'nowhere' \(blob [0-9a-f]{40}\): pack '.*': the entry at offset \d+ does not inflate/,
      );
      for (const name of names.filter((each) => each !== 'nowhere' && each !== 'link')) {
        expect(readFileSync(join(repository.directory, name)).equals(content(name)), name).toBe(true);
      }
      expect(existsSync(join(repository.directory, 'nowhere'))).toBe(false);
      expect(run.report.totals.files).toBe(workers === 0 ? names.length - 1 : 1 + names.length - 2);
      for (const name of names) rmSync(join(repository.directory, name), { force: true });
    }
  });
});

describe('replace refs', () => {
  let repository: GitRepository;
  let commit: string;
  const contents = {
    '.gitattributes': '*.id ident\n*.both ident text=auto\n',
    'a.id': '$Id$\n',
    'b.both': '$Id$\nwith\r\nlines\r\n',
    'large.id': `$Id$\n${'x'.repeat(2 << 20)}`,
    'dir/plain': 'plain\n',
    link: { symlink: 'plain' },
    other: 'other\n',
  } as const;

  beforeAll(() => {
    repository = new GitRepository(join(folder, 'replace'));
    commit = repository.commit(contents).commit;
    const at = (path: string): string => repository.text(['rev-parse', `${commit}:${path}`]);
    const blob = (content: string): string => repository.object('blob', content);
    const replace = (from: string, to: string, base = 'refs/replace/'): void => {
      repository.git(['update-ref', `${base}${from}`, to]);
    };
    replace(at('a.id'), blob('$Id$ replaced\n'));
    replace(at('b.both'), blob('$Id: old $\r\nreplaced\n'));
    replace(at('large.id'), blob(`$Id$ replaced\n${'y'.repeat(2 << 20)}`));
    replace(at('link'), blob('other'));
    // Four in a row; packed and loose.
    const row = ['one', 'two', 'three', 'four'].map(blob);
    [at('dir/plain'), ...row.slice(0, 3)].forEach((from, i) => {
      replace(from, row[i]!);
    });
    repository.git(['pack-refs', '--all']);
    replace(at('other'), blob('first'));
    replace(at('other'), blob('loose over packed\n'));
    replace(at('other'), blob('by another base\n'), 'refs/elsewhere/');
  });

  it('of blobs: files, links, attributes, chains, and what ident names', async () => {
    await expectSameAsGit({ repository, revision: commit, compareStatus: false, unclean: true, fsck: false });
  });

  it.each<[string, Record<string, string>, Record<string, string>]>([
    ['switched off by the environment', { GIT_NO_REPLACE_OBJECTS: '1' }, {}],
    ['switched off by the configuration', {}, { 'core.useReplaceRefs': 'false' }],
    ['of another base', { GIT_REPLACE_REF_BASE: 'refs/elsewhere/' }, {}],
    ['of a base without its slash', { GIT_REPLACE_REF_BASE: 'refs/elsewhere' }, {}],
  ])('%s', async (_, env, config) => {
    await expectSameAsGit({
      repository,
      revision: commit,
      env,
      config,
      modes: [2],
      compareStatus: false,
      unclean: true,
      fsck: false,
    });
  });

  it('of which git sees only those before a name that is out of order in packed-refs', async () => {
    const copy = copyOf(repository);
    const path = join(copy.gitDir, 'packed-refs');
    const text = readFileSync(path, 'latin1');
    const oid = copy.text(['rev-parse', `${commit}:a.id`]);
    expect(text).toContain(` refs/replace/${oid}\n`);
    writeFileSync(path, text.replace(` refs/replace/${oid}\n`, ` refs/repl\xe3ce/${oid}\n`), 'latin1');
    await expectSameAsGit({
      repository: copy,
      revision: commit,
      modes: [2],
      compareStatus: false,
      unclean: true,
      fsck: false,
    });
  });

  it('of the commit, of a tree, and of the attributes', async () => {
    const copy = copyOf(repository);
    const made2 = copy.commits([
      { a: 'one\n', 'dir/file': 'in dir\n', '.gitattributes': '' },
      { a: 'two\n', b: 'new\n' },
      { 'dir/file': 'replaced\n', 'dir/more': 'more\n' },
      { '.gitattributes': '* text eol=crlf\n' },
    ]);
    const [first, second, third, fourth] = made2.map(({ commit: oid }) => oid);
    const tree = (revision: string): string => copy.text(['rev-parse', revision]);
    copy.git(['replace', first!, second!]);
    await expectSameAsGit({
      repository: copy,
      revision: first!,
      modes: FEW_MODES,
      compareStatus: false,
      unclean: true,
      fsck: false,
    });
    copy.git(['replace', '-d', first!]);
    copy.git(['replace', tree(`${first!}:dir`), tree(`${third!}:dir`)]);
    copy.git(['replace', '-f', tree(`${first!}:.gitattributes`), tree(`${fourth!}:.gitattributes`)]);
    await expectSameAsGit({
      repository: copy,
      revision: first!,
      modes: FEW_MODES,
      compareStatus: false,
      unclean: true,
      fsck: false,
    });
  });

  it('five in a row are too many, as for git', async () => {
    const copy = copyOf(repository);
    const row = [
      copy.text(['rev-parse', `${commit}:other`]),
      ...['1', '2', '3', '4', '5'].map((text) => copy.object('blob', text)),
    ];
    row.slice(0, 5).forEach((from, i) => copy.git(['update-ref', `refs/replace/${from}`, row[i + 1]!]));
    const run = await runOurs({ directory: copy.directory, target: { kind: 'detach', revision: commit }, workers: 0 });
    expect(run.report.error).toMatchObject({
      code: 'object-corrupt',
      message: expect.stringContaining('too long') as string,
    });
    expect(spawnSync('git', ['cat-file', 'blob', row[0]!], { cwd: copy.directory }).status).toBe(128);
  });
});

describe('verify', () => {
  it('changes nothing for a sound repository', async () => {
    await expectSameAsGit({
      repository: few.repository,
      revision: few.commit.commit,
      modes: FEW_MODES,
      request: { verify: true },
      fsck: false,
    });
  });

  it.each(FEW_MODES)('finds a blob of other content, which costs its file, %i workers', async (workers) => {
    const repository = new GitRepository(join(folder, `case-${made++}`));
    const objects = join(repository.gitDir, 'objects');
    const large = randomBytes(3, 2 << 20);
    const entries = [
      { mode: '100644', name: 'fine', oid: repository.object('blob', 'fine') },
      { mode: '100644', name: 'large', oid: blobId(large) },
      { mode: '100644', name: 'small', oid: blobId('small') },
    ];
    writePack(objects, [
      { oid: blobId(large), bytes: plainEntry(BLOB, randomBytes(4, 2 << 20)) },
      { oid: blobId('small'), bytes: plainEntry(BLOB, Buffer.from('other')) },
    ]);
    const target = { kind: 'detach', revision: repository.rawCommit(repository.rawTree(entries)).commit } as const;
    const run = await runOurs({ directory: repository.directory, target, workers, request: { verify: true } });
    expect(run.report.skipped.map(({ path }) => path)).toEqual(['large', 'small']);
    expect(run.report.skipped[0]?.reason).toMatch(/is corrupt: its content has the id/);
    expect(readdirSync(repository.directory).sort()).toEqual(['.git', 'fine']);
    const again = await runOurs({ directory: repository.directory, target, workers });
    expect([again.report.error, again.report.totals.files]).toEqual([undefined, 2]);
  });

  it('finds a tree of other content before anything is touched, and does not leave the files to git', async () => {
    const repository = new GitRepository(join(folder, `case-${made++}`));
    const tree = repository.rawTree([{ mode: '100644', name: 'a', oid: repository.object('blob', 'a') }]);
    const other = repository.rawTree([{ mode: '100644', name: 'b', oid: repository.object('blob', 'b') }]);
    const target = { kind: 'detach', revision: repository.rawCommit(tree).commit } as const;
    const options = { directory: repository.directory, target, request: { verify: true } };
    const byGit = await runOurs({ ...options, request: { verify: true, engine: 'git' } });
    expect(byGit.report.error).toMatchObject({ code: 'unsupported', subject: { option: 'verify' } });
    rmSync(repository.loosePath(tree));
    renameSync(repository.loosePath(other), repository.loosePath(tree));
    const run = await runOurs(options);
    expect(run.report.error).toMatchObject({ code: 'object-corrupt' });
    expect(readdirSync(repository.directory)).toEqual(['.git']);
  });
});

describe('relative object directories', () => {
  it('in the environment are relative to the top of the working tree', async () => {
    const repository = copyOf(few.repository);
    const store = join(repository.directory, '..', 'store');
    renameSync(join(repository.gitDir, 'objects'), store);
    mkdirSync(join(repository.gitDir, 'objects', 'pack'), { recursive: true });
    mkdirSync(join(repository.gitDir, 'objects', 'info'));
    await expectSameAsGit({
      repository,
      revision: few.commit.commit,
      modes: [2],
      env: { GIT_ALTERNATE_OBJECT_DIRECTORIES: '../store' },
      fsck: false,
    });
  });
});
