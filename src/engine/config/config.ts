/**
 * git's configuration, as git itself puts it together: system, user, repository and worktree files, includes with
 * their conditions, the environment and `-c`. One `git config --list` reads it all; see
 * docs/decisions/ask-git-for-config.md.
 */
import { CheckoutError } from '../errors.ts';
import { displayBytes } from '../bytes.ts';
import type { GitProcess } from '../settings.ts';
import { type ConfigValue, expandConfigPath, parseConfigBool, parseConfigInt } from './config-values.ts';
import type { Environment } from './environment.ts';
import { locationArgs, type RepositoryLocation } from './git-options.ts';

/** One setting. The value stays bytes until it is asked for: most are never read. */
interface Entry {
  readonly value: Buffer | null;
  /** Such as 'file:/etc/gitconfig' or 'command line:'; for messages. */
  readonly origin: string;
  /** Place among all settings. */
  readonly place: number;
}

/** A setting of a section, for keys whose order counts. */
export interface SectionValue {
  readonly subsection: string | null;
  /** In lower case. */
  readonly name: string;
  readonly value: ConfigValue;
}

/**
 * All settings, later ones over earlier ones. Keys are written `section.name` or `section.subsection.name`; section and
 * name match in any case, a subsection as written.
 */
export class Config {
  private readonly entries: ReadonlyMap<string, readonly Entry[]>;
  /** The file of the first setting read, which is the system's when there is one. */
  private readonly firstOrigin: string | null;

  private constructor(entries: ReadonlyMap<string, readonly Entry[]>, firstOrigin: string | null) {
    this.entries = entries;
    this.firstOrigin = firstOrigin;
  }

  /**
   * Reads `git config --list --show-origin -z`: origin NUL key [LF value] NUL, again and again.
   *
   * @throws CheckoutError 'config-invalid' when the bytes end in the middle
   */
  static parse(list: Buffer): Config {
    const entries = new Map<string, Entry[]>();
    let firstOrigin: string | null = null;
    let place = 0;
    for (let at = 0; at < list.length;) {
      const originEnd = list.indexOf(0, at);
      const end = originEnd < 0 ? -1 : list.indexOf(0, originEnd + 1);
      if (end < 0) throw new CheckoutError('config-invalid', "the answer of 'git config --list' ends too early");
      const origin = list.toString('utf8', at, originEnd);
      firstOrigin ??= origin;
      const keyed = list.subarray(originEnd + 1, end);
      const cut = keyed.indexOf(10);
      const key = normalKey((cut < 0 ? keyed : keyed.subarray(0, cut)).toString('utf8'));
      const entry: Entry = { origin, place: place++, value: cut < 0 ? null : keyed.subarray(cut + 1) };
      const sameKey = entries.get(key);
      if (sameKey === undefined) entries.set(key, [entry]);
      else sameKey.push(entry);
      at = end + 1;
    }
    return new Config(entries, firstOrigin);
  }

  /** A configuration of these values alone; for tests and defaults. */
  static of(values: Readonly<Record<string, string | null>>): Config {
    const list = Object.entries(values).map(
      ([key, value]) => `command line:\0${key}${value === null ? '' : `\n${value}`}\0`,
    );
    return Config.parse(Buffer.from(list.join('')));
  }

  /** The last value of a key: its text ('' for a key without '='), or undefined when it is not set. */
  get(key: string): string | undefined {
    const entry = this.last(key);
    return entry === undefined ? undefined : (entry.value?.toString('utf8') ?? '');
  }

  /** All values of a key, first to last; null for one without '='. */
  getAll(key: string): readonly ConfigValue[] {
    return (this.entries.get(normalKey(key)) ?? []).map(({ value }) => value?.toString('utf8') ?? null);
  }

  /** @throws CheckoutError 'config-invalid' when the value is not a boolean */
  getBool(key: string): boolean | undefined {
    const entry = this.last(key);
    if (entry === undefined) return undefined;
    return parseConfigBool(entry.value?.toString('utf8') ?? null) ?? this.refuse(key, entry, 'is not a boolean');
  }

  /**
   * A boolean, or else the text, for keys that take both (core.autocrlf, core.logAllRefUpdates). Numbers count as
   * booleans, as git has it.
   */
  getBoolOrText(key: string): boolean | string | undefined {
    const entry = this.last(key);
    if (entry === undefined) return undefined;
    const text = entry.value?.toString('utf8') ?? null;
    return parseConfigBool(text) ?? text ?? true;
  }

  /** @throws CheckoutError 'config-invalid' when the value is not a number, or one beyond 2^53 */
  getInt(key: string): number | undefined {
    const entry = this.last(key);
    if (entry === undefined) return undefined;
    const text = entry.value?.toString('utf8');
    return (text === undefined ? null : parseConfigInt(text)) ?? this.refuse(key, entry, 'is not a number');
  }

  /**
   * A path, `~/` put in full. A relative one is left relative.
   *
   * @throws CheckoutError 'config-invalid' for `~user`, `%(prefix)`, an unknown home, a missing value, or invalid UTF-8
   */
  getPath(key: string, environment: Environment): string | undefined {
    const entry = this.last(key);
    if (entry === undefined) return undefined;
    const text = entry.value?.toString('utf8');
    if (text === undefined || !Buffer.from(text).equals(entry.value!)) {
      return this.refuse(key, entry, 'is not a path that we can open');
    }
    return expandConfigPath(text, environment) ?? this.refuse(key, entry, 'is not a path that we can expand');
  }

  /** The subsections that a section has, in order of first sight: `filter` -> ['lfs', …]. */
  subsections(section: string): readonly string[] {
    const prefix = `${section.toLowerCase()}.`;
    const found = new Set<string>();
    for (const key of this.entries.keys()) {
      const end = key.lastIndexOf('.');
      if (key.startsWith(prefix) && end > prefix.length - 1) found.add(key.slice(prefix.length, end));
    }
    return [...found];
  }

  /** All settings of a section, first to last. */
  section(section: string): readonly SectionValue[] {
    const prefix = `${section.toLowerCase()}.`;
    const found: (SectionValue & { readonly place: number })[] = [];
    for (const [key, entries] of this.entries) {
      if (!key.startsWith(prefix)) continue;
      const end = key.lastIndexOf('.');
      const subsection = end < prefix.length ? null : key.slice(prefix.length, end);
      const name = key.slice(end + 1);
      for (const { value, place } of entries) {
        found.push({ subsection, name, value: value?.toString('utf8') ?? null, place });
      }
    }
    return found.sort((a, b) => a.place - b.place);
  }

  /** The system-wide configuration file, where it has any setting; null when there is none or we cannot tell. */
  get systemFile(): string | null {
    // git reads the system's file first. A user's file is called .gitconfig or git/config, so the name tells them apart.
    const path = /^file:(.*)$/s.exec(this.firstOrigin ?? '')?.[1];
    return path !== undefined && /[\\/]gitconfig$/.test(path) ? path : null;
  }

  private last(key: string): Entry | undefined {
    return this.entries.get(normalKey(key))?.at(-1);
  }

  private refuse(key: string, entry: Entry, what: string): never {
    // The value itself stays out of the message: it may be a secret in the wrong place.
    const from = displayBytes(Buffer.from(entry.origin.replace(/^file:/, 'file ').replace(/:$/, '')));
    throw new CheckoutError('config-invalid', `the value of '${key}' (${from}) ${what}`, { option: key });
  }
}

/** Section and name in lower case, the subsection between them as it is. */
function normalKey(key: string): string {
  const first = key.indexOf('.');
  const last = key.lastIndexOf('.');
  if (first < 0) return key.toLowerCase();
  return key.slice(0, first).toLowerCase() + key.slice(first, last) + key.slice(last).toLowerCase();
}

/**
 * Asks git for the whole configuration at `location`. Where there is no repository the answer holds the system's and
 * the user's settings alone: opening the repository is what tells.
 *
 * @throws CheckoutError 'config-invalid' with git's own words when a file cannot be read or parsed; 'git-missing'
 */
export async function loadConfig(location: RepositoryLocation, git: GitProcess, signal?: AbortSignal): Promise<Config> {
  const result = await git({
    args: [...locationArgs(location), 'config', '--list', '--show-origin', '-z'],
    cwd: location.directory,
    env: { LC_ALL: 'C' },
    ...(signal === undefined ? {} : { signal }),
  });
  if (result.exitCode !== 0) {
    const line =
      result.stderr.split('\n').find((each) => /^(fatal|error): /.test(each)) ?? result.stderr.split('\n')[0]!;
    const said = displayBytes(Buffer.from(line.replace(/^(fatal|error): /, '')));
    throw new CheckoutError('config-invalid', said === '' ? 'git config --list failed' : said);
  }
  return Config.parse(result.stdout);
}
