/**
 * Files of the old index's own second whose blob is gone. git does not need the blob to tell that such a file has not
 * changed: it hashes the file. Our workers compare with the blob, which is what is read for other files too; so what they
 * cannot read is hashed here, by the main thread.
 */
import { lstatSync, type Stats } from 'node:fs';
import type { Conversion } from '../filter/conversion.ts';
import { oidToHex } from '../oid.ts';
import { fileHasHash } from '../worktree/compare-file.ts';
import type { WorktreePaths } from '../worktree/paths.ts';
import { State, STAT_WORDS, type Tables } from './tables.ts';

/**
 * Keeps the file of an entry that was to be compared (VERIFY) if it holds what the entry's id names. If not, the stat data of the
 * old index go, so that it does not pass for the right one. Of a converted file nothing can be said without the blob: it is
 * neither kept nor given up.
 */
export function keepByHash(
  tables: Tables,
  entry: number,
  conversions: readonly Conversion[],
  paths: WorktreePaths,
): boolean {
  if (conversions[tables.conversions[entry] ?? 0]?.kind !== 'none') return false;
  const { name, oidBytes } = tables.format;
  const path = paths.absolute(tables.pathBytes, tables.pathOffsets[entry] ?? 0, tables.pathOffsets[entry + 1] ?? 0);
  const size = lstatOrNothing(path)?.size ?? 0;
  if (fileHasHash(path, size, name, oidToHex(tables.oids, entry * oidBytes, oidBytes), `blob ${size}\0`)) {
    tables.states[entry] = State.KEPT;
    return true;
  }
  tables.stats.fill(0, entry * STAT_WORDS, (entry + 1) * STAT_WORDS);
  return false;
}

function lstatOrNothing(path: Buffer): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
