/**
 * Ids for the directories whose tree in the commit is not the one that git would write of the index's entries (an unusual mode,
 * an empty subtree, entries out of order): git makes that tree, and if the repository happens to have it, its cache tree names it.
 * So do we; without, git's own look at such a commit differs.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { Bytes } from '../bytes.ts';
import { LOOSE, type ObjectDatabase } from '../odb/object-database.ts';
import { loosePath } from '../odb/loose.ts';
import { oidToHex } from '../oid.ts';
import type { Manifest } from './manifest.ts';

/** Makes directories regular where the repository has the tree of their entries. Costs nothing where all are. */
export function repairTrees(
  { directories, tables }: Pick<Manifest, 'directories' | 'tables'>,
  odb: ObjectDatabase,
): void {
  // What is irregular is so all the way up.
  if (directories.irregular[0] === 0) return;
  const { irregular, oids, format } = directories;
  // What is below a directory has a larger number.
  for (let directory = directories.count - 1; directory >= 0; directory--) {
    if (irregular[directory] === 0) continue;
    const oid = treeOf({ directories, tables }, directory);
    if (oid === null || !hasObject(odb, oid)) continue;
    oids.set(oid, directory * format.oidBytes);
    irregular[directory] = 0;
  }
}

/** The id of the tree of a directory's entries; null where that of a directory in it is not known. */
function treeOf({ directories, tables }: Pick<Manifest, 'directories' | 'tables'>, directory: number): Bytes | null {
  const { pathBytes, pathOffsets } = tables;
  const { name, oidBytes } = directories.format;
  const first = directories.firstEntry[directory] ?? 0;
  const end = first + (directories.entryCount[directory] ?? 0);
  const length = directories.pathLength[directory] ?? 0;
  const nameAt = length === 0 ? 0 : length + 1;
  const parts: Bytes[] = [];
  for (let entry = first; entry < end;) {
    const start = pathOffsets[entry] ?? 0;
    let child = tables.directories[entry] ?? 0;
    const isFile = child === directory;
    while (!isFile && directories.parent[child] !== directory) child = directories.parent[child] ?? directory;
    if (!isFile && directories.irregular[child] === 1) return null;
    const nameEnd = isFile ? (pathOffsets[entry + 1] ?? 0) : start + (directories.pathLength[child] ?? 0);
    const mode = isFile ? (tables.modes[entry] ?? 0) : 0o40000;
    const [from, at] = isFile ? [tables.oids, entry] : [directories.oids, child];
    parts.push(Buffer.from(`${mode.toString(8)} `), pathBytes.subarray(start + nameAt, nameEnd), NUL);
    parts.push(from.subarray(at * oidBytes, (at + 1) * oidBytes));
    entry += isFile ? 1 : (directories.entryCount[child] ?? 1);
  }
  const size = parts.reduce((sum, part) => sum + part.length, 0);
  const hash = createHash(name).update(`tree ${size}\0`);
  for (const part of parts) hash.update(part);
  return hash.digest();
}

const NUL = Buffer.alloc(1);

function hasObject(odb: ObjectDatabase, oid: Bytes): boolean {
  if (!odb.find(oid, 0)) return false;
  if (odb.pack !== LOOSE) return true;
  const hex = oidToHex(oid, 0, odb.format.oidBytes);
  return odb.directories.some((directory) => existsSync(loosePath(directory, hex)));
}
