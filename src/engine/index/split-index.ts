/**
 * Split indexes (`core.splitIndex`): the index file has the differences to a shared index in a file of its own. Put
 * together they are an ordinary index, and that is what everybody else here sees. Format: gitformat-index, "Split index".
 */
import type { Bytes } from '../bytes.ts';
import { oidToHex, type ObjectFormat } from '../oid.ts';
import { readBitmap } from './ewah.ts';
import { FLAG, type IndexTable } from './index-table.ts';
import { IndexTableBuilder } from './table-builder.ts';

/** Signature of the extension that makes an index split. */
export const LINK = 'link';

/** The id of the shared index that `link` names, in hexadecimal; null when it names none, which is an index as any other. */
export function sharedIndexId(link: Bytes, { oidBytes }: ObjectFormat): string | null {
  return link.subarray(0, oidBytes).some((byte) => byte !== 0) ? oidToHex(link, 0, oidBytes) : null;
}

/**
 * The whole index of a split one.
 * @param split the index file's own entries, first those that replace entries of the shared index and have no path
 * @param link content of its extension, at least an id long
 * @param shared null when `link` names none
 * @returns the table without the extension, its order not checked; or what is wrong with the split index
 */
export function joinSplitIndex(split: IndexTable, link: Bytes, shared: IndexTable | null): IndexTable | string {
  const extensions = split.extensions.filter(({ signature }) => signature !== LINK);
  if (shared === null) return { ...split, extensions };
  const isDeleted = new Uint8Array(shared.count);
  /** For each shared entry, the entry of the split index that takes its place, counted from 1. */
  const replacedBy = new Uint32Array(shared.count);
  let replacements = 0;
  const { oidBytes } = split.format;
  if (link.length > oidBytes) {
    const deleted = readBitmap(link, oidBytes, shared.count);
    if (deleted === null) return 'the list of deleted entries is damaged';
    const replaced = readBitmap(link, deleted.end, shared.count);
    if (replaced === null) return 'the list of replaced entries is damaged';
    if (replaced.end !== link.length) return 'something follows the lists of the split index';
    for (const entry of deleted.positions) isDeleted[entry] = 1;
    if (replaced.positions.length > split.count) return 'there are fewer entries than replace others';
    for (const entry of replaced.positions) {
      if (isDeleted[entry] === 1) return `shared entry ${entry} is both deleted and replaced`;
      if (split.pathOffsets[replacements + 1] !== split.pathOffsets[replacements]) {
        return `entry ${replacements} replaces another and has a path`;
      }
      replacedBy[entry] = ++replacements;
    }
  }

  const builder = new IndexTableBuilder(
    oidBytes,
    shared.count + split.count - replacements,
    shared.pathBytes.length + split.pathBytes.length,
  );
  const put = (names: IndexTable, named: number, table: IndexTable, entry: number): void => {
    builder.appendPath(names.pathBytes, names.pathOffsets[named]!, names.pathOffsets[named + 1]!);
    builder.addFrom(table, entry);
  };
  let added = replacements;
  for (let entry = 0; entry < shared.count; entry++) {
    if (isDeleted[entry] === 1) continue;
    let order = -1;
    while (added < split.count && (order = compareEntries(split, added, shared, entry)) < 0) {
      put(split, added, split, added);
      added++;
      order = -1;
    }
    // The same path again: git's later entry takes the place of the earlier one.
    if (added < split.count && order === 0) continue;
    const replacement = replacedBy[entry]!;
    if (replacement === 0) put(shared, entry, shared, entry);
    else put(shared, entry, split, replacement - 1);
  }
  for (; added < split.count; added++) put(split, added, split, added);
  if (builder.isFull) return 'it has too many entries';
  return builder.build(split, extensions);
}

/** Order in an index: bytes of the path, the shorter first, then the stage. */
function compareEntries(a: IndexTable, aEntry: number, b: IndexTable, bEntry: number): number {
  const aStart = a.pathOffsets[aEntry]!;
  const bStart = b.pathOffsets[bEntry]!;
  const aLength = a.pathOffsets[aEntry + 1]! - aStart;
  const bLength = b.pathOffsets[bEntry + 1]! - bStart;
  const length = Math.min(aLength, bLength);
  for (let i = 0; i < length; i++) {
    const order = a.pathBytes[aStart + i]! - b.pathBytes[bStart + i]!;
    if (order !== 0) return order;
  }
  if (aLength !== bLength) return aLength - bLength;
  return (a.flags[aEntry]! & FLAG.stage) - (b.flags[bEntry]! & FLAG.stage);
}
