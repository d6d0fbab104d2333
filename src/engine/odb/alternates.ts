/**
 * Object directories: a repository's own and those that it borrows from (gitrepository-layout, objects/info/alternates).
 */
import { readFileSync, realpathSync, statSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { errnoOf, ioError } from '../errors.ts';

/** git follows alternates of alternates this deep. */
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

/** Undoes git's C-style quoting of a whole line; null when it is not well-formed. */
export function unquoteC(line: string): string | null {
  if (!line.startsWith('"')) return null;
  const source = Buffer.from(line, 'utf8');
  const out: number[] = [];
  for (let i = 1; i < source.length; i++) {
    const byte = source[i] ?? 0;
    if (byte === 0x22) return i === source.length - 1 ? Buffer.from(out).toString('utf8') : null;
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
 * Lists the object directories in look-up order: the repository's own, those of GIT_ALTERNATE_OBJECT_DIRECTORIES, and
 * the alternates of each, depth first. Missing ones are left out and told to `warn`, as git does.
 * @param environmentList value of GIT_ALTERNATE_OBJECT_DIRECTORIES, or ''
 */
export function objectDirectories(
  ownDirectory: string,
  environmentList: string,
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
    if (depth >= MAX_DEPTH) {
      if (readAlternates(directory).length > 0) warn(`alternates of '${directory}' are nested too deep and ignored`);
      return;
    }
    for (const line of readAlternates(directory)) {
      add(isAbsolute(line) ? line : resolve(directory, line), depth + 1, false);
    }
  };
  add(ownDirectory, 0, true);
  for (const entry of splitEnvironmentList(environmentList)) add(entry, 1, false);
  return found;
}

function splitEnvironmentList(list: string): string[] {
  const separator = process.platform === 'win32' ? ';' : ':';
  return list.split(separator).filter((entry) => entry !== '');
}

function readAlternates(directory: string): string[] {
  const path = join(directory, 'info', 'alternates');
  let text: string;
  try {
    const bytes = readFileSync(path);
    if (bytes.length > MAX_FILE_BYTES) return [];
    text = bytes.toString('utf8');
  } catch (error) {
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR') return [];
    throw ioError('read', path, error);
  }
  const lines: string[] = [];
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    lines.push(line.startsWith('"') ? (unquoteC(line) ?? line) : line);
  }
  return lines;
}
