/**
 * A system that refuses: full disk, read-only file system, folders without permission, too few file descriptors. The run ends
 * with one line that names what was refused; what can be written is written; no half of a file stays; and once the
 * cause is gone the next run completes.
 */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { runOurs } from '../support/ours.ts';
import { programPath } from '../support/programs.ts';
import { randomBytes } from '../support/random.ts';
import { git, GitRepository, runGit } from '../support/repository.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { leftovers, snapshot, type Snapshot } from '../support/worktree.ts';

const folder = temporaryFolder('system');
const cli = programPath('cli');
const MEBIBYTE = 2 ** 20;

const repository = new GitRepository(folder, 'repository');
const spec: Record<string, Uint8Array | string> = { small: 'small\n' };
for (let i = 0; i < 60; i++) spec[`d${i % 5}/f${i}`] = randomBytes(i, 60 << 10);
spec['large'] = randomBytes(99, 2 * MEBIBYTE);
const { commit } = repository.commit(spec);
repository.git(['checkout', '-q', '--detach', commit]);
const right = snapshot(repository.directory);

function run(command: string, ...args: string[]): boolean {
  return spawnSync(command, args).status === 0;
}

/** Why a test is skipped; the reporter shows it. */
const NEEDS_ROOT = 'needs Linux, root and the right to mount';

const mounts: string[] = [];
afterAll(() => {
  for (const mount of mounts.reverse()) run('umount', '-l', mount);
});

/** Mounts something for the test; false where this user or system cannot. */
function mount(at: string, ...args: string[]): boolean {
  mkdirSync(at, { recursive: true });
  if (process.platform !== 'linux' || process.getuid?.() !== 0 || !run('mount', ...args, at)) return false;
  mounts.push(at);
  return true;
}

function copyOfGitDir(name: string): string {
  const gitDir = join(folder, name);
  cpSync(repository.gitDir, gitDir, { recursive: true });
  rmSync(join(gitDir, 'index'));
  return gitDir;
}

/** Every file that is there is whole. */
function expectWholeFiles(found: Snapshot): void {
  const halves = [...found].filter(([path, value]) => value.startsWith('file') && right.get(path) !== value);
  expect(halves.map(([path]) => path)).toEqual([]);
}

describe('a full disk', () => {
  it.for([0, 2, 5])('under the working tree, %i workers', async (workers, { skip }) => {
    const workTree = join(folder, `full-${workers}`);
    if (!mount(workTree, '-t', 'tmpfs', '-o', 'size=2m', 'tmpfs')) return skip(NEEDS_ROOT);
    const gitDir = copyOfGitDir(`full-${workers}.git`);
    const call = { directory: workTree, target: { kind: 'detach', revision: commit }, workers } as const;
    const { report } = await runOurs({ ...call, request: { gitDir, workTree } });
    expect(report.error?.code).toBe('write-failed');
    expect(report.error?.message).toMatch(/ENOSPC/);
    expect(report.error?.message).not.toMatch(/\n/);
    const found = snapshot(workTree);
    expectWholeFiles(found);
    expect(found.has('small') || report.skipped.some((entry) => entry.path === 'small')).toBe(true);
    const missing = [...right]
      .filter(([path, value]) => value.startsWith('file') && !found.has(path))
      .map(([path]) => path);
    expect(missing.length).toBeGreaterThan(0);
    expect(report.skipped.map((entry) => entry.path).sort()).toEqual(missing.sort());
    expect(leftovers(gitDir)).toEqual([]);
    // As with git: HEAD has moved, and the index knows which entries are not on disk.
    const options = [`--git-dir=${gitDir}`, `--work-tree=${workTree}`];
    const deleted = git(workTree, [...options, 'ls-files', '--deleted'])
      .toString()
      .trim()
      .split('\n');
    expect(deleted.sort()).toEqual(missing.sort());
    expect(run('mount', '-o', 'remount,size=20m', workTree)).toBe(true);
    expect((await runOurs({ ...call, request: { gitDir, workTree } })).report.error).toBeUndefined();
    expect(git(workTree, [...options, 'status', '--porcelain']).toString()).toBe('');
  });

  it('under .git: the old index and HEAD stay', async ({ skip }) => {
    const gitDir = join(folder, 'full.git');
    if (!mount(gitDir, '-t', 'tmpfs', '-o', 'size=300k', 'tmpfs')) return skip(NEEDS_ROOT);
    const source = copyOfGitDir('source.git');
    const workTree = join(folder, 'full-git');
    mkdirSync(workTree);
    for (const name of readdirSync(source)) {
      if (name !== 'objects' && name !== 'hooks') cpSync(join(source, name), join(gitDir, name), { recursive: true });
    }
    mkdirSync(join(gitDir, 'objects', 'info'), { recursive: true });
    writeFileSync(join(gitDir, 'objects', 'info', 'alternates'), `${join(source, 'objects')}\n`);
    const head = readFileSync(join(gitDir, 'HEAD'));
    for (let size = 65536; size > 0; size = Math.floor(size / 2)) {
      try {
        for (let i = 0; ; i++) writeFileSync(join(gitDir, `filler-${size}-${i}`), Buffer.alloc(size));
      } catch {
        // Full for this size; a smaller one may still fit.
      }
    }
    const { report } = await runOurs({
      directory: workTree,
      target: { kind: 'detach', revision: commit },
      request: { gitDir, workTree },
    });
    expect(report.error?.code).toMatch(/^(io|ref-locked|index-locked)$/);
    expect(report.error?.message).toMatch(/ENOSPC/);
    expect(leftovers(gitDir)).toEqual([]);
    expect(readFileSync(join(gitDir, 'HEAD')).equals(head)).toBe(true);
    expect(existsSync(join(gitDir, 'index'))).toBe(false);
  });
});

describe('no permission', () => {
  it('a read-only file system', async ({ skip }) => {
    const workTree = join(folder, 'read-only');
    if (!mount(workTree, '-t', 'tmpfs', '-o', 'size=20m', 'tmpfs')) return skip(NEEDS_ROOT);
    const gitDir = copyOfGitDir('read-only.git');
    writeFileSync(join(workTree, 'untracked'), 'mine\n');
    expect(run('mount', '-o', 'remount,ro', workTree)).toBe(true);
    const before = snapshot(workTree);
    for (const workers of [0, 2]) {
      const { report } = await runOurs({
        directory: workTree,
        target: { kind: 'detach', revision: commit },
        workers,
        request: { gitDir, workTree },
      });
      expect(report.error?.code).toMatch(/^(io|write-failed)$/);
      expect(report.error?.message).toMatch(/EROFS/);
      expect(snapshot(workTree)).toEqual(before);
      expect(leftovers(gitDir)).toEqual([]);
    }
  });

  it('a folder that one may not write in, and one that one may not look into', ({ skip }) => {
    if (process.getuid?.() !== 0 || !run('setpriv', '--version')) return skip(NEEDS_ROOT);
    const NOBODY = 65534;
    for (const mode of [0o555, 0o000]) {
      const place = join(folder, `nobody-${mode}`);
      const theirs = new GitRepository(place, 'repository');
      const [old, next] = theirs.commits([
        { a: 'a\n', 'locked/f': 'old\n', 'locked/gone': 'x\n', z: 'z\n' },
        { a: 'a2\n', 'locked/f': 'new\n', 'locked/g': 'g\n', 'locked/sub/h': 'h\n', z: 'z2\n' },
      ]);
      theirs.git(['checkout', '-q', '--detach', old!.commit]);
      expect(run('chown', '-R', `${NOBODY}:${NOBODY}`, place)).toBe(true);
      for (const above of [folder]) chmodSync(above, 0o755);
      chmodSync(join(theirs.directory, 'locked'), mode);
      chownSync(place, NOBODY, NOBODY);
      const asNobody = ['--reuid', String(NOBODY), '--regid', String(NOBODY), '--clear-groups', process.execPath, cli];
      const result = spawnSync('setpriv', [...asNobody, 'checkout', next!.commit, '--workers', '2', '--json'], {
        cwd: theirs.directory,
        env: { ...process.env, HOME: place },
      });
      const stderr = result.stderr.toString();
      expect(result.status, stderr).toBe(1);
      expect(stderr).toMatch(/locked/);
      expect(stderr).toMatch(/EACCES|EPERM/);
      expect(stderr).not.toMatch(/bug|at .*\.ts:/);
      expect(leftovers(theirs.gitDir)).toEqual([]);
      chmodSync(join(theirs.directory, 'locked'), 0o755);
      const again = spawnSync('setpriv', [...asNobody, 'checkout', next!.commit, '--quiet'], {
        cwd: theirs.directory,
        env: { ...process.env, HOME: place },
      });
      expect(again.status, again.stderr.toString()).toBe(0);
      expect(runGit(theirs.directory, ['-c', 'safe.directory=*', 'status', '--porcelain']).stdout.toString()).toBe('');
    }
  });
});

describe('few file descriptors', () => {
  it.skipIf(process.platform === 'win32')(
    'it works or says so',
    () => {
      const outcomes = new Map<number, string>();
      for (const limit of [18, 20, 22, 24, 26, 28, 32, 40, 64]) {
        const directory = join(folder, `descriptors-${limit}`);
        mkdirSync(directory);
        cpSync(copyOfGitDir(`descriptors-${limit}.git`), join(directory, '.git'), { recursive: true });
        const shell = `ulimit -n ${limit}; exec "$@"`;
        // What Node needs for itself is not our affair.
        if (spawnSync('sh', ['-c', shell, 'sh', process.execPath, '-e', '0']).status !== 0) continue;
        const result = spawnSync(
          'sh',
          [
            '-c',
            shell,
            'sh',
            process.execPath,
            cli,
            'checkout',
            commit,
            '--workers',
            '2',
            '--quiet',
            '-c',
            'checkout.thresholdForParallelism=0',
          ],
          {
            cwd: directory,
          },
        );
        const stderr = result.stderr.toString().trim();
        // Nor what it needs to load the program's sources.
        if (stderr.includes('node:internal/modules')) continue;
        expect(stderr, `limit ${limit}`).not.toMatch(/bug|^\s+at /m);
        expect(
          result.status === 0 || result.status === 1,
          `limit ${limit}: status ${result.status ?? result.signal ?? ''}\n${stderr}`,
        ).toBe(true);
        expect(leftovers(join(directory, '.git')), `limit ${limit}`).toEqual([]);
        expectWholeFiles(snapshot(directory));
        if (result.status === 0) {
          expect(git(directory, ['status', '--porcelain']).toString()).toBe('');
        } else {
          expect(
            stderr.split('\n').filter((line) => line.startsWith('parallel-checkout: ')).length,
            stderr,
          ).toBeGreaterThanOrEqual(1);
          expect(stderr, `limit ${limit}`).toMatch(/EMFILE|too many open files|start git|git failed/i);
        }
        outcomes.set(limit, String(result.status));
      }
      expect(outcomes.get(64)).toBe('0');
    },
    60_000,
  );
});
