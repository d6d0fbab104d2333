/**
 * Old indexes of every kind that git writes, and what becomes of them: the same entries, marks and version as after git's
 * own checkout. The one difference allowed is in extensions, which are git's to make anew.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseSharedRepository } from '../../../src/engine/index/shared-permissions.ts';
import { parseIndex } from '../../../src/engine/index/parse-index.ts';
import { SHA1 } from '../../../src/engine/oid.ts';
import { expectSameAsGit, FEW_MODES, type OracleCase } from '../../support/oracle.ts';
import { clone, ROOMY_HOST, spawnGit } from '../../support/ours.ts';
import { git, runGit, GITLINK_OID, GitRepository, type TreeSpec } from '../../support/repository.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const folder = temporaryFolder('index-kinds');
const repository = new GitRepository(folder);
const base: TreeSpec = {
  a: 'a\n',
  'dir/changes': 'old\n',
  'dir/deeper/kept': 'kept\n',
  'dir/deeper/tool': { content: 'tool\n', executable: true },
  'dir/goes': 'goes\n',
  'folded/a': 'a\n',
  'folded/b/c': 'c\n',
  'folded/b/goes': 'goes\n',
  link: { symlink: 'a' },
  sub: { gitlink: GITLINK_OID },
};
const { 'dir/goes': _, 'folded/b/goes': __, ...rest } = base;
const from = repository.commit(base).commit;
const to = repository.commit({ ...rest, 'dir/changes': 'new\n', 'dir/new': 'n\n', 'folded/new': 'n\n' }).commit;

const indexIn = (directory: string): string => join(directory, '.git', 'index');

interface Written {
  readonly version: number;
  readonly extensions: readonly string[];
}

/** Runs a case, and gives what index git wrote; ours had the same version, and no extension but the cache tree. */
async function sameIndex(
  options: Partial<OracleCase> & { index?: (directory: string) => string; fresh?: boolean },
): Promise<Written> {
  const written: Written[] = [];
  const { index = indexIn, fresh = false, ...more } = options;
  await expectSameAsGit({
    repository,
    revision: to,
    ...(fresh ? {} : { from }),
    modes: FEW_MODES,
    ...more,
    inspect: (directory) => {
      const table = parseIndex(readFileSync(index(directory)), 'index', SHA1);
      written.push({ version: table.version, extensions: table.extensions.map(({ signature }) => signature) });
    },
  });
  const [gits, ...ours] = written;
  expect(ours.length).toBe(FEW_MODES.length);
  for (const each of ours) expect(each).toEqual({ version: gits!.version, extensions: ['TREE'] });
  return gits!;
}

describe('the version of the index', () => {
  it('stays 4, whatever is configured', async () => {
    const prepare = (directory: string): void => void git(directory, ['update-index', '--index-version', '4']);
    const written = await sameIndex({ prepare, config: { 'index.version': '2' } });
    expect(written).toEqual({ version: 4, extensions: ['TREE'] });
  });

  it('stays 2, whatever is configured', async () => {
    const written = await sameIndex({
      config: { 'feature.manyFiles': 'true' },
      env: { GIT_INDEX_VERSION: '4' },
      prepare: (directory) => {
        git(directory, ['update-index', '--index-version', '2']);
      },
    });
    expect(written.version).toBe(2);
  });

  it.each<[string, number, Partial<OracleCase>]>([
    ['index.version', 4, { config: { 'index.version': '4' } }],
    ['feature.manyFiles', 4, { config: { 'feature.manyFiles': 'true' } }],
    ['index.version over feature.manyFiles', 2, { config: { 'index.version': '3', 'feature.manyFiles': 'true' } }],
    ['GIT_INDEX_VERSION over both', 4, { config: { 'index.version': '2' }, env: { GIT_INDEX_VERSION: '4' } }],
    [
      'no version at all',
      2,
      { config: { 'index.version': '4' }, env: { GIT_INDEX_VERSION: 'four' }, compareStatus: false },
    ],
  ])('of a new index: %s', async (_name, version, options) => {
    const written = await sameIndex({ ...options, fresh: true });
    expect(written.version).toBe(version);
  });
});

describe('an old index', () => {
  it('of version 3 becomes version 2 when no entry needs more', async () => {
    const prepare = (directory: string): void => {
      git(directory, ['update-index', '--force-remove', 'dir/changes']);
      git(directory, ['add', '-N', 'dir/changes']);
      expect(readFileSync(indexIn(directory)).readUInt32BE(4)).toBe(3);
    };
    expect((await sameIndex({ prepare })).version).toBe(2);
  });

  it('without the hash at its end, as index.skipHash leaves it', async () => {
    const prepare = (directory: string): void => {
      const bytes = readFileSync(indexIn(directory));
      writeFileSync(indexIn(directory), bytes.fill(0, bytes.length - 20));
    };
    await sameIndex({ prepare, config: { 'index.skipHash': 'true' } });
  });

  it('that is split, with differences to the shared index', async () => {
    const prepare = (directory: string): void => {
      git(directory, ['config', 'splitIndex.maxPercentChange', '100']);
      git(directory, ['update-index', '--split-index']);
      writeFileSync(join(directory, 'added'), 'x\n');
      writeFileSync(join(directory, 'a'), 'changed\n');
      git(directory, ['add', 'a', 'added']);
      git(directory, ['rm', '-q', '--cached', 'dir/deeper/kept']);
      expect(readdirSync(join(directory, '.git')).some((name) => name.startsWith('sharedindex.'))).toBe(true);
    };
    expect((await sameIndex({ prepare })).extensions).toContain('link');
  });

  it('that git would split', async () => {
    const written = await sameIndex({ config: { 'core.splitIndex': 'true' } });
    expect(written.extensions).toContain('link');
  });

  it('that is sparse, where sparse checkout was turned off behind its back', async () => {
    const prepare = (directory: string): void => {
      git(directory, ['sparse-checkout', 'set', '--cone', '--sparse-index', 'dir']);
      git(directory, ['config', '--worktree', 'core.sparseCheckout', 'false']);
      expect(readFileSync(indexIn(directory)).includes('folded/\0')).toBe(true);
    };
    await sameIndex({ prepare, unclean: true });
  });

  it('with an untracked cache, resolved conflicts, and offsets of its parts', async () => {
    const prepare = (directory: string): void => {
      const blob = git(directory, ['rev-parse', `${from}:a`])
        .toString()
        .trim();
      const stages = [1, 2, 3].map((stage) => `100644 ${blob} ${stage}\ta\n`).join('');
      git(directory, ['update-index', '--index-info'], { input: `0 ${'0'.repeat(40)}\ta\n${stages}` });
      git(directory, ['-c', 'index.threads=2', 'add', 'a']);
      git(directory, ['-c', 'index.threads=2', 'update-index', '--untracked-cache', '--force-write-index']);
      const signatures = parseIndex(readFileSync(indexIn(directory)), 'index', SHA1).extensions.map(
        (each) => each.signature,
      );
      expect(signatures).toEqual(expect.arrayContaining(['TREE', 'REUC', 'UNTR', 'EOIE']));
    };
    await sameIndex({ prepare });
  });

  it('with an extension that nobody knows: ignored in capitals, for git to judge otherwise', async () => {
    const withExtension =
      (signature: string) =>
      (directory: string): void => {
        const bytes = readFileSync(indexIn(directory));
        const more = Buffer.concat([bytes.subarray(0, -20), Buffer.from(`${signature}\0\0\0\x03abc`, 'latin1')]);
        writeFileSync(indexIn(directory), Buffer.concat([more, createHash('sha1').update(more).digest()]));
      };
    await sameIndex({ prepare: withExtension('XYZW') });
    await expectSameAsGit({
      repository,
      revision: to,
      from,
      prepare: withExtension('xyzw'),
      modes: [0],
      exit: 128,
      error: 'git-failed',
    });
  });
});

describe('the place of the index', () => {
  it('behind a link: what the link leads to is locked and replaced, the link stays', async () => {
    const prepare = (directory: string): void => {
      renameSync(indexIn(directory), join(directory, '.git', 'elsewhere'));
      symlinkSync('elsewhere', indexIn(directory));
    };
    await sameIndex({ prepare, index: (directory) => join(directory, '.git', 'elsewhere') });
  });

  it('in GIT_INDEX_FILE', async () => {
    const env = { GIT_INDEX_FILE: '.git/other-index' };
    await sameIndex({
      env,
      index: (directory) => {
        expect(existsSync(indexIn(directory))).toBe(false);
        return join(directory, '.git', 'other-index');
      },
    });
  });
});

describe('core.sharedRepository', () => {
  /** Modes of what a checkout to a new branch makes in the git directory. */
  const modes = (directory: string): Record<string, string> =>
    Object.fromEntries(
      [
        'index',
        'HEAD',
        'logs/HEAD',
        'refs/heads/new',
        'refs/heads/new/branch',
        'logs/refs/heads/new',
        'logs/refs/heads/new/branch',
      ].map((path) => [path, (statSync(join(directory, '.git', path)).mode & 0o7777).toString(8)]),
    );

  it.each(['group', 'world', 'false', '0640', '0666', '8', 'TRUE', 'umask'])('%s', async (value) => {
    const seen: Record<string, string>[] = [];
    const old = process.umask(0o027);
    try {
      await expectSameAsGit({
        repository,
        revision: to,
        target: { kind: 'branch', branch: 'new/branch', startPoint: to },
        from,
        config: { 'core.sharedRepository': value },
        modes: [0],
        fsck: false,
        inspect: (directory) => seen.push(modes(directory)),
      });
    } finally {
      process.umask(old);
    }
    expect(seen[1]).toEqual(seen[0]);
  });

  it.each(['group', '0640'])('%s, in a clone', async (value) => {
    const config = { 'core.sharedRepository': value };
    const directories = ['git', 'ours'].map((name) => join(folder, `shared-${value}-${name}`)) as [string, string];
    const made = ['refs/remotes/origin/HEAD', 'refs/remotes/origin', 'refs/heads/main', 'HEAD', 'index', 'logs/HEAD'];
    const old = process.umask(0o027);
    try {
      git(folder, ['clone', '-q', '--no-local', repository.directory, directories[0]], { config });
      const report = await clone(
        {
          url: repository.directory,
          directory: directories[1],
          workers: 0,
          memoryLimitBytes: 'auto',
          engine: 'native',
          transport: 'auto',
          hostFacts: ROOMY_HOST,
          config: Object.entries(config).map(([key, each]) => ({ key, value: each })),
        },
        { git: spawnGit, observer: { info: () => undefined, warning: () => undefined, progress: () => undefined } },
      );
      expect(report.error).toBeUndefined();
    } finally {
      process.umask(old);
    }
    const [expected, ours] = directories.map((directory) =>
      made.map((path) => `${path} ${(statSync(join(directory, '.git', path)).mode & 0o7777).toString(8)}`),
    );
    expect(ours).toEqual(expected);
  });

  it('what git refuses is refused', () => {
    for (const value of ['0400', 'anybody', 'Group']) {
      expect(runGit(repository.directory, ['-c', `core.sharedRepository=${value}`, 'status']).status).toBe(128);
      expect(() => parseSharedRepository(value)).toThrow(/core\.sharedRepository: /);
    }
  });
});
