/**
 * What the threads of a streamed checkout share while the pack is still coming: a ring of inflated objects, cut into batches; the list of the
 * pack's objects; and the entries that are wanted. The main thread fills, workers take. All of it is shared memory.
 */
import { CheckoutError } from '../../errors.ts';
import type { Conversion } from '../../filter/conversion.ts';
import type { PackObjects } from '../../pack/pack-objects.ts';

/** Batches that may be on their way. */
export const BATCH_SLOTS = 1024;

// Words of `control`, each used through Atomics only.
/** Batches that were published; the next one's number. */
export const PUBLISHED = 0;
/** Batches that were claimed. */
export const CLAIMED = 1;
/** Batches that are done, in any order. */
export const DONE = 2;
/** Not 0: no more batches will come. */
export const ENDED = 3;
/** Workers that wait for a batch. */
export const IDLE = 4;
export const CONTROL_WORDS = 5;

// Fields of a batch.
export const KIND = 0;
/** Of RING: where the first object is. */
export const START = 1;
/** Of RING: numbers of objects, those with `placed`. Of DELTAS: places in the list of deltas. Of FAMILY: places in `families`. */
export const FIRST = 2;
export const END = 3;
export const BATCH_FIELDS = 4;

/** Objects that lie one behind the other in the ring. */
export const RING = 0;
/** Deltas, to be made of what the stored pack has. */
export const DELTAS = 1;
/** A large object and the deltas that are made of it, in the order of the pack. */
export const FAMILY = 2;

/** The conversion of an entry whose attributes have not all come. */
export const UNKNOWN_CONVERSION = 0xff;

export interface StreamShare {
  readonly control: Int32Array<SharedArrayBuffer>;
  readonly batches: Float64Array<SharedArrayBuffer>;
  /** By slot of a batch, 1 when it is done. */
  readonly done: Int32Array<SharedArrayBuffer>;
  readonly ring: Uint8Array<SharedArrayBuffer>;
  readonly objects: PackObjects;
  /** Of each object in the ring: its size, and 1. */
  readonly sizes: Uint32Array<SharedArrayBuffer>;
  readonly placed: Uint8Array<SharedArrayBuffer>;
  /** Numbers of objects that are deltas. */
  readonly deltas: Uint32Array<SharedArrayBuffer>;
  /** Numbers of objects, family by family. */
  readonly families: Uint32Array<SharedArrayBuffer>;
  /** Entries by the id of their blob: see wanted.ts. */
  readonly slots: Int32Array<SharedArrayBuffer>;
  readonly next: Int32Array<SharedArrayBuffer>;
  /** By number of a conversion, see conversionCode. */
  readonly conversionCodes: Uint8Array<SharedArrayBuffer>;
  /** How much of the stored pack can be read. */
  readonly stored: Float64Array<SharedArrayBuffer>;
  readonly packPath: string;
  readonly packFd: number;
}

/** Bits of a code. */
const KNOWN = 0x80;
const IDENT = 0x40;
const KINDS = ['none', 'in-core', 'stream'] as const;
const CRLF = ['none', 'text', 'auto'] as const;

/** A conversion as one byte; 0 for those that are not done while the pack comes: they need more than the content. */
export function conversionCode({ kind, crlf, ident, encoding }: Conversion): number {
  const at = (KINDS as readonly string[]).indexOf(kind);
  if (at < 0 || encoding !== undefined) return 0;
  return KNOWN | (ident ? IDENT : 0) | (CRLF.indexOf(crlf) << 2) | at;
}

/** The conversion that a code stands for; null for 0. */
export function conversionOf(code: number): Conversion | null {
  const kind = KINDS[code & 3];
  const crlf = CRLF[(code >> 2) & 3];
  if (code === 0 || kind === undefined || crlf === undefined) return null;
  return { kind, crlf, ident: (code & IDENT) !== 0 };
}

/**
 * Memory for a stream of so many objects, with room for so many entries.
 * @throws CheckoutError memory
 */
export function createShare(
  objects: PackObjects,
  entries: number,
  ringBytes: number,
  pack: { readonly path: string; readonly fd: number },
): StreamShare {
  const shared = (bytes: number): SharedArrayBuffer => {
    try {
      return new SharedArrayBuffer(bytes);
    } catch (error) {
      throw new CheckoutError('memory', `cannot allocate ${bytes} bytes for a stream`, {}, error);
    }
  };
  // At most half full, so that a search is short.
  const slots = 2 ** Math.ceil(Math.log2(Math.max(16, 2 * entries)));
  return {
    control: new Int32Array(shared(4 * CONTROL_WORDS)),
    batches: new Float64Array(shared(8 * BATCH_FIELDS * BATCH_SLOTS)),
    done: new Int32Array(shared(4 * BATCH_SLOTS)),
    ring: new Uint8Array(shared(ringBytes)),
    objects,
    sizes: new Uint32Array(shared(4 * objects.count)),
    placed: new Uint8Array(shared(objects.count)),
    deltas: new Uint32Array(shared(4 * objects.count)),
    // A family has one object beside its deltas.
    families: new Uint32Array(shared(8 * objects.count)),
    slots: new Int32Array(shared(4 * slots)),
    next: new Int32Array(shared(4 * entries)),
    conversionCodes: new Uint8Array(shared(256)),
    stored: new Float64Array(shared(8)),
    packPath: pack.path,
    packFd: pack.fd,
  };
}
