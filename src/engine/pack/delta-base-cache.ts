/**
 * Keeps recently inflated delta bases, so that a family of deltas does not inflate its base once for each member.
 *
 * One fixed ring of memory for each thread: entries are copied in one after another and the oldest are overwritten. Nothing is
 * allocated per entry, so the cache cannot grow past its size, which is part of what a worker is planned to cost.
 */
import { freeLarge, type Bytes } from '../bytes.ts';

interface Slot {
  key: number;
  start: number;
  size: number;
  type: number;
}

/** Packs that can be numbered: what 53 bits leave beside offsets of 40 bits (1 TiB, see pack-file.ts). */
export const MAX_PACKS = 2 ** 13;

/** Pack number and offset in one number. */
export function cacheKey(pack: number, offset: number): number {
  return pack * 2 ** 40 + offset;
}

export class DeltaBaseCache {
  /** Empty until something is put in: many readers see no delta. */
  memory = new Uint8Array(0);
  readonly #capacity: number;
  /** Set by `find`: the object is memory[start, start + size). */
  start = 0;
  size = 0;
  type = 0;
  readonly #slots = new Map<number, Slot>();
  /** Keys in the order of their places in the ring, oldest first. */
  #queue: Slot[] = [];
  #queueHead = 0;
  #next = 0;

  /** @param capacity bytes; 0 keeps nothing */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Forgets all, and frees the memory. */
  close(): void {
    freeLarge(this.memory);
    this.memory = new Uint8Array(0);
    this.#slots.clear();
    this.#queue = [];
    this.#queueHead = 0;
    this.#next = 0;
  }

  /** Finds an object and sets `start`, `size` and `type`. */
  find(key: number): boolean {
    const slot = this.#slots.get(key);
    if (slot === undefined) return false;
    this.start = slot.start;
    this.size = slot.size;
    this.type = slot.type;
    return true;
  }

  /**
   * Copies an object, the first `size` bytes, in. Objects over an eighth of the ring are not kept: they would push out much
   * else. Nor are empty ones: they have no place in the ring by which they could be found to be the oldest.
   */
  put(key: number, type: number, bytes: Bytes, size: number): void {
    if (size === 0 || size > this.#capacity >> 3 || this.#slots.has(key)) return;
    if (this.memory.length === 0) this.memory = new Uint8Array(this.#capacity);
    if (this.#next + size > this.memory.length) {
      this.#evict(this.#next, this.memory.length);
      this.#next = 0;
    }
    this.#evict(this.#next, this.#next + size);
    this.memory.set(bytes.subarray(0, size), this.#next);
    const slot = { key, start: this.#next, size, type };
    this.#slots.set(key, slot);
    this.#queue.push(slot);
    this.#next += size;
  }

  /** Drops the entries that lie in [from, to); they are the oldest ones. */
  #evict(from: number, to: number): void {
    for (;;) {
      const oldest = this.#queue[this.#queueHead];
      if (oldest === undefined || oldest.start >= to || oldest.start + oldest.size <= from) break;
      this.#slots.delete(oldest.key);
      this.#queueHead++;
    }
    if (this.#queueHead > 1024 && this.#queueHead * 2 > this.#queue.length) {
      this.#queue = this.#queue.slice(this.#queueHead);
      this.#queueHead = 0;
    }
  }
}
