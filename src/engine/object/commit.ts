/**
 * What a checkout needs of commits and tags: the object that they lead to.
 */
import type { Bytes } from '../bytes.ts';
import { bufferOver } from '../bytes.ts';
import { oidFromHex, type ObjectFormat } from '../oid.ts';

/** The tree of a commit object, or null when its first line is not "tree <id>". */
export function commitTree(bytes: Bytes, format: ObjectFormat): Bytes | null {
  return idOfFirstLine(bytes, 'tree ', format);
}

/** The parents of a commit object: what the lines say that follow that of its tree. */
export function commitParents(bytes: Bytes, format: ObjectFormat): Bytes[] {
  const parents: Bytes[] = [];
  const length = 'parent '.length + 2 * format.oidBytes + 1;
  let at = 'tree '.length + 2 * format.oidBytes + 1;
  for (;;) {
    const parent = idOfFirstLine(bytes.subarray(at, at + length), 'parent ', format);
    if (parent === null) return parents;
    parents.push(parent);
    at += length;
  }
}

/** The object that a tag object names, or null when it is not well-formed. */
export function tagTarget(bytes: Bytes, format: ObjectFormat): Bytes | null {
  return idOfFirstLine(bytes, 'object ', format);
}

/** The id in a first line of exactly KEY, an id in small digits, and a line feed. */
function idOfFirstLine(bytes: Bytes, key: string, format: ObjectFormat): Bytes | null {
  const end = key.length + 2 * format.oidBytes;
  if (bytes.length <= end || bytes[end] !== 0x0a) return null;
  const line = bufferOver(bytes, 0, end).toString('latin1');
  const hex = line.slice(key.length);
  return line.startsWith(key) && /^[0-9a-f]+$/.test(hex) ? oidFromHex(hex) : null;
}
