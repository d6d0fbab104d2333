/**
 * What the lists of files take while files are written: they grow with the tree, and what is left of the memory limit for large
 * objects is less by that much. A million files with an old index came to 420 MB at the peak, Node's own 60 MB with it.
 */
import type { IndexTable } from '../index/index-table.ts';
import { STAT_WORDS, type Tables } from './tables.ts';

/** An entry of an index file beside its id and path: stat data, flags, padding of 8 bytes at most. */
const INDEX_FILE_ENTRY_BYTES = 42 + 8;

/** Bytes of the tables, of the old index, and of the new index file that is prepared. */
export function heldBytes(tables: Tables, index: IndexTable | null): number {
  const { count, format } = tables;
  const paths = tables.pathOffsets[count] ?? 0;
  const perEntry =
    [
      tables.pathOffsets,
      tables.modes,
      tables.flags,
      tables.extendedFlags,
      tables.conversions,
      tables.states,
      tables.packs,
      tables.offsets,
      tables.directories,
    ].reduce((sum, { BYTES_PER_ELEMENT }) => sum + BYTES_PER_ELEMENT, 0) +
    4 * STAT_WORDS +
    format.oidBytes;
  const newFile = count * (INDEX_FILE_ENTRY_BYTES + format.oidBytes) + paths;
  const old =
    index === null
      ? 0
      : [
          index.pathBytes,
          index.pathOffsets,
          index.oids,
          index.modes,
          index.stats,
          index.flags,
          index.extendedFlags,
        ].reduce((sum, { byteLength }) => sum + byteLength, 0);
  return count * perEntry + paths + newFile + old;
}
