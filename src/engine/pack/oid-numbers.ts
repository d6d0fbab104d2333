/**
 * Finds an object of a pack by its id while the pack has no index yet: an open hash table of numbers over the list of ids. Eight bytes for
 * each object; a Map of keys would take ten times that, and cannot hold as many as a pack may have.
 */
import { randomBytes } from 'node:crypto';
import type { Bytes } from '../bytes.ts';
import { CheckoutError } from '../errors.ts';
import { oidEquals } from '../oid.ts';
import type { PackObjects } from './pack-objects.ts';

export class OidNumbers {
  readonly #objects: PackObjects;
  /** Number of an object and 1; 0 where the slot is free. */
  readonly #slots: Int32Array;
  /** Whoever makes a pack can choose ids that begin alike, but not those that meet under a multiplier that he does not know. */
  readonly #factor = randomBytes(4).readUInt32LE(0) | 1;
  readonly #shift: number;

  /**
   * A table without any object.
   * @throws CheckoutError memory
   */
  constructor(objects: PackObjects) {
    this.#objects = objects;
    // At most half full, so that a search is short.
    const bits = Math.max(4, Math.ceil(Math.log2(Math.max(1, 2 * objects.count))));
    this.#shift = 32 - bits;
    try {
      this.#slots = new Int32Array(2 ** bits);
    } catch (error) {
      throw new CheckoutError('memory', `cannot allocate ${4 * 2 ** bits} bytes for the table of ids`, {}, error);
    }
  }

  /** Adds an object whose id is known. Of several with one id the first stays. */
  add(number: number): void {
    const { oids, format } = this.#objects;
    const slot = this.#find(oids, number * format.oidBytes);
    if (this.#slots[slot] === 0) this.#slots[slot] = number + 1;
  }

  /** Adds all objects whose ids are known. */
  addNamed(): void {
    const { count, named } = this.#objects;
    for (let number = 0; number < count; number++) if (named[number] === 1) this.add(number);
  }

  /** Number of the object of the id that begins at `at`, or -1. */
  find(oid: Bytes, at: number): number {
    return (this.#slots[this.#find(oid, at)] ?? 0) - 1;
  }

  /** The slot that has the id, or the free one where it would be. */
  #find(oid: Bytes, at: number): number {
    const { oids, format } = this.#objects;
    const { oidBytes } = format;
    const slots = this.#slots;
    // From the fifth byte on: the first ones are what sorted lists have in common.
    const word =
      ((oid[at + 4] ?? 0) | ((oid[at + 5] ?? 0) << 8) | ((oid[at + 6] ?? 0) << 16) | ((oid[at + 7] ?? 0) << 24)) ^
      ((oid[at] ?? 0) | ((oid[at + 1] ?? 0) << 8) | ((oid[at + 2] ?? 0) << 16) | ((oid[at + 3] ?? 0) << 24));
    let slot = Math.imul(word, this.#factor) >>> this.#shift;
    for (;;) {
      const held = slots[slot] ?? 0;
      if (held === 0 || oidEquals(oids, (held - 1) * oidBytes, oid, at, oidBytes)) return slot;
      slot = (slot + 1) & (slots.length - 1);
    }
  }
}
