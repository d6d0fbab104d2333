/**
 * Starts the command of a filter driver as git does, and sees to it that it ends: with the run when that is stopped, and in
 * any case when it is told to. The command comes from the configuration; nothing of the repository gets into it but a path
 * that one-shot.ts has quoted.
 */
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { constants } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { CheckoutError, errnoOf } from '../errors.ts';
import { LineSplitter } from '../fetch/git-process.ts';

/** What all drivers of a checkout have in common. */
export interface DriverSettings {
  /** Absolute path: the directory that they run in. */
  readonly workTree: string;
  /** Their environment; asked for when the first one is started. */
  readonly environment: () => Promise<NodeJS.ProcessEnv>;
  /** Told each line of their standard error. */
  readonly warn: (line: string) => void;
  readonly signal?: AbortSignal | undefined;
}

/** How a process ended: its exit status, or 128 and the number of the signal. */
export type ExitStatus = number;

/** git runs a command by itself when it has none of these, and otherwise by the shell. */
const NEEDS_SHELL = /[|&;<>()$`\\"' \t\n*?[#~=%]/;

/** Where every Unix has it, and git was built to look for it. */
const SHELL = '/bin/sh';

/** After it was told to end, a process gets this long, as git gets (fetch/git-process.ts). */
const TERMINATION_GRACE_MS = 5000;

export class DriverProcess {
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** Settles when the process has ended; its pipes may still be open, for it may have left others behind. */
  readonly ended: Promise<ExitStatus>;
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #signal: AbortSignal | undefined;
  #killTimer: NodeJS.Timeout | undefined;

  private constructor(child: ChildProcessByStdio<Writable, Readable, Readable>, settings: DriverSettings) {
    this.#child = child;
    this.#signal = settings.signal;
    this.stdin = child.stdin;
    this.stdout = child.stdout;
    // A driver may end, or stop reading, before it has read all; what that means is for its exit status to say.
    child.stdin.on('error', () => undefined);
    const lines = new LineSplitter(settings.warn);
    child.stderr.on('data', (chunk: Buffer) => lines.push(chunk));
    child.stderr.on('error', () => undefined);
    child.stderr.once('close', () => lines.end());
    this.ended = new Promise((resolve) => {
      child.once('exit', (code, killedBy) => {
        clearTimeout(this.#killTimer);
        this.#signal?.removeEventListener('abort', this.#onAbort);
        resolve(code ?? 128 + (killedBy === null ? 0 : constants.signals[killedBy]));
      });
    });
    settings.signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  /**
   * Starts a command.
   * @returns null when it cannot be started; why was told as a warning
   * @throws CheckoutError interrupted when the run is stopped already
   */
  static async start(command: string, settings: DriverSettings): Promise<DriverProcess | null> {
    const env = await settings.environment();
    throwIfStopped(settings);
    const [program, args] = NEEDS_SHELL.test(command) ? [SHELL, ['-c', command]] : [command, []];
    const cannot = (error: unknown): null => {
      settings.warn(`cannot run the filter command '${command}': ${errnoOf(error) ?? String(error)}`);
      return null;
    };
    let child: ChildProcessByStdio<Writable, Readable, Readable>;
    try {
      child = spawn(program, args, { cwd: settings.workTree, env, stdio: ['pipe', 'pipe', 'pipe'] });
    } catch (error) {
      return cannot(error);
    }
    const failure = await new Promise<unknown>((resolve) => {
      child.once('spawn', () => resolve(null));
      child.once('error', resolve);
    });
    if (failure !== null) return cannot(failure);
    child.on('error', () => undefined);
    return new DriverProcess(child, settings);
  }

  /** Asks the process to end, and makes it end when it does not. */
  kill(): void {
    this.#child.kill('SIGTERM');
    this.#killTimer ??= setTimeout(() => this.#child.kill('SIGKILL'), TERMINATION_GRACE_MS);
  }

  /** Lets go of the pipes, which processes that it left behind may hold open. */
  closePipes(): void {
    this.#child.stdin.destroy();
    this.#child.stdout.destroy();
    this.#child.stderr.destroy();
  }

  readonly #onAbort = (): void => {
    this.kill();
    // Whoever waits for output is told that there is no more.
    this.closePipes();
  };
}

/** @throws CheckoutError interrupted */
export function throwIfStopped({ signal }: Pick<DriverSettings, 'signal'>): void {
  if (signal?.aborted === true) throw new CheckoutError('interrupted', 'interrupted while a filter driver ran');
}
