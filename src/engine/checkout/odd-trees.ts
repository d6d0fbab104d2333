/**
 * Trees as git never writes them: out of order, with a name twice, with a file and a directory of one name, with slashes in names.
 * git puts one entry after the other into its index, where each takes the place of all that it cannot stand beside: the entry
 * of the same path, those below it, and a file that has the name of one of its directories. Here the same is found by
 * sorting, after the walk, and only where the walk met such a tree.
 */
import { bufferOver, type Bytes } from '../bytes.ts';
import { MODE_GITLINK, MODE_SYMLINK, TreeCursor } from '../object/tree.ts';
import type { SparseMatcher } from '../sparse/matcher.ts';
import { growDirectories, newDirectories, type ConversionLookup, type Manifest } from './manifest.ts';
import { isInside } from './sparse-update.ts';
import { allocateTables, State, type Tables } from './tables.ts';

const SLASH = 0x2f;
const ATTRIBUTES = Buffer.from('.gitattributes');

type Paths = Pick<Tables, 'pathBytes' | 'pathOffsets'>;

/**
 * The manifest with the entries that are left, in index order, with directories made from their paths and conversions looked up
 * anew: which .gitattributes count is known only now.
 * @param manifest with the entries in the order of the walk; is no longer to be used
 * @param conversions null where they are looked up later
 * @param sparse which of the entries that are left are written; null for all
 */
export function settleOddTrees(
  manifest: Manifest,
  conversions: ConversionLookup | null,
  sparse: SparseMatcher | null,
): Manifest {
  const walked = manifest.tables;
  const order = lastingEntries(walked, walked.count);
  order.sort((a, b) => comparePaths(walked, a, b, SLASH) || a - b);
  const tables = inOrder(walked, order);
  let directories = newDirectories(1024, walked.format);
  forEachInDirectories(tables, {
    enter: (parent, entry, pathLength) => {
      if (directories.count === directories.parent.length) directories = growDirectories(directories);
      const number = directories.count++;
      directories.parent[number] = parent;
      directories.firstEntry[number] = entry;
      directories.pathLength[number] = pathLength;
      const start = tables.pathOffsets[entry] ?? 0;
      conversions?.enterDirectory(
        attributesTree(tables, entry, pathLength),
        tables.pathBytes.subarray(start, start + pathLength),
      );
      return number;
    },
    entry: (entry, directory) => {
      tables.directories[entry] = directory;
      const mode = tables.modes[entry];
      if (sparse !== null && !isInside(sparse, tables, entry)) {
        tables.states[entry] = State.SKIPPED;
        return;
      }
      if (mode === MODE_GITLINK || mode === MODE_SYMLINK) return;
      if (conversions === null) return;
      const { pathBytes, pathOffsets } = tables;
      tables.conversions[entry] = conversions.lookUp(pathBytes, pathOffsets[entry] ?? 0, pathOffsets[entry + 1] ?? 0);
    },
    leave: (directory, end) => {
      directories.entryCount[directory] = end - (directories.firstEntry[directory] ?? 0);
      conversions?.leaveDirectory();
    },
  });
  // Whether there are trees for them is found out by repair-trees.ts.
  directories.irregular.fill(1, 0, directories.count);
  return { ...manifest, tables, directories, isOdd: false };
}

/**
 * The entries that none after them has displaced. Entries are numbered in the order in which git would put them into its index.
 * @returns their numbers, in no order that matters
 */
function lastingEntries(paths: Paths, count: number): Uint32Array {
  // With the slash before every other byte, what is below a path comes right after it.
  const sorted = new Uint32Array(count);
  for (let i = 0; i < count; i++) sorted[i] = i;
  sorted.sort((a, b) => comparePaths(paths, a, b, 0) || a - b);

  // One row for each path: its last entry, the last one below it, and the last one of those that it is below.
  const last = new Uint32Array(count);
  const lastBelow = new Int32Array(count).fill(-1);
  const lastAbove = new Int32Array(count).fill(-1);
  const open = new Uint32Array(count);
  let depth = 0;
  let rows = 0;
  const close = (): void => {
    const row = open[--depth] ?? 0;
    if (depth === 0) return;
    const above = open[depth - 1] ?? 0;
    lastBelow[above] = Math.max(lastBelow[above] ?? -1, last[row] ?? 0, lastBelow[row] ?? -1);
  };
  for (const entry of sorted) {
    if (rows > 0 && comparePaths(paths, last[rows - 1] ?? 0, entry, 0) === 0) {
      last[rows - 1] = entry;
      continue;
    }
    while (depth > 0 && !isBelow(paths, entry, last[open[depth - 1] ?? 0] ?? 0)) close();
    open[depth++] = rows;
    last[rows++] = entry;
  }
  while (depth > 0) close();
  // From above, now that the last entry of each path is known.
  for (let row = 0; row < rows; row++) {
    while (depth > 0 && !isBelow(paths, last[row] ?? 0, last[open[depth - 1] ?? 0] ?? 0)) depth--;
    if (depth > 0) {
      const above = open[depth - 1] ?? 0;
      lastAbove[row] = Math.max(lastAbove[above] ?? -1, last[above] ?? 0);
    }
    open[depth++] = row;
  }
  let kept = 0;
  for (let row = 0; row < rows; row++) {
    const entry = last[row] ?? 0;
    if (entry > (lastBelow[row] ?? -1) && entry > (lastAbove[row] ?? -1)) sorted[kept++] = entry;
  }
  return sorted.subarray(0, kept);
}

/** Byte order of two paths, the slash counting as the byte `slash`. */
function comparePaths({ pathBytes, pathOffsets }: Paths, a: number, b: number, slash: number): number {
  const aStart = pathOffsets[a] ?? 0;
  const bStart = pathOffsets[b] ?? 0;
  const aLength = (pathOffsets[a + 1] ?? 0) - aStart;
  const bLength = (pathOffsets[b + 1] ?? 0) - bStart;
  const least = aLength < bLength ? aLength : bLength;
  for (let i = 0; i < least; i++) {
    const x = pathBytes[aStart + i] ?? 0;
    const y = pathBytes[bStart + i] ?? 0;
    if (x !== y) return (x === SLASH ? slash : x) - (y === SLASH ? slash : y);
  }
  return aLength - bLength;
}

/** Whether path `a` goes on from path `b` with a slash. */
function isBelow({ pathBytes, pathOffsets }: Paths, a: number, b: number): boolean {
  const aStart = pathOffsets[a] ?? 0;
  const bStart = pathOffsets[b] ?? 0;
  const bEnd = pathOffsets[b + 1] ?? 0;
  const after = aStart + bEnd - bStart;
  if (after >= (pathOffsets[a + 1] ?? 0) || pathBytes[after] !== SLASH) return false;
  return bufferOver(pathBytes, aStart, after).equals(bufferOver(pathBytes, bStart, bEnd));
}

/** New tables of these entries in this order: paths, ids and modes. */
function inOrder(from: Tables, order: Uint32Array): Tables {
  let bytes = 0;
  for (const entry of order) bytes += (from.pathOffsets[entry + 1] ?? 0) - (from.pathOffsets[entry] ?? 0);
  const tables = allocateTables(Math.max(1, order.length), Math.max(1, bytes), from.format);
  const { oidBytes } = from.format;
  for (const [i, entry] of order.entries()) {
    const start = from.pathOffsets[entry] ?? 0;
    const end = from.pathOffsets[entry + 1] ?? 0;
    const at = tables.pathOffsets[i] ?? 0;
    tables.pathBytes.set(from.pathBytes.subarray(start, end), at);
    tables.pathOffsets[i + 1] = at + end - start;
    tables.oids.set(from.oids.subarray(entry * oidBytes, (entry + 1) * oidBytes), i * oidBytes);
    tables.modes[i] = from.modes[entry] ?? 0;
  }
  tables.count = order.length;
  return tables;
}

interface DirectoryVisitor {
  /** A directory whose first entry this is; its path is so many bytes of the entry's. Returns its number. */
  enter(parent: number, firstEntry: number, pathLength: number): number;
  entry(entry: number, directory: number): void;
  /** `end` is the number after its last entry. */
  leave(directory: number, end: number): void;
}

/** Visits sorted entries with the directories that they are in, the root first. */
function forEachInDirectories(tables: Tables, visitor: DirectoryVisitor): void {
  const { pathBytes, pathOffsets, count } = tables;
  const open = [{ number: visitor.enter(-1, 0, 0), start: 0, length: 0 }];
  for (let entry = 0; entry < count; entry++) {
    const start = pathOffsets[entry] ?? 0;
    const end = pathOffsets[entry + 1] ?? 0;
    for (let top = open[open.length - 1]; top !== undefined && open.length > 1; top = open[open.length - 1]) {
      const after = start + top.length;
      const inside =
        after < end &&
        pathBytes[after] === SLASH &&
        bufferOver(pathBytes, start, after).equals(bufferOver(pathBytes, top.start, top.start + top.length));
      if (inside) break;
      visitor.leave(top.number, entry);
      open.pop();
    }
    const top = open[open.length - 1];
    for (let at = start + (top === undefined || top.length === 0 ? 0 : top.length + 1); at < end; at++) {
      if (pathBytes[at] !== SLASH) continue;
      const parent = open[open.length - 1]?.number ?? 0;
      open.push({ number: visitor.enter(parent, entry, at - start), start, length: at - start });
    }
    visitor.entry(entry, open[open.length - 1]?.number ?? 0);
  }
  for (const { number } of open.reverse()) visitor.leave(number, count);
}

/** A tree of the directory's .gitattributes alone: all that a look-up of conversions asks of a tree. */
export function attributesTree(tables: Tables, firstEntry: number, pathLength: number): TreeCursor {
  const start = tables.pathOffsets[firstEntry] ?? 0;
  const directory = tables.pathBytes.subarray(start, start + pathLength);
  const path = pathLength === 0 ? ATTRIBUTES : Buffer.concat([directory, Buffer.from([SLASH]), ATTRIBUTES]);
  const entry = find(tables, path);
  const { oidBytes } = tables.format;
  if (entry < 0) return new TreeCursor(new Uint8Array(0), oidBytes);
  const oid = tables.oids.subarray(entry * oidBytes, (entry + 1) * oidBytes);
  return new TreeCursor(Buffer.concat([Buffer.from('100644 .gitattributes\0'), oid]), oidBytes);
}

/** Number of the entry of this path in sorted tables, or -1. */
function find({ pathBytes, pathOffsets, count }: Tables, path: Bytes): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const order = Buffer.compare(pathBytes.subarray(pathOffsets[middle] ?? 0, pathOffsets[middle + 1] ?? 0), path);
    if (order === 0) return middle;
    if (order < 0) low = middle + 1;
    else high = middle;
  }
  return -1;
}
