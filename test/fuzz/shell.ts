/**
 * One shell for many commands. Starting git from a process of this size takes 2 to 15 ms (it is the fork that costs), from
 * a small shell 1 ms; a case needs a dozen.
 */
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { spawnGit } from '../../src/engine/engine.ts';
import type { GitProcess } from '../../src/engine/settings.ts';

export interface ShellResult {
  readonly status: number;
  readonly stdout: Buffer;
  readonly stderr: string;
}

export function quote(word: string): string {
  return /^[\w./:=@%^,+-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

export class Shell {
  private readonly child: ChildProcessWithoutNullStreams;
  private readonly mark = randomBytes(12).toString('hex');
  private readonly errors: string;
  private chunks: Buffer[] = [];
  private answer: ((stdout: Buffer, status: number) => void) | null = null;
  private fail: ((error: Error) => void) | null = null;
  private last: Promise<unknown> = Promise.resolve();

  /** @param folder where standard error of the commands goes */
  constructor(folder: string) {
    this.errors = join(folder, `stderr-${this.mark}`);
    this.child = spawn('sh', ['-s'], { cwd: folder, stdio: 'pipe' });
    this.child.stdout.on('data', (chunk: Buffer) => this.read(chunk));
    this.child.stderr.on('data', (chunk: Buffer) => this.fail?.(new Error(`the shell: ${chunk.toString()}`)));
    this.child.on('exit', (code) => this.fail?.(new Error(`the shell ended with ${code ?? 'a signal'}`)));
  }

  /** Runs commands in a folder; the status is the last one's. Commands of several callers run one after the other. */
  run(cwd: string, script: string): Promise<ShellResult> {
    const result = this.last.then(() => this.runNow(cwd, script));
    this.last = result.catch(() => undefined);
    return result;
  }

  /** As `run`, of what must succeed. */
  async must(cwd: string, script: string): Promise<Buffer> {
    const { status, stdout, stderr } = await this.run(cwd, script);
    if (status !== 0) throw new Error(`status ${status} of: ${script}\n${stderr}`);
    return stdout;
  }

  private runNow(cwd: string, script: string): Promise<ShellResult> {
    return new Promise((resolve, reject) => {
      this.fail = reject;
      this.answer = (stdout, status) => {
        this.answer = null;
        resolve({ status, stdout, stderr: readFileSync(this.errors, 'utf8') });
      };
      const mark = `printf '\\0%s %d\\n' ${this.mark} $?`;
      this.child.stdin.write(
        `cd ${quote(cwd)}\n{ ${script}\n} </dev/null 2>${quote(this.errors)}\n${mark}\n`,
        'latin1',
      );
    });
  }

  private read(chunk: Buffer): void {
    this.chunks.push(chunk);
    if (chunk.at(-1) !== 0x0a) return;
    const whole = this.chunks.length === 1 ? chunk : Buffer.concat(this.chunks);
    const at = whole.lastIndexOf(`\0${this.mark} `, undefined, 'latin1');
    if (at < 0) return;
    this.chunks = [];
    this.answer?.(whole.subarray(0, at), Number(whole.subarray(at + this.mark.length + 2).toString()));
  }

  close(): void {
    this.fail = null;
    this.child.stdin.end();
  }
}

/** The engine's port to git through the shell; what a shell line cannot do is spawned as ever. */
export function gitThroughShell(shell: Shell): GitProcess {
  return async (call) => {
    if (call.input !== undefined || call.onStderrLine !== undefined) return await spawnGit(call);
    const env = Object.entries(call.env ?? {}).map(([name, value]) => `${name}=${quote(value)} `);
    const words = call.args.map((word) => quote(Buffer.from(word, 'utf8').toString('latin1')));
    const { status, stdout, stderr } = await shell.run(
      call.cwd ?? process.cwd(),
      `${env.join('')}git ${words.join(' ')}`,
    );
    return { exitCode: status, stdout: Buffer.from(stdout), stderr };
  };
}
