/**
 * What the index remembers of a file's stat data, and what counts as unchanged. Every later `git status` compares these
 * words, so they must be what git itself would have stored on this platform: gitformat-index, git's statinfo.
 */
import type { BigIntStats } from 'node:fs';
import type { Bytes } from '../bytes.ts';
import { bug } from '../errors.ts';
import { oidEquals, oidFromHex, type ObjectFormat } from '../oid.ts';
import { MODE, STAT, STAT_WORDS } from './index-table.ts';

const NANOSECONDS = 1_000_000_000n;

/** Id of the empty blob: the hash of "blob 0" and a NUL. */
const EMPTY_BLOB = {
  sha1: oidFromHex('e69de29bb2d1d6434b8b29ae775ad8c2e48c5391'),
  sha256: oidFromHex('473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813'),
};

/** Low 32 bits. Only values beyond 2^53 (64-bit inode numbers) take the slow way. */
function lowWord(value: bigint): number {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number >>> 0 : Number(BigInt.asUintN(32, value));
}

/** Seconds, rounded down, and the nanoseconds that are left. */
function putTime(time: bigint, out: Uint32Array, at: number): void {
  let seconds = Number(time / NANOSECONDS);
  let rest = Number(time % NANOSECONDS);
  if (rest < 0) {
    // Before 1970, where bigint division rounds towards zero.
    seconds--;
    rest += 1e9;
  }
  out[at] = seconds;
  out[at + 1] = rest;
}

/**
 * What git 2.43 and later store for a file whose size is a multiple of 4 GiB: its low 32 bits would be 0, which means "look at the
 * content". Older ones store that 0, and would take this for another size, so we do too: it is right with all of them, and
 * git looks at the content once.
 */
const FULL_GIBIBYTES = 0x8000_0000;

/**
 * Writes the ten words of an entry from `fs.fstat` or `fs.lstat` with `bigint: true` into `out` at `at`. `entryMode` is
 * the mode of the index entry (not of the file). On Windows git stores the creation time as ctime and no device, inode
 * or owner, so those of Node (volume serial, file id) are left out.
 */
export function statToWords(
  stat: BigIntStats,
  platform: NodeJS.Platform,
  out: Uint32Array,
  at: number,
  entryMode: number,
): void {
  if (at + STAT_WORDS > out.length) throw bug('stat words beyond their table');
  const windows = platform === 'win32';
  if (windows) putTime(stat.birthtimeNs, out, at + STAT.ctimeSeconds);
  else putTime(stat.ctimeNs, out, at + STAT.ctimeSeconds);
  putTime(stat.mtimeNs, out, at + STAT.mtimeSeconds);
  out[at + STAT.dev] = windows ? 0 : lowWord(stat.dev);
  out[at + STAT.ino] = windows ? 0 : lowWord(stat.ino);
  out[at + STAT.mode] = entryMode;
  out[at + STAT.uid] = windows ? 0 : lowWord(stat.uid);
  out[at + STAT.gid] = windows ? 0 : lowWord(stat.gid);
  out[at + STAT.size] = lowWord(stat.size);
}

/** Configuration and platform that the comparison depends on. */
export interface StatComparison {
  /** core.trustctime, true by default. */
  readonly trustCtime: boolean;
  /** core.checkStat=minimal: no ctime, owner or inode. */
  readonly checkStatMinimal: boolean;
  /** core.fileMode. */
  readonly fileMode: boolean;
  /** core.symlinks: false where links are written as plain files. */
  readonly symlinks: boolean;
  readonly platform: NodeJS.Platform;
}

const scratch = new Uint32Array(STAT_WORDS);

/**
 * Whether what `lstat` (with `bigint: true`) says still is what the entry's words at `at` of `words` remember, by the
 * rules of git's ordinary build: seconds only, no device. The type and executable bit come from the entry's mode word.
 * `emptyBlob` says that the entry is the empty blob: a remembered size of 0 for any other content means "look at the
 * content" and is 'changed'. A gitlink is 'same' when a directory is there; its commit is not looked at.
 *
 * A 'same' entry may yet be racy (`isRacy`).
 */
export function matchStat(
  words: Uint32Array,
  at: number,
  stat: BigIntStats,
  options: StatComparison,
  emptyBlob: boolean,
): 'same' | 'changed' {
  if (at + STAT_WORDS > words.length) throw bug('stat words beyond their table');
  const entryMode = words[at + STAT.mode]!;
  switch (entryMode & MODE.typeMask) {
    case MODE.regular:
      if (!stat.isFile()) return 'changed';
      if (options.fileMode && ((entryMode ^ Number(stat.mode)) & 0o100) !== 0) return 'changed';
      break;
    case MODE.symlink:
      if (!stat.isSymbolicLink() && (options.symlinks || !stat.isFile())) return 'changed';
      break;
    case MODE.gitlink:
      return stat.isDirectory() ? 'same' : 'changed';
    default:
      return 'changed';
  }
  statToWords(stat, options.platform, scratch, 0, entryMode);
  const differs = (word: number): boolean => words[at + word] !== scratch[word];
  const full = scratch[STAT.size] === 0 && stat.size !== 0n && words[at + STAT.size] === FULL_GIBIBYTES;
  if (differs(STAT.mtimeSeconds) || (differs(STAT.size) && !full)) return 'changed';
  if (!options.checkStatMinimal) {
    if (options.trustCtime && differs(STAT.ctimeSeconds)) return 'changed';
    if (differs(STAT.uid) || differs(STAT.gid) || differs(STAT.ino)) return 'changed';
  }
  if (words[at + STAT.size] === 0 && !emptyBlob) return 'changed';
  return 'same';
}

/** Whether the id at `offset` is that of the empty blob. */
export function isEmptyBlob(oids: Bytes, offset: number, format: ObjectFormat): boolean {
  return oidEquals(oids, offset, EMPTY_BLOB[format.name], 0, format.oidBytes);
}

/**
 * Whether an entry whose stat matches may still have been changed: its file was modified in the second in which the index
 * was written, or later. `indexMtimeSeconds` is that of the index which holds the entry; 0 (no file) makes nothing racy.
 * Who keeps such an entry in a new index must compare the content first, and store size 0 when it differs.
 */
export function isRacy(words: Uint32Array, at: number, indexMtimeSeconds: number): boolean {
  if ((words[at + STAT.mode]! & MODE.typeMask) === MODE.gitlink) return false;
  const written = indexMtimeSeconds >>> 0;
  return written !== 0 && written <= words[at + STAT.mtimeSeconds]!;
}
