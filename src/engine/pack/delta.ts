/**
 * Deltas (gitformat-pack, "Deltified representation"): a list of instructions that copy from a base object or insert
 * literal bytes. A delta is hostile input: sizes are checked before anything is allocated, each copy stays within the
 * base and each result within its declared size.
 */
import type { Bytes } from '../bytes.ts';
import { bufferOver } from '../bytes.ts';

/** Copies shorter than this are done byte by byte; a call into native code costs more (about 60 ns). */
const NATIVE_COPY_BYTES = 24;

/** git refuses shorter ones: two sizes and one instruction of at least two bytes. */
const LEAST_DELTA_BYTES = 4;

/** The two sizes at the head of a delta; one instance is filled again and again. */
export class DeltaSizes {
  baseSize = 0;
  resultSize = 0;
  /** Where the instructions begin. */
  instructionsAt = 0;

  /** @returns false when the delta is cut off or a size is out of range */
  parse(delta: Bytes, start: number, end: number): boolean {
    if (end - start < LEAST_DELTA_BYTES) return false;
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

/** Where the result of a delta goes: `out` can be written to from `at` up to `end`; `flush` makes room again. */
interface Target {
  out: Bytes;
  at: number;
  end: number;
  readonly flush: ((target: Target) => void) | null;
}

/**
 * Runs the instructions `delta[start, end)` over `base[baseStart, baseStart + baseSize)`, writing exactly `resultSize`
 * bytes to the beginning of `out`.
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
  resultSize: number,
): boolean {
  const target = { out, at: 0, end: resultSize, flush: null };
  return run(base, baseStart, baseSize, delta, start, end, resultSize, target);
}

/**
 * Like `applyDelta`, but the result passes through `piece` to `sink`, so that it need not be held.
 * @returns false when the delta is not valid; some of the result may have been given to `sink` by then
 */
export function streamDelta(
  base: Bytes,
  baseStart: number,
  baseSize: number,
  delta: Bytes,
  start: number,
  end: number,
  resultSize: number,
  piece: Bytes,
  sink: (piece: Bytes) => void,
): boolean {
  const target = {
    out: piece,
    at: 0,
    end: piece.length,
    flush: (full: Target): void => {
      sink(piece.subarray(0, full.at));
      full.at = 0;
    },
  };
  if (!run(base, baseStart, baseSize, delta, start, end, resultSize, target)) return false;
  if (target.at > 0) target.flush(target);
  return true;
}

function run(
  base: Bytes,
  baseStart: number,
  baseSize: number,
  delta: Bytes,
  start: number,
  end: number,
  resultSize: number,
  target: Target,
): boolean {
  const baseBuffer = bufferOver(base);
  const deltaBuffer = bufferOver(delta);
  let cursor = start;
  let left = resultSize;
  while (cursor < end) {
    const code = delta[cursor++] ?? 0;
    let size: number;
    let from: number;
    let source: Buffer;
    if (code & 0x80) {
      let offset = 0;
      size = 0;
      if (code & 0x01) offset = delta[cursor++] ?? 0;
      if (code & 0x02) offset |= (delta[cursor++] ?? 0) << 8;
      if (code & 0x04) offset |= (delta[cursor++] ?? 0) << 16;
      // The fourth byte may set the sign bit; multiplying keeps the number positive.
      if (code & 0x08) offset += (delta[cursor++] ?? 0) * 0x1000000;
      if (code & 0x10) size = delta[cursor++] ?? 0;
      if (code & 0x20) size |= (delta[cursor++] ?? 0) << 8;
      if (code & 0x40) size |= (delta[cursor++] ?? 0) << 16;
      if (size === 0) size = 0x10000;
      if (cursor > end || offset + size > baseSize) return false;
      from = baseStart + offset;
      source = baseBuffer;
    } else if (code !== 0) {
      if (cursor + code > end) return false;
      size = code;
      from = cursor;
      source = deltaBuffer;
      cursor += code;
    } else {
      return false; // reserved
    }
    if (size > left) return false;
    left -= size;
    while (target.at + size > target.end) {
      // Only a target with `flush` can be smaller than what is left.
      const part = target.end - target.at;
      source.copy(target.out, target.at, from, from + part);
      target.at += part;
      from += part;
      size -= part;
      if (target.flush === null) return false;
      target.flush(target);
    }
    const { out, at } = target;
    if (size < NATIVE_COPY_BYTES) {
      for (let i = 0; i < size; i++) out[at + i] = source[from + i] ?? 0;
    } else {
      source.copy(out, at, from, from + size);
    }
    target.at = at + size;
  }
  return left === 0;
}
