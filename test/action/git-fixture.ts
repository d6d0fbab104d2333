/**
 * A bare repository with every kind of ref that the `ref` input can name, and git for tests.
 */
import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

function options(
  cwd: string,
  env: Readonly<Record<string, string>>,
): {
  cwd: string;
  encoding: 'utf8';
  env: NodeJS.ProcessEnv;
} {
  return {
    cwd,
    encoding: 'utf8',
    env: {
      PATH: process.env['PATH'],
      HOME: cwd,
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_TEST_FSYNC: '0',
      GIT_AUTHOR_NAME: 'A Tester',
      GIT_AUTHOR_EMAIL: 'tester@example.com',
      GIT_COMMITTER_NAME: 'A Tester',
      GIT_COMMITTER_EMAIL: 'tester@example.com',
      GIT_AUTHOR_DATE: '2024-01-01T00:00:00Z',
      GIT_COMMITTER_DATE: '2024-01-01T00:00:00Z',
      ...env,
    },
  };
}

/** Runs git and returns its trimmed output; throws if it fails. */
export function git(cwd: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): string {
  return execFileSync('git', args, { ...options(cwd, env), stdio: ['ignore', 'pipe', 'pipe'] }).trim();
}

/** The same for a git that talks to a server of this very process, which has to go on meanwhile. */
export async function gitOnline(
  cwd: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { stdout } = await promisify(execFile)('git', args, options(cwd, env));
  return stdout.trim();
}

/** A hosted repository. Commit ids are of the tips of what they are named after. */
export interface Fixture {
  /** What the HTTP server serves. */
  readonly root: string;
  readonly bare: string;
  readonly commits: {
    /** The parent of main's tip. */
    readonly old: string;
    readonly main: string;
    readonly feature: string;
    readonly pull: string;
    readonly custom: string;
  };
  /** Adds a commit with these files to a branch of the bare repository; null deletes. Returns its id. */
  commit(branch: string, files: Readonly<Record<string, string | null>>): string;
  remove(): void;
}

/** Makes `<root>/owner/repo.git`. */
export function makeFixture(): Fixture {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'parallel-checkout-server-')));
  const bare = join(root, 'owner', 'repo.git');
  const work = join(root, 'work');
  mkdirSync(work, { recursive: true });
  git(root, ['init', '-q', '-b', 'main', work]);
  const write = (files: Readonly<Record<string, string | null>>): void => {
    for (const [path, content] of Object.entries(files)) {
      const file = join(work, path);
      mkdirSync(dirname(file), { recursive: true });
      if (content === null) rmSync(file);
      else writeFileSync(file, content);
    }
  };
  const commitHere = (message: string, files: Readonly<Record<string, string | null>>): string => {
    write(files);
    git(work, ['add', '-A', '-f']);
    git(work, ['commit', '-q', '-m', message]);
    return git(work, ['rev-parse', 'HEAD']);
  };
  const files = Object.fromEntries(
    Array.from({ length: 10 }, (_, at) => [`dir${at % 3}/file${at}.txt`, `content ${at}\n`]),
  );
  const old = commitHere('first', { ...files, 'README.md': 'old\n', '.gitignore': 'ignored\n' });
  git(work, ['tag', 'v1']);
  const main = commitHere('second', { 'README.md': 'main\n' });
  git(work, ['tag', '-a', '-m', 'a release', 'v2']);
  git(work, ['checkout', '-q', '-b', 'feature/x', old]);
  const feature = commitHere('feature', { 'README.md': 'feature\n', 'feature.txt': 'x\n' });
  git(work, ['branch', 'feature/xylophone', main]);
  // A branch and a tag of one name.
  git(work, ['branch', 'both', feature]);
  git(work, ['tag', 'both', old]);
  git(work, ['checkout', '-q', '--detach', main]);
  const pull = commitHere('pull', { 'README.md': 'pull\n' });
  git(work, ['update-ref', 'refs/pull/7/merge', pull]);
  git(work, ['checkout', '-q', '--detach', old]);
  const custom = commitHere('custom', { 'README.md': 'custom\n' });
  git(work, ['update-ref', 'refs/custom/Thing', custom]);
  git(work, ['checkout', '-q', 'main']);
  git(root, ['clone', '-q', '--mirror', work, bare]);
  return {
    root,
    bare,
    commits: { old, main, feature, pull, custom },
    commit(branch, changed) {
      git(work, ['checkout', '-q', branch]);
      const id = commitHere(`more on ${branch}`, changed);
      git(work, ['push', '-q', '--force', bare, `${branch}:${branch}`]);
      return id;
    },
    remove: () => rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }),
  };
}
