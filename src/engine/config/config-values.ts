/**
 * What a configuration value means: git's rules for booleans, numbers and paths (git-config(1), "Values"). Pure; null
 * where the text is none of the kind.
 */
import type { Environment } from './environment.ts';

/** A value: its text, or null for a key that stands without '=' (true as a boolean). */
export type ConfigValue = string | null;

const UNITS: Readonly<Record<string, number>> = { '': 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 };

/** A whole number in decimal, 0x hexadecimal or 0 octal with an optional k, m or g; null when it is not one or too big. */
export function parseConfigInt(text: string): number | null {
  const match = /^\s*([+-]?)(0x[0-9a-f]+|\d+)([kmg]?)$/i.exec(text);
  if (match === null) return null;
  const digits = match[2]!;
  let magnitude: number;
  if (/^0x/i.test(digits)) magnitude = Number.parseInt(digits.slice(2), 16);
  else if (!/^0\d/.test(digits)) magnitude = Number.parseInt(digits, 10);
  // As in C, the octal number ends at an 8 or 9, and something that is no unit follows it.
  else if (/[89]/.test(digits)) return null;
  else magnitude = Number.parseInt(digits, 8);
  const value = magnitude * UNITS[match[3]!.toLowerCase()]! * (match[1] === '-' ? -1 : 1);
  return Number.isSafeInteger(value) ? value + 0 : null;
}

/** A boolean, in git's spellings, or any whole number (0 is false); null when it is neither. */
export function parseConfigBool(value: ConfigValue): boolean | null {
  if (value === null) return true;
  if (/^(true|yes|on)$/i.test(value)) return true;
  if (/^(|false|no|off)$/i.test(value)) return false;
  const number = parseConfigInt(value);
  return number === null ? null : number !== 0;
}

/** `~` and `~/…` with the home directory put in; null where that needs what we do not have (`~user`, no HOME). */
export function expandConfigPath(text: string, environment: Environment): string | null {
  if (text.startsWith('%(prefix)/')) return null;
  if (!text.startsWith('~')) return text;
  if (text !== '~' && !text.startsWith('~/')) return null;
  const home = environment['HOME'] ?? environment['USERPROFILE'];
  if (home === undefined || home === '') return null;
  return `${home}${text.slice(1)}`;
}
