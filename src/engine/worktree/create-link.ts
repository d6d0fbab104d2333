/**
 * Creates symbolic links and submodule directories. The main thread makes them after all files, so that no link can
 * stand where a worker still expects a directory.
 */
import { lstatSync, mkdirSync, readlinkSync, symlinkSync, type BigIntStats } from 'node:fs';
import { bufferOver, type Bytes } from '../bytes.ts';
import { errnoOf } from '../errors.ts';

/**
 * Creates a link to `target` (git cuts it at the first NUL).
 * @returns its stat data, or null when something is at the path already
 */
export function createLink(path: Buffer, target: Bytes): BigIntStats | null {
  try {
    symlinkSync(cutAtNul(target), path);
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return null;
    throw error;
  }
  return lstatSync(path, { bigint: true });
}

/** Whether the link at the path leads to `target`. What cannot be read does not. */
export function linkHasTarget(path: Buffer, target: Bytes): boolean {
  try {
    return readlinkSync(path, { encoding: 'buffer' }).equals(cutAtNul(target));
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return false;
  }
}

function cutAtNul(target: Bytes): Buffer {
  const zero = target.indexOf(0);
  return bufferOver(target, 0, zero < 0 ? target.length : zero);
}

/** Makes a submodule's directory; null where one is there, whose stat data git does not take either. */
export function createGitlinkDirectory(path: Buffer): BigIntStats | null {
  try {
    mkdirSync(path);
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error;
    return null;
  }
  return lstatSync(path, { bigint: true });
}
