/**
 * Finds the Retry-After header in git's trace of an HTTP transfer (GIT_TRACE_CURL). git itself does not say what a server asks
 * for.
 */
import { parseRetryAfter } from './retry.ts';

const RECEIVED = ' <= Recv header: ';

export class RetryAfterReader {
  #value: string | null = null;

  /** Takes a line of the trace. */
  line(text: string): void {
    const at = text.indexOf(RECEIVED);
    if (at < 0) return;
    const header = text.slice(at + RECEIVED.length);
    // A new answer: what an earlier one asked for is over.
    if (/^HTTP\/[\d.]+ \d/.test(header)) this.#value = null;
    const match = /^retry-after:\s*(.*)$/i.exec(header);
    if (match !== null) this.#value = match[1] ?? null;
  }

  /** What the last answer asked for, in milliseconds; null where it did not. */
  retryAfterMs(now: number): number | null {
    return this.#value === null ? null : parseRetryAfter(this.#value, now);
  }
}
