/**
 * Tells a transfer that is dead from one that is slow, by what git says of its progress and by what its processes do: that holds for
 * every transport, and curl's own limit takes a server that counts objects for a minute for dead. Pure: time is an argument.
 * docs/decisions/retries.md.
 */
import type { Activity } from '../host/processes.ts';
import { packMeter } from './fetch-progress.ts';
import { spell } from './retry.ts';

/** As git's http.lowSpeedLimit is mostly set. A pack that comes slower than this is not worth waiting for. */
const LEAST_BYTES_PER_SECOND = 1000;

/** A git that computes is busy, not stuck: negotiating, unpacking, checking. One that waits uses next to none of a processor. */
const BUSY = 0.05;

export class TransferWatch {
  readonly #stallMs: number;
  /** When there was progress last. */
  #at: number;
  /** How much of the pack was there then. */
  #bytes = 0;
  #receiving = false;
  #received = false;
  /** What its processes had done when they were looked at last, and when there was progress last. */
  #seen: Activity = { bytes: 0, ms: 0 };
  #done: Activity = { bytes: 0, ms: 0 };

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
      if (!this.#receiving) this.#progress(now);
      return;
    }
    this.#receiving = true;
    if (meter.done) this.#received = true;
    // The speed says nothing of a pack that came in one piece, the amount nothing of one of many GiB.
    if (meter.bytesPerSecond < LEAST_BYTES_PER_SECOND && meter.bytes - this.#bytes < this.#leastBytes) return;
    this.#bytes = meter.bytes;
    this.#progress(now);
  }

  /** Takes what the processes have done in all. The only sign of a small pack that git unpacks: it has no meter then. */
  activity(total: Activity, now: number): void {
    this.#seen = total;
    // Some have ended, with what they did.
    if (total.bytes < this.#done.bytes || total.ms < this.#done.ms) this.#done = total;
    const isBusy = total.ms - this.#done.ms >= this.#stallMs * BUSY;
    if (isBusy || total.bytes - this.#done.bytes >= this.#leastBytes) this.#progress(now);
  }

  get #leastBytes(): number {
    return (LEAST_BYTES_PER_SECOND * this.#stallMs) / 1000;
  }

  #progress(now: number): void {
    this.#at = now;
    this.#done = this.#seen;
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
