/**
 * What the old index knows of trees: for each directory in it the id of the tree that its entries make, as the cache tree
 * (TREE extension) has it. Where the new commit has the same tree there, the entries are the index's own and the tree
 * need not be read: an unchanged checkout of Linux would read 5,700. git takes the same way (unpack-trees).
 *
 * The extension is believed as git believes it, but only for directories that it describes exactly: as many entries, as many
 * directories, all merged. What does not fit, or is damaged, is not known, and the tree is read.
 */
import type { Bytes } from '../bytes.ts';
import { canonicalMode, MODE_TREE } from '../object/tree.ts';
import { EXTENDED_FLAG, FLAG, type IndexTable } from './index-table.ts';

const SLASH = 0x2f;

/** The directories of an index in depth-first order, the root being number 0; what is below one comes right after it. */
export interface KnownTrees {
  readonly index: IndexTable;
  readonly count: number;
  /** Number of the parent; -1 for the root. */
  readonly parent: Int32Array;
  /** The directory's path is a prefix, of this length, of the path of its first entry. */
  readonly pathLength: Uint32Array;
  /** Number of the first entry below it, and how many there are. */
  readonly firstEntry: Uint32Array;
  readonly entryCount: Uint32Array;
  /** The number after the last directory below it. */
  readonly end: Uint32Array;
  /** Levels of directories with this one: 1 where there are only files in it. */
  readonly height: Uint32Array;
  /** 1 where the tree is known. */
  readonly isKnown: Uint8Array;
  /** Ids of the known ones, `format.oidBytes` each. */
  readonly oids: Bytes;
  /** By entry, the directory that it is in. */
  readonly directoryOf: Uint32Array;
}

/** The trees that an index knows; null where it knows none. */
export function knownTrees(index: IndexTable): KnownTrees | null {
  const content = index.extensions.find(({ signature }) => signature === 'TREE')?.bytes;
  const cache = content === undefined ? null : parseCacheTree(content, index.format.oidBytes);
  return cache === null || index.count === 0 ? null : new Matcher(index, cache).match();
}

/** The extension's directories, numbered as they stand in it: a directory, then its children with all that they have. */
interface CacheTree {
  readonly bytes: Bytes;
  readonly nameStart: readonly number[];
  readonly nameEnd: readonly number[];
  /** -1 where the tree is not known. */
  readonly entries: readonly number[];
  readonly oidAt: readonly number[];
  /** The children of a directory, in their order in the file; undefined without any. */
  readonly children: readonly (readonly number[] | undefined)[];
}

/** null where the bytes are no cache tree. */
function parseCacheTree(bytes: Bytes, oidBytes: number): CacheTree | null {
  const nameStart: number[] = [];
  const nameEnd: number[] = [];
  const entries: number[] = [];
  const oidAt: number[] = [];
  const children: (number[] | undefined)[] = [];
  /** Directories with children still to come, and how many. */
  const open: { number: number; left: number }[] = [];
  let at = 0;
  /** A decimal number up to `end`; -2 where there is none. */
  const decimal = (end: number): number => {
    if (bytes[at] === 0x2d && bytes[at + 1] === 0x31 && bytes[at + 2] === end) {
      at += 3;
      return -1;
    }
    let value = 0;
    const start = at;
    for (; at < bytes.length && at - start < 10; at++) {
      const digit = (bytes[at] ?? 0) - 0x30;
      if (digit < 0 || digit > 9) break;
      value = value * 10 + digit;
    }
    return at > start && bytes[at++] === end ? value : -2;
  };
  do {
    const start = at;
    while (at < bytes.length && bytes[at] !== 0) at++;
    const end = at++;
    const count = decimal(0x20);
    const below = decimal(0x0a);
    if (count < -1 || below < 0) return null;
    const number = entries.length;
    const above = open.at(-1);
    if (above !== undefined) {
      (children[above.number] ??= []).push(number);
      if (--above.left === 0) open.pop();
    }
    nameStart.push(start);
    nameEnd.push(end);
    entries.push(count);
    oidAt.push(at);
    children.push(undefined);
    if (count >= 0) at += oidBytes;
    if (at > bytes.length) return null;
    if (below > 0) open.push({ number, left: below });
  } while (open.length > 0);
  return at === bytes.length ? { bytes, nameStart, nameEnd, entries, oidAt, children } : null;
}

/** Goes through the entries once and holds the directories that their paths make against the cache tree. */
class Matcher {
  readonly #index: IndexTable;
  readonly #cache: CacheTree;
  readonly #oidBytes: number;
  readonly #parent: number[] = [];
  readonly #pathLength: number[] = [];
  readonly #firstEntry: number[] = [];
  readonly #entryCount: number[] = [];
  readonly #end: number[] = [];
  readonly #height: number[] = [];
  readonly #isKnown: number[] = [];
  /** The directory's number in the cache tree, or -1. */
  readonly #row: number[] = [];
  /** Directories right below it. */
  readonly #directoriesBelow: number[] = [];

  constructor(index: IndexTable, cache: CacheTree) {
    this.#index = index;
    this.#cache = cache;
    this.#oidBytes = index.format.oidBytes;
  }

  match(): KnownTrees {
    const { pathBytes, pathOffsets, count, modes, flags, extendedFlags } = this.#index;
    const directoryOf = new Uint32Array(count);
    this.#open(-1, 0, 0, 0, 0);
    let directory = 0;
    let previous = 0;
    for (let entry = 0; entry < count; entry++) {
      const start = pathOffsets[entry] ?? 0;
      const end = pathOffsets[entry + 1] ?? 0;
      // Directories of the entry before that this one is not in.
      const least = Math.min(end - start, start - previous);
      let common = 0;
      while (common < least && pathBytes[previous + common] === pathBytes[start + common]) common++;
      while (directory > 0 && (this.#pathLength[directory] ?? 0) >= common) {
        this.#close(directory, entry);
        directory = this.#parent[directory] ?? 0;
      }
      let nameAt = start + (directory === 0 ? 0 : (this.#pathLength[directory] ?? 0) + 1);
      for (let at = nameAt; at < end; at++) {
        if (pathBytes[at] !== SLASH) continue;
        directory = this.#open(directory, entry, at - start, nameAt, at);
        nameAt = at + 1;
      }
      directoryOf[entry] = directory;
      const isMerged = ((flags[entry] ?? 0) & FLAG.stage) === 0;
      const isIntended = ((extendedFlags[entry] ?? 0) & EXTENDED_FLAG.intentToAdd) !== 0;
      const mode = modes[entry] ?? 0;
      const isOrdinary = mode === canonicalMode(mode) && mode !== MODE_TREE;
      if (!isMerged || isIntended || !isOrdinary) this.#isKnown[directory] = 0;
      previous = start;
    }
    for (; directory >= 0; directory = this.#parent[directory] ?? -1) this.#close(directory, count);
    return {
      index: this.#index,
      count: this.#parent.length,
      parent: Int32Array.from(this.#parent),
      pathLength: Uint32Array.from(this.#pathLength),
      firstEntry: Uint32Array.from(this.#firstEntry),
      entryCount: Uint32Array.from(this.#entryCount),
      end: Uint32Array.from(this.#end),
      height: Uint32Array.from(this.#height),
      isKnown: Uint8Array.from(this.#isKnown),
      oids: this.#oids(),
      directoryOf,
    };
  }

  /** Begins a directory whose own name is in the paths at [nameStart, nameEnd); returns its number. */
  #open(parent: number, entry: number, pathLength: number, nameStart: number, nameEnd: number): number {
    const row = parent < 0 ? 0 : this.#child(this.#row[parent] ?? -1, nameStart, nameEnd);
    if (parent >= 0) this.#directoriesBelow[parent]! += 1;
    this.#pathLength.push(pathLength);
    this.#firstEntry.push(entry);
    this.#entryCount.push(0);
    this.#end.push(0);
    this.#height.push(1);
    this.#isKnown.push(row >= 0 && (this.#cache.entries[row] ?? -1) > 0 ? 1 : 0);
    this.#row.push(row);
    this.#directoriesBelow.push(0);
    return this.#parent.push(parent) - 1;
  }

  #close(directory: number, endEntry: number): void {
    const parent = this.#parent[directory] ?? -1;
    const row = this.#row[directory] ?? -1;
    const entries = endEntry - (this.#firstEntry[directory] ?? 0);
    this.#entryCount[directory] = entries;
    this.#end[directory] = this.#parent.length;
    const directoriesBelow = this.#cache.children[row]?.length ?? 0;
    if (entries !== this.#cache.entries[row] || directoriesBelow !== this.#directoriesBelow[directory]) {
      this.#isKnown[directory] = 0;
    }
    if (parent < 0) return;
    this.#height[parent] = Math.max(this.#height[parent] ?? 1, (this.#height[directory] ?? 1) + 1);
    // Nobody knows a tree without the trees in it.
    if (this.#isKnown[directory] === 0) this.#isKnown[parent] = 0;
  }

  /** The child of a directory of the cache tree; its children are sorted by length of the name, then by its bytes. */
  #child(row: number, nameStart: number, nameEnd: number): number {
    const children = this.#cache.children[row];
    if (children === undefined) return -1;
    let low = 0;
    let high = children.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const child = children[middle] ?? 0;
      const order = this.#compareName(child, nameStart, nameEnd);
      if (order === 0) return child;
      if (order < 0) low = middle + 1;
      else high = middle;
    }
    return -1;
  }

  #compareName(row: number, nameStart: number, nameEnd: number): number {
    const { bytes } = this.#cache;
    const { pathBytes } = this.#index;
    const start = this.#cache.nameStart[row] ?? 0;
    const length = (this.#cache.nameEnd[row] ?? 0) - start;
    if (length !== nameEnd - nameStart) return length - (nameEnd - nameStart);
    for (let i = 0; i < length; i++) {
      const order = (bytes[start + i] ?? 0) - (pathBytes[nameStart + i] ?? 0);
      if (order !== 0) return order;
    }
    return 0;
  }

  #oids(): Bytes {
    const oidBytes = this.#oidBytes;
    const oids = new Uint8Array(this.#parent.length * oidBytes);
    for (let directory = 0; directory < this.#parent.length; directory++) {
      if (this.#isKnown[directory] === 0) continue;
      const at = this.#cache.oidAt[this.#row[directory] ?? 0] ?? 0;
      oids.set(this.#cache.bytes.subarray(at, at + oidBytes), directory * oidBytes);
    }
    return oids;
  }
}
