/**
 * The TREE extension (cache tree): which tree object each directory of the index is, so that `git status` and
 * `git commit` need not build trees anew. Format: gitformat-index, "Cache tree".
 */
import type { Bytes } from '../bytes.ts';
import { bug } from '../errors.ts';
import type { ObjectFormat } from '../oid.ts';

/** `entryCount` of a directory whose tree is not known; it has no object id, and its parents must be unknown too. */
export const UNKNOWN_TREE = 0xffff_ffff;

/** Directories as flat tables in pre-order: number 0 is the root, and a directory comes before what it contains. */
export interface CacheTreeDirectories {
  readonly format: ObjectFormat;
  readonly count: number;
  /** Number of the parent; -1 for the root. */
  readonly parent: Int32Array;
  /** The directory's own name (one component, not its path) is pathBytes[nameStart, nameEnd); empty for the root. */
  readonly nameStart: Uint32Array;
  readonly nameEnd: Uint32Array;
  /** Index entries below the directory, at any depth; or UNKNOWN_TREE. */
  readonly entryCount: Uint32Array;
  /** `format.oidBytes` each. */
  readonly oids: Bytes;
}

/**
 * The content of the TREE extension, without its header. Children come out in the order that git keeps them in, by
 * length of the name and then by its bytes, whatever order they are in here.
 */
export function serializeCacheTree(directories: CacheTreeDirectories, pathBytes: Bytes): Bytes {
  const { count, parent, nameStart, nameEnd, entryCount, oids } = directories;
  const { oidBytes } = directories.format;
  if (count === 0) return new Uint8Array(0);
  const { childStart, children } = childrenInGitOrder(directories, pathBytes);

  // Bound: name, NUL, two decimal numbers of at most 10 digits, space, newline, id.
  let bound = 0;
  for (let i = 0; i < count; i++) bound += nameEnd[i]! - nameStart[i]! + 23 + oidBytes;
  const out = new Uint8Array(bound);
  let at = 0;
  const putDecimal = (value: number): void => {
    const text = String(value);
    for (let i = 0; i < text.length; i++) out[at++] = text.charCodeAt(i);
  };

  // The stack holds directories still to be written, the next one on top: no recursion, since trees can be 2048 deep.
  const stack = new Int32Array(count);
  let depth = 1;
  let written = 0;
  while (depth > 0) {
    const directory = stack[--depth]!;
    for (let i = nameStart[directory]!; i < nameEnd[directory]!; i++) out[at++] = pathBytes[i]!;
    out[at++] = 0;
    const entries = entryCount[directory]!;
    putDecimal(entries === UNKNOWN_TREE ? -1 : entries);
    out[at++] = 0x20;
    putDecimal(childStart[directory + 1]! - childStart[directory]!);
    out[at++] = 0x0a;
    if (entries !== UNKNOWN_TREE) {
      for (let i = directory * oidBytes; i < (directory + 1) * oidBytes; i++) out[at++] = oids[i]!;
    }
    for (let i = childStart[directory + 1]! - 1; i >= childStart[directory]!; i--) stack[depth++] = children[i]!;
    written++;
  }
  if (written !== count || parent[0] !== -1) throw bug('the directories of a cache tree are not a tree');
  return out.subarray(0, at);
}

/** Children of directory i: children[childStart[i], childStart[i + 1]). */
function childrenInGitOrder(
  directories: CacheTreeDirectories,
  pathBytes: Bytes,
): { childStart: Uint32Array; children: Uint32Array } {
  const { count, parent, nameStart, nameEnd } = directories;
  const childStart = new Uint32Array(count + 1);
  for (let i = 1; i < count; i++) {
    const above = parent[i]!;
    if (above < 0 || above >= i) throw bug('a directory of a cache tree comes before its parent');
    childStart[above + 1]!++;
  }
  for (let i = 0; i < count; i++) childStart[i + 1]! += childStart[i]!;
  const next = childStart.slice();
  const children = new Uint32Array(Math.max(0, count - 1));
  for (let i = 1; i < count; i++) children[next[parent[i]!]!++] = i;

  const compare = (a: number, b: number): number => {
    const aStart = nameStart[a]!;
    const bStart = nameStart[b]!;
    const length = nameEnd[a]! - aStart;
    const difference = length - (nameEnd[b]! - bStart);
    if (difference !== 0) return difference;
    for (let i = 0; i < length; i++) {
      const order = pathBytes[aStart + i]! - pathBytes[bStart + i]!;
      if (order !== 0) return order;
    }
    return 0;
  };
  for (let i = 0; i < count; i++) {
    const end = childStart[i + 1]!;
    if (end - childStart[i]! > 1) children.subarray(childStart[i], end).sort(compare);
  }
  return { childStart, children };
}
