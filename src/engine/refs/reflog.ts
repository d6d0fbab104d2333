/**
 * Reflog lines: OLD NEW COMMITTER TAB MESSAGE. Whether a new log is begun depends on core.logAllRefUpdates; one that
 * exists is always continued.
 */
import { appendFileSync, lstatSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Config } from '../config/config.ts';
import { errnoOf, ioError } from '../errors.ts';
import { parseSharedRepository, shareDirectories, shareFile } from '../index/shared-permissions.ts';
import { type RefDirs, reflogPath } from './ref-names.ts';
import { removeEmptyDirectories } from './ref-lock.ts';

/** Whether a ref that has no log yet gets one (git-config(1), core.logAllRefUpdates; unset: true with a working tree). */
export function beginsReflog(config: Config, name: string): boolean {
  const setting = config.getBoolOrText('core.logAllRefUpdates') ?? true;
  if (typeof setting === 'string') return setting.toLowerCase() === 'always';
  return setting && (name === 'HEAD' || /^refs\/(heads|remotes|notes)\//.test(name));
}

/** One line. White space in the message becomes single blanks, so it stays one. */
export function reflogLine(oldOid: string | null, newOid: string, committer: string, message: string): string {
  const old = oldOid ?? '0'.repeat(newOid.length);
  return `${old} ${newOid} ${committer}\t${message.replace(/\s+/g, ' ').trim()}\n`;
}

/**
 * Appends a line to the log of `name`.
 *
 * @throws CheckoutError 'io'
 */
export function appendReflog(dirs: RefDirs, config: Config, name: string, line: string): void {
  const path = reflogPath(dirs, name);
  try {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat?.isFile() !== true && !beginsReflog(config, name)) return;
    // Directories that the logs of deleted branches left.
    if (stat?.isDirectory() === true) removeEmptyDirectories(path);
    const permissions = parseSharedRepository(config.getAll('core.sharedRepository').at(-1));
    if (stat === undefined) {
      const directory = dirname(path);
      shareDirectories(mkdirSync(directory, { recursive: true }), directory, permissions);
    }
    appendFileSync(path, line, { mode: 0o666 });
    shareFile(path, permissions);
  } catch (error) {
    // The log of a branch that this one's name passes through ('a' against 'a/b'), left by that branch's deletion.
    if (errnoOf(error) === 'ENOTDIR' && !beginsReflog(config, name)) return;
    throw ioError('append to', path, error);
  }
}
