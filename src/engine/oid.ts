/**
 * Object ids as bytes. Ids stay raw (20 bytes for SHA-1) inside the engine; hexadecimal exists only at its edges:
 * arguments, refs, messages, reports.
 */
import type { Bytes } from './bytes.ts';

/** Length in bytes of a raw SHA-1 object id. */
export const OID_BYTES = 20;

const HEX_OID = /^[0-9a-f]{40}$/;

/** True for exactly 40 lower-case hexadecimal digits. */
export function isHexOid(text: string): boolean {
  return HEX_OID.test(text);
}

/** 40 hexadecimal digits -> 20 bytes. The caller has checked the digits. */
export function oidFromHex(hex: string): Bytes {
  return new Uint8Array(Buffer.from(hex, 'hex'));
}

/** The id that starts at `offset` of `bytes`, as 40 hexadecimal digits. */
export function oidToHex(bytes: Uint8Array, offset = 0): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + offset, OID_BYTES).toString('hex');
}

/** Whether the ids at two places are equal. */
export function oidEquals(a: Uint8Array, aOffset: number, b: Uint8Array, bOffset: number): boolean {
  for (let i = 0; i < OID_BYTES; i++) if (a[aOffset + i] !== b[bOffset + i]) return false;
  return true;
}
