/**
 * A filter driver that runs once for each file (gitattributes(5), filter.<name>.smudge): content in, content out, and an exit
 * status that says whether the output counts.
 */
import { isUtf8 } from 'node:buffer';
import { finished } from 'node:stream/promises';
import { bufferOver, type Bytes } from '../bytes.ts';
import { DriverProcess, throwIfStopped, type DriverSettings } from './driver-process.ts';

/** Whether a command names the path: then the path becomes an argument, which must be text. */
export function namesPath(command: string): boolean {
  return expandCommand(command, Buffer.from('x')) !== expandCommand(command, Buffer.from('y'));
}

/** Whether a path can be part of a command line: Node passes arguments as UTF-8. */
export function canNamePath(path: Bytes): boolean {
  return isUtf8(path);
}

/** The command with `%f` replaced by the quoted path and `%%` by a per cent sign; any other one stays. */
function expandCommand(command: string, path: Bytes): string {
  // Within single quotes all but a single quote is literal; an exclamation mark is not, for some interactive shells.
  const quoted = `'${bufferOver(path).toString('utf8').replace(/['!]/g, "'\\$&'")}'`;
  return command.replace(/%([%f])/g, (_, what: string) => (what === 'f' ? quoted : '%'));
}

/**
 * Runs the command on the content.
 * @returns whether the output is the file's content; if not, what was pushed is to be discarded
 * @throws CheckoutError interrupted; what `push` throws
 */
export async function smudgeOnce(
  command: string,
  path: Bytes,
  content: Bytes,
  settings: DriverSettings,
  push: (piece: Bytes) => void,
): Promise<boolean> {
  const started = await DriverProcess.start(expandCommand(command, path), settings);
  if (started === null) return false;
  const failure: { error?: unknown } = {};
  started.stdout.on('data', (piece: Buffer) => {
    if ('error' in failure) return;
    try {
      push(piece);
    } catch (error) {
      failure.error = error;
      started.kill();
      started.closePipes();
    }
  });
  started.stdin.end(content);
  // All of the output counts, whoever of several processes in a pipeline writes the last of it.
  const complete = await finished(started.stdout, { writable: false }).then(
    () => true,
    () => false,
  );
  const status = await started.ended;
  started.closePipes();
  throwIfStopped(settings);
  if ('error' in failure) throw failure.error;
  if (complete && status === 0) return true;
  settings.warn(`the filter command '${command}' failed with status ${status}`);
  return false;
}
