/**
 * Writes one entry: finds the blob, converts it, creates the file, records its stat data. The one piece of code that does this, in
 * worker threads and in the main thread alike.
 */
import { CheckoutError, ioError, type ErrorJson } from '../errors.ts';
import type { Bytes } from '../bytes.ts';
import { convertedSize, convertInto, createStreamConverter } from '../filter/convert.ts';
import type { Conversion } from '../filter/conversion.ts';
import { statToWords } from '../index/stat-words.ts';
import { MODE_EXECUTABLE } from '../object/tree.ts';
import { ObjectReader } from '../odb/object-reader.ts';
import { OID_BYTES, oidToHex } from '../oid.ts';
import { BLOB, typeName } from '../pack/entry.ts';
import { SCRATCH_BYTES } from '../pack/pack-reader.ts';
import { fileHasContent } from '../worktree/compare-file.ts';
import { createFile, type Producer } from '../worktree/create-file.ts';
import { displayPath, WorktreePaths } from '../worktree/paths.ts';
import { Budget } from './budget.ts';
import { STOP } from './control.ts';
import type { RunInput } from './messages.ts';
import { State, STAT_WORDS } from './tables.ts';

/** Room for a converted small file: every byte a line feed is the worst that end-of-line conversion makes of one. */
const CONVERTED_BYTES = 2 * SCRATCH_BYTES;

/** Why a run was stopped in the middle of an entry; the entry stays as it was. */
class Stopped extends Error {}

export class EntryWriter {
  /** Counters for the report. */
  files = 0;
  bytesWritten = 0;
  waitMs = 0;
  peakReservedBytes = 0;
  readonly #input: RunInput;
  readonly #reader: ObjectReader;
  readonly #paths: WorktreePaths;
  readonly #budget: Budget;
  readonly #onFailure: (entry: number, error: ErrorJson) => void;
  #converted: Uint8Array | null = null;

  constructor(input: RunInput, onFailure: (entry: number, error: ErrorJson) => void) {
    this.#input = input;
    this.#reader = new ObjectReader(input.packs, input.objectDirectories);
    this.#paths = new WorktreePaths(input.workTree);
    this.#budget = new Budget(input.budget);
    this.#onFailure = onFailure;
  }

  close(): void {
    this.#reader.close();
  }

  /** See PackReader. */
  readAhead(end: number): void {
    this.#reader.readAhead(end);
  }

  /**
   * Brings a PENDING or VERIFY entry into its next state and stores that. Failures are told, not thrown; what is thrown is a
   * bug.
   */
  write(entry: number): void {
    const { tables } = this.#input;
    const verify = tables.states[entry] === State.VERIFY;
    try {
      const state = this.#write(entry, verify);
      tables.states[entry] = state;
      if (state === State.WRITTEN) this.files++;
    } catch (error) {
      if (error instanceof Stopped) return;
      const failure = this.#describe(entry, error);
      tables.states[entry] = State.FAILED;
      this.#onFailure(entry, failure.toJSON());
    }
  }

  #write(entry: number, verify: boolean): number {
    const { tables, conversions } = this.#input;
    const reader = this.#reader;
    const oidAt = entry * OID_BYTES;
    reader.open(tables.packs[entry] ?? 0, tables.offsets[entry] ?? 0, tables.oids, oidAt);
    if (reader.type !== BLOB) {
      const hex = oidToHex(tables.oids, oidAt);
      throw new CheckoutError('object-corrupt', `object ${hex} is a ${typeName(reader.type)}, not a blob`, {
        oid: hex,
      });
    }
    const conversion = conversions[tables.conversions[entry] ?? 0];
    if (conversion === undefined) throw new Error(`no conversion ${tables.conversions[entry] ?? 0}`);
    if (reader.memoryNeeded === 0) return this.#put(entry, verify, this.#convert(conversion, reader.read(), entry));
    if (reader.streamable && conversion.kind !== 'in-core') {
      return this.#put(entry, verify, this.#streamed(conversion, entry));
    }
    return this.#writeLarge(entry, verify, conversion);
  }

  /** An object that must be whole in memory and is larger than the scratch buffers. */
  #writeLarge(entry: number, verify: boolean, conversion: Conversion): number {
    const reader = this.#reader;
    // Converted content is at most twice as long, but for ident, which is not worth a third of the budget.
    const converted = conversion.kind === 'none' ? 0 : 2 * reader.size;
    const bytes = reader.memoryNeeded + converted;
    const reserved = this.#budget.reserve(bytes, () => this.#stopping());
    if (reserved === 0) throw new Stopped();
    if (bytes > this.peakReservedBytes) this.peakReservedBytes = bytes;
    try {
      return this.#put(entry, verify, this.#convert(conversion, reader.read(), entry));
    } finally {
      reader.finish();
      this.#budget.release(reserved);
    }
  }

  #stopping(): boolean {
    return Atomics.load(this.#input.control, STOP) !== 0;
  }

  #convert(conversion: Conversion, content: Bytes, entry: number): Bytes {
    if (conversion.kind === 'none') return content;
    const size = convertedSize(conversion, content, content.length);
    if (size < 0) return content;
    let out: Uint8Array;
    if (size <= CONVERTED_BYTES) out = this.#converted ??= new Uint8Array(CONVERTED_BYTES);
    else out = new Uint8Array(size);
    const made = convertInto(conversion, content, content.length, this.#input.tables.oids, entry * OID_BYTES, out);
    return out.subarray(0, made);
  }

  #streamed(conversion: Conversion, entry: number): Producer {
    const reader = this.#reader;
    if (conversion.kind === 'none') {
      return (write): void => {
        reader.stream(write);
      };
    }
    const converter = createStreamConverter(conversion, this.#input.tables.oids, entry * OID_BYTES);
    return (write): void => {
      reader.stream((piece) => {
        converter.push(piece, write);
      });
      converter.end(write);
    };
  }

  #put(entry: number, verify: boolean, content: Bytes | Producer): number {
    const { tables, platform } = this.#input;
    const start = tables.pathOffsets[entry] ?? 0;
    const end = tables.pathOffsets[entry + 1] ?? 0;
    const path = this.#paths.absolute(tables.pathBytes, start, end);
    if (verify) return fileHasContent(path, content) ? State.KEPT : State.COLLIDED;
    const mode = tables.modes[entry] ?? 0;
    const stat = createFile(path, mode === MODE_EXECUTABLE, content);
    if (stat === null) return State.COLLIDED;
    statToWords(stat, platform, tables.stats, entry * STAT_WORDS, mode);
    this.bytesWritten += Number(stat.size);
    return State.WRITTEN;
  }

  #describe(entry: number, error: unknown): CheckoutError {
    const { tables } = this.#input;
    const path = displayPath(tables.pathBytes, tables.pathOffsets[entry] ?? 0, tables.pathOffsets[entry + 1] ?? 0);
    if (error instanceof CheckoutError) {
      const oid = oidToHex(tables.oids, entry * OID_BYTES);
      const subject = { ...error.subject, path, oid };
      return new CheckoutError(error.code, `cannot write '${path}' (blob ${oid}): ${error.message}`, subject);
    }
    return ioError('write', path, error);
  }
}
