/**
 * Git LFS files of a checkout that is to have their content: those are found of which the working tree has the pointer only, and what
 * the local store lacks of all that will be written is downloaded in one go, before anything is touched.
 */
import { statSync } from 'node:fs';
import type { Bytes } from '../bytes.ts';
import { CheckoutError } from '../errors.ts';
import type { Conversion } from '../filter/conversion.ts';
import { lfsPointerOid, lfsPointerSize } from '../filter/lfs-pointer.ts';
import { lfsObjectPath, type LfsStore } from '../filter/lfs-store.ts';
import { STAT } from '../index/index-table.ts';
import { MODE_GITLINK, MODE_SYMLINK } from '../object/tree.ts';
import type { ObjectDatabase } from '../odb/object-database.ts';
import { BLOB } from '../pack/entry.ts';
import { displayPath } from '../worktree/paths.ts';
import { type FetchMissing, fetchObject } from './promised-objects.ts';
import { State, STAT_WORDS, type Tables } from './tables.ts';

/** What brings the content. */
export interface LfsSource {
  readonly store: LfsStore;
  /** Whether path lists may keep some files from having theirs. */
  hasPathLists(lfsConfig: Bytes | null): boolean;
  /** Which of them the lists allow. */
  select(pointers: readonly LfsEntry[], lfsConfig: Bytes | null): Promise<readonly boolean[]>;
  download(pointers: readonly LfsEntry[], lfsConfig: Bytes | null): Promise<void>;
  /** The number of a conversion that is the same but for leaving pointers. */
  leavingPointers(conversion: number): number;
}

/** An entry whose blob is a pointer, or may be one to git-lfs. */
export interface LfsEntry {
  readonly entry: number;
  readonly path: Bytes;
  readonly content: Bytes;
  /** Null where only git-lfs can read the pointer. */
  readonly oid: string | null;
  readonly size: number;
}

/** git-lfs reads no further to see whether a file is a pointer (its specification, version 1). */
const MOST_POINTER_BYTES = 1024;
/** Any pointer has 64 digits, and the name of its version. */
const LEAST_POINTER_BYTES = 100;

/** A file of settings is not longer; what is, is left to git-lfs. */
const MOST_CONFIG_BYTES = 1 << 20;

const LFS_CONFIG = Buffer.from('.lfsconfig');

/**
 * Opens entries that would stay and whose file may be a pointer by its size; `settleKept` must follow when conversions are known.
 * Returns them.
 */
export function openSmallKept(tables: Tables): number[] {
  const opened: number[] = [];
  for (let entry = 0; entry < tables.count; entry++) {
    if (tables.states[entry] !== State.KEPT) continue;
    const mode = tables.modes[entry];
    if (mode === MODE_SYMLINK || mode === MODE_GITLINK) continue;
    const size = tables.stats[entry * STAT_WORDS + STAT.size] ?? 0;
    if (size < LEAST_POINTER_BYTES || size >= MOST_POINTER_BYTES) continue;
    tables.states[entry] = State.VERIFY;
    opened.push(entry);
  }
  return opened;
}

/** Closes those again that are no files of Git LFS. Returns the others, which will be compared. */
export function settleKept(tables: Tables, conversions: readonly Conversion[], opened: readonly number[]): number[] {
  return opened.filter((entry) => {
    if (conversions[tables.conversions[entry] ?? 0]?.driver?.lfs?.skip === false) return true;
    tables.states[entry] = State.KEPT;
    return false;
  });
}

/**
 * Sees to it that the store has what will be written. Entries that the path lists forbid get a conversion that leaves pointers.
 *
 * @param compared entries of `settleKept`; those whose file cannot be the content will be replaced
 * @param conversions by number; grows
 * @param fetchMissing for .lfsconfig, which may lie outside of a sparse checkout
 * @throws CheckoutError fetch-failed and others of the download
 */
export async function bringLfs(
  odb: ObjectDatabase,
  tables: Tables,
  conversions: () => readonly Conversion[],
  compared: readonly number[],
  source: LfsSource,
  fetchMissing: FetchMissing | undefined,
): Promise<void> {
  let entries = pointersToWrite(odb, tables, conversions());
  if (entries.length === 0) return;
  const lfsConfig = await readLfsConfig(odb, tables, fetchMissing);
  if (source.hasPathLists(lfsConfig)) {
    const allowed = await source.select(entries, lfsConfig);
    for (const [at, { entry }] of entries.entries()) {
      if (allowed[at] !== true) tables.conversions[entry] = source.leavingPointers(tables.conversions[entry] ?? 0);
    }
    entries = entries.filter((_, at) => allowed[at] === true);
  }
  replacePointers(tables, entries, compared);
  const absent = entries.filter((each) => isAbsent(source.store, each));
  if (absent.length === 0) return;
  await source.download(absent, lfsConfig);
  const still = absent.filter((each) => each.oid !== null && isAbsent(source.store, each));
  const [first] = still;
  if (first === undefined) return;
  const path = displayPath(first.path, 0, first.path.length);
  const more = still.length === 1 ? '' : ` (and ${still.length - 1} more)`;
  throw new CheckoutError('fetch-failed', `git-lfs did not download '${path}' (object ${first.oid ?? ''})${more}`, {
    path,
    oid: first.oid ?? '',
  });
}

const TO_WRITE: ReadonlySet<number> = new Set([State.PENDING, State.REPLACE, State.VERIFY, State.COLLIDED]);

function pointersToWrite(odb: ObjectDatabase, tables: Tables, conversions: readonly Conversion[]): LfsEntry[] {
  const found: LfsEntry[] = [];
  if (!conversions.some(({ driver }) => driver?.lfs?.skip === false)) return found;
  for (let entry = 0; entry < tables.count; entry++) {
    if (!TO_WRITE.has(tables.states[entry] ?? State.KEPT)) continue;
    if (conversions[tables.conversions[entry] ?? 0]?.driver?.lfs?.skip !== false) continue;
    if (tables.modes[entry] === MODE_SYMLINK) continue;
    const content = readBlob(odb, tables, entry, MOST_POINTER_BYTES);
    if (content === null) continue;
    const size = lfsPointerSize(content);
    if (size < 0 && !mayBePointer(content)) continue;
    found.push({
      entry,
      path: tables.pathBytes.slice(tables.pathOffsets[entry] ?? 0, tables.pathOffsets[entry + 1] ?? 0),
      content,
      oid: size < 0 ? null : lfsPointerOid(content),
      size: Math.max(size, 0),
    });
  }
  return found;
}

/** Whether git-lfs may see a pointer where we do not: extensions, other ends of lines. */
function mayBePointer(content: Bytes): boolean {
  return content.length >= LEAST_POINTER_BYTES && Buffer.from(content).includes('oid sha256:');
}

/** A copy of the entry's blob; null where it is too large, no blob, or cannot be read, which whoever writes it will tell. */
function readBlob(odb: ObjectDatabase, tables: Tables, entry: number, most: number): Bytes | null {
  try {
    const content = odb.read(tables.oids, entry * tables.format.oidBytes);
    return odb.reader.type === BLOB && content.length <= most ? new Uint8Array(content) : null;
  } catch (error) {
    if (error instanceof CheckoutError) return null;
    throw error;
  }
}

/** The commit's .lfsconfig, wherever the checkout leaves it. */
async function readLfsConfig(
  odb: ObjectDatabase,
  tables: Tables,
  fetchMissing: FetchMissing | undefined,
): Promise<Bytes | null> {
  const entry = findEntry(tables, LFS_CONFIG);
  if (entry < 0 || tables.modes[entry] === MODE_SYMLINK || tables.modes[entry] === MODE_GITLINK) return null;
  if (fetchMissing !== undefined) {
    await fetchObject(odb, tables.oids, entry * tables.format.oidBytes, fetchMissing);
  }
  return readBlob(odb, tables, entry, MOST_CONFIG_BYTES);
}

/** The entry of a path: a binary search; -1 where there is none. */
function findEntry(tables: Tables, path: Bytes): number {
  let low = 0;
  let high = tables.count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const found = tables.pathBytes.subarray(tables.pathOffsets[middle] ?? 0, tables.pathOffsets[middle + 1] ?? 0);
    const order = Buffer.compare(found, path);
    if (order === 0) return middle;
    if (order < 0) low = middle + 1;
    else high = middle;
  }
  return -1;
}

/** A file of another size than the content is not it, so that a worker may write it at once. */
function replacePointers(tables: Tables, entries: readonly LfsEntry[], compared: readonly number[]): void {
  const wasKept = new Set(compared);
  for (const { entry, oid, size } of entries) {
    if (oid === null || !wasKept.has(entry) || tables.states[entry] !== State.VERIFY) continue;
    if (tables.stats[entry * STAT_WORDS + STAT.size] !== size % 2 ** 32) tables.states[entry] = State.REPLACE;
  }
}

function isAbsent(store: LfsStore, { oid, size }: LfsEntry): boolean {
  if (oid === null) return true;
  try {
    const stat = statSync(lfsObjectPath(store, oid), { throwIfNoEntry: false });
    return stat === undefined || !stat.isFile() || stat.size !== size;
  } catch {
    return true;
  }
}
