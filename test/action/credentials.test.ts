// The token: where it is while the job runs, that later git commands can use it, and that nothing of it is left.
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startHttpServer, type HttpServer } from '../support/http-server.ts';
import { git, gitOnline, makeFixture, type Fixture } from './git-fixture.ts';
import { filesHolding, TestRunner, type StepResult } from './run-action.ts';

const TOKEN = 'ghs_a-Secret+Token/0123456789=';
const BASIC = Buffer.from(`x-access-token:${TOKEN}`).toString('base64');
const SECRETS = [TOKEN, BASIC];

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
    const result = await runner.main({ inputs });
    expect(result.errors).toEqual([]);
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
      expect(request.userAgent).toBe('git/2 (parallel-checkout)');
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
    const main = await runner.main({ inputs: { ...inputs, lfs: 'true' } });
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
    const seen: string[] = [];
    // git runs this hook while it fetches; what is on disk then is on disk at all.
    mkdirSync(join(runner.workspace, '.git'), { recursive: true });
    const hooks = join(runner.root, 'hooks');
    mkdirSync(hooks);
    const hook = join(hooks, 'reference-transaction');
    const list = join(runner.root, 'seen');
    writeFileSync(
      hook,
      `#!/bin/sh\ngrep -rlF -e '${TOKEN}' -e '${BASIC}' '${runner.workspace}' '${runner.temp}' >>'${list}'\necho ran >>'${list}'\n`,
    );
    chmodSync(hook, 0o755);
    writeFileSync(join(runner.home, '.gitconfig'), `[core]\n\thooksPath = ${hooks}\n`);
    const result = await runner.main({ inputs: notPersisted });
    expect(result.errors).toEqual([]);
    seen.push(...readFileSync(list, 'utf8').trim().split('\n'));
    expect(new Set(seen)).toEqual(new Set(['ran']));
    rmSync(hooks, { recursive: true });
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
    // A killed job: no post phase. And a header as actions/checkout had it before version 6.
    git(runner.workspace, ['config', `http.${server.origin}/.extraheader`, `AUTHORIZATION: basic ${BASIC}`]);
    git(runner.workspace, ['config', 'core.sshCommand', 'ssh -i /gone']);
    const module = join(runner.workspace, '.git', 'modules', 'a', 'b');
    git(runner.root, ['init', '-q', '--bare', module]);
    git(module, ['config', `includeIf.gitdir:${module}.path`, first.state['credentialsPath']!]);
    const second = await runner.main({ inputs });
    expect(second.errors).toEqual([]);
    expect(second.warnings.filter((line) => line.includes('removed'))).toEqual([]);
    expect(tokenFiles()).toHaveLength(1);
    expect(first.state['credentialsPath']).not.toBe(second.state['credentialsPath']);
    expect(config().match(/includeIf/g)).toHaveLength(4);
    expect(config()).not.toMatch(/extraheader|sshCommand/);
    expect(readFileSync(join(module, 'config'), 'utf8')).not.toContain('includeIf');
    await runner.post(second);
    expect(filesHolding(runner.root, SECRETS)).toEqual([]);
  });
});
