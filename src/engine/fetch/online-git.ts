/**
 * A git process that talks to a server: stopped when nothing comes any more or it takes too long, tried again when its failure may
 * be over the next time, its failure told in one line. docs/decisions/retries.md.
 */
import { CheckoutError } from '../errors.ts';
import { activityOf } from '../host/processes.ts';
import type { EnginePorts, FetchLimits, GitCall, GitResult } from '../settings.ts';
import { fetchError, isTransientFailure } from './fetch-error.ts';
import { isMeterInMotion } from './fetch-progress.ts';
import { redactor } from './redact.ts';
import { RetryAfterReader } from './retry-after.ts';
import { spell, TransientFetchError, withRetries } from './retry.ts';
import { TransferWatch } from './transfer-watch.ts';

/**
 * How long a server may say nothing. The longest silence of a healthy one is that of a mirror that fetches first; a lost
 * connection would otherwise be waited for until the job's limit.
 */
export const STALL_MS = 120_000;

/** As long as a job of a hosted runner may take: what is longer is no fetch any more, on whatever machine. */
export const DEADLINE_MS = 21_600_000;

/** How often `mark` and the processes are looked at (2 ms) within that time. */
const LOOKS = 8;

/** Lines of a server's own words that are handed on, in all attempts: hooks of big servers say a few dozen, and a log has an end. */
const MOST_WORDS = 1000;

/** The longest that a Node timer can be set for (2^31 - 1 ms). */
const LONGEST_TIMER_MS = 0x7fffffff;

/** No prompt may wait for an answer that never comes; messages are read, so they must be in English. */
export const FETCH_ENVIRONMENT: Readonly<Record<string, string>> = {
  GIT_TERMINAL_PROMPT: '0',
  GCM_INTERACTIVE: 'Never',
  LC_ALL: 'C',
};

/** A git command that talks to a server. */
export interface OnlineCall extends Pick<GitCall, 'args' | 'cwd' | 'input' | 'env' | 'signal' | 'onStderrLine'> {
  /** What it does, for messages, such as "fetch from 'origin'". Without secrets. */
  readonly what: string;
  readonly limits?: FetchLimits | undefined;
  /** Called after each failed attempt, whether or not another follows: the place to remove what it left. */
  readonly afterFailure?: () => void;
  /** A number that changes while things come, where standard error does not tell. */
  readonly mark?: () => number;
  /** The error of a process that failed, where its words are not git's. */
  readonly explain?: (result: GitResult) => CheckoutError;
}

/**
 * Runs it, until it succeeds or there is no hope.
 *
 * @returns of a process that ended with status 0
 * @throws CheckoutError 'authentication-failed', 'unknown-revision' (the remote lacks it), 'fetch-failed', 'interrupted', 'git-missing'
 */
export async function runOnline(
  call: OnlineCall,
  ports: { readonly git: EnginePorts['git']; readonly observer: Pick<EnginePorts['observer'], 'warning'> },
): Promise<GitResult> {
  const redact = redactor(call.env);
  const warn = (line: string): void => ports.observer.warning(line);
  let words = 0;
  const onStderrLine = (line: string): void => {
    if (line.startsWith('remote: ') && !isMeterInMotion(line) && ++words > MOST_WORDS) {
      if (words === MOST_WORDS + 1) warn('the server has more to say, which is not shown');
      return;
    }
    call.onStderrLine?.(line);
  };
  return await withRetries({ limits: call.limits, signal: call.signal, warn }, async () => {
    try {
      return await attempt({ ...call, onStderrLine }, ports.git, redact);
    } catch (error) {
      call.afterFailure?.();
      throw error;
    }
  });
}

async function attempt(
  call: OnlineCall,
  git: EnginePorts['git'],
  redact: (text: string) => string,
): Promise<GitResult> {
  const { what, limits, signal, onStderrLine } = call;
  const { stallMs = STALL_MS, deadlineMs = DEADLINE_MS } = limits ?? {};
  const watch = new TransferWatch(stallMs === 0 ? Infinity : stallMs, performance.now());
  const overAt = deadlineMs === 0 ? Infinity : performance.now() + deadlineMs;
  const retryAfter = new RetryAfterReader();

  const stop = new AbortController();
  let failure: CheckoutError | null = null;
  let timer: NodeJS.Timeout | undefined;
  let mark = call.mark?.();
  let pid: number | null = null;
  const look = (): void => {
    const now = performance.now();
    const marked = call.mark?.();
    if (marked !== mark) watch.line('', now);
    mark = marked;
    if (pid !== null && Number.isFinite(watch.deadAt)) watch.activity(activityOf(pid), now);
    if (now >= overAt) {
      failure = new CheckoutError('fetch-failed', `${what} failed: it took longer than ${spell(deadlineMs)}`);
    } else if (now >= watch.deadAt) {
      failure = new TransientFetchError('fetch-failed', `${what} failed: ${watch.reason}`, {}, null);
    } else {
      const next = Math.min(overAt - now, watch.deadAt - now, stallMs === 0 ? Infinity : stallMs / LOOKS);
      timer = setTimeout(look, Math.min(Math.max(next, 1), LONGEST_TIMER_MS));
      return;
    }
    stop.abort();
  };
  look();
  try {
    const result = await git({
      args: call.args,
      ...(call.cwd === undefined ? {} : { cwd: call.cwd }),
      ...(call.input === undefined ? {} : { input: call.input }),
      env: { ...FETCH_ENVIRONMENT, ...call.env },
      signal: signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal]),
      onStderrLine: (line) => {
        watch.line(line, performance.now());
        onStderrLine?.(line);
      },
      onStart: (started) => (pid = started),
      onHttpTraceLine: (line) => retryAfter.line(line),
    });
    if (result.exitCode === 0) return result;
    if (call.explain !== undefined) throw call.explain(result);
    const error = fetchError(result.stderr, result.exitCode, what, redact);
    if (error.code !== 'fetch-failed' || !isTransientFailure(result.stderr)) throw error;
    throw new TransientFetchError(error.code, error.message, error.subject, retryAfter.retryAfterMs(Date.now()));
  } catch (error) {
    // Stopped by us, not by who called.
    const byUs = failure as CheckoutError | null;
    if (byUs !== null && signal?.aborted !== true && error instanceof CheckoutError && error.code === 'interrupted') {
      throw byUs;
    }
    throw error;
  } finally {
    clearTimeout(timer);
  }
}
