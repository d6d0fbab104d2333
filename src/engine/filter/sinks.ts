/**
 * Where converted content goes, span by span: it is measured, or it is written. Line ends are converted here, as the last
 * step, so that ident and end-of-line conversion need no buffer between them. A CR LF may be cut in two by spans.
 */
import type { Bytes } from '../bytes.ts';
import { bug } from '../errors.ts';

export interface Sink {
  /** Takes `bytes[start, end)`, which is valid during the call only. */
  push(bytes: Bytes, start: number, end: number): void;
}

const NUL = 0x00;
const LF = 0x0a;
const CR = 0x0d;
const SUBSTITUTE = 0x1a;

const IS_LF = 1;
const IS_NONPRINTABLE = 1 << 10;
const IS_CR_OR_NUL = 1 << 20;
/** Bytes whose marks are added up in one number; each mark then has ten bits to itself. */
const BLOCK = 512;

/** By byte: a line feed, a control character other than BS, TAB, LF, FF, CR and ESC (or DEL), a CR or NUL. */
const MARKS = Int32Array.from({ length: 256 }, (_, byte) => {
  if (byte === LF) return IS_LF;
  if (byte === CR || byte === NUL) return IS_CR_OR_NUL;
  const printable = (byte >= 0x20 && byte !== 0x7f) || byte === 0x08 || byte === 0x09 || byte === 0x0c || byte === 0x1b;
  return printable ? 0 : IS_NONPRINTABLE;
});

/** From here on, looking at four bytes at a time pays for the view that it takes. */
const WORDS_PAY = 64;

/** A view for reading or writing four bytes at once, at any place. */
function wordsOf(bytes: Bytes): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}

/** Not 0 where one of four bytes has a mark: is below 0x20, or 0x7f. (Bytes below 0x20 without a mark are caught, too.) */
function mayHaveMarks(word: number): number {
  const del = word ^ 0x7f7f7f7f;
  return (((word - 0x20202020) & ~word) | ((del - 0x01010101) & ~del)) & 0x80808080;
}

/** Not 0 where one of four bytes is a line feed. */
function hasLineFeed(word: number): number {
  const difference = word ^ 0x0a0a0a0a;
  return (difference - 0x01010101) & ~difference & 0x80808080;
}

/** Sum of the marks of `content[at, end)`, at most a block. Four bytes at a time took 0.4 of the time of one by one. */
function sumMarks(content: Bytes, words: DataView | null, start: number, end: number): number {
  let marks = 0;
  let at = start;
  if (words !== null) {
    for (const last = end - 4; at <= last; at += 4) {
      if (mayHaveMarks(words.getInt32(at, true)) === 0) continue;
      marks += MARKS[content[at]!]! + MARKS[content[at + 1]!]! + MARKS[content[at + 2]!]! + MARKS[content[at + 3]!]!;
    }
  }
  for (; at < end; at++) marks += MARKS[content[at]!]!;
  return marks;
}

/**
 * Line feeds that automatic conversion turns into CR LF in `content[0, length)`: all, or none (0) when the content has a
 * CR, or a NUL, or so many control characters that git takes it for binary.
 */
export function autoLineFeeds(content: Bytes, length: number): number {
  let lineFeeds = 0;
  let nonprintable = 0;
  const words = length < WORDS_PAY ? null : wordsOf(content);
  for (let at = 0; at < length; at += BLOCK) {
    const marks = sumMarks(content, words, at, Math.min(length, at + BLOCK));
    if (marks >= IS_CR_OR_NUL) return 0;
    lineFeeds += marks & (IS_NONPRINTABLE - 1);
    nonprintable += marks >> 10;
  }
  return looksBinary(length, lineFeeds, nonprintable, length > 0 ? content[length - 1]! : 0) ? 0 : lineFeeds;
}

/** git's guess for content without CR and NUL: more than one control character in 128 others. */
function looksBinary(length: number, lineFeeds: number, nonprintable: number, last: number): boolean {
  const printable = length - lineFeeds - nonprintable;
  const counted = last === SUBSTITUTE ? nonprintable - 1 : nonprintable;
  return Math.floor(printable / 128) < counted;
}

/** Line feeds of `content[0, length)` that no CR stands before. */
export function bareLineFeeds(content: Bytes, length: number): number {
  let count = 0;
  let previous = 0;
  const words = length < WORDS_PAY ? null : wordsOf(content);
  for (let start = 0; start < length; start += BLOCK) {
    const end = Math.min(length, start + BLOCK);
    const marks = sumMarks(content, words, start, end);
    if (marks < IS_CR_OR_NUL && previous !== CR) {
      count += marks & (IS_NONPRINTABLE - 1);
      previous = content[end - 1]!;
      continue;
    }
    for (let i = start; i < end; i++) {
      const byte = content[i]!;
      if (byte === LF && previous !== CR) count++;
      previous = byte;
    }
  }
  return count;
}

/**
 * Copies `bytes[start, end)` to `out` from `at` on, each LF that no CR stands before as CR LF. `previous` is the byte
 * before `start`. Returns where it ended. `out` must be large enough.
 */
export function copyWithCrlf(
  bytes: Bytes,
  start: number,
  end: number,
  previous: number,
  out: Bytes,
  at: number,
): number {
  let i = start;
  if (end - start >= WORDS_PAY) {
    const from = wordsOf(bytes);
    const to = wordsOf(out);
    for (const last = end - 4; i <= last;) {
      const word = from.getInt32(i, true);
      if (hasLineFeed(word) === 0) {
        to.setInt32(at, word, true);
        at += 4;
        i += 4;
        previous = word >>> 24;
        continue;
      }
      // Up to and with the line feed, so that four bytes at a time go on right behind it.
      let byte = bytes[i++]!;
      while (byte !== LF) {
        out[at++] = byte;
        previous = byte;
        byte = bytes[i++]!;
      }
      if (previous !== CR) out[at++] = CR;
      out[at++] = LF;
      previous = LF;
    }
  }
  for (; i < end; i++) {
    const byte = bytes[i]!;
    if (byte === LF && previous !== CR) out[at++] = CR;
    out[at++] = byte;
    previous = byte;
  }
  return at;
}

/**
 * Decides about `content[0, length)` as `autoLineFeeds` and copies it as `copyWithCrlf`, in one pass over the content: on the Linux
 * tree that takes two thirds of the time of both. `out` must have room for twice the content.
 * @returns the size of the result; -1 when the content stays as it is, and `out` holds nothing of use
 */
export function copyAutoCrlf(content: Bytes, length: number, out: Bytes): number {
  const from = wordsOf(content);
  const to = wordsOf(out);
  let at = 0;
  let lineFeeds = 0;
  let nonprintable = 0;
  for (let i = 0; i < length;) {
    const end = Math.min(length, i + BLOCK);
    let marks = 0;
    while (i < end) {
      if (i <= end - 4) {
        const word = from.getInt32(i, true);
        if (mayHaveMarks(word) === 0) {
          to.setInt32(at, word, true);
          at += 4;
          i += 4;
          continue;
        }
      }
      for (const stop = Math.min(end, i + 4); i < stop; i++) {
        const byte = content[i]!;
        marks += MARKS[byte]!;
        if (byte === LF) out[at++] = CR;
        out[at++] = byte;
      }
    }
    if (marks >= IS_CR_OR_NUL) return -1;
    lineFeeds += marks & (IS_NONPRINTABLE - 1);
    nonprintable += marks >> 10;
  }
  if (lineFeeds === 0 || looksBinary(length, lineFeeds, nonprintable, content[length - 1]!)) return -1;
  return at;
}

/** Measures: everything that deciding about line ends and the size of the result needs. */
export class Measure implements Sink {
  length = 0;
  bareLineFeeds = 0;
  #lineFeeds = 0;
  #nonprintable = 0;
  #hasCrOrNul = false;
  #last = 0;

  push(bytes: Bytes, start: number, end: number): void {
    let previous = this.#last;
    for (let i = start; i < end; i++) {
      const byte = bytes[i]!;
      if (byte === LF) {
        this.#lineFeeds++;
        if (previous !== CR) this.bareLineFeeds++;
      } else if (MARKS[byte] === IS_NONPRINTABLE) {
        this.#nonprintable++;
      } else if (byte === CR || byte === NUL) {
        this.#hasCrOrNul = true;
      }
      previous = byte;
    }
    this.#last = previous;
    this.length += end - start;
  }

  /** As `autoLineFeeds`, of all that was pushed. */
  get autoLineFeeds(): number {
    if (this.#hasCrOrNul) return 0;
    return looksBinary(this.length, this.#lineFeeds, this.#nonprintable, this.#last) ? 0 : this.#lineFeeds;
  }
}

/** Writes into memory that has room for all of it. */
export class MemoryWriter implements Sink {
  /** Bytes written. */
  length = 0;
  readonly #out: Bytes;
  readonly #crlf: boolean;
  #last = 0;

  constructor(out: Bytes, crlf: boolean) {
    this.#out = out;
    this.#crlf = crlf;
  }

  push(bytes: Bytes, start: number, end: number): void {
    if (start === end) return;
    if (this.#crlf) {
      this.length = copyWithCrlf(bytes, start, end, this.#last, this.#out, this.length);
    } else {
      this.#out.set(bytes.subarray(start, end), this.length);
      this.length += end - start;
    }
    this.#last = bytes[end - 1]!;
  }
}

/** Bytes that a PieceWriter gathers before it hands them on: large enough that write calls do not matter. */
const PIECE = 64 * 1024;

/** The buffer of the writer that ended last: files follow one another, and fresh memory costs more than filling it. */
let spare: Uint8Array | null = null;

/** Hands content on in pieces of bounded size. */
export class PieceWriter implements Sink {
  /** Takes a piece, valid during the call only. */
  write: (piece: Bytes) => void = () => undefined;
  #piece: Uint8Array | null;
  readonly #crlf: boolean;
  #length = 0;
  #last = 0;

  constructor(crlf: boolean) {
    this.#crlf = crlf;
    this.#piece = spare ?? new Uint8Array(PIECE);
    spare = null;
  }

  push(bytes: Bytes, start: number, end: number): void {
    if (this.#piece === null) throw bug('content after its end');
    while (start < end) {
      // Each byte may become two.
      const room = this.#crlf ? (PIECE - this.#length) >> 1 : PIECE - this.#length;
      if (room === 0) {
        this.#flush(this.#piece);
        continue;
      }
      const stop = Math.min(end, start + room);
      if (this.#crlf) {
        this.#length = copyWithCrlf(bytes, start, stop, this.#last, this.#piece, this.#length);
      } else {
        this.#piece.set(bytes.subarray(start, stop), this.#length);
        this.#length += stop - start;
      }
      this.#last = bytes[stop - 1]!;
      start = stop;
    }
  }

  /** Hands on what is left. Nothing can be pushed after it. */
  end(): void {
    if (this.#piece === null) return;
    this.#flush(this.#piece);
    spare = this.#piece;
    this.#piece = null;
  }

  #flush(piece: Uint8Array): void {
    if (this.#length === 0) return;
    const length = this.#length;
    this.#length = 0;
    this.write(piece.subarray(0, length));
  }
}
