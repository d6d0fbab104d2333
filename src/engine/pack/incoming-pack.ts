/**
 * Takes in a pack that a server sends: stores its bytes beside the object database under a name that git takes for left-overs, checks its
 * checksum, and puts pack, reverse index and index into their place when the id of every object is known. Until the index is there
 * nobody sees any of it; `abandon` leaves nothing behind.
 */
import { createHash, randomBytes, type Hash } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Bytes } from '../bytes.ts';
import { CheckoutError, errnoOf, ioError } from '../errors.ts';
import type { ObjectFormat } from '../oid.ts';
import type { PackFile } from './pack-file.ts';
import type { PackObjects } from './pack-objects.ts';
import { PackStream, type EntrySink } from './pack-stream.ts';
import { serializePackIndex, serializeReverseIndex } from './write-pack-index.ts';

/**
 * git makes loose objects of a smaller pack (git-config(1), fetch.unpackLimit), and those it does not sync (core.fsync); packs and their
 * indexes it does.
 */
const LEAST_DURABLE_OBJECTS = 100;
/** Written at once: few calls, and little memory. */
const WRITE_BYTES = 256 << 10;
/** git makes packs and their indexes so that nobody changes them; the umask may take more away. Whoever makes a file can still write to it. */
const MODE = 0o444;

export class IncomingPack {
  readonly #directory: string;
  readonly #format: ObjectFormat;
  readonly #temporary: string;
  readonly #stream: PackStream;
  readonly #hash: Hash;
  readonly #buffer = Buffer.allocUnsafeSlow(WRITE_BYTES);
  #buffered = 0;
  #fd: number;
  #size = 0;
  /** Settles when the pack is on the disk. */
  #synced: Promise<unknown> = Promise.resolve();
  #syncFailure: unknown = null;

  /**
   * Makes the file.
   * @param objectsDir of the repository
   * @throws CheckoutError io
   */
  constructor(objectsDir: string, format: ObjectFormat, sink: EntrySink) {
    this.#directory = join(objectsDir, 'pack');
    this.#format = format;
    this.#stream = new PackStream(format, sink);
    this.#hash = createHash(format.name);
    // git prune and gc remove files of this name.
    this.#temporary = join(this.#directory, `tmp_pack_${randomBytes(6).toString('hex')}`);
    try {
      mkdirSync(this.#directory, { recursive: true });
      this.#fd = openSync(this.#temporary, 'wx+', MODE);
    } catch (error) {
      throw ioError('make', this.#temporary, error);
    }
  }

  /** Bytes that have come. */
  get size(): number {
    return this.#size;
  }

  /** Bytes that can be read from the file. */
  get stored(): number {
    return this.#size - this.#buffered;
  }

  /** The file as it is now; its index is not there yet. */
  get file(): PackFile {
    const end = this.#size - this.#format.oidBytes;
    return { path: this.#temporary, indexPath: '', fd: this.#fd, end, size: this.#size };
  }

  get objects(): PackObjects {
    const { objects } = this.#stream;
    if (objects === null) throw new Error('the header of the pack has not come');
    return objects;
  }

  /**
   * Takes the next bytes.
   * @throws CheckoutError object-corrupt, io, memory, unsupported; what the sink throws
   */
  push(bytes: Bytes): void {
    const covered = this.#stream.push(bytes);
    this.#hash.update(covered === bytes.length ? bytes : bytes.subarray(0, covered));
    this.#size += bytes.length;
    for (let at = 0; at < bytes.length;) {
      const end = Math.min(bytes.length, at + WRITE_BYTES - this.#buffered);
      this.#buffer.set(bytes.subarray(at, end), this.#buffered);
      this.#buffered += end - at;
      at = end;
      if (this.#buffered === WRITE_BYTES) this.#write();
    }
  }

  /**
   * To be called when the last byte has come: compares the checksum. The system is told to bring the file to the disk, as git does; that
   * goes on beside what the caller does next.
   * @throws CheckoutError object-corrupt, io
   */
  complete(): void {
    const { trailer } = this.#stream;
    if (trailer.length === 0) throw new CheckoutError('object-corrupt', 'the pack that the server sent is cut off');
    if (!this.#hash.digest().equals(trailer)) {
      throw new CheckoutError(
        'object-corrupt',
        'the pack that the server sent does not have the checksum that it claims',
      );
    }
    this.#write();
    this.#stream.close();
    if (!this.#isDurable) return;
    this.#synced = promisify(fsync)(this.#fd).catch((error: unknown) => {
      this.#syncFailure = error;
    });
  }

  /**
   * Puts the pack into its place; all ids must be known.
   * @param order of the ids, see sortByOid
   * @param promisor whether what it lacks is promised (git-repack(1), "promisor")
   * @returns the pack's path
   * @throws CheckoutError io
   */
  async install(order: Uint32Array, promisor = false): Promise<string> {
    const { trailer } = this.#stream;
    const { objects } = this;
    const base = join(this.#directory, `pack-${Buffer.from(trailer).toString('hex')}`);
    const made: string[] = [];
    const make = async (ending: string, content: Buffer): Promise<void> => {
      const temporary = `${this.#temporary}${ending}`;
      const fd = openSync(temporary, 'wx', MODE);
      made.push(temporary);
      try {
        writeAll(fd, content);
        if (this.#isDurable) await promisify(fsync)(fd);
      } finally {
        closeSync(fd);
      }
    };
    const place = (ending: string, source = `${this.#temporary}${ending}`): void => {
      renameSync(source, `${base}${ending}`);
      made.push(`${base}${ending}`);
    };
    try {
      await this.#synced;
      if (this.#syncFailure !== null) throw ioError('store', this.#temporary, this.#syncFailure);
      // The same pack may be there, and be in use.
      if (existsSync(`${base}.idx`) && existsSync(`${base}.pack`)) {
        if (promisor) writeFileSync(`${base}.promisor`, '');
        return `${base}.pack`;
      }
      if (promisor) await make('.promisor', Buffer.alloc(0));
      await Promise.all([
        make('.rev', serializeReverseIndex(objects, order, trailer)),
        make('.idx', serializePackIndex(objects, order, trailer)),
      ]);
      place('.pack', this.#temporary);
      place('.rev');
      if (promisor) place('.promisor');
      // Last: from here on git sees the pack.
      place('.idx');
    } catch (error) {
      removeAll(made);
      throw ioError('store', `${base}.pack`, error);
    } finally {
      await this.abandon();
    }
    return `${base}.pack`;
  }

  /** Whether the system is told to bring it to the disk. */
  get #isDurable(): boolean {
    return this.objects.count >= LEAST_DURABLE_OBJECTS;
  }

  /** Removes what was stored and is not in its place. Never throws; what cannot be removed, git takes for left-overs. */
  async abandon(): Promise<void> {
    this.#stream.close();
    await this.#synced;
    if (this.#fd < 0) return;
    closeSync(this.#fd);
    this.#fd = -1;
    removeAll([this.#temporary]);
  }

  #write(): void {
    if (this.#buffered === 0) return;
    try {
      writeAll(this.#fd, this.#buffer.subarray(0, this.#buffered));
    } catch (error) {
      throw ioError('write', this.#temporary, error);
    }
    this.#buffered = 0;
  }
}

function removeAll(paths: readonly string[]): void {
  for (const path of paths) {
    try {
      rmSync(path, { force: true });
    } catch (error) {
      if (errnoOf(error) === undefined) throw error;
    }
  }
}

function writeAll(fd: number, bytes: Bytes): void {
  for (let done = 0; done < bytes.length;) done += writeSync(fd, bytes, done, bytes.length - done);
}
