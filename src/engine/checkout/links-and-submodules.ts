/**
 * Makes links and submodule directories, in the main thread and in index order, when all files are written.
 */
import { lstatSync } from 'node:fs';
import { type Bytes, bufferOver } from '../bytes.ts';
import { CheckoutError } from '../errors.ts';
import { STAT } from '../index/index-table.ts';
import { statToWords } from '../index/stat-words.ts';
import { MODE_GITLINK } from '../object/tree.ts';
import type { ObjectDatabase } from '../odb/object-database.ts';
import { BLOB } from '../pack/entry.ts';
import { createGitlinkDirectory, createLink, linkHasTarget } from '../worktree/create-link.ts';
import type { LeadingDirectories } from '../worktree/leading-directories.ts';
import { clearEntry } from './clear-way.ts';
import { fail } from './failures.ts';
import type { Prepared, TreeCheckout } from './request.ts';
import { STAT_WORDS, State, type Tables } from './tables.ts';

/** Makes links and submodule directories, in index order. */
export function writeLater(
  request: TreeCheckout,
  prepared: Prepared,
  directories: LeadingDirectories,
  failures: Map<number, CheckoutError>,
): void {
  const { tables } = prepared.manifest;
  for (let entry = 0; entry < tables.count; entry++) {
    if (tables.states[entry] === State.LATER) makeLater(request, prepared, directories, failures, entry);
  }
}

/** Makes one link or submodule directory. */
export function makeLater(
  request: TreeCheckout,
  prepared: Prepared,
  directories: LeadingDirectories,
  failures: Map<number, CheckoutError>,
  entry: number,
): void {
  const { tables } = prepared.manifest;
  const start = tables.pathOffsets[entry] ?? 0;
  const end = tables.pathOffsets[entry + 1] ?? 0;
  const absolute = (): Buffer => prepared.paths.absolute(tables.pathBytes, start, end);
  try {
    const existed = directories.ensure(tables.directories[entry] ?? 0);
    let made: ReturnType<typeof createLink>;
    if (tables.modes[entry] === MODE_GITLINK) {
      if (existed) clearEntry(tables, entry, prepared.paths, request.keep);
      made = createGitlinkDirectory(absolute());
      if (made === null) {
        tables.states[entry] = State.KEPT;
        return;
      }
    } else {
      const target = readLinkTarget(request.odb, tables, entry);
      // Stat data from the old index: the link matched them, but may have been changed in the same second.
      const matched = tables.stats[entry * STAT_WORDS + STAT.mtimeSeconds] !== 0;
      // In a clone a link takes no directory's place: a submodule may be meant to go below it (CVE-2024-32002).
      const yields = request.isClone && isDirectory(absolute());
      if (yields || (matched && linkHasTarget(absolute(), target))) {
        tables.states[entry] = State.KEPT;
        return;
      }
      if (existed) clearEntry(tables, entry, prepared.paths, request.keep);
      made = createLink(absolute(), target);
      if (made === null) {
        clearEntry(tables, entry, prepared.paths, request.keep);
        made = createLink(absolute(), target);
      }
    }
    // What may not be looked at is not removed.
    if (made === null) throw new CheckoutError('io', 'something is in its way', { errno: 'EEXIST' });
    statToWords(made, process.platform, tables.stats, entry * STAT_WORDS, tables.modes[entry] ?? 0);
    tables.states[entry] = State.WRITTEN;
  } catch (error) {
    fail(tables, failures, entry, error);
  }
}

function isDirectory(path: Buffer): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function readLinkTarget(odb: ObjectDatabase, tables: Tables, entry: number): Bytes {
  const content = odb.read(tables.oids, entry * tables.format.oidBytes);
  if (odb.reader.type !== BLOB) throw new CheckoutError('object-corrupt', 'the link target is not a blob');
  const target = Buffer.from(bufferOver(content));
  odb.releaseMemory();
  return target;
}
