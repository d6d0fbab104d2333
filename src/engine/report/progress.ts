/**
 * Progress as text, and how often. On a terminal it is one line that rewrites itself; in a log every line stays, so they
 * come seldom, and a run that is over in a few seconds writes none.
 */
import type { Progress } from '../settings.ts';
import { formatBytes, formatCount, formatRate, plural } from './format.ts';

/** Shortest time between two texts, on a terminal and in a log. */
export const LIVE_INTERVAL_MS = 100;
export const LOG_INTERVAL_MS = 5000;

/** The rate is that of the last few seconds: long enough to be calm, short enough to show a stall. */
const RATE_WINDOW_MS = 3000;

/** Back to the line's start and erase to its end (ECMA-48 EL). */
const ERASE_LINE = '\r\u001b[K';

/** Used where a terminal does not tell its width. */
const DEFAULT_COLUMNS = 80;

export interface ProgressStyle {
  /** True for a terminal, on which a line can be rewritten. */
  readonly live: boolean;
  /** Asked before each text, since a window can change its size. */
  readonly columns?: () => number | undefined;
}

interface Sample {
  readonly ms: number;
  readonly bytes: number;
}

/** Turns progress into texts to write, at most so many a second. Time is an argument: milliseconds that only go up. */
export class ProgressMeter {
  readonly #style: ProgressStyle;
  #lastTextMs: number;
  #phase: Progress['phase'] | undefined;
  #samples: Sample[] = [];
  #shown = false;

  constructor(style: ProgressStyle, startMs: number) {
    this.#style = style;
    // A live line may come at once, a line of a log only after the first interval.
    this.#lastTextMs = style.live ? -Infinity : startMs;
  }

  /** What to write now: a text that rewrites the live line, or a line for the log without its break; '' for nothing. */
  update(progress: Progress, nowMs: number): string {
    if (progress.phase !== this.#phase) {
      this.#phase = progress.phase;
      this.#samples = [];
    }
    const interval = this.#style.live ? LIVE_INTERVAL_MS : LOG_INTERVAL_MS;
    const last = this.#samples.at(-1);
    // Samples as often as live texts are enough for the rate, and bound their number.
    if (last === undefined || nowMs - last.ms >= LIVE_INTERVAL_MS)
      this.#sample({ ms: nowMs, bytes: progress.bytesDone });
    if (nowMs - this.#lastTextMs < interval) return '';
    this.#lastTextMs = nowMs;
    const line = formatProgress(progress, this.#rate(progress, nowMs));
    if (!this.#style.live) return line;
    this.#shown = true;
    // The last column stays free: some terminals wrap when it is written.
    return ERASE_LINE + line.slice(0, Math.max(0, (this.#style.columns?.() || DEFAULT_COLUMNS) - 1));
  }

  /** What removes the live line, before another line or at the end; '' when none is shown. */
  clear(): string {
    if (!this.#shown) return '';
    this.#shown = false;
    return ERASE_LINE;
  }

  #sample(sample: Sample): void {
    this.#samples.push(sample);
    while (this.#samples.length > 2 && this.#samples[1]!.ms <= sample.ms - RATE_WINDOW_MS) this.#samples.shift();
  }

  #rate(progress: Progress, nowMs: number): number | null {
    const first = this.#samples[0];
    if (first === undefined || nowMs <= first.ms) return null;
    return (Math.max(0, progress.bytesDone - first.bytes) * 1000) / (nowMs - first.ms);
  }
}

/** 'write: 12,345 of 86,691 files (14%), 410 MB, 520 MB/s'. What is not known is left out. */
export function formatProgress(progress: Progress, bytesPerSecond: number | null): string {
  const { phase, filesDone, filesTotal, bytesDone } = progress;
  const parts: string[] = [];
  if (filesTotal > 0) {
    const percent = Math.min(100, Math.floor((100 * filesDone) / filesTotal));
    parts.push(`${formatCount(filesDone)} of ${plural(filesTotal, 'file')} (${percent}%)`);
  } else if (filesDone > 0) {
    parts.push(plural(filesDone, 'file'));
  }
  parts.push(formatBytes(bytesDone));
  if (bytesPerSecond !== null) parts.push(formatRate(bytesPerSecond));
  return `${phase}: ${parts.join(', ')}`;
}
