/**
 * The benchmark: runs the competitors of a case in turn, each time on a fresh file system, checks what they left, and
 * writes what it cost. See bench/README.md.
 */
import { closeSync, mkdirSync, openSync, readFileSync, readSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, release, totalmem, type } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { cases, nodeProgram, type Competitor, type OpenCase } from './cases.ts';
import { check } from './check.ts';
import { cacheFolder } from './corpora.ts';
import { fileSystemDescription, freshFileSystem, type FileSystemKind } from './file-system.ts';
import { measure, rusageProgram, type Cost } from './measure.ts';
import { git, run } from './process.ts';
import { markdown, ratios, summarize, text, type BenchResult } from './report.ts';

const usage = `usage: npm run bench -- [OPTION]...
  --case NAME[,NAME]...        which cases (default: checkout-linux-6.12,step-dozen); "all" for every one; --list shows them
  --rounds N                   measured rounds after the warm-up (default 5)
  --competitors NAME[,...]     who runs; ratios are of the first to the others. A number at the end is a count of workers:
                               ours ours-2 git-1 git-4 by-hand-2; actions-checkout in step cases (see README)
  --file-system loop|directory loop: an ext4 image mounted anew for every run, needs root (default when root)
  --output DIR                 where results go (default bench/results)
  --no-write                   print only
  --keep                       leave the last run's files and log for a look; prints where (umount it when done)
  --list                       the cases and their competitors`;

interface Options {
  rounds: number;
  competitors: string[] | undefined;
  fileSystem: FileSystemKind;
  keep: boolean;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      case: { type: 'string', default: 'checkout-linux-6.12,step-dozen' },
      rounds: { type: 'string', default: '5' },
      competitors: { type: 'string' },
      'file-system': { type: 'string', default: process.getuid?.() === 0 ? 'loop' : 'directory' },
      output: { type: 'string', default: join(import.meta.dirname, 'results') },
      'no-write': { type: 'boolean', default: false },
      keep: { type: 'boolean', default: false },
      list: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) {
    console.log(usage);
    return;
  }
  if (values.list) {
    for (const [name, one] of Object.entries(cases))
      console.log(`${name}: ${one.title} (${one.competitors.join(' ')})`);
    return;
  }
  const names = values.case === 'all' ? Object.keys(cases) : values.case.split(',');
  for (const name of names) if (cases[name] === undefined) throw new Error(`no case ${name}: --list shows them`);
  const rounds = Number(values.rounds);
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error(`--rounds ${values.rounds}: a whole number from 1 on`);
  const fileSystem = values['file-system'];
  if (fileSystem !== 'loop' && fileSystem !== 'directory')
    throw new Error(`--file-system ${fileSystem}: loop or directory`);

  await rusageProgram();
  for (const name of names) {
    const result = await runCase(name, {
      rounds,
      competitors: values.competitors?.split(','),
      fileSystem,
      keep: values.keep,
    });
    console.log(`\n${text(result)}`);
    if (values['no-write']) continue;
    mkdirSync(values.output, { recursive: true });
    const file = join(values.output, `${name}-${result.date.slice(0, 16).replaceAll(':', '')}`);
    writeFileSync(`${file}.json`, `${JSON.stringify(result, null, 2)}\n`);
    writeFileSync(`${file}.md`, markdown(result));
    console.log(`${file}.{json,md}`);
  }
}

async function runCase(name: string, options: Options): Promise<BenchResult> {
  const one = cases[name]!;
  const folder = join(cacheFolder(), `run-${process.pid}`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const clean = (): void => {
    if (!options.keep) rmSync(folder, { recursive: true, force: true });
  };
  // When interrupted; after the exit listener of file-system.ts, which unmounts.
  process.once('exit', clean);
  const opened = await one.open(folder, console.log);
  const notes: string[] = [];
  const date = new Date().toISOString();
  const machine = await machineFacts(options.fileSystem);
  try {
    const competitors: Competitor[] = [];
    for (const wanted of options.competitors ?? one.competitors) {
      const competitor = opened.competitor(wanted);
      if (competitor === undefined) throw new Error(`case ${name} has no competitor ${wanted}`);
      if (competitor.missing === undefined) competitors.push(competitor);
      else if (options.competitors !== undefined) throw new Error(`${wanted}: ${competitor.missing}`);
      else notes.push(`${wanted} left out: ${competitor.missing}`);
    }
    if (competitors.length === 0) throw new Error(notes.join('; '));

    // Round 0 warms up (caches, the server's stored answers) and takes the samples that would slow a measured run.
    const costs = competitors.map((): Cost[] => []);
    const pss = competitors.map((): number | null => null);
    for (let round = 0; round <= options.rounds; round++) {
      for (let turn = 0; turn < competitors.length; turn++) {
        // Each round starts with another one, so that none always runs after the same neighbour.
        const index = (turn + round) % competitors.length;
        const competitor = competitors[index]!;
        const last = round === options.rounds && turn === competitors.length - 1;
        const id = `${round}-${competitor.name}`;
        const cost = await runOnce(opened, competitor, id, folder, options, round === 0, options.keep && last);
        console.log(`${round === 0 ? 'warm-up' : `round ${round}`} ${competitor.name}: ${line(cost)}`);
        if (round === 0) pss[index] = cost.treePssBytes;
        else costs[index]!.push(cost);
      }
    }
    const results = competitors.map(({ name: id, shown }, index) => summarize(id, shown, costs[index]!, pss[index]!));
    return {
      schemaVersion: 1,
      case: name,
      title: one.title,
      date,
      rounds: options.rounds,
      machine,
      corpus: opened.corpus,
      expected: opened.expected,
      competitors: results,
      ratios: ratios(results),
      notes,
    };
  } finally {
    await opened.close();
    clean();
  }
}

async function runOnce(
  opened: OpenCase,
  competitor: Competitor,
  id: string,
  folder: string,
  options: Options,
  warmUp: boolean,
  keep: boolean,
): Promise<Cost> {
  const fileSystem = await freshFileSystem(options.fileSystem, folder, id);
  const side = join(folder, `side-${id}`);
  mkdirSync(side);
  const log = join(folder, `${id}.log`);
  try {
    const prepared = await competitor.prepare({ fresh: fileSystem.path, side });
    for (const file of opened.warm) readThrough(file);
    const cost = await measure(prepared.command, log, { pss: warmUp });
    if (cost.status !== 0) {
      throw new Error(
        `${competitor.name} ended with status ${cost.status}:\n${readFileSync(log, 'utf8').slice(-4000)}`,
      );
    }
    await check(prepared, opened.expected, competitor.name);
    return cost;
  } finally {
    if (keep) {
      fileSystem.keep();
      console.log(`kept: ${fileSystem.path}, ${side}, ${log}`);
    } else {
      await fileSystem.release();
      // Removing many files would disturb the next run where it shares the file system.
      if (options.fileSystem === 'loop') rmSync(side, { recursive: true });
    }
  }
}

/** Brings a file into the page cache. */
function readThrough(file: string): void {
  const buffer = Buffer.allocUnsafe(1 << 20);
  const descriptor = openSync(file, 'r');
  while (readSync(descriptor, buffer) > 0);
  closeSync(descriptor);
}

async function machineFacts(fileSystem: FileSystemKind): Promise<Record<string, string>> {
  const processors = cpus();
  const version = (await run(nodeProgram, ['--version'])).trim();
  const tree = await git(['-C', import.meta.dirname, 'describe', '--always', '--dirty']).catch(() => 'unknown');
  return {
    processor: `${processors[0]?.model ?? 'unknown'}, ${processors.length} cores`,
    memory: `${(totalmem() / 2 ** 30).toFixed(1)} GiB`,
    system: `${type()} ${release()}`,
    node: version,
    git: (await git(['--version'])).trim(),
    'this project': tree.trim(),
    'file system': fileSystemDescription[fileSystem],
    'load at the start': loadavg()[0]!.toFixed(2),
  };
}

function line(cost: Cost): string {
  const seconds = (ms: number): string => `${(ms / 1000).toFixed(3)} s`;
  const megabytes = (bytes: number | null): string => (bytes === null ? '–' : `${(bytes / 1e6).toFixed(0)} MB`);
  return (
    `wall ${seconds(cost.wallMs)}, CPU ${seconds(cost.userMs + cost.systemMs)}, largest process ${megabytes(cost.peakRssBytes)}, ` +
    `tree RSS ${megabytes(cost.treeRssBytes)}, PSS ${megabytes(cost.treePssBytes)}, other CPU ${seconds(cost.otherCpuMs)}`
  );
}

// Through process.exit, so that what is mounted is unmounted (file-system.ts).
for (const [signal, status] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const) {
  process.once(signal, () => process.exit(status));
}
try {
  await main();
} catch (error) {
  console.error(`bench: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
