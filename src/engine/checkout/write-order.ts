/**
 * In which order the entries are written: as their blobs lie in the packs, so that each pack is read once from front to back and the
 * members of a delta family come together. Fresh packs hold blobs mostly in tree order, so this is close to the order
 * of directories, too.
 */
import { LOOSE, type ObjectDatabase } from '../odb/object-database.ts';
import { isForWorkers, MAX_ENTRIES, type Tables } from './tables.ts';

export interface SortedWrites {
  /** Entries that workers write, in order. */
  readonly order: Uint32Array<SharedArrayBuffer>;
  /** Where each lies in its pack. */
  readonly positions: Float64Array;
}

export interface WriteOrder extends SortedWrites {
  /** Entries whose object is in no pack and cannot be loose. */
  readonly missing: readonly number[];
}

/**
 * Looks up where the blob of each entry for workers is, and sorts. Fills `packs` and `offsets` of the tables.
 * @param count at least how many there are
 */
export function orderWrites(tables: Tables, odb: ObjectDatabase, count: number): WriteOrder {
  const missing: number[] = [];
  const found = new Uint32Array(count);
  let foundCount = 0;
  for (let entry = 0; entry < tables.count; entry++) {
    if (!isForWorkers(tables.states[entry])) continue;
    const oidAt = entry * tables.format.oidBytes;
    if (!odb.find(tables.oids, oidAt) && !odb.findAgain(tables.oids, oidAt, -1, 0)) {
      missing.push(entry);
      continue;
    }
    tables.packs[entry] = odb.pack;
    tables.offsets[entry] = odb.offset;
    found[foundCount++] = entry;
  }
  return { ...sortWrites(tables, found.subarray(0, foundCount)), missing };
}

/** Sorts entries whose places are in the tables. */
export function sortWrites(tables: Tables, entries: Uint32Array): SortedWrites {
  // A 64-bit key, built as two words so that no BigInt is made for an entry: offset (40 bits), then the entry (24 bits).
  const keysByPack = new Map<number, { words: Uint32Array; count: number }>();
  for (const entry of entries) {
    const pack = tables.packs[entry] ?? 0;
    let keys = keysByPack.get(pack);
    if (keys === undefined) {
      keys = { words: new Uint32Array(2 * Math.max(1, keysByPack.size === 0 ? entries.length : 64)), count: 0 };
      keysByPack.set(pack, keys);
    }
    if (2 * keys.count === keys.words.length) {
      const grown = new Uint32Array(keys.words.length * 2);
      grown.set(keys.words);
      keys.words = grown;
    }
    // Loose objects keep the order of their paths.
    const offset = pack === LOOSE ? 0 : (tables.offsets[entry] ?? 0);
    keys.words[2 * keys.count] = ((offset % 0x100) << 24) | entry;
    keys.words[2 * keys.count + 1] = Math.floor(offset / 0x100);
    keys.count++;
  }
  const total = [...keysByPack.values()].reduce((sum, keys) => sum + keys.count, 0);
  const order = new Uint32Array(new SharedArrayBuffer(4 * total));
  const positions = new Float64Array(total);
  let at = 0;
  for (const pack of [...keysByPack.keys()].sort((a, b) => a - b)) {
    const keys = keysByPack.get(pack);
    if (keys === undefined) continue;
    // Little-endian machines only, as all that Node runs on but s390x; there the order is merely not the best.
    new BigUint64Array(keys.words.buffer, 0, keys.count).sort();
    for (let i = 0; i < keys.count; i++) {
      const low = keys.words[2 * i] ?? 0;
      order[at] = low & MAX_ENTRIES;
      positions[at] = (keys.words[2 * i + 1] ?? 0) * 0x100 + (low >>> 24);
      at++;
    }
  }
  return { order, positions };
}
