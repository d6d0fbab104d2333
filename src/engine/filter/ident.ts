/**
 * Expands `$Id$` (gitattributes(5), "ident"). git does it in two ways that differ, and so do we, because a file must have
 * the bytes that git gives it: with the whole content at hand, and as a stream. Where git's stream has bugs (it cannot
 * start a match at the byte that ended another; it can lose or repeat bytes), this has them too.
 */
import type { Bytes } from '../bytes.ts';
import { bufferOver } from '../bytes.ts';
import { CheckoutError } from '../errors.ts';
import { oidToHex } from '../oid.ts';
import type { Sink } from './sinks.ts';

const DOLLAR = 0x24;
const COLON = 0x3a;
const SPACE = 0x20;
const LF = 0x0a;
const LETTER_I = 0x49;
const LETTER_D = 0x64;

/** `Id: <hex> $`, what follows the opening dollar of an expanded keyword. */
function expansion(oid: Bytes): Bytes {
  return Buffer.from(`Id: ${oidToHex(oid, 0, oid.length)} $`, 'latin1');
}

/**
 * Pushes `content[0, length)` with its keywords expanded, as git does with content in memory. Returns how many were
 * expanded.
 */
export function expandInCore(content: Bytes, length: number, oid: Bytes, sink: Sink): number {
  const bytes = bufferOver(content, 0, length);
  let count = 0;
  let expanded: Bytes | null = null;
  // What is before `from` has been pushed.
  let from = 0;
  let at = 0;
  for (;;) {
    const dollar = bytes.indexOf(DOLLAR, at);
    if (dollar < 0) break;
    at = dollar + 1;
    if (length - at < 3 || bytes[at] !== LETTER_I || bytes[at + 1] !== LETTER_D) continue;
    let next: number;
    if (bytes[at + 2] === DOLLAR) {
      next = at + 3;
    } else if (bytes[at + 2] === COLON) {
      const close = bytes.indexOf(DOLLAR, at + 3);
      if (close < 0) break;
      if (hasByte(bytes, LF, at + 3, close)) continue;
      // A space inside, other than the last byte, is the sign of another system's keyword, which is kept. The search
      // goes on right after the opening dollar, so that the closing one may open the next.
      const space = firstByte(bytes, SPACE, at + 4, close);
      if (space >= 0 && space < close - 1) continue;
      next = close + 1;
    } else {
      continue;
    }
    expanded ??= expansion(oid);
    sink.push(bytes, from, at);
    sink.push(expanded, 0, expanded.length);
    count++;
    at = next;
    from = next;
  }
  sink.push(bytes, from, length);
  return count;
}

function firstByte(bytes: Bytes, byte: number, start: number, end: number): number {
  for (let i = start; i < end; i++) if (bytes[i] === byte) return i;
  return -1;
}

function hasByte(bytes: Bytes, byte: number, start: number, end: number): boolean {
  return firstByte(bytes, byte, start, end) >= 0;
}

/** The bytes that git's stream matches: the fourth is the string's terminator, a bug that a NUL in content meets. */
const HEAD = Uint8Array.of(DOLLAR, LETTER_I, LETTER_D, 0);
const HEAD_LENGTH = 3;
/** `$Id: ` at the start is what a keyword of another system is known by. */
const FOREIGN_HEAD = Uint8Array.of(DOLLAR, LETTER_I, LETTER_D, COLON, SPACE);

/** After `$Id:`, up to the closing dollar or the end of the line. */
const COLLECTING = -1;
/** The same, once it is known that the text is kept. */
const PASSING = -2;

/** Room for held bytes to begin with. */
const FIRST_HELD = 256;
/** Held bytes from which on it is tried to let go of text that is certainly kept, again at each doubling. */
const RELEASE_FROM = 64 * 1024;
/**
 * Most bytes held by default. git has no bound here. Text that gets so long without a dollar, a line feed or a space
 * after `$Id:` is made up, and can still be converted with the whole content in memory.
 */
const HELD_LIMIT = 16 * 1024 * 1024;

/** git's stream filter for ident: pieces in, the same bytes with keywords expanded out, whatever the pieces. */
export class IdentStream {
  /** Whether the output differs from the input. */
  changed = false;
  readonly #sink: Sink;
  readonly #expanded: Bytes;
  readonly #drainSize: number;
  readonly #limit: number;
  /** COLLECTING, PASSING, or how many bytes of HEAD were matched last. */
  #state = 0;
  /** Bytes taken in whose fate is open. Before a match in progress there can be earlier ones, such as `$IdX`. */
  #held: Bytes = new Uint8Array(FIRST_HELD);
  #heldLength = 0;
  #releaseFrom = RELEASE_FROM;

  /**
   * `drainSize` is the size of the buffer that git drains this filter into: 1024 when another filter follows, else 16384.
   * It shows in a bug at the end of content. `limit` bounds what is held.
   */
  constructor(sink: Sink, oid: Bytes, drainSize: 1024 | 16384, limit = HELD_LIMIT) {
    this.#sink = sink;
    this.#expanded = expansion(oid);
    this.#drainSize = drainSize;
    this.#limit = limit;
  }

  /**
   * Takes in `bytes[start, end)`.
   *
   * @throws CheckoutError 'memory' when more would have to be held than the limit
   */
  push(bytes: Bytes, start: number, end: number): void {
    const view = bufferOver(bytes, start, end);
    const { length } = view;
    for (let at = 0; at < length;) {
      if (this.#state < 0) {
        at = this.#skip(view, at);
        continue;
      }
      if (this.#state === 0 && this.#heldLength === 0) {
        let dollar = view.indexOf(DOLLAR, at);
        if (dollar < 0) dollar = length;
        this.#sink.push(view, at, dollar);
        if (dollar === length) return;
        this.#state = 1;
        at = dollar + 1;
        continue;
      }
      this.#step(view, at);
      at++;
    }
  }

  /** Ends the content. */
  end(): void {
    const drained = this.#heldLength;
    this.#release();
    if (this.#state <= 0) return;
    // The part of HEAD matched last goes out. git adds it again each time that it fills its buffer.
    let left = drained;
    for (;;) {
      left += this.#state;
      this.#sink.push(HEAD, 0, this.#state);
      if (left <= this.#drainSize) break;
      left -= this.#drainSize;
      this.changed = true;
    }
    this.#state = 0;
  }

  #step(bytes: Bytes, at: number): void {
    const state = this.#state;
    const byte = bytes[at]!;
    if (state < HEAD.length && byte === HEAD[state]) {
      this.#state++;
      return;
    }
    this.#state = 0;
    if (state === HEAD_LENGTH) {
      if (byte === DOLLAR) {
        this.#release();
        this.#expand();
        return;
      }
      this.#hold(HEAD, 0, HEAD_LENGTH);
      this.#hold(bytes, at, at + 1);
      if (byte === COLON) this.#state = COLLECTING;
      return;
    }
    this.#release();
    this.#sink.push(HEAD, 0, state);
    this.#sink.push(bytes, at, at + 1);
  }

  /** Goes on to the end of a keyword's text; returns the position after what was taken. */
  #skip(bytes: Bytes, at: number): number {
    let end = at;
    while (end < bytes.length && bytes[end] !== DOLLAR && bytes[end] !== LF) end++;
    const closed = end < bytes.length;
    if (closed) end++;
    if (this.#state === PASSING) {
      this.#sink.push(bytes, at, end);
      if (closed) this.#state = 0;
      return end;
    }
    this.#hold(bytes, at, end);
    if (closed) {
      if (bytes[end - 1] === DOLLAR && !this.#isForeign()) {
        // Whatever was held before the keyword is lost with its text, as in git.
        this.#heldLength = 0;
        this.#expand();
      } else {
        this.#release();
      }
      this.#state = 0;
    } else if (this.#heldLength >= this.#releaseFrom) {
      this.#releaseFrom = 2 * this.#heldLength;
      if (this.#isForeign()) {
        this.#release();
        this.#state = PASSING;
      }
    }
    return end;
  }

  /** Whether the held text is a keyword of another system: a blank in it that is not right before the dollar. */
  #isForeign(): boolean {
    const held = this.#held;
    if (this.#heldLength < FOREIGN_HEAD.length) return false;
    for (let i = 0; i < FOREIGN_HEAD.length; i++) if (held[i] !== FOREIGN_HEAD[i]) return false;
    for (let i = FOREIGN_HEAD.length; i + 1 < this.#heldLength; i++) {
      const byte = held[i]!;
      // git looks at it as a string, which a NUL ends.
      if (byte === 0) return false;
      if ((byte === SPACE || byte === 0x09 || byte === 0x0d) && held[i + 1] !== DOLLAR) return true;
    }
    return false;
  }

  #expand(): void {
    this.changed = true;
    this.#sink.push(HEAD, 0, 1);
    this.#sink.push(this.#expanded, 0, this.#expanded.length);
  }

  #release(): void {
    this.#sink.push(this.#held, 0, this.#heldLength);
    this.#heldLength = 0;
    this.#releaseFrom = RELEASE_FROM;
  }

  #hold(bytes: Bytes, start: number, end: number): void {
    const length = this.#heldLength + end - start;
    if (length > this.#limit) {
      throw new CheckoutError('memory', `an unfinished $Id$ keyword is longer than ${this.#limit} bytes`);
    }
    if (length > this.#held.length) {
      const larger = new Uint8Array(Math.max(length, 2 * this.#held.length));
      larger.set(this.#held.subarray(0, this.#heldLength));
      this.#held = larger;
    }
    this.#held.set(bytes.subarray(start, end), this.#heldLength);
    this.#heldLength = length;
  }
}
