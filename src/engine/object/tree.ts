/**
 * Tree objects: "<octal mode> <name>\0<id>" again and again (git's user manual, "Tree Object"). Read in place, an entry at a
 * time, without an object for each.
 */
import type { Bytes } from '../bytes.ts';

/** Modes as git writes them into an index; a tree entry is brought to one of these by its type bits. */
export const MODE_FILE = 0o100644;
export const MODE_EXECUTABLE = 0o100755;
export const MODE_SYMLINK = 0o120000;
export const MODE_TREE = 0o040000;
export const MODE_GITLINK = 0o160000;

const TYPE_MASK = 0o170000;

/** What git makes of a mode: anything that is not a file, link or directory counts as a submodule. */
export function canonicalMode(mode: number): number {
  switch (mode & TYPE_MASK) {
    case 0o100000:
      return mode & 0o100 ? MODE_EXECUTABLE : MODE_FILE;
    case 0o120000:
      return MODE_SYMLINK;
    case 0o040000:
      return MODE_TREE;
    default:
      return MODE_GITLINK;
  }
}

/** Walks the entries of one tree; `next` fills the fields. */
export class TreeCursor {
  readonly bytes: Bytes;
  /** Canonical mode. */
  mode = 0;
  /** Whether the mode is written as git writes it; other spellings make a tree that git would not write again. */
  isModeCanonical = true;
  /** The name is bytes[nameStart, nameEnd). */
  nameStart = 0;
  nameEnd = 0;
  /** The id starts at bytes[oidAt]. */
  oidAt = 0;
  #at = 0;
  readonly #oidBytes: number;

  /** @param oidBytes length of the ids (ObjectFormat.oidBytes) */
  constructor(bytes: Bytes, oidBytes: number) {
    this.bytes = bytes;
    this.#oidBytes = oidBytes;
  }

  /** Goes back to the first entry. */
  rewind(): void {
    this.#at = 0;
  }

  /**
   * Moves to the next entry.
   * @returns 1 at an entry, 0 at the end, -1 where the tree is not valid
   */
  next(): -1 | 0 | 1 {
    const { bytes } = this;
    const end = bytes.length;
    let at = this.#at;
    if (at >= end) return 0;
    let mode = 0;
    const modeStart = at;
    for (;;) {
      const byte = bytes[at++];
      if (byte === 0x20) break;
      if (byte === undefined || byte < 0x30 || byte > 0x37 || at - modeStart > 12) return -1;
      // Modes are 16 bits; more digits can only be leading zeros or garbage, which git cuts to the low bits too.
      mode = ((mode << 3) | (byte - 0x30)) & 0x3ffff;
    }
    if (at - modeStart < 2) return -1;
    const nameStart = at;
    while (at < end && bytes[at] !== 0) at++;
    if (at === nameStart || at + 1 + this.#oidBytes > end) return -1;
    this.mode = canonicalMode(mode);
    this.isModeCanonical = mode === this.mode && nameStart - 1 - modeStart === (mode === MODE_TREE ? 5 : 6);
    this.nameStart = nameStart;
    this.nameEnd = at;
    this.oidAt = at + 1;
    this.#at = at + 1 + this.#oidBytes;
    return 1;
  }
}
