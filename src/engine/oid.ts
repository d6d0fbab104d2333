/**
 * Object ids as bytes, and the two formats that they come in. Ids stay raw inside the engine, in tables of fixed width;
 * hexadecimal exists only at its edges: arguments, refs, messages, reports.
 */
import type { Bytes } from './bytes.ts';

/**
 * How a repository names its objects (extensions.objectFormat). Every id in its trees, packs, pack indexes and index has this
 * length, and each of these files ends in a hash of this kind. Plain data, so that workers can be handed it.
 */
export interface ObjectFormat {
  /** As git names it, and as node:crypto names the hash. */
  readonly name: 'sha1' | 'sha256';
  /** Length of a raw id. */
  readonly oidBytes: 20 | 32;
}

export const SHA1: ObjectFormat = { name: 'sha1', oidBytes: 20 };
export const SHA256: ObjectFormat = { name: 'sha256', oidBytes: 32 };

/** The longest id of any format: what a buffer for one must hold. */
export const MAX_OID_BYTES = 32;

const HEX = /^[0-9a-f]+$/i;

/** Whether the text is a full id of the format: as many hexadecimal digits, small or capital, and nothing else. */
export function isHexOid(text: string, format: ObjectFormat): boolean {
  return text.length === 2 * format.oidBytes && HEX.test(text);
}

/** The format that the text is a full id of; null for anything else. */
export function formatOfHexOid(text: string): ObjectFormat | null {
  return [SHA1, SHA256].find((format) => isHexOid(text, format)) ?? null;
}

/** Hexadecimal digits -> bytes. The caller has checked the digits. */
export function oidFromHex(hex: string): Bytes {
  return new Uint8Array(Buffer.from(hex, 'hex'));
}

/** The id that starts at `offset` of `bytes`, in hexadecimal. */
export function oidToHex(bytes: Uint8Array, offset: number, oidBytes: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + offset, oidBytes).toString('hex');
}

/** Whether the ids at two places are equal. */
export function oidEquals(a: Uint8Array, aOffset: number, b: Uint8Array, bOffset: number, oidBytes: number): boolean {
  for (let i = 0; i < oidBytes; i++) if (a[aOffset + i] !== b[bOffset + i]) return false;
  return true;
}
