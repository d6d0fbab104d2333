/**
 * Reading an index file, versions 2, 3 and 4, into flat tables. The file decides what a checkout removes, so a damaged or
 * forged one must end in an error: every length is checked against the file before anything of that size is allocated,
 * the order is checked, and so are the paths. Format: gitformat-index.
 */
import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { bufferOver, MOST_AT_ONCE, type Bytes } from '../bytes.ts';
import { CheckoutError, errnoOf, ioError } from '../errors.ts';
import { invalidComponent } from '../object/path-validity.ts';
import type { ObjectFormat } from '../oid.ts';
import { EXTENDED_FLAG, FLAG, FLAG_STAGE_SHIFT, MODE, STAT, STAT_WORDS } from './index-table.ts';
import type { IndexExtension, IndexTable } from './index-table.ts';

const HEADER_BYTES = 12;
const STAT_BYTES = 4 * STAT_WORDS;
/** Beside its id an entry has, in every version, at least: stat, flags and 2 bytes that end or pad the name. */
const LEAST_BESIDE_OID_BYTES = STAT_BYTES + 4;
const NAME_LENGTH_MASK = 0xfff;
/**
 * Version 4 shares prefixes, so a small file can stand for very long names. No path that a system opens is longer than
 * PATH_MAX (4096 on Linux), and an entry has at least 64 bytes (76 with SHA-256): an honest file unfolds to at most 64 times its size.
 */
const MOST_UNFOLDING = 4096 / (LEAST_BESIDE_OID_BYTES + 20);
/** git knows nine extensions. */
const MOST_EXTENSIONS = 64;
/** Node reads at most this much at once, and Uint32Array offsets must hold the paths. */
const MOST_FILE_BYTES = 0x7fff_ffff;

/** Paths that no index may hold, whatever the configuration: those that leave the working tree or enter `.git`. */
const ALWAYS = { ntfs: false, hfs: false, windows: false };

/** When the file was modified; for `IndexTable`. */
export interface IndexTime {
  readonly mtimeSeconds: number;
  readonly mtimeNanoseconds: number;
}

/**
 * Parses a whole index file with its trailer (the trailer itself is checked by `readIndex`). Nothing in the file names the
 * `format` of its ids: the repository's is what it must have. `displayPath` names the file in errors. Extensions are
 * handed over unread; `readWholeIndex` deals with 'link' (split index) and 'sdir' (sparse index). With 'link' the entries are only the difference to a shared index: some have
 * empty paths, and their order says nothing.
 *
 * @throws CheckoutError index-corrupt
 */
export function parseIndex(bytes: Bytes, displayPath: string, format: ObjectFormat, time?: IndexTime): IndexTable {
  const reader = new IndexReader(bytes, displayPath, format);
  return reader.read(time ?? { mtimeSeconds: 0, mtimeNanoseconds: 0 });
}

/**
 * Reads and parses the index file at `path`; null when there is none. The trailing hash is verified unless it is all zeros
 * (index.skipHash), which git itself leaves to fsck.
 *
 * @param id what the trailing hash must be, in hexadecimal, where the file is known by it
 * @throws CheckoutError index-corrupt, io
 */
export function readIndex(path: string, format: ObjectFormat, id?: string): IndexTable | null {
  let bytes: Buffer;
  let time: IndexTime;
  try {
    // Non-blocking, so that a named pipe in its place is an error and not a wait. Windows has no such flag.
    const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const stat = fstatSync(descriptor, { bigint: true });
      if (!stat.isFile()) throw corrupt(path, 'it is not a regular file');
      if (stat.size > MOST_FILE_BYTES) throw corrupt(path, `it is larger than ${MOST_FILE_BYTES} bytes`);
      bytes = readAll(descriptor, Number(stat.size), path);
      const mtimeSeconds = Math.floor(Number(stat.mtimeMs) / 1000);
      time = { mtimeSeconds, mtimeNanoseconds: Number(stat.mtimeNs - BigInt(mtimeSeconds) * 1_000_000_000n) };
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return null;
    throw ioError('read the index', path, error);
  }
  const table = parseIndex(bytes, path, format, time);
  const end = bytes.length - format.oidBytes;
  const trailer = bytes.subarray(end);
  if (id !== undefined && trailer.toString('hex') !== id) throw corrupt(path, 'it is not the one that its name says');
  if (trailer.some((byte) => byte !== 0)) {
    const digest = createHash(format.name).update(bytes.subarray(0, end)).digest();
    if (!digest.equals(trailer)) throw corrupt(path, 'its checksum does not match');
  }
  return table;
}

function readAll(descriptor: number, size: number, path: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(size);
  let at = 0;
  while (at < size) {
    const got = readSync(descriptor, bytes, at, Math.min(size - at, MOST_AT_ONCE), at);
    if (got === 0) throw corrupt(path, 'it became shorter while it was read');
    at += got;
  }
  return bytes;
}

/** The error for an index file that does not hold what it must. `what` completes the sentence. */
export function corrupt(displayPath: string, what: string): CheckoutError {
  return new CheckoutError('index-corrupt', `index file '${displayPath}' is corrupt: ${what}`, { path: displayPath });
}

/** One pass that checks lengths and finds where names end, then the extensions, then a pass that fills the tables. */
class IndexReader {
  private readonly bytes: Buffer;
  private readonly view: DataView;
  private readonly displayPath: string;
  private readonly format: ObjectFormat;
  /** Where the flags are in an entry, and the least size of one. */
  private readonly flagsAt: number;
  private readonly leastEntryBytes: number;
  /** Where the trailer begins. */
  private readonly end: number;
  private version: 2 | 3 | 4 = 2;
  private count = 0;

  // Results of `locate`, which would otherwise allocate one object per entry.
  private extendedFlags = 0;
  private nameAt = 0;
  private dropped = 0;
  private suffixLength = 0;
  private next = 0;

  constructor(bytes: Bytes, displayPath: string, format: ObjectFormat) {
    this.bytes = bufferOver(bytes);
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.displayPath = displayPath;
    this.format = format;
    this.flagsAt = STAT_BYTES + format.oidBytes;
    this.leastEntryBytes = LEAST_BESIDE_OID_BYTES + format.oidBytes;
    this.end = bytes.length - format.oidBytes;
  }

  read(time: IndexTime): IndexTable {
    this.readHeader();
    const { count, bytes, view, format, flagsAt } = this;
    const { oidBytes } = format;
    const pathOffsets = new Uint32Array(count + 1);
    const extensionsAt = this.measure(pathOffsets);
    const extensions = this.readExtensions(extensionsAt);

    const pathBytes = new Uint8Array(pathOffsets[count]!);
    const oids = new Uint8Array(count * oidBytes);
    const modes = new Uint32Array(count);
    const stats = new Uint32Array(count * STAT_WORDS);
    const flags = new Uint16Array(count);
    const extendedFlags = new Uint16Array(count);
    let at = HEADER_BYTES;
    for (let i = 0; i < count; i++) {
      const start = pathOffsets[i]!;
      this.locate(at, i, i === 0 ? 0 : start - pathOffsets[i - 1]!);
      const shared = this.version === 4 && i > 0 ? start - pathOffsets[i - 1]! - this.dropped : 0;
      if (shared > 0) pathBytes.copyWithin(start, pathOffsets[i - 1]!, pathOffsets[i - 1]! + shared);
      const name = this.nameAt;
      const to = start + shared;
      for (let b = 0; b < this.suffixLength; b++) pathBytes[to + b] = bytes[name + b]!;
      for (let word = 0; word < STAT_WORDS; word++) stats[i * STAT_WORDS + word] = view.getUint32(at + 4 * word);
      for (let b = 0; b < oidBytes; b++) oids[i * oidBytes + b] = bytes[at + STAT_BYTES + b]!;
      modes[i] = this.checkMode(view.getUint32(at + 4 * STAT.mode), i);
      flags[i] = view.getUint16(at + flagsAt) & ~NAME_LENGTH_MASK;
      extendedFlags[i] = this.extendedFlags;
      at = this.next;
    }
    const table: IndexTable = {
      format,
      version: this.version,
      count,
      pathBytes,
      pathOffsets,
      oids,
      modes,
      stats,
      flags,
      extendedFlags,
      extensions,
      ...time,
    };
    if (!extensions.some((extension) => extension.signature === 'link')) checkPaths(table, this.displayPath);
    return table;
  }

  private readHeader(): void {
    const { bytes, view } = this;
    if (bytes.length < HEADER_BYTES + this.format.oidBytes) throw this.error(`it has only ${bytes.length} bytes`);
    if (bytes.toString('latin1', 0, 4) !== 'DIRC') throw this.error('it has no index header');
    const version = view.getUint32(4);
    if (version !== 2 && version !== 3 && version !== 4) throw this.error(`version ${version} is unknown`);
    this.version = version;
    this.count = view.getUint32(8);
    if (this.count * this.leastEntryBytes > this.end - HEADER_BYTES) {
      throw this.error(`${this.count} entries do not fit its ${bytes.length} bytes`);
    }
  }

  /** Fills `pathOffsets` and returns where the entries end. */
  private measure(pathOffsets: Uint32Array): number {
    const most = Math.min(this.bytes.length * MOST_UNFOLDING, MOST_FILE_BYTES);
    let at = HEADER_BYTES;
    let previous = 0;
    let total = 0;
    for (let i = 0; i < this.count; i++) {
      this.locate(at, i, previous);
      previous = (this.version === 4 ? previous - this.dropped : 0) + this.suffixLength;
      total += previous;
      if (total > most) throw this.error('its paths are too long');
      pathOffsets[i + 1] = total;
      at = this.next;
    }
    return at;
  }

  /** Finds the parts of entry `i` at `at`; `previousLength` is the length of the path before it. */
  private locate(at: number, i: number, previousLength: number): void {
    const { bytes, view, end, version, flagsAt } = this;
    if (at + this.leastEntryBytes > end) throw this.error(`it ends within entry ${i}`);
    const flags = view.getUint16(at + flagsAt);
    let nameAt = at + flagsAt + 2;
    this.extendedFlags = 0;
    if ((flags & FLAG.extended) !== 0) {
      this.extendedFlags = view.getUint16(nameAt);
      if ((this.extendedFlags & ~(EXTENDED_FLAG.skipWorktree | EXTENDED_FLAG.intentToAdd)) !== 0) {
        throw this.error(`entry ${i} has unknown flags`);
      }
      nameAt += 2;
    }
    let shared = 0;
    this.dropped = 0;
    if (version === 4) {
      nameAt = this.readDropped(nameAt, i);
      if (this.dropped > previousLength) throw this.error(`entry ${i} drops more of a path than there is`);
      shared = previousLength - this.dropped;
    }
    this.nameAt = nameAt;
    const known = flags & NAME_LENGTH_MASK;
    const nameEnd = known < NAME_LENGTH_MASK ? nameAt + known - shared : bytes.indexOf(0, nameAt);
    if (nameEnd < nameAt || nameEnd >= end || bytes[nameEnd] !== 0)
      throw this.error(`the path of entry ${i} does not end`);
    this.suffixLength = nameEnd - nameAt;
    if (known === NAME_LENGTH_MASK && shared + this.suffixLength < NAME_LENGTH_MASK) {
      throw this.error(`the path of entry ${i} is shorter than it says`);
    }
    this.next = version === 4 ? nameEnd + 1 : at + ((nameEnd - at + 8) & ~7);
    if (this.next > end) throw this.error(`it ends within entry ${i}`);
  }

  /** git's offset encoding: 7 bits a byte, most significant first, 1 added for each byte that goes on. */
  private readDropped(at: number, i: number): number {
    let value = 0;
    for (let position = at; position < this.end; position++) {
      const byte = this.bytes[position]!;
      value = value * 128 + (byte & 0x7f);
      if ((byte & 0x80) === 0) {
        this.dropped = value;
        return position + 1;
      }
      value++;
      if (value > MOST_FILE_BYTES) break;
    }
    throw this.error(`entry ${i} has a prefix length that does not end`);
  }

  private readExtensions(start: number): IndexExtension[] {
    const extensions: IndexExtension[] = [];
    let at = start;
    while (at < this.end) {
      if (at + 8 > this.end) throw this.error('it ends within an extension');
      const signature = this.bytes.toString('latin1', at, at + 4);
      if (!/^[A-Za-z][\x21-\x7e]{3}$/.test(signature)) throw this.error(`there is no extension at byte ${at}`);
      const size = this.view.getUint32(at + 4);
      if (size > this.end - at - 8) throw this.error(`extension '${signature}' is longer than the file`);
      if (extensions.length === MOST_EXTENSIONS) throw this.error('it has too many extensions');
      // A copy, so that the file's buffer does not live as long as the table.
      extensions.push({ signature, bytes: new Uint8Array(this.bytes.subarray(at + 8, at + 8 + size)) });
      at += 8 + size;
    }
    return extensions;
  }

  /** Modes of a kind that git writes. Odd permission bits of old versions are kept: they match no tree entry. */
  private checkMode(mode: number, i: number): number {
    const type = mode & MODE.typeMask;
    const known = type === MODE.regular || type === MODE.symlink || type === MODE.gitlink || type === MODE.directory;
    if (!known || mode > 0xffff) throw this.error(`entry ${i} has mode ${mode.toString(8)}`);
    return mode;
  }

  private error(what: string): CheckoutError {
    return corrupt(this.displayPath, what);
  }
}

/**
 * Checks that entries are in order, none is there twice, and every path stays in the working tree and out of `.git`.
 * @throws CheckoutError index-corrupt
 */
export function checkPaths(table: IndexTable, displayPath: string): void {
  const { count, pathBytes, pathOffsets, modes, flags } = table;
  for (let i = 0; i < count; i++) {
    const start = pathOffsets[i]!;
    let end = pathOffsets[i + 1]!;
    if (i > 0) {
      const order = comparePaths(pathBytes, pathOffsets[i - 1]!, start, start, end);
      const stageBefore = (flags[i - 1]! & FLAG.stage) >> FLAG_STAGE_SHIFT;
      const stage = (flags[i]! & FLAG.stage) >> FLAG_STAGE_SHIFT;
      if (order > 0) throw corrupt(displayPath, `entries ${i - 1} and ${i} are not in order`);
      if (order === 0 && (stageBefore === 0 || stageBefore >= stage)) {
        throw corrupt(displayPath, `entries ${i - 1} and ${i} have the same path`);
      }
    }
    const type = modes[i]! & MODE.typeMask;
    if (type === MODE.directory && end > start && pathBytes[end - 1] === 0x2f) end--;
    const reason = invalidComponent(pathBytes, start, end, type === MODE.symlink, ALWAYS);
    if (reason !== null) throw corrupt(displayPath, `the path of entry ${i} is refused: ${reason}`);
  }
}

/** Order of two paths in one table: by bytes, the shorter first. */
function comparePaths(bytes: Uint8Array, aStart: number, aEnd: number, bStart: number, bEnd: number): number {
  const length = Math.min(aEnd - aStart, bEnd - bStart);
  for (let i = 0; i < length; i++) {
    const order = bytes[aStart + i]! - bytes[bStart + i]!;
    if (order !== 0) return order;
  }
  return aEnd - aStart - (bEnd - bStart);
}
