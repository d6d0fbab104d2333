/**
 * What is measured: each case names its corpus and its competitors, and says how one run of one competitor is set
 * up, which command is then measured, and where its result must be checked.
 */
import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  writeFileSync,
  utimesSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parse } from 'yaml';
import { corpus, type CorpusFacts, type CorpusName } from './corpora.ts';
import type { Command } from './measure.ts';
import { git, gitEnvironment, run } from './process.ts';
import { startServer } from './server.ts';

/** Where one run takes place. */
export interface Place {
  /** An empty folder on the fresh file system. */
  fresh: string;
  /** An empty folder on the local disk, outside of it. */
  side: string;
}

/** One run, ready to be measured. */
export interface Prepared {
  command: Command;
  /** The repository and working tree that the command leaves. */
  gitDir: string;
  workTree: string;
}

export interface Competitor {
  name: string;
  /** The command line as the results show it. */
  shown: string;
  /** Why it cannot run here, if it cannot. */
  missing?: string;
  prepare: (place: Place) => Promise<Prepared>;
}

/** A case whose corpora and servers are there. */
export interface OpenCase {
  corpus: CorpusFacts;
  /** What every run must leave. */
  expected: { commit: string; files: number };
  /** Files that are read before every run, so that none pays for the disk. */
  warm: string[];
  /** Makes a competitor by its name; undefined if the case has none of that name. */
  competitor: (name: string) => Competitor | undefined;
  close: () => Promise<void>;
}

export interface BenchCase {
  title: string;
  /** Competitors when none are asked for. Ours come first: ratios are of the first to each other one. */
  competitors: string[];
  /** `folder` is the case's own, for what it needs until it is closed. */
  open: (folder: string, log: (line: string) => void) => Promise<OpenCase>;
}

const root = resolve(import.meta.dirname, '..');

/** Node as an action gets it: the pinned development dependency where it is installed. */
export const nodeProgram = existsSync(join(root, 'node_modules/node/bin/node'))
  ? join(root, 'node_modules/node/bin/node')
  : process.execPath;

export const cases: Record<string, BenchCase> = {
  'checkout-linux-6.12': checkoutCase('linux-6.12-depth1', 'v6.12', 'Linux 6.12 at depth 1: checkout only'),
  'checkout-files-5000': checkoutCase('files-5000', 'main', '5,000 synthesized files: checkout only'),
  'update-linux-6.1-6.12': checkoutCase('linux', 'v6.12', 'Linux 6.1 to 6.12 over an existing checkout', {
    from: 'v6.1',
  }),
  'update-linux-6.12-6.1': checkoutCase('linux', 'v6.1', 'Linux 6.12 to 6.1 over an existing checkout', {
    from: 'v6.12',
  }),
  'unchanged-linux-6.12': checkoutCase('linux', 'v6.12', 'Linux 6.12 over itself: nothing to do', { from: 'v6.12' }),
  'crlf-linux-6.12': checkoutCase('linux-6.12-depth1', 'v6.12', 'Linux 6.12 with CRLF line ends: checkout only', {
    attributes: '* text=auto eol=crlf\n',
  }),
  'checkout-files-1000000': checkoutCase('files-1000000', 'main', '1,000,000 small files: checkout only'),
  'checkout-flat-100000': checkoutCase('flat-100000', 'main', '100,000 small files in one directory: checkout only'),
  'checkout-lfs-2000': checkoutCase('lfs-2000', 'main', '2,000 Git LFS files of 100 KB, all in the local store', {
    lfs: true,
  }),
  'clone-linux-6.12': cloneCase('linux', 'v6.12', 'Linux 6.12: clone at depth 1 over HTTP', ['ours', 'git-1', 'git-2']),
  'clone-files-5000': cloneCase('files-5000', 'main', '5,000 files: clone at depth 1 over HTTP', [
    'ours',
    'git-1',
    'git-2',
  ]),
  'step-dozen': stepCase('dozen', 'main', 'A dozen files: the whole action step', [
    'ours',
    'by-hand-1',
    'checkout-commands',
  ]),
  'step-dozen-reused': stepCase(
    'dozen',
    'main',
    'A dozen files: the whole action step in a directory that has them',
    ['ours', 'by-hand-1', 'checkout-commands'],
    { reused: true },
  ),
  'step-linux-6.12': stepCase('linux', 'v6.12', 'Linux 6.12: the whole action step', [
    'ours',
    'by-hand-1',
    'by-hand-2',
  ]),
};

/** `git` or `ours` with a worker count, from a competitor's name: ours, ours-2, git-1, by-hand-4. */
function workersOf(kind: string, name: string): { workers: string | undefined } | undefined {
  const match = /^([a-z]+(?:-[a-z]+)*)(?:-(\d+))?$/.exec(name);
  return match?.[1] === kind ? { workers: match[2] } : undefined;
}

function missing(file: string): { missing: string } | Record<string, never> {
  return existsSync(file) ? {} : { missing: `${file} is not there: run "npm run build"` };
}

function branchOf(facts: CorpusFacts, name: string): CorpusFacts['branches'][number] {
  const branch = facts.branches.find((one) => one.name === name);
  if (branch === undefined) throw new Error(`corpus ${facts.name} has no branch ${name}`);
  return branch;
}

function packFiles(facts: CorpusFacts): string[] {
  const folder = join(facts.path, 'objects', 'pack');
  return readdirSync(folder).map((file) => join(folder, file));
}

/**
 * A git dir of a run's own: the corpus's packs as hard links (so they stay in the page cache), everything else new, HEAD
 * on a branch that is not born yet, no index.
 */
async function ownGitDir(facts: CorpusFacts, gitDir: string): Promise<void> {
  await git(['init', '-q', '--bare', '-b', 'unborn', gitDir]);
  await git(['--git-dir', gitDir, 'config', 'core.bare', 'false']);
  for (const file of packFiles(facts))
    linkSync(file, join(gitDir, 'objects', 'pack', file.slice(file.lastIndexOf('/') + 1)));
  for (const file of ['shallow', 'packed-refs']) {
    if (existsSync(join(facts.path, file))) copyFileSync(join(facts.path, file), join(gitDir, file));
  }
}

interface CheckoutCaseOptions {
  /** Branch that is checked out before the clock starts. */
  readonly from?: string;
  /** Content of info/attributes. */
  readonly attributes?: string;
  /** As after `git lfs install --local`, with the corpus's LFS store. */
  readonly lfs?: boolean;
}

/** What `git lfs install` writes, and where the objects are. */
function lfsConfig(facts: CorpusFacts): Record<string, string> {
  return {
    'filter.lfs.process': 'git-lfs filter-process',
    'filter.lfs.smudge': 'git-lfs smudge -- %f',
    'filter.lfs.clean': 'git-lfs clean -- %f',
    'filter.lfs.required': 'true',
    'lfs.storage': join(facts.path, 'lfs'),
  };
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

function checkoutCase(
  name: CorpusName,
  branch: string,
  title: string,
  { from, attributes, lfs }: CheckoutCaseOptions = {},
): BenchCase {
  return {
    title,
    competitors: ['ours', 'git-1', 'git-2', 'git-4'],
    open: async (_folder, log) => {
      const facts = await corpus(name, log);
      const { commit, files } = branchOf(facts, branch);
      const prepare = async (place: Place, argv: (gitDir: string, workTree: string) => string[]): Promise<Prepared> => {
        const gitDir = join(place.side, 'git');
        const workTree = join(place.fresh, 'tree');
        mkdirSync(workTree);
        await ownGitDir(facts, gitDir);
        if (attributes !== undefined) {
          mkdirSync(join(gitDir, 'info'), { recursive: true });
          writeFileSync(join(gitDir, 'info', 'attributes'), attributes);
        }
        for (const [key, value] of Object.entries(lfs === true ? lfsConfig(facts) : {})) {
          await git(['--git-dir', gitDir, 'config', key, value]);
        }
        if (from !== undefined) {
          const start = branchOf(facts, from).commit;
          await git([
            '--git-dir',
            gitDir,
            '--work-tree',
            workTree,
            '-c',
            'checkout.workers=2',
            'checkout',
            '-q',
            start,
          ]);
          await run('sync', ['-f', workTree]);
          // Files of the second in which the index was written have to be read by whoever comes next. Working trees are older.
          await sleep(1100);
          utimesSync(join(gitDir, 'index'), new Date(), new Date());
        }
        const [program = '', ...args] = argv(gitDir, workTree);
        return { command: { program, args, cwd: workTree, env: gitEnvironment() }, gitDir, workTree };
      };
      const make = (id: string, argv: (gitDir: string, workTree: string) => string[]): Competitor => ({
        name: id,
        shown: argv('GIT_DIR', 'WORK_TREE').join(' ').replace(`${root}/`, '').replace(nodeProgram, 'node'),
        prepare: (place) => prepare(place, argv),
      });
      return {
        corpus: facts,
        expected: { commit, files },
        warm: [...packFiles(facts), ...(lfs === true ? filesBelow(join(facts.path, 'lfs')) : [])],
        competitor: (id) => {
          const ours = workersOf('ours', id);
          if (ours !== undefined) {
            const cli = join(root, 'dist/cli/index.js');
            const workers = ours.workers === undefined ? [] : ['--workers', ours.workers];
            return {
              ...make(id, (gitDir, workTree) => [
                ...[nodeProgram, cli, 'checkout', commit, '--git-dir', gitDir, '--work-tree', workTree],
                ...workers,
              ]),
              ...missing(cli),
            };
          }
          const theirs = workersOf('git', id);
          if (theirs === undefined) return undefined;
          const workers = theirs.workers ?? '1';
          return make(id, (gitDir, workTree) => [
            ...['git', '--git-dir', gitDir, '--work-tree', workTree, '-c', `checkout.workers=${workers}`],
            ...['checkout', '--force', '--detach', commit],
          ]);
        },
        close: () => Promise.resolve(),
      };
    },
  };
}

function cloneCase(name: CorpusName, branch: string, title: string, competitors: string[]): BenchCase {
  return {
    title,
    competitors,
    open: async (folder, log) => {
      const facts = await corpus(name, log);
      const { commit, files } = branchOf(facts, branch);
      const server = await startServer({ [name]: facts.path }, join(folder, 'server'));
      const url = `${server.url}/bench/${name}`;
      const make = (id: string, argv: (url: string, folder: string) => string[]): Competitor => ({
        name: id,
        shown: argv('URL', 'DIR').join(' ').replace(`${root}/`, '').replace(nodeProgram, 'node'),
        prepare: async (place) => {
          const workTree = join(place.fresh, 'clone');
          const [program = '', ...args] = argv(url, workTree);
          const command = { program, args, cwd: place.fresh, env: gitEnvironment() };
          return { command, gitDir: join(workTree, '.git'), workTree };
        },
      });
      return {
        corpus: facts,
        expected: { commit, files },
        warm: [],
        competitor: (id) => {
          const ours = workersOf('ours', id);
          if (ours !== undefined) {
            const cli = join(root, 'dist/cli/index.js');
            const workers = ours.workers === undefined ? [] : ['--workers', ours.workers];
            return {
              ...make(id, (from, to) => [
                ...[nodeProgram, cli, 'clone', from, to, '--ref', branch, '--depth', '1'],
                ...workers,
              ]),
              ...missing(cli),
            };
          }
          const theirs = workersOf('git', id);
          if (theirs === undefined) return undefined;
          const workers = theirs.workers ?? '1';
          return make(id, (from, to) => [
            ...['git', 'clone', '--depth', '1', '--branch', branch, '-c', `checkout.workers=${workers}`, from, to],
          ]);
        },
        close: server.close,
      };
    },
  };
}

/** An action's step on an empty workspace, or on one that an earlier job has left, against the same by hand. */
function stepCase(
  name: CorpusName,
  branch: string,
  title: string,
  competitors: string[],
  { reused = false }: { readonly reused?: boolean } = {},
): BenchCase {
  return {
    title,
    competitors,
    open: async (folder, log) => {
      const facts = await corpus(name, log);
      const { commit, files } = branchOf(facts, branch);
      const server = await startServer({ [name]: facts.path }, join(folder, 'server'));
      const repository = `bench/${name}`;

      // The refs that the action makes too.
      const fetchAndCheckOut = (url: string, workers: string, again: boolean): string[] => [
        ...(again ? ['git clean -qffdx'] : ['git init -q', `git remote add origin ${url}`]),
        `git fetch -q --no-tags --depth 1 origin +${commit}:refs/remotes/origin/${branch}`,
        `git -c checkout.workers=${workers} checkout -q --force -B ${branch} refs/remotes/origin/${branch}`,
      ];
      /** Empty, or as an earlier job left it, a while ago. */
      const workspace = async (place: Place): Promise<string> => {
        const workTree = join(place.fresh, 'workspace');
        mkdirSync(workTree);
        if (!reused) return workTree;
        const script = fetchAndCheckOut(`${server.url}/${repository}`, '1', false).join(' && ');
        await run('/bin/sh', ['-c', script], { cwd: workTree, env: gitEnvironment() });
        await run('sync', ['-f', workTree]);
        // Files of the second in which the index was written have to be read by whoever comes next.
        await sleep(1100);
        utimesSync(join(workTree, '.git', 'index'), new Date(), new Date());
        return workTree;
      };
      const byHand = (id: string, shown: string, script: (url: string) => string): Competitor => ({
        name: id,
        shown,
        prepare: async (place) => {
          const workTree = await workspace(place);
          const args = ['-c', script(`${server.url}/${repository}`)];
          const temp = join(place.side, 'runner-temp');
          mkdirSync(temp);
          const env = { ...gitEnvironment(), RUNNER_TEMP: temp };
          const command = { program: '/bin/sh', args, cwd: workTree, env };
          return { command, gitDir: join(workTree, '.git'), workTree };
        },
      });

      const action = (id: string, home: string, script: string, inputs: Record<string, string>): Competitor => ({
        name: id,
        shown: `node ${script.replace(`${root}/`, '')} (as a runner starts it${Object.entries(inputs)
          .map(([key, value]) => `, ${key}: ${value}`)
          .join('')})`,
        ...missing(script),
        prepare: async (place) => {
          const workTree = await workspace(place);
          const env = runnerEnvironment(place, {
            repository,
            branch,
            commit,
            workspace: workTree,
            serverUrl: server.url,
          });
          Object.assign(env, inputEnvironment(home, repository, inputs));
          const command = { program: nodeProgram, args: [script], cwd: workTree, env };
          return { command, gitDir: join(workTree, '.git'), workTree };
        },
      });

      return {
        corpus: facts,
        expected: { commit, files },
        warm: [],
        competitor: (id) => {
          const ours = workersOf('ours', id);
          if (ours !== undefined) {
            const inputs: Record<string, string> = ours.workers === undefined ? {} : { workers: ours.workers };
            return action(id, root, join(root, 'dist/main/index.js'), inputs);
          }
          if (id === 'actions-checkout') {
            // A clone of github.com/actions/checkout, for whoever has one; the benchmark does not download it.
            const home = process.env['BENCH_ACTIONS_CHECKOUT'];
            if (home !== undefined) return action(id, home, join(home, 'dist/index.js'), {});
            const shown = 'node dist/index.js of actions/checkout';
            const none = 'set BENCH_ACTIONS_CHECKOUT to the folder of a clone of actions/checkout';
            return { name: id, shown, missing: none, prepare: () => Promise.reject(new Error(none)) };
          }
          if (id === 'checkout-commands') {
            const commands = (url: string): string =>
              checkoutCommands({ url, branch, commit, origin: server.url, reused }).join('\n');
            return byHand(
              id,
              `the ${commands('URL').split('\n').length} git commands of actions/checkout, one by one`,
              commands,
            );
          }
          const hand = workersOf('by-hand', id);
          if (hand === undefined) return undefined;
          const script = (url: string): string => fetchAndCheckOut(url, hand.workers ?? '1', reused).join(' && ');
          return byHand(id, script('URL'), script);
        },
        close: server.close,
      };
    },
  };
}

/** What the git commands of a step are made of. */
interface StepFacts {
  readonly url: string;
  readonly origin: string;
  readonly branch: string;
  readonly commit: string;
  readonly reused: boolean;
}

/**
 * The git commands that actions/checkout 7 starts for a push, in their order: 24 of them, 31 in a directory that is used again. What it
 * does between them (Node, files) is left out, so a step of it takes longer than these. Lines of a shell script; where a command finds
 * nothing its status is not 0, which is as it should be.
 */
function checkoutCommands({ url, origin, branch, commit, reused }: StepFacts): string[] {
  const file = '"$RUNNER_TEMP/git-credentials-0c2f3b4e-0000-4000-8000-000000000000.config"';
  const foreach = (command: string): string => `git submodule foreach --recursive sh -c '${command} || :'`;
  const header = `http.${origin}/.extraheader`;
  const tracking = `refs/remotes/origin/${branch}`;
  const prepare = reused
    ? [
        'git config --local --get remote.origin.url',
        'git rev-parse --symbolic-full-name --verify --quiet HEAD',
        'git checkout --quiet --detach',
        'git rev-parse --symbolic-full-name --branches',
        `git branch --quiet --delete --force ${branch}`,
        'git rev-parse --symbolic-full-name --remotes=origin',
        'git submodule status',
        'git clean -ffdx',
        'git reset --quiet --hard HEAD',
      ]
    : ['git init --quiet .', `git remote add origin ${url}`];
  return [
    'git version',
    'git config --file "$RUNNER_TEMP/gitconfig" --add safe.directory "$PWD"',
    ...prepare,
    'git config --local gc.auto 0',
    "git config --local --name-only --get-regexp 'core\\.sshCommand'",
    foreach('git config --local --name-only --get-regexp core.sshCommand'),
    `git config --local --name-only --get-regexp '${header}'`,
    foreach(`git config --local --name-only --get-regexp ${header}`),
    "git config --local --name-only --get-regexp '^includeIf\\.gitdir:'",
    foreach('git config --local --show-origin --name-only --get-regexp remote.origin.url'),
    `git config --file ${file} ${header} 'AUTHORIZATION: basic eDpi'`,
    `git config --local "includeIf.gitdir:$PWD/.git.path" ${file}`,
    `git config --local "includeIf.gitdir:$PWD/.git/worktrees/*.path" ${file}`,
    'git config --local includeIf.gitdir:/github/workspace/.git.path /github/runner_temp/x.config',
    "git config --local 'includeIf.gitdir:/github/workspace/.git/worktrees/*.path' /github/runner_temp/x.config",
    `git -c protocol.version=2 fetch --quiet --no-tags --prune --no-recurse-submodules --depth=1 origin +${commit}:${tracking}`,
    `git branch --list --remote origin/${branch}`,
    `git rev-parse ${tracking}`,
    'git sparse-checkout disable',
    'git config --local --unset-all extensions.worktreeConfig',
    `git checkout --quiet --force -B ${branch} ${tracking}`,
    'git log -1',
    'git log -1 --format=%H',
  ].map((line) => `${line} > /dev/null`);
}

interface Job {
  repository: string;
  branch: string;
  commit: string;
  workspace: string;
  serverUrl: string;
}

/** The variables that a runner sets for a push to a branch, with the files that they name. */
function runnerEnvironment(place: Place, job: Job): NodeJS.ProcessEnv {
  const temp = join(place.fresh, 'runner-temp');
  mkdirSync(join(temp, 'home'), { recursive: true });
  const files: Record<string, string> = {};
  for (const name of ['GITHUB_OUTPUT', 'GITHUB_STATE', 'GITHUB_ENV', 'GITHUB_PATH', 'GITHUB_STEP_SUMMARY']) {
    files[name] = join(temp, name.toLowerCase());
    writeFileSync(files[name], '');
  }
  const event = join(temp, 'event.json');
  writeFileSync(event, JSON.stringify({ ref: `refs/heads/${job.branch}`, after: job.commit }));
  return {
    ...gitEnvironment(),
    ...files,
    CI: 'true',
    GITHUB_ACTIONS: 'true',
    GITHUB_API_URL: `${job.serverUrl}/api/v3`,
    GITHUB_SERVER_URL: job.serverUrl,
    GITHUB_EVENT_NAME: 'push',
    GITHUB_EVENT_PATH: event,
    GITHUB_JOB: 'bench',
    GITHUB_REF: `refs/heads/${job.branch}`,
    GITHUB_REPOSITORY: job.repository,
    GITHUB_REPOSITORY_OWNER: 'bench',
    GITHUB_RUN_ID: '1',
    GITHUB_SHA: job.commit,
    GITHUB_WORKFLOW: 'bench',
    GITHUB_WORKSPACE: job.workspace,
    HOME: join(temp, 'home'),
    RUNNER_ARCH: 'X64',
    RUNNER_NAME: 'bench',
    RUNNER_OS: 'Linux',
    RUNNER_TEMP: temp,
    RUNNER_TOOL_CACHE: join(temp, 'tools'),
  };
}

/** INPUT_* as a runner makes them: every input of action.yml with its default, unless the step gives another value. */
function inputEnvironment(folder: string, repository: string, given: Record<string, string>): Record<string, string> {
  const action = parse(readFileSync(join(folder, 'action.yml'), 'utf8')) as {
    inputs?: Record<string, { default?: unknown } | null>;
  };
  const env: Record<string, string> = {};
  for (const [name, input] of Object.entries(action.inputs ?? {})) {
    const fallback = input?.default;
    const value =
      given[name] ??
      (typeof fallback === 'string' || typeof fallback === 'number' || typeof fallback === 'boolean'
        ? String(fallback)
        : '');
    env[`INPUT_${name.replaceAll(' ', '_').toUpperCase()}`] = value
      .replace(/\$\{\{ *github\.repository *\}\}/, repository)
      .replace(/\$\{\{ *github\.token *\}\}/, 'bench-token')
      .replace(/\$\{\{.*?\}\}/g, '');
  }
  return env;
}
