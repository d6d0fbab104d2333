/**
 * One memory budget for all threads, in shared memory. Whoever must hold an object beyond the scratch buffers reserves its bytes
 * first and waits if there are none; so 56 workers on 500 large files fit the budget that 2 do.
 *
 * A thread reserves once for each object, for all that the object takes, and gives all of it back before it reserves again:
 * nobody waits while holding something, so nobody waits for ever. An object larger than the whole budget gets it alone.
 *
 * A thread may end at any instruction, and the others would wait for ever for what it holds. So what each thread holds is
 * written down beside, before it is taken and until it is back: `reclaim` may then give back too much, never too little.
 */

/** Sizes are counted in units of 4 KiB, so that 30 bits reach 4 TiB. */
const UNIT = 4096;

/** Words of the shared array. */
const FREE = 0;
const TOTAL = 1;
/** From here on, the units that each thread holds. */
const HELD = 2;

/** A budget with as much again reclaimed still fits a word. */
const MOST_UNITS = 0x3fffffff;

export class Budget {
  readonly #words: Int32Array<SharedArrayBuffer>;
  /** Index of the word that says what this thread holds. */
  readonly #held: number;

  /** @param thread number of the thread that reserves: 0 is the main thread, then the workers */
  constructor(words: Int32Array<SharedArrayBuffer>, thread: number) {
    this.#words = words;
    this.#held = HELD + thread;
  }

  /**
   * Makes the shared words.
   * @param workers number of threads beside the main thread
   */
  static create(limitBytes: number, workers: number): Int32Array<SharedArrayBuffer> {
    const words = new Int32Array(new SharedArrayBuffer(4 * (HELD + 1 + workers)));
    words[FREE] = words[TOTAL] = Math.max(1, Math.min(MOST_UNITS, Math.floor(limitBytes / UNIT)));
    return words;
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
        if (this.#take(free, units)) return units;
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
      if (this.#take(free, units)) return units;
    }
  }

  /** Bytes of the whole budget. */
  get limitBytes(): number {
    return Atomics.load(this.#words, TOTAL) * UNIT;
  }

  #take(free: number, units: number): boolean {
    Atomics.add(this.#words, this.#held, units);
    if (Atomics.compareExchange(this.#words, FREE, free, free - units) === free) return true;
    Atomics.sub(this.#words, this.#held, units);
    return false;
  }

  /** Units that hold so many bytes. */
  static units(bytes: number): number {
    return Math.ceil(bytes / UNIT);
  }

  release(units: number): void {
    if (units <= 0) return;
    Atomics.add(this.#words, FREE, units);
    Atomics.sub(this.#words, this.#held, units);
    Atomics.notify(this.#words, FREE);
  }

  /** Gives back what this thread, which has ended, still held. To be called by another. */
  reclaim(): void {
    const units = Atomics.exchange(this.#words, this.#held, 0);
    Atomics.add(this.#words, FREE, units);
    Atomics.notify(this.#words, FREE);
  }

  /** True when nothing is reserved: holds between runs, and tests rely on it. */
  get idle(): boolean {
    return Atomics.load(this.#words, FREE) === Atomics.load(this.#words, TOTAL);
  }
}
