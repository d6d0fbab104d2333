/**
 * One memory budget for all threads, in shared memory. Whoever must hold an object beyond the scratch buffers reserves its bytes
 * first and waits if there are none; so 56 workers on 500 large files fit the budget that 2 do.
 *
 * A thread reserves once for each object, for all that the object takes, and gives all of it back before it reserves again:
 * nobody waits while holding something, so nobody waits for ever. An object larger than the whole budget gets it alone.
 */

/** Sizes are counted in units of 4 KiB, so that 32 bits reach 8 TiB. */
const UNIT = 4096;

/** Words of the shared array. */
const FREE = 0;
const TOTAL = 1;
export const BUDGET_WORDS = 2;

export class Budget {
  readonly #words: Int32Array<SharedArrayBuffer>;

  constructor(words: Int32Array<SharedArrayBuffer>) {
    this.#words = words;
  }

  static create(limitBytes: number): Int32Array<SharedArrayBuffer> {
    const words = new Int32Array(new SharedArrayBuffer(4 * BUDGET_WORDS));
    words[FREE] = words[TOTAL] = Math.max(1, Math.min(0x7fffffff, Math.floor(limitBytes / UNIT)));
    return words;
  }

  /** The shared words, for another thread. */
  get words(): Int32Array<SharedArrayBuffer> {
    return this.#words;
  }

  /**
   * Waits for `bytes` of the budget.
   * @param onWait called before each wait, true stops waiting
   * @returns the units reserved, to be given to `release`; 0 when `onWait` stopped it
   */
  reserve(bytes: number, onWait: () => boolean): number {
    const total = Atomics.load(this.#words, TOTAL);
    const units = Math.max(1, Math.min(total, Budget.units(bytes)));
    for (;;) {
      const free = Atomics.load(this.#words, FREE);
      if (free >= units) {
        if (Atomics.compareExchange(this.#words, FREE, free, free - units) === free) return units;
        continue;
      }
      if (onWait()) return 0;
      // The time limit only bounds how long a stop request goes unseen.
      Atomics.wait(this.#words, FREE, free, 100);
    }
  }

  /** Takes `bytes` of the budget if they are free now. Returns the units, or 0. An object larger than the budget needs `reserve`. */
  tryReserve(bytes: number): number {
    const units = Math.max(1, Budget.units(bytes));
    for (;;) {
      const free = Atomics.load(this.#words, FREE);
      if (free < units) return 0;
      if (Atomics.compareExchange(this.#words, FREE, free, free - units) === free) return units;
    }
  }

  /** Units that hold so many bytes. */
  static units(bytes: number): number {
    return Math.ceil(bytes / UNIT);
  }

  static bytes(units: number): number {
    return units * UNIT;
  }

  release(units: number): void {
    if (units <= 0) return;
    Atomics.add(this.#words, FREE, units);
    Atomics.notify(this.#words, FREE);
  }

  /** True when nothing is reserved: holds between runs, and tests rely on it. */
  get idle(): boolean {
    return Atomics.load(this.#words, FREE) === Atomics.load(this.#words, TOTAL);
  }
}
