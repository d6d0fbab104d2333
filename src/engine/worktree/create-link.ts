/**
 * Creates symbolic links and submodule directories. The main thread makes them after all files, so that no link can
 * stand where a worker still expects a directory.
 */
import { lstatSync, mkdirSync, symlinkSync, type BigIntStats } from 'node:fs';
import { bufferOver, type Bytes } from '../bytes.ts';
import { errnoOf } from '../errors.ts';

/**
 * Creates a link to `target` (git cuts it at the first NUL).
 * @returns its stat data, or null when something is at the path already
 */
export function createLink(path: Buffer, target: Bytes): BigIntStats | null {
  const zero = target.indexOf(0);
  try {
    symlinkSync(bufferOver(target, 0, zero < 0 ? target.length : zero), path);
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return null;
    throw error;
  }
  return lstatSync(path, { bigint: true });
}

/** Makes a submodule's directory unless it is there. */
export function createGitlinkDirectory(path: Buffer): BigIntStats {
  try {
    mkdirSync(path);
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error;
  }
  return lstatSync(path, { bigint: true });
}
