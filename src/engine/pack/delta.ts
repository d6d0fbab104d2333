/**
 * Deltas (gitformat-pack, "Deltified representation"): a list of instructions that copy from a base object or insert
 * literal bytes. A delta is hostile input: sizes are checked before anything is allocated, each copy stays within the
 * base and each result within its declared size.
 */
import type { Bytes } from '../bytes.ts';
import { bufferOver } from '../bytes.ts';

/** Copies shorter than this are done byte by byte; a call into native code costs more (about 60 ns). */
const NATIVE_COPY_BYTES = 24;

/** The two sizes at the head of a delta; one instance is filled again and again. */
export class DeltaSizes {
  baseSize = 0;
  resultSize = 0;
  /** Where the instructions begin. */
  instructionsAt = 0;

  /** @returns false when the header is cut off or a size is out of range */
  parse(delta: Bytes, start: number, end: number): boolean {
    let cursor = start;
    for (let field = 0; field < 2; field++) {
      let value = 0;
      let scale = 1;
      let byte = 0x80;
      const first = cursor;
      while (byte & 0x80) {
        if (cursor >= end || cursor - first >= 8) return false;
        byte = delta[cursor++] ?? 0;
        value += (byte & 0x7f) * scale;
        scale *= 128;
      }
      if (value > Number.MAX_SAFE_INTEGER) return false;
      if (field === 0) this.baseSize = value;
      else this.resultSize = value;
    }
    this.instructionsAt = cursor;
    return true;
  }
}

/**
 * Runs the instructions `delta[start, end)` over `base[baseStart, baseStart + baseSize)`, writing exactly `resultSize`
 * bytes to `out` from `outStart`.
 * @returns false when the delta is not valid
 */
export function applyDelta(
  base: Bytes,
  baseStart: number,
  baseSize: number,
  delta: Bytes,
  start: number,
  end: number,
  out: Bytes,
  outStart: number,
  resultSize: number,
): boolean {
  const baseBuffer = bufferOver(base);
  const deltaBuffer = bufferOver(delta);
  let cursor = start;
  let at = outStart;
  const outEnd = outStart + resultSize;
  while (cursor < end) {
    const code = delta[cursor++] ?? 0;
    if (code & 0x80) {
      let offset = 0;
      let size = 0;
      if (code & 0x01) offset = delta[cursor++] ?? 0;
      if (code & 0x02) offset |= (delta[cursor++] ?? 0) << 8;
      if (code & 0x04) offset |= (delta[cursor++] ?? 0) << 16;
      // The fourth byte may set the sign bit; multiplying keeps the number positive.
      if (code & 0x08) offset += (delta[cursor++] ?? 0) * 0x1000000;
      if (code & 0x10) size = delta[cursor++] ?? 0;
      if (code & 0x20) size |= (delta[cursor++] ?? 0) << 8;
      if (code & 0x40) size |= (delta[cursor++] ?? 0) << 16;
      if (size === 0) size = 0x10000;
      if (cursor > end || offset + size > baseSize || at + size > outEnd) return false;
      const from = baseStart + offset;
      if (size < NATIVE_COPY_BYTES) {
        for (let i = 0; i < size; i++) out[at + i] = base[from + i] ?? 0;
      } else {
        baseBuffer.copy(out, at, from, from + size);
      }
      at += size;
    } else if (code !== 0) {
      if (cursor + code > end || at + code > outEnd) return false;
      if (code < NATIVE_COPY_BYTES) {
        for (let i = 0; i < code; i++) out[at + i] = delta[cursor + i] ?? 0;
      } else {
        deltaBuffer.copy(out, at, cursor, cursor + code);
      }
      cursor += code;
      at += code;
    } else {
      return false; // reserved
    }
  }
  return at === outEnd;
}
