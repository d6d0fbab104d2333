/**
 * Numbers and foreign text in the form that people read, in one place, so that a size looks the same in the terminal, an
 * annotation and the job summary. Not locale-aware on purpose: a log must not change with the machine that wrote it.
 */
import type { Plan } from '../plan/plan.ts';
import type { WorkerCost } from '../cost.ts';
import type { Received } from '../settings.ts';

const BYTE_UNITS = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'] as const;

/** Bytes in decimal units with three digits: '512 B', '1.40 GB', '43.1 MB'. */
export function formatBytes(bytes: number): string {
  let value = sane(bytes);
  let unit = 0;
  while (unit < BYTE_UNITS.length - 1 && Math.round(value) >= 1000) {
    value /= 1000;
    unit++;
  }
  return `${unit === 0 ? Math.round(value).toString() : threeDigits(value)} ${BYTE_UNITS[unit]!}`;
}

/** Milliseconds as '<1 ms', '830 ms', '3.15 s' or '12 min 04 s'. */
export function formatMs(ms: number): string {
  const value = sane(ms);
  if (value > 0 && value < 0.5) return '<1 ms';
  if (Math.round(value) < 1000) return `${Math.round(value)} ms`;
  const seconds = value / 1000;
  if (seconds < 599.5) return `${threeDigits(seconds)} s`;
  const whole = Math.round(seconds);
  return `${formatCount(Math.floor(whole / 60))} min ${String(whole % 60).padStart(2, '0')} s`;
}

/** A whole number with commas: '86,691'. */
export function formatCount(count: number): string {
  return Math.round(sane(count))
    .toString()
    .replace(/\B(?=(?:\d{3})+$)/g, ',');
}

/** '1 file', '2 files'. */
export function plural(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** What a plan comes to: 'Plan: 2 workers, memory limit 4.29 GB'. Lanes are named where there are several. */
export function planSentence(plan: Plan): string {
  const workers = plan.workers === 0 ? 'no worker threads' : plural(plan.workers, 'worker');
  const lanes = plan.lanes > 1 ? `, ${plural(plan.lanes, 'lane')} each` : '';
  return `Plan: ${workers}${lanes}, memory limit ${formatBytes(plan.memoryLimitBytes)}`;
}

/** Bytes a second: '520 MB/s'. */
export function formatRate(bytesPerSecond: number): string {
  return `${formatBytes(bytesPerSecond)}/s`;
}

/** How a table calls a worker. */
export function workerName(worker: Pick<WorkerCost, 'id' | 'died'>): string {
  return (worker.id === 0 ? 'main' : String(worker.id)) + (worker.died === true ? ' (died)' : '');
}

/**
 * Text that may come from a repository (paths, reasons, messages), made safe for one line of a terminal or a log: control
 * characters, line breaks, and the invisible ones that reorder or hide text become escapes; an unpaired surrogate becomes
 * U+FFFD. At most `most` characters, then '…'.
 */
export function printable(text: string, most = 4000): string {
  // Cut first, so that a text of any length costs no more than what is shown of it.
  let cut = text.length > most;
  const escaped = text
    .slice(0, most)
    .replace(/\p{Cs}/gu, '\ufffd')
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => {
      const code = character.codePointAt(0)!;
      return code <= 0xff ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`;
    });
  const shown = escaped.slice(0, most);
  cut ||= shown.length < escaped.length;
  return cut ? `${shown.replace(/\p{Cs}/gu, '\ufffd')}…` : shown;
}

function threeDigits(value: number): string {
  if (value < 9.995) return value.toFixed(2);
  if (value < 99.95) return value.toFixed(1);
  return value.toFixed(0);
}

/** Counters are not negative; a clock that ran backwards must not make the report unreadable. */
function sane(value: number): number {
  return Number.isFinite(value) && value > 0 ? value : 0;
}

/** How a pack came, in one sentence without its end. */
export function receivedPhrase(received: Received): string {
  const { bytes, objects, requests, filesWritten, networkWaitMs, engineWaitMs } = received;
  return (
    `${formatBytes(bytes)}, ${plural(objects, 'object')} in ${plural(requests, 'request')}; ` +
    `${plural(filesWritten, 'file')} written by then; ` +
    `waited ${formatMs(networkWaitMs)} for the network, which waited ${formatMs(engineWaitMs)}`
  );
}
