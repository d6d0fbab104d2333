/**
 * EWAH bitmaps, as a split index has them (gitformat-index "Split index", gitformat-bitmap "Appendix A"): 64-bit words in
 * runs. A marker word stands for up to 2^32 words of all zeros or all ones and says how many words follow as they are, so
 * a few bytes can claim more bits than anybody could store: the caller says how many can be meant.
 */
import type { Bytes } from '../bytes.ts';

const HEADER_BYTES = 8;
const WORD_BYTES = 8;
const WORD_BITS = 64;
/** The place of the last marker word, which only a writer needs. */
const TRAILER_BYTES = 4;

export interface Bitmap {
  /** Numbers of the bits that are set, ascending. */
  readonly positions: Uint32Array;
  /** Where the bitmap ends in the bytes. */
  readonly end: number;
}

/**
 * Reads the bitmap at `start`.
 * @param limit no bit from this one on may be set
 * @returns null when it is not whole, or sets a bit beyond the limit
 */
export function readBitmap(bytes: Bytes, start: number, limit: number): Bitmap | null {
  if (start + HEADER_BYTES > bytes.length) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const words = view.getUint32(start + 4);
  const wordsEnd = start + HEADER_BYTES + words * WORD_BYTES;
  if (wordsEnd + TRAILER_BYTES > bytes.length) return null;
  const positions: number[] = [];
  let bit = 0;
  for (let at = start + HEADER_BYTES; at < wordsEnd;) {
    const high = view.getUint32(at);
    const low = view.getUint32(at + 4);
    at += WORD_BYTES;
    // Bit 0: what the run consists of; bits 1 to 32: its words; bits 33 to 63: words that follow.
    const run = ((low >>> 1) + (high & 1) * 0x8000_0000) * WORD_BITS;
    if ((low & 1) !== 0) {
      if (bit + run > limit) return null;
      for (let i = 0; i < run; i++) positions.push(bit + i);
    }
    bit += run;
    const literals = high >>> 1;
    if (literals > (wordsEnd - at) / WORD_BYTES) return null;
    for (let i = 0; i < literals; i++, at += WORD_BYTES, bit += WORD_BITS) {
      for (let half = 0; half < 2; half++) {
        const from = bit + 32 * half;
        let rest = view.getUint32(at + 4 - 4 * half);
        while (rest !== 0) {
          const lowest = 31 - Math.clz32(rest & -rest);
          if (from + lowest >= limit) return null;
          positions.push(from + lowest);
          rest = (rest & (rest - 1)) >>> 0;
        }
      }
    }
  }
  return { positions: Uint32Array.from(positions), end: wordsEnd + TRAILER_BYTES };
}
