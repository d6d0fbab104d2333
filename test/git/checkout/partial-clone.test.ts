/**
 * Partial clones: what is absent is fetched before anything is touched, blobs in one request, against git as the oracle. Requests
 * are counted where they arrive: at upload-pack.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { expectSameAsGit, FEW_MODES } from '../../support/oracle.ts';
import { runOurs } from '../../support/ours.ts';
import { git, GitRepository, type Commit } from '../../support/repository.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const folder = temporaryFolder('partial-clone');
const source = join(folder, 'source.git');
const requests = join(folder, 'requests');
const uploadPack = join(folder, 'upload-pack');

let commits: Commit[];
let made = 0;

const files = (version: number): Record<string, string> => ({
  '.gitattributes': '*.txt text eol=crlf\n',
  'a.txt': `a\n${version}\n`,
  'sub/.gitattributes': '*.txt -text\n',
  'sub/b.txt': `b\n${version}\n`,
  'sub/deep/er/c.txt': 'the same\n',
  'sub/deep/d': `d ${version}\n`,
  same: 'the same\n',
  ...Object.fromEntries([...Array(40).keys()].map((i) => [`many/${i % 4}/file-${i}`, `file ${i}\n`])),
});

/** A partial clone without a checkout. */
function partialClone(filter: string): GitRepository {
  const parent = join(folder, `case-${made++}`);
  const repository = new GitRepository(parent);
  rmSync(repository.directory, { recursive: true });
  git(parent, ['clone', '-q', '--no-checkout', `--filter=${filter}`, `file://${source}`, 'template']);
  repository.git(['config', 'remote.origin.uploadpack', uploadPack]);
  return repository;
}

/** Requests since the last time. */
function counted(): number {
  const count = existsSync(requests) ? readFileSync(requests, 'utf8').length : 0;
  rmSync(requests, { force: true });
  return count;
}

const status = (directory: string): string =>
  spawnSync('git', ['status', '--porcelain'], { cwd: directory, encoding: 'utf8' }).stdout;

beforeAll(() => {
  const repository = new GitRepository(join(folder, 'work'));
  commits = repository.commits([files(1), { ...files(2), link: { symlink: 'a.txt' } }]);
  git(folder, ['clone', '-q', '--bare', repository.directory, source]);
  git(source, ['config', 'uploadpack.allowFilter', 'true']);
  git(source, ['config', 'uploadpack.allowAnySHA1InWant', 'true']);
  writeFileSync(uploadPack, `#!/bin/sh\nprintf x >>'${requests}'\nexec git-upload-pack "$@"\n`);
  chmodSync(uploadPack, 0o755);
});

describe.skipIf(process.platform === 'win32')('a clone without blobs', () => {
  it('is checked out as by git, at first and at an update', async () => {
    const repository = partialClone('blob:none');
    await expectSameAsGit({ repository, revision: commits[1]!.commit });
    await expectSameAsGit({ repository, revision: commits[1]!.commit, from: commits[0]!.commit, modes: FEW_MODES });
  }, 60_000);

  it('asks once for all attributes, and once for all blobs that will be written', async () => {
    const { directory } = partialClone('blob:none');
    counted();
    const target = (version: number) => ({ kind: 'detach', revision: commits[version]!.commit }) as const;
    const first = await runOurs({ directory, target: target(0) });
    expect([first.report.error, first.report.engine, first.report.totals.files]).toEqual([undefined, 'native', 47]);
    expect(counted()).toBe(2);
    expect(status(directory)).toBe('');
    // The link is a blob like the others; the attributes and what stays are here.
    const second = await runOurs({ directory, target: target(1) });
    expect([second.report.error, second.report.totals.files, second.report.totals.kept]).toEqual([undefined, 4, 44]);
    expect(counted()).toBe(1);
    expect(second.infos).toEqual(["fetching 4 missing objects from 'origin'"]);
    expect(status(directory)).toBe('');
    const third = await runOurs({ directory, target: target(0) });
    expect([third.report.error, counted()]).toEqual([undefined, 0]);
  }, 60_000);

  it('touches nothing where the remote cannot be reached', async () => {
    const { directory } = partialClone('blob:none');
    const options = { directory, target: { kind: 'detach', revision: commits[0]!.commit } } as const;
    const before = readFileSync(join(directory, '.git', 'HEAD'), 'utf8');
    renameSync(source, `${source}.away`);
    try {
      const run = await runOurs(options);
      expect(run.report.error).toMatchObject({
        code: 'fetch-failed',
        message: expect.stringMatching(/^fetch of missing objects from 'origin' failed: [^\n]+$/) as string,
      });
      expect(readdirSync(directory)).toEqual(['.git']);
      expect(['index', 'index.lock'].filter((name) => existsSync(join(directory, '.git', name)))).toEqual([]);
      expect(readFileSync(join(directory, '.git', 'HEAD'), 'utf8')).toBe(before);
    } finally {
      renameSync(`${source}.away`, source);
    }
    // With fetching switched off, what is absent is missing as in any repository.
    process.env['GIT_NO_LAZY_FETCH'] = '1';
    try {
      const run = await runOurs(options);
      expect(run.report.error).toMatchObject({ code: 'write-failed' });
      expect(run.report.skipped.length).toBe(47);
    } finally {
      delete process.env['GIT_NO_LAZY_FETCH'];
    }
  }, 60_000);
});

describe.skipIf(process.platform === 'win32')('a clone without trees', () => {
  it('fetches trees before it walks them: not one by one', async () => {
    await expectSameAsGit({ repository: partialClone('tree:0'), revision: commits[1]!.commit, modes: FEW_MODES });
    const { directory } = partialClone('tree:0');
    counted();
    const run = await runOurs({ directory, target: { kind: 'detach', revision: commits[0]!.commit } });
    expect([run.report.error, run.report.totals.files, status(directory)]).toEqual([undefined, 47, '']);
    // The root tree, with which the others come; attributes; blobs.
    expect(counted()).toBe(3);
  }, 60_000);
});
