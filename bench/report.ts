/** The results of one case as a value, a table for a terminal, and markdown. */
import type { CorpusFacts } from './corpora.ts';
import type { Cost } from './measure.ts';

export interface Spread {
  median: number;
  min: number;
  max: number;
}

/** What is compared between competitors. */
export type Quantity = 'wallMs' | 'cpuMs' | 'peakRssBytes';

export interface CompetitorResult {
  name: string;
  command: string;
  /** One an ordinary round, in order. */
  runs: Cost[];
  wallMs: Spread;
  /** User and system time of the whole process tree. */
  cpuMs: Spread;
  userMs: Spread;
  systemMs: Spread;
  peakRssBytes: Spread;
  treeRssBytes: Spread;
  /** From the warm-up round only; null where it was too short to be sampled. */
  treePssBytes: number | null;
  otherCpuMs: Spread;
}

/** The first competitor against another: below 1, the first needs less. */
export interface Ratio {
  of: string;
  to: string;
  /** Median of the one by the median of the other. */
  medians: Record<Quantity, number>;
  /** Median of the rounds' own ratios: less moved by a machine that is slow for a while. */
  pairwise: Record<Quantity, number>;
}

export interface BenchResult {
  schemaVersion: 1;
  case: string;
  title: string;
  date: string;
  rounds: number;
  machine: Record<string, string>;
  corpus: CorpusFacts;
  expected: { commit: string; files: number };
  competitors: CompetitorResult[];
  ratios: Ratio[];
  notes: string[];
}

export function spread(values: number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return {
    median: sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2,
    min: sorted[0]!,
    max: sorted[sorted.length - 1]!,
  };
}

/** Sums up a competitor's runs (at least one). */
export function summarize(name: string, command: string, runs: Cost[], treePssBytes: number | null): CompetitorResult {
  const over = (pick: (cost: Cost) => number): Spread => spread(runs.map(pick));
  return {
    name,
    command,
    runs,
    wallMs: over((cost) => cost.wallMs),
    cpuMs: over((cost) => cost.userMs + cost.systemMs),
    userMs: over((cost) => cost.userMs),
    systemMs: over((cost) => cost.systemMs),
    peakRssBytes: over((cost) => cost.peakRssBytes),
    treeRssBytes: over((cost) => cost.treeRssBytes),
    treePssBytes,
    otherCpuMs: over((cost) => cost.otherCpuMs),
  };
}

/** Ratios of the first competitor to each of the others. Runs at the same place in `runs` are of the same round. */
export function ratios(competitors: CompetitorResult[]): Ratio[] {
  const [first, ...others] = competitors;
  if (first === undefined) return [];
  const value: Record<Quantity, (cost: Cost) => number> = {
    wallMs: (cost) => cost.wallMs,
    cpuMs: (cost) => cost.userMs + cost.systemMs,
    peakRssBytes: (cost) => cost.peakRssBytes,
  };
  return others.map((other) => {
    const pairs = (pick: (cost: Cost) => number): number =>
      spread(first.runs.map((cost, round) => pick(cost) / pick(other.runs[round]!))).median;
    return {
      of: first.name,
      to: other.name,
      medians: {
        wallMs: first.wallMs.median / other.wallMs.median,
        cpuMs: first.cpuMs.median / other.cpuMs.median,
        peakRssBytes: first.peakRssBytes.median / other.peakRssBytes.median,
      },
      pairwise: {
        wallMs: pairs(value.wallMs),
        cpuMs: pairs(value.cpuMs),
        peakRssBytes: pairs(value.peakRssBytes),
      },
    };
  });
}

/** The two tables of a result: costs, then ratios. Each row is a list of cells, the first row the heading. */
function tables(result: BenchResult): string[][][] {
  const seconds = ({ median, min, max }: Spread): string =>
    `${(median / 1000).toFixed(3)} s (${(min / 1000).toFixed(3)}–${(max / 1000).toFixed(3)})`;
  const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(0)} MB`;
  const costs = [
    ['', 'wall', 'CPU', 'user + sys', 'largest process', 'tree RSS', 'tree PSS', 'other CPU'],
    ...result.competitors.map((one) => [
      one.name,
      seconds(one.wallMs),
      seconds(one.cpuMs),
      `${(one.userMs.median / 1000).toFixed(2)} + ${(one.systemMs.median / 1000).toFixed(2)} s`,
      megabytes(one.peakRssBytes.median),
      megabytes(one.treeRssBytes.median),
      one.treePssBytes === null ? '–' : megabytes(one.treePssBytes),
      `${(one.otherCpuMs.median / 1000).toFixed(2)} s`,
    ]),
  ];
  const pair = (ratio: Ratio, quantity: Quantity): string =>
    `${ratio.medians[quantity].toFixed(3)} (${ratio.pairwise[quantity].toFixed(3)})`;
  const fastest = fastestOther(result);
  const compared = [
    ['ratio', 'wall', 'CPU', 'largest process'],
    ...result.ratios.map((ratio) => [
      `${ratio.of} / ${ratio.to}${ratio.to === fastest ? ' (fastest peer)' : ''}`,
      pair(ratio, 'wallMs'),
      pair(ratio, 'cpuMs'),
      pair(ratio, 'peakRssBytes'),
    ]),
  ];
  return compared.length > 1 ? [costs, compared] : [costs];
}

/** The quickest of the competitors that are not ours: the one that the project's aims are stated against. */
function fastestOther(result: BenchResult): string | undefined {
  return result.competitors
    .filter((one) => !one.name.startsWith('ours'))
    .sort((a, b) => a.wallMs.median - b.wallMs.median)[0]?.name;
}

/** The result for a terminal. */
export function text(result: BenchResult): string {
  const parts = [`${result.case}: ${result.title}, ${result.rounds} rounds, median (min–max)`];
  for (const table of tables(result)) {
    const widths = table[0]!.map((_, column) => Math.max(...table.map((row) => row[column]!.length)));
    parts.push(
      table
        .map((row) =>
          row
            .map((cell, column) => cell.padEnd(widths[column]!))
            .join('  ')
            .trimEnd(),
        )
        .join('\n'),
    );
  }
  parts.push(...result.notes);
  return `${parts.join('\n\n')}\n`;
}

/** The result as a page of its own. */
export function markdown(result: BenchResult): string {
  const { corpus, expected } = result;
  const lines = [
    `# ${result.title}`,
    '',
    `Case \`${result.case}\`, ${result.date}, ${result.rounds} rounds after a warm-up, competitors in turn. Median (min–max).`,
    '',
  ];
  for (const table of tables(result)) {
    const [heading = [], ...rows] = table;
    lines.push(`| ${heading.join(' | ')} |`, `|${' --- |'.repeat(heading.length)}`);
    lines.push(...rows.map((row) => `| ${row.join(' | ')} |`), '');
  }
  lines.push(
    'Ratios: of the medians, and in parentheses the median of the rounds’ own ratios. Columns: bench/README.md.',
    '',
  );
  for (const note of result.notes) lines.push(`Note: ${note}`, '');
  lines.push('## Commands', '');
  for (const one of result.competitors) lines.push(`- ${one.name}: \`${one.command}\``);
  lines.push('', '## Machine', '');
  for (const [name, fact] of Object.entries(result.machine)) lines.push(`- ${name}: ${fact}`);
  lines.push('', '## Corpus', '');
  lines.push(`- ${corpus.name}: ${corpus.objects} objects in ${corpus.packs} pack of ${corpus.packBytes} bytes`);
  lines.push(`- checked out: commit ${expected.commit}, ${expected.files} files`);
  lines.push(...corpus.sources.map((source) => `- source: ${source}`));
  return `${lines.join('\n')}\n`;
}
