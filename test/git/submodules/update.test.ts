// Submodules against git's own: what `git submodule sync` and `git submodule update --init --force` leave.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { SubmoduleSettings } from '../../../src/engine/settings.ts';
import { type OurRun, runOurs } from '../../support/ours.ts';
import { git, runGit } from '../../support/repository.ts';
import { allowFileTransport, Hosted, submoduleState, updateByGit } from '../../support/submodules.ts';
import { temporaryFolder } from '../../support/temporary.ts';

allowFileTransport();
const root = temporaryFolder('submodules');
const hosted = new Hosted(join(root, 'hosted'));

const leaf1 = hosted.commit('leaf', { 'a.txt': 'one\n', 'dir/b.txt': 'two\n' });
const leaf2 = hosted.commit('leaf', { 'a.txt': 'one more\n', 'dir/c.txt': 'three\n' });
const mid1 = hosted.commit('mid', { m: '1\n' }, [{ path: 'sub/leaf', url: '../leaf', oid: leaf1 }]);
const mid2 = hosted.commit('mid', { m: '2\n' }, [{ path: 'sub/leaf', url: '../leaf', oid: leaf2 }]);
const top1 = hosted.commit('top', { 'README': 'top\n' }, [
  { path: 'libs/mid', url: '../mid', oid: mid2 },
  { path: 'libs/leaf', name: 'a/b c', url: './../leaf.git/', oid: leaf1 },
]);
const top2 = hosted.commit('top', { 'README': 'top 2\n' }, [
  { path: 'libs/mid', url: '../mid', oid: mid1 },
  { path: 'moved', name: 'other', url: '../leaf', oid: leaf2 },
]);

let clones = 0;
/** A working tree at a commit, its submodules not there yet. */
function clone(name: string, commit: string): string {
  const directory = join(root, `clone-${clones++}`);
  git(root, ['init', '-q', '-b', 'main', directory]);
  git(directory, ['remote', 'add', 'origin', `file://${hosted.path(name)}`]);
  fetch(directory, commit);
  git(directory, ['checkout', '-q', '--force', '--detach', commit]);
  return directory;
}
function fetch(directory: string, commit: string): void {
  git(directory, ['fetch', '-q', '--depth=1', 'origin', commit]);
}

const RECURSIVE: SubmoduleSettings = { recursive: true, jobs: 8, depth: 1, include: [], exclude: [] };

async function ours(
  directory: string,
  commit: string,
  settings: SubmoduleSettings = RECURSIVE,
  clean = true,
): Promise<OurRun> {
  return await runOurs({
    directory,
    target: { kind: 'detach', revision: commit },
    alwaysParallel: false,
    request: { submodules: settings, ...(clean ? { clean: { exclude: [] } } : {}) },
  });
}
async function succeeds(...args: Parameters<typeof ours>): Promise<OurRun> {
  const run = await ours(...args);
  expect(run.report.error).toBeUndefined();
  return run;
}

/** The state, without the names of the folders of this one. */
function state(directory: string): string {
  return submoduleState(directory).replaceAll(directory, 'TOP');
}

describe('a fresh working tree', () => {
  it.each([
    { depth: 1, recursive: true },
    { depth: 2, recursive: false },
    { depth: 0, recursive: true },
  ])('depth $depth, recursive $recursive', async ({ depth, recursive }) => {
    const theirs = clone('top', top1);
    updateByGit(theirs, { depth, recursive });
    const directory = clone('top', top1);
    const { report } = await succeeds(directory, top1, {
      recursive,
      jobs: 2,
      include: [],
      exclude: [],
      ...(depth > 0 ? { depth } : {}),
    });
    expect(state(directory)).toBe(state(theirs));
    expect(report.submodules?.map(({ path, commit, files }) => [path, commit, files])).toEqual([
      ['libs/leaf', leaf1, 2],
      ['libs/mid', mid2, 3],
      ...(recursive ? [['libs/mid/sub/leaf', leaf2, 2]] : []),
    ]);
    expect(readFileSync(join(directory, 'libs/leaf/a.txt'), 'utf8')).toBe('one\n');
    // What later steps do: git's own commands find all that they need.
    git(directory, ['submodule', 'update', '--remote', 'libs/leaf']);
    expect(readFileSync(join(directory, 'libs/leaf/a.txt'), 'utf8')).toBe('one more\n');
  });
});
