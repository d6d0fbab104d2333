/**
 * Trees as git never writes them, and names that only some file systems can bear: each is written as git writes it, or
 * refused before anything is touched, as git refuses it.
 */
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runOurs } from '../../support/ours.ts';
import { expectSameAsGit, FEW_MODES } from '../../support/oracle.ts';
import {
  git,
  GITLINK_OID,
  GitRepository,
  runGit,
  sortedEntries,
  utf8,
  type RawEntry,
  type TreeSpec,
} from '../../support/repository.ts';
import { memoryFolder, temporaryFolder } from '../../support/temporary.ts';
import { differences, snapshot } from '../../support/worktree.ts';

const folder = temporaryFolder('trees', memoryFolder());
const repository = new GitRepository(folder);
const blob = repository.object('blob', 'content\n');
const other = repository.object('blob', 'other\n');
const subtree = repository.rawTree([{ mode: '100644', name: 'inside', oid: blob }]);

const file = (name: string, oid = blob): RawEntry => ({ mode: '100644', name, oid });
const dir = (name: string, oid = subtree): RawEntry => ({ mode: '40000', name, oid });
const link = (name: string): RawEntry => ({ mode: '120000', name, oid: blob });

function commitOf(entries: RawEntry[]): string {
  return repository.rawCommit(repository.rawTree(entries)).commit;
}

describe('modes', () => {
  it('every mode is what its type bits and the owner bit say', async () => {
    const modes = [
      '100600',
      '100664',
      '100775',
      '100111',
      '0100644',
      '100755',
      '100644',
      '100000',
      '100100',
      '0000100644',
    ];
    const entries = modes.map((mode, i): RawEntry => ({ mode, name: `f${i}`, oid: blob }));
    entries.push({ mode: '120777', name: 'link', oid: blob }, { mode: '040000', name: 'tree', oid: subtree });
    await expectSameAsGit({ repository, revision: commitOf(sortedEntries(entries)), fsck: false });
  });

  it('a mode without a known type is a submodule', async () => {
    const entries = ['140000', '644', '20000', '160755', '1'].map((mode, i): RawEntry => ({
      mode,
      name: `g${i}`,
      oid: GITLINK_OID,
    }));
    await expectSameAsGit({ repository, revision: commitOf(sortedEntries([file('a'), ...entries])), fsck: false });
  });
});

describe('order and duplicates', () => {
  const rules = repository.object('blob', '* eol=crlf\n');
  const noRules = repository.object('blob', '* -text\n');
  const withRules = repository.rawTree([file('.gitattributes', rules), file('inside'), file('other', other)]);
  const cases: Record<string, RawEntry[]> = {
    unsorted: [file('c'), file('a'), dir('b'), file('aa')],
    'a name twice': [file('a'), file('a', other), file('b')],
    'a file and a directory of one name': [file('n'), dir('n')],
    'a directory and a file of one name': [dir('n'), file('n')],
    'a file and its directory, others between': [file('n'), file('n.x'), file('n0'), dir('n')],
    'a slash in a name': [file('p/q')],
    'a slash in a name beside the directory': [dir('p'), file('p/q')],
    'a directory twice, and one of its files again': [dir('p'), dir('p', withRules), file('p/other'), link('p/l')],
    'a file takes the place of what a file in a directory took': [file('p'), file('p/q/r'), file('p'), dir('p/q')],
    'rules that come last count for all': [
      dir('d'),
      file('a'),
      file('.gitattributes', noRules),
      file('d/.gitattributes', rules),
      file('.gitattributes', rules),
    ],
    'rules of a directory that is displaced': [dir('d', withRules), file('d'), file('d/inside'), file('a')],
    'links and submodules': [
      link('n'),
      dir('n'),
      { mode: '160000', name: 'n', oid: GITLINK_OID },
      file('m/x'),
      link('m'),
    ],
    'nothing below a name with a slash': [file('a'), dir('x/y', repository.rawTree([]))],
  };
  for (const [name, entries] of Object.entries(cases)) {
    it(name, async () => {
      const revision = commitOf(entries);
      await expectSameAsGit({ repository, revision, modes: FEW_MODES, fsck: false, unclean: true });
    });
  }

  it('over what was there before', async () => {
    const from = repository.commit({ a: 'content\n', 'n/x': 'x', p: 'was a file', c: 'other\n', z: 'goes' }).commit;
    const revision = commitOf([file('p/q'), file('c'), file('n'), file('a'), file('c', other), dir('n.d'), dir('b')]);
    // Over an index git loses entries of such trees; so git starts from nothing here.
    const prepareForGit = (directory: string): void => {
      for (const name of readdirSync(directory))
        if (name !== '.git') rmSync(join(directory, name), { recursive: true });
      rmSync(join(directory, '.git', 'index'));
    };
    const unlike = { prepareForGit, compareKept: false, modes: FEW_MODES, fsck: false, unclean: true };
    await expectSameAsGit({ repository, revision, from, ...unlike });
    await expectSameAsGit({ repository, revision: from, from: revision, ...unlike });
    await expectSameAsGit({ repository, revision, from: revision, ...unlike });
  });
});

describe('shapes', () => {
  it('no entry at all, and directories without any', async () => {
    const empty = repository.rawTree([]);
    await expectSameAsGit({ repository, revision: commitOf([]), modes: FEW_MODES });
    const nested = repository.rawTree([dir('deeper', empty)]);
    const entries = [file('a'), dir('full'), dir('hollow', empty), dir('nested', nested), file('z')];
    await expectSameAsGit({ repository, revision: commitOf(entries), fsck: false });
  });

  it('a directory of 1,000 levels', async () => {
    // In a repository of its own, as the next: every case copies all objects of its repository.
    const deep = new GitRepository(join(folder, 'deep'));
    let tree = deep.rawTree([file('f', deep.object('blob', 'content\n'))]);
    for (let level = 0; level < 999; level++) {
      tree = deep.rawTree(level % 10 === 0 ? [dir('d', tree), file('f', blob)] : [dir('d', tree)]);
    }
    const { commit } = deep.rawCommit(tree);
    deep.git(['repack', '-adq']);
    deep.git(['prune-packed']);
    await expectSameAsGit({ repository: deep, revision: commit, modes: FEW_MODES, fsck: false });
    const config = { 'core.maxTreeDepth': '999' };
    const { directory } = deep;
    const { report } = await runOurs({ directory, target: { kind: 'detach', revision: commit }, config });
    expect(report.error?.code).toBe('tree-too-deep');
    expect(readdirSync(directory)).toEqual(['.git']);
  }, 60_000);

  it('one directory of 1,200 files and 300 directories of one', async () => {
    const spec: Record<string, string> = {};
    for (let i = 0; i < 1200; i++) spec[`wide/file-${i}`] = `${i % 10}`;
    for (let i = 0; i < 300; i++) spec[`each/d${i}/file`] = `${i % 10}`;
    const wide = new GitRepository(join(folder, 'wide'));
    await expectSameAsGit({ repository: wide, revision: wide.commit(spec).commit, modes: [0, 5], fsck: false });
  }, 60_000);

  it('names that share beginnings in every way that order depends on', async () => {
    const names = [
      'a',
      'a-',
      'a-b/c',
      'a.',
      'a.b',
      'a/b',
      'a/b-c',
      'a0',
      'ab/c',
      'ab-',
      'b/a/a',
      'b/a-/a',
      'b/a.x',
      'b-',
    ];
    const spec: Record<string, string> = {};
    for (const name of names) if (name !== 'a') spec[name] = name;
    spec['a0'] = 'a0';
    const { commit } = repository.commit(spec);
    await expectSameAsGit({ repository, revision: commit });
  });
});

describe('names', () => {
  it('bytes that are no UTF-8, controls, quotes, dashes, and the longest', async () => {
    const spec: TreeSpec = {
      '\xff\xfe': 'invalid utf-8',
      '\xc3\x28': 'invalid utf-8',
      'd\x80/\xe2\x82': 'cut off',
      'new\nline': 'x',
      'tab\tname': 'x',
      'quote"name': 'x',
      "single'quote": 'x',
      'back\\slash': 'x',
      '-dash': 'x',
      '--force': 'x',
      ' leading and trailing ': 'x',
      '\x01\x7f\x1b[31m': 'controls',
      '*': 'star',
      '[a]?': 'pattern',
      ':(glob)': 'magic',
      '...': 'dots',
      '.gi': 'x',
      '.gita': 'x',
      [utf8('ü/ñ/日本語')]: 'x',
      [utf8('u\u0308')]: 'decomposed',
      [utf8('😀')]: 'x',
      ['n'.repeat(255)]: '255 bytes',
      [`${'l'.repeat(255)}/${'m'.repeat(255)}`]: 'deeper',
      con: 'x',
      'CON.txt': 'x',
      'aux.txt': 'x',
      'a.': 'x',
      'a ': 'x',
      'a:b': 'x',
      'COM1.x': 'x',
      LPT0: 'x',
      A: 'upper',
      'git~2': 'x',
      '.gitx': 'x',
      '.git x': 'x',
      'git~10': 'x',
      [utf8('.g\u200cit')]: 'ignorable',
      gitmodules: 'x',
      '.gitmodules.': 'x',
      '.gitmodules': '[submodule "x"]\n\tpath = x\n\turl = ./x\n',
    };
    const { commit } = repository.commit(spec);
    await expectSameAsGit({ repository, revision: commit });
  });

  it('one name longer than the file system takes: that file fails, the rest is written', async () => {
    const long = 'x'.repeat(256);
    const entries = sortedEntries([file('a'), file(long), dir('d'), file('z')]);
    await expectSameAsGit({
      repository,
      revision: commitOf(entries),
      exit: 1,
      error: 'write-failed',
      failed: [long],
      unclean: true,
    });
  });

  it('paths of more than 4,000 bytes that fit, and the index flags that cannot hold their length', async () => {
    // Relative to the working tree they fit PATH_MAX, with its own path in front they may not.
    const part = 'p'.repeat(99);
    const spec: Record<string, string> = { top: 'x' };
    spec[`${`${part}/`.repeat(39)}f`] = 'x';
    const { commit } = repository.commit(spec);
    await expectSameAsGit({ repository, revision: commit, modes: FEW_MODES, engine: 'any' });
    // More than any system call takes: git, which does it, gives up in the middle, and leaves no index.
    const deep = new GitRepository(join(folder, 'too-long'));
    const tooLong = deep.commit({ [`${`${part}/`.repeat(50)}f`]: 'x', zz: 'x' }).commit;
    const { report } = await runOurs({ directory: deep.directory, target: { kind: 'detach', revision: tooLong } });
    expect(report.engine).toBe('git');
    expect(report.error?.code).toBe('git-failed');
    expect(existsSync(join(deep.gitDir, 'index'))).toBe(false);
    expect(existsSync(join(deep.directory, 'zz'))).toBe(false);
    const longer = repository.commit({ ...spec, [`${`${part}/`.repeat(40)}${'f'.repeat(94)}`]: 'x' });
    await expectSameAsGit({ repository, revision: longer.commit, modes: FEW_MODES, engine: 'any' });
  });
});

describe('names that must be refused', () => {
  const evil: [name: string, entries: RawEntry[], config?: Record<string, string>][] = [];
  for (const name of [
    '.git',
    '.GIT',
    '.Git',
    '..',
    '.',
    '',
    'git~1',
    'GIT~1',
    '.git.',
    '.git ',
    '.git. .',
    '.git::$INDEX_ALLOCATION',
    '.git:x',
    'a\\.git',
    'a\\git~1',
    '.git\\x',
    '..\\.git',
  ]) {
    evil.push([`file ${JSON.stringify(name)}`, [file(name)]]);
    evil.push([`directory ${JSON.stringify(name)}`, [dir(name)]]);
    evil.push([`link ${JSON.stringify(name)}`, [link(name)]]);
    evil.push([`submodule ${JSON.stringify(name)}`, [{ mode: '160000', name, oid: GITLINK_OID }]]);
  }
  for (const name of [
    '.gitmodules',
    '.GITMODULES',
    'gitmod~1',
    'GITMOD~4',
    'gi7eba~1',
    'GI7E~123',
    '.gitmodules . ',
    '.gitmodules:x',
    'gi7eb~12',
    'gi7d29~1',
    'gitmod~5',
    '.gitmodulesx',
    '.gitattributes',
    '.gitignore',
    '.mailmap',
    'gi7eba~0',
  ]) {
    evil.push([`link ${JSON.stringify(name)}`, [link(name)]]);
    evil.push([`file ${JSON.stringify(name)}`, [file(name)]]);
  }
  for (const name of ['.git~2', utf8('.g\u200cit'), utf8('.GI\ufeffT'), utf8('\u200e.git'), utf8('.git\u206a')]) {
    evil.push([`HFS ${JSON.stringify(name)}`, [file(name)], { 'core.protectHFS': 'true' }]);
    evil.push([`no HFS ${JSON.stringify(name)}`, [file(name)], { 'core.protectHFS': 'false' }]);
  }
  evil.push(['HFS link .gitmodules', [link(utf8('.gitmod\u200cules'))], { 'core.protectHFS': 'true' }]);
  for (const name of ['git~1', '.git ', '.git:x', 'a\\.git', '.GIT']) {
    evil.push([`no NTFS ${JSON.stringify(name)}`, [file(name)], { 'core.protectNTFS': 'false' }]);
  }
  evil.push(['a slash first', [file('/etc')]], ['a slash last', [file('etc/')]], ['two slashes', [file('a//b')]]);
  evil.push(
    ['dot-dot between slashes', [file('a/../../b')]],
    ['.git below', [dir('d', repository.rawTree([file('.git')]))]],
  );

  // Neither side may touch anything when it refuses, so all of them go through one copy each of the same working tree.
  it.each([
    ['alone', 0],
    ['beside good names', 2],
  ] as const)(
    'as git refuses them, with nothing touched: %s',
    async (kind, workers) => {
      // In a repository of its own, since these are many objects.
      const repository = new GitRepository(join(folder, `refuse-${kind.slice(0, 5)}`));
      repository.object('blob', 'content\n');
      repository.rawTree([file('inside')]);
      repository.rawTree([file('.git')]);
      const commitOf = (entries: RawEntry[]): string => repository.rawCommit(repository.rawTree(entries)).commit;
      const start = repository.commit({ a: 'a', 'd/inside': 'd', '.gitx': 'x' });
      const directories = ['git', 'ours'].map((name) => {
        const directory = join(repository.directory, '..', name);
        git(folder, ['clone', '-q', '--no-checkout', '--shared', repository.directory, directory]);
        git(directory, ['checkout', '-q', '--detach', start.commit]);
        return directory;
      });
      const [theirs, ours] = directories as [string, string];
      const wrong: string[] = [];
      let refused = 0;
      let written = 0;
      for (const [i, [name, entries, config = {}]] of evil.entries()) {
        if (kind === 'beside good names' && i % 3 > 0) continue;
        const all =
          kind === 'beside good names' ? sortedEntries([file('good'), file('zz'), dir('sub'), ...entries]) : entries;
        const revision = commitOf(all);
        const args = ['checkout', '-q', '--force', '--detach', revision];
        const expected = runGit(theirs, args, { config });
        const before = snapshot(ours);
        const index = readFileSync(join(ours, '.git', 'index'));
        const run = await runOurs({ directory: ours, target: { kind: 'detach', revision }, workers, config });
        const { error } = run.report;
        if ((expected.status === 0) !== (error === undefined)) {
          wrong.push(`${name}: git's status is ${expected.status ?? '?'}, ours is ${error?.code ?? 'success'}`);
        } else if (error === undefined) {
          written++;
          wrong.push(...differences(snapshot(theirs), snapshot(ours)).map((line) => `${name}: ${line}`));
        } else {
          refused++;
          // A tree entry without a name is no tree entry.
          const code = name.endsWith('""') ? 'tree-invalid' : 'path-invalid';
          if (error.code !== code) wrong.push(`${name}: code ${error.code}: ${error.message}`);
          wrong.push(...differences(before, snapshot(ours)).map((line) => `${name}: touched ${line}`));
          if (!readFileSync(join(ours, '.git', 'index')).equals(index)) wrong.push(`${name}: the index was touched`);
          if (existsSync(join(ours, '.git', 'index.lock'))) wrong.push(`${name}: the lock stays`);
        }
        // Both start from the same again, whatever came of it.
        for (const directory of expected.status === 0 || error === undefined ? directories : []) {
          git(directory, ['checkout', '-q', '--force', '--detach', start.commit], {
            config: { 'core.protectNTFS': 'false' },
          });
        }
      }
      expect(wrong).toEqual([]);
      expect(refused).toBeGreaterThan(25);
      expect(written).toBeGreaterThan(5);
    },
    60_000,
  );
});

describe('objects of the wrong kind', () => {
  it('a directory that is a blob, and one that is missing: refused, nothing touched', async () => {
    const from = repository.commit({ a: 'old', 'd/inside': 'old' }).commit;
    for (const oid of [blob, GITLINK_OID]) {
      await expectSameAsGit({
        repository,
        revision: commitOf([file('a'), dir('d', oid)]),
        from,
        modes: FEW_MODES,
        exit: 128,
        error: /^(tree-invalid|object-missing)$/,
      });
    }
  });

  it('a file that is a tree fails alone', async () => {
    await expectSameAsGit({
      repository,
      revision: commitOf([file('a'), file('b', subtree), file('c')]),
      exit: 1,
      error: 'write-failed',
      failed: ['b'],
      unclean: true,
      fsck: false,
    });
  });

  it('a tree that ends in the middle of an entry: refused, nothing touched', async () => {
    const from = repository.commit({ a: 'old' }).commit;
    const whole = Buffer.from('100644 a\0', 'latin1');
    for (const body of [whole, Buffer.from('100644'), Buffer.from('100644 a'), Buffer.from(' a\0'.padEnd(23, 'x'))]) {
      const tree = repository.object('tree', body);
      await expectSameAsGit({
        repository,
        revision: repository.rawCommit(tree).commit,
        from,
        modes: [0],
        exit: 128,
        error: /^(tree-invalid|object-corrupt|path-invalid)$/,
      });
    }
  });
});

describe('the umask', () => {
  it.each([0o022, 0o077, 0o000, 0o027])('%o', async (umask) => {
    const spec: TreeSpec = {
      plain: 'x',
      tool: { content: '#!/bin/sh\n', executable: true },
      'd/e/tool': { content: 'x', executable: true },
      'd/e/plain': 'x',
      link: { symlink: 'plain' },
      'sub/module': { gitlink: GITLINK_OID },
    };
    const { commit } = repository.commit(spec);
    const old = process.umask(umask);
    try {
      await expectSameAsGit({ repository, revision: commit, modes: FEW_MODES });
      const mode = (directory: string): void => chmodSync(join(directory, 'plain'), 0o600);
      await expectSameAsGit({ repository, revision: commit, from: commit, prepare: mode, modes: [0] });
      const content = (directory: string): void => writeFileSync(join(directory, 'tool'), 'changed');
      const config = { 'core.fileMode': 'false' };
      await expectSameAsGit({
        repository,
        revision: commit,
        from: commit,
        prepare: content,
        config,
        modes: [2],
      });
    } finally {
      process.umask(old);
    }
  });
});
