/**
 * Starts a job in which file system calls fail, in a process of its own.
 */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Job, Verdict } from './fault-job.ts';

/** Runs the job; rejects when its process hangs or ends early. */
export async function runFaultJob(job: Job): Promise<Verdict[]> {
  const file = join(job.directory, '..', 'job.json');
  writeFileSync(file, JSON.stringify(job));
  const child = spawn(
    process.execPath,
    ['--import', join(import.meta.dirname, 'inject-faults.ts'), join(import.meta.dirname, 'fault-job.ts'), file],
    { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, NODE_NO_WARNINGS: '1' } },
  );
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => (errors = (errors + chunk.toString()).slice(-4000)));
  const exited = new Promise<string>((resolve) => {
    child.once('close', (code, signal) => resolve(signal ?? String(code)));
  });
  const verdicts: Verdict[] = [];
  for await (const line of createInterface({ input: child.stdout })) verdicts.push(JSON.parse(line) as Verdict);
  const ended = await exited;
  if (ended !== '0') {
    throw new Error(`the process ended with ${ended} after ${JSON.stringify(verdicts.at(-1))}\n${errors}`);
  }
  return verdicts;
}
