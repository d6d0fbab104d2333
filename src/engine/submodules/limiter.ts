/**
 * Runs so many pieces of work at once, and the others in the order in which they came.
 */

export class Limiter {
  readonly #most: number;
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  /** Runs `work` when it is its turn; settles as it does. */
  async run<Value>(work: () => Promise<Value>): Promise<Value> {
    if (this.#running >= this.#most) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running++;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      // The place passes on; nobody who comes in between can take it.
      if (next === undefined) this.#running--;
      else next();
    }
  }
}
