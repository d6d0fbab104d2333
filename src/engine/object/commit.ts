/**
 * What a checkout needs of commits and tags: the object that they lead to.
 */
import type { Bytes } from '../bytes.ts';
import { bufferOver } from '../bytes.ts';
import { oidFromHex } from '../oid.ts';

/** The tree of a commit object, or null when its first line is not "tree <id>". */
export function commitTree(bytes: Bytes): Bytes | null {
  const match = /^tree ([0-9a-f]{40})\n/.exec(bufferOver(bytes, 0, Math.min(bytes.length, 46)).toString('latin1'));
  return match?.[1] === undefined ? null : oidFromHex(match[1]);
}

/** The object that a tag object names, or null when it is not well-formed. */
export function tagTarget(bytes: Bytes): Bytes | null {
  const match = /^object ([0-9a-f]{40})\n/.exec(bufferOver(bytes, 0, Math.min(bytes.length, 48)).toString('latin1'));
  return match?.[1] === undefined ? null : oidFromHex(match[1]);
}
