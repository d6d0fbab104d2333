/**
 * Repositories whose ids are SHA-256: 32 bytes in trees, packs, pack indexes and the index, 64 digits in refs and names.
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { ROOMY_HOST, runOurs } from '../../support/ours.ts';
import { expectSameAsGit, FEW_MODES } from '../../support/oracle.ts';
import { randomText } from '../../support/random.ts';
import { git, GitRepository, runGit, type Commit, type TreeSpec } from '../../support/repository.ts';
import { memoryFolder, temporaryFolder } from '../../support/temporary.ts';

const folder = temporaryFolder('sha256', memoryFolder());
const FORMAT = ['--object-format=sha256'];

/** Enough of every kind: a file of each conversion, a link, a submodule, deltas, directories for the cache tree. */
function assorted(version: number): TreeSpec {
  const spec: Record<string, TreeSpec[string]> = {
    '.gitattributes': '*.id ident\n*.crlf text eol=crlf\n*.both ident text eol=crlf\n*.auto ident text=auto\n',
    empty: '',
    'also-empty': '',
    'a.id': `$Id$ and again $Id$ in version ${version}\n`,
    'a.crlf': 'one\ntwo\n',
    'a.both': '$Id$\n',
    'a.auto': '$Id$\n',
    'big.id': `$Id$\n${randomText(3, 1_200_000)}${version}\n`,
    run: { content: '#!/bin/sh\n', executable: true },
    link: { symlink: `dir/versioned` },
    module: { gitlink: '12'.repeat(32) },
    'dir/versioned': `${randomText(1, 3000)}version ${version}\n${randomText(2, 3000)}`,
    [`dir/only-in-${version}`]: `${version}`,
  };
  for (let i = 0; i < 12; i++) spec[`many/d${i % 3}/deeper/file-${i}`] = `${randomText(100 + i, 40 * i)} ${version}`;
  return spec;
}

let base: GitRepository;
let history: Commit[];
let made = 0;

/** A copy to be repacked at will, in a folder of its own so that alternates have room. */
function copyOfBase(): GitRepository {
  const copy = new GitRepository(join(folder, `case-${made++}`), 'template', FORMAT);
  rmSync(copy.gitDir, { recursive: true });
  cpSync(base.gitDir, copy.gitDir, { recursive: true, preserveTimestamps: true });
  return copy;
}

function packs(repository: GitRepository): string[] {
  const directory = join(repository.gitDir, 'objects', 'pack');
  return readdirSync(directory)
    .filter((name) => name.endsWith('.pack'))
    .map((name) => join(directory, name));
}

beforeAll(() => {
  base = new GitRepository(join(folder, 'base'), 'template', FORMAT);
  history = base.commits([assorted(1), assorted(2), assorted(3)]);
  expect(history[0]!.commit).toMatch(/^[0-9a-f]{64}$/);
});

describe('where the objects are', () => {
  it('offset deltas and a version 2 index', async () => {
    const repository = copyOfBase();
    repository.git(['repack', '-adfq']);
    await expectSameAsGit({ repository, revision: history[0]!.commit });
  });

  it('reference deltas and a version 1 index', async () => {
    const repository = copyOfBase();
    const config = { 'repack.useDeltaBaseOffset': 'false', 'pack.indexVersion': '1' };
    repository.git(['repack', '-adfq'], { config });
    const [pack] = packs(repository);
    expect(readFileSync(pack!.replace(/pack$/, 'idx')).readUInt32BE(0)).not.toBe(0xff744f63);
    await expectSameAsGit({ repository, revision: history[0]!.commit, modes: [0, 1, 2] });
  });

  it('64-bit offsets, and a tag that leads to the commit', async () => {
    const repository = copyOfBase();
    for (const pack of packs(repository)) {
      const index = pack.replace(/pack$/, 'idx');
      rmSync(index);
      rmSync(pack.replace(/pack$/, 'rev'), { force: true });
      repository.git(['index-pack', '--index-version=2,0x40', pack]);
    }
    repository.git(['tag', '-a', '-m', 'x', 'v1', history[1]!.commit]);
    await expectSameAsGit({ repository, revision: 'v1', modes: [2] });
  });

  it('loose objects, the trees and the commit in an alternate', async () => {
    const repository = copyOfBase();
    const contents = packs(repository).map((pack) => readFileSync(pack));
    for (const pack of packs(repository))
      for (const end of ['pack', 'idx', 'rev']) rmSync(pack.replace(/pack$/, end), { force: true });
    for (const input of contents) repository.git(['unpack-objects', '-q'], { input });
    const objects = join(repository.gitDir, 'objects');
    const other = join(repository.directory, '..', 'other');
    mkdirSync(other);
    for (const oid of [history[2]!.commit, history[2]!.tree]) {
      cpSync(join(objects, oid.slice(0, 2)), join(other, oid.slice(0, 2)), { recursive: true });
      rmSync(repository.loosePath(oid));
    }
    writeFileSync(join(objects, 'info', 'alternates'), '../../../other\n');
    await expectSameAsGit({ repository, revision: history[2]!.commit, modes: [0, 1, 2] });
  });
});

describe('what the index is for', () => {
  it.each([2, 4])('an update from an index of version %i', async (version) => {
    await expectSameAsGit({
      repository: base,
      from: history[0]!.commit,
      revision: history[2]!.commit,
      config: { 'index.version': `${version}` },
      prepare: (directory) => {
        git(directory, ['update-index', '--index-version', `${version}`, '--force-write-index']);
        writeFileSync(join(directory, 'empty'), 'not empty any more');
        rmSync(join(directory, 'run'));
      },
      modes: FEW_MODES,
    });
  });

  it('the same commit again: all stays, the empty files too', async () => {
    await expectSameAsGit({ repository: base, from: history[2]!.commit, revision: history[2]!.commit, modes: [2] });
  });

  it('files of the same second as the index', async () => {
    await expectSameAsGit({
      repository: base,
      from: history[1]!.commit,
      revision: history[1]!.commit,
      racy: true,
      compareKept: false,
      prepare: (directory) => git(directory, ['update-index', '--assume-unchanged', 'dir/versioned', 'also-empty']),
      modes: [2],
    });
  });

  it('one of the other format is refused, and nothing is touched', async () => {
    const sha1 = new GitRepository(join(folder, 'sha1'));
    const { commit } = sha1.commit({ a: 'a\n', 'b/c': 'c\n', empty: '' });
    sha1.git(['checkout', '-q', '-f', commit]);
    const repository = copyOfBase();
    repository.git(['checkout', '-q', '-f', '--detach', history[0]!.commit]);
    const swapped = [
      [repository, history[1]!.commit, readFileSync(join(sha1.gitDir, 'index'))],
      [sha1, commit, readFileSync(join(repository.gitDir, 'index'))],
    ] as const;
    for (const [victim, revision, index] of swapped) {
      writeFileSync(join(victim.gitDir, 'index'), index);
      const { report } = await runOurs({
        directory: victim.directory,
        target: { kind: 'detach', revision },
        request: { hostFacts: ROOMY_HOST, engine: 'native' },
      });
      expect(report.error).toMatchObject({ code: 'index-corrupt' });
      expect(readFileSync(join(victim.gitDir, 'index')).equals(index)).toBe(true);
      expect(runGit(victim.directory, ['checkout', '-q', '-f', '--detach', revision]).status).not.toBe(0);
    }
  });
});

describe('names', () => {
  it('a branch is made from a packed ref, with its reflog', async () => {
    await expectSameAsGit({
      repository: base,
      from: history[0]!.commit,
      revision: 'main',
      target: { kind: 'branch', branch: 'topic', startPoint: 'main' },
      prepare: (directory) => {
        git(directory, ['branch', 'topic', history[0]!.commit]);
        git(directory, ['pack-refs', '--all']);
      },
      modes: FEW_MODES,
    });
  });

  it('40 digits are the beginning of an id, and may be a branch', async () => {
    const short = history[1]!.commit.slice(0, 40);
    await expectSameAsGit({ repository: base, revision: short, modes: [0] });
    await expectSameAsGit({
      repository: base,
      revision: short,
      target: { kind: 'revision', revision: 'f'.repeat(40) },
      prepare: (directory) =>
        writeFileSync(join(directory, '.git/refs/heads', 'f'.repeat(40)), `${history[0]!.commit}\n`),
      modes: [0],
    });
  });

  it('FETCH_HEAD', async () => {
    await expectSameAsGit({
      repository: base,
      revision: 'FETCH_HEAD',
      prepare: (directory) =>
        writeFileSync(join(directory, '.git/FETCH_HEAD'), `${history[1]!.commit}\t\tbranch 'main' of somewhere\n`),
      modes: [0],
    });
  });

  it('a ref with an id of the other length leads nowhere', async () => {
    await expectSameAsGit({
      repository: base,
      revision: 'broken',
      prepare: (directory) => writeFileSync(join(directory, '.git/refs/heads/broken'), `${'1'.repeat(40)}\n`),
      exit: 128,
      modes: [0],
      error: 'unknown-revision',
    });
  });
});

it('a tree that no git would write, put right in the cache tree', async () => {
  const repository = new GitRepository(join(folder, `case-${made++}`), 'template', FORMAT);
  const [a, b] = ['a\n', 'b\n'].map((content) => repository.object('blob', content));
  const inside = repository.rawTree([
    { mode: '100644', name: 'z', oid: a! },
    { mode: '100644', name: 'y', oid: b! },
  ]);
  const tree = repository.rawTree([
    { mode: '40000', name: 'odd', oid: inside },
    { mode: '100644', name: 'again', oid: a! },
    { mode: '100644', name: 'again', oid: b! },
  ]);
  const { commit } = repository.rawCommit(tree);
  await expectSameAsGit({ repository, revision: commit, modes: FEW_MODES, fsck: false, unclean: true });
});

it('a missing blob fails alone, and is named by its whole id', async () => {
  const repository = new GitRepository(join(folder, `case-${made++}`), 'template', FORMAT);
  const { commit } = repository.commit({ kept: 'kept\n', lost: 'lost\n', 'd/other': 'other\n' }, { packed: false });
  const oid = repository.text(['rev-parse', `${commit}:lost`]);
  rmSync(repository.loosePath(oid));
  await expectSameAsGit({
    repository,
    revision: commit,
    exit: 1,
    failed: ['lost'],
    fsck: false,
    unclean: true,
    modes: FEW_MODES,
    inspect: (_, run) => {
      if (run !== null) expect(run.report.error?.message).toContain(`object ${oid} is missing`);
    },
  });
});
