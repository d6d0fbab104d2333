/**
 * Reads the values of our own settings from text. The action and the command line program share them, so `workers: 4` and
 * `--workers 4` mean the same and are refused for the same reasons. Each parser is told the display name of the option
 * (`--workers`, or the input `workers`), which the message carries.
 */
import { displayBytes } from './bytes.ts';
import { CheckoutError } from './errors.ts';
import type { EngineChoice, FetchLimits, SparseSetting, TransportChoice } from './settings.ts';

/** A worker is a thread of about 10 MB; more than this many is a typing error, not a wish. */
export const MAX_WORKERS = 1024;

/** More at once is what servers answer with 429 to; actions/checkout fetches one at a time. */
export const MAX_SUBMODULE_JOBS = 8;

/** Below this the scratch buffers of one worker and the pack windows do not fit. */
export const MIN_MEMORY_LIMIT_BYTES = 16_000_000;

const ENGINES: readonly EngineChoice[] = ['auto', 'native', 'git'];
const TRANSPORTS: readonly TransportChoice[] = ['auto', 'stream', 'git'];

/** Letters alone are powers of 1024, as in git and Docker; `kB` is decimal and `KiB` binary, as in IEC 80000-13. */
const SIZE_UNITS: ReadonlyMap<string, number> = new Map([
  ['', 1],
  ['b', 1],
  ['k', 2 ** 10],
  ['kb', 1e3],
  ['kib', 2 ** 10],
  ['m', 2 ** 20],
  ['mb', 1e6],
  ['mib', 2 ** 20],
  ['g', 2 ** 30],
  ['gb', 1e9],
  ['gib', 2 ** 30],
  ['t', 2 ** 40],
  ['tb', 1e12],
  ['tib', 2 ** 40],
]);

/** How much of a refused value a message repeats. */
const SHOWN_CHARACTERS = 60;

/** `auto`, or a whole number of worker threads from 0 to {@link MAX_WORKERS}. Throws `usage` naming `option`. */
export function parseWorkers(text: string, option: string): number | 'auto' {
  const value = text.trim();
  if (value === 'auto') return 'auto';
  return parseWholeNumber(value, option, 0, MAX_WORKERS, "'auto' or ");
}

/**
 * `auto`, or a size as {@link parseByteSize} reads it, at least {@link MIN_MEMORY_LIMIT_BYTES}. In bytes. Throws `usage`
 * naming `option`.
 */
export function parseMemoryLimit(text: string, option: string): number | 'auto' {
  const value = text.trim();
  if (value === 'auto') return 'auto';
  const bytes = parseByteSize(value, option, "'auto' or ");
  if (bytes < MIN_MEMORY_LIMIT_BYTES) {
    throw new CheckoutError('usage', `${option}: at least 16MB are needed, not '${shown(text)}'`, { option });
  }
  return bytes;
}

/** More retries than this are a slip. */
const MAX_RETRIES = 100;

/** A week: more than any job may take. */
const MAX_SECONDS = 604_800;

/** The texts of the three settings about a server that fails; undefined for those that are not given. */
export interface FetchLimitTexts {
  readonly 'fetch-retries': string | undefined;
  /** In seconds, as the next. */
  readonly 'fetch-stall-timeout': string | undefined;
  readonly 'fetch-timeout': string | undefined;
}

/** Whole numbers. What is not given is left to the engine's default. Throws `usage` naming the option, with `prefix` before it. */
export function parseFetchLimits(texts: FetchLimitTexts, prefix = ''): FetchLimits {
  const read = (name: keyof FetchLimitTexts, most: number): number | undefined => {
    const text = texts[name];
    return text === undefined ? undefined : parseWholeNumber(text, `${prefix}${name}`, 0, most);
  };
  const retries = read('fetch-retries', MAX_RETRIES);
  const stall = read('fetch-stall-timeout', MAX_SECONDS);
  const deadline = read('fetch-timeout', MAX_SECONDS);
  return {
    ...(retries === undefined ? {} : { attempts: retries + 1 }),
    ...(stall === undefined ? {} : { stallMs: stall * 1000 }),
    ...(deadline === undefined ? {} : { deadlineMs: deadline * 1000 }),
  };
}

/** How many submodules are fetched at once: 1 to {@link MAX_SUBMODULE_JOBS}. Throws `usage` naming `option`. */
export function parseSubmoduleJobs(text: string, option: string): number {
  return parseWholeNumber(text, option, 1, MAX_SUBMODULE_JOBS);
}

/** `auto`, `native` or `git`. Throws `usage` naming `option`. */
export function parseEngineChoice(text: string, option: string): EngineChoice {
  return parseChoice(text, option, ENGINES);
}

/** `auto`, `stream` or `git`. Throws `usage` naming `option`. */
export function parseTransportChoice(text: string, option: string): TransportChoice {
  return parseChoice(text, option, TRANSPORTS);
}

/**
 * A size in bytes: a number with an optional unit, in either case, such as `536870912`, `512MB` (decimal), `2GiB` or `1.5g`
 * (powers of 1024). A fraction of a byte is dropped. Throws `usage` naming `option`; `alternative` comes before the rest
 * of its message.
 */
export function parseByteSize(text: string, option: string, alternative = ''): number {
  const match = /^(\d{1,16}(?:\.\d{1,9})?) ?([a-z]{0,3})$/i.exec(text.trim());
  const unit = match === null ? undefined : SIZE_UNITS.get(match[2]!.toLowerCase());
  if (match === null || unit === undefined) {
    throw new CheckoutError(
      'usage',
      `${option}: expected ${alternative}a size such as 512MB, 2GiB or a number of bytes, not '${shown(text)}'`,
      { option },
    );
  }
  const bytes = Math.floor(Number(match[1]) * unit);
  if (!Number.isSafeInteger(bytes)) {
    throw new CheckoutError('usage', `${option}: '${shown(text)}' is too large`, { option });
  }
  return bytes;
}

/** A whole number in decimal digits within [least, most]. Throws `usage` naming `option`. */
export function parseWholeNumber(text: string, option: string, least: number, most: number, alternative = ''): number {
  const value = text.trim();
  const number = /^\d{1,16}$/.test(value) ? Number(value) : NaN;
  if (!(number >= least && number <= most)) {
    throw new CheckoutError(
      'usage',
      `${option}: expected ${alternative}a whole number from ${least} to ${most}, not '${shown(text)}'`,
      { option },
    );
  }
  return number;
}

function parseChoice<Choice extends string>(text: string, option: string, choices: readonly Choice[]): Choice {
  const value = text.trim();
  const choice = choices.find((candidate) => candidate === value);
  if (choice === undefined) {
    const list = choices.map((candidate) => `'${candidate}'`).join(', ');
    throw new CheckoutError('usage', `${option}: expected one of ${list}, not '${shown(text)}'`, { option });
  }
  return choice;
}

function shown(text: string): string {
  const characters = Array.from(text.slice(0, 2 * SHOWN_CHARACTERS));
  const cut = characters.length > SHOWN_CHARACTERS || text.length > 2 * SHOWN_CHARACTERS;
  return displayBytes(Buffer.from(characters.slice(0, SHOWN_CHARACTERS).join(''))) + (cut ? '…' : '');
}

/**
 * What a sparse checkout takes: in cone mode directories, else patterns as in a .gitignore. git refuses the same, but that
 * brackets are let through in cone mode, since there are directories called `[id]`. Throws `usage` naming `option`.
 */
export function parseSparseSetting(patterns: readonly string[], cone: boolean, option: string): SparseSetting {
  for (const pattern of patterns) {
    const refuse = (why: string): CheckoutError => new CheckoutError('usage', `${option}: ${why}`, { option });
    if (pattern.trim() === '') throw refuse('must not be empty');
    if (/[\r\n\0]/.test(pattern)) throw refuse('one pattern at a time; a line break cannot be in it');
    if (cone && /^[/!]|[*?]/.test(pattern)) {
      throw refuse(`'${shown(pattern)}' is a pattern; cone mode takes directories, without a slash in front`);
    }
  }
  return { kind: cone ? 'cone' : 'no-cone', patterns };
}
