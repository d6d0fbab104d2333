/**
 * Paths that the file system takes for one: what is left, and what the index says of it, is what git leaves that writes one entry
 * after the other.
 */
import { existsSync, lstatSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { foldingFolder } from '../../support/folding-folder.ts';
import { clone, ROOMY_HOST, runOurs, spawnGit } from '../../support/ours.ts';
import { git, GITLINK_OID, GitRepository, runGit, utf8, type TreeSpec } from '../../support/repository.ts';
import { temporaryFolder } from '../../support/temporary.ts';
import { differences, leftovers, snapshot } from '../../support/worktree.ts';

const folder = temporaryFolder('collisions');
const folding = await foldingFolder(folder);
afterAll(async () => {
  await folding?.remove();
});
const repository = new GitRepository(join(folder, 'source'));

const module = { gitlink: GITLINK_OID };
const cases: Record<string, TreeSpec> = {
  'two files': { A: 'upper\n', a: 'lower, and longer\n', b: 'b\n' },
  'three files': { 'd/AB': '1\n', 'd/Ab': '22\n', 'd/aB': '333\n', 'd/c': 'c\n' },
  'a file after a directory': { 'A/x': 'x\n', 'A/y/z': 'z\n', a: 'file\n', b: 'b\n' },
  'a file before a directory': { A: 'file\n', 'a/x': 'x\n', 'a/y/z': 'z\n', b: 'b\n' },
  'directories of one name are one': { 'A/x': 'x\n', 'a/y': 'y\n', 'A/z': 'upper\n', 'a/z': 'lower\n' },
  'a directory, a file, a directory': { 'AA/x': 'x\n', Aa: 'file\n', 'aA/y': 'y\n' },
  'composed and decomposed': { [utf8('\u00e9')]: 'composed\n', [utf8('e\u0301')]: 'decomposed\n', e: 'e\n' },
  'CVE-2021-21300: a link before files that would go through it': {
    D: { symlink: 'e' },
    'd/x': 'x\n',
    'e/kept': 'e\n',
  },
  'CVE-2021-21300: a link into the git directory before a hook': {
    H: { symlink: '.git/hooks' },
    'h/post-checkout': { content: '#!/bin/sh\nexit 1\n', executable: true },
  },
  'CVE-2021-21300: a link before a file that its filter driver puts off': {
    '.gitattributes': 'delay-* filter=slow\n',
    'A/delay-x': 'x\n',
    'A/y': 'y\n',
    a: { symlink: '.git/hooks' },
    'B/delay-z': 'z\n',
  },
  'CVE-2021-21300: a link over the directory of what is put off': {
    '.gitattributes': 'delay-* filter=slow\n',
    D: { symlink: '.git/hooks' },
    'd/delay-x': 'x\n',
    'd/y': 'y\n',
  },
  'a link after a directory': { 'A/x': 'x\n', a: { symlink: 'b' }, 'b/y': 'y\n' },
  'a link and a file': { L: { symlink: 'b' }, l: 'file\n', M: 'file\n', m: { symlink: 'b' }, b: 'b\n' },
  submodules: { S: module, s: 'file\n', T: 'file\n', t: module, 'U/x': 'x\n', u: module },
  'many of one directory': Object.fromEntries(
    Array.from({ length: 40 }, (_, i) => [`${i % 2 ? 'X' : 'x'}/${i >> 1}`, `${i}\n`]),
  ),
};

/** A long-running driver that puts off what is called delay-…, for the case that has attributes for it. */
const DRIVER = {
  'filter.slow.process': `'${process.execPath}' '${join(import.meta.dirname, '../../support/filter-driver.js')}' .git/driver.log smudge delay`,
};

const LABELS = ['git', 'ours-0', 'ours-2'] as const;

/** As git: one entry after the other. */
const ONE_WORKER = { 'checkout.workers': '1' };

const view = (directory: string): string =>
  [
    git(directory, ['ls-files', '-s']).toString(),
    // Whether a filtered file is listed as modified depends on the second in which the index was written.
    runGit(directory, ['status', '--porcelain', '--ignore-submodules'])
      .stdout.toString()
      .replace(/^ M .*\n/gm, ''),
  ].join();

describe.skipIf(folding === null)('on a file system that folds names', () => {
  const place = folding?.directory ?? '';

  it.each(Object.entries(cases))('%s', async (_name, spec) => {
    const { commit } = repository.commit(spec);
    const top = join(place, 'fresh');
    mkdirSync(top);
    const seen = [];
    for (const label of LABELS) {
      const directory = join(top, label);
      git(top, ['clone', '-q', '--no-checkout', '--shared', repository.directory, label]);
      // Settings that came from elsewhere are no reason to write out of order.
      if (label === 'ours-2') git(directory, ['config', 'core.ignoreCase', 'false']);
      if (label === 'git') {
        const args = ['checkout', '-q', '--force', '--detach', commit];
        expect(runGit(directory, args, { config: { ...ONE_WORKER, ...DRIVER } }).status).toBe(0);
      } else {
        const { report } = await runOurs({
          directory,
          target: { kind: 'detach', revision: commit },
          workers: label === 'ours-0' ? 0 : 2,
          config: DRIVER,
        });
        expect(report.error).toBeUndefined();
        expect(report.engine).toBe('native');
        expect(leftovers(join(directory, '.git'))).toEqual([]);
        expect(existsSync(join(directory, '.git', 'hooks', 'delay-x'))).toBe(false);
        git(directory, ['config', 'core.ignoreCase', 'true']);
      }
      seen.push({ files: snapshot(directory), view: view(directory) });
    }
    rmSync(top, { recursive: true });
    const [expected, ...ours] = seen;
    for (const each of ours) {
      expect(differences(expected!.files, each.files)).toEqual([]);
      expect(each.view).toBe(expected!.view);
    }
  });

  it('over an earlier checkout: from one spelling to the other, and to both', async () => {
    const commits = repository.commits([
      { A: 'upper\n', 'd/x': 'x\n', l: { symlink: 'A' } },
      { a: 'lower, longer\n', 'D/x': 'x\n', L: 'file\n' },
      { A: 'upper\n', a: 'lower, longer\n', 'D/x': 'x\n', d: 'file\n', l: { symlink: 'A' } },
      { a: 'lower, longer\n', 'd/x': 'other\n', L: { symlink: 'A' } },
    ]);
    const top = join(place, 'over');
    mkdirSync(top);
    for (const label of ['git', 'ours'])
      git(top, ['clone', '-q', '--no-checkout', '--shared', repository.directory, label]);
    const [theirs, ours] = ['git', 'ours'].map((label) => join(top, label)) as [string, string];
    for (const [step, { commit }] of commits.entries()) {
      git(theirs, ['checkout', '-q', '--force', '--detach', commit], { config: ONE_WORKER });
      const { report } = await runOurs({ directory: ours, target: { kind: 'detach', revision: commit } });
      expect(report.error).toBeUndefined();
      expect(differences(snapshot(theirs), snapshot(ours)), `step ${step}`).toEqual([]);
      expect(git(ours, ['ls-files', '-s']).toString()).toBe(git(theirs, ['ls-files', '-s']).toString());
    }
    rmSync(top, { recursive: true });
  });

  it('CVE-2024-32002: a clone keeps directories from becoming links, and says which paths have collided', async () => {
    const spec: TreeSpec = {
      A: 'upper\n',
      a: 'lower\n',
      'D/x': 'x\n',
      d: { symlink: 'e' },
      'e/y': 'y\n',
      'M/modules/x': module,
      m: { symlink: '.git' },
      z: 'z\n',
    };
    repository.git(['branch', '-f', 'clone-me', repository.commit(spec).commit]);
    const top = join(place, 'clones');
    mkdirSync(top);
    const said = runGit(top, ['clone', '-q', '-b', 'clone-me', repository.directory, 'git'], { config: ONE_WORKER });
    const warnings: string[] = [];
    const report = await clone(
      {
        url: repository.directory,
        directory: join(top, 'ours'),
        ref: 'clone-me',
        workers: 2,
        memoryLimitBytes: 'auto',
        engine: 'native',
        transport: 'auto',
        hostFacts: ROOMY_HOST,
        config: [{ key: 'checkout.thresholdForParallelism', value: '0' }],
      },
      {
        git: spawnGit,
        observer: {
          info: () => undefined,
          warning: (line) => void warnings.push(line),
          progress: () => undefined,
        },
      },
    );
    expect(report.error).toBeUndefined();
    expect(differences(snapshot(join(top, 'git')), snapshot(join(top, 'ours')))).toEqual([]);
    expect(readFileSync(join(top, 'ours', 'D', 'x'), 'utf8')).toBe('x\n');
    expect(lstatSync(join(top, 'ours', 'm')).isDirectory()).toBe(true);
    expect(existsSync(join(top, 'ours', '.git', 'modules'))).toBe(false);
    expect(view(join(top, 'ours'))).toBe(view(join(top, 'git')));
    const [warning = ''] = warnings;
    expect(warning).toContain("'A', 'D/x', 'M/modules/x', 'a', 'd', 'm'");
    expect(warning).not.toContain("'z'");
    // git names at least those that it saw, in the same words.
    const words = said.stderr.toString().replaceAll('\n', ' ');
    expect(words).toContain(warning.slice(0, warning.indexOf(':')));
    rmSync(top, { recursive: true });
  });
});

it('where names do not fold, nothing collides and nothing is said', async () => {
  const { commit } = repository.commit({ A: 'upper\n', a: 'lower\n', 'B/x': 'x\n', b: 'file\n', l: { symlink: 'A' } });
  const directory = join(folder, 'plain');
  git(folder, ['clone', '-q', '--no-checkout', '--shared', repository.directory, directory]);
  git(directory, ['config', 'core.ignoreCase', 'true']);
  const { report, warnings } = await runOurs({ directory, target: { kind: 'detach', revision: commit } });
  expect(report.error).toBeUndefined();
  expect(warnings).toEqual([]);
  if (folding?.directory !== folder) {
    expect(report.totals.files).toBe(5);
    expect(git(directory, ['status', '--porcelain']).toString()).toBe('');
  }
});
