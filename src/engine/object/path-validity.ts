/**
 * Which names a checkout must refuse before it touches anything: names that escape the working tree, and every spelling
 * of `.git` that some file system would take for the repository itself (CVE-2014-9390, 2018-11233, 2019-1351 to 1354),
 * also on systems where the spelling is harmless, because trees travel. The same verdict as git's, proven by
 * test/git/index.test.ts; the text is all that is looked at, links in leading directories are another check.
 *
 * A million names are checked per checkout of a big repository, so nothing is allocated, and most names are done after
 * one look at each byte.
 */
import type { Bytes } from '../bytes.ts';

/** Which file systems to protect against. */
export interface PathRules {
  /** core.protectNTFS; true by default on every platform since git 2.24.1. */
  readonly ntfs: boolean;
  /** core.protectHFS; true by default on macOS only. */
  readonly hfs: boolean;
  /** This is Windows: names that its API cannot hold or takes for something else are refused. */
  readonly windows: boolean;
}

const SLASH = 0x2f;
const BACKSLASH = 0x5c;
const DOT = 0x2e;
const SPACE = 0x20;
const COLON = 0x3a;
const TILDE = 0x7e;

const HAS_SLASH = 1;
const HAS_BACKSLASH = 2;
const HAS_NUL = 4;
const HAS_WINDOWS_ILLEGAL = 8;

/** What the presence of a byte anywhere in a name means. */
const BYTE_CLASS = new Uint8Array(256);
for (let byte = 1; byte < SPACE; byte++) BYTE_CLASS[byte] = HAS_WINDOWS_ILLEGAL;
for (const character of ':<>"|?*') BYTE_CLASS[character.charCodeAt(0)] = HAS_WINDOWS_ILLEGAL;
BYTE_CLASS[0] = HAS_NUL;
BYTE_CLASS[SLASH] = HAS_SLASH;
BYTE_CLASS[BACKSLASH] = HAS_BACKSLASH;

/** First bytes that a refused component without separators can have, away from Windows: `.`, `git~1`, `~1234567`, and
 * the UTF-8 lead bytes of the characters that HFS+ ignores. */
const SUSPECT_FIRST_BYTE = new Uint8Array(256);
for (const byte of [DOT, 0x67, 0x47, TILDE, 0xe2, 0xef]) SUSPECT_FIRST_BYTE[byte] = 1;

const asciiBytes = (text: string): Uint8Array => Uint8Array.from(text, (character) => character.charCodeAt(0));
const GIT = asciiBytes('git');
const GITMODULES = asciiBytes('gitmodules');
const MODULES = asciiBytes('modules');
/** What NTFS makes of `.gitmodules` where `gitmod~1` to `gitmod~4` are taken: a prefix of this, `~` and digits. */
const GITMODULES_SHORT_HASH = asciiBytes('gi7eba');

/**
 * Why git would refuse the name of one tree entry, or null when the name is fine. `name[start, end)` is normally one
 * component. With '/' in it (a name in a tree may hold one, and a whole path may be given) each component is checked, and
 * a leading, doubled or trailing '/' is an empty one; of a sparse directory in an index leave the trailing '/' out.
 * `isSymlink` is about the entry itself. The reason completes "path … is refused: "; it never contains bytes of the name.
 *
 * A few leading directories are refused only because a symbolic link is below them (`.gitmodules/x`): give the whole path
 * of a link, and of everything else the components as they come.
 */
export function invalidComponent(
  name: Bytes,
  start: number,
  end: number,
  isSymlink: boolean,
  rules: PathRules,
): string | null {
  if (start >= end) return EMPTY;
  let seen = 0;
  for (let i = start; i < end; i++) seen |= BYTE_CLASS[name[i]!]!;
  const separators = HAS_SLASH | HAS_BACKSLASH | HAS_NUL;
  if ((seen & separators) === 0 && !rules.windows && SUSPECT_FIRST_BYTE[name[start]!] === 0) return null;
  if ((seen & HAS_NUL) !== 0) return 'it holds a NUL byte';
  if (rules.windows) {
    // git takes a backslash for a separator here when protectNTFS is off. Our tables know no such directories, so it is
    // refused either way.
    if ((seen & HAS_BACKSLASH) !== 0) return 'Windows takes a backslash for a directory separator';
    if (rules.ntfs && (seen & HAS_WINDOWS_ILLEGAL) !== 0) return 'it has a character that Windows does not allow';
  }
  let from = start;
  for (let i = start; i <= end; i++) {
    if (i < end && name[i] !== SLASH) continue;
    const reason = invalidBetweenSlashes(name, from, i, end, isSymlink, rules);
    if (reason !== null) return reason;
    from = i + 1;
  }
  return null;
}

const EMPTY = 'a component of it is empty';

/** One component `name[start, end)` of a name that goes on to `nameEnd`. */
function invalidBetweenSlashes(
  name: Bytes,
  start: number,
  end: number,
  nameEnd: number,
  isSymlink: boolean,
  rules: PathRules,
): string | null {
  if (start === end) return EMPTY;
  if (name[start] === DOT) {
    const length = end - start;
    if (length === 1) return "a component of it is '.'";
    if (length === 2 && name[start + 1] === DOT) return "a component of it is '..'";
    if (hasPrefixIgnoringCase(name, start + 1, end, GIT)) {
      if (length === 4) return "a component of it is '.git'";
      if (isSymlink && length === 11 && hasPrefixIgnoringCase(name, start + 4, end, MODULES)) {
        return "a symbolic link has the component '.gitmodules'";
      }
    }
  }
  if (rules.ntfs) {
    const reason = ntfsReason(name, start, end, nameEnd, isSymlink);
    if (reason !== null) return reason;
  }
  if (rules.hfs) {
    if (isHfsDot(name, start, end, GIT)) return "HFS+ takes a component of it for '.git'";
    if (isSymlink && isHfsDot(name, start, end, GITMODULES)) {
      return "HFS+ takes a component of a symbolic link for '.gitmodules'";
    }
  }
  return rules.windows ? windowsReason(name, start, end, rules) : null;
}

/** The byte as lower-case ASCII; other bytes are returned as they are. */
function lower(byte: number): number {
  return byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte;
}

/** Whether `name[at, end)` starts with `prefix`, which is lower-case ASCII. */
function hasPrefixIgnoringCase(name: Bytes, at: number, end: number, prefix: Uint8Array): boolean {
  if (end - at < prefix.length) return false;
  for (let i = 0; i < prefix.length; i++) if (lower(name[at + i]!) !== prefix[i]) return false;
  return true;
}

// ---- NTFS ----

/** Backslashes start a new component here, except as the first byte of one, where git does not look. */
function ntfsReason(name: Bytes, start: number, end: number, nameEnd: number, isSymlink: boolean): string | null {
  for (let at = start; at < end; at++) {
    if (at === start || name[at] === BACKSLASH) {
      const from = at === start ? start : at + 1;
      if (isNtfsDotGit(name, from, nameEnd)) return "NTFS takes a component of it for '.git'";
      if (isSymlink && isNtfsDotGitmodules(name, from, nameEnd)) {
        return "NTFS takes a component of a symbolic link for '.gitmodules'";
      }
    }
  }
  return null;
}

/** `.git` or `git~1`, then dots and spaces, then the end, a separator or the colon of a stream. */
function isNtfsDotGit(name: Bytes, start: number, end: number): boolean {
  let at = start;
  if (at >= end) return false;
  if (name[at] === DOT) {
    if (!hasPrefixIgnoringCase(name, at + 1, end, GIT)) return false;
    at += 4;
  } else {
    if (!hasPrefixIgnoringCase(name, at, end, GIT)) return false;
    if (at + 4 >= end || name[at + 3] !== TILDE || name[at + 4] !== 0x31) return false;
    at += 5;
  }
  for (; at < end; at++) {
    const byte = name[at];
    if (byte === BACKSLASH || byte === SLASH || byte === COLON) return true;
    if (byte !== DOT && byte !== SPACE) return false;
  }
  return true;
}

/** `.gitmodules`, `gitmod~1` to `~4`, or the hashed short name; then dots and spaces, then the end or a colon. */
function isNtfsDotGitmodules(name: Bytes, start: number, end: number): boolean {
  if (start >= end) return false;
  if (name[start] === DOT && hasPrefixIgnoringCase(name, start + 1, end, GITMODULES)) {
    return endsAfterDotsAndSpaces(name, start + 1 + GITMODULES.length, end);
  }
  if (end - start < 8) return false;
  const digit = name[start + 7]!;
  if (
    hasPrefixIgnoringCase(name, start, end, GITMODULES.subarray(0, 6)) &&
    name[start + 6] === TILDE &&
    digit >= 0x31 &&
    digit <= 0x34
  ) {
    return endsAfterDotsAndSpaces(name, start + 8, end);
  }
  // The hashed form is always 8 bytes: 0 to 6 of the prefix, a tilde, a number that does not start with 0.
  let prefix = 0;
  while (prefix < 6 && lower(name[start + prefix]!) === GITMODULES_SHORT_HASH[prefix]) prefix++;
  if (name[start + prefix] !== TILDE) return false;
  for (let i = prefix + 1; i < 8; i++) {
    const byte = name[start + i]!;
    if (byte > 0x39 || byte < (i === prefix + 1 ? 0x31 : 0x30)) return false;
  }
  return endsAfterDotsAndSpaces(name, start + 8, end);
}

function endsAfterDotsAndSpaces(name: Bytes, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const byte = name[at];
    if (byte === COLON) return true;
    if (byte !== DOT && byte !== SPACE) return false;
  }
  return true;
}

// ---- HFS+ ----

/** Position after the character that `nextHfsCharacter` read; a variable instead of a second result. */
let hfsPosition = 0;

/**
 * The next character that HFS+ does not ignore, from `at`; sets `hfsPosition`. 0 at the end, and for malformed UTF-8:
 * HFS+ would store that as something else, which git treats as the end of the name.
 */
function nextHfsCharacter(name: Bytes, at: number, end: number): number {
  let position = at;
  while (position < end) {
    const first = name[position]!;
    if (first < 0x80) {
      hfsPosition = position + 1;
      return first;
    }
    const length = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
    if (length === 0 || position + length > end) break;
    let code = first & (0x7f >> length);
    let wellFormed = true;
    for (let i = 1; i < length; i++) {
      const byte = name[position + i]!;
      if ((byte & 0xc0) !== 0x80) wellFormed = false;
      code = (code << 6) | (byte & 0x3f);
    }
    if (!wellFormed) break;
    const overlong = code < (length === 2 ? 0x80 : length === 3 ? 0x800 : 0x10000);
    if (overlong || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) || code === 0xfffe || code === 0xffff) break;
    position += length;
    if (isIgnoredByHfs(code)) continue;
    hfsPosition = position;
    return code;
  }
  hfsPosition = end;
  return 0;
}

/** Zero-width and direction characters; U+FEFF is the byte order mark. */
function isIgnoredByHfs(code: number): boolean {
  return (
    (code >= 0x200c && code <= 0x200f) ||
    (code >= 0x202a && code <= 0x202e) ||
    (code >= 0x206a && code <= 0x206f) ||
    code === 0xfeff
  );
}

/** Whether HFS+ takes the component for '.' and `needle`. */
function isHfsDot(name: Bytes, start: number, end: number, needle: Uint8Array): boolean {
  if (nextHfsCharacter(name, start, end) !== DOT) return false;
  for (const expected of needle) {
    if (lower(nextHfsCharacter(name, hfsPosition, end)) !== expected) return false;
  }
  return nextHfsCharacter(name, hfsPosition, end) === 0;
}

// ---- Windows ----

const AUX = asciiBytes('aux');
const PRN = asciiBytes('prn');
const NUL = asciiBytes('nul');
const CON = asciiBytes('con');
const COM = asciiBytes('com');
const LPT = asciiBytes('lpt');
const IN = asciiBytes('in$');
const OUT = asciiBytes('out$');

/** Illegal characters and backslashes have been looked for already. */
function windowsReason(name: Bytes, start: number, end: number, rules: PathRules): string | null {
  // git refuses a drive only at the start of the path. A component does not know where it stands, and "dir/c:x" can do
  // no better on Windows than name a stream, so it is refused everywhere.
  if (hasDrivePrefix(name, start, end)) return 'it starts like a Windows drive';
  if (!rules.ntfs) return null;
  const last = name[end - 1];
  if (last === SPACE || last === DOT) return 'Windows drops a space or dot at the end of a name';
  return isWindowsDevice(name, start, end) ? 'Windows takes it for a device' : null;
}

/** One character and a colon; `subst` makes a drive of any character, also of one of several bytes. */
function hasDrivePrefix(name: Bytes, start: number, end: number): boolean {
  let at = start + 1;
  if (name[start]! >= 0x80) while (at < start + 4 && at < end && name[at]! >= 0x80) at++;
  return at < end && name[at] === COLON;
}

/** AUX, PRN, NUL, CON, CONIN$, CONOUT$, COM1 to COM9, LPT0 to LPT9; an extension, a stream or spaces do not matter. */
function isWindowsDevice(name: Bytes, start: number, end: number): boolean {
  if (end - start < 3) return false;
  let at: number;
  if (
    hasPrefixIgnoringCase(name, start, end, AUX) ||
    hasPrefixIgnoringCase(name, start, end, PRN) ||
    hasPrefixIgnoringCase(name, start, end, NUL)
  ) {
    at = start + 3;
  } else if (hasPrefixIgnoringCase(name, start, end, CON)) {
    at = start + 3;
    if (hasPrefixIgnoringCase(name, at, end, IN)) at += IN.length;
    else if (hasPrefixIgnoringCase(name, at, end, OUT)) at += OUT.length;
  } else if (hasPrefixIgnoringCase(name, start, end, COM) || hasPrefixIgnoringCase(name, start, end, LPT)) {
    const digit = start + 3 < end ? name[start + 3]! : 0;
    if (digit > 0x39 || digit < (lower(name[start]!) === 0x63 ? 0x31 : 0x30)) return false;
    at = start + 4;
  } else {
    return false;
  }
  while (at < end && name[at] === SPACE) at++;
  return at >= end || name[at] === DOT || name[at] === COLON;
}
