/**
 * The fuzzer of servers as a program: `npm run fuzz:server -- SECONDS [--seed N]` first lets the server stop at every byte of a small
 * exchange, then answers at random. Ends with status 1 and the seed where something hangs, crashes, or leaves something. See CONTRIBUTING.md.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { DEADLINE_MS, ExchangePlace } from './exchange-runner.ts';
import { randomScript, type ServerScript, stoppedScript } from './script.ts';

const usage = `usage: npm run fuzz:server -- SECONDS [--seed N]   random servers for so long
       npm run fuzz:server -- 0 --seed N           the one of this seed`;

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Ends the process when no case has ended for too long, since a loop of ours lets nothing else run. */
function watch(): Int32Array {
  const ended = new Int32Array(new SharedArrayBuffer(8));
  const source = `
    const { workerData } = require('node:worker_threads');
    const { writeSync } = require('node:fs');
    let before = -1, since = Date.now();
    setInterval(() => {
      const now = Atomics.load(workerData, 0);
      if (now !== before) { before = now; since = Date.now(); }
      if (Date.now() - since < ${2 * DEADLINE_MS}) return;
      writeSync(1, 'HANGS: seed ' + Atomics.load(workerData, 1) + '\\n');
      process.kill(process.pid, 'SIGKILL');
    }, 1000);`;
  new Worker(source, { eval: true, workerData: ended }).unref();
  return ended;
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { seed: { type: 'string' }, help: { type: 'boolean', short: 'h', default: false } },
  });
  const seconds = Number(positionals[0]);
  if (values.help || !(seconds >= 0)) {
    say(usage);
    process.exitCode = values.help ? 0 : 2;
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), 'parallel-checkout-fuzz-'));
  const place = await ExchangePlace.open(folder);
  const ended = watch();
  const counts = new Map<string, number>();
  const run = async (name: string, script: ServerScript): Promise<boolean> => {
    const { code, fault } = await place.run(script);
    Atomics.add(ended, 0, 1);
    counts.set(code, (counts.get(code) ?? 0) + 1);
    if (fault === null) return true;
    say(`FAULT with ${name}: ${fault}`);
    process.exitCode = 1;
    return false;
  };
  try {
    const end = performance.now() + 1000 * seconds;
    if (seconds > 0) {
      const total = stoppedScript(null, 'end').answers.reduce((sum, { length }) => sum + length, 0);
      for (let at = 0; at < total; at++) {
        for (const stop of ['end', 'reset'] as const)
          if (!(await run(`${stop} at byte ${at}`, stoppedScript(at, stop)))) return;
      }
      say(`stopped at each of ${total} bytes`);
    }
    let seed = values.seed === undefined ? Date.now() % 2 ** 31 : Number(values.seed);
    say(`seed ${seed}`);
    do {
      Atomics.store(ended, 1, seed);
      if (!(await run(`seed ${seed}`, randomScript(seed)))) return;
      seed++;
    } while (performance.now() < end);
  } finally {
    await place.close();
    rmSync(folder, { recursive: true, force: true });
    say(
      [...counts]
        .sort((a, b) => b[1] - a[1])
        .map(([code, count]) => `${count} ${code}`)
        .join(', '),
    );
  }
}

process.on('unhandledRejection', (error) => {
  say(`FAULT: an unhandled rejection: ${error instanceof Error ? (error.stack ?? '') : String(error)}`);
  process.exit(1);
});
await main();
