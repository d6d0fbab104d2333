/**
 * Finds the entries that want a blob, by its id: a hash table in shared memory that one thread adds to while others look. An entry that
 * is added meanwhile may be missed; it is written in the ordinary pass then.
 */
import type { Bytes } from '../../bytes.ts';
import { oidEquals } from '../../oid.ts';
import type { Tables } from '../tables.ts';
import type { StreamShare } from './share.ts';

type WantedTable = Pick<StreamShare, 'slots' | 'next'>;

/** Ids are uniformly distributed, so four bytes of them are a hash. Whoever makes a repository can choose them; a search is bounded. */
function slotOf(oids: Bytes, at: number, slots: number): number {
  return (
    (((oids[at] ?? 0) | ((oids[at + 1] ?? 0) << 8) | ((oids[at + 2] ?? 0) << 16) | ((oids[at + 3] ?? 0) << 24)) >>> 0) &
    (slots - 1)
  );
}

/** Longest run of filled slots that is searched. In a table that is half full, one of 40 does not occur by chance. */
const MOST_PROBES = 64;

/** Adds an entry; main thread only. */
export function addWanted({ slots, next }: WantedTable, tables: Tables, entry: number): void {
  const { oidBytes } = tables.format;
  const oidAt = entry * oidBytes;
  let slot = slotOf(tables.oids, oidAt, slots.length);
  for (let probe = 0; probe < MOST_PROBES; probe++) {
    const head = slots[slot] ?? 0;
    if (head === 0 || oidEquals(tables.oids, (head - 1) * oidBytes, tables.oids, oidAt, oidBytes)) {
      // Before the entry can be found.
      next[entry] = head;
      Atomics.store(slots, slot, entry + 1);
      return;
    }
    slot = (slot + 1) & (slots.length - 1);
  }
}

/** The first entry that wants the blob of this id, or -1; `nextWanted` gives the others. */
export function firstWanted({ slots }: WantedTable, tables: Tables, oids: Bytes, oidAt: number): number {
  const { oidBytes } = tables.format;
  let slot = slotOf(oids, oidAt, slots.length);
  for (let probe = 0; probe < MOST_PROBES; probe++) {
    const head = Atomics.load(slots, slot);
    if (head === 0) return -1;
    if (oidEquals(tables.oids, (head - 1) * oidBytes, oids, oidAt, oidBytes)) return head - 1;
    slot = (slot + 1) & (slots.length - 1);
  }
  return -1;
}

export function nextWanted({ next }: WantedTable, entry: number): number {
  return (next[entry] ?? 0) - 1;
}
