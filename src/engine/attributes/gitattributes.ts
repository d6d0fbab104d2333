/**
 * Reads a gitattributes file (gitattributes(5)): lines of a pattern and attribute states, and macro definitions. Files
 * and blobs are read by slightly different rules in git, and so they are here. A line that git would ignore, with or
 * without a message, is ignored.
 */
import type { Bytes } from '../bytes.ts';

/**
 * State of an attribute: set, unset (`-name`), a value (`name=value`), or null for unspecified (`!name`, which also hides
 * what lower files say).
 */
export type AttributeValue = true | false | string | null;

export interface Assignment {
  readonly name: string;
  readonly value: AttributeValue;
}

export interface AttributeRule {
  /** As written, without quotes, a leading slash kept; never ends in a slash, never negative. */
  readonly pattern: Bytes;
  /** In the order written: the last one for a name wins. */
  readonly assignments: readonly Assignment[];
}

/** What one file says. */
export interface AttributeRules {
  /** In the order written: the last matching one wins. */
  readonly rules: readonly AttributeRule[];
  /** Macros by name; of two definitions the last one is here. */
  readonly macros: ReadonlyMap<string, readonly Assignment[]>;
}

export interface ParseOptions {
  /** True for a blob of the index or a tree, false for a file of the disk. */
  readonly fromBlob: boolean;
  /** Whether `[attr]` lines count: in the root directory's file, info/attributes, and the global and system files. */
  readonly macros: boolean;
}

/** A file of this many bytes or more is ignored as a whole (git's ATTR_MAX_FILE_SIZE). */
export const ATTRIBUTES_FILE_LIMIT = 100 * 1024 * 1024;

/** A line of this many bytes or more is ignored (git's ATTR_MAX_LINE_LENGTH). */
const LINE_LIMIT = 2048;

const MACRO_PREFIX = '[attr]';
const NAME = /^[A-Za-z0-9_.][-A-Za-z0-9_.]*$/;
/** Names that git keeps for itself since 2.44. */
const RESERVED_PREFIX = 'builtin_';

const NUL = 0x00;
const LF = 0x0a;
const CR = 0x0d;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Parses the content of a gitattributes file. Never fails: what git ignores is ignored. The caller leaves out a blob or
 * file of ATTRIBUTES_FILE_LIMIT bytes or more, because git then looks for the attributes elsewhere; here it gives none.
 */
export function parseAttributes(bytes: Bytes, options: ParseOptions): AttributeRules {
  const rules: AttributeRule[] = [];
  const macros = new Map<string, readonly Assignment[]>();
  if (bytes.length >= ATTRIBUTES_FILE_LIMIT) return { rules, macros };

  let end = bytes.length;
  let start = 0;
  if (options.fromBlob) {
    // A blob ends at its first NUL, and a byte order mark is part of the first pattern.
    const nul = bytes.indexOf(NUL);
    if (nul >= 0) end = nul;
  } else if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) {
    start = 3;
  }
  while (start < end) {
    let lineEnd = bytes.indexOf(LF, start);
    let next = lineEnd + 1;
    if (lineEnd < 0 || lineEnd > end) {
      lineEnd = end;
      next = end;
    }
    if (!options.fromBlob) {
      // In a file, CR LF ends a line, and a NUL ends only its own line.
      if (next > lineEnd && lineEnd > start && bytes[lineEnd - 1] === CR) lineEnd--;
      const nul = bytes.subarray(start, lineEnd).indexOf(NUL);
      if (nul >= 0) lineEnd = start + nul;
    }
    if (lineEnd - start < LINE_LIMIT) parseLine(bytes, start, lineEnd, options.macros, rules, macros);
    start = next;
  }
  return { rules, macros };
}

function parseLine(
  bytes: Bytes,
  start: number,
  end: number,
  macrosAllowed: boolean,
  rules: AttributeRule[],
  macros: Map<string, readonly Assignment[]>,
): void {
  let at = skipBlanks(bytes, start, end);
  if (at === end || bytes[at] === 0x23) return;

  const first = at;
  at = skipToBlank(bytes, at, end);
  let pattern: Bytes = bytes.subarray(first, at);
  if (bytes[first] === QUOTE) {
    const quoted = unquote(bytes, first, end);
    if (quoted !== null) {
      pattern = quoted.value;
      at = quoted.next;
    }
  }

  let macro: string | null = null;
  if (pattern.length > MACRO_PREFIX.length && latin1(pattern, 0, MACRO_PREFIX.length) === MACRO_PREFIX) {
    if (!macrosAllowed) return;
    const nameStart = skipBlanks(pattern, MACRO_PREFIX.length, pattern.length);
    macro = latin1(pattern, nameStart, skipToBlank(pattern, nameStart, pattern.length));
    if (!validName(macro)) return;
  }

  const assignments = parseAssignments(bytes, at, end);
  if (assignments === null) return;
  if (macro !== null) {
    macros.set(macro, assignments);
    return;
  }
  const nul = pattern.indexOf(NUL);
  if (nul >= 0) pattern = pattern.subarray(0, nul);
  // A negative pattern is an error to git; one for directories matches no file; an empty one matches nothing.
  if (pattern.length === 0 || pattern[0] === 0x21 || pattern[pattern.length - 1] === 0x2f) return;
  // A copy, so that the file's bytes can be let go.
  if (assignments.length > 0) rules.push({ pattern: pattern.slice(), assignments });
}

/** The states in `bytes[at, end)`, or null when a name is invalid, which voids the line. */
function parseAssignments(bytes: Bytes, at: number, end: number): Assignment[] | null {
  const assignments: Assignment[] = [];
  for (at = skipBlanks(bytes, at, end); at < end; at = skipBlanks(bytes, at, end)) {
    const tokenEnd = skipToBlank(bytes, at, end);
    const token = bytes.subarray(at, tokenEnd);
    at = tokenEnd;
    const sign = token[0];
    const signed = sign === 0x2d || sign === 0x21;
    const equals = token.indexOf(0x3d);
    const name = latin1(token, signed ? 1 : 0, equals < 0 ? token.length : equals);
    if (!validName(name)) return null;
    let value: AttributeValue = true;
    if (signed) value = sign === 0x2d ? false : null;
    else if (equals >= 0) value = Buffer.from(token.subarray(equals + 1)).toString('utf8');
    assignments.push({ name, value });
  }
  return assignments;
}

function validName(name: string): boolean {
  return NAME.test(name) && !name.startsWith(RESERVED_PREFIX);
}

function latin1(bytes: Bytes, start: number, end: number): string {
  return start < end ? Buffer.from(bytes.subarray(start, end)).toString('latin1') : '';
}

function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09 || byte === CR || byte === LF || byte === NUL;
}

function skipBlanks(bytes: Bytes, at: number, end: number): number {
  while (at < end && isBlank(bytes[at]) && bytes[at] !== NUL) at++;
  return at;
}

function skipToBlank(bytes: Bytes, at: number, end: number): number {
  while (at < end && !isBlank(bytes[at])) at++;
  return at;
}

const ESCAPES: ReadonlyMap<number, number> = new Map([
  [0x61, 0x07],
  [0x62, 0x08],
  [0x66, 0x0c],
  [0x6e, 0x0a],
  [0x72, 0x0d],
  [0x74, 0x09],
  [0x76, 0x0b],
  [BACKSLASH, BACKSLASH],
  [QUOTE, QUOTE],
]);

/**
 * The C-style quoted string that starts at `start`, and where it ends. Null when it is not well formed: then the quote is
 * an ordinary byte of the pattern.
 */
function unquote(bytes: Bytes, start: number, end: number): { value: Bytes; next: number } | null {
  const value = new Uint8Array(end - start);
  let length = 0;
  for (let at = start + 1; at < end; at++) {
    const byte = bytes[at]!;
    if (byte === QUOTE) return { value: value.subarray(0, length), next: at + 1 };
    if (byte !== BACKSLASH) {
      value[length++] = byte;
      continue;
    }
    const code = at + 1 < end ? bytes[++at]! : -1;
    const escape = ESCAPES.get(code);
    if (escape !== undefined) {
      value[length++] = escape;
      continue;
    }
    const second = at + 1 < end ? bytes[++at]! : -1;
    const third = at + 1 < end ? bytes[++at]! : -1;
    if (code < 0x30 || code > 0x33 || !isOctal(second) || !isOctal(third)) return null;
    value[length++] = ((code - 0x30) << 6) | ((second - 0x30) << 3) | (third - 0x30);
  }
  return null;
}

function isOctal(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x37;
}
