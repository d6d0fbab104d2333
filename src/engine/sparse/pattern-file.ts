/**
 * Reads an info/sparse-checkout file into its patterns, line by line as git does (gitignore(5), "PATTERN FORMAT"; a
 * pattern says what is to be there, not what is to be ignored).
 */
import type { Bytes } from '../bytes.ts';

export interface SparsePattern {
  /** Without `!` in front and without `/` at the end. May be empty: such a pattern matches nothing. */
  readonly pattern: Bytes;
  /** `!`: what matches is left out. */
  readonly negative: boolean;
  /** A slash at the end: matches directories only. */
  readonly mustBeDirectory: boolean;
}

/** A larger file is taken for one that cannot be read (git's PATTERN_MAX_FILE_SIZE). */
export const PATTERN_FILE_LIMIT = 100 * 1024 * 1024;

const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const EXCLAMATION = 0x21;
const HASH = 0x23;
const SLASH = 0x2f;
const BACKSLASH = 0x5c;

/** All patterns in the order of the file. */
export function parseSparsePatterns(file: Bytes): SparsePattern[] {
  const patterns: SparsePattern[] = [];
  let start = file[0] === 0xef && file[1] === 0xbb && file[2] === 0xbf ? 3 : 0;
  while (start < file.length) {
    let end = file.indexOf(LF, start);
    if (end < 0) end = file.length;
    // A line of a carriage return alone is no blank line to git: it is an empty pattern, which ends cone mode.
    if (end > start && file[start] !== HASH) patterns.push(parseLine(file, start, end));
    start = end + 1;
  }
  return patterns;
}

function parseLine(file: Bytes, start: number, lineEnd: number): SparsePattern {
  let end = file[lineEnd - 1] === CR ? lineEnd - 1 : lineEnd;
  // To git a line is a string, which ends at a NUL.
  const nul = file.subarray(start, end).indexOf(0);
  if (nul >= 0) end = start + nul;
  end = withoutTrailingSpaces(file, start, end);
  const negative = end > start && file[start] === EXCLAMATION;
  const from = negative ? start + 1 : start;
  const mustBeDirectory = end > from && file[end - 1] === SLASH;
  return { pattern: file.slice(from, mustBeDirectory ? end - 1 : end), negative, mustBeDirectory };
}

/** Where the line ends without its trailing spaces; one after a backslash stays. */
function withoutTrailingSpaces(file: Bytes, start: number, end: number): number {
  let firstSpace = -1;
  for (let at = start; at < end; at++) {
    if (file[at] === SPACE) {
      if (firstSpace < 0) firstSpace = at;
      continue;
    }
    if (file[at] === BACKSLASH && ++at >= end) return end;
    firstSpace = -1;
  }
  return firstSpace < 0 ? end : firstSpace;
}
