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

/** Whether a line is a meter in motion, which a log would show a hundred times; its last state is not. */
export function isMeterInMotion(line: string): boolean {
  return /:\s+\d+%? ?\(?[\d/]*\)?/.test(line) && /^(remote: )?[A-Z][a-z]+ [a-z ]+:/.test(line) && !/done\.$/.test(line);
}
