/**
 * Writes UTF-8 text in another encoding, as git does by iconv: all of it, or nothing where a sequence is not UTF-8 or a character
 * does not exist in the encoding. For content in memory; the size comes out of a first pass, so that nothing is held but the
 * content and the result.
 */
import type { Bytes } from '../bytes.ts';
import type { Conversion } from './conversion.ts';
import type { Encoding } from './encodings.ts';

/** The part of encoding-tables.ts that is used here, once it is loaded. */
interface Tables {
  readonly UNMAPPABLE: number;
  characterTable(name: string): { get(point: number): number };
}

let loaded: Tables | null = null;

/** Loads what the encodings of these conversions need. To be awaited before `encode` is called for any of them. */
export async function loadTables(conversions: readonly Conversion[]): Promise<void> {
  if (loaded !== null || !conversions.some(({ encoding }) => encoding?.kind === 'table')) return;
  loaded = await import(/* webpackChunkName: "encoding-tables" */ './encoding-tables.ts');
}

/** At most so many bytes come of one byte of UTF-8. */
export function encodedBound(encoding: Encoding): number {
  return encoding.kind === 'unicode' ? encoding.unit : 2;
}

const INVALID = -1;
/** How many bytes the last character had. */
let taken = 0;

/** The character at `at`, which begins with a byte over 0x7f; INVALID where UTF-8 has no such sequence. */
function decode(content: Bytes, at: number, length: number): number {
  const first = content[at] ?? 0;
  const more =
    first >= 0xc2 && first < 0xe0 ? 1 : first >= 0xe0 && first < 0xf0 ? 2 : first >= 0xf0 && first < 0xf5 ? 3 : 0;
  if (more === 0 || at + more >= length) return INVALID;
  let point = first & (0x3f >> more);
  for (let i = 1; i <= more; i++) {
    const byte = content[at + i] ?? 0;
    if ((byte & 0xc0) !== 0x80) return INVALID;
    point = (point << 6) | (byte & 0x3f);
  }
  const least = more === 1 ? 0x80 : more === 2 ? 0x800 : 0x10000;
  if (point < least || point > 0x10ffff || (point >= 0xd800 && point < 0xe000)) return INVALID;
  taken = more + 1;
  return point;
}

/**
 * Encodes `content[0, length)`.
 * @returns null when it cannot be encoded as a whole
 */
export function encode(encoding: Encoding, content: Bytes, length: number): Uint8Array | null {
  return encoding.kind === 'unicode'
    ? encodeUnicode(encoding, content, length)
    : encodeBytes(encoding, content, length);
}

function encodeUnicode(
  { unit, bigEndian, bom }: Extract<Encoding, { kind: 'unicode' }>,
  content: Bytes,
  length: number,
): Uint8Array | null {
  let units = bom ? 1 : 0;
  for (let at = 0; at < length; units++) {
    if ((content[at] ?? 0) < 0x80) {
      at++;
      continue;
    }
    const point = decode(content, at, length);
    if (point === INVALID) return null;
    if (unit === 2 && point > 0xffff) units++;
    at += taken;
  }
  const out = new Uint8Array(units * unit);
  const view = new DataView(out.buffer);
  let end = 0;
  const put = (value: number): void => {
    if (unit === 2) view.setUint16(end, value, !bigEndian);
    else view.setUint32(end, value, !bigEndian);
    end += unit;
  };
  if (bom) put(0xfeff);
  for (let at = 0; at < length;) {
    const byte = content[at] ?? 0;
    if (byte < 0x80) {
      put(byte);
      at++;
      continue;
    }
    const point = decode(content, at, length);
    at += taken;
    if (unit === 2 && point > 0xffff) {
      put(0xd7c0 + (point >> 10));
      put(0xdc00 | (point & 0x3ff));
    } else {
      put(point);
    }
  }
  return out;
}

function encodeBytes(
  encoding: Exclude<Encoding, { kind: 'unicode' }>,
  content: Bytes,
  length: number,
): Uint8Array | null {
  const code = codes(encoding);
  let size = 0;
  for (let at = 0; at < length;) {
    if ((content[at] ?? 0) < 0x80) {
      at++;
      size++;
      continue;
    }
    const point = decode(content, at, length);
    if (point === INVALID) return null;
    at += taken;
    // libc drops these marks of language where an encoding does not have them.
    if (point >> 7 === 0xe0000 >> 7) continue;
    const bytes = code(point);
    if (bytes === 0) return null;
    size += bytes >>> 24;
  }
  const out = new Uint8Array(size);
  let end = 0;
  for (let at = 0; at < length;) {
    const byte = content[at] ?? 0;
    if (byte < 0x80) {
      out[end++] = byte;
      at++;
      continue;
    }
    const point = decode(content, at, length);
    at += taken;
    if (point >> 7 === 0xe0000 >> 7) continue;
    const bytes = code(point);
    for (let shift = ((bytes >>> 24) - 1) * 8; shift >= 0; shift -= 8) out[end++] = (bytes >>> shift) & 0xff;
  }
  return out;
}

/** From a character to its length (high byte) and bytes; 0 where it has none. */
function codes(encoding: Exclude<Encoding, { kind: 'unicode' }>): (point: number) => number {
  if (encoding.kind === 'bytes') return (point) => (point < encoding.limit ? (1 << 24) | point : 0);
  if (loaded === null) throw new Error(`the table of ${encoding.table} was not loaded`);
  const { UNMAPPABLE } = loaded;
  const table = loaded.characterTable(encoding.table);
  return (point) => {
    const bytes = table.get(point);
    return bytes === UNMAPPABLE ? 0 : bytes;
  };
}
