/**
 * Edits one git configuration file as text, without a git process. The step writes a dozen keys and the clean-up removes
 * them again; a `git config` call for each is most of what a small checkout would cost (3 ms on Linux, 30 and more on
 * Windows), and the clean-up must also work where git is gone.
 *
 * Everything that is not asked for stays byte for byte: comments, order, blank lines. Text is held as latin1, so that
 * bytes that are not UTF-8 survive. Syntax: git-config(1), "Syntax".
 */
import {
  chmodSync,
  closeSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { CheckoutError, errnoOf, ioError } from '../engine/errors.ts';

/** A variable as it stands in the file. Section and name are in lower case, as git compares them. */
export interface ConfigVariable {
  readonly section: string;
  /** Null for `[section]`; case counts. */
  readonly subsection: string | null;
  readonly name: string;
  /** Decoded; null for a variable without `=`, which git reads as true. */
  readonly value: string | null;
}

/** A section with its variables, to be added to a file. */
export interface ConfigSection {
  readonly section: string;
  readonly subsection: string | null;
  readonly variables: readonly (readonly [name: string, value: string])[];
}

interface PlacedVariable extends ConfigVariable {
  readonly start: number;
  readonly end: number;
}

/** One header and what follows it up to the next. */
interface Block {
  readonly section: string;
  readonly subsection: string | null;
  readonly start: number;
  end: number;
  readonly variables: PlacedVariable[];
  hasComment: boolean;
}

const BOM = '\xef\xbb\xbf';

function fromLatin1(text: string): string {
  return Buffer.from(text, 'latin1').toString('utf8');
}

function toLatin1(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}

/** Where the line of `at` starts if nothing but blanks stands before `at` on it, else `at`. */
function lineStartOr(text: string, at: number): number {
  let start = at;
  while (start > 0 && (text[start - 1] === ' ' || text[start - 1] === '\t')) start--;
  return start === 0 || text[start - 1] === '\n' ? start : at;
}

function parseBlocks(text: string): Block[] {
  const blocks: Block[] = [];
  let block: Block | undefined;
  let at = text.startsWith(BOM) ? BOM.length : 0;

  const invalid = (): CheckoutError => {
    const line = text.slice(0, at).split('\n').length;
    return new CheckoutError('config-invalid', `git configuration cannot be read: bad line ${line}`);
  };
  const skipComment = (): void => {
    while (at < text.length && text[at] !== '\n') at++;
  };

  const header = (): void => {
    const start = lineStartOr(text, at);
    const match = /\[([A-Za-z0-9.-]+)(?:[ \t]+"((?:[^"\\\n]|\\[^\n])*)")?\]/y;
    match.lastIndex = at;
    const found = match.exec(text);
    if (found === null) throw invalid();
    at = match.lastIndex;
    const name = found[1]!.toLowerCase();
    const quoted = found[2];
    const dot = name.indexOf('.');
    // `[section.sub]` is the old spelling; its subsection is in lower case.
    const section = quoted === undefined && dot >= 0 ? name.slice(0, dot) : name;
    const old = quoted === undefined && dot >= 0 ? name.slice(dot + 1) : null;
    const subsection = quoted === undefined ? old : fromLatin1(quoted.replace(/\\(.)/g, '$1'));
    if (block !== undefined) block.end = start;
    block = { section, subsection, start, end: text.length, variables: [], hasComment: false };
    blocks.push(block);
  };

  const value = (): string => {
    let decoded = '';
    let keep = 0; // blanks at the end that are not quoted do not belong to the value
    let quoted = false;
    while (at < text.length) {
      const character = text[at]!;
      if (character === '\n') {
        if (quoted) throw invalid();
        break;
      }
      if (character === '\r' && text[at + 1] === '\n') {
        at++;
        continue;
      }
      if (!quoted && (character === '#' || character === ';')) {
        skipComment();
        break;
      }
      at++;
      if (character === '"') {
        quoted = !quoted;
        keep = decoded.length;
      } else if (character === '\\') {
        const escaped = text[at];
        at++;
        if (escaped === '\n') continue;
        if (escaped === '\r' && text[at] === '\n') {
          at++;
          continue;
        }
        const plain = { n: '\n', t: '\t', b: '\b', '\\': '\\', '"': '"' }[escaped ?? ''];
        if (plain === undefined) throw invalid();
        decoded += plain;
        keep = decoded.length;
      } else {
        decoded += character;
        if (quoted || (character !== ' ' && character !== '\t')) keep = decoded.length;
      }
    }
    if (quoted) throw invalid();
    return fromLatin1(decoded.slice(0, keep));
  };

  const variable = (): void => {
    if (block === undefined) throw invalid();
    const start = lineStartOr(text, at);
    const match = /[A-Za-z][A-Za-z0-9-]*/y;
    match.lastIndex = at;
    const found = match.exec(text);
    if (found === null) throw invalid();
    at = match.lastIndex;
    while (text[at] === ' ' || text[at] === '\t' || text[at] === '\r') at++;
    let decoded: string | null = null;
    if (text[at] === '=') {
      at++;
      while (text[at] === ' ' || text[at] === '\t') at++;
      decoded = value();
    } else if (text[at] === '#' || text[at] === ';') {
      skipComment();
    } else if (at < text.length && text[at] !== '\n') {
      throw invalid();
    }
    const ownLine = start === 0 || text[start - 1] === '\n';
    const end = ownLine && text[at] === '\n' ? at + 1 : at;
    const { section, subsection } = block;
    block.variables.push({ section, subsection, name: found[0].toLowerCase(), value: decoded, start, end });
  };

  while (at < text.length) {
    const character = text[at]!;
    if (character === ' ' || character === '\t' || character === '\r' || character === '\n') at++;
    else if (character === '#' || character === ';') {
      if (block !== undefined) block.hasComment = true;
      skipComment();
    } else if (character === '[') header();
    else variable();
  }
  return blocks;
}

/** The variables of a configuration file's text, in its order. Throws `config-invalid`. */
export function configVariables(text: string): ConfigVariable[] {
  return parseBlocks(text).flatMap((block) => block.variables);
}

/** All values of `section[.subsection].name` (section and name in lower case), in the file's order. */
export function configValues(
  text: string,
  section: string,
  subsection: string | null,
  name: string,
): (string | null)[] {
  return configVariables(text)
    .filter((entry) => entry.section === section && entry.subsection === subsection && entry.name === name)
    .map((entry) => entry.value);
}

/** The text without the variables that `match` names; a section that is emptied by this goes too. */
export function removeVariables(text: string, match: (variable: ConfigVariable) => boolean): string {
  const cuts: [start: number, end: number][] = [];
  for (const block of parseBlocks(text)) {
    const matched = block.variables.filter(match);
    if (matched.length === 0) continue;
    if (matched.length === block.variables.length && !block.hasComment) cuts.push([block.start, block.end]);
    else for (const entry of matched) cuts.push([entry.start, entry.end]);
  }
  return cut(text, cuts);
}

/** The text without the sections that `match` names. */
export function removeSections(text: string, match: (section: string, subsection: string | null) => boolean): string {
  const matched = parseBlocks(text).filter((block) => match(block.section, block.subsection));
  return cut(
    text,
    matched.map((block) => [block.start, block.end]),
  );
}

function cut(text: string, cuts: readonly (readonly [number, number])[]): string {
  let result = '';
  let from = 0;
  for (const [start, end] of cuts) {
    result += text.slice(from, start);
    from = end;
  }
  return result + text.slice(from);
}

function quote(value: string): string {
  const escapes: Record<string, string> = { '\\': '\\\\', '"': '\\"', '\n': '\\n', '\t': '\\t', '\b': '\\b' };
  const escaped = toLatin1(value).replace(/[\\"\n\t\b]/g, (character) => escapes[character]!);
  // Quotes keep blanks at the ends and comment characters.
  return /^[^\s#;"]*$/.test(escaped) ? escaped : `"${escaped}"`;
}

/** A section as text. A value is written so that git reads back the same; a NUL or a newline in a subsection cannot be. */
export function formatSection(section: ConfigSection): string {
  const { subsection } = section;
  if (subsection !== null && /[\n\0]/.test(subsection)) {
    throw new CheckoutError('config-invalid', 'a name with a line break cannot be written to a git configuration');
  }
  const name = subsection === null ? '' : ` "${toLatin1(subsection).replace(/["\\]/g, '\\$&')}"`;
  const lines = section.variables.map(([key, value]) => `\t${key} = ${quote(value)}\n`);
  return `[${section.section}${name}]\n${lines.join('')}`;
}

/** The text with sections added at its end. */
export function appendSections(text: string, sections: readonly ConfigSection[]): string {
  const gap = text === '' || text.endsWith('\n') ? '' : '\n';
  return text + gap + sections.map(formatSection).join('');
}

/** The file's text, or null where there is no such file. */
export function readConfigFile(path: string): string | null {
  try {
    return readFileSync(path, 'latin1');
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'ENOENT' || errno === 'ENOTDIR') return null;
    throw ioError('read', path, error);
  }
}

/**
 * Replaces the file's text as git does: through `<file>.lock`, so that a git process at work on it is not overrun. Does
 * nothing if the file is missing or `edit` changes nothing. Throws `config-invalid` (with the path) and `io`.
 */
export function editConfigFile(path: string, edit: (text: string) => string): void {
  const before = readConfigFile(path);
  if (before === null) return;
  let after: string;
  try {
    after = edit(before);
  } catch (error) {
    if (!(error instanceof CheckoutError)) throw error;
    throw new CheckoutError(error.code, `${error.message} in '${path}'`, { path }, error);
  }
  if (after === before) return;
  let lock = `${path}.lock`;
  try {
    const target = realpathSync(path);
    lock = `${target}.lock`;
    const mode = statSync(target).mode & 0o777;
    const descriptor = openSync(lock, 'wx', mode);
    try {
      const bytes = Buffer.from(after, 'latin1');
      for (let written = 0; written < bytes.length;) written += writeSync(descriptor, bytes, written);
    } catch (error) {
      rmSync(lock, { force: true });
      throw error;
    } finally {
      closeSync(descriptor);
    }
    chmodSync(lock, mode); // openSync applied the umask
    renameSync(lock, target);
  } catch (error) {
    throw ioError('write', errnoOf(error) === 'EEXIST' ? lock : path, error);
  }
}
