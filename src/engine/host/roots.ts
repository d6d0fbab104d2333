/**
 * Reading the small text files in which Linux states its facts. Every reader takes the folders that hold them, so that
 * tests can lay out another machine in a temporary folder.
 */
import { readFileSync } from 'node:fs';

/** Where the kernel's own file systems are mounted. */
export interface KernelRoots {
  readonly proc: string;
  readonly sys: string;
}

export const KERNEL_ROOTS: KernelRoots = { proc: '/proc', sys: '/sys' };

/** The file's text; null when it cannot be read, for whatever reason: a fact that is not there is an unknown fact. */
export function readTextOrNull(path: string): string | null {
  try {
    // With 'utf8' this is a single call into Node's C++, a third of the time of other encodings.
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

/** A file that holds one number. 'max' is Infinity; null when unreadable or not a number. */
export function readNumberOrNull(path: string): number | null {
  const text = readTextOrNull(path)?.trim();
  if (text === undefined) return null;
  return parseLimit(text);
}

/** '123' -> 123, 'max' -> Infinity, anything else -> null. Negative numbers are kept: cgroup v1 says -1 for no limit. */
export function parseLimit(text: string): number | null {
  if (text === 'max') return Infinity;
  return /^-?\d+$/.test(text) ? Number(text) : null;
}

/** The number after `key` in 'key number' or 'key: number kB' lines (memory.stat, meminfo); null without such a line. */
export function numberOfKey(text: string, key: string): number | null {
  const match = new RegExp(`^${key}:?\\s+(\\d+)`, 'm').exec(text);
  return match === null ? null : Number(match[1]);
}
