/**
 * Inflates zlib streams whose output size is known, without an object per stream.
 *
 * Node offers `inflateSync`, which makes a new zlib state, a new output buffer and a few objects for each call: 470 MB/s
 * on the blobs of the Linux tree (Node 24), against 860 MB/s through one handle that is reset between streams. That handle
 * is not documented, so it is used in this file only, its shape is checked before use, and without it everything
 * goes through `inflateSync`. Both ways are tested.
 */
import { constants, createInflate, inflateSync } from 'node:zlib';
import type { Bytes } from '../bytes.ts';

/** The part of Node's internal zlib handle that is used here. */
interface ZlibHandle {
  writeSync(
    flush: number,
    input: Uint8Array,
    inputStart: number,
    inputLength: number,
    output: Uint8Array,
    outputStart: number,
    outputLength: number,
  ): void;
  reset(): void;
  close(): void;
  onerror: (message: string, errno: number, code: string) => void;
}

interface OpenHandle {
  readonly handle: ZlibHandle;
  /** [output bytes left, input bytes left] after a write that did not fail. */
  readonly state: Uint32Array;
}

function openHandle(): OpenHandle | null {
  const stream = createInflate() as unknown as { _handle?: Partial<ZlibHandle>; _writeState?: unknown };
  const handle = stream._handle;
  const state = stream._writeState;
  if (
    typeof handle?.writeSync !== 'function' ||
    typeof handle.reset !== 'function' ||
    typeof handle.close !== 'function' ||
    !(state instanceof Uint32Array) ||
    state.length < 2
  ) {
    return null;
  }
  return { handle: handle as ZlibHandle, state };
}

/**
 * The handle counts in 32 bits, and wraps without a word. Output beyond this goes into a view that begins further on, and no
 * more than this in one write.
 */
const MOST_OUTPUT = 0x7fffffff;

/** Why a stream did not inflate. */
export type InflateFailure =
  /** The input ended before the stream did. */
  | 'truncated'
  /** Not a zlib stream, a wrong checksum, or more output than declared. */
  | 'corrupt';

/** Inflates one stream after another. Not to be shared between threads; `close` frees the zlib state. */
export class Inflater {
  /** Set by the last call: input bytes used, output bytes made. */
  consumed = 0;
  produced = 0;
  #open: OpenHandle | null;
  #error: string | null = null;
  readonly #useHandle: boolean;
  readonly #spare = new Uint8Array(1);

  /** @param useHandle false forces the documented way (for tests and for runtimes without the handle) */
  constructor(useHandle = true) {
    this.#useHandle = useHandle;
    this.#open = null;
  }

  /** Whether the fast way is in use. */
  get usesHandle(): boolean {
    return this.#handle() !== null;
  }

  close(): void {
    this.#open?.handle.close();
    this.#open = null;
  }

  /**
   * Inflates the whole stream that starts at `input[start]` into `out[outStart, outStart + size)`.
   * `out` must have room for size + 1 bytes: the spare byte is what tells a longer stream from a complete one.
   * @returns null when the stream ended after exactly `size` bytes (`consumed` is then set), else why not
   */
  inflateExact(
    input: Bytes,
    start: number,
    end: number,
    out: Bytes,
    outStart: number,
    size: number,
  ): InflateFailure | null {
    const open = this.#handle();
    if (open === null) return this.#inflateExactSync(input, start, end, out, outStart, size);
    this.#error = null;
    open.handle.reset();
    if (!this.#write(open, constants.Z_FINISH, input, start, end, out, outStart, size + 1)) return this.#fail();
    if (this.produced !== size) return this.produced > size ? 'corrupt' : 'truncated';
    return null;
  }

  /** Begins a stream that is inflated in pieces by `step`. False where pieces are not possible (no handle). */
  begin(): boolean {
    const open = this.#handle();
    if (open === null) return false;
    this.#error = null;
    open.handle.reset();
    return true;
  }

  /**
   * Goes on with the stream of `begin`: takes from `input[start, end)`, gives to `out[outStart, outEnd)`, and sets
   * `consumed` and `produced`. The stream has ended when a step with room and input does nothing.
   * @returns null or why it failed
   */
  step(input: Bytes, start: number, end: number, out: Bytes, outStart: number, outEnd: number): InflateFailure | null {
    const open = this.#open;
    if (open === null) return 'corrupt';
    return this.#write(open, constants.Z_SYNC_FLUSH, input, start, end, out, outStart, outEnd - outStart)
      ? null
      : this.#fail();
  }

  /** Whether the stream of `begin`, all of whose input was given, is complete: ended and its checksum right. */
  ended(): boolean {
    const open = this.#open;
    if (open === null) return false;
    open.handle.writeSync(constants.Z_FINISH, this.#spare, 0, 0, this.#spare, 0, 1);
    if (this.#hasFailed()) {
      this.#fail();
      return false;
    }
    return open.state[0] === 1;
  }

  /** One write; sets `consumed` and `produced`. False when it failed. */
  #write(
    { handle, state }: OpenHandle,
    flush: number,
    input: Bytes,
    start: number,
    end: number,
    out: Bytes,
    outStart: number,
    outLength: number,
  ): boolean {
    if (outStart + outLength <= MOST_OUTPUT) {
      handle.writeSync(flush, input, start, end - start, out, outStart, outLength);
    } else {
      outLength = Math.min(outLength, MOST_OUTPUT);
      handle.writeSync(flush, input, start, end - start, out.subarray(outStart, outStart + outLength), 0, outLength);
    }
    if (this.#hasFailed()) return false;
    this.produced = outLength - (state[0] ?? 0);
    this.consumed = end - start - (state[1] ?? 0);
    return true;
  }

  #handle(): OpenHandle | null {
    if (!this.#useHandle) return null;
    if (this.#open === null) {
      this.#open = openHandle();
      if (this.#open !== null) {
        this.#open.handle.onerror = (_message, _errno, code): void => {
          this.#error = code;
        };
      }
    }
    return this.#open;
  }

  /** Whether the handle has called back with an error; a method, because the compiler cannot see that call. */
  #hasFailed(): boolean {
    return this.#error !== null;
  }

  /** A handle that has failed is not used again. */
  #fail(): InflateFailure {
    const failure = this.#error === 'Z_BUF_ERROR' ? 'truncated' : 'corrupt';
    this.close();
    return failure;
  }

  #inflateExactSync(
    input: Bytes,
    start: number,
    end: number,
    out: Bytes,
    outStart: number,
    size: number,
  ): InflateFailure | null {
    try {
      const result = inflateSync(input.subarray(start, end), {
        maxOutputLength: size + 1,
        info: true,
      }) as unknown as { buffer: Buffer; engine: { bytesWritten: number } };
      if (result.buffer.length !== size) return result.buffer.length > size ? 'corrupt' : 'truncated';
      out.set(result.buffer, outStart);
      this.produced = size;
      this.consumed = result.engine.bytesWritten;
      return null;
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      if (code === 'ERR_BUFFER_TOO_LARGE') return 'corrupt';
      return code === 'Z_BUF_ERROR' ? 'truncated' : 'corrupt';
    }
  }
}
