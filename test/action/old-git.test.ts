// What older versions of git do not know: Debian 11 has git 2.30, Ubuntu 20.04 has 2.25, and both run the action. The git of
// this machine stands in for them, behind a script that takes away what they lack.
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { credentialEnvironment } from '../../src/action/credentials.ts';
import { findGit } from '../../src/engine/engine.ts';
import { startHttpServer, type HttpServer } from '../support/http-server.ts';
import { git, makeFixture, type Fixture } from './git-fixture.ts';
import { filesHolding, TestRunner, type StepResult } from './run-action.ts';

const TOKEN = 'ghs_a-Secret+Token/0123456789=';
const BASIC = Buffer.from(`x-access-token:${TOKEN}`).toString('base64');
const fixture: Fixture = makeFixture();
let server: HttpServer;
let runner: TestRunner;

beforeAll(async () => {
  server = await startHttpServer({ root: fixture.root, token: TOKEN });
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

/** A folder with a git that says that it is of this version. */
function oldGit(version: '2.25.1' | '2.30.2'): string {
  const folder = join(runner.home, 'bin');
  mkdirSync(folder);
  const refusals =
    version === '2.30.2'
      ? ''
      : `case " $* " in *' fetch '*) for option in no-write-fetch-head stdin; do
  case " $* " in *" --$option "*) echo "error: unknown option \\\`$option'" >&2; echo 'usage: git fetch' >&2; exit 129;; esac
done;; esac
`;
  const script = `#!/bin/sh
if [ "$1" = version ]; then echo 'git version ${version}'; exit; fi
unset GIT_CONFIG_COUNT
${refusals}exec '${findGit(process.env, process.platform) ?? ''}' "$@"
`;
  const file = join(folder, 'git');
  writeFileSync(file, script);
  chmodSync(file, 0o755);
  return folder;
}

async function run(path: string, inputs: Readonly<Record<string, string>>): Promise<StepResult> {
  const result = await runner.main({
    inputs: { token: TOKEN, ref: 'main', 'persist-credentials': 'false', transport: 'git', ...inputs },
    env: { PATH: `${path}${delimiter}${process.env['PATH'] ?? ''}` },
  });
  expect(result.errors).toEqual([]);
  // One header, and not two that say the same, which servers refuse.
  expect(server.requests.map(({ authorization }) => authorization)).toEqual(
    server.requests.map(() => [`basic ${BASIC}`]),
  );
  expect(server.requests.length).toBeGreaterThan(1);
  for (const secret of [TOKEN, BASIC]) {
    expect(result.log + result.stderr).not.toContain(secret);
    expect(filesHolding(runner.root, [secret])).toEqual([]);
  }
  expect(git(runner.workspace, ['status', '--porcelain'])).toBe('');
  return result;
}

describe.skipIf(process.platform === 'win32')('git', () => {
  it('before 2.31 gets the token that is not stored, and what the job gave it by -c', async () => {
    const result = await run(oldGit('2.30.2'), {});
    expect(result.outputs['engine']).toBe('native');
  });

  it('before 2.29 checks out a part of the files by itself, since it cannot be asked for them by a list', async () => {
    const result = await run(oldGit('2.25.1'), { 'sparse-checkout': 'dir1' });
    expect(result.outputs['engine']).toBe('git');
    expect(result.log).toContain('git before 2.29 cannot be asked for missing objects by a list');
    expect(existsSync(join(runner.workspace, 'dir0'))).toBe(false);
    expect(readdirSync(join(runner.workspace, 'dir1'))).toHaveLength(3);
    expect(readFileSync(join(runner.workspace, 'README.md'), 'utf8')).toBe('main\n');
  });
});

it('of this machine has the token too where it fetches files while it checks out', async () => {
  const result = await run('', { filter: 'blob:none', engine: 'git' });
  expect(result.outputs['engine']).toBe('git');
});

it('the form of the setting', () => {
  const key = 'http.https://ghes.example.com/.extraheader';
  const header = `AUTHORIZATION: basic ${BASIC}`;
  const environment = { GIT_CONFIG_PARAMETERS: "'a.b=c'", GIT_CONFIG_COUNT: '1' };
  expect(credentialEnvironment('https://ghes.example.com', TOKEN, {}, false)).toEqual({
    GIT_CONFIG_PARAMETERS: `'${key}=${header}'`,
  });
  expect(credentialEnvironment('https://ghes.example.com', TOKEN, environment, false)).toEqual({
    GIT_CONFIG_PARAMETERS: `'a.b=c' '${key}=${header}'`,
  });
  expect(credentialEnvironment('https://ghes.example.com', TOKEN, environment, true)).toEqual({
    GIT_CONFIG_COUNT: '2',
    GIT_CONFIG_KEY_1: key,
    GIT_CONFIG_VALUE_1: header,
  });
});
