// Writes the tables of inputs and outputs in README.md from action.yml, between two marker lines each, so that they cannot
// drift apart. `--check` writes nothing and fails if the README is not what it would write.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { format, resolveConfig } from 'prettier';

const ROOT = join(import.meta.dirname, '..');

/** What action.yml says of one input or output. */
interface Entry {
  description: string;
  default?: string | number | boolean | null;
}

/** The part of action.yml that the README shows. */
export interface ActionMetadata {
  inputs: Record<string, Entry>;
  outputs: Record<string, Entry>;
}

function cell(text: string): string {
  return text.trim().replaceAll(/\s+/g, ' ').replaceAll('|', '\\|');
}

function defaultCell(value: Entry['default']): string {
  // `null` is how action.yml of actions/checkout says "none", and GitHub passes it on as an empty string.
  return value === undefined || value === null || value === '' ? '' : `\`${cell(String(value))}\``;
}

/** The tables that stand between the markers, by the name in the marker. */
export function tables({ inputs, outputs }: ActionMetadata): Record<string, string> {
  return {
    inputs: [
      '| Input | Default | What it does |',
      '| --- | --- | --- |',
      ...Object.entries(inputs).map(
        ([name, entry]) => `| \`${name}\` | ${defaultCell(entry.default)} | ${cell(entry.description)} |`,
      ),
    ].join('\n'),
    outputs: [
      '| Output | What it is |',
      '| --- | --- |',
      ...Object.entries(outputs).map(([name, entry]) => `| \`${name}\` | ${cell(entry.description)} |`),
    ].join('\n'),
  };
}

/**
 * Puts each table between its markers, `<!-- begin NAME -->` and `<!-- end NAME -->`.
 *
 * @throws Error when a pair of markers is missing.
 */
export function insertTables(readme: string, contents: Readonly<Record<string, string>>): string {
  let text = readme;
  for (const [name, table] of Object.entries(contents)) {
    const [begin, end] = [`<!-- begin ${name} -->`, `<!-- end ${name} -->`];
    const [from, to] = [text.indexOf(begin), text.indexOf(end)];
    if (from < 0 || to < from) throw new Error(`README.md lacks the markers ${begin} and ${end}`);
    text = `${text.slice(0, from + begin.length)}\n\n${table}\n\n${text.slice(to)}`;
  }
  return text;
}

async function main(check: boolean): Promise<void> {
  const path = join(ROOT, 'README.md');
  const readme = readFileSync(path, 'utf8');
  const metadata = parse(readFileSync(join(ROOT, 'action.yml'), 'utf8')) as ActionMetadata;
  // The same formatter as `npm run check` uses lays the columns out, so that neither undoes the other's work.
  const options = { ...(await resolveConfig(path)), filepath: path };
  const wanted = await format(insertTables(readme, tables(metadata)), options);
  if (!check) writeFileSync(path, wanted);
  else if (wanted !== readme) throw new Error('README.md does not match action.yml: run npm run docs');
}

if (import.meta.main) {
  try {
    await main(process.argv.includes('--check'));
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  }
}
