// The `filter` input, and the one that a sparse checkout implies: what is fetched, in how many requests, with the token on each.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { startHttpServer, type HttpServer } from '../support/http-server.ts';
import { git, makeFixture, type Fixture } from './git-fixture.ts';
import { TestRunner, type StepResult } from './run-action.ts';

const fixture: Fixture = makeFixture();
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
  server.reset();
  runner = new TestRunner(server.origin, 'owner/repo');
});
afterEach(() => runner.remove());

function here(args: readonly string[]): string {
  return git(runner.workspace, args);
}
/** Objects of the commit that are not here; nothing is fetched for the answer. */
function missing(): string[] {
  const listed = here(['rev-list', '--objects', '--missing=print', '--no-object-names', 'HEAD']).split('\n');
  return listed.filter((line) => line.startsWith('?'));
}
async function run(inputs: Readonly<Record<string, string>>): Promise<StepResult> {
  const result = await runner.main({ inputs: { ref: 'main', ...inputs } });
  expect(result.errors).toEqual([]);
  expect(server.requests.filter(({ status }) => status !== 200)).toEqual([]);
  expect(here(['status', '--porcelain'])).toBe('');
  expect(here(['fsck', '--no-progress'])).toBe('');
  return result;
}
/** Packs that the server was asked for. */
function packs(): number {
  return readdirSync(join(runner.workspace, '.git', 'objects', 'pack')).filter((name) => name.endsWith('.promisor'))
    .length;
}

it.each(['true', 'false'])(
  'blob:none brings the files of the checkout in one more request (persist: %s)',
  async (persist) => {
    const result = await run({ filter: 'blob:none', 'persist-credentials': persist });
    expect(result.outputs['engine']).toBe('native');
    expect(missing()).toEqual([]);
    expect(packs()).toBe(2);
    expect(here(['config', 'remote.origin.promisor'])).toBe('true');
    expect(here(['config', 'remote.origin.partialclonefilter'])).toBe('blob:none');
  },
);

it('a sparse checkout fetches its own files only, and the others when they are wanted', async () => {
  await run({ 'sparse-checkout': 'dir1' });
  expect(readdirSync(runner.workspace)).toContain('dir1');
  expect(existsSync(join(runner.workspace, 'dir0'))).toBe(false);
  const blobs = here(['ls-tree', '-r', 'HEAD'])
    .split('\n')
    .map((line) => line.split(/\s/));
  const isInside = (path: string): boolean => !path.includes('/') || path.startsWith('dir1/');
  const inside = new Set(blobs.filter(([, , , path]) => isInside(path!)).map(([, , oid]) => oid));
  const outside = new Set(blobs.map(([, , oid]) => oid).filter((oid) => !inside.has(oid)));
  expect(outside.size).toBeGreaterThan(0);
  expect(new Set(missing())).toEqual(new Set([...outside].map((oid) => `?${oid}`)));
  await run({});
  expect(existsSync(join(runner.workspace, 'dir0'))).toBe(true);
  expect(missing()).toEqual([]);
});

it('takes the place of what a sparse checkout implies', async () => {
  await run({ 'sparse-checkout': 'dir1', filter: 'blob:limit=1m' });
  expect(here(['config', 'remote.origin.partialclonefilter'])).toBe('blob:limit=1048576');
  expect(missing()).toEqual([]);
});

it('that is none is an error', async () => {
  const result = await runner.main({ inputs: { ref: 'main', filter: 'blobs' } });
  expect(result.exitCode).toBe(1);
  expect(result.errors).toHaveLength(1);
  expect(result.errors[0]).toMatch(/invalid filter-spec 'blobs'/);
});
