/**
 * git's packet lines on a pipe (gitprotocol-common(5), pkt-line): four hexadecimal digits of length, then so many bytes with
 * these four. No packet is longer than 65,520 bytes, so that is all that a hostile sender can have held here, beside what
 * the pipe delivers at once.
 */
import type { Readable, Writable } from 'node:stream';
import type { Bytes } from '../bytes.ts';
import { bufferOver } from '../bytes.ts';

/** Longest content of a packet: 65,520 with its length. */
export const MAX_PACKET_DATA = 65_516;
const LENGTH_BYTES = 4;

/** Received bytes from which on the sender has to wait. */
const ENOUGH_BYTES = 256 * 1024;

/** The other side does not speak packet lines. git gives up on everything then. */
export class PacketError extends Error {}

export function flushPacket(): Buffer {
  return Buffer.from('0000', 'latin1');
}

/** A packet of text, which ends in a line feed. */
export function textPacket(key: string, value: Bytes): Buffer {
  const text = Buffer.concat([Buffer.from(key, 'latin1'), value, Buffer.from('\n', 'latin1')]);
  return Buffer.concat([header(text.length), text]);
}

function header(length: number): Buffer {
  return Buffer.from((length + LENGTH_BYTES).toString(16).padStart(LENGTH_BYTES, '0'), 'latin1');
}

/** Writes packets; waits where the pipe is full. */
export class PacketWriter {
  readonly #stream: Writable;
  #failed = false;

  constructor(stream: Writable) {
    this.#stream = stream;
    const fail = (): void => {
      this.#failed = true;
      this.#wake?.();
    };
    stream.once('error', fail);
    stream.once('close', fail);
    stream.on('drain', () => this.#wake?.());
  }

  #wake: (() => void) | null = null;

  /** Writes packets that are complete. @returns false when the other side has closed the pipe */
  async write(...packets: readonly Bytes[]): Promise<boolean> {
    return await this.#send(Buffer.concat(packets));
  }

  /** Writes content in packets and a flush packet after it. */
  async writeContent(content: Bytes): Promise<boolean> {
    for (let at = 0; at < content.length; at += MAX_PACKET_DATA) {
      const end = Math.min(content.length, at + MAX_PACKET_DATA);
      if (!(await this.#send(header(end - at), bufferOver(content, at, end)))) return false;
    }
    return await this.#send(flushPacket());
  }

  async #send(...chunks: readonly Buffer[]): Promise<boolean> {
    let room = true;
    for (const chunk of chunks) {
      if (this.#failed) return false;
      room = this.#stream.write(chunk);
    }
    if (!room && !this.#failed) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = null;
    }
    return !this.#failed;
  }
}

/** Reads packets. */
export class PacketReader {
  readonly #stream: Readable;
  #chunks: Buffer[] = [];
  #length = 0;
  #ended = false;
  #wake: (() => void) | null = null;

  constructor(stream: Readable) {
    this.#stream = stream;
    const end = (): void => {
      this.#ended = true;
      this.#wake?.();
    };
    stream.on('data', (chunk: Buffer) => {
      this.#chunks.push(chunk);
      this.#length += chunk.length;
      if (this.#length >= ENOUGH_BYTES) stream.pause();
      this.#wake?.();
    });
    stream.once('end', end);
    stream.once('error', end);
    stream.once('close', end);
  }

  /**
   * The content of the next packet, valid for ever; null for a flush packet or another one without content, as git takes
   * them; undefined when the other side has closed the pipe.
   * @throws PacketError
   */
  async read(): Promise<Buffer | null | undefined> {
    const digits = await this.#take(LENGTH_BYTES);
    if (digits === undefined) return undefined;
    const text = digits.toString('latin1');
    const length = /^[0-9a-fA-F]{4}$/.test(text) ? Number.parseInt(text, 16) : -1;
    // 0: flush, 1: delimiter, 2: end of a response.
    if (length >= 0 && length <= 2) return null;
    if (length < LENGTH_BYTES || length > MAX_PACKET_DATA + LENGTH_BYTES) {
      throw new PacketError(`a packet begins with ${JSON.stringify(text)}`);
    }
    if (length === LENGTH_BYTES) return null;
    return await this.#take(length - LENGTH_BYTES);
  }

  /** The next packet as a line, a byte string without its line feed; null and undefined as above. */
  async readLine(): Promise<string | null | undefined> {
    const packet = await this.read();
    if (packet === null || packet === undefined) return packet;
    const line = packet.toString('latin1');
    // To git it is a string, which a NUL ends.
    const [text = ''] = (line.endsWith('\n') ? line.slice(0, -1) : line).split('\0', 1);
    return line === '\n' ? null : text;
  }

  async #take(wanted: number): Promise<Buffer | undefined> {
    while (this.#length < wanted) {
      if (this.#ended) return undefined;
      if (this.#stream.isPaused()) this.#stream.resume();
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = null;
    }
    const [first] = this.#chunks;
    const all = first !== undefined && first.length >= wanted ? first : Buffer.concat(this.#chunks);
    if (all === first) this.#chunks.shift();
    else this.#chunks = [];
    if (all.length > wanted) this.#chunks.unshift(all.subarray(wanted));
    this.#length -= wanted;
    return all.subarray(0, wanted);
  }
}
