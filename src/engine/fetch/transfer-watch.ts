/**
 * Tells a transfer that is dead from one that is slow, by what git says of its progress: no server can tell us otherwise over every
 * transport, and curl's own limit takes a server that counts objects for a minute for dead. Pure: time is an argument.
 * docs/decisions/retries.md.
 */
import { packMeter } from './fetch-progress.ts';
import { spell } from './retry.ts';

/** As git's http.lowSpeedLimit is mostly set. A pack that comes slower than this is not worth waiting for. */
const LEAST_BYTES_PER_SECOND = 1000;

export class TransferWatch {
  readonly #stallMs: number;
  /** When there was progress last. */
  #at: number;
  /** How much of the pack was there then. */
  #bytes = 0;
  #receiving = false;
  #received = false;

  /**
   * @param stallMs how long nothing may come, in milliseconds
   * @param now milliseconds of any clock that does not go back
   */
  constructor(stallMs: number, now: number) {
    this.#stallMs = stallMs;
    this.#at = now;
  }

  /** Takes a line of git's standard error. */
  line(text: string, now: number): void {
    const meter = packMeter(text);
    if (meter === null) {
      // While the pack comes, words do not count: a server can go on sending them for ever.
      if (!this.#receiving) this.#at = now;
      return;
    }
    this.#receiving = true;
    if (meter.done) this.#received = true;
    // The speed says nothing of a pack that came in one piece, the amount nothing of one of many GiB.
    const least = (LEAST_BYTES_PER_SECOND * this.#stallMs) / 1000;
    if (meter.bytesPerSecond < LEAST_BYTES_PER_SECOND && meter.bytes - this.#bytes < least) return;
    this.#bytes = meter.bytes;
    this.#at = now;
  }

  /** When it will be dead if nothing more comes; Infinity once all is here: what follows is this machine's work. */
  get deadAt(): number {
    return this.#received ? Infinity : this.#at + this.#stallMs;
  }

  /** What is wrong when `deadAt` is over. */
  get reason(): string {
    const time = spell(this.#stallMs);
    return this.#receiving
      ? `less than ${LEAST_BYTES_PER_SECOND} bytes a second came for ${time}`
      : `nothing came from the server for ${time}`;
  }
}
