/**
 * What a repository has beside packs, trees and loose objects, damaged at random: Git LFS pointers and their objects, refs,
 * the lists of alternates and of shallow commits, patterns and attributes of .git/info, multi-pack indexes, and SHA-256
 * repositories. Where git can be asked what is right, it is, for each case.
 */
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Job, Verdict } from '../support/hostile-job.ts';
import { runHostileJob, wrongOnes } from '../support/hostile.ts';
import { LONG } from '../support/long-tests.ts';
import { layerName, multiPackIndex } from '../support/multi-pack-index-writer.ts';
import { randomBytes, randomText } from '../support/random.ts';
import { GITLINK_OID, GitRepository, type TreeSpec } from '../support/repository.ts';
import { memoryFolder, temporaryFolder } from '../support/temporary.ts';

const folder = temporaryFolder('hostile-files', memoryFolder());
/** Cases in which nothing but our engine runs. */
const SEEDS = LONG ? 10_000 : 100;
const TIME_LIMIT_MS = LONG ? 3_600_000 : 600_000;
/** Cases for which git is started several times. */
const SEEDS_WITH_GIT = LONG ? 1000 : 30;
const MOST_MEMORY = 400 << 20;

const tree: TreeSpec = {
  '.gitattributes': '*.crlf eol=crlf\n',
  'a.crlf': 'a\nb\n',
  'd/one': randomText(1, 700),
  'd/e/two': randomText(2, 700),
  f: randomText(3, 3000),
  link: { symlink: 'f' },
  run: { content: '#!/bin/sh\n', executable: true },
  sub: { gitlink: GITLINK_OID },
};
const changed: TreeSpec = { ...tree, 'd/one': `${randomText(1, 700)}x`, f: `${randomText(3, 3000)}x` };

async function damageEach(
  repository: GitRepository,
  job: Omit<Job, 'directory' | 'seeds'>,
  seeds: number,
): Promise<Verdict[]> {
  const outside = readdirSync(join(repository.directory, '..'));
  const verdicts = await runHostileJob({ directory: repository.directory, seeds: [1, 1 + seeds], ...job });
  expect(wrongOnes(verdicts)).toEqual([]);
  expect(readdirSync(join(repository.directory, '..'))).toEqual(outside);
  expect(Math.max(...verdicts.map((verdict) => verdict.maxRssBytes))).toBeLessThan(MOST_MEMORY);
  return verdicts;
}

const outcomes = (verdicts: readonly Verdict[]): Set<string> => new Set(verdicts.map(({ outcome }) => outcome));

function filesIn(repository: GitRepository, pattern: RegExp): string[] {
  return readdirSync(join(repository.gitDir, 'objects'), { recursive: true, encoding: 'utf8' })
    .filter((name) => pattern.test(name))
    .map((name) => join('objects', name));
}

describe.skipIf(process.platform === 'win32')('Git LFS', () => {
  it(
    'pointers and stored objects: copied where they fit each other, left to git-lfs where not',
    async () => {
      const bin = join(folder, 'bin');
      mkdirSync(bin);
      // In place of git-lfs, which leaves what is no pointer as it is. What it would download is not there.
      writeFileSync(join(bin, 'git-lfs'), '#!/bin/sh\nexec cat\n', { mode: 0o755 });
      process.env['PATH'] = `${bin}${delimiter}${process.env['PATH'] ?? ''}`;
      const repository = new GitRepository(join(folder, 'lfs'), 'case');
      const pointerTo = (content: Buffer): string => {
        const oid = createHash('sha256').update(content).digest('hex');
        const place = join(repository.gitDir, 'lfs', 'objects', oid.slice(0, 2), oid.slice(2, 4));
        mkdirSync(place, { recursive: true });
        writeFileSync(join(place, oid), content);
        return `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize ${content.length}\n`;
      };
      const { commit } = repository.commit({
        '.gitattributes': '*.bin filter=lfs -text\n',
        ...Object.fromEntries(
          Array.from({ length: 10 }, (_, i) => [`${i}.bin`, pointerTo(randomBytes(i, 40 + 500 * i))]),
        ),
        c: 'c\n',
      });
      const config = { 'filter.lfs.smudge': 'git-lfs smudge -- %f', 'filter.lfs.clean': 'git-lfs clean -- %f' };
      const verdicts = await damageEach(repository, { commit, kind: 'lfs', config }, LONG ? 1000 : 30);
      expect(outcomes(verdicts)).toEqual(new Set(['right']));
    },
    TIME_LIMIT_MS,
  );
});

describe('refs', () => {
  it(
    'HEAD, loose refs, symbolic refs and packed-refs',
    async () => {
      const repository = new GitRepository(join(folder, 'refs'), 'case');
      const [first, second] = repository.commits([tree, changed]);
      for (let i = 0; i < 5; i++)
        repository.git(['branch', `packed-${i}`, i % 2 === 0 ? first!.commit : second!.commit]);
      repository.git(['tag', '-a', '-m', 'x', 'tag', first!.commit]);
      repository.git(['pack-refs', '--all']);
      repository.git(['branch', 'loose', first!.commit]);
      repository.git(['symbolic-ref', 'refs/heads/symbolic', 'refs/heads/loose']);
      const files = ['HEAD', 'packed-refs', 'refs/heads/loose', 'refs/heads/symbolic'];
      for (const revision of ['packed-2', 'symbolic', 'tag']) {
        const job = { commit: second!.commit, kind: 'files', files, revision, asksGit: true } as const;
        const verdicts = await damageEach(repository, job, LONG ? SEEDS_WITH_GIT : 15);
        expect(outcomes(verdicts).size).toBeGreaterThan(1);
      }
    },
    TIME_LIMIT_MS,
  );
});

describe('lists and patterns', () => {
  it(
    'of alternates',
    async () => {
      const repository = new GitRepository(join(folder, 'alternates'), 'case');
      const { commit } = repository.commit(tree);
      repository.git(['repack', '-adq']);
      mkdirSync(join(folder, 'alternates', 'elsewhere'));
      renameSync(join(repository.gitDir, 'objects', 'pack'), join(folder, 'alternates', 'elsewhere', 'pack'));
      mkdirSync(join(repository.gitDir, 'objects', 'pack'));
      const list = `# comment\n../nowhere\n../../../elsewhere\n"${join(folder, 'alternates', 'quo\\164ed')}"\n`;
      writeFileSync(join(repository.gitDir, 'objects', 'info', 'alternates'), list);
      const job = { commit, kind: 'files', files: ['objects/info/alternates'], asksGit: true } as const;
      expect(outcomes(await damageEach(repository, job, SEEDS_WITH_GIT)).size).toBeGreaterThan(1);
    },
    TIME_LIMIT_MS,
  );

  it(
    'of shallow commits',
    async () => {
      const repository = new GitRepository(join(folder, 'shallow'), 'case');
      const [first, second] = repository.commits([tree, changed]);
      writeFileSync(join(repository.gitDir, 'shallow'), `${first!.commit}\n${second!.commit}\n`);
      await damageEach(
        repository,
        { commit: second!.commit, kind: 'files', files: ['shallow'], asksGit: true },
        SEEDS_WITH_GIT,
      );
    },
    TIME_LIMIT_MS,
  );

  it.each([
    ['cone', 'true', '/*\n!/*/\n/d/\n!/d/*/\n/d/e/\n'],
    ['patterns', 'false', '/*\n!d/\nd/e/\n!*.crlf\n\\!x\n[a-c]*\n# comment\ntrail\\ \n'],
  ])(
    'of a sparse checkout: %s',
    async (name, cone, text) => {
      const repository = new GitRepository(join(folder, `sparse-${name}`), 'case');
      const { commit } = repository.commit({ ...tree, 'd/e/g/three': 'x', '!x': 'x', 'trail ': 'x', 'b/c/d': 'x' });
      mkdirSync(join(repository.gitDir, 'info'), { recursive: true });
      writeFileSync(join(repository.gitDir, 'info', 'sparse-checkout'), text);
      const config = { 'core.sparseCheckout': 'true', 'core.sparseCheckoutCone': cone };
      const job = { commit, kind: 'files', files: ['info/sparse-checkout'], asksGit: true, config } as const;
      expect(outcomes(await damageEach(repository, job, SEEDS_WITH_GIT)).has('as git')).toBe(true);
    },
    TIME_LIMIT_MS,
  );

  it(
    'of attributes in .git/info',
    async () => {
      const repository = new GitRepository(join(folder, 'info-attributes'), 'case');
      const { commit } = repository.commit({ ...tree, g: '$Id$\n' });
      mkdirSync(join(repository.gitDir, 'info'), { recursive: true });
      writeFileSync(
        join(repository.gitDir, 'info', 'attributes'),
        '[attr]both eol=crlf ident\nd/** eol=crlf\ng both\n/f -text\n"r\\165n" text eol=crlf\n',
      );
      const job = { commit, kind: 'files', files: ['info/attributes'], asksGit: true } as const;
      expect(outcomes(await damageEach(repository, job, SEEDS_WITH_GIT)).has('as git')).toBe(true);
    },
    TIME_LIMIT_MS,
  );
});

describe('commits', () => {
  it(
    'are read or refused, and never as another tree than git reads',
    async () => {
      const repository = new GitRepository(join(folder, 'commits'), 'case');
      const { commit } = repository.commit(tree);
      const verdicts = await damageEach(repository, { commit, kind: 'commit' }, LONG ? 1000 : 60);
      expect(outcomes(verdicts).size).toBeGreaterThan(1);
    },
    TIME_LIMIT_MS,
  );
});

describe('SHA-256', () => {
  it.each([
    ['packs', /\.pack$/],
    ['pack indexes', /\.idx$/],
  ] as const)(
    '%s',
    async (name, pattern) => {
      const repository = new GitRepository(join(folder, `sha256-${name}`), 'case', ['--object-format=sha256']);
      const gitlinkless = Object.fromEntries(Object.entries(changed).filter(([path]) => path !== 'sub'));
      const { commit } = repository.commit(gitlinkless);
      repository.git(['repack', '-adfq']);
      const files = filesIn(repository, pattern);
      expect(files.length).toBe(1);
      const verdicts = await damageEach(repository, { commit, kind: 'files', files }, LONG ? 1000 : 60);
      expect(outcomes(verdicts).size).toBeGreaterThan(1);
    },
    TIME_LIMIT_MS,
  );
});

describe('multi-pack indexes', () => {
  /** Three packs; what the commit needs is in the last two. */
  function threePacks(name: string): { repository: GitRepository; commit: string; packs: string } {
    const repository = new GitRepository(join(folder, name), 'case');
    repository.commit(tree, { branch: 'one' });
    repository.commit({ ...tree, more: randomText(9, 900) }, { branch: 'two' });
    const { commit } = repository.commit({ ...changed, more: randomText(9, 900) });
    expect(filesIn(repository, /\.pack$/).length).toBe(3);
    return { repository, commit, packs: join(repository.gitDir, 'objects', 'pack') };
  }

  it.each([
    ['of version 1, as git writes them', 1],
    ['of version 2', 2],
  ])(
    '%s',
    async (_, version) => {
      const { repository, commit, packs } = threePacks(`midx-${version}`);
      if (version === 1) repository.git(['multi-pack-index', 'write']);
      else writeFileSync(join(packs, 'multi-pack-index'), ofAllPacks(repository, packs, version));
      const files = filesIn(repository, /multi-pack-index$/);
      expect(files.length).toBe(1);
      // git 2.39 does not know version 2.
      const job = { commit, kind: 'files', files, gitConfig: { 'core.multiPackIndex': 'false' } } as const;
      await damageEach(repository, job, SEEDS);
    },
    TIME_LIMIT_MS,
  );

  it(
    'chains, and the list that makes a chain of them',
    async () => {
      const { repository, commit, packs } = threePacks('chain');
      const layers = layersOf(repository, packs);
      const chain = join(packs, 'multi-pack-index.d');
      mkdirSync(chain);
      for (const layer of layers) writeFileSync(join(chain, `multi-pack-index-${layerName(layer)}.midx`), layer);
      writeFileSync(join(chain, 'multi-pack-index-chain'), layers.map((layer) => `${layerName(layer)}\n`).join(''));
      const files = filesIn(repository, /multi-pack-index-/);
      expect(files.length).toBe(4);
      await damageEach(repository, { commit, kind: 'files', files }, SEEDS);
    },
    TIME_LIMIT_MS,
  );

  it('that claim what they do not have', async () => {
    const fanoutOf = (index: Buffer): number => Number(index.readBigUInt64BE(12 + 12 + 4));
    const changes: Record<string, (index: Buffer) => Buffer> = {
      'no change': (index) => index,
      'four thousand million objects': (index) => index.fill(0xff, fanoutOf(index), fanoutOf(index) + 1024),
      'two thousand million objects at the end': (index) => (
        index.writeUInt32BE(2 ** 31, fanoutOf(index) + 1020),
        index
      ),
      'four thousand million packs': (index) => (index.writeUInt32BE(0xffffffff, 8), index),
      '255 chunks': (index) => index.fill(0xff, 6, 7),
      'chunks beyond the end': (index) => index.fill(0x7f, 16, 24),
      'chunks that end before they begin': (index) => index.fill(0, 28, 36),
      'names without an end': (index) => index.fill(0x61, Number(index.readBigUInt64BE(16)), fanoutOf(index)),
      'packs beyond all': (index) => index.fill(0x7f, Number(index.readBigUInt64BE(52)), index.length - 20),
      'version 9': (index) => index.fill(9, 4, 5),
      nothing: () => Buffer.alloc(0),
      'the magic alone': (index) => index.subarray(0, 4),
    };
    const { repository, commit, packs } = threePacks('claims');
    repository.git(['multi-pack-index', 'write']);
    const sound = readFileSync(join(packs, 'multi-pack-index'));
    const directories = Object.values(changes).map((change, i) => {
      const directory = join(folder, `claims-${i}`, 'case');
      cpSync(repository.directory, directory, { recursive: true });
      const path = join(directory, '.git', 'objects', 'pack', 'multi-pack-index');
      rmSync(path);
      writeFileSync(path, change(Buffer.from(sound)));
      return directory;
    });
    const verdicts = await runHostileJob({
      directory: directories[0]!,
      directories,
      commit,
      kind: 'as-is',
      asksGit: true,
      seeds: [0, 2 * directories.length],
    });
    for (const [i, verdict] of verdicts.entries()) {
      const shown = `${Object.keys(changes)[i >> 1] ?? ''}: ${JSON.stringify(verdict)}`;
      expect(verdict.outcome, shown).not.toBe('WRONG');
      expect(verdict.maxRssBytes, shown).toBeLessThan(MOST_MEMORY);
    }
  }, 120_000);
});

interface PackContent {
  /** Without ending. */
  readonly name: string;
  /** Those that no pack before it has. */
  readonly objects: readonly { readonly oid: string; readonly offset: number }[];
}

function packContents(repository: GitRepository, packs: string): PackContent[] {
  const names = readdirSync(packs).filter((name) => name.endsWith('.idx'));
  const seen = new Set<string>();
  return names.map((name) => {
    const listed = repository.git(['show-index'], { input: readFileSync(join(packs, name)) }).toString();
    const objects = listed
      .trim()
      .split('\n')
      .map((line) => line.split(' '))
      .map(([offset = '', oid = '']) => ({ oid, offset: Number(offset) }))
      .filter(({ oid }) => !seen.has(oid));
    for (const { oid } of objects) seen.add(oid);
    return { name: name.slice(0, -4), objects };
  });
}

/** A layer for each pack. */
function layersOf(repository: GitRepository, packs: string): Buffer[] {
  return packContents(repository, packs).map(({ name, objects }) =>
    multiPackIndex({ packs: [name], objects: objects.map((object) => ({ ...object, pack: 0 })) }),
  );
}

/** One for all packs; from version 2 on their names need no order. */
function ofAllPacks(repository: GitRepository, packs: string, version: number): Buffer {
  const contents = packContents(repository, packs).reverse();
  return multiPackIndex({
    version,
    packs: contents.map(({ name }) => name),
    objects: contents.flatMap(({ objects }, pack) => objects.map((object) => ({ ...object, pack }))),
  });
}

describe('replace refs', () => {
  it(
    'that name something else, or nothing, or no id',
    async () => {
      const repository = new GitRepository(join(folder, 'replace'), 'case');
      const { commit } = repository.commit(tree);
      const blob = repository.object('blob', 'in place of f\n');
      repository.git(['replace', repository.text(['rev-parse', `${commit}:f`]), blob]);
      repository.git(['replace', repository.text(['rev-parse', `${commit}:d/one`]), blob]);
      repository.git(['pack-refs', '--all']);
      repository.git(['replace', repository.text(['rev-parse', `${commit}:a.crlf`]), blob]);
      const loose = readdirSync(join(repository.gitDir, 'refs', 'replace')).map((name) => `refs/replace/${name}`);
      expect(loose.length).toBe(1);
      const job = { commit, kind: 'files', files: [...loose, 'packed-refs'], asksGit: true } as const;
      expect(outcomes(await damageEach(repository, job, SEEDS_WITH_GIT)).has('as git')).toBe(true);
    },
    TIME_LIMIT_MS,
  );
});
