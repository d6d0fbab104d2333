/**
 * Starts a hostile job in a process of its own and watches it: silence for too long is a hang.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect } from 'vitest';
import type { Job, Verdict } from './hostile-job.ts';

/** A case takes some ten milliseconds; the machine may be busy. */
const SILENCE_MS = 20_000;

/** Runs the job; rejects with the seed at hand when the process hangs, crashes or ends early. */
export async function runHostileJob(job: Job): Promise<Verdict[]> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'hostile-job.ts'), JSON.stringify(job)], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NODE_NO_WARNINGS: '1' },
  });
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => (errors = (errors + chunk.toString()).slice(-4000)));
  const verdicts: Verdict[] = [];
  let current = 'before the first seed';
  const hang = (): void => void child.kill('SIGKILL');
  let timer = setTimeout(hang, SILENCE_MS);
  const exited = new Promise<string>((resolve) => {
    child.once('close', (code, signal) => resolve(signal ?? String(code)));
  });
  for await (const line of createInterface({ input: child.stdout })) {
    clearTimeout(timer);
    timer = setTimeout(hang, SILENCE_MS);
    const value = JSON.parse(line) as Partial<Verdict>;
    current = `${value.outcome === undefined ? 'in' : 'after'} seed ${value.seed ?? '?'}`;
    if (value.outcome !== undefined) verdicts.push(value as Verdict);
  }
  const ended = await exited;
  clearTimeout(timer);
  if (ended !== '0') throw new Error(`the process ended with ${ended} ${current}\n${errors}`);
  expect(verdicts.length, 'every case has a verdict').toBe(job.seeds[1] - job.seeds[0]);
  return verdicts;
}

/** The cases that went wrong, for an expectation that shows them. */
export function wrongOnes(verdicts: readonly Verdict[]): string[] {
  return verdicts
    .filter((verdict) => verdict.outcome === 'WRONG')
    .map((verdict) => `seed ${verdict.seed}: ${(verdict.details ?? []).join('\n    ')}`);
}
