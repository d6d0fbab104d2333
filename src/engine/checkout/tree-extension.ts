/**
 * The cache tree of the index to be written, from the directories of the manifest.
 */
import type { Bytes } from '../bytes.ts';
import { UNKNOWN_TREE, serializeCacheTree } from '../index/cache-tree.ts';
import { EXTENDED_FLAG } from '../index/index-table.ts';
import type { Manifest } from './manifest.ts';

/** The cache tree, as far as the ids of trees can be vouched for. */
export function cacheTreeOf(manifest: Manifest): Bytes {
  const { directories, tables } = manifest;
  const known = knownEntryCounts(manifest);
  const { count, irregular } = directories;
  const { oidBytes } = directories.format;
  const parent = new Int32Array(count);
  const nameStart = new Uint32Array(count);
  const nameEnd = new Uint32Array(count);
  const entryCount = new Uint32Array(count);
  const oids = new Uint8Array(count * oidBytes);
  // Directories without entries are in no index, so the others move up.
  const numbers = new Int32Array(count);
  let rows = 0;
  for (let i = 0; i < count; i++) {
    if (i > 0 && directories.entryCount[i] === 0) continue;
    const row = rows++;
    numbers[i] = row;
    const above = directories.parent[i] ?? -1;
    parent[row] = above < 0 ? -1 : (numbers[above] ?? 0);
    if (i > 0) {
      const pathStart = tables.pathOffsets[directories.firstEntry[i] ?? 0] ?? 0;
      nameStart[row] = pathStart + (above === 0 ? 0 : (directories.pathLength[above] ?? 0) + 1);
      nameEnd[row] = pathStart + (directories.pathLength[i] ?? 0);
    }
    entryCount[row] = irregular[i] === 1 ? UNKNOWN_TREE : (known[i] ?? 0);
    oids.set(directories.oids.subarray(i * oidBytes, (i + 1) * oidBytes), row * oidBytes);
  }
  return serializeCacheTree(
    { format: directories.format, count: rows, parent, nameStart, nameEnd, entryCount, oids },
    tables.pathBytes,
  );
}

/** The entries of each directory. An entry that is intended only is in no tree that git would make of the index. */
function knownEntryCounts({ directories, tables }: Manifest): Uint32Array {
  let counts = directories.entryCount;
  for (let entry = 0; entry < tables.count; entry++) {
    if (((tables.extendedFlags[entry] ?? 0) & EXTENDED_FLAG.intentToAdd) === 0) continue;
    if (counts === directories.entryCount) counts = counts.slice();
    for (let above = tables.directories[entry] ?? 0; above >= 0; above = directories.parent[above] ?? -1) {
      counts[above] = UNKNOWN_TREE;
    }
  }
  return counts;
}
