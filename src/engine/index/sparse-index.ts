/**
 * Sparse indexes (`index.sparse`): a directory of which nothing is to be in the working tree is one entry, with the id of
 * its tree. Its files are put in its place, so that everybody else here sees files only; git folds the directory again
 * the next time it writes the index. Format: gitformat-index, "Sparse directory entries".
 */
import type { Bytes } from '../bytes.ts';
import { MODE_TREE, TreeCursor } from '../object/tree.ts';
import { EXTENDED_FLAG, MODE, type IndexTable } from './index-table.ts';
import { IndexTableBuilder } from './table-builder.ts';

/** Signature of the extension that an index with such entries has. */
const SDIR = 'sdir';

/** A tree may name one subtree many times, and so on: as many directories as a checkout takes at most, and as deep. */
const MOST_DIRECTORIES = 4_000_000;
const MOST_DEPTH = 2048;
/** Far beyond what any system opens; each file of a directory has its path in the table. */
const MOST_PATH_LENGTH = 1 << 16;
const SLASH = 0x2f;

/** Gives a tree's bytes, which must stay as they are. */
export type ReadTree = (oids: Bytes, oidAt: number) => Bytes;

export function hasSparseDirectories(table: IndexTable): boolean {
  for (let i = 0; i < table.count; i++) if ((table.modes[i]! & MODE.typeMask) === MODE.directory) return true;
  return false;
}

/**
 * The index with files in place of directories, each marked skip-worktree.
 * @returns the table without the extension, its order not checked; or what is wrong with it
 * @throws CheckoutError what `readTree` throws
 */
export function expandSparseIndex(table: IndexTable, readTree: ReadTree): IndexTable | string {
  const extensions = table.extensions.filter(({ signature }) => signature !== SDIR);
  if (!hasSparseDirectories(table)) return { ...table, extensions };
  if (extensions.length === table.extensions.length) return 'an entry is a directory and the index is not sparse';
  const { oidBytes } = table.format;
  const builder = new IndexTableBuilder(oidBytes, 2 * table.count, 2 * table.pathBytes.length);
  const directories = { count: 0 };
  for (let entry = 0; entry < table.count; entry++) {
    const start = table.pathOffsets[entry]!;
    const end = table.pathOffsets[entry + 1]!;
    if ((table.modes[entry]! & MODE.typeMask) !== MODE.directory) {
      builder.appendPath(table.pathBytes, start, end);
      builder.addFrom(table, entry);
      continue;
    }
    if (table.pathBytes[end - 1] !== SLASH) return `entry ${entry} is a directory and does not end in '/'`;
    const wrong = expand(
      builder,
      oidBytes,
      table.pathBytes.slice(start, end),
      table.oids,
      entry * oidBytes,
      readTree,
      directories,
    );
    if (wrong !== null) return wrong;
  }
  return builder.build(table, extensions);
}

/** Adds all files of a tree. `directory` ends in '/'. */
function expand(
  builder: IndexTableBuilder,
  oidBytes: number,
  directory: Bytes,
  oids: Bytes,
  oidAt: number,
  readTree: ReadTree,
  directories: { count: number },
): string | null {
  // The path of the tree that the walk is in; each frame says how much of it is its own.
  let path = new Uint8Array(directory.length + 4096);
  path.set(directory);
  const frames = [{ pathLength: directory.length, cursor: new TreeCursor(readTree(oids, oidAt), oidBytes) }];
  for (let frame = frames.at(-1); frame !== undefined; frame = frames.at(-1)) {
    const { cursor, pathLength } = frame;
    const found = cursor.next();
    if (found < 0) return 'a tree of a sparse directory is not valid';
    if (found === 0) {
      frames.pop();
      continue;
    }
    if (cursor.mode !== MODE_TREE) {
      builder.appendPath(path, 0, pathLength);
      builder.appendPath(cursor.bytes, cursor.nameStart, cursor.nameEnd);
      builder.add(cursor.mode, cursor.bytes, cursor.oidAt, 0, EXTENDED_FLAG.skipWorktree);
      if (builder.isFull) return 'its sparse directories have too many files';
      continue;
    }
    if (++directories.count > MOST_DIRECTORIES) return 'its sparse directories have too many directories';
    if (frames.length === MOST_DEPTH) return 'its sparse directories are too deep';
    const below = pathLength + cursor.nameEnd - cursor.nameStart + 1;
    if (below > path.length) {
      if (below > MOST_PATH_LENGTH) return 'a path in its sparse directories is too long';
      const longer = new Uint8Array(2 * below);
      longer.set(path);
      path = longer;
    }
    path.set(cursor.bytes.subarray(cursor.nameStart, cursor.nameEnd), pathLength);
    path[below - 1] = SLASH;
    frames.push({ pathLength: below, cursor: new TreeCursor(readTree(cursor.bytes, cursor.oidAt), oidBytes) });
  }
  return null;
}
