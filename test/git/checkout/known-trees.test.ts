/**
 * Checkouts over an index that knows most of the new trees, so that they are not read: what is in other trees, on disk and in
 * the configuration must count all the same.
 */
import { appendFileSync, mkdirSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { expectSameAsGit, FEW_MODES } from '../../support/oracle.ts';
import { git, GitRepository, type TreeSpec } from '../../support/repository.ts';
import { memoryFolder, temporaryFolder } from '../../support/temporary.ts';

const repository = new GitRepository(temporaryFolder('known-trees-checkout', memoryFolder()));
const base: TreeSpec = {
  '.gitattributes': '*.md text\n',
  'a/.gitattributes': '*.txt text eol=crlf\n',
  'a/b/one.txt': 'one\ntwo\n',
  'a/b/two.txt': 'one\ntwo\n',
  'a/b/deep/three.txt': 'one\ntwo\n',
  'c/d/file.txt': 'one\ntwo\n',
  'c/d/link': { symlink: 'file.txt' },
  'c/e/file.md': 'one\ntwo\n',
  'c/other': 'other\n',
  'f/g/h/file': 'file\n',
  'q/file': 'q\n',
};
const first = repository.commit(base).commit;

describe('attributes of files that are written again', () => {
  const lose = (directory: string): void => {
    for (const name of ['a/b/one.txt', 'a/b/deep', 'c/d/file.txt', 'c/e']) {
      rmSync(join(directory, name), { recursive: true });
    }
  };
  const cases: Record<string, (directory: string) => void> = {
    'of the commit': lose,
    'of an untracked file in a directory that is not read': (directory) => {
      lose(directory);
      writeFileSync(join(directory, 'c/.gitattributes'), '* text eol=crlf\n');
    },
    'not of a tracked file that was changed or is gone': (directory) => {
      lose(directory);
      writeFileSync(join(directory, 'a/.gitattributes'), '* -text\n');
      rmSync(join(directory, '.gitattributes'));
    },
    'not of a staged file that goes': (directory) => {
      lose(directory);
      writeFileSync(join(directory, 'c/.gitattributes'), '* text eol=crlf\n');
      git(directory, ['add', 'c/.gitattributes']);
    },
    'in an index of version 4': (directory) => {
      lose(directory);
      git(directory, ['update-index', '--index-version', '4']);
    },
  };
  it.each(Object.keys(cases))('%s', async (name) => {
    await expectSameAsGit({
      repository,
      revision: first,
      from: first,
      prepare: cases[name]!,
      unclean: true,
      modes: [0],
    });
  });

  it('of a new commit with other attributes above', async () => {
    const rules = repository.commit({ ...base, '.gitattributes': '* text eol=crlf\n' }).commit;
    const inside = repository.commit({ ...base, 'c/.gitattributes': '* text eol=crlf\n' }).commit;
    for (const [from, revision] of [
      [first, rules],
      [rules, first],
      [first, inside],
      [inside, first],
    ] as const) {
      // Files that stay are as they were converted before, with git as here.
      await expectSameAsGit({
        compareStatus: false,
        repository,
        revision,
        from,
        prepare: lose,
        unclean: true,
        modes: [0],
      });
    }
  });
});

it('work in directories that are not read', async () => {
  const next = repository.commit({ ...base, 'q/file': 'next\n', 'c/new': 'new\n' }).commit;
  const prepare = (directory: string): void => {
    const at = (name: string): string => join(directory, name);
    appendFileSync(at('a/b/one.txt'), 'more\n');
    utimesSync(at('a/b/two.txt'), 1, 1);
    rmSync(at('c/d/link'));
    mkdirSync(at('c/d/link/below'), { recursive: true });
    renameSync(at('f/g'), at('f/moved'));
    writeFileSync(at('f/g'), 'in the way\n');
  };
  for (const revision of [first, next]) {
    await expectSameAsGit({ repository, revision, from: first, prepare, unclean: true, modes: FEW_MODES });
  }
});

it('trees that git would not write, of which it wrote the index', async () => {
  const blob = repository.object('blob', 'content\n');
  const odd = repository.rawTree([{ mode: '100664', name: 'f', oid: blob }]);
  const unsorted = repository.rawTree([
    { mode: '100644', name: 'b', oid: blob },
    { mode: '100644', name: 'a', oid: blob },
  ]);
  const dirs = [
    { mode: '40000', name: 'odd', oid: repository.rawTree([{ mode: '40000', name: 'below', oid: odd }]) },
    { mode: '40000', name: 'unsorted', oid: unsorted },
  ];
  const plain = repository.rawCommit(repository.rawTree(dirs)).commit;
  const more = repository.rawCommit(repository.rawTree([{ mode: '100644', name: 'file', oid: blob }, ...dirs])).commit;
  const prepare = (directory: string): void => void git(directory, ['reset', '-q', '--hard']);
  // Such an index says of them what they are in the commit, and so does the next.
  for (const revision of [plain, more]) {
    await expectSameAsGit({
      repository,
      revision,
      from: plain,
      prepare,
      modes: [0],
      fsck: false,
      unclean: true,
    });
  }
});

it('a tree that is not there, of a directory that stays', async () => {
  const own = new GitRepository(temporaryFolder('known-trees-missing', memoryFolder()));
  const file = (name: string, content: string): { mode: string; name: string; oid: string } => ({
    mode: '100644',
    name,
    oid: own.object('blob', content),
  });
  const missing = own.rawTree([file('f', 'stays\n')]);
  const commitOf = (content: string): string =>
    own.rawCommit(own.rawTree([{ mode: '40000', name: 'a', oid: missing }, file('top', content)])).commit;
  const [from, revision] = [commitOf('first\n'), commitOf('next\n')];
  await expectSameAsGit({
    repository: own,
    revision,
    from,
    prepare: (directory) => rmSync(join(directory, '.git', 'objects', missing.slice(0, 2), missing.slice(2))),
    modes: [0],
    fsck: false,
    compareTree: false,
    compareStatus: false,
    inspect: (directory) => expect(readFileSync(join(directory, 'top'), 'utf8')).toBe('next\n'),
  });
});
