// `fetch-depth: merge-base` against a real server: afterwards git finds the merge base that it finds in all of the history, and has
// not fetched all of it.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { comparisonBase, fetchToMergeBase, refspecsWithBase } from '../../src/action/merge-base.ts';
import { refForm } from '../../src/action/ref.ts';
import type { CheckoutRequest, FetchRequest } from '../../src/engine/settings.ts';
import { startHttpServer, type HttpServer } from '../support/http-server.ts';
import { git, gitOnline } from './git-fixture.ts';
import { TestRunner, type StepOptions, type StepResult } from './run-action.ts';

const MAIN_COMMITS = 1500;
/** How far back the far branch leaves main. */
const FAR = 100;

const root = realpathSync(mkdtempSync(join(tmpdir(), 'parallel-checkout-merge-base-')));
const bare = join(root, 'owner', 'repo.git');
let server: HttpServer;
const runners: TestRunner[] = [];

/** A history of many small commits, as `git fast-import` reads it. */
function history(): string {
  const lines: string[] = [];
  let time = 1_700_000_000;
  const commit = (ref: string, name: string, parents: { from?: string; merge?: string } = {}, first = false): void => {
    lines.push(`commit refs/heads/${ref}`, `committer A Tester <tester@example.com> ${time++} +0000`, 'data 1', 'c');
    if (parents.from !== undefined) lines.push(`from refs/heads/${parents.from}`);
    if (parents.merge !== undefined) lines.push(`merge refs/heads/${parents.merge}`);
    if (first) lines.push('M 100644 inline big/file.txt', 'data 4', 'big', '');
    lines.push(`M 100644 inline ${ref}/${name}.txt`, `data ${name.length}`, name, '');
  };
  commit('main', 'c0', {}, true);
  for (let at = 1; at < MAIN_COMMITS; at++) {
    commit('main', `c${at % 7}`);
    if (at === MAIN_COMMITS - FAR) lines.push('reset refs/heads/fork', 'from refs/heads/main', '');
    if (at === MAIN_COMMITS - 60) lines.push('reset refs/heads/updated', 'from refs/heads/main', '');
  }
  // Left main long ago.
  commit('far', 'f', { from: 'fork' });
  // Left main at the same place and was brought up to date 40 commits later, with short ways to the old place on both sides:
  // within a few commits of both tips the old place is what they have in common, and main's newer commit is not seen.
  commit('behind', 'b', { from: 'fork' });
  commit('behind', 'm', { merge: 'updated' });
  commit('main', 'merge', { merge: 'far' });
  // GitHub's test merge of a pull request, after which main goes on.
  commit('topic', 't1', { from: 'fork' });
  commit('topic', 't2');
  commit('test-merge', 'x', { from: 'main', merge: 'topic' });
  for (const name of ['n1', 'n2', 'n3']) commit('main', name);
  commit('orphan', 'o');
  return `${lines.join('\n')}\n`;
}

beforeAll(async () => {
  mkdirSync(bare, { recursive: true });
  git(bare, ['init', '-q', '--bare', '-b', 'main']);
  execFileSync('git', ['fast-import', '--quiet'], { cwd: bare, input: history() });
  git(bare, ['update-ref', 'refs/pull/7/merge', 'test-merge']);
  for (const name of ['uploadpack.allowFilter', 'uploadpack.allowAnySHA1InWant']) git(bare, ['config', name, 'true']);
  server = await startHttpServer({ root, token: 'a-token' });
});
afterAll(async () => {
  await server.close();
  for (const runner of runners) runner.remove();
  rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
});

function id(revision: string): string {
  return git(bare, ['rev-parse', revision]);
}

interface Ran {
  readonly runner: TestRunner;
  readonly result: StepResult;
  /** The depth of each fetch by git, 'all' for all history; the first into a new directory is not by git. */
  readonly depths: readonly string[];
}

function newRunner(): TestRunner {
  const runner = new TestRunner(server.origin, 'owner/repo');
  runners.push(runner);
  return runner;
}

async function run(options: StepOptions, runner = newRunner()): Promise<Ran> {
  const result = await runner.main({ ...options, inputs: { 'fetch-depth': 'merge-base', ...options.inputs } });
  expect(result.errors).toEqual([]);
  const fetches = result.gitCommands.filter((line) => line.includes(' --prune '));
  const depths = fetches.map((line) => /--depth=(\d+)|--unshallow/.exec(line)).map((match) => match?.[1] ?? 'all');
  return { runner, result, depths };
}

function here(ran: Ran, args: readonly string[]): string {
  return git(ran.runner.workspace, args);
}

/** Both say the same of `base` as `git` does with all history at hand. */
function expectMergeBase(ran: Ran, base: string, baseInBare: string): void {
  const head = here(ran, ['rev-parse', 'HEAD']);
  expect(here(ran, ['merge-base', '--all', base, 'HEAD'])).toBe(git(bare, ['merge-base', '--all', baseInBare, head]));
  const diff = ['diff', '--raw', '--abbrev=40'];
  expect(here(ran, [...diff, `${base}...HEAD`])).toBe(git(bare, [...diff, `${baseInBare}...${head}`]));
  expect(here(ran, ['status', '--porcelain'])).toBe('');
}

function pullRequest(head: string, commits = 2): unknown {
  return { pull_request: { commits, base: { ref: 'main', sha: id('main~9') }, head: { sha: id(head) } } };
}

describe('what is fetched', () => {
  it('of the test merge of a pull request: its parents, and main as it was then, in one fetch', async () => {
    const ran = await run({
      env: { GITHUB_REF: 'refs/pull/7/merge', GITHUB_SHA: id('test-merge'), GITHUB_EVENT_NAME: 'pull_request' },
      event: pullRequest('topic'),
    });
    expect(ran.depths).toEqual([]);
    expect(here(ran, ['rev-parse', 'origin/main'])).toBe(id('test-merge^1'));
    expectMergeBase(ran, 'origin/main', 'test-merge^1');
    expect(ran.result.warnings).toEqual([]);
    expect(Number(here(ran, ['rev-list', '--count', '--all']))).toBe(3);
  });

  it('of a branch that left main long ago: steps up to there, in a directory that had less', async () => {
    const runner = newRunner();
    await runner.main({ inputs: { ref: 'main' } });
    // A tracking ref of a former branch is in the way of main's.
    git(runner.workspace, ['update-ref', '-d', 'refs/remotes/origin/main']);
    git(runner.workspace, ['update-ref', 'refs/remotes/origin/main/old', 'HEAD']);
    const event = pullRequest('topic');
    const ran = await run({ inputs: { ref: id('topic') }, event }, runner);
    expect(ran.depths).toEqual(['16', '64', '256']);
    expect(ran.result.log).not.toContain('are removed');
    expectMergeBase(ran, 'origin/main', 'main');
    const count = Number(here(ran, ['rev-list', '--count', '--all']));
    expect(count).toBeLessThan(400);

    // A second time nothing else comes of it, and no more history.
    const again = await run({ inputs: { ref: id('topic') }, event }, runner);
    expectMergeBase(again, 'origin/main', 'main');
    expect(Number(here(again, ['rev-list', '--count', '--all']))).toBeLessThanOrEqual(count);
  });

  it('goes on where the newest common commit is still out of sight', async () => {
    const ran = await run({ inputs: { ref: id('behind') }, event: pullRequest('behind') });
    // At 16 the tips have 'fork' in common, which is not the merge base.
    expect(id('fork')).not.toBe(git(bare, ['merge-base', 'main', 'behind']));
    expect(ran.depths[0]).toBe('64');
    expectMergeBase(ran, 'origin/main', 'main');
  });

  it('of a push: back to the commit before; of a new branch, back to main; of the default branch, one step', async () => {
    const push = (ref: string, before: string, more: object = {}): Promise<Ran> =>
      run({
        env: { GITHUB_REF: `refs/heads/${ref}`, GITHUB_SHA: id(ref) },
        event: { before, commits: [{}, {}, {}], repository: { default_branch: 'main' }, ...more },
      });
    const gone = '1'.repeat(40);
    const [pushed, created, forced, group, scheduled] = await Promise.all([
      push('main', id('main~20')),
      push('topic', '0'.repeat(40)),
      push('topic', gone),
      push('topic', '', { merge_group: { base_sha: id('main'), base_ref: 'refs/heads/main' } }),
      run({ env: { GITHUB_REF: 'refs/heads/main', GITHUB_SHA: id('main') } }),
    ]);
    expect(pushed.depths).toEqual(['64']);
    expectMergeBase(pushed, id('main~20'), 'main~20');
    expectMergeBase(created, 'origin/main', 'main');
    expectMergeBase(forced, 'origin/main', 'main');
    expect(forced.result.warnings).toEqual([`commit ${gone} is no longer there to compare with; taking 'main'`]);
    expectMergeBase(group, id('main'), 'main');
    expect(scheduled.depths).toEqual([]);
    expectMergeBase(scheduled, 'origin/main', 'main');
  });

  it('of unrelated histories: all, and a warning', async () => {
    const ran = await run({ inputs: { ref: 'orphan' }, event: pullRequest('orphan') });
    expect(ran.depths).toEqual(['64', '256', '1024', '4096']);
    expect(ran.result.warnings).toEqual([`what is checked out has no commit in common with 'main'`]);
    expect(existsSync(join(ran.runner.workspace, '.git', 'shallow'))).toBe(false);
  });

  it('of a sparse checkout: commits and trees; the files when they are compared', async () => {
    const ran = await run({ inputs: { ref: id('topic'), 'sparse-checkout': 'topic' }, event: pullRequest('topic') });
    const { workspace } = ran.runner;
    expect(ran.depths).toEqual(['64', '256']);
    expect(existsSync(join(workspace, 'main'))).toBe(false);
    expect(here(ran, ['rev-list', '--objects', '--all', '--missing=print']).match(/^\?/gm)?.length).toBeGreaterThan(5);
    expect(here(ran, ['merge-base', 'origin/main', 'HEAD'])).toBe(id('fork'));
    // git asks the server for them, as for any file of a partial clone.
    expect(await gitOnline(workspace, ['diff', '--numstat', 'origin/main...HEAD'])).toBe(
      git(bare, ['diff', '--numstat', 'main...topic']),
    );
  });
});

describe('the steps', () => {
  const directory = mkdtempSync(join(tmpdir(), 'parallel-checkout-steps-'));
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
  const AHEAD: CheckoutRequest = {
    directory,
    target: { kind: 'head' },
    workers: 0,
    memoryLimitBytes: 'auto',
    engine: 'auto',
    transport: 'auto',
    config: [],
  };

  it('end with all history, where the merge base is very far back', async () => {
    writeFileSync(join(directory, 'shallow'), `${'a'.repeat(40)}\n`);
    const tips = ['b'.repeat(40), 'a'.repeat(40)];
    const fetches: Pick<FetchRequest, 'depth' | 'unshallow' | 'refspecs'>[] = [];
    const warnings: string[] = [];
    await fetchToMergeBase({
      base: comparisonBase({ repository: { default_branch: 'main' } }, refForm('refs/heads/x', '')),
      head: { revision: 'refs/remotes/origin/x', refspecs: ['+refs/heads/x:refs/remotes/origin/x'] },
      gitDir: directory,
      git: ({ args }) =>
        Promise.resolve({
          exitCode: args[0] === 'merge-base' ? 1 : 0,
          stdout: Buffer.from(args[0] === 'merge-base' ? '' : `${tips.join('\n')}\n`),
          stderr: '',
        }),
      ahead: AHEAD,
      fetch: ({ ahead, ...what }) => {
        expect(ahead !== undefined).toBe(fetches.length === 0);
        fetches.push(what);
        return Promise.resolve({ transport: 'git', ms: 1, reasons: [] });
      },
      defaultBranch: () => Promise.reject(new Error('not asked')),
      info: () => undefined,
      warn: (line) => warnings.push(line),
    });
    expect(fetches).toEqual([
      { depth: 16, refspecs: ['+refs/heads/x:refs/remotes/origin/x', '+refs/heads/main:refs/remotes/origin/main'] },
      ...[64, 256, 1024, 4096, 16_384].map((depth) => ({ depth, refspecs: tips })),
      { unshallow: true, refspecs: tips }, // once, even of a server that is shallow itself
    ]);
    expect(warnings).toEqual([
      "the merge base with 'main' is not among the last 16384 commits: all history is fetched",
      "what is checked out has no commit in common with 'main'",
    ]);
  });

  it('abandon what has begun when one of them fails', async () => {
    let abandoned = 0;
    const begun = {
      abandon: () => {
        abandoned++;
        return Promise.resolve();
      },
    };
    const failure = new Error('the server is gone');
    const run = fetchToMergeBase({
      base: { form: refForm('refs/heads/main', ''), firstDepth: 16, testMergeOf: 'a'.repeat(40) },
      head: { revision: 'refs/remotes/pull/1/merge', refspecs: ['x:y'] },
      gitDir: directory,
      // It has no second parent.
      git: () => Promise.resolve({ exitCode: 128, stdout: Buffer.alloc(0), stderr: '' }),
      ahead: AHEAD,
      fetch: ({ ahead }) =>
        ahead === undefined
          ? Promise.reject(failure)
          : Promise.resolve({ transport: 'stream', ms: 1, reasons: [], begun }),
      defaultBranch: () => Promise.reject(new Error('not asked')),
      info: () => undefined,
      warn: () => undefined,
    });
    await expect(run).rejects.toBe(failure);
    expect(abandoned).toBe(1);
  });
});

describe('what the event says', () => {
  const sha = 'a'.repeat(40);
  const merge = refForm('refs/pull/7/merge', sha);

  it.each([
    { name: 'nothing', event: undefined, form: null, depth: 16 },
    { name: 'nonsense', event: { pull_request: { base: { ref: 7 } }, before: 'x', commits: 3 }, form: null, depth: 16 },
    { name: 'a name that is none', event: { pull_request: { base: { ref: '--x:y' } } }, form: null, depth: 16 },
    {
      name: 'a long pull request',
      event: { pull_request: { base: { ref: 'dev/x' }, commits: 250 } },
      form: { kind: 'branch', name: 'dev/x', commit: '' },
      depth: 252,
    },
    {
      name: 'an impossible number of commits',
      event: { before: sha, pull_request: { base: { ref: 'main' }, commits: 1e12 } },
      form: { kind: 'branch', name: 'main', commit: '' },
      depth: 16_384,
    },
    { name: 'a push', event: { before: sha, commits: [] }, form: { kind: 'commit', commit: sha }, depth: 16 },
  ])('$name', ({ event, form, depth }) => {
    expect(comparisonBase(event, merge)).toEqual({ form, firstDepth: depth, testMergeOf: null });
  });

  it('is a test merge only for its own ref', () => {
    const event = { pull_request: { base: { ref: 'main' }, head: { sha: sha.toUpperCase() } } };
    expect(comparisonBase(event, merge).testMergeOf).toBe(sha);
    for (const ref of ['refs/pull/7/head', 'refs/heads/merge', 'refs/pull/x/merge']) {
      expect(comparisonBase(event, refForm(ref, '')).testMergeOf, ref).toBeNull();
    }
  });

  it('is not fetched twice under one name', () => {
    const specs = [`+${sha}:refs/remotes/origin/main`];
    expect(refspecsWithBase(specs, refForm('refs/heads/main', ''))).toEqual(specs);
    expect(refspecsWithBase([sha], { kind: 'commit', commit: sha })).toEqual([sha]);
  });
});
