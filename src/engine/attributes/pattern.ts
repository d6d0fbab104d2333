/**
 * One pattern of a gitattributes file, made ready for matching. Nearly all patterns in use are `*`, `*.ext`, a name or a
 * path without wildcards; these are compared directly, and only the rest goes through the general matcher.
 */
import type { Bytes } from '../bytes.ts';
import { compileGlob, foldByte, matchGlob } from './wildmatch.ts';
import type { Glob } from './wildmatch.ts';

/** Matches every path. */
const EVERY = 0;
/** The base name is `literal`. */
const NAME = 1;
/** The base name ends in `literal`. */
const SUFFIX = 2;
/** The base name matches `glob`. */
const NAME_GLOB = 3;
/** The path below the file's directory is `literal`. */
const PATH = 4;
/** The path below the file's directory matches `glob`. */
const PATH_GLOB = 5;

export interface Pattern {
  readonly kind: typeof EVERY | typeof NAME | typeof SUFFIX | typeof NAME_GLOB | typeof PATH | typeof PATH_GLOB;
  /** Folded to lower case where case does not count. */
  readonly literal: Bytes;
  readonly glob: Glob | null;
  readonly fold: boolean;
  /** The last byte of any path that can match (folded), or -1 when it may be any. */
  readonly lastByte: number;
}

const SLASH = 0x2f;
const ASTERISK = 0x2a;
const EMPTY = new Uint8Array(0);

/**
 * Prepares a pattern of an AttributeRule. `fold` is core.ignoreCase. Null when it can match no path.
 */
export function compilePattern(written: Bytes, fold: boolean): Pattern | null {
  const hasSlash = written.includes(SLASH);
  // A leading slash binds the pattern to the file's directory, as any slash does, and is not part of what is matched.
  const pattern = written[0] === SLASH ? written.subarray(1) : written;
  const wildcard = firstWildcard(pattern);
  if (wildcard === pattern.length) {
    const literal = foldAll(pattern, fold);
    return { kind: hasSlash ? PATH : NAME, literal, glob: null, fold, lastByte: lastOf(literal) };
  }
  if (!hasSlash && pattern[0] === ASTERISK && firstWildcard(pattern.subarray(1)) === pattern.length - 1) {
    const literal = foldAll(pattern.subarray(1), fold);
    return { kind: literal.length === 0 ? EVERY : SUFFIX, literal, glob: null, fold, lastByte: lastOf(literal) };
  }
  const glob = compileGlob(pattern, hasSlash, fold, wildcard);
  if (glob === null) return null;
  const last = glob.ops[glob.ops.length - 1]!;
  return { kind: hasSlash ? PATH_GLOB : NAME_GLOB, literal: EMPTY, glob, fold, lastByte: last < 256 ? last : -1 };
}

/**
 * Whether `pattern` matches the path `path[start, end)`. `base` is where the part below the pattern's directory starts,
 * `name` where the base name starts.
 */
export function matchPattern(pattern: Pattern, path: Bytes, base: number, name: number, end: number): boolean {
  switch (pattern.kind) {
    case EVERY:
      return true;
    case NAME:
      return end - name === pattern.literal.length && endsWith(path, end, pattern.literal, pattern.fold);
    case SUFFIX:
      return end - name >= pattern.literal.length && endsWith(path, end, pattern.literal, pattern.fold);
    case PATH:
      return end - base === pattern.literal.length && endsWith(path, end, pattern.literal, pattern.fold);
    case NAME_GLOB:
      return matchGlob(pattern.glob!, path, name, end);
    case PATH_GLOB:
      return matchGlob(pattern.glob!, path, base, end);
  }
}

function endsWith(path: Bytes, end: number, literal: Bytes, fold: boolean): boolean {
  let at = end;
  for (let i = literal.length - 1; i >= 0; i--) {
    const byte = path[--at]!;
    if (byte !== literal[i] && (!fold || foldByte(byte) !== literal[i])) return false;
  }
  return true;
}

function firstWildcard(pattern: Bytes): number {
  for (let i = 0; i < pattern.length; i++) {
    const byte = pattern[i];
    if (byte === ASTERISK || byte === 0x3f || byte === 0x5b || byte === 0x5c) return i;
  }
  return pattern.length;
}

function foldAll(bytes: Bytes, fold: boolean): Bytes {
  return fold ? bytes.map(foldByte) : bytes;
}

function lastOf(bytes: Bytes): number {
  return bytes.length === 0 ? -1 : bytes[bytes.length - 1]!;
}
