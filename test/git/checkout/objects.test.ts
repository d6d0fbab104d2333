/**
 * Objects in every place and form that git stores them in: the same tree must come out of all.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { randomBytes, randomText } from '../../support/random.ts';
import { git, GitRepository, type Commit, type TreeSpec } from '../../support/repository.ts';
import { memoryFolder, temporaryFolder } from '../../support/temporary.ts';
import { LONG } from '../../support/long-tests.ts';
import { expectSameAsGit, FEW_MODES } from '../../support/oracle.ts';

const MEBIBYTE = 2 ** 20;
const folder = temporaryFolder('objects', memoryFolder());

/** Sizes around every buffer that git and we have; big ones plain and in versions that make deltas. */
function assorted(version: number): TreeSpec {
  const spec: Record<string, string | Uint8Array> = {
    empty: '',
    one: 'x',
    'no-newline': 'a\nb',
    'zeros-16384': new Uint8Array(16384),
    'zeros-16385': new Uint8Array(16385),
    'zeros-then-end': Buffer.concat([new Uint8Array(65536), Buffer.from('end')]),
    'random-300k': randomBytes(1, 300 << 10),
    'random-524287': randomBytes(2, (512 << 10) - 1),
    'random-524288': randomBytes(3, 512 << 10),
    'random-524289': randomBytes(4, (512 << 10) + 1),
    'random-1m': randomBytes(5, MEBIBYTE + 7),
    'zeros-3m': new Uint8Array(3 * MEBIBYTE),
    'dir/versioned-big': `${randomText(6, 900 << 10)}version ${version}\n${randomText(7, 300 << 10)}`,
    'dir/versioned': `${randomText(8, 3000)}version ${version}\n${randomText(9, 3000)}`,
    'dir/same-again': 'x',
  };
  for (let i = 0; i < 40; i++) spec[`many/d${i % 7}/file-${i}`] = `${randomText(100 + i, 40 * i)} ${version}`;
  return spec;
}

let made = 0;
let packed: GitRepository;
let history: Commit[];
let last: Commit;

/** A copy of the repository to be repacked at will, in a folder of its own so that alternates have room. */
function copyOf(repository: GitRepository): GitRepository {
  const parent = join(folder, `case-${made++}`);
  const copy = new GitRepository(parent);
  rmSync(copy.gitDir, { recursive: true });
  cpSync(repository.gitDir, copy.gitDir, { recursive: true, preserveTimestamps: true });
  return copy;
}

function packFiles(repository: GitRepository, ending: string): string[] {
  const directory = join(repository.gitDir, 'objects', 'pack');
  return readdirSync(directory)
    .filter((name) => name.endsWith(ending))
    .map((name) => join(directory, name));
}

beforeAll(() => {
  packed = new GitRepository(join(folder, 'base'));
  history = packed.commits([assorted(1), assorted(2), assorted(3)]);
  last = history[2]!;
});

describe('one object database', () => {
  it('loose objects only', async () => {
    const repository = copyOf(packed);
    const packs = packFiles(repository, '.pack');
    for (const pack of packs) {
      const content = readFileSync(pack);
      rmSync(pack);
      rmSync(pack.replace(/pack$/, 'idx'));
      repository.git(['unpack-objects', '-q'], { input: content });
    }
    expect(packFiles(repository, '.pack')).toEqual([]);
    await expectSameAsGit({ repository, revision: last.commit });
  });

  it('one pack with offset deltas, made by gc', async () => {
    const repository = copyOf(packed);
    repository.git(['gc', '-q', '--aggressive', '--prune=now']);
    // The oldest version is the deepest.
    await expectSameAsGit({ repository, revision: history[0]!.commit });
  });

  it('reference deltas', async () => {
    const repository = copyOf(packed);
    repository.git(['-c', 'repack.useDeltaBaseOffset=false', 'repack', '-adfq']);
    await expectSameAsGit({ repository, revision: history[0]!.commit, modes: FEW_MODES });
  });

  it('a version 1 pack index', async () => {
    const repository = copyOf(packed);
    repository.git(['-c', 'pack.indexVersion=1', 'repack', '-adfq']);
    await expectSameAsGit({ repository, revision: history[0]!.commit, modes: FEW_MODES });
  });

  it('64-bit offsets in the pack index', async () => {
    const repository = copyOf(packed);
    repository.git(['repack', '-adfq']);
    for (const pack of packFiles(repository, '.pack')) {
      const index = pack.replace(/pack$/, 'idx');
      rmSync(index);
      rmSync(pack.replace(/pack$/, 'rev'), { force: true });
      repository.git(['index-pack', '--index-version=2,0x40', pack]);
    }
    await expectSameAsGit({ repository, revision: last.commit });
  });

  it('a pack of each commit, a multi-pack-index, and a loose commit on top', async () => {
    const repository = new GitRepository(join(folder, `case-${made++}`));
    let parent: Commit | undefined;
    for (let version = 1; version <= 6; version++) {
      parent = repository.commit({ ...assorted(version), [`only-in-${version}`]: `${version}` });
    }
    const loose = repository.object('blob', 'loose');
    const entries = repository.text(['ls-tree', parent!.tree]).split('\n');
    const tree = repository.text(['mktree'], { input: [...entries, `100644 blob ${loose}\tzz-loose`].join('\n') });
    expect(packFiles(repository, '.pack').length).toBe(6);
    await expectSameAsGit({ repository, revision: repository.rawCommit(tree).commit });
    repository.git(['multi-pack-index', 'write']);
    await expectSameAsGit({ repository, revision: parent!.commit, modes: FEW_MODES });
  });

  it('a corrupt copy in one pack and a good one elsewhere', async () => {
    const repository = copyOf(packed);
    // A pack of one object that cannot be inflated, which sorts and looks newest.
    const blob = repository.text(['rev-parse', `${last.commit}:dir/versioned`]);
    const name = repository
      .text(['pack-objects', '-q', join(repository.gitDir, 'objects', 'pack', 'pack')], { input: `${blob}\n` })
      .trim();
    const path = join(repository.gitDir, 'objects', 'pack', `pack-${name}.pack`);
    const content = readFileSync(path);
    content.fill(0xff, 20, 40);
    rmSync(path);
    writeFileSync(path, content);
    await expectSameAsGit({ repository, revision: last.commit, fsck: false });
  });

  it('a pack whose index is missing, an index whose pack is missing, and strangers in the folder', async () => {
    const repository = copyOf(packed);
    repository.git(['repack', '-adfq']);
    const directory = join(repository.gitDir, 'objects', 'pack');
    const [pack] = packFiles(repository, '.pack');
    cpSync(pack!, join(directory, `pack-${'1'.repeat(40)}.pack`));
    cpSync(pack!.replace(/pack$/, 'idx'), join(directory, `pack-${'2'.repeat(40)}.idx`));
    writeFileSync(join(directory, 'tmp_pack_XYZ'), 'half');
    writeFileSync(join(directory, 'README'), '');
    mkdirSync(join(directory, 'folder.idx'));
    mkdirSync(join(directory, 'folder.pack'));
    await expectSameAsGit({ repository, revision: last.commit, modes: FEW_MODES, fsck: false });
  });

  it('big files that no memory limit has room for together', async () => {
    const repository = new GitRepository(join(folder, `case-${made++}`));
    const big = (version: number): TreeSpec => {
      const spec: Record<string, string | Uint8Array> = { '.gitattributes': '*.txt text eol=crlf\n*.id ident\n' };
      for (let i = 0; i < 2; i++) {
        spec[`plain-${i}`] = randomBytes(50 + i, 3 * MEBIBYTE + i);
        spec[`delta-${i}`] = `${randomText(60 + i, 3 * MEBIBYTE)}\n${version}\n`;
        spec[`lines-${i}.txt`] = `${randomText(70 + i, MEBIBYTE)}\n${version}\n`;
        spec[`named-${i}.id`] = `$Id$\n${randomText(80 + i, MEBIBYTE)}\n${version}\n`;
      }
      return spec;
    };
    const [first] = repository.commits([big(1), big(2)]);
    repository.git(['-c', 'pack.compression=1', 'repack', '-adfq']);
    await expectSameAsGit({
      repository,
      revision: first!.commit,
      modes: LONG ? [2, 5] : [3],
      request: { memoryLimitBytes: 260 * MEBIBYTE },
    });
    // Each single one is larger than this limit allows together with the threads' own memory.
    await expectSameAsGit({
      repository,
      revision: first!.commit,
      modes: [0],
      request: { memoryLimitBytes: 2 * MEBIBYTE },
    });
  }, 60_000);
});

describe('deep chains', () => {
  it('a chain of 4,095 deltas', async () => {
    const repository = new GitRepository(join(folder, 'deep'));
    const spec: Record<string, string> = {};
    const lines = randomText(5, 700).split('\n');
    for (let i = 0; i < 4150; i++) {
      lines[i % lines.length] = `changed in ${i}`;
      spec[`v${String(i).padStart(4, '0')}`] = lines.join('\n');
    }
    const { commit } = repository.commit(spec, { depth: 4095 });
    const [index] = packFiles(repository, '.idx');
    const depths = repository.text(['verify-pack', '-v', index!]).match(/^chain length = (\d+)/gm) ?? [];
    expect(Math.max(...depths.map((line) => Number(/\d+/.exec(line)?.[0])))).toBeGreaterThanOrEqual(4095);
    await expectSameAsGit({ repository, revision: commit, modes: [2], fsck: false });
  }, 60_000);
});

describe('alternates', () => {
  /** A repository whose objects are all in `<case>/<name>/objects`. */
  function split(parent: string, name: string, target: string): { repository: GitRepository } {
    const repository = new GitRepository(parent);
    rmSync(repository.gitDir, { recursive: true });
    cpSync(packed.gitDir, repository.gitDir, { recursive: true });
    mkdirSync(join(parent, name), { recursive: true });
    renameSync(join(repository.gitDir, 'objects'), join(parent, name, 'objects'));
    mkdirSync(join(repository.gitDir, 'objects', 'info'), { recursive: true });
    mkdirSync(join(repository.gitDir, 'objects', 'pack'));
    writeFileSync(join(repository.gitDir, 'objects', 'info', 'alternates'), target);
    return { repository };
  }

  it('absolute, with comments, blank lines, itself and a missing folder', async () => {
    const parent = join(folder, 'alternates-1');
    const { repository } = split(
      parent,
      'store',
      `# comment\n\n/nowhere/at/all/objects\n${join(parent, 'store', 'objects')}\n${join(parent, 'store', 'objects')}\n`,
    );
    await expectSameAsGit({ repository, revision: last.commit, modes: FEW_MODES });
  });

  it('relative', async () => {
    const { repository } = split(join(folder, 'alternates-2'), 'store', '../../../store/objects\n');
    await expectSameAsGit({ repository, revision: last.commit, modes: FEW_MODES });
  });

  it('quoted', async () => {
    const parent = join(folder, 'alternates-3');
    const { repository } = split(parent, 'st "ore\u00e9\n', `"${parent}/st \\"ore\\303\\251\\n/objects"\n`);
    await expectSameAsGit({ repository, revision: last.commit, modes: FEW_MODES });
  });

  it('nested five deep, the commit loose in the nearest', async () => {
    const parent = join(folder, 'alternates-4');
    const { repository } = split(parent, 'level-5', '../../../level-1/objects\n');
    for (let level = 1; level < 5; level++) {
      mkdirSync(join(parent, `level-${level}`, 'objects', 'info'), { recursive: true });
      writeFileSync(
        join(parent, `level-${level}`, 'objects', 'info', 'alternates'),
        `${join(parent, `level-${level + 1}`, 'objects')}\n`,
      );
    }
    const { commit } = repository.rawCommit(last.tree);
    await expectSameAsGit({ repository, revision: commit, modes: FEW_MODES });
  });

  it('GIT_ALTERNATE_OBJECT_DIRECTORIES and GIT_OBJECT_DIRECTORY', async () => {
    const parent = join(folder, 'alternates-5');
    const { repository } = split(parent, 'store', '# nothing\n');
    const store = join(parent, 'store', 'objects');
    const env = { GIT_ALTERNATE_OBJECT_DIRECTORIES: `${join(parent, 'nowhere')}:${store}` };
    await expectSameAsGit({ repository, revision: last.commit, env, modes: [2], engine: 'any' });
    await expectSameAsGit({
      repository,
      revision: last.commit,
      env: { GIT_OBJECT_DIRECTORY: store },
      modes: FEW_MODES,
      engine: 'any',
    });
  });

  it('git clone --shared and --reference', async () => {
    const parent = join(folder, 'alternates-6');
    mkdirSync(parent);
    git(parent, ['clone', '-q', '--bare', packed.directory, 'store.git']);
    git(parent, ['clone', '-q', '--shared', '--no-checkout', 'store.git', 'template']);
    const repository = Object.create(GitRepository.prototype, {
      directory: { value: join(parent, 'template') },
      gitDir: { value: join(parent, 'template', '.git') },
    }) as GitRepository;
    await expectSameAsGit({ repository, revision: last.commit, modes: FEW_MODES });
  });
});

describe('workers', () => {
  const onDisk = temporaryFolder('objects-on-disk');

  it('each of several really writes files when there are many', async () => {
    // On disk: in memory all is written before the second thread is up.
    const repository = new GitRepository(join(onDisk, 'many'));
    const spec: Record<string, string> = {};
    const text = randomText(3, 8000);
    for (let i = 0; i < 1500; i++) spec[`d${i % 40}/e${i % 13}/f${i}`] = text.slice(i, i + 1500 + (i % 500));
    const { commit } = repository.commit(spec);
    await expectSameAsGit({
      repository,
      revision: commit,
      modes: [2, 5],
      inspect: (_, run) => {
        if (run === null || run.started === 0) return;
        const idle = run.report.workers.filter((worker) => worker.id > 0 && worker.files === 0);
        // The first may be done before the last of five has started on two cores, but two are both busy.
        expect(idle.length).toBeLessThanOrEqual(run.started === 2 ? 0 : 3);
      },
      fsck: false,
    });
  }, 60_000);

  it('none for a small tree by default', async () => {
    const repository = copyOf(packed);
    const { runOurs } = await import('../../support/ours.ts');
    const run = await runOurs({
      directory: repository.directory,
      target: { kind: 'detach', revision: last.commit },
      workers: 'auto',
      alwaysParallel: false,
    });
    expect(run.report.error).toBeUndefined();
    expect(run.started).toBe(0);
    expect(run.report.workers.map((worker) => worker.id)).toEqual([0]);
    expect(spawnSync('git', ['status', '--porcelain'], { cwd: repository.directory }).stdout.toString()).toBe('');
  });
});
