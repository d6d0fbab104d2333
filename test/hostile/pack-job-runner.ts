/**
 * Runs a case of pack-job.ts in a process of its own, so that its memory and its end are its own.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';

export interface PackVerdict {
  /** Of the error; 'taken' where there was none. */
  readonly code: string;
  readonly message: string;
  readonly seconds: number;
  /** Most resident memory. */
  readonly peakMb: number;
  /** What is in objects/pack afterwards. */
  readonly left: readonly string[];
}

export async function runPackJob(name: string, long: boolean, folder: string): Promise<PackVerdict> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'pack-job.ts'), name, String(long), folder], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NODE_NO_WARNINGS: '1' },
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (piece: Buffer) => (output.stdout += piece.toString()));
  child.stderr.on('data', (piece: Buffer) => (output.stderr += piece.toString()));
  const timer = setTimeout(() => child.kill('SIGKILL'), 310_000);
  const status = await new Promise((resolve) => child.once('close', (code, signal) => resolve(signal ?? code)));
  clearTimeout(timer);
  if (status !== 0) throw new Error(`${name}: ended with ${String(status)}\n${output.stderr.slice(-2000)}`);
  return JSON.parse(output.stdout) as PackVerdict;
}
