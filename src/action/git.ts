/**
 * Runs git for the step: the engine's process port, with the environment that git needs in a job, each command echoed into
 * the log. The process itself is started by the engine's own port, since @actions/exec cannot stop one: a cancelled job
 * would leave git at work, holding its locks.
 */
import { info } from '@actions/core';
import { findGit, runMark, spawnGit } from '../engine/engine.ts';
import { CheckoutError, type ErrorCode } from '../engine/errors.ts';
import type { GitCall, GitProcess, GitResult } from '../engine/settings.ts';
import { harmlessLine, logLine } from './log.ts';

/** The environment of every git process, beside the job's own. */
export function gitEnvironment(
  orchestrationId: string,
  lfs: boolean,
): Record<string, string> & { readonly GIT_HTTP_USER_AGENT: string } {
  // Some servers and proxies know git by `git/` at the start.
  let agent = 'git/2 (parallel-checkout)';
  if (orchestrationId !== '') agent += ` actions_orchestration_id/${orchestrationId.replace(/[^A-Za-z0-9_.-]/g, '_')}`;
  return {
    GIT_TERMINAL_PROMPT: '0', // nobody is there to answer
    GCM_INTERACTIVE: 'Never', // the same for Git Credential Manager
    ...(lfs ? {} : { GIT_LFS_SKIP_SMUDGE: '1' }), // LFS content only where it is asked for
    GIT_HTTP_USER_AGENT: agent,
    ...runMark(), // by which the next step knows what this one left at work
  };
}

/** Whether there is a git to run. */
export function hasGit(environment: NodeJS.ProcessEnv): boolean {
  // Without a PATH the system has one of its own.
  if (process.platform !== 'win32' && environment['PATH'] === undefined) return true;
  return findGit(environment, process.platform) !== null;
}

/** A git port that runs in `cwd` unless told otherwise, with `environment`, stopped by `signal`. */
export function loggedGit(cwd: string, environment: Readonly<Record<string, string>>, signal: AbortSignal): GitProcess {
  return async (call: GitCall): Promise<GitResult> => {
    info(harmlessLine(`[command]git ${call.args.join(' ')}`));
    return spawnGit({
      ...call,
      cwd: call.cwd ?? cwd,
      env: { ...environment, ...call.env },
      signal: call.signal ?? signal,
      // Who asks for the lines shows them; of other calls there are few.
      onStderrLine: call.onStderrLine ?? logLine,
    });
  };
}

/** Standard output of a call that must succeed; `what` begins the message of its failure. Throws `git-failed` and kin. */
export async function gitText(git: GitProcess, call: GitCall, what: string): Promise<string> {
  const result = await git(call);
  if (result.exitCode !== 0) throw gitFailure(what, result);
  return result.stdout.toString('utf8');
}

/** The failure of a git process as one line: what was tried and the first thing that git called fatal. */
export function gitFailure(what: string, result: GitResult): CheckoutError {
  const lines = result.stderr.split(/[\r\n]+/).filter((line) => line.trim() !== '');
  const reason = lines.find((line) => /^(?:fatal|error): /.test(line)) ?? lines.at(-1) ?? 'git gave no reason';
  const code: ErrorCode = /Authentication failed|could not read (?:Username|Password)|error: 40[13]\b/.test(
    result.stderr,
  )
    ? 'authentication-failed'
    : 'git-failed';
  return new CheckoutError(code, `${what}: ${harmlessLine(reason)} (exit status ${result.exitCode})`);
}

/**
 * Whether git reads configuration from GIT_CONFIG_COUNT and its keys: 2.31 and newer. Debian 11 has 2.30, Ubuntu 20.04 has
 * 2.25, and both run the action. A git that does not tell its version is taken for a new one.
 */
export async function readsConfigCount(git: GitProcess, cwd: string): Promise<boolean> {
  const { stdout } = await git({ args: ['version'], cwd });
  const version = /git version (\d+)\.(\d+)/.exec(stdout.toString('latin1'));
  return version === null || Number(version[1]) > 2 || Number(version[2]) >= 31;
}
