/** Makes an index table entry by entry, for indexes that are put together from more than one source. */
import type { Bytes } from '../bytes.ts';
import { STAT_WORDS, type IndexTable } from './index-table.ts';

/**
 * Most entries and bytes of paths. Ten times what the largest repositories have; a small file can name trees that stand for
 * more than fit any memory.
 */
const MOST_ENTRIES = 0xff_ffff;
const MOST_PATH_BYTES = 0x7fff_ffff;

export class IndexTableBuilder {
  count = 0;
  /** Set when it would become larger than the bounds; what came after is not in it. */
  isFull = false;
  readonly #oidBytes: number;
  #pathLength = 0;
  #pathBytes: Uint8Array<ArrayBuffer>;
  #pathOffsets: Uint32Array<ArrayBuffer>;
  #oids: Uint8Array<ArrayBuffer>;
  #modes: Uint32Array<ArrayBuffer>;
  #stats: Uint32Array<ArrayBuffer>;
  #flags: Uint16Array<ArrayBuffer>;
  #extendedFlags: Uint16Array<ArrayBuffer>;

  /** Room for so many entries, with ids of that length, and bytes of paths; it grows when they do not suffice. */
  constructor(oidBytes: number, entries: number, pathBytes: number) {
    this.#oidBytes = oidBytes;
    this.#pathBytes = new Uint8Array(pathBytes);
    this.#pathOffsets = new Uint32Array(entries + 1);
    this.#oids = new Uint8Array(entries * this.#oidBytes);
    this.#modes = new Uint32Array(entries);
    this.#stats = new Uint32Array(entries * STAT_WORDS);
    this.#flags = new Uint16Array(entries);
    this.#extendedFlags = new Uint16Array(entries);
  }

  /** Puts bytes[start, end) behind the path of the entry that `add` will finish. */
  appendPath(bytes: Bytes, start: number, end: number): void {
    const length = this.#pathLength + end - start;
    if (length > this.#pathBytes.length) {
      if (length > MOST_PATH_BYTES) {
        this.isFull = true;
        return;
      }
      this.#pathBytes = grown(this.#pathBytes, new Uint8Array(Math.min(MOST_PATH_BYTES, 2 * length + 4096)));
    }
    const pathBytes = this.#pathBytes;
    for (let i = start, at = this.#pathLength; i < end; i++) pathBytes[at++] = bytes[i]!;
    this.#pathLength = length;
  }

  /** Adds an entry with the path that was appended, and no stat data. */
  add(mode: number, oids: Bytes, oidAt: number, flags: number, extendedFlags: number): void {
    const entry = this.count;
    if (entry === this.#modes.length) {
      if (entry >= MOST_ENTRIES) this.isFull = true;
      if (this.isFull) return;
      this.#grow();
    }
    const oidBytes = this.#oidBytes;
    for (let i = 0; i < oidBytes; i++) this.#oids[entry * oidBytes + i] = oids[oidAt + i]!;
    this.#modes[entry] = mode;
    this.#flags[entry] = flags;
    this.#extendedFlags[entry] = extendedFlags;
    this.#pathOffsets[entry + 1] = this.#pathLength;
    this.count = entry + 1;
  }

  /** Adds an entry as another table has it, with the path that was appended. */
  addFrom(table: IndexTable, entry: number): void {
    this.add(table.modes[entry]!, table.oids, entry * this.#oidBytes, table.flags[entry]!, table.extendedFlags[entry]!);
    if (this.isFull) return;
    const to = (this.count - 1) * STAT_WORDS;
    for (let i = 0; i < STAT_WORDS; i++) this.#stats[to + i] = table.stats[entry * STAT_WORDS + i]!;
  }

  /** The table; what is not in entries is `of`'s. */
  build(of: IndexTable, extensions: IndexTable['extensions']): IndexTable {
    const { count } = this;
    return {
      ...of,
      count,
      pathBytes: this.#pathBytes.subarray(0, this.#pathLength),
      pathOffsets: this.#pathOffsets.subarray(0, count + 1),
      oids: this.#oids.subarray(0, count * this.#oidBytes),
      modes: this.#modes.subarray(0, count),
      stats: this.#stats.subarray(0, count * STAT_WORDS),
      flags: this.#flags.subarray(0, count),
      extendedFlags: this.#extendedFlags.subarray(0, count),
      extensions,
    };
  }

  #grow(): void {
    const entries = Math.min(MOST_ENTRIES, 2 * this.count + 1024);
    this.#pathOffsets = grown(this.#pathOffsets, new Uint32Array(entries + 1));
    this.#oids = grown(this.#oids, new Uint8Array(entries * this.#oidBytes));
    this.#modes = grown(this.#modes, new Uint32Array(entries));
    this.#stats = grown(this.#stats, new Uint32Array(entries * STAT_WORDS));
    this.#flags = grown(this.#flags, new Uint16Array(entries));
    this.#extendedFlags = grown(this.#extendedFlags, new Uint16Array(entries));
  }
}

function grown<T extends Uint8Array | Uint16Array | Uint32Array>(old: T, larger: T): T {
  larger.set(old);
  return larger;
}
