/**
 * Removes what is in the way. Main thread only. Links are never followed: a directory is entered only after lstat has said that it
 * is one.
 */
import { lstatSync, readdirSync, rmdirSync, unlinkSync } from 'node:fs';
import { CheckoutError, errnoOf, ioError } from '../errors.ts';
import { displayBytes } from '../bytes.ts';

const SLASH = Buffer.from('/');

/**
 * Removes the file, link or whole directory at an absolute path; nothing there is fine. `keep` is never removed.
 * @throws CheckoutError io
 */
export function removeAll(path: Buffer, keep: string): void {
  try {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat === undefined) return;
    if (stat.isDirectory()) removeDirectory(path, keep);
    else unlinkSync(path);
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw ioError('remove', displayBytes(path), error);
  }
}

function removeDirectory(path: Buffer, keep: string): void {
  if (path.toString('utf8') === keep) {
    const shown = displayBytes(path);
    throw new CheckoutError('io', `refusing to remove the current working directory '${shown}'`, { path: shown });
  }
  for (const child of readdirSync(path, { withFileTypes: true, encoding: 'buffer' })) {
    const childPath = Buffer.concat([path, SLASH, child.name]);
    // Some file systems do not tell the type along with the name.
    const known = child.isFile() || child.isSymbolicLink() || child.isDirectory();
    const directory = known ? child.isDirectory() : lstatSync(childPath).isDirectory();
    if (directory) removeDirectory(childPath, keep);
    else unlinkSync(childPath);
  }
  rmdirSync(path);
}

/**
 * Removes a tracked file or link, as git does: nothing there is fine, anything else that fails is told.
 * @returns null when it is gone, else the errno
 */
export function unlinkTracked(path: Buffer): string | null {
  try {
    unlinkSync(path);
    return null;
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === undefined) throw error;
    return errno === 'ENOENT' || errno === 'ENOTDIR' ? null : errno;
  }
}

/** Removes a directory if it is empty. */
export function removeEmptyDirectory(path: Buffer, keep: string): boolean {
  if (path.toString('utf8') === keep) return false;
  try {
    rmdirSync(path);
    return true;
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return false;
  }
}
