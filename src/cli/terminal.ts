/**
 * What the user sees while the engine runs: log lines and progress on standard error, in the order in which they came.
 */
import { printable } from '../engine/report/format.ts';
import { ProgressMeter } from '../engine/report/progress.ts';
import type { Observer, Progress } from '../engine/settings.ts';
import type { CliIo } from './io.ts';

/** Starts each line that tells of something wrong. */
export const PREFIX = 'parallel-checkout: ';

/** An observer that writes to standard error; with `quiet` it writes nothing but errors. */
export class Terminal implements Observer {
  readonly #io: CliIo;
  readonly #quiet: boolean;
  readonly #meter: ProgressMeter;
  /** Writes are in flight one after another; the engine does not wait for them. */
  #pending: Promise<void> = Promise.resolve();

  constructor(io: CliIo, quiet: boolean) {
    this.#io = io;
    this.#quiet = quiet;
    const { stderr } = io;
    this.#meter = new ProgressMeter({ live: stderr.live, columns: () => stderr.columns() }, io.now());
  }

  info(line: string): void {
    if (!this.#quiet) this.#line(printable(line));
  }

  warning(line: string): void {
    if (!this.#quiet) this.#line(`${PREFIX}warning: ${printable(line)}`);
  }

  progress(progress: Progress): void {
    if (this.#quiet) return;
    const text = this.#meter.update(progress, this.#io.now());
    if (text !== '') this.#write(this.#io.stderr.live ? text : `${text}\n`);
  }

  /** The one line of a failure. */
  error(message: string): void {
    this.#line(PREFIX + printable(message));
  }

  /** A program error: its stack, as it is. */
  bug(stack: string): void {
    this.#write(`${this.#meter.clear()}${PREFIX}this is a bug in parallel-checkout, please report it:\n${stack}\n`);
  }

  /** Removes the live line and waits until everything is handed over. */
  async settle(): Promise<void> {
    const erase = this.#meter.clear();
    if (erase !== '') this.#write(erase);
    await this.#pending;
  }

  #line(line: string): void {
    this.#write(`${this.#meter.clear()}${line}\n`);
  }

  #write(text: string): void {
    // There is nowhere left to say that standard error cannot be written; the exit status still tells how it went.
    const write = this.#io.stderr.write(text).catch(() => undefined);
    this.#pending = this.#pending.then(() => write);
  }
}
