/**
 * Adds a section to the end of a repository's configuration file, as `git config` does for a section that is not there
 * yet: one process less for a new remote or a new branch. Changing what is there is left to git.
 */
import { closeSync, openSync, readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { CheckoutError, errnoOf, ioError } from '../errors.ts';

/** A value in the file's syntax: always quoted, since that is never wrong. */
function quoted(value: string): string {
  if (value.includes('\0')) throw new CheckoutError('config-invalid', 'a configuration value has a NUL byte');
  return `"${value.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\t', '\\t')}"`;
}

/** The variables' lines of a section. */
function formatValues(values: ConfigVariables): string {
  // Bare where every reader agrees on it, which is how git writes such values too.
  return values
    .map(([name, value]) => `\t${name} = ${/^[\w+*:/.@~-]+$/.test(value) ? value : quoted(value)}\n`)
    .join('');
}

/** Names and values, in their order. */
export type ConfigVariables = readonly (readonly [name: string, value: string])[];

/**
 * The configuration file's bytes with the variables added: to its last section when that is the one, else in a new
 * section at the end. Pure.
 *
 * @throws CheckoutError 'config-invalid' for a name or value that the syntax cannot hold
 */
export function withSection(
  content: Buffer,
  section: string,
  subsection: string | null,
  values: ConfigVariables,
): Buffer {
  if (subsection !== null && /[\n\0]/.test(subsection)) {
    throw new CheckoutError('config-invalid', "a configuration section's name has a line feed or NUL byte");
  }
  const name = subsection === null ? '' : ` "${subsection.replace(/["\\]/g, '\\$&')}"`;
  const header = `[${section}${name}]`;
  const separator = content.length > 0 && content[content.length - 1] !== 10 ? '\n' : '';
  const lastHeader = content
    .toString('latin1')
    .split('\n')
    .findLast((line) => line.trimStart().startsWith('['));
  const continued = lastHeader === Buffer.from(header).toString('latin1');
  return Buffer.concat([content, Buffer.from(`${separator}${continued ? '' : `${header}\n`}${formatValues(values)}`)]);
}

/**
 * The configuration file's bytes with core.repositoryFormatVersion 1 in place of 0. Pure.
 * @returns null when there is no such 0
 */
export function withFormatVersion(content: Buffer): Buffer | null {
  // One to one, whatever the encoding.
  const text = content.toString('latin1');
  const changed = text.replace(/^([ \t]*repositoryformatversion[ \t]*=[ \t]*)0([ \t]*)$/im, '$11$2');
  return changed === text ? null : Buffer.from(changed, 'latin1');
}

/**
 * Raises core.repositoryFormatVersion from 0 to 1, under the file's lock.
 *
 * @throws CheckoutError as appendToConfig
 */
export function raiseFormatVersion(path: string): void {
  editConfig(path, (content) => withFormatVersion(content) ?? content);
}

/**
 * Adds variables to the configuration file at `path` under its lock; the file's mode stays.
 *
 * @throws CheckoutError 'ref-locked' when the file is locked, 'io', and as withSection
 */
export function appendToConfig(
  path: string,
  section: string,
  subsection: string | null,
  values: ConfigVariables,
): void {
  appendSections(path, [{ section, subsection, values }]);
}

/** A section and what is added to it; no subsection for `[section]`. */
export interface AppendedSection {
  readonly section: string;
  readonly subsection: string | null;
  readonly values: ConfigVariables;
}

/** Adds several sections at once, as appendToConfig does one. */
export function appendSections(path: string, sections: readonly AppendedSection[]): void {
  editConfig(path, (content) => {
    let edited = content;
    for (const { section, subsection, values } of sections) edited = withSection(edited, section, subsection, values);
    return edited;
  });
}

function editConfig(path: string, edit: (content: Buffer) => Buffer): void {
  let file: string;
  let descriptor: number;
  let lock: string;
  try {
    file = realpathSync.native(path); // a link stays a link
    lock = `${file}.lock`;
    descriptor = openSync(lock, 'wx', statSync(file).mode & 0o777);
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') {
      throw new CheckoutError('ref-locked', `'${path}.lock' exists: another git process may be running`, { path });
    }
    throw ioError('lock', path, error);
  }
  try {
    try {
      // Read under the lock: what another process has just added must stay.
      writeFileSync(descriptor, edit(readFileSync(file)));
    } finally {
      closeSync(descriptor);
    }
    renameSync(lock, file);
  } catch (error) {
    rmSync(lock, { force: true });
    throw ioError('write', file, error);
  }
}
