/**
 * Carries what the stream has written over into the manifest of the ordinary checkout, which then has that much less to do. An entry counts
 * as written only where both agree on its path, mode, id and conversion.
 */
import type { Conversion } from '../../filter/conversion.ts';
import { oidEquals } from '../../oid.ts';
import type { Manifest } from '../manifest.ts';
import { STAT_WORDS, State, type Tables } from '../tables.ts';
import type { LiveDirectory } from './live-tree.ts';
import { conversionCode } from './share.ts';

/** What a stream has written. */
export interface Streamed {
  readonly tables: Tables;
  /** By path with its slash, bytes one to one. */
  readonly directories: ReadonlyMap<string, LiveDirectory>;
  /** The code of a conversion that its entries name by number. */
  conversionCode(number: number): number;
}

/**
 * Marks the manifest's entries that are on disk already, and those whose file may be there in part.
 * @returns how many of the first
 */
export function carryOver(
  { tables, directories }: Manifest,
  conversions: readonly Conversion[],
  streamed: Streamed,
): number {
  const codes = conversions.map((conversion) => conversionCode(conversion));
  const { oidBytes } = tables.format;
  const live = streamed.tables;
  // By directory of the manifest, the next entry of the stream's; -1 where it has none.
  const next = new Int32Array(directories.count).fill(-1);
  const ends = new Int32Array(directories.count);
  const seen = new Uint8Array(directories.count);
  let carried = 0;
  for (let entry = 0; entry < tables.count; entry++) {
    if (tables.states[entry] !== State.PENDING) continue;
    const directory = tables.directories[entry] ?? 0;
    const start = tables.pathOffsets[entry] ?? 0;
    const end = tables.pathOffsets[entry + 1] ?? 0;
    if (seen[directory] === 0) {
      seen[directory] = 1;
      const length = directories.pathLength[directory] ?? 0;
      const path = Buffer.from(tables.pathBytes.buffer, start, length === 0 ? 0 : length + 1).toString('latin1');
      const found = streamed.directories.get(path);
      if (found !== undefined) {
        next[directory] = found.firstEntry;
        ends[directory] = found.endEntry;
      }
    }
    // Both have the directory's files in the same order; each may have some that the other has not.
    for (let other = next[directory] ?? -1; other >= 0 && other < (ends[directory] ?? 0); other++) {
      const order = comparePaths(tables, start, end, live, other);
      if (order < 0) break;
      next[directory] = other + 1;
      if (order > 0) continue;
      const same =
        live.modes[other] === tables.modes[entry] &&
        codes[tables.conversions[entry] ?? 0] === streamed.conversionCode(live.conversions[other] ?? 0) &&
        oidEquals(live.oids, other * oidBytes, tables.oids, entry * oidBytes, oidBytes);
      const state = live.states[other];
      if (same && state === State.WRITTEN) {
        tables.states[entry] = State.WRITTEN;
        const from = other * STAT_WORDS;
        tables.stats.set(live.stats.subarray(from, from + STAT_WORDS), entry * STAT_WORDS);
        carried++;
      } else if (state !== State.PENDING) {
        tables.states[entry] = State.COLLIDED;
      }
      break;
    }
  }
  return carried;
}

function comparePaths(a: Tables, aStart: number, aEnd: number, b: Tables, entry: number): number {
  const bStart = b.pathOffsets[entry] ?? 0;
  const length = aEnd - aStart;
  const bLength = (b.pathOffsets[entry + 1] ?? 0) - bStart;
  const least = Math.min(length, bLength);
  for (let i = 0; i < least; i++) {
    const order = (a.pathBytes[aStart + i] ?? 0) - (b.pathBytes[bStart + i] ?? 0);
    if (order !== 0) return order;
  }
  return length - bLength;
}
