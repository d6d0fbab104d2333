/**
 * Decides how a blob becomes a file, from the path's attributes and the configuration: git's table of text, crlf, eol,
 * ident, filter and working-tree-encoding against core.autocrlf and core.eol. The answer is a small plain value, so that
 * the decision is taken once for each combination of attributes and worker threads need only a number per file.
 */
import type { AttributeSet, AttributeSets } from '../attributes/attribute-sets.ts';
import type { AttributeValue } from '../attributes/gitattributes.ts';
import { CheckoutError } from '../errors.ts';
import { encodingOf, hasGlibc, type Encoding } from './encodings.ts';
import { lfsCommand } from './lfs-store.ts';

export interface Conversion {
  /**
   * - `none`: the bytes as they are (which is also what LF output means);
   * - `in-core`: decided by, or written as, the whole content at once;
   * - `stream`: can be converted in pieces;
   * - `filter`: as `in-core`, and then it goes through a process, the `driver`;
   * - `refused`: git stops at a file that is to be written so, `reason` says why;
   * - `git`: not done here, `reason` says why.
   *
   * `in-core` and `stream` are git's own classes where the results differ: git has two implementations of `ident`.
   */
  readonly kind: 'none' | 'in-core' | 'stream' | 'filter' | 'refused' | 'git';
  /** `text`: every bare LF becomes CR LF; `auto`: the same, in content that is text and has no CR at all. */
  readonly crlf: 'none' | 'text' | 'auto';
  readonly ident: boolean;
  /** With `in-core` and `filter`: what the text is written in; else it stays UTF-8. */
  readonly encoding?: Encoding;
  /** With `filter`: what the content goes through last. */
  readonly driver?: ConversionDriver;
  /** With `refused` and `git`, where the other fields say nothing: such as "working-tree-encoding 'UTF-7'". */
  readonly reason?: string;
}

/** A filter driver with a command for checkouts. */
export interface ConversionDriver {
  /** Its name in the attribute and the configuration. */
  readonly name: string;
  readonly command: string;
  /** Whether the command speaks the protocol of long-running filter processes; otherwise it runs once for each file. */
  readonly longRunning: boolean;
  /** Whether a failure ends the checkout; otherwise the file gets the content that the driver was given. */
  readonly required: boolean;
  /** Set for git-lfs's own commands: what is in its local store need not go through it. */
  readonly lfs?: { readonly skip: boolean };
}

/** What the configuration says about conversion. */
export interface ConversionConfig {
  /** core.autocrlf; 'false' when it is not set. */
  readonly autocrlf: 'true' | 'false' | 'input';
  /** core.eol; 'native' when it is not set or is anything else. */
  readonly eol: 'lf' | 'crlf' | 'native';
  /** How lines end on this platform: 'crlf' on Windows. */
  readonly nativeEol: 'lf' | 'crlf';
  /** Whether git runs on GNU libc, whose iconv it encodes by. */
  readonly glibc: boolean;
  /** Whether commands of filter drivers can be run as git runs them here: not on Windows, where git brings its own shell. */
  readonly runsDrivers: boolean;
  /** By name, every subsection of `filter` that has any key. */
  readonly filters: ReadonlyMap<string, FilterDriver>;
}

/** filter.<name>.*; a command that is set and empty is not one that is unset. */
export interface FilterDriver {
  readonly smudge?: string;
  readonly clean?: string;
  readonly process?: string;
  readonly required: boolean;
}

/** The part of a configuration that `readConversionConfig` asks. */
export interface ConversionConfigSource {
  getAll(key: string): readonly (string | null)[];
  getBool(key: string): boolean | undefined;
  getBoolOrText(key: string): boolean | string | undefined;
  subsections(section: string): readonly string[];
}

/**
 * Takes the facts about conversion out of a configuration.
 *
 * @throws CheckoutError 'config-invalid' for a value that makes git stop: core.autocrlf that is neither a boolean nor
 * `input`, a filter command without a value
 */
export function readConversionConfig(config: ConversionConfigSource, platform: NodeJS.Platform): ConversionConfig {
  const filters = new Map<string, FilterDriver>();
  for (const name of config.subsections('filter')) {
    const command = (key: string): string | undefined => {
      const values = config.getAll(`filter.${name}.${key}`);
      if (values.includes(null)) {
        const option = `filter.${name}.${key}`;
        throw new CheckoutError('config-invalid', `'${option}' has no value`, { option });
      }
      return values.at(-1) ?? undefined;
    };
    const smudge = command('smudge');
    const clean = command('clean');
    const process = command('process');
    filters.set(name, {
      ...(smudge === undefined ? {} : { smudge }),
      ...(clean === undefined ? {} : { clean }),
      ...(process === undefined ? {} : { process }),
      required: config.getBool(`filter.${name}.required`) ?? false,
    });
  }
  const eol = config.getAll('core.eol').at(-1)?.toLowerCase();
  return {
    autocrlf: autocrlfOf(config.getBoolOrText('core.autocrlf')),
    eol: eol === 'lf' || eol === 'crlf' ? eol : 'native',
    nativeEol: platform === 'win32' ? 'crlf' : 'lf',
    // Asked for only where a file has an encoding.
    get glibc() {
      return hasGlibc();
    },
    runsDrivers: platform !== 'win32',
    filters,
  };
}

function autocrlfOf(value: boolean | string | undefined): ConversionConfig['autocrlf'] {
  if (value === undefined) return 'false';
  if (typeof value === 'boolean') return value ? 'true' : 'false';
  if (value.toLowerCase() === 'input') return 'input';
  throw new CheckoutError('config-invalid', "the value of 'core.autocrlf' is neither a boolean nor 'input'", {
    option: 'core.autocrlf',
  });
}

/** Numbers of conversions fit a byte. The last one stands for all that have no other. */
const MOST_CONVERSIONS = 256;
const TOO_MANY: Conversion = handedToGit(`more than ${MOST_CONVERSIONS - 1} different conversions`);

/** Conversions by number, found by attribute set. */
export class ConversionTable {
  /** By number; 0 is the one that changes nothing. Grows while sets are looked up. */
  readonly conversions: Conversion[] = [{ kind: 'none', crlf: 'none', ident: false }];
  readonly #config: ConversionConfig;
  readonly #sets: AttributeSets;
  readonly #bySet: number[] = [];

  constructor(config: ConversionConfig, sets: AttributeSets) {
    this.#config = config;
    this.#sets = sets;
  }

  /** The number (below 256) of the conversion for an id of the attribute sets. */
  fromAttributes(set: number): number {
    return this.#bySet[set] ?? this.#add(set);
  }

  /**
   * The number of the same conversion, but that pointers of Git LFS stay; the same number where there is none such, or there are too
   * many.
   */
  leavingPointers(number: number): number {
    const conversion = this.conversions[number];
    if (conversion?.driver?.lfs === undefined || this.conversions.length >= MOST_CONVERSIONS - 1) return number;
    return this.#number({ ...conversion, driver: { ...conversion.driver, lfs: { skip: true } } });
  }

  #add(set: number): number {
    // Sets are numbered in the order in which they are met, so the list has no holes.
    for (let id = this.#bySet.length; id <= set; id++) {
      this.#bySet.push(this.#number(conversionFor(this.#sets.get(id), this.#config)));
    }
    return this.#bySet[set]!;
  }

  #number(conversion: Conversion): number {
    const known = this.conversions.findIndex((each) => same(each, conversion));
    if (known >= 0) return known;
    if (this.conversions.length === MOST_CONVERSIONS) return MOST_CONVERSIONS - 1;
    return this.conversions.push(this.conversions.length === MOST_CONVERSIONS - 1 ? TOO_MANY : conversion) - 1;
  }
}

function same(a: Conversion, b: Conversion): boolean {
  return (
    a.kind === b.kind &&
    a.crlf === b.crlf &&
    a.ident === b.ident &&
    a.reason === b.reason &&
    JSON.stringify(a.encoding) === JSON.stringify(b.encoding) &&
    // A driver's name says all else about it, but whether pointers are to stay.
    a.driver?.name === b.driver?.name &&
    a.driver?.lfs?.skip === b.driver?.lfs?.skip
  );
}

/** What `crlf` and `text` and `eol` come to, in git's terms (convert.c, crlf_action). */
type EolAction = 'binary' | 'text' | 'text-lf' | 'text-crlf' | 'auto' | 'auto-lf' | 'auto-crlf';

/** The conversion at checkout of a file with these attributes. Pure. */
export function conversionFor(attributes: AttributeSet, config: ConversionConfig): Conversion {
  const action = eolAction(attributes, config);
  const crlfOutput = action === 'text-crlf' || action === 'auto-crlf' || (isOpen(action) && textEolIsCrlf(config));
  const isAuto = action === 'auto' || action === 'auto-crlf';
  const crlf = crlfOutput ? (isAuto ? 'auto' : 'text') : 'none';
  const ident = attributes.ident === true;

  if (attributes.workingTreeEncoding === true) return refused('its working-tree-encoding has no value');
  const named = attributes.workingTreeEncoding;
  let encoding: Encoding | undefined;
  // To git an unset one is as an empty one.
  if (typeof named === 'string' && named !== '' && !/^utf-?8$/i.test(named)) {
    encoding = encodingOf(named, config.glibc) ?? undefined;
    if (encoding === undefined) return handedToGit(`working-tree-encoding '${named}'`);
  }
  const encoded = encoding === undefined ? {} : { encoding };

  const name = attributes.filter;
  const settings = typeof name === 'string' ? config.filters.get(name) : undefined;
  let inCore = isAuto || encoding !== undefined;
  if (settings !== undefined) {
    const { process, smudge, clean, required } = settings;
    // A process that is set, be it empty, keeps smudge from being used.
    const command = process ?? smudge ?? '';
    if (command !== '') {
      if (!config.runsDrivers) return handedToGit(`filter driver '${String(name)}' runs a command`);
      const longRunning = process !== undefined;
      // A pointer that was encoded is none.
      const lfs = encoding === undefined ? lfsCommand(command, longRunning) : null;
      const driver = { name: String(name), command, longRunning, required, ...(lfs === null ? {} : { lfs }) };
      return { kind: 'filter', crlf, ident, ...encoded, driver };
    }
    inCore ||= process !== undefined || smudge !== undefined || clean !== undefined;
    // What git streams never comes to the place where it would notice.
    if (required && inCore) return refused(`filter driver '${String(name)}' is required and has no command`);
  }

  if (encoding !== undefined) return { kind: 'in-core', crlf, ident, encoding };
  if (crlf === 'none' && !ident) return { kind: 'none', crlf, ident };
  // Line ends alone come out the same either way, so they are streamed whatever git's class.
  return { kind: crlf === 'auto' || (ident && inCore) ? 'in-core' : 'stream', crlf, ident };
}

function handedToGit(reason: string): Conversion {
  return { kind: 'git', crlf: 'none', ident: false, reason };
}

function refused(reason: string): Conversion {
  return { kind: 'refused', crlf: 'none', ident: false, reason };
}

function isOpen(action: EolAction): boolean {
  return action === 'text' || action === 'auto';
}

function eolAction(attributes: AttributeSet, config: ConversionConfig): EolAction {
  const action = textAction(attributes.text) ?? textAction(attributes.crlf);
  if (action === 'binary') return action;
  const { eol } = attributes;
  if (eol === 'lf') return action === 'auto' ? 'auto-lf' : 'text-lf';
  if (eol === 'crlf') return action === 'auto' ? 'auto-crlf' : 'text-crlf';
  if (action !== null) return action;
  if (config.autocrlf === 'false') return 'binary';
  return config.autocrlf === 'true' ? 'auto-crlf' : 'auto-lf';
}

function textAction(value: AttributeValue): EolAction | null {
  if (value === true) return 'text';
  if (value === false) return 'binary';
  if (value === 'input') return 'text-lf';
  return value === 'auto' ? 'auto' : null;
}

/** core.autocrlf overrides core.eol both ways. */
function textEolIsCrlf({ autocrlf, eol, nativeEol }: ConversionConfig): boolean {
  if (autocrlf !== 'false') return autocrlf === 'true';
  return (eol === 'native' ? nativeEol : eol) === 'crlf';
}
