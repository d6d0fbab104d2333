/**
 * The framing of git's protocol (gitprotocol-common(5), "pkt-line Format"): four hexadecimal digits of length, then so many bytes less
 * four. What a server sends comes in pieces of any size; a line is gathered, the data of a pack is passed on as it comes.
 */
import type { Bytes } from '../bytes.ts';
import { displayBytes } from '../bytes.ts';
import { CheckoutError } from '../errors.ts';

/** Longest pkt-line that git sends or takes, its length included. */
export const MAX_PKT_BYTES = 65520;

export const FLUSH_PKT = '0000';
export const DELIM_PKT = '0001';

/** What a length below 4 means. */
export type SpecialPkt = 'flush' | 'delim' | 'response-end';

/** One pkt-line. */
export function pktLine(payload: string): string {
  const length = Buffer.byteLength(payload, 'utf8') + 4;
  if (length > MAX_PKT_BYTES) throw new CheckoutError('usage', 'a line for the server is too long');
  return length.toString(16).padStart(4, '0') + payload;
}

export interface PktHandler {
  /** A whole line; the bytes are valid during the call only. */
  line(payload: Bytes): void;
  special(kind: SpecialPkt): void;
  /** Of a pkt-line of side band 1, a piece; valid during the call only. */
  data(piece: Bytes): void;
}

/** What a server did that it must not; never a secret, since the server wrote it. */
export function protocolError(how: string): CheckoutError {
  return new CheckoutError('fetch-failed', `the server's answer ${how}`);
}

/** Cuts a stream into pkt-lines. */
export class PktReader {
  /** Set while the lines are multiplexed: those of band 1 go to `data` without their first byte. */
  sideBand = false;
  readonly #handler: PktHandler;
  /** The line, or its length, that has begun: what there is of it. */
  readonly #held = Buffer.alloc(MAX_PKT_BYTES);
  #heldBytes = 0;
  /** Length of the payload of the line that has begun; -1 while its length is read. */
  #length = -1;
  /** Bytes of band 1 that the line still has; 0 outside of such a line. */
  #dataLeft = 0;

  constructor(handler: PktHandler) {
    this.#handler = handler;
  }

  /** Whether no line has begun. */
  get isBetweenLines(): boolean {
    return this.#length < 0 && this.#heldBytes === 0 && this.#dataLeft === 0;
  }

  /**
   * Takes the next bytes.
   * @throws CheckoutError fetch-failed for what is no pkt-line; what the handler throws
   */
  push(bytes: Bytes): void {
    let at = 0;
    while (at < bytes.length) {
      if (this.#dataLeft > 0) {
        const end = Math.min(bytes.length, at + this.#dataLeft);
        this.#dataLeft -= end - at;
        const piece = bytes.subarray(at, end);
        at = end;
        this.#handler.data(piece);
        continue;
      }
      if (this.#length < 0) {
        at = this.#gather(bytes, at, 4);
        if (this.#heldBytes === 4) this.#begin();
        continue;
      }
      if (this.sideBand && this.#heldBytes === 0 && bytes[at] === 1) {
        at++;
        this.#dataLeft = this.#length - 1;
        this.#length = -1;
        continue;
      }
      at = this.#gather(bytes, at, this.#length);
      if (this.#heldBytes === this.#length) this.#end();
    }
  }

  #gather(bytes: Bytes, at: number, wanted: number): number {
    const end = Math.min(bytes.length, at + wanted - this.#heldBytes);
    this.#held.set(bytes.subarray(at, end), this.#heldBytes);
    this.#heldBytes += end - at;
    return end;
  }

  /** The length has come. */
  #begin(): void {
    const digits = this.#held.toString('latin1', 0, 4);
    this.#heldBytes = 0;
    if (!/^[0-9a-f]{4}$/i.test(digits)) {
      throw protocolError(`is not git's protocol: '${displayBytes(this.#held.subarray(0, 4))}' is no length`);
    }
    const length = Number.parseInt(digits, 16);
    if (length === 0) this.#handler.special('flush');
    else if (length === 1) this.#handler.special('delim');
    else if (length === 2) this.#handler.special('response-end');
    else if (length === 3 || length > MAX_PKT_BYTES)
      throw protocolError(`has a line of an impossible length, ${digits}`);
    else if (length === 4) this.#handler.line(this.#held.subarray(0, 0));
    else this.#length = length - 4;
  }

  #end(): void {
    const payload = this.#held.subarray(0, this.#length);
    this.#length = -1;
    this.#heldBytes = 0;
    this.#handler.line(payload);
  }
}
