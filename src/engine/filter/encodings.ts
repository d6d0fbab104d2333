/**
 * Which encodings of `working-tree-encoding` we write, by the names that git's iconv knows them by. Each one here was compared with
 * GNU libc's iconv, character by character (test/git/conversion/encodings.test.ts); a name that is not here is left to git.
 * See docs/decisions/encodings.md.
 */

/** How text is written. Plain data: worker threads are handed it. */
export type Encoding =
  /** UTF-16 or UTF-32. */
  | { readonly kind: 'unicode'; readonly unit: 2 | 4; readonly bigEndian: boolean; readonly bom: boolean }
  /** ASCII, and below `limit` each character is the byte of its number. */
  | { readonly kind: 'bytes'; readonly limit: 0x80 | 0x100 }
  /** ASCII, and the rest by a table of iconv-lite, whose name for it this is. */
  | { readonly kind: 'table'; readonly table: string };

function unicode(unit: 2 | 4, bigEndian: boolean, bom: boolean): Encoding {
  return { kind: 'unicode', unit, bigEndian, bom };
}

/** Names by which GNU libc knows a table, in capitals; the first one is iconv-lite's as well. */
const TABLES: readonly (readonly string[])[] = [
  ...[2, 3, 4, 5, 6, 7, 8, 9, 10, 14, 15, 16].map((n) => [`ISO-8859-${n}`, `ISO8859-${n}`, `ISO_8859-${n}`]),
  ...[11, 13].map((n) => [`ISO-8859-${n}`, `ISO8859-${n}`]),
  ...[1250, 1251, 1252, 1253, 1254, 1256, 1257].map((n) => [`WINDOWS-${n}`, `CP${n}`]),
  ...[437, 850, 852, 855, 857, 860, 861, 862, 863, 865, 866, 869].map((n) => [`CP${n}`, `IBM${n}`]),
  ['KOI8-R'],
  ['KOI8-U'],
  ['CP874'],
  ['TIS-620', 'TIS620'],
  ['CP936'],
  ['CP949', 'UHC'],
  ['SHIFT_JIS', 'SHIFT-JIS', 'SJIS'],
  ['EUC-JP', 'EUCJP'],
  ['EUC-KR', 'EUCKR'],
];

const TABLE_BY_NAME: ReadonlyMap<string, string> = new Map(
  TABLES.flatMap((names) => names.map((name) => [name, names[0] ?? name] as const)),
);

/** Names of tables, for the test that compares each. */
export const TABLE_NAMES: readonly string[] = [...TABLE_BY_NAME.keys()];

/** The bare names do not say the order of bytes: GNU libc takes the machine's, which is little-endian; others big-endian. */
const UNICODE = /^UTF-?(16|32)(LE|BE)?(-BOM)?$/;
const LATIN1 = new Set(['ISO-8859-1', 'ISO8859-1', 'ISO_8859-1', 'LATIN1', 'LATIN-1', 'L1']);
const ASCII = new Set(['US-ASCII', 'ASCII']);

/**
 * The encoding of a name; null for one that we leave to git.
 * @param glibc whether iconv is that of GNU libc; of others only what all agree on is taken
 */
export function encodingOf(name: string, glibc: boolean): Encoding | null {
  const capitals = name.toUpperCase();
  const [match, bits, order, mark] = UNICODE.exec(capitals) ?? [];
  if (match !== undefined) {
    // git itself adds the mark of these two, and of no others.
    if (mark !== undefined && (bits !== '16' || order === undefined)) return null;
    const bigEndian = order === undefined ? !glibc : order === 'BE';
    return unicode(bits === '16' ? 2 : 4, bigEndian, order === undefined || mark !== undefined);
  }
  if (LATIN1.has(capitals)) return { kind: 'bytes', limit: 0x100 };
  if (ASCII.has(capitals)) return { kind: 'bytes', limit: 0x80 };
  const table = glibc ? TABLE_BY_NAME.get(capitals) : undefined;
  return table === undefined ? null : { kind: 'table', table };
}

/** Whether this process, and so git, runs on GNU libc. Takes some milliseconds: to be asked only where it matters. */
export function hasGlibc(): boolean {
  if (process.platform !== 'linux') return false;
  known ??= readsGlibc();
  return known;
}

let known: boolean | null = null;

function readsGlibc(): boolean {
  // Looking up the names of network interfaces could take seconds. The types do not have it yet.
  const report = process.report as NodeJS.ProcessReport & { excludeNetwork?: boolean };
  const before = report.excludeNetwork ?? false;
  report.excludeNetwork = true;
  const { header } = report.getReport() as { header?: { glibcVersionRuntime?: string } };
  report.excludeNetwork = before;
  return header?.glibcVersionRuntime !== undefined;
}
