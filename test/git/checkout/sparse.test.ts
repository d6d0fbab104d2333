/**
 * Sparse checkouts as git makes them: fresh ones, and updates from one set of patterns and one commit to another with files
 * that somebody changed. Which entries a file of patterns includes is tested at length in test/git/sparse-patterns.test.ts.
 */
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'vitest';
import { ALL_MODES, expectSameAsGit, type OracleCase } from '../../support/oracle.ts';
import { git, GITLINK_OID, GitRepository, type TreeSpec } from '../../support/repository.ts';
import { memoryFolder, temporaryFolder } from '../../support/temporary.ts';

const folder = temporaryFolder('sparse', memoryFolder());
const repository = new GitRepository(folder);

const common: TreeSpec = {
  '.gitattributes': '*.crlf text eol=crlf\n',
  root: 'root\n',
  'a/file': 'a\n',
  'a/b/file': 'b\n',
  'a/b/deep/file': 'deep\n',
  'a/link': { symlink: 'file' },
  'a/run': { content: 'run\n', executable: true },
  'c/file': 'c\n',
  'c/text.crlf': 'crlf\n',
  'c/d/.gitattributes': 'text.* -text\n* ident\n',
  'c/d/text.crlf': 'not converted\n',
  'e/file': 'e\n',
  'we[ird/file': 'weird\n',
};
const first = repository.commit({
  ...common,
  'a/old': 'old\n',
  'c/old': 'old\n',
  'c/gone/file': 'gone\n',
  'a/module': { gitlink: GITLINK_OID },
  'c/module': { gitlink: GITLINK_OID },
  'kind/x': 'a directory\n',
});
const second = repository.commit({
  ...common,
  'a/file': 'changed a\n',
  'a/new': 'new\n',
  'c/file': 'changed c\n',
  'c/new': 'new\n',
  'c/module': { gitlink: GITLINK_OID.replace('1', '2') },
  kind: 'a file\n',
});

const CONE = { 'core.sparseCheckout': 'true', 'core.sparseCheckoutCone': 'true' };
const PATTERNS = { 'core.sparseCheckout': 'true' };

const ROOT_ONLY = '/*\n!/*/\n';
const IN_A = '/*\n!/*/\n/a/\n';
const IN_B = '/*\n!/*/\n/a/\n!/a/*/\n/a/b/\n';
const IN_C = '/*\n!/*/\n/c/\n';

function setPatterns(directory: string, patterns: string | null): void {
  const file = join(directory, '.git', 'info', 'sparse-checkout');
  mkdirSync(join(directory, '.git', 'info'), { recursive: true });
  rmSync(file, { force: true });
  if (patterns !== null) writeFileSync(file, patterns);
}

function fresh(patterns: string | null, config: Readonly<Record<string, string>>, more: Partial<OracleCase> = {}) {
  return expectSameAsGit({
    repository,
    revision: first.commit,
    prepare: (directory) => setPatterns(directory, patterns),
    config,
    modes: [2],
    fsck: false,
    present: 0,
    ...more,
  });
}

describe('into an empty directory', () => {
  it.each<[string, string | null, Partial<OracleCase>?]>([
    ['the files at the top only', ROOT_ONLY],
    ['a directory in another', IN_B, { modes: ALL_MODES }],
    ['a directory with an escape', '/*\n!/*/\n/we\\[ird/\n'],
    // Some of git's commands repeat the warning.
    ['a pattern that fits no cone', '/*\n!/*/\n/we[ird/\na/b\n', { compareStatus: false }],
    ['an empty file', ''],
    ['line ends of Windows, and a comment', '/*\r\n!/*/\r\n# a comment\r\n/a/\r\n'],
    ['no file', null],
  ])('cone: %s', async (_, patterns, more) => {
    await fresh(patterns, CONE, more);
  });

  it.each<[string, string, Partial<OracleCase>?]>([
    ['a name at any level', 'file\n', { modes: ALL_MODES }],
    ['a directory without another in it', 'a/\n!a/b/\n'],
    ['what is in a directory but one', '/a/*\n!/a/b\n'],
    ['everything but a directory', '/*\n!e\n'],
    ['submodules by a pattern for directories', 'module/\n'],
    ['nothing', '# nothing\n'],
  ])('patterns: %s', async (_, patterns, more) => {
    await fresh(patterns, PATTERNS, more);
  });

  it('is refused for a path outside of the cone that would be refused inside', async () => {
    const blob = repository.object('blob', 'x');
    const inside = repository.rawTree([{ mode: '100644', name: '.git', oid: blob }]);
    const tree = repository.rawTree([{ mode: '40000', name: 'out', oid: inside }]);
    await fresh(ROOT_ONLY, CONE, {
      revision: repository.rawCommit(tree).commit,
      exit: 128,
      error: 'path-invalid',
    });
  });

  it('reads no attributes and no blobs outside of the cone', async () => {
    // The attributes would name a filter that only git runs, and the blob is missing: neither matters.
    const absent = 'ab'.repeat(20);
    const attributes = repository.object('blob', '* filter=some\n');
    const a = repository.object('blob', 'a\n');
    const out = repository.rawTree([
      { mode: '100644', name: '.gitattributes', oid: attributes },
      { mode: '100644', name: 'file', oid: absent },
    ]);
    const tree = repository.rawTree([
      { mode: '100644', name: 'file', oid: a },
      { mode: '40000', name: 'out', oid: out },
    ]);
    await fresh(
      ROOT_ONLY,
      { ...CONE, 'filter.some.smudge': 'false', 'filter.some.required': 'true' },
      { revision: repository.rawCommit(tree).commit, fsck: false, compareTree: false },
    );
  });
});

interface Update extends Partial<OracleCase> {
  readonly dirty?: (directory: string) => void;
  /**
   * git's copy gets the new patterns first and then the new commit. In one step git (2.39) forgets to write files: of a cone
   * that comes in, those that sort behind a file that is new in the commit.
   */
  readonly inTwoSteps?: true;
}

/** From one commit and set of patterns to others, with `dirty` in between. */
function update(from: string | null, to: string | null, more: Update = {}): Promise<void> {
  const { dirty, inTwoSteps, ...rest } = more;
  const config = rest.config ?? CONE;
  return expectSameAsGit({
    repository,
    revision: second.commit,
    config,
    modes: [2],
    fsck: false,
    ...(to === null ? {} : { present: 0 }),
    ...rest,
    prepare: (directory) => {
      setPatterns(directory, from);
      git(directory, ['checkout', '-q', '--force', '--detach', first.commit], { config });
      setPatterns(directory, to);
      dirty?.(directory);
    },
    ...(inTwoSteps !== true
      ? {}
      : {
          prepareForGit: (directory) => {
            setPatterns(directory, from);
            git(directory, ['checkout', '-q', '--force', '--detach', first.commit], { config });
            setPatterns(directory, to);
            git(directory, ['read-tree', '-m', '-u', 'HEAD'], { config });
          },
          compareKept: false,
        }),
  });
}

describe('an update', () => {
  it('within the same cone', async () => {
    await update(IN_A, IN_A, { modes: ALL_MODES });
  });

  it('to another cone', async () => {
    await update(IN_A, IN_C, { modes: ALL_MODES, inTwoSteps: true });
  });

  it('to another cone of the same commit', async () => {
    await update(IN_A, IN_C, { revision: first.commit });
  });

  it('to a narrower and a wider one', async () => {
    await update(IN_A, IN_B);
    await update(IN_B, IN_A, { inTwoSteps: true });
  });

  it('to a full one, and from it', async () => {
    await update(ROOT_ONLY, '/*\n', { inTwoSteps: true });
    await update(null, ROOT_ONLY);
    // What is marked stays marked then.
    await update(ROOT_ONLY, null);
  });

  it('by patterns', async () => {
    await update('file\n!c/\n', '/c/\nlink\nmodule/\n', { config: PATTERNS });
    await update('/c/\nlink\nmodule/\n', 'module/\n', { config: PATTERNS });
  });

  it('from a directory where files that leave the cone were changed', async () => {
    const dirty = (directory: string): void => {
      writeFileSync(join(directory, 'a', 'file'), 'changed by somebody\n');
      writeFileSync(join(directory, 'a', 'b', 'file'), 'changed by somebody\n');
      writeFileSync(join(directory, 'a', 'untracked'), 'stays\n');
      rmSync(join(directory, 'a', 'run'));
      writeFileSync(join(directory, 'a', 'module', 'inside'), 'of the submodule\n');
    };
    // A submodule's directory that is not empty stays, and is on disk then.
    await update(IN_A, IN_C, { dirty, unclean: true, revision: first.commit, present: 1 });
    await update(IN_A, ROOT_ONLY, { dirty, unclean: true });
  });

  it('where files outside of the cone are on disk', async () => {
    const dirty = (directory: string): void => {
      mkdirSync(join(directory, 'c', 'gone'), { recursive: true });
      mkdirSync(join(directory, 'e'));
      // As it would have been, other than it would have been, no longer in the tree, new in the tree.
      writeFileSync(join(directory, 'c', 'text.crlf'), 'crlf\r\n');
      writeFileSync(join(directory, 'c', 'file'), 'other\n');
      writeFileSync(join(directory, 'c', 'gone', 'file'), 'gone\n');
      writeFileSync(join(directory, 'c', 'new'), 'somebody else made this\n');
      symlinkSync('nowhere', join(directory, 'e', 'file'));
    };
    await update(IN_A, IN_A, { dirty, unclean: true, present: 1 });
    await update(IN_A, IN_C, { dirty, unclean: true, revision: first.commit });
    await update(IN_A, ROOT_ONLY, { dirty, unclean: true, present: 1 });
  });

  it('where such files are expected', async () => {
    const config = { ...CONE, 'sparse.expectFilesOutsideOfPatterns': 'true' };
    const dirty = (directory: string): void => {
      mkdirSync(join(directory, 'c'));
      writeFileSync(join(directory, 'c', 'file'), 'other\n');
    };
    await update(IN_A, IN_A, { config, dirty });
    // git compares it with the index, and stops.
    await update(IN_A, IN_C, { config, dirty, exit: 128, engine: 'any' });
    await update(IN_A, IN_C, { config, dirty, revision: first.commit });
  });

  it('where something stands in the way of a directory that comes in', async () => {
    const dirty = (directory: string): void => writeFileSync(join(directory, 'c'), 'a file\n');
    await update(IN_A, IN_C, { dirty, revision: first.commit });
  });

  it('with an unmerged path inside, and one outside', async () => {
    const unmerge = (path: string) => (directory: string) => {
      const ids = ['a/file', 'c/file', 'root'].map((name) => repository.text(['rev-parse', `${first.commit}:${name}`]));
      const stages = ids.map((id, i) => `100644 ${id} ${i + 1}\t${path}\n`).join('');
      git(directory, ['update-index', '--index-info'], {
        input: `0 ${'0'.repeat(40)}\t${path}\n${stages}`,
      });
    };
    await update(IN_A, IN_A, { dirty: unmerge('a/file') });
    await update(IN_A, IN_A, { dirty: unmerge('c/file'), engine: 'git', reason: /unmerged/ });
  });

  it('with an index that is sparse itself', async () => {
    await expectSameAsGit({
      repository,
      revision: first.commit,
      // The other way round git (2.39) leaves out the file at the top that takes the place of a folded directory.
      from: second.commit,
      prepare: (directory) => void git(directory, ['sparse-checkout', 'set', '--cone', '--sparse-index', 'a']),
      modes: [2],
      present: 0,
      fsck: false,
    });
  });
});
