/**
 * git's glob language on bytes (gitattributes(5), gitignore(5) "PATTERN FORMAT"). A pattern is compiled once into a flat
 * program and then matched without allocation. Matching never recurses: it remembers the last single and the last double
 * asterisk only, which is enough (an earlier one can absorb nothing that the later one could not, and a single one never
 * leaves its path component), so a hostile pattern made of many asterisks costs a product of lengths, not a power.
 */
import type { Bytes } from '../bytes.ts';

/** A compiled pattern: see `compileGlob`. */
export interface Glob {
  /** 0..255 a byte; ANY, STAR, GLOBSTAR, GLOBSTAR_SLASH; CLASS + n the n-th class. */
  readonly ops: Int32Array;
  /** For each class 256 bytes, 1 where the byte belongs to it. */
  readonly classes: Uint8Array;
  /** Whether `/` is matched by nothing but itself and `**`. */
  readonly pathMode: boolean;
  /** Whether upper-case ASCII letters of the text count as lower-case. */
  readonly fold: boolean;
}

const ANY = 256;
const STAR = 257;
/** `**` as the last component, or before an escaped slash: any bytes. */
const GLOBSTAR = 258;
/** `**` and its slash: nothing, or any bytes up to and including a slash. */
const GLOBSTAR_SLASH = 259;
const CLASS = 512;

const SLASH = 0x2f;
const BACKSLASH = 0x5c;
const ASTERISK = 0x2a;
const QUESTION = 0x3f;
const OPEN = 0x5b;
const CLOSE = 0x5d;
const DASH = 0x2d;
const COLON = 0x3a;

/** Lower-case form of an ASCII letter, anything else unchanged. */
export function foldByte(byte: number): number {
  return byte >= 0x41 && byte <= 0x5a ? byte + 32 : byte;
}

/**
 * Compiles `pattern`. With `pathMode` wildcards stop at slashes and `**` is special where it is a whole component;
 * without it a pattern is meant for a name that has no slash. `fold` is core.ignoreCase, with git's oddities: an escaped
 * or bracketed upper-case letter matches nothing, while a range such as [A-Z] matches both cases.
 *
 * `literal` bytes at the beginning have no wildcard. git compares them on their own, so that a `**` right behind them stands
 * at the beginning of what is left and counts as a whole component: `a**` with `pathMode` matches a/b.
 *
 * Returns null for a pattern that can match nothing: an unfinished or unknown bracket expression, a backslash at the end.
 */
export function compileGlob(pattern: Bytes, pathMode: boolean, fold: boolean, literal = 0): Glob | null {
  const ops: number[] = [];
  const classes: Uint8Array[] = [];
  const end = pattern.length;
  let at = 0;
  while (at < end) {
    const byte = pattern[at]!;
    if (byte === BACKSLASH) {
      const escaped = pattern[at + 1];
      if (escaped === undefined || (fold && foldByte(escaped) !== escaped)) return null;
      ops.push(escaped);
      at += 2;
    } else if (byte === QUESTION) {
      ops.push(ANY);
      at++;
    } else if (byte === ASTERISK) {
      const first = at;
      while (pattern[at] === ASTERISK) at++;
      const wholeComponent =
        at - first > 1 &&
        (first === 0 || first === literal || pattern[first - 1] === SLASH) &&
        (at === end || pattern[at] === SLASH || (pattern[at] === BACKSLASH && pattern[at + 1] === SLASH));
      if (!pathMode || !wholeComponent) {
        ops.push(STAR);
      } else if (pattern[at] === SLASH) {
        ops.push(GLOBSTAR_SLASH);
        at++;
      } else {
        ops.push(GLOBSTAR);
      }
    } else if (byte === OPEN) {
      const set = new Uint8Array(256);
      at = readClass(pattern, at, fold, set);
      if (at < 0) return null;
      if (pathMode) set[SLASH] = 0;
      ops.push(CLASS + classes.length);
      classes.push(set);
    } else {
      ops.push(fold ? foldByte(byte) : byte);
      at++;
    }
  }
  const flat = new Uint8Array(256 * classes.length);
  classes.forEach((set, index) => flat.set(set, 256 * index));
  return { ops: Int32Array.from(ops), classes: flat, pathMode, fold };
}

/** Whether the whole of `text[start, end)` matches. */
export function matchGlob(glob: Glob, text: Bytes, start: number, end: number): boolean {
  const { ops, classes, pathMode, fold } = glob;
  const length = ops.length;
  let op = 0;
  let at = start;
  // Where to go on when the way taken fails: the program position after the last star and the text position it had.
  let starOp = -1;
  let starAt = 0;
  let globstarOp = -1;
  let globstarAt = 0;
  let globstarSlash = false;
  for (;;) {
    if (op < length) {
      const code = ops[op]!;
      if (code === STAR) {
        starOp = ++op;
        starAt = at;
        continue;
      }
      if (code === GLOBSTAR || code === GLOBSTAR_SLASH) {
        globstarOp = ++op;
        globstarAt = at;
        globstarSlash = code === GLOBSTAR_SLASH;
        if (op === length && !globstarSlash) return true;
        starOp = -1;
        continue;
      }
      if (at < end) {
        let byte = text[at]!;
        if (fold) byte = foldByte(byte);
        const matches =
          code < ANY
            ? code === byte
            : code === ANY
              ? !pathMode || byte !== SLASH
              : classes[(code - CLASS) * 256 + byte] === 1;
        if (matches) {
          op++;
          at++;
          continue;
        }
      }
    } else if (at === end) {
      return true;
    }
    if (starOp >= 0 && starAt < end && (!pathMode || text[starAt] !== SLASH)) {
      op = starOp;
      at = ++starAt;
    } else if (globstarOp >= 0 && globstarAt < end) {
      starOp = -1;
      if (globstarSlash) {
        while (globstarAt < end && text[globstarAt] !== SLASH) globstarAt++;
        if (globstarAt === end) return false;
      }
      op = globstarOp;
      at = ++globstarAt;
    } else {
      return false;
    }
  }
}

/**
 * Reads the bracket expression that starts at `open` into `set`. Returns the position after it, or -1 when it is
 * malformed. A range needs a plain start: after a range or a [:class:] a dash is a dash.
 */
function readClass(pattern: Bytes, open: number, fold: boolean, set: Uint8Array): number {
  let at = open + 1;
  const negated = pattern[at] === 0x21 || pattern[at] === 0x5e;
  if (negated) at++;
  let previous = 0;
  // The first byte belongs to the class even when it is the closing bracket.
  do {
    let byte = pattern[at];
    if (byte === undefined) return -1;
    const next = pattern[at + 1];
    if (byte === BACKSLASH) {
      if (next === undefined) return -1;
      set[next] = 1;
      at++;
      byte = next;
    } else if (byte === DASH && previous !== 0 && next !== undefined && next !== CLOSE) {
      at++;
      byte = next;
      if (byte === BACKSLASH) {
        const escaped = pattern[++at];
        if (escaped === undefined) return -1;
        byte = escaped;
      }
      addRange(set, previous, byte, fold);
      byte = 0;
    } else if (byte === OPEN && next === COLON) {
      const close = pattern.indexOf(CLOSE, at + 2);
      if (close < 0) return -1;
      if (close === at + 2 || pattern[close - 1] !== COLON) {
        set[OPEN] = 1;
      } else {
        if (!addNamed(set, Buffer.from(pattern.subarray(at + 2, close - 1)).toString('latin1'), fold)) return -1;
        at = close;
        byte = 0;
      }
    } else {
      set[byte] = 1;
    }
    previous = byte;
    at++;
  } while (pattern[at] !== CLOSE);

  // The text is folded before it is looked up, so its upper-case letters never get here; what the class says of them
  // is void.
  if (negated) for (let byte = 0; byte < 256; byte++) set[byte] = set[byte] === 1 ? 0 : 1;
  return at + 1;
}

function addRange(set: Uint8Array, first: number, last: number, fold: boolean): void {
  for (let byte = first; byte <= last; byte++) set[byte] = 1;
  if (!fold) return;
  for (let byte = 0x61; byte <= 0x7a; byte++) if (byte - 32 >= first && byte - 32 <= last) set[byte] = 1;
}

type Test = (byte: number) => boolean;

const isUpper: Test = (byte) => byte >= 0x41 && byte <= 0x5a;
const isLower: Test = (byte) => byte >= 0x61 && byte <= 0x7a;
const isDigit: Test = (byte) => byte >= 0x30 && byte <= 0x39;
const isAlpha: Test = (byte) => isUpper(byte) || isLower(byte);
const isAlnum: Test = (byte) => isAlpha(byte) || isDigit(byte);
const isPrint: Test = (byte) => byte >= 0x20 && byte <= 0x7e;

/** POSIX classes as git has them: ASCII whatever the locale, and `space` without vertical tab and form feed. */
const NAMED: ReadonlyMap<string, Test> = new Map<string, Test>([
  ['alnum', isAlnum],
  ['alpha', isAlpha],
  ['blank', (byte) => byte === 0x20 || byte === 0x09],
  ['cntrl', (byte) => byte < 0x20 || byte === 0x7f],
  ['digit', isDigit],
  ['graph', (byte) => isPrint(byte) && byte !== 0x20],
  ['lower', isLower],
  ['print', isPrint],
  ['punct', (byte) => isPrint(byte) && byte !== 0x20 && !isAlnum(byte)],
  ['space', (byte) => byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d],
  ['upper', isUpper],
  ['xdigit', (byte) => isDigit(byte) || (foldByte(byte) >= 0x61 && foldByte(byte) <= 0x66)],
]);

function addNamed(set: Uint8Array, name: string, fold: boolean): boolean {
  const test = NAMED.get(name);
  if (test === undefined) return false;
  for (let byte = 0; byte < 256; byte++) {
    if (test(byte) || (fold && name === 'upper' && isLower(byte))) set[byte] = 1;
  }
  return true;
}
