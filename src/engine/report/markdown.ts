/**
 * The report as GitHub-flavoured Markdown, for the job summary and for comments. Two things are guarded here: GitHub drops
 * a summary of more than 1024 KiB whole, so every list is bounded; and names come from the repository, so none of them
 * may become markup, a link, or a mention of somebody.
 */
import type { WorkerCost } from '../cost.ts';
import { formatBytes, formatCount, formatMs, planSentence, printable, receivedPhrase, workerName } from './format.ts';
import { workersUsed } from './outputs.ts';
import type { Report } from './report.ts';
import { groupCost, groupName, groupWorkers } from './worker-groups.ts';

/** What GitHub takes as the summary of one step. */
export const SUMMARY_LIMIT_BYTES = 1024 * 1024;

// Worst case of all bounds together, each character at its longest (six bytes): below 0.7 MiB, see the test.
const WORKER_ROWS = 64;
const LISTED_ENTRIES = 100;
const LISTED_REASONS = 50;
const LISTED_FALLBACKS = 20;
const TEXT_CHARACTERS = 300;
const ERROR_CHARACTERS = 2000;

/** Markdown of at most {@link SUMMARY_LIMIT_BYTES}, with a line break at its end. */
export function reportToMarkdown(report: Report): string {
  const { totals, plan } = report;
  const lines = ['### parallel-checkout', ''];
  if (report.error !== undefined) {
    const { code, message } = report.error;
    lines.push(`**Failed** (${codeSpan(code)}): ${markdownText(message, ERROR_CHARACTERS)}`, '');
  }
  // Few checkouts are sparse, and the table is wide enough.
  const sparse = totals.excluded > 0;
  const cleaned = totals.cleaned > 0;
  lines.push(
    ...table(
      [
        ...[
          'Files',
          'Written',
          'Time',
          'CPU user',
          'CPU system',
          'Peak memory',
          'Engine',
          'Workers',
          'Kept',
          'Removed',
        ],
        ...(cleaned ? ['Cleaned'] : []),
        ...(sparse ? ['Not in sparse checkout'] : []),
      ],
      [
        [
          formatCount(totals.files),
          formatBytes(totals.bytesWritten),
          formatMs(totals.wallMs),
          formatMs(totals.cpuUserMs),
          formatMs(totals.cpuSystemMs),
          formatBytes(totals.peakRssBytes),
          report.engine,
          formatCount(workersUsed(report)),
          formatCount(totals.kept),
          formatCount(totals.removed),
          ...(cleaned ? [formatCount(totals.cleaned)] : []),
          ...(sparse ? [formatCount(totals.excluded)] : []),
        ],
      ],
    ),
    '',
  );
  if (report.commit !== null) lines.push(`Commit ${codeSpan(report.commit)}`, '');
  if (report.phases.length > 0) {
    lines.push(
      ...table(
        ['Phase', ...report.phases.map(({ name }) => name)],
        [['Time', ...report.phases.map(({ ms }) => formatMs(ms))]],
      ),
      '',
    );
  }
  if (report.received !== undefined) lines.push(`Received ${receivedPhrase(report.received)}`, '');
  if (report.workers.length > 0) lines.push(...workerTable(report.workers), '');
  const { submodules = [] } = report;
  if (submodules.length > 0) {
    lines.push(
      ...table(
        ['Submodule', 'Files', 'Written', 'Time'],
        submodules
          .slice(0, LISTED_ENTRIES)
          .map(({ path, files, bytesWritten, ms }) => [
            codeSpan(path),
            formatCount(files),
            formatBytes(bytesWritten),
            formatMs(ms),
          ]),
      ),
      '',
    );
    const rest = submodules.length - LISTED_ENTRIES;
    if (rest > 0) lines.push(`… and ${formatCount(rest)} more submodules`, '');
  }
  if (plan.reasons.length > 0) {
    lines.push(
      planSentence(plan),
      '',
      ...list(plan.reasons, LISTED_REASONS, ({ about, text, decided }) => {
        const reason = `${about}: ${markdownText(text)}`;
        return decided ? `**${reason}**` : reason;
      }),
      '',
    );
  }
  if (report.fallbacks.length > 0) {
    lines.push(
      'Handed to git:',
      '',
      ...list(report.fallbacks, LISTED_FALLBACKS, ({ stage, reason }) => `${stage}: ${markdownText(reason)}`),
      '',
    );
  }
  if (report.skipped.length > 0) {
    lines.push(
      `Not written: ${formatCount(report.skipped.length)}`,
      '',
      ...list(report.skipped, LISTED_ENTRIES, ({ path, reason }) => `${codeSpan(path)}: ${markdownText(reason)}`),
      '',
    );
  }
  return lines.join('\n');
}

/**
 * Foreign text as a Markdown code span, the one construct in which nothing else is parsed and nobody is mentioned. One
 * line; not for table cells, whose bars are split before spans are seen.
 */
export function codeSpan(text: string): string {
  const content = printable(text, TEXT_CHARACTERS);
  // A span ends at the first run of exactly as many backticks as opened it.
  const runs = content.match(/`+/g) ?? [];
  const fence = '`'.repeat(1 + Math.max(0, ...runs.map((run) => run.length)));
  return `${fence} ${content} ${fence}`;
}

/**
 * Foreign text as plain Markdown text of one line. What could be markup becomes a character reference, which GitHub
 * shows but does not parse; after '@' and '#' comes an invisible space, since mentions and issue links are made after
 * references are resolved.
 */
export function markdownText(text: string, most = TEXT_CHARACTERS): string {
  return printable(text, most)
    .replace(/[!"#$%&*+/:;<=>?@[\\\]^_`{|}~-]/g, (character) => {
      const reference = `&#${character.charCodeAt(0)};`;
      return character === '@' || character === '#' ? `${reference}&#8203;` : reference;
    })
    .replace(/(www|^ *\d+)([.)])/gi, (_, before: string, mark: string) => `${before}&#${mark.charCodeAt(0)};`);
}

function workerTable(workers: readonly WorkerCost[]): string[] {
  const grouped = workers.length > WORKER_ROWS;
  const rows = groupWorkers(workers, WORKER_ROWS).map((group) => {
    const [only] = group;
    return costRow(group.length === 1 && only !== undefined ? workerName(only) : groupName(group), groupCost(group));
  });
  const head = ['Worker', 'Files', 'Written', 'Time', 'CPU user', 'CPU system', 'Waiting', 'Peak memory'];
  const lines = table(head, rows);
  if (grouped) {
    lines.push(
      '',
      'Where workers share a row, work, CPU time and waiting are sums, time and memory the highest of one.',
    );
  }
  return lines;
}

function costRow(name: string, cost: Omit<WorkerCost, 'id'>): string[] {
  return [
    name,
    formatCount(cost.files),
    formatBytes(cost.bytesWritten),
    formatMs(cost.wallMs),
    formatMs(cost.cpuUserMs),
    formatMs(cost.cpuSystemMs),
    formatMs(cost.waitMs),
    formatBytes(cost.peakMemoryBytes),
  ];
}

/** Cells are our own words and numbers; numbers stand to the right. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const rule = head.map((_, at) => (at === 0 ? '---' : '--:'));
  return [head, rule, ...rows].map((cells) => `| ${cells.map(cell).join(' | ')} |`);
}

function cell(text: string): string {
  return text.replaceAll('<', '&lt;');
}

function list<Item>(items: readonly Item[], most: number, line: (item: Item) => string): string[] {
  const shown = items.slice(0, most).map((item) => `- ${line(item)}`);
  const rest = items.length - shown.length;
  if (rest > 0) shown.push(`- … and ${formatCount(rest)} more, all of them in the JSON report`);
  return shown;
}
