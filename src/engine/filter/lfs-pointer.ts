/**
 * Git LFS pointers: the small text that stands in the repository for a large file. Only the one spelling that git-lfs itself writes is
 * taken for a pointer here; whatever else git-lfs may understand (other orders, other versions, extensions) is left to it.
 * Format: the specification of git-lfs, version 1.
 */
import type { Bytes } from '../bytes.ts';

const HEAD = Buffer.from('version https://git-lfs.github.com/spec/v1\noid sha256:');
const MIDDLE = Buffer.from('\nsize ');
/** Hexadecimal digits of the object's SHA-256. */
const HEX = 64;
/** Where the digits begin, and where the size does. */
const OID_AT = HEAD.length;
const SIZE_AT = OID_AT + HEX + MIDDLE.length;
/** 15 digits fit a number exactly, and no file is larger. */
const MOST_DIGITS = 15;

const ZERO = 0x30;
const NINE = 0x39;
const LINE_FEED = 0x0a;

/** The longest pointer of this spelling. */
export const LFS_POINTER_BYTES = SIZE_AT + MOST_DIGITS + 1;

/**
 * The size in bytes of the file that a pointer stands for; -1 where `content` is no pointer as git-lfs writes them.
 */
export function lfsPointerSize(content: Bytes): number {
  const { length } = content;
  if (length > LFS_POINTER_BYTES || length < SIZE_AT + 2 || content[length - 1] !== LINE_FEED) return -1;
  for (let i = 0; i < OID_AT; i++) if (content[i] !== HEAD[i]) return -1;
  for (let i = 0; i < MIDDLE.length; i++) if (content[OID_AT + HEX + i] !== MIDDLE[i]) return -1;
  for (let i = OID_AT; i < OID_AT + HEX; i++) {
    const byte = content[i] ?? 0;
    if (!((byte >= ZERO && byte <= NINE) || (byte >= 0x61 && byte <= 0x66))) return -1;
  }
  // git-lfs makes no pointers for empty files.
  if (content[SIZE_AT] === ZERO) return -1;
  let size = 0;
  for (let i = SIZE_AT; i < length - 1; i++) {
    const byte = content[i] ?? 0;
    if (byte < ZERO || byte > NINE) return -1;
    size = size * 10 + (byte - ZERO);
  }
  return size;
}

/** The SHA-256 of the file that a pointer stands for, as 64 hexadecimal digits. Of content that is a pointer only. */
export function lfsPointerOid(content: Bytes): string {
  return Buffer.from(content.buffer, content.byteOffset + OID_AT, HEX).toString('latin1');
}
