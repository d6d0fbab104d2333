/**
 * The header of a pack entry (gitformat-pack, "pack-*.pack files have the following format"): type and inflated size in
 * a variable-length number, then for deltas where the base is.
 */
import type { Bytes } from '../bytes.ts';
import { MAX_OID_BYTES } from '../oid.ts';

/** Object types as a pack numbers them. */
export const COMMIT = 1;
export const TREE = 2;
export const BLOB = 3;
export const TAG = 4;
export const OFS_DELTA = 6;
export const REF_DELTA = 7;

/** A size of 8 bytes reaches as far as a number is exact (4 + 7 * 7 = 53 bits), and a distance of 8 further than any file. */
const MOST_VARINT_BYTES = 8;
/** Longest header: a size, then a distance or an object id. */
export const MAX_ENTRY_HEADER_BYTES = MOST_VARINT_BYTES + Math.max(MOST_VARINT_BYTES, MAX_OID_BYTES);

/** The name of an object type for messages. */
export function typeName(type: number): string {
  switch (type) {
    case COMMIT:
      return 'commit';
    case TREE:
      return 'tree';
    case BLOB:
      return 'blob';
    case TAG:
      return 'tag';
    default:
      return `type ${type}`;
  }
}

/** A decoded header; one instance is filled again and again. */
export class EntryHeader {
  type = 0;
  /** Inflated size in bytes; for a delta the size of the delta itself. */
  size = 0;
  /** Length of the header in bytes, base reference included. */
  length = 0;
  /** OFS_DELTA: how far before this entry its base begins. */
  baseDistance = 0;
  /** REF_DELTA: where in the parsed bytes the base's id stands. */
  baseOidAt = 0;
  readonly #oidBytes: number;

  /** @param oidBytes length of the ids (ObjectFormat.oidBytes) */
  constructor(oidBytes: number) {
    this.#oidBytes = oidBytes;
  }

  /**
   * Decodes the header that begins at `bytes[at]`.
   * @returns false when the bytes end too early or the header is not valid
   */
  parse(bytes: Bytes, at: number, end: number): boolean {
    let cursor = at;
    if (cursor >= end) return false;
    let byte = bytes[cursor++] ?? 0;
    const type = (byte >> 4) & 7;
    let size = byte & 15;
    // Sizes pass 32 bits, so multiply instead of shifting.
    let scale = 16;
    while (byte & 0x80) {
      if (cursor >= end || cursor - at >= MOST_VARINT_BYTES) return false;
      byte = bytes[cursor++] ?? 0;
      size += (byte & 0x7f) * scale;
      scale *= 128;
    }
    this.type = type;
    this.size = size;
    if (type === OFS_DELTA) {
      if (cursor >= end) return false;
      const first = cursor;
      byte = bytes[cursor++] ?? 0;
      let distance = byte & 0x7f;
      while (byte & 0x80) {
        if (cursor >= end || cursor - first >= MOST_VARINT_BYTES) return false;
        byte = bytes[cursor++] ?? 0;
        distance = (distance + 1) * 128 + (byte & 0x7f);
      }
      this.baseDistance = distance;
    } else if (type === REF_DELTA) {
      if (cursor + this.#oidBytes > end) return false;
      this.baseOidAt = cursor;
      cursor += this.#oidBytes;
    } else if (type === 0 || type === 5) {
      return false;
    }
    this.length = cursor - at;
    return true;
  }
}
