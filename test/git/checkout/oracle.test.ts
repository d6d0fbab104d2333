/**
 * The oracle itself: each thing that it claims to see is spoilt once after our run, and it must say so.
 */
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { expectSameAsGit } from '../../support/oracle.ts';
import { git, GITLINK_OID, GitRepository } from '../../support/repository.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const repository = new GitRepository(temporaryFolder('oracle'));
const old = repository.commit({ kept: 'kept\n', gone: 'gone\n' });
const { commit } = repository.commit({
  file: 'content\n',
  tool: { content: 'tool\n', executable: true },
  link: { symlink: 'file' },
  'd/e/f': 'f\n',
  kept: 'kept\n',
  module: { gitlink: GITLINK_OID },
});

const spoils: Record<string, (at: (name: string) => string, directory: string) => void> = {
  'another byte': (at) => writeFileSync(at('file'), 'Content\n'),
  'a missing file': (at) => rmSync(at('d/e/f')),
  'an extra file': (at) => writeFileSync(at('extra'), ''),
  'an extra folder': (at) => mkdirSync(at('d/empty')),
  'a missing folder': (at) => rmSync(at('module'), { recursive: true }),
  'another mode': (at) => chmodSync(at('tool'), 0o644),
  'another permission': (at) => chmodSync(at('file'), 0o600),
  'another link target': (at) => {
    rmSync(at('link'));
    symlinkSync('tool', at('link'));
  },
  'a file for a link': (at) => {
    rmSync(at('link'));
    writeFileSync(at('link'), 'file');
  },
  'other stat data': (at) => utimesSync(at('file'), 1, 1),
  'a file written though it was right': (at) => {
    const content = readFileSync(at('kept'));
    rmSync(at('kept'));
    writeFileSync(at('kept'), content);
  },
  'an index entry too few': (_, directory) => void git(directory, ['update-index', '--force-remove', 'file']),
  'an index flag': (_, directory) => void git(directory, ['update-index', '--assume-unchanged', 'file']),
  'another mode in the index': (_, directory) => void git(directory, ['update-index', '--chmod=+x', 'file']),
  'HEAD elsewhere': (_, directory) => writeFileSync(join(directory, '.git', 'HEAD'), `${old.commit}\n`),
  'another reflog': (_, directory) => appendFileSync(join(directory, '.git', 'logs', 'HEAD'), 'x\n'),
  'a ref too many': (_, directory) => void git(directory, ['update-ref', 'refs/heads/extra', commit]),
  'a lock left': (_, directory) => writeFileSync(join(directory, '.git', 'index.lock'), ''),
};

describe('the oracle sees', () => {
  it('nothing wrong where nothing is', async () => {
    await expectSameAsGit({ repository, revision: commit, from: old.commit, modes: [0] });
  });

  it.each(Object.keys(spoils))('%s', async (name) => {
    const spoilt = expectSameAsGit({
      repository,
      revision: commit,
      from: old.commit,
      modes: [0],
      inspect: (directory, run) => {
        if (run !== null) spoils[name]!((path) => join(directory, path), directory);
      },
    });
    await expect(spoilt).rejects.toThrow(/0 workers/);
  });

  it('fewer workers than were asked for, and another engine', async () => {
    const fewer = expectSameAsGit({ repository, revision: commit, modes: [2], request: { workers: 1 } });
    await expect(fewer).rejects.toThrow(/threads started/);
    const byGit = expectSameAsGit({ repository, revision: commit, modes: [2], request: { engine: 'git' } });
    await expect(byGit).rejects.toThrow(/engine/);
  });

  it('a failure that git does not have', async () => {
    const failed = expectSameAsGit({ repository, revision: commit, modes: [0], request: { directory: '/nowhere' } });
    await expect(failed).rejects.toThrow(/0 workers: the report's error/);
  });
});
