/**
 * Notices that nothing, or next to nothing, has come for too long. A timer of the system alone would also go off when much has come and
 * nobody had time to take it: the thread that takes a pack in may be busy for longer than a server may be silent.
 */
export class StallWatch {
  readonly #ms: number;
  readonly #least: () => number;
  readonly #onStall: (hasReceived: boolean) => void;
  #timer: NodeJS.Timeout | undefined;
  /** Since when is counted, and what has come since. */
  #from = performance.now();
  #bytes = 0;
  /** Time in which nobody could take anything. */
  #busyMs = 0;
  #hasReceived = false;

  /**
   * @param ms Infinity for never
   * @param least bytes that must come in so much time
   */
  constructor(ms: number, least: () => number, onStall: (hasReceived: boolean) => void) {
    this.#ms = ms;
    this.#least = least;
    this.#onStall = onStall;
    this.#arm(ms);
  }

  /** So much has come, and taking it took so long. */
  came(bytes: number, busyMs: number): void {
    this.#bytes += bytes;
    this.#busyMs += busyMs;
    this.#hasReceived = true;
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #arm(ms: number): void {
    if (ms < Infinity) this.#timer = setTimeout(() => this.#look(), ms);
  }

  #look(): void {
    const now = performance.now();
    const left = this.#from + this.#ms + this.#busyMs - now;
    // Timers may go off a little early.
    if (left > 1) {
      this.#arm(left);
    } else if (this.#bytes < this.#least()) {
      this.#onStall(this.#hasReceived);
    } else {
      this.#from = now;
      this.#bytes = 0;
      this.#busyMs = 0;
      this.#arm(this.#ms);
    }
  }
}
