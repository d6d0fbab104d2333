/**
 * The report as text for a terminal: the outcome in one line, then plan, phases, workers, and what was not done natively.
 */
import type { PhaseCost, WorkerCost } from '../cost.ts';
import type { Plan } from '../plan/plan.ts';
import {
  formatBytes,
  formatCount,
  formatMs,
  planSentence,
  plural,
  printable,
  receivedPhrase,
  workerName,
} from './format.ts';
import { workersUsed } from './outputs.ts';
import type { Report, SubmoduleReport } from './report.ts';

/** More than this scrolls the rest of the report away; the JSON has them all. */
const LISTED_ENTRIES = 50;

/** Several lines, the last one ended. Free of control characters whatever the repository holds. */
export function reportToText(report: Report): string {
  const sections = [headline(report), ...planLines(report.plan)];
  if (report.phases.length > 0) sections.push('', ...phaseLines(report.phases));
  if (report.workers.length > 0) sections.push('', ...workerLines(report.workers));
  sections.push('', ...totalLines(report));
  if (report.submodules !== undefined && report.submodules.length > 0) {
    sections.push('', ...submoduleLines(report.submodules));
  }
  const fallbacks = report.fallbacks.map(({ stage, reason }) => `${stage}: ${printable(reason)}`);
  if (fallbacks.length > 0) sections.push('', `Handed to git: ${fallbacks.length}`, ...listed(fallbacks));
  const skipped = report.skipped.map(({ path, reason }) => `${printable(path)}: ${printable(reason)}`);
  if (skipped.length > 0) sections.push('', `Not written: ${formatCount(skipped.length)}`, ...listed(skipped));
  return `${sections.join('\n')}\n`;
}

/** The plan alone, as `plan` prints it. */
export function planToText(plan: Plan): string {
  return `${planLines(plan).join('\n')}\n`;
}

/** The outcome in one line: how much, how long, by whom; for a failed run its error first. */
export function headline(report: Report): string {
  return report.error === undefined
    ? `Checked out ${workSentence(report)}`
    : `Failed (${printable(report.error.code)}): ${printable(report.error.message)}; until then ${workSentence(report)}`;
}

/** What was done, without how it ended. */
export function workSentence(report: Report): string {
  const { totals } = report;
  return (
    `${plural(totals.files, 'file')}, ${formatBytes(totals.bytesWritten)} in ${formatMs(totals.wallMs)} ` +
    `by ${report.engine === 'native' ? 'the native engine' : 'git'} with ${workersPhrase(report)}, ` +
    `peak memory ${formatBytes(totals.peakRssBytes)}`
  );
}

function workersPhrase(report: Report): string {
  const workers = workersUsed(report);
  return workers === 0 ? 'no worker threads' : plural(workers, 'worker');
}

function planLines(plan: Plan): string[] {
  const lines = [planSentence(plan)];
  const width = Math.max(0, ...plan.reasons.map((reason) => reason.about.length));
  for (const { about, text, decided } of plan.reasons) {
    lines.push(`  ${decided ? '*' : ' '} ${about.padEnd(width)}  ${printable(text)}`);
  }
  if (plan.reasons.some((reason) => reason.decided)) lines.push('  (* decided)');
  return lines;
}

function phaseLines(phases: readonly PhaseCost[]): string[] {
  return ['Phases (they may overlap)', ...columns(phases.map(({ name, ms }) => [name, formatMs(ms)]))];
}

function workerLines(workers: readonly WorkerCost[]): string[] {
  const rows = workers.map((worker) => [
    workerName(worker),
    formatCount(worker.files),
    formatBytes(worker.bytesWritten),
    formatMs(worker.wallMs),
    formatMs(worker.cpuUserMs),
    formatMs(worker.cpuSystemMs),
    formatMs(worker.waitMs),
    formatBytes(worker.peakMemoryBytes),
  ]);
  const head = ['worker', 'files', 'written', 'time', 'CPU user', 'CPU system', 'waiting', 'peak memory'];
  return ['Workers', ...columns([head, ...rows])];
}

function submoduleLines(submodules: readonly SubmoduleReport[]): string[] {
  const rows = submodules
    .slice(0, LISTED_ENTRIES)
    .map(({ path, files, bytesWritten, ms }) => [
      printable(path),
      formatCount(files),
      formatBytes(bytesWritten),
      formatMs(ms),
    ]);
  const rest = submodules.length - rows.length;
  return [
    'Submodules',
    ...columns([['path', 'files', 'written', 'time'], ...rows]),
    ...(rest === 0 ? [] : [`  … and ${formatCount(rest)} more, all of them in the JSON report`]),
  ];
}

function totalLines(report: Report): string[] {
  const { totals } = report;
  const rows = [
    ['written', `${plural(totals.files, 'file')}, ${formatBytes(totals.bytesWritten)}`],
    ['already right', plural(totals.kept, 'file')],
    ...(totals.excluded > 0 ? [['not in sparse checkout', plural(totals.excluded, 'file')]] : []),
    ['removed', plural(totals.removed, 'file')],
    ...(totals.cleaned > 0 ? [['cleaned', plural(totals.cleaned, 'untracked file')]] : []),
    ['time', formatMs(totals.wallMs)],
    ['CPU', `${formatMs(totals.cpuUserMs)} user, ${formatMs(totals.cpuSystemMs)} system`],
    ['peak memory', formatBytes(totals.peakRssBytes)],
    ['objects from', report.transport === null ? 'what was here' : `a fetch (${report.transport})`],
    ...(report.received === undefined ? [] : [['received', receivedPhrase(report.received)]]),
    ['commit', report.commit === null ? 'unknown' : printable(report.commit)],
  ];
  const width = Math.max(...rows.map((row) => row[0]!.length));
  return ['Totals', ...rows.map(([name = '', value = '']) => `  ${name.padEnd(width)}  ${value}`)];
}

/** First column to the left, the others to the right. */
function columns(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows) row.forEach((cell, at) => (widths[at] = Math.max(widths[at] ?? 0, cell.length)));
  return rows.map((row) => {
    const cells = row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!)));
    return `  ${cells.join('  ')}`;
  });
}

function listed(lines: readonly string[]): string[] {
  const shown = lines.slice(0, LISTED_ENTRIES).map((line) => `  ${line}`);
  const rest = lines.length - shown.length;
  return rest === 0 ? shown : [...shown, `  … and ${formatCount(rest)} more, all of them in the JSON report`];
}
