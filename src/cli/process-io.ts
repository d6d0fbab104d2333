/**
 * The process's own streams, folder, clock and signals, as the commands expect them.
 */
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { constants } from 'node:os';
import { CheckoutError, errnoOf } from '../engine/errors.ts';
import type { CliIo, OutputStream } from './io.ts';

const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
type StopSignal = (typeof STOP_SIGNALS)[number];

export interface Interruption {
  readonly signal: AbortSignal;
  /** 128 + the number of the signal that came (130, 143, 129), undefined when none came. */
  exitStatus(): number | undefined;
}

/**
 * From now on the first signal to stop asks the engine to settle, and the second one ends the process at once, for an
 * engine that hangs.
 */
export function listenForSignals(): Interruption {
  const controller = new AbortController();
  let status: number | undefined;
  const stop = (name: StopSignal): void => {
    if (status !== undefined) process.exit(status);
    status = 128 + constants.signals[name];
    controller.abort(new CheckoutError('interrupted', `interrupted by ${name}`));
  };
  for (const name of STOP_SIGNALS) process.on(name, stop);
  return { signal: controller.signal, exitStatus: () => status };
}

/** The world of this process. */
export function processIo(signal: AbortSignal): CliIo {
  return {
    cwd: process.cwd(),
    stdout: outputStream(process.stdout),
    stderr: outputStream(process.stderr),
    signal,
    now: () => performance.now(),
    exists: existsSync,
    writeFile: (path, text) => writeFile(path, text),
  };
}

function outputStream(stream: NodeJS.WriteStream): OutputStream {
  // Without a listener an error would end the process in the middle of a checkout. The write's callback reports it.
  stream.on('error', () => undefined);
  return {
    live: stream.isTTY && process.env['TERM'] !== 'dumb',
    columns: () => stream.columns,
    write: (text) =>
      new Promise<void>((resolve, reject) => {
        stream.write(text, (error) => {
          // A reader that has seen enough (`| head`) is no failure of ours.
          if (error === null || error === undefined || isGone(error)) resolve();
          else reject(error);
        });
      }),
  };
}

function isGone(error: Error): boolean {
  const errno = errnoOf(error);
  return errno === 'EPIPE' || errno === 'ERR_STREAM_DESTROYED';
}
