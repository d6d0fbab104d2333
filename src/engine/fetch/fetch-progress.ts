/**
 * Reads git's progress meter: "Receiving objects:  45% (450/1000), 12.34 MiB | 3.21 MiB/s". Pure.
 */
import type { Progress } from '../settings.ts';

const UNITS: Readonly<Record<string, number>> = { bytes: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 };

/** The numbers of a "Receiving objects" line, objects counted as files; null for any other line. */
export function receivingProgress(line: string): Progress | null {
  const match = /^Receiving objects:\s+\d+% \((\d+)\/(\d+)\)(?:, ([\d.]+) (bytes|KiB|MiB|GiB))?/.exec(line);
  if (match === null) return null;
  const bytes = match[3] === undefined ? 0 : Number(match[3]) * (UNITS[match[4]!] ?? 1);
  return { phase: 'fetch', filesDone: Number(match[1]), filesTotal: Number(match[2]), bytesDone: Math.round(bytes) };
}

/** What the meter of the process that takes the pack in says. */
export interface PackMeter {
  /** Received so far; in steps of 10 MiB once it is more than a GiB, as git rounds it. */
  readonly bytes: number;
  /** Of the last seconds; 0 below 1 KiB, as git rounds it. */
  readonly bytesPerSecond: number;
  /** Whether all of it is here. */
  readonly done: boolean;
}

/** A line of that meter; null for any other line. */
export function packMeter(line: string): PackMeter | null {
  const match =
    /^(?:Receiving|Unpacking) objects:\s+\d+% \(\d+\/\d+\)(?:, ([\d.]+) (bytes|KiB|MiB|GiB) \| ([\d.]+) (bytes|KiB|MiB|GiB)\/s)?/.exec(
      line,
    );
  if (match === null) return null;
  const size = (number: string | undefined, unit: string | undefined): number =>
    number === undefined ? 0 : Math.round(Number(number) * (UNITS[unit!] ?? 1));
  return { bytes: size(match[1], match[2]), bytesPerSecond: size(match[3], match[4]), done: line.endsWith(', done.') };
}

/** Whether a line is a meter in motion, which a log would show a hundred times; its last state is not. */
export function isMeterInMotion(line: string): boolean {
  return /:\s+\d+%? ?\(?[\d/]*\)?/.test(line) && /^(remote: )?[A-Z][a-z]+ [a-z ]+:/.test(line) && !/done\.$/.test(line);
}

/** Whether a line is more than what git says as it goes on: a warning or error, or what the server has to say. */
export function isSaidQuietly(line: string): boolean {
  if (/^remote: ([A-Z][a-z]+ [a-z ]+: |Total \d)/.test(line)) return false;
  return /^(warning|error|fatal|hint|remote): /.test(line);
}
