/**
 * The index in memory: flat tables instead of an object per entry, so that a million entries are a dozen allocations,
 * comparable row by row with the manifest's tables. Field layout: git's Documentation/gitformat-index.
 */
import type { Bytes } from '../bytes.ts';
import type { ObjectFormat } from '../oid.ts';

/** Stat words per entry, in the order of the file. */
export const STAT_WORDS = 10;

/** Place of each stat word within an entry's ten. */
export const STAT = {
  ctimeSeconds: 0,
  ctimeNanoseconds: 1,
  mtimeSeconds: 2,
  mtimeNanoseconds: 3,
  dev: 4,
  ino: 5,
  mode: 6,
  uid: 7,
  gid: 8,
  size: 9,
} as const;

/** Bits of `flags`; the name length in the low 12 bits is not kept. */
export const FLAG = { assumeValid: 0x8000, extended: 0x4000, stage: 0x3000 } as const;
export const FLAG_STAGE_SHIFT = 12;

/** Bits of `extendedFlags`. */
export const EXTENDED_FLAG = { skipWorktree: 0x4000, intentToAdd: 0x2000 } as const;

/** Mode bits as git stores them. */
export const MODE = {
  typeMask: 0o170000,
  directory: 0o040000,
  regular: 0o100000,
  symlink: 0o120000,
  gitlink: 0o160000,
} as const;

/** What an index file is written from. Entries are in git's order: bytes of the path, then stage; no duplicates. */
export interface IndexEntries {
  /** Of the ids, and of the hash at the file's end. */
  readonly format: ObjectFormat;
  readonly count: number;
  /** All paths one after another, without separators. May lie in shared memory, as may the others. */
  readonly pathBytes: Bytes;
  /** count + 1 offsets: path i is pathBytes[pathOffsets[i], pathOffsets[i + 1]). */
  readonly pathOffsets: Uint32Array;
  /** `format.oidBytes` each. */
  readonly oids: Bytes;
  /** 0o100644, 0o100755, 0o120000, 0o160000, or 0o040000 for a directory of a sparse index. */
  readonly modes: Uint32Array;
  /** Assume-valid and stage; other bits are ignored. Absent: all zero. */
  readonly flags?: Uint16Array;
  /** Skip-worktree and intent-to-add. Absent: all zero. */
  readonly extendedFlags?: Uint16Array;
}

/** An extension as it stands in the file; `signature` is four characters, the first in lower case if a reader must know it. */
export interface IndexExtension {
  readonly signature: string;
  readonly bytes: Bytes;
}

/** A parsed index. */
export interface IndexTable extends IndexEntries {
  readonly version: 2 | 3 | 4;
  /** STAT_WORDS each, host byte order. */
  readonly stats: Uint32Array;
  readonly flags: Uint16Array;
  readonly extendedFlags: Uint16Array;
  readonly extensions: readonly IndexExtension[];
  /** Modification time of the file; 0 when it was not read from one. */
  readonly mtimeSeconds: number;
  readonly mtimeNanoseconds: number;
}
