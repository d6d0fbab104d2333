/**
 * Which failed fetches are tried again, and when. Pure but for the waiting, so that every way of fetching (the git process, our own
 * client) follows the same rules. docs/decisions/retries.md.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { CheckoutError, type ErrorCode, type ErrorSubject } from '../errors.ts';
import type { FetchLimits } from '../settings.ts';

/** As many as actions/checkout makes. */
export const ATTEMPTS = 3;

/**
 * The wait before the second attempt, about; before each further one it is four times as long. A lost connection or a server
 * that is restarted is mostly back after 2 + 8 s, and who is offline for longer is told within a quarter of a minute.
 */
const RETRY_DELAY_MS = 2000;
const GROWTH = 4;
const LONGEST_DELAY_MS = 60_000;

/** What a server may ask us to wait. Who asks for more is not worth a runner that does nothing: the step fails and says so. */
export const LONGEST_RETRY_AFTER_MS = 300_000;

/** A failure that a later attempt may mend. */
export class TransientFetchError extends CheckoutError {
  /** How long the server asks to be left alone; null where it does not say. */
  readonly retryAfterMs: number | null;

  constructor(code: ErrorCode, message: string, subject: ErrorSubject, retryAfterMs: number | null, cause?: unknown) {
    super(code, message, subject, cause);
    this.retryAfterMs = retryAfterMs;
  }
}

/**
 * Whether another attempt may fare better after this HTTP status: the request took too long, too many were made, or the server or
 * a proxy before it is in trouble. 501 and 505 say that it cannot be done at all.
 */
export function isTransientStatus(status: number): boolean {
  return status === 408 || status === 425 || status === 429 || (status >= 500 && status !== 501 && status !== 505);
}

/**
 * A Retry-After header (RFC 9110, 10.2.3: seconds, or a date) in milliseconds; null for anything else.
 *
 * @param now milliseconds since 1970, what a date is held against
 */
export function parseRetryAfter(value: string, now: number): number | null {
  const text = value.trim();
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  // The three forms of a date all begin with the day's name; Date.parse alone takes "-1" for a year.
  if (!/^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(text)) return null;
  const date = Date.parse(text);
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}

/**
 * The wait before the next attempt in milliseconds; null where there is to be none. Up to half of it is left to chance, since the
 * many jobs that one fault has hit would otherwise all come back at once.
 *
 * @param failed how many attempts have failed
 * @param retryAfterMs what the server asks for
 * @param random from 0 to below 1
 */
export function delayBeforeRetry(
  failed: number,
  retryAfterMs: number | null,
  limits: FetchLimits | undefined,
  random: number,
): number | null {
  if (failed >= (limits?.attempts ?? ATTEMPTS)) return null;
  if (retryAfterMs !== null && retryAfterMs > LONGEST_RETRY_AFTER_MS) return null;
  const base = limits?.retryDelayMs ?? RETRY_DELAY_MS;
  const own = Math.min(base * GROWTH ** (failed - 1), LONGEST_DELAY_MS);
  // Never earlier than asked for.
  return Math.round(Math.max(own * (0.5 + random), (retryAfterMs ?? 0) + (own / 2) * random));
}

/** Milliseconds for people: '500 ms', '2.5 s', '120 s', '6 h'. */
export function spell(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms >= 3_600_000) return `${Math.round(ms / 360_000) / 10} h`;
  return `${ms < 10_000 ? Math.round(ms / 100) / 10 : Math.round(ms / 1000)} s`;
}

/** What withRetries is told. */
export interface RetryFacts {
  readonly limits?: FetchLimits | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Told of each failure that is not the end. */
  readonly warn: (line: string) => void;
}

/**
 * Calls `attempt` until it succeeds, fails for good, or was called often enough.
 *
 * @throws what `attempt` throws last, its message with the number of attempts where there were several; CheckoutError 'interrupted'
 *   when the signal comes while it waits
 */
export async function withRetries<Result>(facts: RetryFacts, attempt: () => Promise<Result>): Promise<Result> {
  for (let failed = 1; ; failed++) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof TransientFetchError)) throw error;
      await waitBeforeRetry(facts, error, failed);
    }
  }
}

/**
 * Waits before another attempt.
 *
 * @param failed how many attempts have failed
 * @throws the error where there is to be no other; CheckoutError 'interrupted' when the signal comes meanwhile
 */
export async function waitBeforeRetry(facts: RetryFacts, error: TransientFetchError, failed: number): Promise<void> {
  const { limits, signal, warn } = facts;
  const delay = delayBeforeRetry(failed, error.retryAfterMs, limits, Math.random());
  if (delay === null) throw lastError(error, failed);
  warn(`${error.message}; trying again in ${spell(delay)}`);
  try {
    await wait(delay, undefined, signal === undefined ? {} : { signal });
  } catch {
    throw new CheckoutError('interrupted', 'the wait before another attempt was interrupted');
  }
}

function lastError(error: TransientFetchError, attempts: number): CheckoutError {
  const { retryAfterMs } = error;
  const notes = [
    ...(attempts > 1 ? [`after ${attempts} attempts`] : []),
    ...(retryAfterMs !== null && retryAfterMs > LONGEST_RETRY_AFTER_MS
      ? [`the server asks to come back in ${spell(retryAfterMs)}`]
      : []),
  ];
  if (notes.length === 0) return error;
  return new CheckoutError(error.code, `${error.message} (${notes.join('; ')})`, error.subject, error);
}
