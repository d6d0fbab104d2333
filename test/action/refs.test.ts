// Forms of the `ref` input against a real server: what HEAD becomes, which refs are there afterwards, the outputs. The common ones are
// rows of the contract (contract.test.ts).
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startHttpServer, type HttpServer } from '../support/http-server.ts';
import { git, makeFixture, type Fixture } from './git-fixture.ts';
import { TestRunner, type StepOptions } from './run-action.ts';

const fixture: Fixture = makeFixture();
const { commits } = fixture;
let server: HttpServer;
let runner: TestRunner;

beforeAll(async () => {
  server = await startHttpServer({ root: fixture.root, token: 'a-token' });
});
afterAll(async () => {
  await server.close();
  fixture.remove();
});
beforeEach(() => {
  runner = new TestRunner(server.origin, 'owner/repo');
});
afterEach(() => runner.remove());

/** The names of all refs. */
function refs(): string[] {
  const text = git(runner.workspace, ['for-each-ref', '--format=%(refname)']);
  return text === '' ? [] : text.split('\n');
}

function head(): string {
  return readFileSync(join(runner.workspace, '.git', 'HEAD'), 'utf8').trim();
}

interface Row extends StepOptions {
  readonly name: string;
  readonly commit: string;
  /** The branch that HEAD is on, or null for a detached HEAD. */
  readonly branch: string | null;
  readonly ref: string;
  /** Names of all refs afterwards. */
  readonly refs: readonly string[];
}

const push = { GITHUB_REF: 'refs/heads/main', GITHUB_SHA: commits.main };
const allBranches = ['both', 'feature/x', 'feature/xylophone', 'main'].map((name) => `refs/remotes/origin/${name}`);
const allTags = ['both', 'v1', 'v2'].map((name) => `refs/tags/${name}`);

const rows: readonly Row[] = [
  {
    name: 'an event whose branch has moved on since',
    env: { GITHUB_REF: 'refs/heads/main', GITHUB_SHA: commits.old },
    commit: commits.old,
    branch: 'main',
    ref: 'refs/heads/main',
    refs: ['refs/heads/main', 'refs/remotes/origin/main'],
  },
  {
    name: 'a branch in full',
    inputs: { ref: 'refs/heads/feature/x' },
    commit: commits.feature,
    branch: 'feature/x',
    ref: 'refs/heads/feature/x',
    refs: ['refs/heads/feature/x', 'refs/remotes/origin/feature/x'],
  },
  {
    name: 'a branch with an unusual prefix',
    inputs: { ref: 'Refs/HEADS/main' },
    commit: commits.main,
    branch: 'main',
    ref: 'Refs/HEADS/main',
    refs: ['refs/heads/main', 'refs/remotes/origin/main'],
  },
  {
    name: 'a short tag name',
    inputs: { ref: 'v1' },
    commit: commits.old,
    branch: null,
    ref: 'v1',
    refs: ['refs/tags/v1'],
  },
  {
    name: 'an annotated tag in full',
    inputs: { ref: 'refs/tags/v2' },
    commit: commits.main,
    branch: null,
    ref: 'refs/tags/v2',
    refs: ['refs/tags/v2'],
  },
  {
    name: 'a pull request by name',
    inputs: { ref: 'refs/pull/7/merge' },
    commit: commits.pull,
    branch: null,
    ref: 'refs/pull/7/merge',
    refs: ['refs/remotes/pull/7/merge'],
  },
  {
    name: 'a ref of another kind',
    inputs: { ref: 'refs/custom/Thing' },
    commit: commits.custom,
    branch: null,
    ref: 'refs/custom/Thing',
    refs: ['refs/custom/Thing'],
  },
  {
    name: 'a branch with tags',
    inputs: { ref: 'main', 'fetch-tags': 'true' },
    commit: commits.main,
    branch: 'main',
    ref: 'main',
    refs: ['refs/heads/main', 'refs/remotes/origin/main', ...allTags],
  },
  {
    name: 'all history of an event',
    env: push,
    inputs: { 'fetch-depth': '0' },
    commit: commits.main,
    branch: 'main',
    ref: 'refs/heads/main',
    refs: ['refs/heads/main', ...allBranches, ...allTags],
  },
  {
    name: 'all history of an event whose branch has moved on since',
    env: { GITHUB_REF: 'refs/heads/main', GITHUB_SHA: commits.old },
    inputs: { 'fetch-depth': '0' },
    commit: commits.old,
    branch: 'main',
    ref: 'refs/heads/main',
    refs: ['refs/heads/main', ...allBranches, ...allTags],
  },
  {
    name: 'all history of a short tag name',
    inputs: { ref: 'v2', 'fetch-depth': '0' },
    commit: commits.main,
    branch: null,
    ref: 'v2',
    refs: [...allBranches, ...allTags],
  },
  {
    name: 'all history and a pull request',
    env: { GITHUB_REF: 'refs/pull/7/merge', GITHUB_SHA: commits.pull },
    inputs: { 'fetch-depth': '0' },
    commit: commits.pull,
    branch: null,
    ref: 'refs/pull/7/merge',
    refs: [...allBranches, 'refs/remotes/pull/7/merge', ...allTags],
  },
  {
    name: 'all history and a ref of another kind',
    inputs: { ref: 'refs/custom/Thing', 'fetch-depth': '0' },
    commit: commits.custom,
    branch: null,
    ref: 'refs/custom/Thing',
    refs: ['refs/custom/Thing', ...allBranches, ...allTags],
  },
  {
    name: 'all history and a commit',
    inputs: { ref: commits.old, 'fetch-depth': '0' },
    commit: commits.old,
    branch: null,
    ref: '',
    refs: [...allBranches, ...allTags],
  },
];

describe('what is checked out', () => {
  it.each(rows)('$name', async (row) => {
    const result = await runner.main(row);
    expect(result.errors).toEqual([]);
    expect(result.exitCode).toBe(0);
    expect(result.outputs['commit']).toBe(row.commit);
    expect(result.outputs['ref']).toBe(row.ref);
    expect(head()).toBe(row.branch === null ? row.commit : `ref: refs/heads/${row.branch}`);
    expect(git(runner.workspace, ['rev-parse', 'HEAD'])).toBe(row.commit);
    expect(refs()).toEqual([...row.refs].sort());
    expect(git(runner.workspace, ['status', '--porcelain', '--ignored'])).toBe('');
    const depth = row.inputs?.['fetch-depth'] === '0' ? 2 : 1;
    const ancestors = Number(git(runner.workspace, ['rev-list', '--count', 'HEAD']));
    if (depth === 1) expect(ancestors).toBe(1);
    else if (row.commit !== commits.old) expect(ancestors).toBeGreaterThan(1);
    if (row.branch !== null) {
      // Later steps may `git pull` and `git push`.
      expect(git(runner.workspace, ['rev-parse', '--symbolic-full-name', '@{upstream}'])).toBe(
        `refs/remotes/origin/${row.branch}`,
      );
    }
  });

  it('keeps an annotated tag as one', async () => {
    await runner.main({ inputs: { ref: 'v2' } });
    expect(git(runner.workspace, ['cat-file', '-t', 'refs/tags/v2'])).toBe('tag');
  });

  it('checks out a SHA-256 repository by its commit, branch, tag and default branch', async () => {
    const other = join(fixture.root, 'owner', 'sha256.git');
    git(fixture.root, ['init', '-q', '--bare', '--object-format=sha256', '-b', 'main', other]);
    const tree = git(other, ['hash-object', '-w', '-t', 'tree', '/dev/null']);
    const commit = git(other, ['commit-tree', '-m', 'empty', tree]);
    git(other, ['update-ref', 'refs/heads/main', commit]);
    git(other, ['update-ref', 'refs/tags/t', commit]);
    // By its id the format is known beforehand; else the server tells.
    const refs = [commit, 'refs/heads/main', 'main', 'refs/tags/t', ''];
    await Promise.all(
      refs.map(async (ref, index) => {
        const path = `by-${index}`;
        const result = await runner.main({ inputs: { repository: 'owner/sha256', ref, path } });
        expect(result.errors, ref).toEqual([]);
        expect(result.outputs['commit'], ref).toBe(commit);
        const here = join(runner.workspace, path);
        expect(git(here, ['rev-parse', 'HEAD']), ref).toBe(commit);
        expect(git(here, ['status', '--porcelain']), ref).toBe('');
        expect(git(here, ['fsck', '--no-progress']), ref).toBe('');
      }),
    );
  });
});

describe('what cannot be checked out', () => {
  it.each([
    { name: 'a short name that is nothing', inputs: { ref: 'no-such' }, message: "no branch or tag named 'no-such'" },
    { name: 'a short commit id', inputs: { ref: commits.main.slice(0, 8) }, message: 'by its whole id' },
    { name: 'the start of a name', inputs: { ref: 'feature/' }, message: 'cannot be a ref' },
    { name: 'a branch in full', inputs: { ref: 'refs/heads/no-such' }, message: 'refs/heads/no-such' },
    { name: 'a refspec', inputs: { ref: 'main:refs/heads/evil' }, message: "input 'ref' cannot be a ref" },
    { name: 'an option', inputs: { ref: '--upload-pack=touch x' }, message: "input 'ref' cannot be a ref" },
    {
      name: 'a commit behind a byte order mark',
      inputs: { ref: `\ufeff${commits.main}` },
      message: 'no branch or tag',
    },
    { name: 'a commit that is not there', inputs: { ref: '1'.repeat(40) }, message: '1'.repeat(40) },
    {
      name: 'a commit that is not there, with all history',
      inputs: { ref: '1'.repeat(40), 'fetch-depth': '0' },
      message: '1'.repeat(40),
    },
    {
      name: 'a tag that was moved since the event',
      env: { GITHUB_REF: 'refs/tags/v2', GITHUB_SHA: commits.old },
      message: "'refs/tags/v2' no longer points at",
    },
  ])('$name', async ({ message, ...options }) => {
    const result = await runner.main(options);
    expect(result.exitCode).toBe(1);
    expect(result.errors).toHaveLength(1);
    expect(result.errors[0]).toContain(message);
    expect(result.errors[0]).not.toContain('\n');
    expect(result.outputs['commit']).toBeUndefined();
  });

  it('a repository without a commit', async () => {
    git(fixture.root, ['init', '-q', '--bare', join(fixture.root, 'owner', 'empty.git')]);
    const result = await runner.main({ inputs: { repository: 'owner/empty' } });
    expect(result.exitCode).toBe(1);
    expect(result.errors).toEqual(['the repository has no default branch: it is empty, or its HEAD is broken']);
  });
});
