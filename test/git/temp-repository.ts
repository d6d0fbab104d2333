/**
 * Throw-away directories and repositories, and git in them under a fixed identity, clock and no configuration but theirs.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawnGit } from '../../src/engine/fetch/git-process.ts';
import type { GitProcess } from '../../src/engine/settings.ts';

/** Environment of every git here; ours and the oracle's. */
export const ENVIRONMENT: Readonly<Record<string, string>> = {
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_AUTHOR_NAME: 'A Tester',
  GIT_AUTHOR_EMAIL: 'tester@example.com',
  GIT_COMMITTER_NAME: 'A Tester',
  GIT_COMMITTER_EMAIL: 'tester@example.com',
  GIT_AUTHOR_DATE: '1700000000 +0100',
  GIT_COMMITTER_DATE: '1700000000 +0100',
};

/** Runs git as the oracle; throws when it fails. The output's last line feed is cut. */
export function git(cwd: string, ...args: string[]): string {
  return execFileSync('git', args, {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...ENVIRONMENT },
  }).replace(/\n$/, '');
}

/** As `git`, for a server in this very process, which a synchronous call would keep from answering. */
export async function gitOverNetwork(cwd: string, ...args: string[]): Promise<void> {
  const result = await spawnGit({ args, cwd, env: ENVIRONMENT });
  if (result.exitCode !== 0) throw new Error(`git ${args.join(' ')}: ${result.stderr}`);
}

/** The engine's git, in the same environment; keeps what it was called with. */
export function recordingGit(): { readonly git: GitProcess; readonly calls: (readonly string[])[] } {
  const calls: (readonly string[])[] = [];
  return {
    calls,
    git: (call) => {
      calls.push(call.args);
      return spawnGit({ ...call, env: { ...ENVIRONMENT, ...call.env } });
    },
  };
}

/** Directories for one test file. */
export class Scratch {
  private readonly root = realpathSync(mkdtempSync(join(tmpdir(), 'parallel-checkout-test-')));
  private count = 0;

  /** A path that does not exist yet. */
  path(name = 'x'): string {
    return join(this.root, `${++this.count}-${name}`);
  }

  /** A new repository on branch main with this many empty commits. */
  repository(commits = 1): string {
    const path = this.path('repository');
    git(this.root, 'init', '-q', '-b', 'main', path);
    for (let i = 1; i <= commits; i++) git(path, 'commit', '-q', '--allow-empty', '-m', `c${i}`);
    return path;
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}
