/**
 * Git LFS: what is in the local store is copied by the workers, what is not goes through git-lfs, and both look as with git. The first
 * part has a small program in the place of git-lfs, so that it runs everywhere and can tell what it was asked.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { expectSameAsGit, type OracleCase } from '../../support/oracle.ts';
import { runOurs } from '../../support/ours.ts';
import { randomBytes } from '../../support/random.ts';
import { git, GitRepository, type TreeSpec } from '../../support/repository.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const folder = temporaryFolder('lfs');

const sha256 = (content: Uint8Array): string => createHash('sha256').update(content).digest('hex');
const pointerTo = (content: Uint8Array): string =>
  `version https://git-lfs.github.com/spec/v1\noid sha256:${sha256(content)}\nsize ${content.length}\n`;

function put(root: string, content: Uint8Array, oid = sha256(content)): void {
  const directory = join(root, oid.slice(0, 2), oid.slice(2, 4));
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, oid), content, { mode: 0o444 });
}

const [big, small, executable, remote] = [
  randomBytes(1, 3 << 20),
  randomBytes(2, 1000),
  randomBytes(3, 70_000),
  randomBytes(4, 5000),
];
const ATTRIBUTES = '*.bin filter=lfs -text\n*.crlf filter=lfs text eol=crlf\n';
const STORED: TreeSpec = {
  '.gitattributes': ATTRIBUTES,
  'big.bin': pointerTo(big),
  'd/small.bin': pointerTo(small),
  'd/again.bin': pointerTo(small),
  'run.bin': { content: pointerTo(executable), executable: true },
  'empty.bin': '',
  other: 'other\n',
};
/** What only git-lfs can judge. */
const REMOTE: TreeSpec = {
  'remote.bin': pointerTo(remote),
  'plain.bin': 'no pointer\n',
  'large.bin': randomBytes(9, 200_000),
  'odd.bin': pointerTo(small).replace('\noid', '\next-0-x sha256:00\noid'),
  'a.crlf': pointerTo(small),
  'wrong-size.bin': pointerTo(small).replace('size 1000', 'size 999'),
};
const PROCESS = { 'filter.lfs.process': 'git-lfs filter-process', 'filter.lfs.required': 'true' };

function repositoryWith(name: string): GitRepository {
  const repository = new GitRepository(join(folder, name));
  for (const content of [big, small, executable]) put(join(repository.gitDir, 'lfs', 'objects'), content);
  return repository;
}

describe.skipIf(process.platform === 'win32')('with a stand-in for git-lfs', () => {
  const bin = join(folder, 'bin');
  const server = join(folder, 'server');
  mkdirSync(bin);
  put(server, remote);
  put(server, small);
  // `smudge -- PATH`: a pointer to what the server has gives that, everything else stays as it is. `clean -- PATH`: a pointer.
  writeFileSync(
    join(bin, 'git-lfs'),
    `#!/bin/sh
cat > .git/lfs.in
if [ "$1" = clean ]; then
  size=$(($(wc -c < .git/lfs.in)))
  [ $size = 0 ] || printf 'version https://git-lfs.github.com/spec/v1\\noid sha256:%s\\nsize %s\\n' "$(sha256sum < .git/lfs.in | cut -c1-64)" $size
  exit
fi
printf '%s\\n' "$*" >> .git/lfs.log
oid=$(sed -n 's/^oid sha256://p' .git/lfs.in | tr -d '\\r')
file="${server}/$(printf %.2s "$oid")/$(printf %.4s "$oid" | cut -c3-)/$oid"
if [ -n "$oid" ] && [ -f "$file" ]; then cat "$file"; else cat .git/lfs.in; fi
`,
    { mode: 0o755 },
  );
  const env = { PATH: `${bin}${delimiter}${process.env['PATH'] ?? ''}` };
  const config = {
    'filter.lfs.smudge': 'git-lfs smudge -- %f',
    'filter.lfs.clean': 'git-lfs clean -- %f',
    'filter.lfs.required': 'true',
  };
  const repository = repositoryWith('stand-in');
  for (const content of [big, executable]) put(server, content);

  /** Expects git-lfs to be asked for these alone. */
  async function expectAsked(spec: TreeSpec, asked: readonly string[], more: Partial<OracleCase> = {}): Promise<void> {
    const { commit } = repository.commit(spec);
    await expectSameAsGit({
      repository,
      revision: commit,
      config,
      env,
      unclean: true,
      compareStatus: false,
      modes: [0, 1, 3],
      byMainThread: asked.length,
      ...more,
      inspect: (directory, run) => {
        const log = join(directory, '.git', 'lfs.log');
        const lines = existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : [];
        rmSync(log, { force: true });
        rmSync(join(directory, '.git', 'lfs.in'), { force: true });
        if (run !== null) expect(lines.sort()).toEqual(asked.map((path) => `smudge -- ${path}`).sort());
      },
    });
  }

  it('copies what is in the store, without a process', async () => {
    await expectAsked(STORED, []);
  });

  it('asks git-lfs for the rest', async () => {
    const asked = ['a.crlf', 'large.bin', 'odd.bin', 'plain.bin', 'remote.bin', 'wrong-size.bin'];
    await expectAsked({ ...STORED, ...REMOTE }, asked);
  });

  it('leaves pointers with GIT_LFS_SKIP_SMUDGE', async () => {
    const { commit } = repository.commit(STORED);
    const directory = join(folder, 'skipped');
    mkdirSync(directory);
    git(directory, ['init', '-q']);
    writeFileSync(join(directory, '.git', 'objects', 'info', 'alternates'), `${join(repository.gitDir, 'objects')}\n`);
    put(join(directory, '.git', 'lfs', 'objects'), small);
    const target = { kind: 'detach', revision: commit } as const;
    const environment = { ...env, GIT_LFS_SKIP_SMUDGE: '1' };
    const { report } = await runOurs({ directory, target, config, request: { environment } });
    expect(report.error).toBeUndefined();
    expect(report.engine).toBe('native');
    expect(readFileSync(join(directory, 'd', 'small.bin'), 'utf8')).toBe(pointerTo(small));
    expect(existsSync(join(directory, '.git', 'lfs.log'))).toBe(false);
    expect(git(directory, ['status', '--porcelain']).toString()).toBe('');
  });

  it('keeps racy files that have the right content, and writes others anew', async () => {
    const { commit } = repository.commit(STORED);
    for (const modify of [false, true]) {
      await expectAsked(STORED, [], {
        from: commit,
        racy: true,
        byMainThread: 0,
        modes: [0, 2],
        prepare: (directory) => {
          const log = join(directory, '.git', 'lfs.log');
          rmSync(log, { force: true });
          if (modify) writeFileSync(join(directory, 'd', 'small.bin'), randomBytes(5, 1000));
        },
        compareKept: false,
      });
    }
  });

  it('fails one file where the store has something that is no file', async () => {
    const { commit } = repository.commit({
      '.gitattributes': ATTRIBUTES,
      'a.bin': pointerTo(randomBytes(6, 100)),
      b: 'b\n',
    });
    const directory = join(folder, 'no-file');
    mkdirSync(directory);
    git(directory, ['init', '-q']);
    writeFileSync(join(directory, '.git', 'objects', 'info', 'alternates'), `${join(repository.gitDir, 'objects')}\n`);
    const oid = sha256(randomBytes(6, 100));
    mkdirSync(join(directory, '.git', 'lfs', 'objects', oid.slice(0, 2), oid.slice(2, 4), oid), { recursive: true });
    const target = { kind: 'detach', revision: commit } as const;
    const { report } = await runOurs({ directory, target, config, request: { environment: env } });
    // The stand-in has it neither, and leaves the pointer.
    expect(report.error).toBeUndefined();
    expect(readFileSync(join(directory, 'a.bin'), 'utf8')).toMatch(/^version/);
    expect(readFileSync(join(directory, 'b'), 'utf8')).toBe('b\n');
  });
});

describe.skipIf(spawnSync('git', ['lfs', 'version']).status !== 0)('with git-lfs itself', () => {
  const repository = repositoryWith('git-lfs');

  it('gives the same files and index, executable bits included', async () => {
    const { commit } = repository.commit({ ...STORED, 'plain.bin': 'no pointer\n' });
    await expectSameAsGit({
      repository,
      revision: commit,
      config: PROCESS,
      unclean: true,
      compareStatus: false,
      modes: [0, 1, 3],
      byMainThread: 1,
      inspect: (directory) => {
        expect(readFileSync(join(directory, 'd', 'small.bin')).equals(small)).toBe(true);
        expect(statSync(join(directory, 'run.bin')).mode & 0o111).toBe(0o111);
        rmSync(join(directory, '.git', 'lfs', 'tmp'), { recursive: true, force: true });
      },
    });
  });

  it('heeds path lists of the configuration, which only git-lfs understands', async () => {
    const { commit } = repository.commit(STORED);
    await expectSameAsGit({
      repository,
      revision: commit,
      config: { ...PROCESS, 'lfs.fetchexclude': 'd,*un.bin' },
      unclean: true,
      compareStatus: false,
      modes: [0, 2],
      byMainThread: 5,
      inspect: (directory) => {
        expect(readFileSync(join(directory, 'd', 'small.bin'), 'utf8')).toBe(pointerTo(small));
        expect(readFileSync(join(directory, 'big.bin')).equals(big)).toBe(true);
        rmSync(join(directory, '.git', 'lfs', 'tmp'), { recursive: true, force: true });
      },
    });
  });

  it('leaves a clean status, and nothing to do for a second checkout', async () => {
    const { commit } = repository.commit(STORED);
    const directory = join(folder, 'twice');
    spawnSync('cp', ['-a', repository.directory, directory]);
    for (const [key, value] of Object.entries({ ...PROCESS, 'filter.lfs.clean': 'git-lfs clean -- %f' })) {
      git(directory, ['config', key, value]);
    }
    const target = { kind: 'detach', revision: commit } as const;
    expect((await runOurs({ directory, target })).report.error).toBeUndefined();
    expect(git(directory, ['status', '--porcelain']).toString()).toBe('');
    const again = await runOurs({ directory, target });
    expect(again.report.totals.bytesWritten).toBeLessThan(big.length);
  });
});
