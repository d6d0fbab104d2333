/**
 * What a checkout needs of commits and tags: the object that they lead to.
 */
import type { Bytes } from '../bytes.ts';
import { bufferOver } from '../bytes.ts';
import { oidFromHex, type ObjectFormat } from '../oid.ts';

/**
 * The tree of a commit object, or null where git takes it for no commit: its first line is not "tree <id>", nothing follows
 * that line, or a line of a parent is broken.
 */
export function commitTree(bytes: Bytes, format: ObjectFormat): Bytes | null {
  const lineLength = 'tree '.length + 2 * format.oidBytes + 1;
  if (bytes.length <= lineLength || hasBrokenParent(bytes, format)) return null;
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

/**
 * Whether a line behind the tree and the sound parents would be a parent, and is none. As with git, one that ends the object
 * is broken, and one that is cut off within its id is not looked at.
 */
function hasBrokenParent(bytes: Bytes, format: ObjectFormat): boolean {
  const length = 'parent '.length + 2 * format.oidBytes + 1;
  for (let at = 'tree '.length + 2 * format.oidBytes + 1; at + length <= bytes.length; at += length) {
    if (bufferOver(bytes, at).toString('latin1', 0, 7) !== 'parent ') return false;
    const isLast = at + length === bytes.length;
    if (isLast || idOfFirstLine(bytes.subarray(at, at + length), 'parent ', format) === null) return true;
  }
  return false;
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
