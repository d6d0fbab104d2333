/**
 * What a thread does with a batch of a streamed checkout: finds out each object's id, and writes the entries that want it. Workers do this in
 * a loop until the stream has ended; the main thread does it when the ring is full, or alone.
 */
import { createHash, hash } from 'node:crypto';
import type { Bytes } from '../../bytes.ts';
import { CheckoutError } from '../../errors.ts';
import { BLOB, typeName } from '../../pack/entry.ts';
import type { PackFile } from '../../pack/pack-file.ts';
import { PackReader } from '../../pack/pack-reader.ts';
import { Budget } from '../budget.ts';
import { STOP } from '../control.ts';
import type { CostMeter } from '../cost-meter.ts';
import type { EntryWriter } from '../entry-writer.ts';
import type { Job } from '../messages.ts';
import { State } from '../tables.ts';
import {
  BATCH_FIELDS,
  BATCH_SLOTS,
  CLAIMED,
  conversionOf,
  DELTAS,
  DONE,
  END,
  ENDED,
  FAMILY,
  FIRST,
  IDLE,
  KIND,
  PUBLISHED,
  START,
  type StreamShare,
  UNKNOWN_CONVERSION,
} from './share.ts';
import { firstWanted, nextWanted } from './wanted.ts';

/** Bounds only how long a stop request goes unseen. */
const WAIT_MS = 100;
/** Batches between two looks at this thread's memory. */
const SAMPLE_EVERY = 16;

/** What is hashed before an object's content, and stands before it in the ring. */
export function objectHead(type: number, size: number): string {
  return `${typeName(type)} ${size}\0`;
}

/** Length of a head, without making it. */
function headLength(type: number, size: number): number {
  let digits = 1;
  for (let rest = size; rest >= 10; rest = Math.floor(rest / 10)) digits++;
  return typeName(type).length + 2 + digits;
}

/** Takes batches; one for each thread. */
export class BatchTaker {
  readonly #share: StreamShare;
  readonly #job: Job;
  readonly #writer: EntryWriter;
  readonly #budget: Budget;
  readonly #onLarge: () => void;
  #reader: PackReader | null = null;
  #scratch: Uint8Array | null = null;

  /**
   * @param thread number of the thread
   * @param onLarge called while large objects are held, to look at the memory that they take
   */
  constructor(share: StreamShare, job: Job, writer: EntryWriter, thread: number, onLarge: () => void) {
    this.#share = share;
    this.#job = job;
    this.#writer = writer;
    this.#budget = new Budget(job.budget, thread);
    this.#onLarge = onLarge;
  }

  close(): void {
    this.#reader?.close();
    this.#reader = null;
  }

  /** Claims a batch and sees to it; false when there is none now. */
  take(): boolean {
    const { control } = this.#share;
    for (;;) {
      const batch = Atomics.load(control, CLAIMED);
      if (batch >= Atomics.load(control, PUBLISHED)) return false;
      if (Atomics.compareExchange(control, CLAIMED, batch, batch + 1) !== batch) continue;
      this.#see(batch % BATCH_SLOTS);
      return true;
    }
  }

  #see(slot: number): void {
    const { batches, done, control } = this.#share;
    const at = slot * BATCH_FIELDS;
    const first = batches[at + FIRST] ?? 0;
    const end = batches[at + END] ?? 0;
    const kind = batches[at + KIND];
    if (kind === DELTAS) this.#seeDeltas(first, end);
    else if (kind === FAMILY) this.#seeFamily(first, end);
    else this.#seeRing(batches[at + START] ?? 0, first, end);
    Atomics.store(done, slot, 1);
    Atomics.add(control, DONE, 1);
    Atomics.notify(control, DONE);
  }

  #seeRing(start: number, first: number, end: number): void {
    const { placed, sizes, ring, objects } = this.#share;
    const { oids, named, kinds, types, format } = objects;
    let at = start;
    for (let number = first; number < end; number++) {
      if (placed[number] !== 1) continue;
      if (Atomics.load(this.#job.control, STOP) !== 0) return;
      const size = sizes[number] ?? 0;
      const type = types[number] ?? 0;
      const contentAt = at + headLength(type, size);
      const contentEnd = contentAt + size;
      if (named[number] !== 1) {
        oids.set(hash(format.name, ring.subarray(at, contentEnd), 'buffer'), number * format.oidBytes);
        kinds[number] = type;
        Atomics.store(named, number, 1);
      }
      if (type === BLOB) this.#write(number, ring.subarray(contentAt, contentEnd));
      at = contentEnd;
    }
  }

  #seeDeltas(first: number, end: number): void {
    const { deltas } = this.#share;
    for (let i = first; i < end; i++) {
      if (Atomics.load(this.#job.control, STOP) !== 0) return;
      this.#seeDelta(deltas[i] ?? 0);
    }
  }

  /** Makes a delta's object out of the stored pack, unless that takes memory; such are left. */
  #seeDelta(number: number): void {
    const { objects } = this.#share;
    const { offsets, oids, named, kinds, format } = objects;
    if (named[number] === 1) return;
    const reader = this.#opened();
    try {
      reader.readAheadEnd = offsets[number + 1] ?? 0;
      reader.open(0, offsets[number] ?? 0);
      const content = reader.readSmall();
      if (content === null) return;
      const head = objectHead(reader.type, content.length);
      const scratch = this.#room(head.length + content.length);
      const headBytes = Buffer.from(scratch.buffer).write(head, 0, 'latin1');
      scratch.set(content, headBytes);
      const whole = scratch.subarray(0, headBytes + content.length);
      oids.set(hash(format.name, whole, 'buffer'), number * format.oidBytes);
      kinds[number] = reader.type;
      Atomics.store(named, number, 1);
      if (reader.type === BLOB) this.#write(number, whole.subarray(headBytes));
    } catch (error) {
      // It will be looked at again when all is there, and told then.
      if (!(error instanceof CheckoutError)) throw error;
    }
  }

  /** Makes the deltas of a large object, which is inflated once for all of them, and is written, too. What does not fit the budget is left. */
  #seeFamily(first: number, end: number): void {
    const { families, objects } = this.#share;
    const { offsets, named } = objects;
    const reader = this.#opened();
    const head = families[first] ?? 0;
    let reserved = 0;
    try {
      reader.open(0, offsets[head] ?? 0);
      // Beyond the budget it would be given all of it; such are looked at alone, at the end, and held against the memory limit.
      if (2 * reader.size > this.#budget.limitBytes) return;
      // What is made of it is of about its size. At once, since whoever holds something must not wait.
      reserved = this.#budget.reserve(2 * reader.size, () => Atomics.load(this.#job.control, STOP) !== 0);
      if (reserved === 0) return;
      const content = reader.readRetained();
      if (reader.type === BLOB && named[head] === 1) this.#write(head, content);
      for (let i = first + 1; i < end; i++) {
        if (Atomics.load(this.#job.control, STOP) !== 0) return;
        this.#seeLargeDelta(families[i] ?? 0, content.length);
      }
    } catch (error) {
      if (!(error instanceof CheckoutError)) throw error;
    } finally {
      reader.finish();
      reader.dropRetained();
      this.#budget.release(reserved);
    }
  }

  /** @param free bytes that are reserved already */
  #seeLargeDelta(number: number, free: number): void {
    const { objects } = this.#share;
    const { offsets, named, kinds, oids, format } = objects;
    if (named[number] === 1) return;
    const reader = this.#opened();
    reader.open(0, offsets[number] ?? 0);
    reader.measure();
    const more = Math.max(0, reader.readBytes - free);
    const reserved = more === 0 ? 0 : this.#budget.tryReserve(more);
    if (more > 0 && reserved === 0) return;
    try {
      const content = reader.read();
      const hash = createHash(format.name).update(objectHead(reader.type, content.length)).update(content);
      oids.set(hash.digest(), number * format.oidBytes);
      kinds[number] = reader.type;
      Atomics.store(named, number, 1);
      this.#onLarge();
      if (reader.type === BLOB) this.#write(number, content);
    } finally {
      reader.finish();
      this.#budget.release(reserved);
    }
  }

  #opened(): PackReader {
    return (this.#reader ??= new PackReader([new GrowingPack(this.#share)], this.#share.objects.format));
  }

  #room(bytes: number): Uint8Array<ArrayBuffer> {
    if (this.#scratch === null || this.#scratch.length < bytes)
      this.#scratch = new Uint8Array(Math.max(bytes, 1 << 20));
    return this.#scratch as Uint8Array<ArrayBuffer>;
  }

  /** Writes the entries that want an object and are not written. */
  #write(number: number, content: Bytes): void {
    const { objects, conversionCodes } = this.#share;
    const { tables, conversions } = this.#job;
    const oidAt = number * objects.format.oidBytes;
    let entry = firstWanted(this.#share, tables, objects.oids, oidAt);
    for (; entry >= 0; entry = nextWanted(this.#share, entry)) {
      const code = tables.conversions[entry] ?? UNKNOWN_CONVERSION;
      if (code === UNKNOWN_CONVERSION) continue;
      const known = conversions as (typeof conversions)[number][];
      if (known[code] === undefined) {
        const conversion = conversionOf(conversionCodes[code] ?? 0);
        if (conversion === null) continue;
        known[code] = conversion;
      }
      // Another copy of the object may be in other hands; and of a worker that dies here, half a file may be left.
      if (Atomics.compareExchange(tables.states, entry, State.PENDING, State.COLLIDED) !== State.PENDING) continue;
      this.#writer.writeContent(entry, content);
    }
  }
}

/** The pack as far as it is stored. A reader looks one byte behind the last entry, so the end is one byte before. */
class GrowingPack implements PackFile {
  readonly path: string;
  readonly indexPath = '';
  readonly fd: number;
  readonly #stored: Float64Array;

  constructor({ packPath, packFd, stored }: StreamShare) {
    this.path = packPath;
    this.fd = packFd;
    this.#stored = stored;
  }

  get end(): number {
    return (this.#stored[0] ?? 0) - 1;
  }

  get size(): number {
    return this.#stored[0] ?? 0;
  }
}

/** A worker's part of a streamed checkout: batches until no more come. */
export function runStream(share: StreamShare, job: Job, thread: number, writer: EntryWriter, meter: CostMeter): void {
  const { control } = share;
  const taker = new BatchTaker(share, job, writer, thread, () => meter.sample());
  try {
    for (let round = 0; Atomics.load(job.control, STOP) === 0;) {
      if (taker.take()) {
        if (round++ % SAMPLE_EVERY === 0) meter.sample();
        continue;
      }
      const published = Atomics.load(control, PUBLISHED);
      if (Atomics.load(control, CLAIMED) < published) continue;
      if (Atomics.load(control, ENDED) !== 0) return;
      const start = performance.now();
      Atomics.add(control, IDLE, 1);
      Atomics.wait(control, PUBLISHED, published, WAIT_MS);
      Atomics.sub(control, IDLE, 1);
      writer.waitMs += performance.now() - start;
    }
  } finally {
    meter.sample();
    taker.close();
  }
}
