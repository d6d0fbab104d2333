/**
 * The contract of actions/checkout that this action keeps, a row for each rule: the action runs as a child against real servers, and
 * the row looks at what is on the disk and in the outputs. Several rows look at one run. What has many cases has a file of its own
 * too (refs, credentials, reuse, ssh, lfs).
 *
 * On CI and with TEST_DIST=1 the committed bundles run, elsewhere what was just changed.
 */
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startHttpServer, type HttpServer, type RecordedRequest } from '../support/http-server.ts';
import { createLfsServer } from '../support/lfs-server.ts';
import { startSshServer, whyNoSshServer, type SshServer } from '../support/ssh-server.ts';
import { git, gitOnline, makeFixture, type Fixture } from './git-fixture.ts';
import { filesHolding, TestRunner, type StepOptions, type StepResult } from './run-action.ts';

process.env['TEST_DIST'] ??= (process.env['CI'] ?? '') === '' ? '0' : '1';

const TOKEN = 'ghs_a-Secret+Token/0123456789=';
const BASIC = Buffer.from(`x-access-token:${TOKEN}`).toString('base64');
const SECRETS = [TOKEN, BASIC];
const TOKEN_FILE = /^git-credentials-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.config$/;
const noSsh = whyNoSshServer();
const noLfs = spawnSync('git', ['lfs', 'version']).status === 0 ? null : 'git-lfs is not there';

let fixture: Fixture;
let server: HttpServer;
let ssh: SshServer | null = null;
let lfsContent: Buffer;

/** A job of its own, and what its steps left. Its repository has a name of its own too, so that its requests can be told. */
class World {
  readonly runner: TestRunner;
  readonly name: string;
  readonly results: StepResult[] = [];
  /** What a world notes for its rows before it goes on. */
  readonly notes: Record<string, string> = {};

  constructor(name: string) {
    this.name = name;
    symlinkSync(fixture.bare, join(fixture.root, 'owner', `${name}.git`));
    this.runner = new TestRunner(server.origin, `owner/${name}`);
  }

  async main(options: StepOptions = {}): Promise<StepResult> {
    const result = await this.runner.main({ ...options, inputs: { token: TOKEN, ...options.inputs } });
    this.results.push(result);
    return result;
  }

  /** The last step. */
  get result(): StepResult {
    return this.results.at(-1)!;
  }
  at(...names: string[]): string {
    return join(this.runner.workspace, ...names);
  }
  write(path: string, content = 'x'): void {
    mkdirSync(join(this.at(path), '..'), { recursive: true });
    writeFileSync(this.at(path), content);
  }
  read(path: string): string {
    return readFileSync(this.at(path), 'utf8');
  }
  git(...args: string[]): string {
    return git(this.runner.workspace, args);
  }
  get refs(): string[] {
    return this.git('for-each-ref', '--format=%(refname)').split('\n');
  }
  get head(): string {
    return this.read('.git/HEAD').trim();
  }
  get config(): string {
    return this.read('.git/config');
  }
  get tokenFiles(): string[] {
    return readdirSync(this.runner.temp).filter((name) => TOKEN_FILE.test(name));
  }
  get requests(): readonly RecordedRequest[] {
    return server.requests.filter(({ path }) => path.startsWith(`/owner/${this.name}/`));
  }
  /** The workspace and the job's temporary directory without what is meant to be found there. */
  get untouched(): boolean {
    return this.requests.length === 0 && this.result.gitCommands.length === 0 && !existsSync(this.at('.git'));
  }
}

type Env = NonNullable<StepOptions['env']>;

const push = (): Env => ({ GITHUB_REF: 'refs/heads/main', GITHUB_SHA: fixture.commits.main });
const fork = (): unknown => ({
  repository: { id: 1, full_name: 'owner/repo' },
  pull_request: { head: { sha: fixture.commits.pull, repo: { id: 2, full_name: 'Mallory/Repo' } } },
});

/** The runs that the rows look at. */
const RUNS = {
  push: async (world) => {
    await world.main({ env: { ...push(), ACTIONS_ORCHESTRATION_ID: 'a b/c' } });
  },
  'push, and its post phase': async (world) => {
    await world.main({ env: push() });
    world.notes['config'] = world.config;
    world.results.push(await world.runner.post(world.result, { env: { PATH: '/nonexistent' } }));
  },
  'nothing persists': async (world) => {
    await world.main({ env: push(), inputs: { 'persist-credentials': '' } });
  },
  'git has gone before the post phase': async (world) => {
    await world.main({ env: push() });
    rmSync(world.at('.git'), { recursive: true });
    world.results.push(await world.runner.post(world.result));
  },
  'another name, in other case': async (world) => {
    await world.main({ env: { ...push(), GITHUB_REPOSITORY: `OWNER/${world.name.toUpperCase()}` } });
  },
  'a pull request': async (world) => {
    await world.main({ env: { GITHUB_REF: 'refs/pull/7/merge', GITHUB_SHA: fixture.commits.pull } });
  },
  'the tag of an event, with all tags': async (world) => {
    await world.main({
      env: { GITHUB_REF: 'refs/tags/v2', GITHUB_SHA: fixture.commits.main },
      inputs: { 'fetch-tags': 'true' },
    });
  },
  'another kind of ref, of an event': async (world) => {
    await world.main({ env: { GITHUB_REF: 'refs/custom/Thing', GITHUB_SHA: fixture.commits.custom } });
  },
  'a closed pull request': async (world) => {
    await world.main({ env: { GITHUB_REF: 'main', GITHUB_SHA: fixture.commits.old } });
  },
  'a commit, with all tags': async (world) => {
    await world.main({ inputs: { ref: `  ${fixture.commits.old}\t`, 'fetch-tags': 'TRUE' } });
  },
  'a short name, with all tags': async (world) => {
    await world.main({ inputs: { ref: 'both', 'fetch-tags': 'true' } });
  },
  'a short name': async (world) => {
    await world.main({ inputs: { ref: 'feature/x', 'show-progress': 'false' } });
  },
  'a tag by its short name': async (world) => {
    await world.main({ inputs: { ref: 'v2' } });
  },
  'another repository': async (world) => {
    await world.main({ env: { ...push(), GITHUB_REPOSITORY: 'owner/elsewhere' } });
  },
  'a wiki': async (world) => {
    git(fixture.root, ['clone', '-q', '--bare', fixture.bare, join(fixture.root, 'owner', 'repo.wiki.git')]);
    const wiki = join(fixture.root, 'owner', 'repo.wiki.git');
    git(wiki, ['branch', '-m', 'main', 'master']);
    await world.main({ inputs: { repository: 'owner/repo.wiki', path: 'wiki' } });
  },
  'all history, and a branch that has moved on': async (world) => {
    const env = { GITHUB_REF: 'refs/heads/main', GITHUB_SHA: fixture.commits.old };
    await world.main({ env, inputs: { 'fetch-depth': 'all' } });
  },
  'two commits of history': async (world) => {
    await world.main({ inputs: { ref: 'refs/heads/main', 'fetch-depth': '2.9' } });
  },
  'a ref that is not there': async (world) => {
    await world.main({ inputs: { ref: 'no-such' } });
  },
  'a refused token': async (world) => {
    await world.main({ inputs: { ref: 'main', token: 'another' } });
  },
  'no token': async (world) => {
    await world.main({ inputs: { token: '', 'ssh-key': ssh?.key ?? '' } });
  },
  'a path outside': async (world) => {
    await world.main({ inputs: { path: '../repository' } });
  },
  'a name without an owner': async (world) => {
    await world.main({ inputs: { repository: 'repository' } });
  },
  'a fork': async (world) => {
    const env = { ...push(), GITHUB_EVENT_NAME: 'pull_request_target' };
    await world.main({ env, event: fork(), inputs: { ref: 'refs/pull/7/merge' } });
    await world.main({ env, event: fork(), inputs: { ref: fixture.commits.pull.toUpperCase() } });
    await world.main({ env, event: fork(), inputs: { repository: 'mallory/REPO' } });
  },
  'a fork that is allowed': async (world) => {
    await world.main({
      env: { ...push(), GITHUB_EVENT_NAME: 'pull_request_target' },
      event: fork(),
      inputs: { ref: 'refs/pull/7/merge', 'allow-unsafe-pr-checkout': 'true' },
    });
  },
  'a workflow of a fork, without a ref': async (world) => {
    await world.main({ env: { ...push(), GITHUB_EVENT_NAME: 'pull_request_target' }, event: fork() });
  },
  'a directory that is no repository': async (world) => {
    world.write('stray');
    await world.main({ env: push(), inputs: { clean: 'false' } });
  },
  'a file at the path': async (world) => {
    world.write('a');
    await world.main({ env: push(), inputs: { path: 'a/../a' } });
  },
  'a directory of another repository': async (world) => {
    world.git('init', '-q', '.');
    world.git('remote', 'add', 'origin', `${server.origin}/owner/${world.name}.git`);
    world.write('stray');
    await world.main({ env: push() });
  },
  'a directory that is used again': async (world) => {
    await world.main({ inputs: { ref: 'main' } });
    for (const path of ['untracked/a', 'ignored', 'README.md', '.git/index.lock', '.git/shallow.lock'])
      world.write(path);
    for (const path of ['.git/HEAD.lock', '.git/marker']) world.write(path, '');
    // What actions/checkout 2 to 5 left of a killed job, and 6 and 7.
    world.git('config', `http.${server.origin}/.extraheader`, `AUTHORIZATION: basic ${BASIC}`);
    world.git('config', 'core.sshCommand', '"/usr/bin/ssh" -i "$RUNNER_TEMP/0c2f3b4e-0000-4000-8000-000000000000"');
    const left = join(world.runner.temp, 'git-credentials-0c2f3b4e-0000-4000-8000-000000000000.config');
    writeFileSync(left, `[http "${server.origin}/"]\n\textraheader = AUTHORIZATION: basic ${BASIC}\n`);
    world.git('config', `includeIf.gitdir:${world.at('.git')}.path`, left);
    world.notes['left'] = left;
    world.write('.git/config.lock', '');
    world.git('update-ref', 'refs/heads/left/over', 'HEAD');
    world.git('update-ref', 'refs/remotes/origin/feature', 'HEAD');
    await world.main({ inputs: { ref: 'feature/x' } });
  },
  'a directory that is not cleaned': async (world) => {
    await world.main({ inputs: { ref: 'main' } });
    for (const path of ['untracked/a', 'ignored', 'README.md']) world.write(path);
    await world.main({ inputs: { ref: 'main', clean: 'false' } });
  },
  'sparse, and then all': async (world) => {
    await world.main({ inputs: { ref: 'main', 'sparse-checkout': '\n  dir0  \n\n' } });
    world.notes['sparse'] = world.git('sparse-checkout', 'list');
    world.notes['files'] = readdirSync(world.runner.workspace).join(' ');
    world.notes['cone'] = world.git('config', 'core.sparseCheckoutCone');
    world.notes['filter'] = world.git('config', 'remote.origin.partialclonefilter');
    world.notes['missing'] = world.git('rev-list', '--objects', '--all', '--missing=print');
    await world.main({ inputs: { ref: 'main' } });
  },
  'patterns, twice': async (world) => {
    const inputs = { ref: 'main', 'sparse-checkout': '/dir0/\n!/dir0/file3.txt', 'sparse-checkout-cone-mode': 'false' };
    await world.main({ inputs });
    await world.main({ inputs: { ...inputs, 'sparse-checkout': '/dir1/' } });
  },
  'a filter of its own': async (world) => {
    await world.main({ inputs: { ref: 'main', filter: 'blob:limit=1k' } });
  },
  'another server': async (world) => {
    const inputs = { ref: 'main', 'github-server-url': `${server.origin}/` };
    await world.main({ inputs, env: { GITHUB_SERVER_URL: 'http://127.0.0.1:9' } });
  },
  'safe.directory is not set': async (world) => {
    await world.main({ env: push(), inputs: { 'set-safe-directory': 'false' } });
  },
  'ssh, and its post phase': async (world) => {
    await world.main(sshOptions(world, { GITHUB_REF: 'refs/heads/main', GITHUB_SHA: fixture.commits.main }));
    world.notes['command'] = world.git('config', '--local', 'core.sshCommand');
    world.notes['url'] = world.git('config', 'remote.origin.url');
    const { sshKeyPath = '', sshKnownHostsPath = '' } = world.result.state;
    world.notes['key'] = `${(statSync(sshKeyPath).mode & 0o777).toString(8)} ${readFileSync(sshKeyPath, 'utf8')}`;
    world.notes['known'] = readFileSync(sshKnownHostsPath, 'utf8');
    world.notes['paths'] = [sshKeyPath, sshKnownHostsPath].join('\n');
    world.results.push(await world.runner.post(world.result));
  },
  'ssh, of a host that is not known': async (world) => {
    await world.main(sshOptions(world, push(), { 'ssh-known-hosts': '' }));
  },
  'lfs: false': async (world) => {
    await world.main({ inputs: { ref: 'large' } });
  },
  'lfs: true': async (world) => {
    await world.main({ inputs: { ref: 'large', lfs: 'true' } });
  },
} satisfies Readonly<Record<string, (world: World) => Promise<void>>>;

function sshOptions(world: World, env: Env, inputs: StepOptions['inputs'] = {}): StepOptions {
  if (ssh === null) throw new Error('there is no SSH server');
  return {
    env: { ...env, PATH: `${ssh.bin}${delimiter}${world.runner.environment['PATH'] ?? ''}` },
    inputs: { 'ssh-key': `\n${ssh.key}\n\n`, 'ssh-user': ssh.user, 'ssh-known-hosts': ssh.knownHost, ...inputs },
  };
}

type RunName = keyof typeof RUNS;

interface Row {
  /** The rule, as a sentence about the action. */
  readonly rule: string;
  readonly run: RunName;
  readonly expect: (world: World) => void | Promise<void>;
  /** Why it cannot be looked at here. */
  readonly skip?: string | null;
}

/** A row of a run that must have gone well. */
function row(rule: string, run: RunName, look: Row['expect'], skip: string | null = null): Row {
  return {
    rule,
    run,
    skip,
    expect: async (world) => {
      for (const result of world.results) expect([result.exitCode, result.errors]).toEqual([0, []]);
      await look(world);
    },
  };
}

/** A row of a run that must have failed, with one message. */
function failing(rule: string, run: RunName, message: RegExp, look: Row['expect'] = () => undefined): Row {
  return {
    rule,
    run,
    expect: async (world) => {
      for (const result of world.results) {
        expect(result.exitCode).toBe(1);
        expect(result.errors).toEqual([expect.stringMatching(message)]);
      }
      await look(world);
    },
  };
}

function shown(world: World): string {
  return world.results.map((result) => JSON.stringify({ ...result, masks: [], commands: [] })).join('');
}

const rows: readonly Row[] = [
  // Metadata
  row('the output ref is the ref of the event', 'push', ({ result }) =>
    expect(result.outputs['ref']).toBe('refs/heads/main'),
  ),
  row('the output commit is the whole id of HEAD', 'push', (world) =>
    expect(world.result.outputs['commit']).toBe(world.git('rev-parse', 'HEAD')),
  ),
  row('the output ref is as typed for a short name', 'a short name', ({ result }) =>
    expect(result.outputs).toMatchObject({ ref: 'feature/x', commit: fixture.commits.feature }),
  ),
  row('the output ref is empty for a bare commit', 'a commit, with all tags', ({ result }) =>
    expect(result.outputs).toMatchObject({ ref: '', commit: fixture.commits.old }),
  ),
  row('the output ref is the full name of a default branch', 'another repository', ({ result }) =>
    expect(result.outputs['ref']).toBe('refs/heads/main'),
  ),
  row('the problem matcher checkout-git is there while it works, and no longer', 'push', ({ result }) => {
    const names = result.commands.map(({ name }) => name);
    const added = names.indexOf('add-matcher');
    const removed = names.indexOf('remove-matcher');
    expect([added >= 0, removed > added]).toEqual([true, true]);
    expect(result.commands[removed]?.properties).toEqual({ owner: 'checkout-git' });
  }),
  failing('the problem matcher goes after a failure too', 'a ref that is not there', /no-such/, ({ result }) =>
    expect(result.commands.some(({ name }) => name === 'remove-matcher')).toBe(true),
  ),
  row('the log is in groups, each closed', 'push', ({ result }) => {
    const count = (name: string): number => result.commands.filter((command) => command.name === name).length;
    expect(count('group')).toBeGreaterThanOrEqual(3);
    expect(count('endgroup')).toBe(count('group'));
  }),
  failing('an error has one line and no outputs', 'a ref that is not there', /^[^\n]+$/, ({ result }) =>
    expect(result.outputs['commit']).toBeUndefined(),
  ),

  // Inputs
  failing('repository must be owner/name', 'a name without an owner', /input 'repository'/, (world) =>
    expect(world.untouched).toBe(true),
  ),
  failing('token must not be empty, even with an SSH key', 'no token', /^input 'token' is required/, (world) =>
    expect(world.untouched).toBe(true),
  ),
  failing('path must lie within the workspace', 'a path outside', /input 'path' must lie within/, (world) =>
    expect(world.untouched).toBe(true),
  ),
  row('persist-credentials: an empty value is false', 'nothing persists', (world) =>
    expect(world.config).not.toContain('includeIf'),
  ),
  row(
    'fetch-depth: what is no number is all history, with a warning',
    'all history, and a branch that has moved on',
    ({ result }) => expect(result.warnings).toEqual([expect.stringContaining("'fetch-depth' is not a number")]),
  ),
  row('fetch-depth: a fraction is cut off', 'two commits of history', (world) =>
    expect(world.git('rev-list', '--count', 'HEAD')).toBe('2'),
  ),
  row('fetch-depth: 1 by default, in a shallow repository', 'push', (world) => {
    expect(world.git('rev-list', '--count', 'HEAD')).toBe('1');
    expect(world.read('.git/shallow').trim()).toBe(fixture.commits.main);
  }),
  row('fetch-tags: TRUE in any case is true', 'a commit, with all tags', (world) =>
    expect(world.refs).toEqual(['refs/tags/both', 'refs/tags/v1', 'refs/tags/v2']),
  ),
  row('show-progress: false says nothing of how far the fetch is', 'a short name', ({ result }) =>
    expect(result.log).not.toMatch(/Receiving objects|\d+ of \d+/),
  ),
  row('github-server-url: another server than the workflow has', 'another server', (world) => {
    expect(world.git('config', 'remote.origin.url')).toBe(`${server.origin}/owner/${world.name}`);
    expect(world.requests.length).toBeGreaterThan(0);
  }),
  row('filter: what is given', 'a filter of its own', (world) =>
    expect(world.git('config', 'remote.origin.partialclonefilter')).toBe('blob:limit=1024'),
  ),

  // Refs
  row("the workflow's repository is known in any case", 'another name, in other case', (world) => {
    expect(world.result.outputs['commit']).toBe(fixture.commits.main);
    // Of another repository the default branch would have been asked for; then nothing says which commit.
    expect(world.result.outputs['ref']).toBe('refs/heads/main');
    expect(world.result.gitCommands.some((line) => line.includes('ls-remote'))).toBe(false);
  }),
  row('an event of a branch: its tracking ref, at the commit; HEAD on the branch', 'push', (world) => {
    expect(world.refs).toEqual(['refs/heads/main', 'refs/remotes/origin/main']);
    expect(world.head).toBe('ref: refs/heads/main');
  }),
  row('the branch tracks that of the server', 'push', (world) =>
    expect(world.git('rev-parse', '--symbolic-full-name', '@{upstream}')).toBe('refs/remotes/origin/main'),
  ),
  row('a short ref of an event is a branch, at the commit of the event', 'a closed pull request', (world) => {
    expect([world.head, world.git('rev-parse', 'HEAD')]).toEqual(['ref: refs/heads/main', fixture.commits.old]);
    expect(world.result.outputs['ref']).toBe('refs/heads/main');
  }),
  row('a pull request: refs/remotes/pull, HEAD detached', 'a pull request', (world) => {
    expect(world.refs).toEqual(['refs/remotes/pull/7/merge']);
    expect(world.head).toBe(fixture.commits.pull);
  }),
  row('a tag, with all tags: these alone, annotated ones as such', 'the tag of an event, with all tags', (world) => {
    expect(world.refs).toEqual(['refs/tags/both', 'refs/tags/v1', 'refs/tags/v2']);
    expect([world.head, world.git('cat-file', '-t', 'v2')]).toEqual([fixture.commits.main, 'tag']);
  }),
  row('a tag by its short name: HEAD detached at what it names', 'a tag by its short name', (world) => {
    expect(world.refs).toEqual(['refs/tags/v2']);
    expect(world.head).toBe(fixture.commits.main);
  }),
  row('another kind of ref, with a commit: the commit alone', 'another kind of ref, of an event', (world) => {
    expect(world.refs).toEqual(['']);
    expect(world.head).toBe(fixture.commits.custom);
    expect(world.result.outputs['ref']).toBe('refs/custom/Thing');
  }),
  row('a short name that is both is the branch; its tag is one of all', 'a short name, with all tags', (world) => {
    const tags = ['refs/tags/both', 'refs/tags/v1', 'refs/tags/v2'];
    expect(world.refs).toEqual(['refs/heads/both', 'refs/remotes/origin/both', ...tags]);
    expect(world.head).toBe('ref: refs/heads/both');
  }),
  row('a short name is fetched exactly', 'a short name', (world) =>
    expect(world.refs).toEqual(['refs/heads/feature/x', 'refs/remotes/origin/feature/x']),
  ),
  row('no ref, another repository: the default branch', 'another repository', (world) =>
    expect([world.head, world.git('rev-parse', 'HEAD')]).toEqual(['ref: refs/heads/main', fixture.commits.main]),
  ),
  row('a wiki: its default branch', 'a wiki', (world) => {
    expect(readFileSync(world.at('wiki', '.git', 'HEAD'), 'utf8').trim()).toBe('ref: refs/heads/master');
    expect(world.result.outputs['ref']).toBe('refs/heads/master');
  }),
  row('all history: every branch and tag', 'all history, and a branch that has moved on', (world) => {
    const names = world.refs.filter((name) => name !== 'refs/heads/main');
    expect(names).toHaveLength(4 + 1 + 3); // large was added
    expect(existsSync(world.at('.git', 'shallow'))).toBe(false);
  }),
  row('a branch that has moved on is put back', 'all history, and a branch that has moved on', (world) => {
    expect(world.git('rev-parse', 'HEAD', 'origin/main').split('\n')).toEqual(Array(2).fill(fixture.commits.old));
  }),
  failing('a ref that is not there is not asked for again', 'a ref that is not there', /no branch or tag/, (world) => {
    // A look at what there is, before anything is fetched.
    expect(world.requests.length).toBeLessThanOrEqual(2);
  }),

  // The fork guard
  failing(
    'a fork is refused by ref, commit and repository, before anything is touched',
    'a fork',
    /pull_request_target.*gh\.io\/securely-using-pull_request_target.*allow-unsafe-pr-checkout/,
    (world) => {
      expect(world.results).toHaveLength(3);
      expect(world.untouched).toBe(true);
    },
  ),
  row('a fork is let through if that is asked for', 'a fork that is allowed', ({ result }) =>
    expect(result.outputs['commit']).toBe(fixture.commits.pull),
  ),
  row('the default checkout is let through', 'a workflow of a fork, without a ref', ({ result }) =>
    expect(result.outputs['commit']).toBe(fixture.commits.main),
  ),

  // The server
  row('the token is in the first request, and in every one', 'push', (world) => {
    expect(world.requests.length).toBeGreaterThan(0);
    for (const { authorization, status } of world.requests) {
      expect([authorization, status]).toEqual([[`basic ${BASIC}`], 200]);
    }
  }),
  row('protocol version 2', 'push', (world) => {
    for (const { protocol } of world.requests) expect(protocol).toBe('version=2');
  }),
  row('the user agent says who asks, and for which job', 'push', (world) => {
    for (const { userAgent } of world.requests) {
      expect(userAgent).toBe('git/2 (parallel-checkout) actions_orchestration_id/a_b_c');
    }
  }),
  failing(
    'a refused token is one error, and not tried again',
    'a refused token',
    /could not read Username|authentication/i,
    (world) => {
      expect(world.requests.length).toBeLessThanOrEqual(2);
      expect(shown(world)).not.toContain(Buffer.from('x-access-token:another').toString('base64'));
    },
  ),

  // What is left on the disk
  row('origin has no .git and no user, and fetches all branches', 'push', (world) => {
    expect(world.git('config', '--get-all', 'remote.origin.url')).toBe(`${server.origin}/owner/${world.name}`);
    expect(world.git('config', '--get-all', 'remote.origin.fetch')).toBe('+refs/heads/*:refs/remotes/origin/*');
  }),
  row('gc.auto is 0', 'push', (world) => expect(world.git('config', '--local', 'gc.auto')).toBe('0')),
  row('git sees nothing to do, with true stat data', 'push', (world) => {
    expect(world.git('status', '--porcelain', '--ignored')).toBe('');
    expect(world.git('diff-files')).toBe('');
  }),
  row('safe.directory is for this step alone', 'push', (world) => {
    expect(readFileSync(join(world.runner.home, '.gitconfig'), 'utf8')).not.toContain('safe');
    // Neither a home nor a token for the step alone stays.
    expect(readdirSync(world.runner.temp).filter((name) => /^[0-9a-f-]{36}$/.test(name))).toEqual([]);
  }),
  row('set-safe-directory: false makes no home', 'safe.directory is not set', ({ result }) =>
    expect(result.state['temporaryHome']).toBeUndefined(),
  ),

  // The token
  row('it is in one file of RUNNER_TEMP, named as by actions/checkout, for its owner alone', 'push', (world) => {
    const [name, ...more] = world.tokenFiles;
    expect(more).toEqual([]);
    const path = join(world.runner.temp, name!);
    expect(filesHolding(world.runner.root, SECRETS)).toEqual([path]);
    if (process.platform !== 'win32') expect(statSync(path).mode & 0o777).toBe(0o600);
  }),
  row('the file has the extraheader of the origin', 'push', (world) => {
    const path = join(world.runner.temp, world.tokenFiles[0]!);
    const list = git(world.runner.temp, ['config', '--file', path, '--list']);
    expect(list).toBe(`http.${server.origin}/.extraheader=AUTHORIZATION: basic ${BASIC}`);
  }),
  row('four includeIf lead to it, two of them in containers', 'push', (world) => {
    const name = world.tokenFiles[0]!;
    const lines = world.git('config', '--local', '--no-includes', '--get-regexp', '^includeif').split('\n');
    expect(lines).toEqual([
      `includeif.gitdir:${world.at('.git')}.path ${join(world.runner.temp, name)}`,
      `includeif.gitdir:${world.at('.git')}/worktrees/*.path ${join(world.runner.temp, name)}`,
      `includeif.gitdir:/github/workspace/.git.path /github/runner_temp/${name}`,
      `includeif.gitdir:/github/workspace/.git/worktrees/*.path /github/runner_temp/${name}`,
    ]);
  }),
  row('a later git uses it', 'push', async (world) => {
    const env = { ...world.runner.environment, GIT_TERMINAL_PROMPT: '0' };
    expect(await gitOnline(world.runner.workspace, ['ls-remote', 'origin', 'HEAD'], env)).toContain(
      fixture.commits.main,
    );
  }),
  row('the runner is told to mask both forms of it', 'push', ({ result }) => expect(result.masks).toEqual(SECRETS)),
  row('neither log nor outputs, state or summary show it', 'push', (world) => {
    for (const secret of SECRETS) expect(shown(world)).not.toContain(secret);
  }),
  row('with persist-credentials: false it is nowhere on the disk', 'nothing persists', (world) =>
    expect(filesHolding(world.runner.root, SECRETS)).toEqual([]),
  ),

  // The post phase
  row('it leaves neither file nor include', 'push, and its post phase', (world) => {
    expect([world.tokenFiles, filesHolding(world.runner.root, SECRETS)]).toEqual([[], []]);
    expect(world.notes['config']).toContain('includeIf');
    expect(world.config).not.toContain('includeIf');
  }),
  row('it starts no process and says nothing', 'push, and its post phase', ({ result }) =>
    expect([result.gitCommands, result.warnings, result.errors]).toEqual([[], [], []]),
  ),
  row('it removes the token where the repository is gone', 'git has gone before the post phase', (world) =>
    expect(filesHolding(world.runner.root, SECRETS)).toEqual([]),
  ),
  row('its state has the names of actions/checkout', 'push', (world) =>
    expect(world.result.state).toMatchObject({ repositoryPath: world.runner.workspace }),
  ),

  // A directory that was there
  row('without a repository in it, it is emptied whatever clean says', 'a directory that is no repository', (world) =>
    expect([existsSync(world.at('stray')), world.git('status', '--porcelain')]).toEqual([false, '']),
  ),
  row('a file at the path is replaced', 'a file at the path', (world) =>
    expect(existsSync(world.at('a', '.git'))).toBe(true),
  ),
  row('of another URL, it is emptied, were it the same with .git', 'a directory of another repository', (world) =>
    expect(existsSync(world.at('stray'))).toBe(false),
  ),
  row('it is used again', 'a directory that is used again', (world) =>
    expect(existsSync(world.at('.git', 'marker'))).toBe(true),
  ),
  row('it is cleaned of the untracked and the ignored, and reset', 'a directory that is used again', (world) => {
    expect([existsSync(world.at('untracked')), existsSync(world.at('ignored'))]).toEqual([false, false]);
    expect([world.read('README.md'), world.git('status', '--porcelain', '--ignored')]).toEqual(['feature\n', '']);
  }),
  row('locks of a killed git go', 'a directory that is used again', (world) =>
    expect(readdirSync(world.at('.git')).filter((name) => name.endsWith('.lock'))).toEqual([]),
  ),
  row('old branches, and tracking refs in the way, go', 'a directory that is used again', (world) => {
    expect(world.refs.filter((name) => name.startsWith('refs/heads/'))).toEqual(['refs/heads/feature/x']);
    expect(world.refs).not.toContain('refs/remotes/origin/feature');
  }),
  row('what actions/checkout left of a token or a key goes', 'a directory that is used again', (world) => {
    expect(world.config).not.toMatch(/extraheader|sshcommand/i);
    expect(world.config).not.toContain(world.notes['left']);
    expect(existsSync(world.notes['left']!)).toBe(false);
  }),
  row('clean: false keeps what is untracked, and undoes changes', 'a directory that is not cleaned', (world) => {
    expect([existsSync(world.at('untracked', 'a')), existsSync(world.at('ignored'))]).toEqual([true, true]);
    expect(world.read('README.md')).toBe('main\n');
  }),

  // Sparse checkouts
  row('lines are trimmed, directories in cone mode', 'sparse, and then all', ({ notes }) =>
    expect([notes['sparse'], notes['cone']]).toEqual(['dir0', 'true']),
  ),
  row('of the files, those at the top and below the directories', 'sparse, and then all', ({ notes }) =>
    expect(notes['files']!.split(' ').sort()).toEqual(['.git', '.gitignore', 'README.md', 'dir0']),
  ),
  row('blob:none is implied, and what is not written is not fetched', 'sparse, and then all', ({ notes }) => {
    expect(notes['filter']).toBe('blob:none');
    expect(notes['missing']).toMatch(/^\?[0-9a-f]{40}$/m);
  }),
  row('a later checkout without it is full', 'sparse, and then all', (world) => {
    expect(readdirSync(world.runner.workspace)).toEqual(expect.arrayContaining(['dir0', 'dir1', 'dir2']));
    expect(world.git('ls-files', '-t').match(/^S /m)).toBeNull();
  }),
  row('patterns take the place of those before', 'patterns, twice', (world) => {
    expect(world.read('.git/info/sparse-checkout').trim()).toBe('/dir1/');
    expect(readdirSync(world.runner.workspace).sort()).toEqual(['.git', 'dir1']);
  }),

  // SSH
  row(
    'the address is user@host:owner/name.git',
    'ssh, and its post phase',
    (world) => expect(world.notes['url']).toBe(`${ssh!.user}@127.0.0.1:owner/${world.name}.git`),
    noSsh,
  ),
  row(
    'the key is trimmed, with one line end, for its owner alone',
    'ssh, and its post phase',
    ({ notes }) => expect(notes['key']).toBe(`600 ${ssh!.key}`),
    noSsh,
  ),
  row(
    'known hosts are those given and github.com',
    'ssh, and its post phase',
    ({ notes }) => {
      expect(notes['known']).toContain(ssh!.knownHost);
      expect(notes['known']).toMatch(/^github\.com ssh-rsa /m);
    },
    noSsh,
  ),
  row(
    'core.sshCommand has the key and is strict',
    'ssh, and its post phase',
    ({ notes }) => {
      expect(notes['command']).toMatch(/-i "\$RUNNER_TEMP\/[0-9a-f-]{36}"/);
      expect(notes['command']).toContain('-o StrictHostKeyChecking=yes -o CheckHostIP=no');
    },
    noSsh,
  ),
  row(
    'its post phase removes key, known hosts and command',
    'ssh, and its post phase',
    (world) => {
      expect(world.notes['paths']!.split('\n').filter((path) => existsSync(path))).toEqual([]);
      expect(world.config).not.toMatch(/sshcommand/i);
    },
    noSsh,
  ),
  {
    ...failing('a host that is not known is refused', 'ssh, of a host that is not known', /[Hh]ost key/),
    skip: noSsh,
  },

  // Git LFS
  row('without lfs there are pointers', 'lfs: false', (world) =>
    expect(world.read('large.bin')).toMatch(/^version https:\/\/git-lfs\.github\.com\/spec\/v1\n/),
  ),
  row(
    'with lfs there is the content, and git sees nothing to do',
    'lfs: true',
    (world) => {
      expect(readFileSync(world.at('large.bin')).equals(lfsContent)).toBe(true);
      expect(world.git('status', '--porcelain')).toBe('');
    },
    noLfs,
  ),
  row(
    'with lfs, its filters are in the configuration of the repository',
    'lfs: true',
    (world) => expect(world.git('config', '--local', 'filter.lfs.required')).toBe('true'),
    noLfs,
  ),
];

const started = new Map<RunName, Promise<World>>();
const worlds: World[] = [];

/** The run of this name, started when the first row asks for it. */
function worldOf(name: RunName): Promise<World> {
  let world = started.get(name);
  if (world === undefined) {
    const fresh = new World(`w${started.size}`);
    worlds.push(fresh);
    world = RUNS[name](fresh).then(() => fresh);
    started.set(name, world);
  }
  return world;
}

beforeAll(async () => {
  fixture = makeFixture();
  lfsContent = Buffer.alloc(5000, 'large ');
  const lfs = createLfsServer();
  const pointer = lfs.add(lfsContent);
  git(join(fixture.root, 'work'), ['branch', 'large', 'main']);
  fixture.commit('large', { '.gitattributes': '*.bin filter=lfs diff=lfs merge=lfs -text\n', 'large.bin': pointer });
  git(fixture.bare, ['config', 'uploadpack.allowFilter', 'true']);
  server = await startHttpServer({ root: fixture.root, token: TOKEN, handler: lfs.handler });
  if (noSsh === null) ssh = await startSshServer(fixture.root);
});
afterAll(async () => {
  for (const world of worlds) world.runner.remove();
  await server.close();
  await ssh?.close();
  fixture.remove();
});

describe.concurrent(`the contract, by ${process.env['TEST_DIST'] === '1' ? 'dist/' : 'the sources'}`, () => {
  for (const { rule, run, skip, expect: look } of rows) {
    const reason = skip === null || skip === undefined ? '' : ` (skipped: ${skip})`;
    it.skipIf(reason !== '')(`${run}: ${rule}${reason}`, async () => look(await worldOf(run)));
  }
});

it('has a row for each of at least 60 rules', () => {
  expect(new Set(rows.map(({ rule, run }) => `${run}: ${rule}`)).size).toBe(rows.length);
  expect(rows.length).toBeGreaterThanOrEqual(60);
  expect(new Set(rows.map(({ run }) => run)).size).toBe(Object.keys(RUNS).length);
});
