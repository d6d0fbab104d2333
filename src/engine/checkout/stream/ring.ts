/**
 * The main thread's side of the ring: finds room for the next object, publishes batches, and takes back what is done. Batches may be done in any
 * order; room comes back in the order in which it was given away.
 */
import {
  BATCH_FIELDS,
  BATCH_SLOTS,
  DELTAS,
  DONE,
  END,
  FAMILY,
  FIRST,
  IDLE,
  KIND,
  PUBLISHED,
  RING,
  START,
  type StreamShare,
} from './share.ts';

/** A batch is published when it has so many bytes or objects: 30 files of the Linux tree, a millisecond's work. */
const BATCH_BYTES = 256 << 10;
const BATCH_OBJECTS = 64;
/** Room that does not come back for so long, though nobody is busy with the rest, has a thread that died to wait for. */
const STUCK_MS = 2000;

/** Since when nothing has come back; 0 before that was looked at. */
interface Wait {
  from: number;
}

export class RingWriter {
  readonly #share: StreamShare;
  /** Sees to one batch; false when there is none to be claimed. */
  readonly #help: () => boolean;
  /** Where the next object goes. */
  #head = 0;
  /** The oldest batch that is not known to be done. */
  #oldest = 0;
  /** Batches that were published. */
  #published = 0;
  /** The batch that is being filled. */
  #start = 0;
  #first = -1;
  #bytes = 0;
  #objects = 0;
  #stuck = false;
  /** Where room was given away up to, by slot of the batch. */
  readonly #starts = new Float64Array(BATCH_SLOTS).fill(-1);
  /** Time for which the stream waited for room. */
  waitMs = 0;

  constructor(share: StreamShare, help: () => boolean) {
    this.#share = share;
    this.#help = help;
  }

  /** Objects up to this size may be put into the ring. */
  get mostBytes(): number {
    return this.#share.ring.length >> 2;
  }

  /**
   * Finds room for an object, waiting for it where need be.
   * @param number of the object that comes
   * @returns where, or -1 when there will be none
   */
  reserve(number: number, bytes: number): number {
    if (this.#stuck) return -1;
    const wait: Wait = { from: 0 };
    for (;;) {
      const at = this.#room(number, bytes);
      if (at >= 0) return at;
      this.publish(number);
      if (!this.#wait(wait)) return -1;
    }
  }

  /** The object that room was reserved for is complete. */
  commit(number: number, bytes: number): void {
    this.#head += bytes;
    this.#bytes += bytes;
    this.#objects++;
    if (this.#bytes >= BATCH_BYTES || this.#objects >= BATCH_OBJECTS) this.publish(number + 1);
    else if (Atomics.load(this.#share.control, IDLE) > 0) this.publish(number + 1);
  }

  /** Publishes what there is of the batch: the objects before this number. */
  publish(end: number): void {
    if (this.#objects === 0) return;
    this.#post(RING, this.#start, this.#first, end, this.#start);
    this.#objects = 0;
    this.#bytes = 0;
    this.#first = -1;
  }

  /** Publishes deltas: places in the list. */
  publishDeltas(first: number, end: number): void {
    this.#post(DELTAS, 0, first, end, -1);
  }

  /** Publishes a family: places in the list of families. */
  publishFamily(first: number, end: number): void {
    this.#post(FAMILY, 0, first, end, -1);
  }

  #post(kind: number, start: number, first: number, end: number, room: number): void {
    const { batches, done, control } = this.#share;
    // Slots come back like room does. What cannot be handed out is left for the end.
    for (const wait: Wait = { from: 0 }; this.#published - this.#oldest >= BATCH_SLOTS;) {
      if (this.#stuck || !this.#wait(wait)) return;
    }
    const slot = this.#published % BATCH_SLOTS;
    const at = slot * BATCH_FIELDS;
    batches[at + KIND] = kind;
    batches[at + START] = start;
    batches[at + FIRST] = first;
    batches[at + END] = end;
    this.#starts[slot] = room;
    Atomics.store(done, slot, 0);
    this.#published++;
    Atomics.store(control, PUBLISHED, this.#published);
    Atomics.notify(control, PUBLISHED);
  }

  /**
   * Takes back what is done, or sees to a batch, or waits for one.
   * @returns false when nothing has happened for so long that nothing will
   */
  #wait(wait: Wait): boolean {
    const now = performance.now();
    if (this.#reclaim()) {
      wait.from = now;
      return true;
    }
    if (wait.from === 0) wait.from = now;
    if (this.#help()) {
      wait.from = performance.now();
    } else {
      const { control } = this.#share;
      const done = Atomics.load(control, DONE);
      if (this.#reclaim()) wait.from = performance.now();
      else Atomics.wait(control, DONE, done, 50);
      if (performance.now() - wait.from > STUCK_MS) this.#stuck = true;
    }
    this.waitMs += performance.now() - now;
    return !this.#stuck;
  }

  /** Takes back the oldest batches that are done; whether there were any. */
  #reclaim(): boolean {
    const { done } = this.#share;
    const before = this.#oldest;
    while (this.#oldest < this.#published && Atomics.load(done, this.#oldest % BATCH_SLOTS) === 1) this.#oldest++;
    return this.#oldest > before;
  }

  /** Where the oldest bytes are that are still needed; -1 when there are none. */
  #tail(): number {
    for (let batch = this.#oldest; batch < this.#published; batch++) {
      const start = this.#starts[batch % BATCH_SLOTS] ?? -1;
      if (start >= 0) return start;
    }
    return this.#objects > 0 ? this.#start : -1;
  }

  #room(number: number, bytes: number): number {
    const size = this.#share.ring.length;
    const tail = this.#tail();
    if (tail < 0) {
      this.#begin(number, 0);
      return 0;
    }
    if (this.#head >= tail) {
      if (this.#head + bytes <= size) {
        if (this.#objects === 0) this.#begin(number, this.#head);
        return this.#head;
      }
      if (bytes >= tail) return -1;
      this.publish(number);
      this.#begin(number, 0);
      return 0;
    }
    if (this.#head + bytes >= tail) return -1;
    if (this.#objects === 0) this.#begin(number, this.#head);
    return this.#head;
  }

  #begin(number: number, at: number): void {
    this.#head = at;
    this.#start = at;
    this.#first = number;
  }
}
