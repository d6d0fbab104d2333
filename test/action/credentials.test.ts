// The token: where it is while the job runs, that later git commands can use it, and that nothing of it is left.
import { existsSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { removeCredentials } from '../../src/action/credentials.ts';
import { startHttpServer, type HttpServer } from '../support/http-server.ts';
import { git, gitOnline, makeFixture, type Fixture } from './git-fixture.ts';
import { filesHolding, TestRunner, type StepResult } from './run-action.ts';

const TOKEN = 'ghs_a-Secret+Token/0123456789=';
const BASIC = Buffer.from(`x-access-token:${TOKEN}`).toString('base64');
const SECRETS = [TOKEN, BASIC];

const fixture: Fixture = makeFixture();
let server: HttpServer;
let runner: TestRunner;
/** Where the token was to be found while the server was asked: files, and command lines of processes. */
let seen: Set<string> | null = null;

function lookForSecrets(): void {
  if (seen === null) return;
  for (const path of filesHolding(runner.root, SECRETS)) seen.add(path);
  if (process.platform !== 'linux') return;
  for (const id of readdirSync('/proc').filter((name) => /^[0-9]+$/.test(name))) {
    const path = `/proc/${id}/cmdline`;
    try {
      const line = readFileSync(path, 'latin1');
      if (SECRETS.some((secret) => line.includes(secret))) seen.add(path);
    } catch {
      // It has ended.
    }
  }
}

beforeAll(async () => {
  server = await startHttpServer({ root: fixture.root, token: TOKEN, onRequest: lookForSecrets });
});
afterAll(async () => {
  await server.close();
  fixture.remove();
});
beforeEach(() => {
  server.reset();
  seen = null;
  runner = new TestRunner(server.origin, 'owner/repo');
});
afterEach(() => runner.remove());

const inputs = { token: TOKEN, ref: 'main' };

function config(): string {
  return readFileSync(join(runner.workspace, '.git', 'config'), 'utf8');
}

function tokenFiles(): string[] {
  return readdirSync(runner.temp).filter((name) => name.startsWith('git-credentials-'));
}

/** git as a later step of the job runs it. */
function laterGit(args: readonly string[], cwd = runner.workspace): Promise<string> {
  return gitOnline(cwd, args, { ...runner.environment, GIT_TERMINAL_PROMPT: '0' });
}

function expectNoSecretShown(result: StepResult): void {
  const { log, stderr, outputs, state, summary, warnings, errors, gitCommands } = result;
  const shown = JSON.stringify({ log, stderr, outputs, state, summary, warnings, errors, gitCommands });
  for (const secret of SECRETS) expect(shown).not.toContain(secret);
  const { report } = outputs;
  if (report !== undefined) for (const secret of SECRETS) expect(readFileSync(report, 'utf8')).not.toContain(secret);
}

describe('persist-credentials: true', () => {
  it('keeps the token in one file that only its owner reads, included from the repository', async () => {
    seen = new Set();
    const result = await runner.main({ inputs });
    expect(result.errors).toEqual([]);
    expect([...seen]).toEqual([result.state['credentialsPath']]);
    expect(result.masks).toEqual(SECRETS);
    expectNoSecretShown(result);
    const [name, ...more] = tokenFiles();
    expect(more).toEqual([]);
    expect(name).toMatch(/^git-credentials-[0-9a-f-]{36}\.config$/);
    const path = join(runner.temp, name!);
    expect(filesHolding(runner.root, SECRETS)).toEqual([path]);
    if (process.platform !== 'win32') expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(git(runner.temp, ['config', '--file', path, '--list'])).toBe(
      `http.${server.origin}/.extraheader=AUTHORIZATION: basic ${BASIC}`,
    );
    const local = git(runner.workspace, ['config', '--local', '--no-includes', '--get-regexp', '^includeif']);
    expect(local.split('\n')).toEqual([
      `includeif.gitdir:${runner.workspace}/.git.path ${path}`,
      `includeif.gitdir:${runner.workspace}/.git/worktrees/*.path ${path}`,
      `includeif.gitdir:/github/workspace/.git.path /github/runner_temp/${name}`,
      `includeif.gitdir:/github/workspace/.git/worktrees/*.path /github/runner_temp/${name}`,
    ]);
    expect(git(runner.workspace, ['config', 'remote.origin.url'])).toBe(`${server.origin}/owner/repo`);
  });

  it('sends the token once and at once', async () => {
    await runner.main({ inputs });
    expect(server.requests.length).toBeGreaterThan(0);
    for (const request of server.requests) {
      expect(request.authorization).toEqual([`basic ${BASIC}`]);
      expect(request.status).toBe(200);
      expect(request.protocol).toBe('version=2');
      expect(request.userAgent).toMatch(/^git\/2 \(parallel-checkout\)$/);
    }
  });

  it('lets later steps look, fetch, switch and work in another working tree', async () => {
    await runner.main({ inputs });
    expect(await laterGit(['status', '--porcelain'])).toBe('');
    expect(await laterGit(['log', '--format=%H'])).toBe(fixture.commits.main);
    await laterGit(['fetch', 'origin', 'feature/x']);
    await laterGit(['checkout', '-q', '-b', 'feature/x', 'FETCH_HEAD']);
    expect(readFileSync(join(runner.workspace, 'README.md'), 'utf8')).toBe('feature\n');
    await laterGit(['fetch', '-q', '--unshallow']);
    await laterGit(['checkout', '-q', 'main']);
    await laterGit(['pull', '-q']);
    expect(Number(await laterGit(['rev-list', '--count', 'HEAD']))).toBe(2);
    const worktree = join(runner.root, 'another');
    await laterGit(['worktree', 'add', '-q', worktree, fixture.commits.old]);
    expect(await laterGit(['ls-remote', 'origin', 'refs/heads/main'], worktree)).toContain(fixture.commits.main);
  });

  it('works below the workspace, at a path with characters of a pattern in it, and through a link', async () => {
    const result = await runner.main({ inputs: { ...inputs, path: 'a [b] *c' } });
    expect(result.errors).toEqual([]);
    const at = join(runner.workspace, 'a [b] *c');
    expect(await laterGit(['ls-remote', 'origin', 'HEAD'], at)).toContain(fixture.commits.main);
    expect(readFileSync(join(at, '.git', 'config'), 'utf8')).toContain('gitdir:/github/workspace/a ');

    const link = join(runner.root, 'link');
    symlinkSync(runner.workspace, link);
    const linked = await runner.main({ inputs: { ...inputs, path: 'linked' }, env: { GITHUB_WORKSPACE: link } });
    expect(linked.errors).toEqual([]);
    expect(await laterGit(['ls-remote', 'origin', 'HEAD'], join(link, 'linked'))).toContain(fixture.commits.main);
    await runner.post(linked);
    expect(readFileSync(join(runner.workspace, 'linked', '.git', 'config'), 'utf8')).not.toContain('includeIf');
  });

  it('is over after the post phase, which needs no git', async () => {
    const before = await runner.main({ inputs: { ...inputs, 'persist-credentials': 'false' } });
    const plain = config();
    await runner.post(before);
    expect(config()).toBe(plain);
    const main = await runner.main({ inputs });
    const post = await runner.post(main, { env: { PATH: '/nonexistent' } });
    expect(post.exitCode).toBe(0);
    expect(post.warnings).toEqual([]);
    expect(filesHolding(runner.root, SECRETS)).toEqual([]);
    expect(tokenFiles()).toEqual([]);
    expect(config()).toBe(plain);
    expect(git(runner.workspace, ['status', '--porcelain'])).toBe('');
  });

  it('is over after the post phase even if the repository is gone or its configuration cannot be read', async () => {
    const gone = await runner.main({ inputs });
    rmSync(join(runner.workspace, '.git'), { recursive: true });
    expect((await runner.post(gone)).exitCode).toBe(0);
    expect(filesHolding(runner.root, SECRETS)).toEqual([]);

    const broken = await runner.main({ inputs });
    writeFileSync(join(runner.workspace, '.git', 'config'), '[core\n');
    const post = await runner.post(broken);
    expect(post.exitCode).toBe(0);
    expect(post.warnings).toHaveLength(1);
    expect(post.warnings[0]).toContain(join('.git', 'config'));
    expect(filesHolding(runner.root, SECRETS)).toEqual([]);
  });

  it('says in the post phase what it could not clean, and does not fail the job', async () => {
    const main = await runner.main({ inputs });
    writeFileSync(join(runner.workspace, '.git', 'config.lock'), '');
    const post = await runner.post(main);
    expect(post.exitCode).toBe(0);
    expect(post.warnings[0]).toContain('config.lock');
    expect(filesHolding(runner.root, SECRETS)).toEqual([]);
  });

  it('does nothing in a post phase whose main phase refused to start', async () => {
    const main = await runner.main({ inputs: { ...inputs, workers: 'many' } });
    expect(main.state).toEqual({});
    const post = await runner.post(main);
    expect([post.exitCode, post.log.trim()]).toEqual([0, '']);
  });

  it('leaves files alone that are not token files of this runner', async () => {
    const main = await runner.main({ inputs });
    const outside = join(runner.root, 'git-credentials-00000000-0000-0000-0000-000000000000.config');
    const other = join(runner.temp, 'git-credentials-notes.txt');
    for (const path of [outside, other]) writeFileSync(path, '');
    git(runner.workspace, ['config', 'includeIf.gitdir:/elsewhere/.path', outside]);
    git(runner.workspace, ['config', 'includeIf.gitdir:/kept/.path', other]);
    await runner.post(main);
    expect(existsSync(outside)).toBe(true);
    expect(existsSync(other)).toBe(true);
    expect(config()).not.toContain('/elsewhere/');
    expect(config()).toContain('/kept/');
  });
});

describe('persist-credentials: false', () => {
  const notPersisted = { ...inputs, 'persist-credentials': 'false' };

  it('never has the token on disk, not even while fetching', async () => {
    seen = new Set();
    const result = await runner.main({ inputs: notPersisted });
    expect(result.errors).toEqual([]);
    expect([...seen]).toEqual([]);
    expect(filesHolding(runner.root, SECRETS)).toEqual([]);
    expectNoSecretShown(result);
    expect(config()).not.toContain('includeIf');
    expect(server.requests.map(({ authorization }) => authorization)).toEqual(
      server.requests.map(() => [`basic ${BASIC}`]),
    );
  });

  it('keeps configuration that the job gives by environment', async () => {
    const env = { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'http.userAgent', GIT_CONFIG_VALUE_0: 'unused' };
    const result = await runner.main({ inputs: { ...notPersisted, ref: '' }, env });
    expect(result.errors).toEqual([]);
  });
});

describe('a token that is refused', () => {
  it.each(['true', 'false'])('fails with one line that does not hold it (persist-credentials: %s)', async (persist) => {
    const wrong = 'ghs_another-Secret';
    const result = await runner.main({ inputs: { ...inputs, token: wrong, 'persist-credentials': persist } });
    expect(result.exitCode).toBe(1);
    expect(result.errors).toHaveLength(1);
    const basic = Buffer.from(`x-access-token:${wrong}`).toString('base64');
    for (const secret of [wrong, basic]) expect(result.log + result.stderr).not.toContain(secret);
    const { report } = result.outputs;
    expect(JSON.parse(readFileSync(report!, 'utf8'))).toMatchObject({ error: { code: 'authentication-failed' } });
    await runner.post(result);
    expect(filesHolding(runner.root, [wrong, basic])).toEqual([]);
  });
});

describe('what earlier checkouts left', () => {
  it('goes when the directory is used again', async () => {
    const first = await runner.main({ inputs });
    // A killed job: no post phase.
    const second = await runner.main({ inputs });
    expect(second.errors).toEqual([]);
    expect(second.warnings.filter((line) => line.includes('removed'))).toEqual([]);
    expect(tokenFiles()).toHaveLength(1);
    expect(first.state['credentialsPath']).not.toBe(second.state['credentialsPath']);
    expect(config().match(/includeIf/g)).toHaveLength(4);
    await runner.post(second);
    expect(filesHolding(runner.root, SECRETS)).toEqual([]);
  });

  // Its clean-up is not run by a later checkout of ours where the job was killed, so this one has to know all of it.
  it('goes if it was actions/checkout, in submodules and theirs too', () => {
    const gitDir = join(runner.workspace, '.git');
    const temp = runner.temp;
    const id = '0a1b2c3d-0000-4000-8000-0123456789ab';
    const token = join(temp, `git-credentials-${id}.config`);
    const containers = `/github/runner_temp/git-credentials-${id}.config`;
    const key = join(temp, id);
    const ssh = `"/usr/bin/ssh" -i "$RUNNER_TEMP/${id}" -o StrictHostKeyChecking=yes -o CheckHostIP=no -o "UserKnownHostsFile=$RUNNER_TEMP/${id}_known_hosts"`;
    git(runner.root, ['init', '-q', runner.workspace]);
    const modules = ['a', 'with/slash', 'a/modules/nested'].map((name) => join(gitDir, 'modules', name));
    for (const module of modules) git(runner.root, ['init', '-q', '--bare', module]);
    const all = [gitDir, ...modules];
    const plain = all.map((directory) => readFileSync(join(directory, 'config'), 'utf8'));
    for (const path of [token, key, `${key}_known_hosts`]) writeFileSync(path, BASIC);
    for (const directory of all) {
      const set = (name: string, value: string): string =>
        git(runner.root, ['config', '--file', join(directory, 'config'), '--add', name, value]);
      set(`http.${server.origin}/.extraheader`, `AUTHORIZATION: basic ${BASIC}`); // version 2 to 5
      set('core.sshCommand', ssh);
      set(`includeIf.gitdir:${directory}.path`, token); // version 6 and 7
      set(`includeIf.gitdir:/github/workspace/.git.path`, containers);
      if (directory === gitDir) continue;
      set(`url.${server.origin}/.insteadOf`, 'git@127.0.0.1:');
      set(`url.${server.origin}/.insteadOf`, 'org-42@github.com:');
    }
    const failures = removeCredentials({ gitDir, runnerTemp: temp, origins: [server.origin] });
    expect(failures).toEqual([]);
    expect(all.map((directory) => readFileSync(join(directory, 'config'), 'utf8'))).toEqual(plain);
    expect(readdirSync(temp)).toEqual([]);
  });

  it("does not take what is the user's own for it", () => {
    const gitDir = join(runner.workspace, '.git');
    git(runner.root, ['init', '-q', runner.workspace]);
    const module = join(gitDir, 'modules', 'a');
    git(runner.root, ['init', '-q', '--bare', module]);
    const configs = [gitDir, module].map((directory) => join(directory, 'config'));
    const set = (file: string, name: string, value: string): string =>
      git(runner.root, ['config', '--file', file, '--add', name, value]);
    set(configs[0]!, `url.${server.origin}/.insteadOf`, 'git@127.0.0.1:');
    for (const file of configs) {
      set(file, `url.${server.origin}/.insteadOf`, 'https://elsewhere.example.com/');
      set(file, 'url.https://mirror.example.com/.insteadOf', 'git@127.0.0.1:');
      set(file, 'http.https://elsewhere.example.com/.extraheader', 'X-Kept: yes');
      set(file, 'includeIf.gitdir:/kept/.path', '/home/me/git-credentials');
    }
    const before = configs.map((file) => readFileSync(file, 'utf8'));
    expect(removeCredentials({ gitDir, runnerTemp: runner.temp, origins: [server.origin] })).toEqual([]);
    expect(configs.map((file) => readFileSync(file, 'utf8'))).toEqual(before);
  });

  /** The git commands of the clean-up of actions/checkout 7.0.1, and the removal of the files that they find. */
  function cleanUpOfActionsCheckout(): void {
    const at = runner.workspace;
    const attempt = (args: readonly string[]): string => {
      try {
        return git(at, args);
      } catch {
        return '';
      }
    };
    for (const [pattern, name] of [
      ['core\\.sshCommand', 'core.sshCommand'],
      [`http\\.${server.origin.replaceAll('.', '\\.')}/\\.extraheader`, `http.${server.origin}/.extraheader`],
    ] as const) {
      const found = attempt(['config', '--local', '--name-only', '--get-regexp', pattern]);
      if (found !== '') git(at, ['config', '--local', '--unset-all', name]);
    }
    const files = new Set<string>();
    const keys = attempt(['config', '--local', '--name-only', '--get-regexp', '^includeIf\\.gitdir:']).split('\n');
    for (const name of keys.filter((key) => key !== '')) {
      for (const value of attempt(['config', '--local', '--get-all', name]).split('\n')) {
        if (!/git-credentials-[0-9a-f-]+\.config$/i.test(value)) continue;
        const pattern = value.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
        git(at, ['config', '--local', '--unset', name, `^${pattern}$`]);
        if (value.startsWith(runner.temp)) files.add(value);
      }
    }
    for (const file of files) rmSync(file);
  }

  it('can be ours and the next one actions/checkout, which removes it', async () => {
    await runner.main({ inputs: { ...inputs, 'persist-credentials': 'false' } });
    const plain = config();
    await runner.main({ inputs });
    git(runner.workspace, ['config', 'core.sshCommand', '"ssh" -i "$RUNNER_TEMP/key"']);
    cleanUpOfActionsCheckout();
    expect(config()).toBe(plain);
    expect(tokenFiles()).toEqual([]);
    expect(filesHolding(runner.root, SECRETS)).toEqual([]);
  });
});
