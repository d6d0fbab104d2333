import { describe, expect, it } from 'vitest';
import { RingWriter } from '../../../src/engine/checkout/stream/ring.ts';
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
  createShare,
  type StreamShare,
} from '../../../src/engine/checkout/stream/share.ts';
import { SHA1 } from '../../../src/engine/oid.ts';
import { allocatePackObjects } from '../../../src/engine/pack/pack-objects.ts';
import { randomNumbers } from '../../support/random.ts';

const OBJECTS = 200_000;

function shareOf(ringBytes: number): StreamShare {
  return createShare(allocatePackObjects(OBJECTS, SHA1), 1, ringBytes, { path: '', fd: -1 });
}

function batch({ batches }: StreamShare, number: number): { kind: number; start: number; first: number; end: number } {
  const at = (number % BATCH_SLOTS) * BATCH_FIELDS;
  const field = (which: number): number => batches[at + which] ?? -1;
  return { kind: field(KIND), start: field(START), first: field(FIRST), end: field(END) };
}

function finish({ done, control }: StreamShare, number: number): void {
  Atomics.store(done, number % BATCH_SLOTS, 1);
  Atomics.add(control, DONE, 1);
}

describe('RingWriter', () => {
  it('publishes at once when somebody waits, and batches otherwise', () => {
    const share = shareOf(1 << 20);
    const ring = new RingWriter(share, () => false);
    for (let i = 0; i < 63; i++) {
      expect(ring.reserve(i, 11)).toBe(10 * i);
      ring.commit(i, 10);
    }
    expect(share.control[PUBLISHED]).toBe(0);
    ring.reserve(63, 11);
    ring.commit(63, 10);
    expect(share.control[PUBLISHED]).toBe(1);
    expect(batch(share, 0)).toEqual({ kind: RING, start: 0, first: 0, end: 64 });
    share.control[IDLE] = 1;
    // A number in between is of an object that is elsewhere.
    ring.reserve(65, 11);
    ring.commit(65, 10);
    expect(batch(share, 1)).toEqual({ kind: RING, start: 640, first: 65, end: 66 });
    ring.publish(100);
    expect(share.control[PUBLISHED]).toBe(2);
  });

  it('hands out deltas and families beside', () => {
    const share = shareOf(1 << 20);
    const ring = new RingWriter(share, () => false);
    ring.publishDeltas(3, 9);
    ring.publishFamily(1, 4);
    expect(batch(share, 0)).toEqual({ kind: DELTAS, start: 0, first: 3, end: 9 });
    expect(batch(share, 1)).toEqual({ kind: FAMILY, start: 0, first: 1, end: 4 });
  });

  // What is in the ring and not seen to must never be written over: batches are done in any order, at any time.
  it.each([1, 2, 3, 4, 5, 6])('keeps what is not done, whatever order batches are done in (seed %i)', (seed) => {
    const random = randomNumbers(seed);
    const ringBytes = 4096;
    const share = shareOf(ringBytes);
    const sizes = new Map<number, number>();
    const open: number[] = [];
    let published = 0;
    const look = (): void => {
      for (const now = share.control[PUBLISHED] ?? 0; published < now; published++) open.push(published);
    };
    const seeTo = (which: number): void => {
      const [number = 0] = open.splice(which, 1);
      const { kind, start, first, end } = batch(share, number);
      if (kind === RING) {
        let at = start;
        for (let object = first; object < end; object++) {
          const size = sizes.get(object);
          if (size === undefined) continue;
          expect(at + size).toBeLessThanOrEqual(ringBytes);
          for (let i = 0; i < size; i++)
            if (share.ring[at + i] !== object % 251) throw new Error(`object ${object} was written over`);
          at += size;
          sizes.delete(object);
        }
      }
      finish(share, number);
    };
    const ring = new RingWriter(share, () => {
      look();
      if (open.length === 0) return false;
      seeTo(random(open.length));
      return true;
    });
    share.control[IDLE] = seed % 2;
    for (let object = 0; object < 5000; object++) {
      if (random(5) === 0) continue;
      if (random(20) === 0) ring.publishDeltas(0, 1);
      const size = random(ring.mostBytes);
      const at = ring.reserve(object, size + 1);
      expect(at).toBeGreaterThanOrEqual(0);
      // The spare byte is written to, too.
      share.ring.fill(object % 251, at, at + size + 1);
      sizes.set(object, size);
      ring.commit(object, size);
      look();
      while (open.length > 0 && random(3) === 0) seeTo(random(open.length));
    }
    ring.publish(5000);
    look();
    while (open.length > 0) seeTo(0);
    expect(sizes.size).toBe(0);
  });

  it('gives up on room that somebody died with, once', () => {
    const share = shareOf(1000);
    const ring = new RingWriter(share, () => false);
    for (let i = 0; i < 4; i++) {
      ring.reserve(i, 250);
      ring.commit(i, 249);
    }
    const begun = performance.now();
    expect(ring.reserve(4, 250)).toBe(-1);
    expect(performance.now() - begun).toBeGreaterThan(1900);
    const again = performance.now();
    expect(ring.reserve(5, 250)).toBe(-1);
    // All slots taken by what nobody sees to: what comes then is left.
    for (let i = 0; i < BATCH_SLOTS + 10; i++) ring.publishDeltas(i, i + 1);
    expect(share.control[PUBLISHED]).toBe(BATCH_SLOTS);
    expect(performance.now() - again).toBeLessThan(1000);
  });

  it('waits for slots, too', () => {
    const share = shareOf(1000);
    let seen = 0;
    const ring = new RingWriter(share, () => {
      if (seen >= (share.control[PUBLISHED] ?? 0)) return false;
      finish(share, seen++);
      return true;
    });
    for (let i = 0; i < 3 * BATCH_SLOTS; i++) ring.publishDeltas(i, i + 1);
    expect(share.control[PUBLISHED]).toBe(3 * BATCH_SLOTS);
    expect(seen).toBe(2 * BATCH_SLOTS);
  });
});
