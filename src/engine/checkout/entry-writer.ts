/**
 * Writes one entry: finds the blob, converts it, creates the file, records its stat data. The one piece of code that does this, in
 * worker threads and in the main thread alike.
 */
import type { BigIntStats } from 'node:fs';
import { CheckoutError, ioError, type ErrorJson } from '../errors.ts';
import type { Bytes } from '../bytes.ts';
import { encode, encodedBound } from '../filter/encode.ts';
import { convertedSize, convertInto, createStreamConverter } from '../filter/convert.ts';
import type { Conversion } from '../filter/conversion.ts';
import { copyAutoCrlf } from '../filter/sinks.ts';
import { lfsPointerOid, lfsPointerSize } from '../filter/lfs-pointer.ts';
import { lfsObjectPath } from '../filter/lfs-store.ts';
import { statToWords } from '../index/stat-words.ts';
import { MODE_EXECUTABLE, MODE_SYMLINK } from '../object/tree.ts';
import { ObjectChecksum } from '../odb/object-checksum.ts';
import { LOOSE, ObjectReader } from '../odb/object-reader.ts';
import { findReplacement } from '../odb/replacements.ts';
import { oidToHex } from '../oid.ts';
import { BLOB, typeName } from '../pack/entry.ts';
import type { PackFile } from '../pack/pack-file.ts';
import { SCRATCH_BYTES } from '../pack/pack-reader.ts';
import { fileHasContent, fileHasHash } from '../worktree/compare-file.ts';
import { contentOf, createCopy, NoSource } from '../worktree/copy-file.ts';
import { createFile, replacing, type Existing, type Producer } from '../worktree/create-file.ts';
import { displayPath, WorktreePaths } from '../worktree/paths.ts';
import { RealDirectories } from '../worktree/real-directories.ts';
import { Budget } from './budget.ts';
import { BYTES_DONE, COUNTERS, DEFERRED, FILES_DONE, STOP } from './control.ts';
import type { DeferredList, Job } from './messages.ts';
import { State, STAT_WORDS } from './tables.ts';

/** Room for a converted small file: every byte a line feed is the worst that end-of-line conversion makes of one. */
const CONVERTED_BYTES = 2 * SCRATCH_BYTES;

/** For conversions that show no id. */
const NO_OID = new Uint8Array(0);
/** A link that is written as a file (core.symlinks is off) holds its target and nothing else. */
const AS_IT_IS: Conversion = { kind: 'none', crlf: 'none', ident: false };

/** Why a run was stopped in the middle of an entry; the entry stays as it was. */
class Stopped extends Error {}

/** Content for a filter driver, and the memory that it was given. */
export interface HeldContent {
  readonly content: Bytes;
  release(): void;
}

export class EntryWriter {
  /** Time spent waiting, for the report. */
  waitMs = 0;
  /** Why the last UNREAD or UNREAD_VERIFY entry could not be read. */
  unread: CheckoutError | null = null;
  readonly #counters: Float64Array;
  readonly #job: Job;
  readonly #reader: ObjectReader;
  readonly #packs: PackFile[];
  readonly #paths: WorktreePaths;
  readonly #directories: RealDirectories;
  readonly #budget: Budget;
  readonly #oidBytes: number;
  readonly #onFailure: (entry: number, error: ErrorJson) => void;
  readonly #onLarge: () => void;
  readonly #onUnencoded: (entry: number) => void;
  #converted: Uint8Array | null = null;
  /** Units of the budget that the reader's retained base holds. */
  #retained = 0;
  /** The entry being written. */
  #current = 0;
  /** Id of the object that is read for it: the entry's, or that of what replaces it. */
  #oid: Bytes;
  #oidAt = 0;
  /** Whether a failure is one of reading the object. */
  #reading = false;

  /**
   * @param thread number of the thread: its row of counters
   * @param onFailure told of each entry that could not be written
   * @param onLarge called while a large object is held, to look at the memory that it takes
   * @param onUnencoded told of each entry whose text cannot be written in its encoding, and stays UTF-8
   */
  constructor(
    job: Job,
    thread: number,
    onFailure: (entry: number, error: ErrorJson) => void,
    onLarge: () => void,
    onUnencoded: (entry: number) => void = () => undefined,
  ) {
    this.#job = job;
    this.#counters = job.counters.subarray(COUNTERS * thread, COUNTERS * (thread + 1));
    this.#packs = [...job.packs];
    this.#reader = new ObjectReader(this.#packs, job.objectDirectories, job.tables.format);
    this.#oidBytes = job.tables.format.oidBytes;
    this.#oid = job.tables.oids;
    this.#paths = new WorktreePaths(job.workTree);
    this.#directories = new RealDirectories(this.#paths);
    this.#budget = new Budget(job.budget, thread);
    this.#onFailure = onFailure;
    this.#onLarge = onLarge;
    this.#onUnencoded = onUnencoded;
  }

  /** Files written. */
  get files(): number {
    return this.#counters[FILES_DONE] ?? 0;
  }

  get bytesWritten(): number {
    return this.#counters[BYTES_DONE] ?? 0;
  }

  close(): void {
    this.dropRetained();
    this.#reader.close();
  }

  /** Adds the packs that were found since. */
  usePacks(packs: readonly PackFile[]): void {
    this.#packs.push(...packs.slice(this.#packs.length));
  }

  /** See PackReader. */
  readAhead(end: number): void {
    this.#reader.readAhead(end);
  }

  /**
   * Brings an entry for workers into its next state and stores that. What cannot be read where it was found is UNREAD then.
   * Failures are told, not thrown; what is thrown is a bug.
   * @param deferred where to note an entry for a later pass, whose state then stays; null to write everything now
   */
  write(entry: number, deferred: DeferredList | null): void {
    const { tables } = this.#job;
    const before = tables.states[entry] ?? State.PENDING;
    try {
      const state = this.#write(entry, before, deferred);
      tables.states[entry] = state;
    } catch (error) {
      if (error instanceof Stopped) return;
      if (this.#reading && error instanceof CheckoutError && error.code !== 'memory') {
        // The object may have moved, or have another copy; that is for the main thread to find out.
        this.#noteUnread(entry);
        this.unread = this.#describe(entry, error);
        tables.states[entry] = before === State.VERIFY ? State.UNREAD_VERIFY : State.UNREAD;
        return;
      }
      this.fail(entry, error);
    }
  }

  /**
   * Writes an entry whose blob's content is at hand. Where that would take more memory than the converted buffer, or fails, the
   * state stays as it is, and the entry is for somebody else.
   */
  writeContent(entry: number, content: Bytes): void {
    const { tables, conversions } = this.#job;
    const conversion = conversions[tables.conversions[entry] ?? 0];
    if (conversion === undefined || (conversion.kind !== 'none' && content.length > SCRATCH_BYTES)) return;
    this.#current = entry;
    this.#oid = tables.oids;
    this.#oidAt = entry * this.#oidBytes;
    try {
      this.#put(entry, State.PENDING, this.#convert(conversion, content));
    } catch (error) {
      // A bug goes on; all else will be met again by whoever writes the entry, and told.
      this.#describe(entry, error);
    }
  }

  /**
   * Reads an entry's blob and converts it up to where its filter driver takes over. For the main thread: it does not wait.
   * @returns the content in memory of its own, to be given back by `release`; null while other threads hold the memory that
   * it takes
   * @throws CheckoutError when the blob cannot be read; `isUnread` then tells whether it may be elsewhere
   */
  readForFilter(entry: number): HeldContent | null {
    this.dropRetained();
    const conversion = this.#open(entry);
    const reader = this.#reader;
    this.#reading = true;
    const small = reader.readSmall();
    if (small !== null) {
      this.#check(small);
      this.#reading = false;
      return { content: Buffer.from(this.#convert(conversion, small)), release: () => undefined };
    }
    reader.measure();
    this.#reading = false;
    // The content as it is read, and a copy, which may be converted.
    const wanted = reader.readBytes + reader.size + convertedBound(conversion, reader.size);
    const reserved = this.#budget.tryReserve(Math.min(wanted, this.#budget.limitBytes));
    if (reserved === 0) return null;
    let held = false;
    try {
      const content = Buffer.from(this.#convert(conversion, this.#read()));
      this.#onLarge();
      held = true;
      return { content, release: () => this.#budget.release(reserved) };
    } finally {
      reader.finish();
      reader.dropRetained();
      if (!held) this.#budget.release(reserved);
    }
  }

  /** After `readForFilter` has thrown: whether the blob could not be read where it was found. */
  isUnread(entry: number, error: unknown): error is CheckoutError {
    if (!this.#reading || !(error instanceof CheckoutError) || error.code === 'memory') return false;
    this.#noteUnread(entry);
    return true;
  }

  /** Notes where a loose object was looked for in vain. */
  #noteUnread(entry: number): void {
    const { tables } = this.#job;
    if (tables.packs[entry] === LOOSE) tables.offsets[entry] = this.#reader.looseDirectory;
  }

  /** Notes that an entry's file was written. */
  record(entry: number, stat: BigIntStats): void {
    const { tables, platform } = this.#job;
    statToWords(stat, platform, tables.stats, entry * STAT_WORDS, tables.modes[entry] ?? 0);
    this.#counters[FILES_DONE] = this.files + 1;
    this.#counters[BYTES_DONE] = this.bytesWritten + Number(stat.size);
    tables.states[entry] = State.WRITTEN;
  }

  /**
   * Notes that an entry could not be written.
   * @throws the error if it is a bug; the entry stays open then
   */
  fail(entry: number, error: unknown): void {
    const failure = this.#describe(entry, error);
    this.#job.tables.states[entry] = State.FAILED;
    this.#onFailure(entry, failure.toJSON());
  }

  /** Opens an entry's blob. */
  #open(entry: number): Conversion {
    const { tables, conversions } = this.#job;
    const reader = this.#reader;
    this.#current = entry;
    this.#reading = false;
    this.#meanObject(entry);
    this.#reading = true;
    this.#openObject(entry);
    this.#reading = false;
    if (reader.type !== BLOB) {
      const hex = oidToHex(this.#oid, this.#oidAt, this.#oidBytes);
      throw new CheckoutError('object-corrupt', `object ${hex} is a ${typeName(reader.type)}, not a blob`, {
        oid: hex,
      });
    }
    const conversion = tables.modes[entry] === MODE_SYMLINK ? AS_IT_IS : conversions[tables.conversions[entry] ?? 0];
    if (conversion === undefined) throw new Error(`no conversion ${tables.conversions[entry] ?? 0}`);
    return conversion;
  }

  #write(entry: number, before: number, deferred: DeferredList | null): number {
    const conversion = this.#open(entry);
    const reader = this.#reader;
    this.#reading = true;
    const small = reader.readSmall();
    if (small !== null) this.#check(small);
    this.#reading = false;
    if (conversion.kind === 'filter') return this.#writeLfs(entry, before, conversion, small);
    if (small !== null) return this.#put(entry, before, this.#convert(conversion, small));
    if (deferred !== null && reader.missesLargeBase) {
      const at = Atomics.add(this.#job.control, DEFERRED, 1);
      deferred.entries[at] = entry;
      deferred.bases[at] = reader.baseKey;
      deferred.baseSizes[at] = reader.baseSize;
      return before;
    }
    return this.#writeLarge(entry, before, conversion);
  }

  /**
   * A file of Git LFS: the pointer's object from the local store, or the pointer itself where git-lfs would leave it. All else
   * is for the driver.
   */
  #writeLfs(entry: number, before: number, conversion: Conversion, blob: Bytes | null): number {
    const { lfs } = this.#job;
    const verify = before === State.VERIFY;
    const forDriver = verify ? State.FILTER_VERIFY : State.FILTER;
    // No pointer is so large. One that is made of a large base does not occur.
    if (lfs === null || blob === null) return forDriver;
    const content = this.#convert(conversion, blob);
    // An empty file stands for itself.
    if (content.length === 0) return this.#put(entry, before, content);
    const size = lfsPointerSize(content);
    if (size < 0) return forDriver;
    const oid = lfsPointerOid(content);
    const source = lfsObjectPath(lfs.store, oid);
    const { tables } = this.#job;
    const skips = lfs.store.skip || conversion.driver?.lfs?.skip === true;
    if (!verify && !skips && !this.#mayWrite(entry)) return State.COLLIDED;
    const path = this.#paths.absolute(
      tables.pathBytes,
      tables.pathOffsets[entry] ?? 0,
      tables.pathOffsets[entry + 1] ?? 0,
    );
    if (skips) {
      // The content of an earlier checkout is no change to git either, whose clean filter makes the pointer of it.
      if (verify && fileHasHash(path, size, 'sha256', oid)) return State.KEPT;
      return this.#put(entry, before, content);
    }
    try {
      if (verify) return fileHasContent(path, contentOf(source, size)) ? State.KEPT : State.COLLIDED;
      const executable = tables.modes[entry] === MODE_EXECUTABLE;
      const { shareBlocks } = lfs;
      const copy = (): BigIntStats | null => createCopy(source, path, { executable, size, shareBlocks });
      const stat = replacing(path, this.#existing(before), copy);
      if (stat === null) return State.COLLIDED;
      this.record(entry, stat);
      return State.WRITTEN;
    } catch (error) {
      if (error instanceof NoSource) return forDriver;
      throw error;
    }
  }

  /** Finds out which object is to be read for an entry. */
  #meanObject(entry: number): void {
    const { tables, replacements } = this.#job;
    const oidAt = entry * this.#oidBytes;
    const replaced = replacements.count === 0 ? -1 : findReplacement(replacements, tables.oids, oidAt);
    this.#oid = replaced < 0 ? tables.oids : replacements.to;
    this.#oidAt = replaced < 0 ? oidAt : replaced;
  }

  #openObject(entry: number): void {
    const { tables } = this.#job;
    this.#reader.open(tables.packs[entry] ?? 0, tables.offsets[entry] ?? 0, this.#oid, this.#oidAt);
  }

  /** Holds a whole object against its id, if that was asked for. */
  #check(content: Bytes): void {
    const { tables, verify } = this.#job;
    if (verify) new ObjectChecksum(tables.format, BLOB, content.length).update(content).check(this.#oid, this.#oidAt);
  }

  /** Reads the opened object whole. */
  #read(): Bytes {
    this.#reading = true;
    const content = this.#reader.read();
    this.#check(content);
    this.#reading = false;
    return content;
  }

  /** Lets the opened object pass by in pieces. What `sink` throws is no failure of reading. */
  #stream(sink: (piece: Bytes) => void): void {
    const { tables, verify } = this.#job;
    const checksum = verify ? new ObjectChecksum(tables.format, BLOB, this.#reader.size) : null;
    this.#reading = true;
    this.#reader.stream((piece) => {
      this.#reading = false;
      checksum?.update(piece);
      sink(piece);
      this.#reading = true;
    });
    checksum?.check(this.#oid, this.#oidAt);
    this.#reading = false;
  }

  /** An object that is larger than the scratch buffers, or is made of such. */
  #writeLarge(entry: number, before: number, conversion: Conversion): number {
    const reader = this.#reader;
    if (!reader.usesRetained) this.dropRetained();
    this.#reading = true;
    reader.measure();
    this.#reading = false;
    const streams = conversion.kind === 'stream' || conversion.kind === 'none';
    const converted = convertedBound(conversion, reader.size);
    const reserved = this.#reserve(() => (streams ? reader.streamBytes : reader.readBytes + converted));
    if (reserved < 0) throw new Stopped();
    let kept = 0;
    try {
      const content = streams ? this.#streamed(conversion, entry) : this.#convert(conversion, this.#read());
      return this.#put(entry, before, content);
    } finally {
      this.#onLarge();
      reader.finish();
      if (this.#retained === 0) kept = this.#retained = Math.min(reserved, Budget.units(reader.retainedBytes));
      this.#budget.release(reserved - kept);
    }
  }

  /**
   * Reserves memory for the opened object. Whoever retains something must not wait, or two could wait for each other; so when
   * there is not enough, what is retained goes first, and the object is measured again without it.
   * @returns units reserved, or -1 when the run is stopped
   */
  #reserve(bytes: () => number): number {
    const wanted = bytes();
    if (wanted === 0) return 0;
    let reserved = this.#budget.tryReserve(wanted);
    if (reserved === 0) {
      if (this.#retained > 0) {
        this.dropRetained();
        this.#reading = true;
        this.#openObject(this.#current);
        this.#reader.measure();
        this.#reading = false;
      }
      const start = performance.now();
      reserved = this.#budget.reserve(bytes(), () => this.#stopping());
      this.waitMs += performance.now() - start;
      if (reserved === 0) return -1;
    }
    return reserved;
  }

  /** Gives up a base that was kept for the deltas on it. To be called when other entries follow. */
  dropRetained(): void {
    if (this.#retained === 0) return;
    this.#reader.dropRetained();
    this.#budget.release(this.#retained);
    this.#retained = 0;
  }

  #stopping(): boolean {
    return Atomics.load(this.#job.control, STOP) !== 0;
  }

  #convert(conversion: Conversion, content: Bytes): Bytes {
    const converted = this.#convertText(conversion, content);
    if (conversion.encoding === undefined || converted.length === 0) return converted;
    const encoded = encode(conversion.encoding, converted, converted.length);
    // As with git it is no failure: the file is there, though not as it should be.
    if (encoded === null) this.#onUnencoded(this.#current);
    return encoded ?? converted;
  }

  #convertText(conversion: Conversion, content: Bytes): Bytes {
    if (conversion.kind === 'none') return content;
    // What most files of a repository with `text=auto` are: small, and without `ident`.
    if (conversion.crlf === 'auto' && !conversion.ident && content.length <= SCRATCH_BYTES) {
      const out = (this.#converted ??= new Uint8Array(CONVERTED_BYTES));
      const made = copyAutoCrlf(content, content.length, out);
      return made < 0 ? content : out.subarray(0, made);
    }
    const oid = this.#shownOid(conversion, this.#current);
    const size = convertedSize(conversion, content, content.length, oid);
    if (size < 0) return content;
    let out: Uint8Array;
    if (size <= CONVERTED_BYTES) out = this.#converted ??= new Uint8Array(CONVERTED_BYTES);
    else out = new Uint8Array(size);
    const made = convertInto(conversion, content, content.length, oid, out);
    return out.subarray(0, made);
  }

  /** The blob's id where the conversion shows it: where git converts in memory that of the content, else that of the entry. */
  #shownOid(conversion: Conversion, entry: number): Bytes {
    if (!conversion.ident) return NO_OID;
    if (conversion.kind !== 'stream') return this.#oid.subarray(this.#oidAt, this.#oidAt + this.#oidBytes);
    return this.#job.tables.oids.subarray(entry * this.#oidBytes, (entry + 1) * this.#oidBytes);
  }

  #streamed(conversion: Conversion, entry: number): Producer {
    if (conversion.kind === 'none') {
      return (write): void => {
        this.#stream(write);
      };
    }
    const converter = createStreamConverter(conversion, this.#shownOid(conversion, entry));
    return (write): void => {
      this.#stream((piece) => {
        converter.push(piece, write);
      });
      converter.end(write);
    };
  }

  /**
   * Whether what leads to the entry is directories. The main thread has made or seen them; if a link has come in the place of
   * one since, it puts that right.
   */
  #mayWrite(entry: number): boolean {
    const { pathBytes, pathOffsets } = this.#job.tables;
    return this.#directories.look(pathBytes, pathOffsets[entry] ?? 0, pathOffsets[entry + 1] ?? 0) !== 'other';
  }

  /** What is to become of a file or link at the place of an entry that was in this state. */
  #existing(before: number): Existing {
    if (!this.#job.replaces) return 'stays';
    return before === State.REPLACE ? 'is-likely' : 'goes';
  }

  #put(entry: number, before: number, content: Bytes | Producer): number {
    const { tables } = this.#job;
    const start = tables.pathOffsets[entry] ?? 0;
    const end = tables.pathOffsets[entry + 1] ?? 0;
    if (before !== State.VERIFY && !this.#mayWrite(entry)) return State.COLLIDED;
    const path = this.#paths.absolute(tables.pathBytes, start, end);
    if (before === State.VERIFY) return fileHasContent(path, content) ? State.KEPT : State.COLLIDED;
    const mode = tables.modes[entry] ?? 0;
    const stat = createFile(path, mode === MODE_EXECUTABLE, content, this.#existing(before));
    if (stat === null) return State.COLLIDED;
    this.record(entry, stat);
    return State.WRITTEN;
  }

  #describe(entry: number, error: unknown): CheckoutError {
    const { tables } = this.#job;
    const path = displayPath(tables.pathBytes, tables.pathOffsets[entry] ?? 0, tables.pathOffsets[entry + 1] ?? 0);
    if (error instanceof CheckoutError) {
      const oid = oidToHex(tables.oids, entry * this.#oidBytes, this.#oidBytes);
      const subject = { ...error.subject, path, oid };
      return new CheckoutError(error.code, `cannot write '${path}' (blob ${oid}): ${error.message}`, subject);
    }
    return ioError('write', path, error);
  }
}

/** What converting so many bytes takes beside them, mostly: line ends and ident first, then the encoding. */
function convertedBound({ kind, crlf, ident, encoding }: Conversion, size: number): number {
  if (kind === 'none') return 0;
  const text = crlf === 'none' && !ident && encoding !== undefined ? 1 : 2;
  return text * size * (encoding === undefined ? 1 : 1 + encodedBound(encoding));
}
