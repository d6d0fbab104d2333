/**
 * The command line -> what to do, as a value. Everything that is wrong with it is found here, before anything is touched,
 * as a `usage` error that names the option; no option is read and then ignored.
 */
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { CheckoutError } from '../engine/errors.ts';
import {
  parseByteSize,
  parseEngineChoice,
  parseFetchLimits,
  parseMemoryLimit,
  parseSparseSetting,
  parseTransportChoice,
  parseWholeNumber,
  parseWorkers,
} from '../engine/setting-values.ts';
import type {
  CheckoutRequest,
  CloneRequest,
  ConfigOverride,
  PlanRequest,
  RunSettings,
  SparseSetting,
} from '../engine/settings.ts';

export const COMMANDS = ['clone', 'checkout', 'plan'] as const;
export type CommandName = (typeof COMMANDS)[number];

export type Invocation =
  | { readonly kind: 'help'; readonly command: CommandName | null }
  | { readonly kind: 'version' }
  | ({ readonly kind: 'clone'; readonly request: CloneRequest } & Output)
  | ({ readonly kind: 'checkout'; readonly request: CheckoutRequest } & Output)
  | ({ readonly kind: 'plan'; readonly request: PlanRequest } & Output);

/** Where the outcome goes. */
export interface Output {
  readonly json: boolean;
  readonly quiet: boolean;
  /** Absolute path of the JSON file to write. */
  readonly reportFile?: string;
}

/** What the parser asks of the machine. */
export interface Surroundings {
  readonly cwd: string;
  readonly exists: (path: string) => boolean;
}

/** git's own word for all of history is a depth of 2^31 - 1 (git fetch, --unshallow). */
const MAX_DEPTH = 2 ** 31 - 1;

/** More entries than an index can count (its header has 32 bits). */
const MAX_FILES = 2 ** 32 - 1;

interface OptionSpec {
  readonly type: 'string' | 'boolean';
  readonly short?: string;
  /** The commands that it belongs to; without it all. */
  readonly commands?: readonly CommandName[];
}

const OPTIONS = {
  workers: { type: 'string' },
  'memory-limit': { type: 'string' },
  engine: { type: 'string' },
  transport: { type: 'string' },
  report: { type: 'string' },
  config: { type: 'string', short: 'c' },
  verify: { type: 'boolean' },
  json: { type: 'boolean' },
  quiet: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean' },
  ref: { type: 'string', commands: ['clone'] },
  depth: { type: 'string', commands: ['clone'] },
  sparse: { type: 'string', commands: ['clone', 'checkout'] },
  'no-cone': { type: 'boolean', commands: ['clone', 'checkout'] },
  'no-sparse': { type: 'boolean', commands: ['checkout'] },
  'git-dir': { type: 'string', commands: ['checkout'] },
  'work-tree': { type: 'string', commands: ['checkout'] },
  clean: { type: 'boolean', commands: ['checkout'] },
  'clean-exclude': { type: 'string', commands: ['checkout'] },
  'fetch-retries': { type: 'string', commands: ['clone', 'checkout'] },
  'fetch-stall-timeout': { type: 'string', commands: ['clone', 'checkout'] },
  'fetch-timeout': { type: 'string', commands: ['clone', 'checkout'] },
  files: { type: 'string', commands: ['plan'] },
  bytes: { type: 'string', commands: ['plan'] },
} as const satisfies Record<string, OptionSpec>;

type OptionName = keyof typeof OPTIONS;

/** What was written on the command line, sorted but not yet read. */
interface Words {
  readonly positionals: readonly string[];
  readonly flags: ReadonlySet<OptionName>;
  readonly values: ReadonlyMap<OptionName, readonly string[]>;
}

/**
 * Reads the arguments that follow the program's name. Options may stand before or after the command. The requests hold
 * everything but the signal. Throws `usage`.
 */
export function parseCommandLine(argv: readonly string[], surroundings: Surroundings): Invocation {
  const words = sortWords(argv);
  const [first, ...positionals] = words.positionals;
  const command = first === undefined ? null : commandNamed(first);
  if (words.flags.has('help')) return { kind: 'help', command };
  if (words.flags.has('version')) return { kind: 'version' };
  if (command === null) throw usage(`a command is missing: ${COMMANDS.join(', ')}`);
  for (const name of [...words.flags, ...words.values.keys()]) {
    const spec: OptionSpec = OPTIONS[name];
    if (spec.commands !== undefined && !spec.commands.includes(command)) {
      const owners = spec.commands.map((owner) => `'${owner}'`).join(' and ');
      throw usage(`--${name} is an option of ${owners}, not of '${command}'`, `--${name}`);
    }
  }
  const output = readOutput(words, surroundings);
  switch (command) {
    case 'clone':
      return { kind: command, request: readClone(words, positionals, surroundings), ...output };
    case 'checkout':
      return { kind: command, request: readCheckout(words, positionals, surroundings), ...output };
    case 'plan':
      return { kind: command, request: readPlan(words, positionals, surroundings), ...output };
  }
}

function sortWords(argv: readonly string[]): Words {
  const options = Object.fromEntries(
    Object.entries(OPTIONS).map(([name, { type, ...rest }]) => [
      name,
      'short' in rest ? { type, short: rest.short } : { type },
    ]),
  );
  // Not strict: the tokens say all that is needed for messages of our own, which name the option and nothing else.
  const { tokens } = parseArgs({ args: [...argv], options, strict: false, allowPositionals: true, tokens: true });
  const positionals: string[] = [];
  const flags = new Set<OptionName>();
  const values = new Map<OptionName, string[]>();
  for (const token of tokens) {
    if (token.kind === 'positional') positionals.push(token.value);
    if (token.kind !== 'option') continue;
    const { name, rawName, value } = token;
    if (!isOptionName(name)) throw usage(`unknown option '${rawName}'`, rawName);
    if (OPTIONS[name].type === 'boolean') {
      if (value !== undefined) throw usage(`${rawName} takes no value`, rawName);
      flags.add(name);
      continue;
    }
    if (value === undefined) throw usage(`${rawName} needs a value`, rawName);
    // `--ref --json` is a forgotten value far more often than a value that begins with a dash.
    if (!token.inlineValue && value.startsWith('-') && value !== '-') {
      const inline = rawName.startsWith('--') ? `${rawName}=${value}` : rawName + value;
      throw usage(`${rawName} needs a value; if '${value}' is meant, write ${inline}`, rawName);
    }
    const list = values.get(name);
    if (list === undefined) values.set(name, [value]);
    else list.push(value);
  }
  return { positionals, flags, values };
}

function isOptionName(name: string): name is OptionName {
  return Object.hasOwn(OPTIONS, name);
}

function commandNamed(word: string): CommandName {
  const command = COMMANDS.find((name) => name === word);
  if (command === undefined) throw usage(`unknown command '${word}': expected ${COMMANDS.join(', ')}`);
  return command;
}

function readOutput(words: Words, { cwd }: Surroundings): Output {
  const file = pathOption(words, 'report', cwd);
  return {
    json: words.flags.has('json'),
    quiet: words.flags.has('quiet'),
    ...(file === undefined ? {} : { reportFile: file }),
  };
}

function readRunSettings(words: Words): RunSettings {
  const read = <Value>(name: OptionName, parse: (text: string, option: string) => Value, absent: Value): Value => {
    const text = single(words, name);
    return text === undefined ? absent : parse(text, `--${name}`);
  };
  const fetchLimits = parseFetchLimits(
    {
      'fetch-retries': single(words, 'fetch-retries'),
      'fetch-stall-timeout': single(words, 'fetch-stall-timeout'),
      'fetch-timeout': single(words, 'fetch-timeout'),
    },
    '--',
  );
  return {
    workers: read('workers', parseWorkers, 'auto'),
    memoryLimitBytes: read('memory-limit', parseMemoryLimit, 'auto'),
    engine: read('engine', parseEngineChoice, 'auto'),
    ...(words.flags.has('verify') ? { verify: true } : {}),
    transport: read('transport', parseTransportChoice, 'auto'),
    config: (words.values.get('config') ?? []).map(parseConfigOverride),
    ...(Object.keys(fetchLimits).length === 0 ? {} : { fetchLimits }),
  };
}

function readClone(words: Words, positionals: readonly string[], surroundings: Surroundings): CloneRequest {
  const [url, directory, ...more] = positionals;
  if (url === undefined) throw usage('clone: the URL is missing');
  if (directory === undefined) throw usage('clone: the directory is missing');
  noMore('clone', more);
  const ref = single(words, 'ref');
  const depth = single(words, 'depth');
  return {
    ...readRunSettings(words),
    url: cloneSource(notAnOption(url, 'clone: the URL'), surroundings),
    directory: resolve(surroundings.cwd, notEmpty(directory, 'clone: the directory')),
    ...(ref === undefined ? {} : { ref: notAnOption(ref, '--ref') }),
    ...(depth === undefined ? {} : { depth: parseWholeNumber(depth, '--depth', 1, MAX_DEPTH) }),
    ...readSparse(words),
  };
}

function readSparse(words: Words): { readonly sparse?: SparseSetting } {
  const patterns = words.values.get('sparse');
  const noCone = words.flags.has('no-cone');
  if (words.flags.has('no-sparse')) {
    if (patterns !== undefined || noCone) throw usage('--no-sparse goes with no other pattern option', '--no-sparse');
    return { sparse: { kind: 'off' } };
  }
  if (patterns === undefined) {
    if (noCone) throw usage('--no-cone says how --sparse is read, which is missing', '--no-cone');
    return {};
  }
  return { sparse: parseSparseSetting(patterns, !noCone, '--sparse') };
}

function readCheckout(words: Words, positionals: readonly string[], { cwd }: Surroundings): CheckoutRequest {
  const [revision, ...more] = positionals;
  noMore('checkout', more);
  const gitDir = pathOption(words, 'git-dir', cwd);
  const workTree = pathOption(words, 'work-tree', cwd);
  const exclude = (words.values.get('clean-exclude') ?? []).map((pattern) => {
    if (/[\r\n]/.test(pattern)) {
      throw usage('--clean-exclude: one pattern at a time; a line break cannot be in it', '--clean-exclude');
    }
    return notEmpty(pattern, '--clean-exclude');
  });
  const cleans = words.flags.has('clean');
  if (exclude.length > 0 && !cleans) throw usage('--clean-exclude needs --clean', '--clean-exclude');
  return {
    ...readRunSettings(words),
    directory: cwd,
    ...(gitDir === undefined ? {} : { gitDir }),
    ...(workTree === undefined ? {} : { workTree }),
    ...readSparse(words),
    ...(cleans ? { clean: { exclude } } : {}),
    target:
      revision === undefined
        ? { kind: 'head' }
        : // As in git, '-' is what was checked out before.
          {
            kind: 'revision',
            revision: revision === '-' ? '@{-1}' : notAnOption(revision, 'checkout: the commit'),
          },
  };
}

function readPlan(words: Words, positionals: readonly string[], { cwd }: Surroundings): PlanRequest {
  const [directory, ...more] = positionals;
  noMore('plan', more);
  const files = single(words, 'files');
  const bytes = single(words, 'bytes');
  return {
    ...readRunSettings(words),
    directory: directory === undefined ? cwd : resolve(cwd, notEmpty(directory, 'plan: the directory')),
    ...(files === undefined ? {} : { files: parseWholeNumber(files, '--files', 0, MAX_FILES) }),
    ...(bytes === undefined ? {} : { bytes: parseByteSize(bytes, '--bytes') }),
  };
}

/**
 * A setting as `git -c` reads it: `section.key=value`, `section.sub.section.key=value`; without '=' it is true. The name's
 * rules are those of git-config(1), "Syntax". Throws `usage`.
 */
export function parseConfigOverride(text: string): ConfigOverride {
  const at = text.indexOf('=');
  const key = at < 0 ? text : text.slice(0, at);
  // A value may be a secret (http.extraHeader), so a message shows the key alone.
  if (!/^[A-Za-z0-9-]+\.(?:[^\n]*\.)?[A-Za-z][A-Za-z0-9-]*$/.test(key)) {
    throw usage(`-c: '${key}' is not the name of a setting, such as core.autocrlf`, '-c');
  }
  return { key, value: at < 0 ? 'true' : text.slice(at + 1) };
}

/**
 * What to clone from: a path of this machine becomes absolute, because git will run in another folder; a URL or
 * `host:path` stays as it is. The order is git's: what exists here is a path, even with a colon in its name.
 */
export function cloneSource(url: string, { cwd, exists }: Surroundings): string {
  if (/^[A-Za-z][A-Za-z0-9+.-]*:\/\//.test(url)) return url;
  const path = resolve(cwd, url);
  if (exists(path) || exists(`${path}.git`)) return path;
  // As git's url_is_local_not_ssh: a slash before the first colon, or no colon, makes a path.
  const colon = url.indexOf(':');
  const slash = url.indexOf('/');
  return colon < 0 || (slash >= 0 && slash < colon) ? path : url;
}

/** The last one counts, as in git. */
function single(words: Words, name: OptionName): string | undefined {
  return words.values.get(name)?.at(-1);
}

function pathOption(words: Words, name: OptionName, cwd: string): string | undefined {
  const path = single(words, name);
  return path === undefined ? undefined : resolve(cwd, notEmpty(path, `--${name}`));
}

function notEmpty(text: string, what: string): string {
  if (text === '') throw usage(`${what}: must not be empty`, optionOf(what));
  return text;
}

/** git would read a revision or URL with a dash in front as an option, which could be used to run programs. */
function notAnOption(text: string, what: string): string {
  if (text.startsWith('-')) throw usage(`${what}: must not begin with '-'`, optionOf(what));
  return notEmpty(text, what);
}

function optionOf(what: string): string | undefined {
  return what.startsWith('-') ? what : undefined;
}

function noMore(command: CommandName, more: readonly string[]): void {
  if (more[0] !== undefined) throw usage(`${command}: unexpected argument '${more[0]}'`);
}

function usage(message: string, option?: string): CheckoutError {
  // A misplaced URL is repeated to the user, its password is not: this may end up in a log.
  const safe = message.replace(/:\/\/[^/@\s']*@/g, '://***@');
  return new CheckoutError('usage', safe, option === undefined ? {} : { option });
}
