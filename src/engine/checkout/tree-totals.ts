/**
 * How many directories and entries a tree stands for, without making a table of them: each tree object is read once, and
 * what it came to is remembered. A few objects that name each other again and again are found out by this at once; the walk
 * that fills tables would have filled gigabytes before it met its bounds.
 */
import { bufferOver, type Bytes } from '../bytes.ts';
import { CheckoutError } from '../errors.ts';
import { MODE_TREE, TreeCursor } from '../object/tree.ts';
import type { ObjectDatabase } from '../odb/object-database.ts';
import { readTree } from '../odb/read-tree.ts';

/** Directories, the root among them, and entries that are none. */
export interface TreeTotals {
  directories: number;
  entries: number;
}

interface Frame extends TreeTotals {
  readonly key: string;
  readonly cursor: TreeCursor;
}

/** More different trees than this (100 MB of memory) are no trick: they take the room that their objects take on disk. */
const MOST_TREES = 500_000;
/** Twice what a checkout allows unless it is told otherwise. */
const MOST_DEPTH = 4096;

/**
 * Counts what is below a root tree. The numbers may be beyond all that is exact; then they are large.
 * @returns null where that cannot be said cheaply or at all; whoever walks the trees will meet what is wrong with them
 */
export function treeTotals(odb: ObjectDatabase, rootOid: Bytes, mostTrees = MOST_TREES): TreeTotals | null {
  const { oidBytes } = odb.format;
  /** By id; null while the tree is being counted. */
  const known = new Map<string, TreeTotals | null>();
  const frames: Frame[] = [];
  const enter = (oid: Bytes, oidAt: number, key: string): void => {
    known.set(key, null);
    frames.push({ key, cursor: new TreeCursor(readTree(odb, oid, oidAt), oidBytes), directories: 1, entries: 0 });
  };
  const keyOf = (oid: Bytes, oidAt: number): string => bufferOver(oid, oidAt, oidAt + oidBytes).toString('latin1');
  try {
    enter(rootOid, 0, keyOf(rootOid, 0));
    for (;;) {
      const frame = frames[frames.length - 1];
      if (frame === undefined) return null;
      const { cursor } = frame;
      const found = cursor.next();
      if (found < 0) return null;
      if (found === 0) {
        frames.pop();
        const totals = { directories: frame.directories, entries: frame.entries };
        known.set(frame.key, totals);
        const above = frames[frames.length - 1];
        if (above === undefined) return totals;
        add(above, totals);
        continue;
      }
      if (cursor.mode !== MODE_TREE) {
        frame.entries++;
        continue;
      }
      const key = keyOf(cursor.bytes, cursor.oidAt);
      const totals = known.get(key);
      if (totals === null || frames.length >= MOST_DEPTH || known.size >= mostTrees) return null;
      if (totals === undefined) enter(cursor.bytes, cursor.oidAt, key);
      else add(frame, totals);
    }
  } catch (error) {
    if (error instanceof CheckoutError) return null;
    throw error;
  }
}

function add(to: TreeTotals, more: TreeTotals): void {
  to.directories += more.directories;
  to.entries += more.entries;
}
