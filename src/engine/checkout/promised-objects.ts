/**
 * In a partial clone objects may be absent, and promised by a remote. What a checkout needs is fetched before anything is touched:
 * commits one by one, trees and .gitattributes level by level, and all blobs that will be written in one request.
 *
 * Sparse checkouts and updates ask for little that way: entries that are not written are not asked for.
 */
import { bufferOver, type Bytes } from '../bytes.ts';
import { CheckoutError } from '../errors.ts';
import { MODE_GITLINK, MODE_SYMLINK, MODE_TREE, TreeCursor } from '../object/tree.ts';
import type { ObjectDatabase } from '../odb/object-database.ts';
import { oidToHex } from '../oid.ts';
import { TREE } from '../pack/entry.ts';
import { peelToTree } from './peel.ts';
import { State, type Tables } from './tables.ts';

/** Brings objects that are missing; `missing` tells which still are. Throws when some cannot be had. */
export type FetchMissing = (missing: () => readonly string[]) => Promise<void>;

const ATTRIBUTES = Buffer.from('.gitattributes');

/** States before anything is written. COLLIDED are then paths that the file system takes for one. */
const WRITTEN_LATER: ReadonlySet<number> = new Set([
  State.PENDING,
  State.REPLACE,
  State.VERIFY,
  State.COLLIDED,
  State.FILTER,
  State.FILTER_VERIFY,
]);

/** Commits and tags on the way that may be absent: each costs a request. */
const MOST_PEELED = 64;

/**
 * Follows tags to a commit as peelToTree, and fetches what is absent.
 * @throws CheckoutError what peelToTree and the fetch throw
 */
export async function peelPromised(
  odb: ObjectDatabase,
  hex: string,
  fetch: FetchMissing,
): Promise<{ commit: string; tree: Uint8Array }> {
  for (let requests = 0; ; requests++) {
    try {
      return peelToTree(odb, hex);
    } catch (error) {
      const oid = error instanceof CheckoutError && error.code === 'object-missing' ? error.subject.oid : undefined;
      if (oid === undefined || requests === MOST_PEELED) throw error;
      await fetchAll(odb, new Set([oid]), fetch);
    }
  }
}

/**
 * Fetches the trees of a commit and its .gitattributes, as far as they are absent. Damaged trees are left to the manifest to
 * tell.
 */
export async function fetchTrees(odb: ObjectDatabase, root: Bytes, fetch: FetchMissing): Promise<void> {
  const { oidBytes } = odb.format;
  const seen = new Set<string>([oidToHex(root, 0, oidBytes)]);
  let level: Bytes[] = [root];
  /** Blobs of all levels since the last request: they go along with trees, or are asked for at the end. */
  let wanted = new Set<string>();
  while (level.length > 0 || wanted.size > 0) {
    const blobs = wanted.size;
    for (const oid of level) addAbsent(odb, oid, 0, wanted);
    if (wanted.size > blobs || level.length === 0) {
      await fetchAll(odb, wanted, fetch);
      wanted = new Set();
    }
    const next: Bytes[] = [];
    for (const oid of level) {
      const bytes = odb.read(oid);
      if (odb.reader.type !== TREE) continue;
      const cursor = new TreeCursor(new Uint8Array(bytes), oidBytes);
      odb.reader.finish();
      while (cursor.next() === 1) {
        if (cursor.mode === MODE_TREE) {
          const hex = oidToHex(cursor.bytes, cursor.oidAt, oidBytes);
          if (seen.size === seen.add(hex).size) continue;
          next.push(cursor.bytes.slice(cursor.oidAt, cursor.oidAt + oidBytes));
        } else if (
          cursor.mode !== MODE_GITLINK &&
          bufferOver(cursor.bytes, cursor.nameStart, cursor.nameEnd).equals(ATTRIBUTES)
        ) {
          addAbsent(odb, cursor.bytes, cursor.oidAt, wanted);
        }
      }
    }
    level = next;
  }
}

/** Fetches all blobs that are to be written and are absent, in one request. */
export async function fetchBlobs(odb: ObjectDatabase, tables: Tables, fetch: FetchMissing): Promise<void> {
  const wanted = new Set<string>();
  for (let entry = 0; entry < tables.count; entry++) {
    const state = tables.states[entry];
    const isLink = state === State.LATER && tables.modes[entry] === MODE_SYMLINK;
    if (isLink || WRITTEN_LATER.has(state ?? State.LATER)) {
      addAbsent(odb, tables.oids, entry * tables.format.oidBytes, wanted);
    }
  }
  await fetchAll(odb, wanted, fetch);
}

/** Fetches one object if it is absent. */
export async function fetchObject(odb: ObjectDatabase, oid: Bytes, oidAt: number, fetch: FetchMissing): Promise<void> {
  const wanted = new Set<string>();
  addAbsent(odb, oid, oidAt, wanted);
  await fetchAll(odb, wanted, fetch);
}

function addAbsent(odb: ObjectDatabase, oid: Bytes, oidAt: number, wanted: Set<string>): void {
  const absent = odb.absent(oid, oidAt);
  if (absent !== null) wanted.add(absent);
}

async function fetchAll(odb: ObjectDatabase, wanted: ReadonlySet<string>, fetch: FetchMissing): Promise<void> {
  if (wanted.size === 0) return;
  const still = (): string[] => {
    odb.rescan();
    return [...wanted].filter((hex) => odb.absent(Buffer.from(hex, 'hex'), 0) !== null);
  };
  await fetch(still);
}
