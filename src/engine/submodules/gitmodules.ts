/**
 * Reads .gitmodules, which anybody can write who can push: names become paths in the git directory, URLs become arguments
 * of git. git parses the file (one process for each repository that has submodules, docs/decisions/submodules.md); what it
 * says is held against git's own rules here (CVE-2018-11235, CVE-2018-17456, CVE-2019-19604, CVE-2025-48384).
 */
import { displayBytes } from '../bytes.ts';
import { parseConfigBool } from '../config/config-values.ts';
import { CheckoutError } from '../errors.ts';

/** What .gitmodules says of one submodule. */
export interface SubmoduleEntry {
  readonly name: string;
  /** From the top of the working tree that has it. */
  readonly path: string;
  /** As written, perhaps relative; null where there is none. */
  readonly url: string | null;
  /** Null where there is none. A command is refused. */
  readonly update: UpdateMode | null;
  /** `shallow = true`: its history is not wanted; false where the file says so; null where it says nothing. */
  readonly shallow: boolean | null;
}

export type UpdateMode = 'checkout' | 'rebase' | 'merge' | 'none';
const UPDATE_MODES: readonly UpdateMode[] = ['checkout', 'rebase', 'merge', 'none'];

/** Names are components of paths; Linux allows 4095 bytes for a path, and what is made below needs room. */
const MAX_NAME_LENGTH = 1000;

/** Control characters, and what stands for bytes that are no UTF-8: such a name would not be written as git writes it. */
// eslint-disable-next-line no-control-regex -- control characters are what is refused
const CONTROL = /[\u0000-\u001f\u007f\ufffd]/;

/**
 * Whether a name may be a path below `modules`: no component leads upwards, whichever slash is taken for one, and nothing in
 * it ends a line of a configuration file.
 */
export function isValidSubmoduleName(name: string): boolean {
  return (
    name !== '' &&
    name.length <= MAX_NAME_LENGTH &&
    !CONTROL.test(name) &&
    !/^[/\\]|[/\\]$|[/\\]{2}/.test(name) &&
    name.split(/[/\\]/).every((part) => part !== '..' && part !== '.')
  );
}

/** What a URL must not be: an option of git's, or more than one line. */
export function isSafeUrl(url: string): boolean {
  return url !== '' && !url.startsWith('-') && !CONTROL.test(url);
}

/** A submodule's update mode. @throws CheckoutError 'config-invalid' for a command, as git refuses it, or a word that is none */
export function parseUpdateMode(value: string, name: string): UpdateMode {
  const mode = UPDATE_MODES.find((each) => each === value);
  if (mode !== undefined) return mode;
  throw new CheckoutError('config-invalid', `invalid value for 'submodule.${shown(name)}.update'`, {
    option: `submodule.${shown(name)}.update`,
  });
}

/**
 * The submodules by their paths.
 *
 * @param list what `git config --list -z` printed: key, a line feed and the value if there is one, NUL
 * @throws CheckoutError 'config-invalid' for an update mode that git refuses
 */
export function parseGitmodules(list: Buffer): ReadonlyMap<string, SubmoduleEntry> {
  const named = new Map<string, { path?: string; url?: string; update?: string; shallow?: boolean | null }>();
  for (const item of list.toString('utf8').split('\0')) {
    const cut = item.indexOf('\n');
    const key = cut < 0 ? item : item.slice(0, cut);
    const value = cut < 0 ? null : item.slice(cut + 1);
    const end = key.lastIndexOf('.');
    if (!key.startsWith('submodule.') || end <= 'submodule.'.length) continue;
    const name = key.slice('submodule.'.length, end);
    const variable = key.slice(end + 1).toLowerCase();
    const entry = named.get(name) ?? {};
    named.set(name, entry);
    if (variable === 'shallow') entry.shallow = parseConfigBool(value);
    else if (value === null) continue;
    else if (variable === 'path') entry.path = value;
    else if (variable === 'url') entry.url = value;
    else if (variable === 'update') entry.update = value;
  }
  const found = new Map<string, SubmoduleEntry>();
  for (const [name, { path, url, update, shallow }] of named) {
    // git takes no notice of either: the submodule is one without an entry then, which is an error if it is wanted.
    if (path === undefined || path.startsWith('-') || !isValidSubmoduleName(name)) continue;
    found.set(path, {
      name,
      path,
      url: url !== undefined && isSafeUrl(url) ? url : null,
      update: update === undefined ? null : parseUpdateMode(update, name),
      shallow: shallow ?? null,
    });
  }
  return found;
}

/** A name, path or URL for a message: one line, of bounded length. */
export function shown(text: string): string {
  const display = displayBytes(Buffer.from(text));
  return display.length > 200 ? `${display.slice(0, 200)}…` : display;
}

/**
 * Stops at names of which one is a directory of the other: the git directory of one would lie within that of the other,
 * whose files its submodule could then write (CVE-2019-1387, CVE-2024-32002).
 *
 * @param foldsCase whether the file system takes `A` and `a` for one name
 * @throws CheckoutError 'path-invalid'
 */
export function refuseNestedNames(names: readonly string[], foldsCase: boolean): void {
  const place = (name: string): string => {
    const path = name.replaceAll('\\', '/');
    return `${foldsCase ? path.toLowerCase().normalize('NFC') : path}/`;
  };
  const places = new Map<string, string>();
  for (const name of names) {
    const other = places.get(place(name));
    if (other !== undefined && other !== name) throw nested(name, other);
    places.set(place(name), name);
  }
  for (const [path, name] of places) {
    for (let slash = path.indexOf('/'); slash < path.length - 1; slash = path.indexOf('/', slash + 1)) {
      const outer = places.get(path.slice(0, slash + 1));
      if (outer !== undefined) throw nested(name, outer);
    }
  }
}

function nested(name: string, other: string): CheckoutError {
  return new CheckoutError(
    'path-invalid',
    `the git directory of submodule '${shown(name)}' would be within that of '${shown(other)}'`,
    { path: shown(name) },
  );
}
