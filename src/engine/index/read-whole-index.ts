/**
 * Reads an index of whatever kind as one list of files: a split index is joined with its shared one, a sparse index
 * unfolded. What comes out has been checked as `parseIndex` checks an ordinary index.
 */
import { join } from 'node:path';
import type { ObjectFormat } from '../oid.ts';
import type { IndexTable } from './index-table.ts';
import { checkPaths, corrupt, readIndex } from './parse-index.ts';
import { expandSparseIndex, type ReadTree } from './sparse-index.ts';
import { joinSplitIndex, LINK, sharedIndexId } from './split-index.ts';

/** What of a repository says where its index is, and of which kind. */
export interface IndexPlace {
  /** Where shared indexes are: the working tree's own git directory, wherever the index itself is. */
  readonly gitDir: string;
  readonly indexPath: string;
  readonly objectFormat: ObjectFormat;
}

/**
 * The repository's index; null when there is none. Its modification time is that of the file at `indexPath`.
 * @param readTree reads trees for sparse directories; null leaves those as they are, for whoever only counts
 * @throws CheckoutError index-corrupt, io, and what `readTree` throws
 */
export function readWholeIndex(place: IndexPlace, readTree: ReadTree | null): IndexTable | null {
  const path = place.indexPath;
  const index = readIndex(path, place.objectFormat);
  if (index === null) return null;
  const joined = joinWithShared(index, place);
  if (readTree === null) return joined;
  const whole = expandSparseIndex(joined, readTree);
  if (typeof whole === 'string') throw corrupt(path, whole);
  if (whole.count !== joined.count) checkPaths(whole, path);
  return whole;
}

function joinWithShared(index: IndexTable, place: IndexPlace): IndexTable {
  const { indexPath: path, gitDir, objectFormat } = place;
  const link = index.extensions.find(({ signature }) => signature === LINK)?.bytes;
  if (link === undefined) return index;
  if (link.length < objectFormat.oidBytes) throw corrupt(path, 'it does not say which shared index it belongs to');
  const id = sharedIndexId(link, objectFormat);
  let shared: IndexTable | null = null;
  if (id !== null) {
    const sharedPath = join(gitDir, `sharedindex.${id}`);
    shared = readIndex(sharedPath, objectFormat, id);
    if (shared === null) throw corrupt(path, `its shared index '${sharedPath}' is missing`);
    if (shared.extensions.some(({ signature }) => signature === LINK)) throw corrupt(sharedPath, 'it is split itself');
  }
  const joined = joinSplitIndex(index, link, shared);
  if (typeof joined === 'string') throw corrupt(path, joined);
  checkPaths(joined, path);
  return joined;
}
