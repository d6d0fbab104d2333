// Submodules by the action: what is there afterwards, whom the token goes to, and what later steps and the post step do with it.
import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type HttpServer, startHttpServer } from '../support/http-server.ts';
import { Hosted } from '../support/submodules.ts';
import { git, gitOnline } from './git-fixture.ts';
import { filesHolding, TestRunner } from './run-action.ts';

const TOKEN = 'ghs_sUbMoDuLeToKeN';
const BASIC = Buffer.from(`x-access-token:${TOKEN}`).toString('base64');

const root = realpathSync(mkdtempSync(join(tmpdir(), 'parallel-checkout-submodules-')));
let server: HttpServer;
let foreign: HttpServer;
let runner: TestRunner;
let commits: { readonly top: string; readonly later: string };

beforeAll(async () => {
  server = await startHttpServer({ root, token: TOKEN });
  foreign = await startHttpServer({ root: join(root, 'foreign') });
  const ours = new Hosted(join(root, 'owner'));
  const theirs = new Hosted(join(root, 'foreign', 'else'));
  const other = theirs.commit('other', { other: 'x\n' });
  const leaf = ours.commit('leaf', { leaf: '1\n' });
  // The host of an SSH address is that of the server, its port is not told.
  const mid = ours.commit('mid', { mid: '1\n' }, [{ path: 'leaf', url: 'git@127.0.0.1:owner/leaf', oid: leaf }]);
  const members = [
    { path: 'libs/mid', url: '../mid', oid: mid },
    { path: 'other', url: `${foreign.origin}/else/other`, oid: other },
  ];
  const top = ours.commit('repo', { README: 'top\n' }, members);
  commits = { top, later: ours.commit('repo', { README: 'later\n' }, members.slice(0, 1)) };
});
beforeEach(() => {
  runner = new TestRunner(server.origin, 'owner/repo');
});
afterEach(() => {
  runner.remove();
  server.reset();
  foreign.reset();
});
afterAll(async () => {
  await Promise.all([server.close(), foreign.close()]);
  rmSync(root, { recursive: true, force: true });
});

const inputs = (over: Readonly<Record<string, string>> = {}): Record<string, string> => ({
  ref: commits.top,
  token: TOKEN,
  submodules: 'recursive',
  ...over,
});
const at = (...parts: string[]): string => join(runner.workspace, ...parts);
const here = (...args: string[]): string => git(runner.workspace, args);

describe('submodules', () => {
  it('are there, clean, at the depth asked for; the token goes to its own server and stays nowhere', async () => {
    const result = await runner.main({ inputs: inputs({ 'persist-credentials': 'false' }) });
    expect(result.errors).toEqual([]);
    expect(readFileSync(at('libs/mid/leaf/leaf'), 'utf8')).toBe('1\n');
    expect(readFileSync(at('other/other'), 'utf8')).toBe('x\n');
    expect(here('status', '--porcelain', '--ignored')).toBe('');
    expect(here('submodule', 'status', '--recursive')).not.toMatch(/^[-+U]/m);
    expect(here('submodule', 'foreach', '-q', '--recursive', 'git rev-list --count HEAD')).toBe('1\n1\n1');
    expect(here('submodule', 'foreach', '-q', '--recursive', 'git config --local gc.auto')).toBe('0\n0\n0');
    expect(new Set(server.requests.flatMap(({ authorization }) => authorization))).toEqual(new Set([`basic ${BASIC}`]));
    expect(foreign.requests.length).toBeGreaterThan(0);
    expect(foreign.requests.flatMap(({ authorization }) => authorization)).toEqual([]);
    expect(filesHolding(runner.root, [TOKEN, BASIC])).toEqual([]);
    expect(result.log + result.stderr).not.toMatch(new RegExp(`${TOKEN}|${BASIC}`.replaceAll('+', '\\+')));
    const report = JSON.parse(readFileSync(result.outputs['report']!, 'utf8')) as { submodules: { path: string }[] };
    expect(report.submodules.map(({ path }) => path)).toEqual(['libs/mid', 'libs/mid/leaf', 'other']);
  });

  it('are fetched by later steps until the post step, where credentials are persisted', async () => {
    const main = await runner.main({ inputs: inputs({ 'persist-credentials': 'true' }) });
    expect(main.errors).toEqual([]);
    const env = { HOME: runner.home };
    await gitOnline(at('libs/mid'), ['fetch', '-q', 'origin'], env);
    await gitOnline(at('libs/mid/leaf'), ['fetch', '-q', 'origin'], env);
    await gitOnline(at('libs/mid'), ['worktree', 'add', '-q', '--detach', at('..', 'beside')], env);
    await gitOnline(at('..', 'beside'), ['fetch', '-q', 'origin'], env);
    const post = await runner.post(main);
    expect([post.exitCode, post.warnings]).toEqual([0, []]);
    expect(filesHolding(runner.root, [TOKEN, BASIC])).toEqual([]);
    expect(filesHolding(at('.git'), ['git-credentials-', 'insteadOf'])).toEqual([]);
    await expect(gitOnline(at('libs/mid'), ['fetch', '-q', 'origin'], env)).rejects.toThrow(/could not read Username/);
  });

  it('of an earlier job are cleaned and reset; one that is gone goes', async () => {
    await runner.main({ inputs: inputs() });
    rmSync(at('libs/mid/mid'));
    git(at('libs/mid/leaf'), ['config', 'user.name', 'x']);
    const again = await runner.main({ inputs: inputs({ ref: commits.later }) });
    expect([again.errors, again.warnings]).toEqual([[], []]);
    expect(here('status', '--porcelain', '--ignored')).toBe('');
    expect(readFileSync(at('libs/mid/mid'), 'utf8')).toBe('1\n');
    expect(existsSync(at('other'))).toBe(false);
    expect(readdirSync(at('.git/modules'))).toEqual(['libs']);
  });

  it('of the first level alone, and those of the lists', async () => {
    const first = await runner.main({ inputs: inputs({ submodules: 'true', 'submodule-jobs': '1' }) });
    expect(first.errors).toEqual([]);
    expect(existsSync(at('libs/mid/mid'))).toBe(true);
    expect(readdirSync(at('libs/mid/leaf'))).toEqual([]);
    const listed = await runner.main({
      inputs: inputs({ path: 'b', 'submodules-include': 'libs/', 'submodules-exclude': 'libs/mid/leaf' }),
    });
    expect(listed.errors).toEqual([]);
    expect(readdirSync(at('b', 'other'))).toEqual([]);
    expect(existsSync(at('b', 'libs/mid/mid'))).toBe(true);
    expect(readdirSync(at('b', 'libs/mid/leaf'))).toEqual([]);
  });

  it('that cannot be had are one error with their path', async () => {
    foreign.fail({ fault: { kind: 'status', status: 404 } });
    const result = await runner.main({ inputs: inputs() });
    expect([result.exitCode, result.errors.length]).toEqual([1, 1]);
    expect(result.errors[0]).toMatch(/^submodule 'other': .*not found/);
  });
});
