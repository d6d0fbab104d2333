/**
 * Small operations on byte ranges. Paths, names and contents are bytes here, because git's are: a path need not be
 * valid UTF-8, and turning a million of them into strings would cost more than writing the files.
 */

/** A byte array over any buffer, shared or not. */
export type Bytes = Uint8Array;

/** Bytes that one read or write asks for at most: Node takes lengths below 2 GiB only. */
export const MOST_AT_ONCE = 2 ** 30;

/** A Buffer over the same memory, for Node calls that take a Buffer. No copy. */
export function bufferOver(bytes: Bytes, start = 0, end = bytes.length): Buffer {
  return Buffer.from(bytes.buffer as ArrayBuffer, bytes.byteOffset + start, end - start);
}

/** Bytes in display form for messages: UTF-8 with invalid sequences replaced, control characters escaped. */
export function displayBytes(bytes: Bytes): string {
  const text = bufferOver(bytes).toString('utf8');
  // eslint-disable-next-line no-control-regex -- control characters are what must not reach a terminal or a log
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, (character) => {
    return `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`;
  });
}

/**
 * Address space that a large buffer takes at least. glibc's malloc asks the system for memory of a chunk's own, and gives it back when the
 * chunk is freed, from a size on that grows with what is freed, up to 32 MiB (mallopt(3), M_MMAP_THRESHOLD); below it, freed
 * memory stays with the thread. Only pages that are written to count: the clone of Linux took 288 MB without this, 240 MB with.
 */
const LEAST_LARGE_BYTES = (32 << 20) + (64 << 10);

/** Up to here what stays is little, and much address space would only have garbage collected more often: 0.5 s of 7.3 s CPU. */
const MOST_ORDINARY_BYTES = 2 << 20;

/**
 * Memory for an object that is larger than the scratch buffers; `freeLarge` gives it back.
 * @throws RangeError where there is none
 */
export function allocateLarge(bytes: number): Uint8Array<ArrayBuffer> {
  if (bytes <= MOST_ORDINARY_BYTES) return new Uint8Array(bytes);
  return new Uint8Array(new ArrayBuffer(Math.max(bytes, LEAST_LARGE_BYTES)), 0, bytes);
}

/**
 * Gives a large buffer's memory back at once rather than when garbage is next collected: moving it into a buffer of
 * length 0 frees it. Node 20 cannot; there it is left to the collector. (A resizable buffer could be shrunk, but code
 * that has met one is slower for every other buffer from then on: 0.6 s of 3.0 s CPU on the Linux tree.)
 */
export function freeLarge(bytes: Uint8Array<ArrayBuffer>): void {
  const { transfer } = bytes.buffer as { transfer?: (this: ArrayBuffer, length: number) => ArrayBuffer };
  transfer?.call(bytes.buffer, 0);
}
