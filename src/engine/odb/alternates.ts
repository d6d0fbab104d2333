/**
 * Object directories: a repository's own and those that it borrows from (gitrepository-layout, objects/info/alternates).
 */
import { readFileSync, realpathSync, statSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { errnoOf, ioError } from '../errors.ts';

/** git reads the alternates of alternates this deep: of the repository itself (0) and of five borrowed directories in a row. */
const MAX_DEPTH = 5;
/** An alternates file is a list of paths; one larger than this is not one. */
const MAX_FILE_BYTES = 1 << 20;

const ESCAPES: Readonly<Record<string, number>> = {
  a: 7,
  b: 8,
  t: 9,
  n: 10,
  v: 11,
  f: 12,
  r: 13,
  '"': 34,
  '\\': 92,
};

/** Undoes git's C-style quoting of what begins at `start`; null when it is not well-formed. `end` is behind the last quote. */
function unquoteC(source: Buffer, start: number): { text: string; end: number } | null {
  const out: number[] = [];
  for (let i = start + 1; i < source.length; i++) {
    const byte = source[i] ?? 0;
    if (byte === 0x22) return { text: Buffer.from(out).toString('utf8'), end: i + 1 };
    if (byte !== 0x5c) {
      out.push(byte);
      continue;
    }
    const next = String.fromCharCode(source[++i] ?? 0);
    const escape = ESCAPES[next];
    if (escape !== undefined) {
      out.push(escape);
    } else if (/[0-3]/.test(next)) {
      const octal = source.subarray(i, i + 3).toString('latin1');
      if (!/^[0-3][0-7]{2}$/.test(octal)) return null;
      out.push(parseInt(octal, 8));
      i += 2;
    } else {
      return null;
    }
  }
  return null;
}

/**
 * Takes a list of directories apart, as git does: comments and empty entries are skipped, and an entry may be quoted.
 * @param separator one character
 */
function parseList(source: Buffer, separator: string): string[] {
  const entries: string[] = [];
  for (let at = 0; at < source.length;) {
    const quoted = source[at] === 0x22 ? unquoteC(source, at) : null;
    let end = quoted?.end ?? source.indexOf(separator, at);
    if (end < 0) end = source.length;
    const entry = quoted?.text ?? source.toString('utf8', at, end);
    if (entry !== '' && source[at] !== 0x23) entries.push(entry);
    at = end + 1;
  }
  return entries;
}

/**
 * Lists the object directories in look-up order: the repository's own, those of GIT_ALTERNATE_OBJECT_DIRECTORIES, and
 * then its alternates; each of these followed by its own alternates. Missing ones are left out and told to `warn`, as git does.
 * @param environmentList value of GIT_ALTERNATE_OBJECT_DIRECTORIES, or ''
 * @param base what relative ones in that list are relative to: git looks from the top of the working tree
 */
export function objectDirectories(
  ownDirectory: string,
  environmentList: string,
  base: string,
  warn: (line: string) => void,
): string[] {
  const found: string[] = [];
  const seen = new Set<string>();
  const add = (directory: string, depth: number, own: boolean): void => {
    let identity: string;
    try {
      identity = realpathSync(directory);
      if (!statSync(identity).isDirectory()) throw new Error('not a directory');
    } catch (error) {
      if (own) throw ioError('open', directory, error);
      warn(`object directory '${directory}' does not exist; check objects/info/alternates`);
      return;
    }
    if (seen.has(identity)) return;
    seen.add(identity);
    found.push(directory);
    if (!own) addAlternates(directory, depth);
  };
  const addAlternates = (directory: string, depth: number): void => {
    const entries = readAlternates(directory);
    if (depth > MAX_DEPTH && entries.length > 0) {
      warn(`alternates of '${directory}' are nested too deep and ignored`);
      return;
    }
    for (const entry of entries) add(isAbsolute(entry) ? entry : resolve(directory, entry), depth + 1, false);
  };
  add(ownDirectory, 0, true);
  const separator = process.platform === 'win32' ? ';' : ':';
  for (const entry of parseList(Buffer.from(environmentList, 'utf8'), separator)) {
    add(isAbsolute(entry) ? entry : resolve(base, entry), 1, false);
  }
  addAlternates(ownDirectory, 0);
  return found;
}

function readAlternates(directory: string): string[] {
  const path = join(directory, 'info', 'alternates');
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR') return [];
    throw ioError('read', path, error);
  }
  return bytes.length > MAX_FILE_BYTES ? [] : parseList(bytes, '\n');
}
