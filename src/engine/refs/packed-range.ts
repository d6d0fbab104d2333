/**
 * The refs of packed-refs below a prefix, as git finds them: in a file that calls itself sorted by bisection and up to the first
 * name behind the prefix, whatever stands elsewhere. So a damaged line ends the list, hides others or is an error exactly
 * where it does with git, and a replacement that git does not see is not applied here either.
 */
import { displayBytes } from '../bytes.ts';
import { CheckoutError } from '../errors.ts';
import type { ObjectFormat } from '../oid.ts';
import { isValidRefName } from './ref-names.ts';

/** A line of packed-refs. */
export interface PackedRef {
  readonly name: string;
  /** In small hexadecimal digits; null where the name is none that a ref may have. */
  readonly oid: string | null;
}

const LINE_FEED = 10;
const HEADER = '# pack-refs with:';

/**
 * @param packed the whole of packed-refs, which ends in a line feed (readPackedRefs)
 * @throws CheckoutError unknown-revision for a damaged line among those that git reads to find the refs
 */
export function packedRefsBelow(packed: Buffer, prefix: string, format: ObjectFormat): PackedRef[] {
  const hexLength = 2 * format.oidBytes;
  const headerEnd = packed[0] === 0x23 ? packed.indexOf(LINE_FEED) + 1 : 0;
  const header = packed.toString('latin1', 0, Math.max(0, headerEnd - 1));
  if (headerEnd > 0 && !header.startsWith(HEADER)) throw damagedLine(packed, 0);
  const records = packed.subarray(headerEnd);
  if (records.length === 0) return [];
  const last = recordStart(records, 0, records.length - 1);
  if (records.length - last < hexLength + 2) throw damagedLine(records, last);
  const wanted = Buffer.from(prefix);
  const isSorted = header.slice(HEADER.length).split(' ').includes('sorted');
  return isSorted ? fromSorted(records, wanted, hexLength) : fromUnsorted(records, wanted, hexLength);
}

function fromSorted(records: Buffer, prefix: Buffer, hexLength: number): PackedRef[] {
  let low = 0;
  let high = records.length;
  while (low < high) {
    const middle = low + Math.floor((high - low) / 2);
    const start = recordStart(records, low, middle);
    if (compareName(records, start + hexLength + 1, prefix) < 0) low = recordEnd(records, middle, high);
    else high = start;
  }
  const refs: PackedRef[] = [];
  for (let at = low; at < records.length;) {
    const { ref, nameBytes, next } = readRecord(records, at, hexLength);
    const order = comparePrefix(nameBytes, prefix);
    if (order > 0) break;
    if (order === 0) refs.push(ref);
    at = next;
  }
  return refs;
}

/** git sorts them first: those of the prefix stand together then, and one more is read to see that they are at an end. */
function fromUnsorted(records: Buffer, prefix: Buffer, hexLength: number): PackedRef[] {
  const found: number[] = [];
  let behind: { readonly at: number; readonly name: Buffer } | null = null;
  for (let at = 0; at < records.length;) {
    const end = records.indexOf(LINE_FEED, at);
    if (end - at < hexLength + 2) throw damagedLine(records, at);
    const name = records.subarray(at + hexLength + 1, end);
    const order = comparePrefix(name, prefix);
    if (order === 0) found.push(at);
    else if (order > 0 && (behind === null || Buffer.compare(name, behind.name) < 0)) behind = { at, name };
    // One line of what a tag leads to: a second is taken for a ref, and is too short for one.
    at = records[end + 1] === 0x5e ? records.indexOf(LINE_FEED, end + 1) + 1 : end + 1;
  }
  if (behind !== null) readRecord(records, behind.at, hexLength);
  return found.map((at) => readRecord(records, at, hexLength).ref);
}

/** The start of the record that has the byte at `at`: a line "^..." belongs to the one before. */
function recordStart(records: Buffer, from: number, at: number): number {
  let start = at;
  while (start > from && (records[start - 1] !== LINE_FEED || records[start] === 0x5e)) start--;
  return start;
}

function recordEnd(records: Buffer, at: number, end: number): number {
  let next = at + 1;
  while (next < end && (records[next - 1] !== LINE_FEED || records[next] === 0x5e)) next++;
  return Math.min(next, end);
}

/** Compares the line from `at` with a name. */
function compareName(records: Buffer, at: number, name: Buffer): number {
  for (let i = 0; ; i++) {
    const byte = records[at + i];
    if (byte === LINE_FEED || byte === undefined) return i < name.length ? -1 : 0;
    const other = name[i];
    if (other === undefined) return 1;
    if (byte !== other) return byte - other;
  }
}

/** 0 for names that begin with the prefix, else on which side of them this one is. */
function comparePrefix(name: Buffer, prefix: Buffer): number {
  return Buffer.compare(name.subarray(0, prefix.length), prefix);
}

interface RecordRead {
  readonly ref: PackedRef;
  readonly nameBytes: Buffer;
  readonly next: number;
}

const ID_AND_BLANK = /^[0-9a-f]+[ \t\r\n]$/i;
const PEELED = /^\^[0-9a-f]+\n$/i;

function readRecord(records: Buffer, at: number, hexLength: number): RecordRead {
  const nameAt = at + hexLength + 1;
  if (!ID_AND_BLANK.test(records.toString('latin1', at, nameAt))) throw damagedLine(records, at);
  const end = records.indexOf(LINE_FEED, nameAt);
  if (end < 0) throw damagedLine(records, at);
  const whole = records.subarray(nameAt, end);
  const zero = whole.indexOf(0);
  const nameBytes = zero < 0 ? whole : whole.subarray(0, zero);
  const name = nameBytes.toString('utf8');
  const isValid = isValidRefName(name);
  if (!isValid && !isSafeName(name)) throw damagedLine(records, at);
  let next = end + 1;
  if (records[next] === 0x5e) {
    const peeledEnd = next + hexLength + 2;
    if (!PEELED.test(records.toString('latin1', next, peeledEnd))) throw damagedLine(records, next);
    next = peeledEnd;
  }
  const oid = isValid ? records.toString('latin1', at, at + hexLength).toLowerCase() : null;
  return { ref: { name, oid }, nameBytes, next };
}

/** Whether a name that no ref may have leads nowhere outside the refs, at least; git stops at one that does. */
function isSafeName(name: string): boolean {
  if (!name.startsWith('refs/')) return /^[A-Z_]+$/.test(name);
  return name
    .slice('refs/'.length)
    .split('/')
    .every((part) => part !== '' && part !== '.' && part !== '..');
}

function damagedLine(bytes: Buffer, at: number): CheckoutError {
  const end = bytes.indexOf(LINE_FEED, at);
  const line = displayBytes(bytes.subarray(at, Math.min(end < 0 ? bytes.length : end, at + 80)));
  return new CheckoutError('unknown-revision', `packed-refs has a line that is none: '${line}'`, {
    path: 'packed-refs',
  });
}
