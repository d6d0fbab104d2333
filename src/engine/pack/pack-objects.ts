/**
 * What is known of each object of a pack that has come: flat tables in shared memory, filled by the thread that takes the pack in and by
 * those that find out ids. The pack's index is made of them.
 */
import { CheckoutError } from '../errors.ts';
import type { ObjectFormat } from '../oid.ts';

/**
 * Objects of one pack. Memory that is not touched costs nothing, so that a header may claim as many; 16 million are more than the
 * whole history of Linux has.
 */
export const MOST_OBJECTS = 1 << 24;

export interface PackObjects {
  readonly format: ObjectFormat;
  /** As the pack's header says. */
  readonly count: number;
  /** Where the entry begins; one more for the end of the last. */
  readonly offsets: Float64Array<SharedArrayBuffer>;
  /** As the pack numbers types (entry.ts): OFS_DELTA and REF_DELTA for deltas. */
  readonly types: Uint8Array<SharedArrayBuffer>;
  /** Type of the whole object; of a delta 0 until it is named. */
  readonly kinds: Uint8Array<SharedArrayBuffer>;
  /** Of the entry's bytes as they are in the pack. */
  readonly crcs: Uint32Array<SharedArrayBuffer>;
  /** `format.oidBytes` each. */
  readonly oids: Uint8Array<SharedArrayBuffer>;
  /** 1 when the id is known. */
  readonly named: Uint8Array<SharedArrayBuffer>;
  /** Of an OFS_DELTA, where its base begins. */
  readonly bases: Float64Array<SharedArrayBuffer>;
}

/** @throws CheckoutError memory; unsupported for more objects than MOST_OBJECTS */
export function allocatePackObjects(count: number, format: ObjectFormat): PackObjects {
  if (count > MOST_OBJECTS)
    throw new CheckoutError('unsupported', `the pack has ${count} objects, too many to take in`);
  const shared = (bytes: number): SharedArrayBuffer => {
    try {
      return new SharedArrayBuffer(bytes);
    } catch (error) {
      throw new CheckoutError('memory', `cannot allocate ${bytes} bytes for the list of objects`, {}, error);
    }
  };
  return {
    format,
    count,
    offsets: new Float64Array(shared(8 * (count + 1))),
    types: new Uint8Array(shared(count)),
    kinds: new Uint8Array(shared(count)),
    crcs: new Uint32Array(shared(4 * count)),
    oids: new Uint8Array(shared(format.oidBytes * count)),
    named: new Uint8Array(shared(count)),
    bases: new Float64Array(shared(8 * count)),
  };
}
