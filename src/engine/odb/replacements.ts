/**
 * Replace refs as a table: when an object is read, another one is read in its place (git-replace). Ids stay as they were everywhere
 * else. Plain data in two flat arrays, for all threads.
 */
import type { Bytes } from '../bytes.ts';
import { CheckoutError } from '../errors.ts';
import { oidFromHex, oidToHex } from '../oid.ts';

/** git gives up at the fifth replacement in a row. */
const MOST_IN_A_ROW = 4;

export interface Replacements {
  /** Length of an id. */
  readonly oidBytes: number;
  readonly count: number;
  /** Sorted ids of the objects that are replaced. */
  readonly from: Bytes;
  /** Of each, the id of what is read. */
  readonly to: Bytes;
}

export const NO_REPLACEMENTS: Replacements = { oidBytes: 0, count: 0, from: new Uint8Array(0), to: new Uint8Array(0) };

/**
 * Makes the table. A chain is followed to its end.
 * @param pairs hexadecimal ids: object, replacement
 */
export function makeReplacements(pairs: ReadonlyMap<string, string>, oidBytes: number): Replacements {
  if (pairs.size === 0) return NO_REPLACEMENTS;
  const sorted = [...pairs.keys()].sort();
  const from = new Uint8Array(sorted.length * oidBytes);
  const to = new Uint8Array(sorted.length * oidBytes);
  sorted.forEach((hex, i) => {
    from.set(oidFromHex(hex), i * oidBytes);
    let end = hex;
    // One that leads on too long is left on itself: whoever reads it is told, and nobody else.
    for (let depth = 0; ; depth++) {
      const next = pairs.get(end);
      if (next === undefined) break;
      if (depth === MOST_IN_A_ROW) {
        end = '0'.repeat(hex.length);
        break;
      }
      end = next;
    }
    to.set(oidFromHex(end), i * oidBytes);
  });
  return { oidBytes, count: sorted.length, from, to };
}

/**
 * Finds the replacement of an object.
 * @returns where its id begins in `to`, or -1 when the object is not replaced
 * @throws CheckoutError object-corrupt when replacements lead on too long
 */
export function findReplacement({ oidBytes, count, from, to }: Replacements, oid: Bytes, oidAt: number): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    let order = 0;
    for (let i = 0; i < oidBytes && order === 0; i++)
      order = (from[middle * oidBytes + i] ?? 0) - (oid[oidAt + i] ?? 0);
    if (order === 0) {
      const at = middle * oidBytes;
      if (to.subarray(at, at + oidBytes).every((byte) => byte === 0)) {
        const hex = oidToHex(oid, oidAt, oidBytes);
        throw new CheckoutError('object-corrupt', `the replacements of object ${hex} lead on too long`, { oid: hex });
      }
      return at;
    }
    if (order < 0) low = middle + 1;
    else high = middle;
  }
  return -1;
}
