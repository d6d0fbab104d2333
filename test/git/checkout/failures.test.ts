/**
 * What goes wrong: objects that are missing or damaged, a locked index, a repository that is none. What git survives with,
 * we survive with; what stops git stops us, with nothing touched and one line that names the cause.
 */
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { expectSameAsGit, FEW_MODES } from '../../support/oracle.ts';
import { runOurs } from '../../support/ours.ts';
import { randomBytes, randomText } from '../../support/random.ts';
import { git, GitRepository, type TreeSpec } from '../../support/repository.ts';
import { memoryFolder, temporaryFolder } from '../../support/temporary.ts';
import { differences, leftovers, snapshot } from '../../support/worktree.ts';

const folder = temporaryFolder('failures', memoryFolder());
const repository = new GitRepository(folder);
const spec: TreeSpec = {
  a: 'a\n',
  'd/b': 'b\n',
  'd/big': randomBytes(3, 700 << 10),
  'd/text': randomText(4, 3000),
  'd/link': { symlink: 'b' },
  '.gitattributes': '*.crlf eol=crlf\n',
  'x.crlf': 'x\n',
  z: 'z\n',
};
const from = repository.commit({
  a: 'old\n',
  'd/b': 'old\n',
  'd/text': 'old\n',
  gone: 'old\n',
  'e/gone': 'old\n',
}).commit;
// Each object in a file of its own, so that one can be hit.
const { commit } = repository.commit(spec, { packed: false });

function blobOf(path: string): string {
  return repository.text(['rev-parse', `${commit}:${path}`]);
}

function loose(directory: string, oid: string): string {
  const path = join(directory, '.git', 'objects', oid.slice(0, 2), oid.slice(2));
  chmodSync(path, 0o644);
  return path;
}

describe('one blob of many', () => {
  const damages: Record<string, (path: string) => void> = {
    missing: (path) => rmSync(path),
    empty: (path) => truncateSync(path),
    'cut off': (path) => truncateSync(path, Math.floor(readFileSync(path).length / 2)),
    'not zlib': (path) => writeFileSync(path, 'this is no object'),
  };
  for (const [damage, harm] of Object.entries(damages)) {
    it(`${damage}: that file fails, the others are written, HEAD moves`, async () => {
      for (const path of ['d/b', 'd/big', 'x.crlf', 'd/link']) {
        // From nothing and over an old tree in turn.
        for (const start of damage === 'missing' ? [undefined, from] : path === 'd/b' ? [from] : [undefined]) {
          await expectSameAsGit({
            repository,
            revision: commit,
            ...(start === undefined ? {} : { from: start }),
            prepare: (directory) => harm(loose(directory, blobOf(path))),
            // git gives the whole run up where a loose object is damaged; there, too, we write the others.
            prepareForGit: (directory) => rmSync(loose(directory, blobOf(path))),
            exit: 1,
            error: 'write-failed',
            failed: [path],
            unclean: true,
            fsck: false,
            modes: damage === 'missing' ? FEW_MODES : path === 'd/b' ? [2] : [0],
          });
        }
      }
    }, 60_000);
  }

  it('several fail: each is told, the message counts them', async () => {
    await expectSameAsGit({
      repository,
      revision: commit,
      from,
      prepare: (directory) => {
        for (const path of ['a', 'd/b', 'z']) rmSync(loose(directory, blobOf(path)));
      },
      exit: 1,
      error: 'write-failed',
      failed: ['a', 'd/b', 'z'],
      unclean: true,
      fsck: false,
      inspect: (_, run) => {
        if (run === null) return;
        expect(run.report.error?.message).toMatch(/'a'.*and 2 more/);
        expect(run.report.error?.message).toContain(blobOf('a'));
      },
    });
  });
});

describe('what everything depends on', () => {
  const cases: Record<string, (directory: string) => void> = {
    'the commit is missing': (directory) => rmSync(loose(directory, commit)),
    'the commit is damaged': (directory) => writeFileSync(loose(directory, commit), 'no'),
    'a tree is missing': (directory) => rmSync(loose(directory, blobOf('d'))),
    'a tree is damaged': (directory) => writeFileSync(loose(directory, blobOf('d')), 'no'),
    'a tree is cut off': (directory) => truncateSync(loose(directory, blobOf('d')), 30),
  };
  for (const [name, prepare] of Object.entries(cases)) {
    it(`${name}: nothing is touched`, async () => {
      await expectSameAsGit({
        repository,
        revision: commit,
        from,
        prepare,
        exit: 128,
        error: /^(object-missing|object-corrupt|tree-invalid)$/,
        modes: FEW_MODES,
      });
    });
  }
});

describe('where git goes on, but should not', () => {
  it('the root tree is missing: git empties the working tree, we touch nothing', async () => {
    const directory = copy('rootless');
    const tree = repository.text(['rev-parse', `${commit}^{tree}`]);
    const path = loose(repository.directory, tree);
    const content = readFileSync(path);
    rmSync(path);
    try {
      const before = snapshot(directory);
      for (const workers of [0, 2]) {
        const { report } = await runOurs({ directory, workers, target: { kind: 'detach', revision: commit } });
        expect(report.error?.code).toBe('object-missing');
        expect(report.error?.message).toContain(tree);
        expect(differences(before, snapshot(directory))).toEqual([]);
      }
    } finally {
      writeFileSync(path, content);
    }
  });
});

/** A copy at `from` that our engine alone gets. */
function copy(name: string): string {
  const directory = join(folder, name);
  git(folder, ['clone', '-q', '--no-checkout', '--shared', repository.directory, directory]);
  git(directory, ['checkout', '-q', '--detach', from]);
  return directory;
}

describe('locks', () => {
  it('index.lock: told at once, nothing touched, and the lock is left to its owner', async () => {
    const directory = copy('locked');
    const before = snapshot(directory);
    const lock = join(directory, '.git', 'index.lock');
    writeFileSync(lock, 'owner');
    for (const workers of [0, 2]) {
      const { report } = await runOurs({ directory, workers, target: { kind: 'detach', revision: commit } });
      expect(report.error?.code).toBe('index-locked');
      expect(report.error?.message).toContain('index.lock');
      expect(differences(before, snapshot(directory))).toEqual([]);
      expect(readFileSync(lock, 'utf8')).toBe('owner');
      expect(git(directory, ['rev-parse', 'HEAD']).toString().trim()).toBe(from);
    }
    rmSync(lock);
    expect((await runOurs({ directory, target: { kind: 'detach', revision: commit } })).report.error).toBeUndefined();
  });

  it('HEAD.lock: nothing touched', async () => {
    const directory = copy('head-locked');
    const before = snapshot(directory);
    writeFileSync(join(directory, '.git', 'HEAD.lock'), '');
    const { report } = await runOurs({ directory, target: { kind: 'detach', revision: commit } });
    expect(report.error?.code).toBe('ref-locked');
    expect(report.error?.message).toContain('HEAD.lock');
    expect(differences(before, snapshot(directory))).toEqual([]);
    expect(leftovers(join(directory, '.git'))).toEqual(['HEAD.lock']);
  });
});

describe('no repository, no revision', () => {
  const codeOf = async (directory: string, revision = commit): Promise<string | undefined> => {
    const { report } = await runOurs({ directory, target: { kind: 'detach', revision } });
    expect(report.error?.message).not.toMatch(/\n/);
    expect(report.engine).toBe('native');
    expect(report.commit).toBeNull();
    return report.error?.code;
  };

  it('says which', async () => {
    const plain = join(folder, 'plain');
    mkdirSync(plain);
    expect(await codeOf(plain)).toBe('not-a-repository');
    expect(await codeOf(join(folder, 'nowhere'))).toBe('not-a-repository');
    const bare = join(folder, 'bare.git');
    git(folder, ['init', '-q', '--bare', bare]);
    expect(await codeOf(bare)).toBe('not-a-repository');
    const directory = copy('revisions');
    for (const revision of ['nowhere', 'ab'.repeat(20), 'refs/heads/nothing', 'HEAD~99', ':bad:', '-x', '']) {
      expect(await codeOf(directory, revision), revision).toMatch(/^(unknown-revision|object-missing|usage)$/);
    }
    // What is no commit cannot be checked out.
    for (const path of ['a', 'd']) expect(await codeOf(directory, blobOf(path)), path).toBe('unknown-revision');
    expect(readdirSync(directory).sort()).toEqual(['.git', 'a', 'd', 'e', 'gone']);
  });

  it('a repository of a version that nobody knows, and a broken configuration', async () => {
    const directory = copy('future');
    git(directory, ['config', 'core.repositoryFormatVersion', '999']);
    expect(await codeOf(directory)).toBe('unsupported-repository');
    git(directory, ['config', '-f', '.git/config', 'core.repositoryFormatVersion', '1']);
    git(directory, ['config', '-f', '.git/config', 'extensions.fromTheFuture', 'true']);
    expect(await codeOf(directory)).toBe('unsupported-repository');
    writeFileSync(join(directory, '.git', 'config'), '[core\n');
    expect(await codeOf(directory)).toMatch(/^(config-invalid|not-a-repository)$/);
  });

  it('a damaged index: nothing is touched', async () => {
    const directory = copy('bad-index');
    const before = snapshot(directory);
    writeFileSync(join(directory, '.git', 'index'), 'DIRCxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx');
    expect(await codeOf(directory)).toBe('index-corrupt');
    expect(differences(before, snapshot(directory))).toEqual([]);
  });
});
