/**
 * The differential fuzzer as a program: `npm run fuzz -- SECONDS` makes random repositories and working trees, has git and
 * the engine check them out, and compares. See CONTRIBUTING.md.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { Workplace, fuzz } from './fuzzer.ts';
import type { Case } from './model.ts';
import { reproduction } from './reproduce.ts';

const usage = `usage: npm run fuzz -- SECONDS [--seed N]       random cases for so long
       npm run fuzz -- --case FILE... [--keep]  cases from files; --keep leaves what they made`;

/** No case takes this long; one that does hangs. */
const HANG_MS = 60_000;

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** A thread that ends the process when no case has begun for too long, since a loop of ours lets nothing else run. */
function watch(place: Workplace): void {
  const hung = join(process.cwd(), `fuzz-hang-${process.pid}.json`);
  const source = `
    const { statSync, copyFileSync, writeSync } = require('node:fs');
    setInterval(() => {
      let began = Date.now();
      try { began = statSync(${JSON.stringify(place.caseFile)}).mtimeMs; } catch {}
      if (Date.now() - began < ${HANG_MS}) return;
      copyFileSync(${JSON.stringify(place.caseFile)}, ${JSON.stringify(hung)});
      writeSync(1, 'a case hangs; it is in ' + ${JSON.stringify(hung)} + '\\n');
      process.kill(process.pid, 'SIGKILL');
    }, 1000);`;
  new Worker(source, { eval: true }).unref();
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      seed: { type: 'string' },
      case: { type: 'boolean', default: false },
      keep: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const seconds = Number(positionals[0]);
  if (values.help || positionals.length === 0 || (!values.case && !(seconds > 0))) {
    say(usage);
    process.exitCode = values.help ? 0 : 2;
    return;
  }
  const place = new Workplace();
  try {
    if (values.case) {
      for (const file of positionals) {
        const one = JSON.parse(readFileSync(file, 'utf8')) as Case;
        const result = await place.run(one);
        say(`${file}: ${result.differences.length === 0 ? 'the same' : 'different'} (${result.engines.join(' ')})`);
        for (const line of result.differences) say(`  ${line}`);
        if (result.differences.length > 0) process.exitCode = 1;
      }
      if (values.keep) say(`what they made is in ${place.folder}`);
      return;
    }
    watch(place);
    const seed = values.seed === undefined ? Date.now() % 2 ** 31 : Number(values.seed);
    say(`seed ${seed}`);
    const { failure, coverage } = await fuzz(place, { seed, seconds });
    say(coverage.text());
    if (failure === null) return;
    const file = join(process.cwd(), `fuzz-case-${failure.seed}.json`);
    writeFileSync(file, `${JSON.stringify(failure.case, null, 2)}\n`);
    say(`\nDIFFERENT, found with seed ${failure.seed}; the case, made small, is in ${file}:\n`);
    for (const line of failure.differences) say(`  ${line}`);
    say(`\n${reproduction(failure.case)}`);
    process.exitCode = 1;
  } finally {
    place.close(values.keep);
  }
}

await main();
