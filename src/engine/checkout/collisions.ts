/**
 * Paths that a file system takes for one: where case or Unicode form does not count, `A` and `a`, or the file `a` and the directory
 * `A`, cannot both be there. git writes one after the other, and each takes the place of those before it, so that the last
 * one in the order of the index is left. Here they are found before anything is written, kept from the workers, and written
 * by the main thread in that order.
 *
 * Taking more paths for one than the file system does is harmless: those are merely written without workers.
 */
import { lstatSync, type BigIntStats } from 'node:fs';
import { bufferOver, type Bytes } from '../bytes.ts';
import { errnoOf } from '../errors.ts';
import { STAT } from '../index/index-table.ts';
import { displayPath, type WorktreePaths } from '../worktree/paths.ts';
import type { Manifest } from './manifest.ts';
import { State, STAT_WORDS, type Tables } from './tables.ts';

/** Which entries collide, by number. */
export interface Collisions {
  /** Of each entry its group, 0 for none. */
  readonly groups: Uint32Array;
  readonly count: number;
}

type Tree = Pick<Manifest, 'directories' | 'tables'>;

/** ASCII in small letters. */
const LOWER = new Uint8Array(128);
for (let byte = 0; byte < 128; byte++) LOWER[byte] = byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte;

/**
 * A name as the most forgiving file system compares it: without case, without what HFS+ ignores, and in one Unicode form.
 * Of bytes that are no UTF-8 all look alike.
 */
export function foldName(name: Bytes): string {
  const text = bufferOver(name).toString('utf8');
  return text
    .replace(/[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/gu, '')
    .normalize('NFD')
    .toUpperCase()
    .toLowerCase()
    .normalize('NFC');
}

/** Finds the entries that cannot all be there where names fold; null when there are none. */
export function findCollisions(tree: Tree): Collisions | null {
  const { tables, directories } = tree;
  const { count } = tables;
  // Directories that fold to one name are one directory: each gets the number of the first of them.
  const same = new Uint32Array(directories.count);
  const numbers = new Map<string, number>();
  for (let i = 1; i < directories.count; i++) {
    if (directories.entryCount[i] === 0) continue;
    const key = `${same[directories.parent[i] ?? 0] ?? 0}/${directoryName(tree, i)}`;
    const first = numbers.get(key);
    if (first === undefined) numbers.set(key, i);
    same[i] = first ?? i;
  }
  // What has the same hash may have the same name; the entry's number is in the lower half.
  const keys = new BigUint64Array(count);
  const words = new Uint32Array(keys.buffer);
  for (let entry = 0; entry < count; entry++) {
    words[2 * entry] = entry;
    words[2 * entry + 1] = hashOf(tree, entry, same[tables.directories[entry] ?? 0] ?? 0);
  }
  keys.sort();
  const found = new Map<string, number[]>();
  for (let start = 0; start < count;) {
    let end = start + 1;
    while (end < count && words[2 * end + 1] === words[2 * start + 1]) end++;
    if (end > start + 1) {
      for (let i = start; i < end; i++) {
        const entry = words[2 * i] ?? 0;
        const key = keyOf(tree, entry, same);
        const others = found.get(key);
        if (others === undefined) found.set(key, [entry]);
        else others.push(entry);
      }
    }
    start = end;
  }
  const groups = new Uint32Array(count);
  let group = 0;
  for (const entries of found.values()) {
    if (entries.length < 2) continue;
    group++;
    for (const entry of entries) groups[entry] = group;
  }
  // A file that has the name of a directory collides with all that is in it.
  const fileNames = new Map<string, number>();
  const ofDirectories = new Set<number>();
  for (let i = 1; i < directories.count; i++) {
    if (directories.entryCount[i] === 0) continue;
    ofDirectories.add(hashOfText(directoryName(tree, i), same[directories.parent[i] ?? 0] ?? 0));
  }
  for (let i = 0; i < count && ofDirectories.size > 0; i++) {
    if (!ofDirectories.has(words[2 * i + 1] ?? 0)) continue;
    const entry = words[2 * i] ?? 0;
    const key = keyOf(tree, entry, same);
    if (numbers.has(key)) fileNames.set(key, entry);
  }
  if (fileNames.size > 0) {
    for (let i = 1; i < directories.count; i++) {
      const key = `${same[directories.parent[i] ?? 0] ?? 0}/${directoryName(tree, i)}`;
      const entry = fileNames.get(key);
      if (entry === undefined) continue;
      if (groups[entry] === 0) groups[entry] = ++group;
      const first = directories.firstEntry[i] ?? 0;
      const end = first + (directories.entryCount[i] ?? 0);
      for (let at = first; at < end; at++) if (groups[at] === 0) groups[at] = groups[entry] ?? 0;
    }
  }
  return group === 0 ? null : { groups, count: group };
}

function directoryName({ directories, tables }: Tree, directory: number): string {
  const start = tables.pathOffsets[directories.firstEntry[directory] ?? 0] ?? 0;
  const parent = directories.parent[directory] ?? 0;
  const nameAt = parent === 0 ? 0 : (directories.pathLength[parent] ?? 0) + 1;
  return foldName(tables.pathBytes.subarray(start + nameAt, start + (directories.pathLength[directory] ?? 0)));
}

/** Where an entry's own name starts in the paths. */
function nameStart({ directories, tables }: Tree, entry: number): number {
  const directory = tables.directories[entry] ?? 0;
  return (tables.pathOffsets[entry] ?? 0) + (directory === 0 ? 0 : (directories.pathLength[directory] ?? 0) + 1);
}

function keyOf(tree: Tree, entry: number, same: Uint32Array): string {
  const { tables } = tree;
  const name = tables.pathBytes.subarray(nameStart(tree, entry), tables.pathOffsets[entry + 1]);
  return `${same[tables.directories[entry] ?? 0] ?? 0}/${foldName(name)}`;
}

/** FNV-1a over the folded name, which for ASCII needs no string. */
function hashOf(tree: Tree, entry: number, directory: number): number {
  const { pathBytes, pathOffsets } = tree.tables;
  const start = nameStart(tree, entry);
  const end = pathOffsets[entry + 1] ?? 0;
  let hash = Math.imul(0x811c9dc5 ^ directory, 0x01000193);
  for (let i = start; i < end; i++) {
    const byte = pathBytes[i] ?? 0;
    if (byte >= 0x80) return hashOfText(foldName(pathBytes.subarray(start, end)), directory);
    hash = Math.imul(hash ^ (LOWER[byte] ?? 0), 0x01000193);
  }
  return hash >>> 0;
}

function hashOfText(text: string, directory: number): number {
  let hash = Math.imul(0x811c9dc5 ^ directory, 0x01000193);
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

/**
 * Files that this run wrote and that stand where others were to go: the file system takes more names for one than was foreseen.
 * They go back among the collided ones, so that all of them are written in order.
 */
export function addPartners(tables: Tables, paths: WorktreePaths): void {
  const inTheWay = new Set<string>();
  for (let entry = 0; entry < tables.count; entry++) {
    if (tables.states[entry] !== State.COLLIDED) continue;
    const path = paths.absolute(tables.pathBytes, tables.pathOffsets[entry] ?? 0, tables.pathOffsets[entry + 1] ?? 0);
    try {
      const stat = lstatSync(path, { bigint: true, throwIfNoEntry: false });
      if (stat?.isFile() === true) inTheWay.add(`${BigInt.asUintN(32, stat.dev)} ${BigInt.asUintN(32, stat.ino)}`);
    } catch (error) {
      if (errnoOf(error) === undefined) throw error;
    }
  }
  for (let entry = 0; entry < tables.count && inTheWay.size > 0; entry++) {
    if (tables.states[entry] !== State.WRITTEN) continue;
    const at = entry * STAT_WORDS;
    const ino = tables.stats[at + STAT.ino] ?? 0;
    if (ino === 0 || !inTheWay.has(`${tables.stats[at + STAT.dev] ?? 0} ${ino}`)) continue;
    tables.states[entry] = State.COLLIDED;
  }
}

/** How many paths a warning names. */
const MOST_NAMED = 100;

/** What a clone says of the groups in which paths have displaced others; git's words, in one line. */
export function collisionWarning(tables: Tables, groups: Uint32Array, hit: ReadonlySet<number>): string {
  const named: string[] = [];
  let more = 0;
  for (let entry = 0; entry < tables.count; entry++) {
    if (!hit.has(groups[entry] ?? 0)) continue;
    if (named.length === MOST_NAMED) more++;
    else
      named.push(
        `'${displayPath(tables.pathBytes, tables.pathOffsets[entry] ?? 0, tables.pathOffsets[entry + 1] ?? 0)}'`,
      );
  }
  const rest = more === 0 ? '' : ` and ${more} more`;
  return `the following paths have collided (e.g. case-sensitive paths on a case-insensitive filesystem) and only one from the same colliding group is in the working tree: ${named.join(', ')}${rest}`;
}

/**
 * Whether the file system of a working tree takes `.GIT` for `.git`, where it has one; false where it has none. What was said when
 * the repository was made (core.ignoreCase) need not hold where it is now.
 */
export function foldsCase(workTree: string): boolean {
  try {
    const [lower, upper] = ['.git', '.GIT'].map((name): BigIntStats | undefined =>
      lstatSync(`${workTree}/${name}`, { bigint: true, throwIfNoEntry: false }),
    );
    return lower !== undefined && upper !== undefined && lower.ino === upper.ino && lower.dev === upper.dev;
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return false;
  }
}
