/**
 * Reads refs of the "files" format: loose files, then packed-refs. A ref file is somebody else's bytes: only its first
 * 4 KiB are looked at, only regular files are opened, and a chain of symbolic refs ends after five refs.
 */
import { closeSync, lstatSync, openSync, readFileSync, readlinkSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { CheckoutError, errnoOf, ioError } from '../errors.ts';
import { displayName, isPerWorktree, isValidRefName, type RefDirs, refPath } from './ref-names.ts';

/** What a ref holds: an object id in hexadecimal (40 or 64 digits), or the name of another ref. */
export type RefValue =
  { readonly kind: 'oid'; readonly oid: string } | { readonly kind: 'symbolic'; readonly target: string };

/** Where a chain of symbolic refs ends. */
export interface ResolvedRef {
  /** Name of the last ref; for HEAD on a branch, the branch's. */
  readonly name: string;
  /** What it holds; null when that last ref does not exist (a branch without commits). */
  readonly oid: string | null;
}

/** Refs in a chain, the last one counted; git's own limit. */
const MAX_CHAIN = 5;

/** "ref: " and a path, or 64 digits: nothing valid is longer. */
const MAX_LOOSE_BYTES = 4096;

const NULL_OID = /^0+$/;

/**
 * A ref, or null when there is none of this name. Symbolic refs are not followed. The name must be valid.
 *
 * @param packed packed-refs, where several lookups in a row can share one reading (packedRefsOnce)
 */
export function readRef(dirs: RefDirs, name: string, packed = packedRefsOnce(dirs)): RefValue | null {
  const loose = readLooseRef(dirs, name);
  if (loose !== null || isPerWorktree(name)) return loose;
  const bytes = packed();
  return bytes === null ? null : findPackedRef(bytes, name);
}

/**
 * Follows symbolic refs from `name` to an object id.
 *
 * @returns null when `name` itself does not exist
 * @throws CheckoutError 'unknown-revision' for a ref file that holds neither, or a chain that is too long
 */
export function resolveRef(dirs: RefDirs, name: string, packed = packedRefsOnce(dirs)): ResolvedRef | null {
  let current = name;
  for (let depth = 0; depth < MAX_CHAIN; depth++) {
    const value = readRef(dirs, current, packed);
    if (value === null) return depth === 0 ? null : { name: current, oid: null };
    if (value.kind === 'oid') return { name: current, oid: value.oid };
    current = value.target;
  }
  throw new CheckoutError('unknown-revision', `the ref '${displayName(name)}' leads through too many symbolic refs`);
}

/** Whether a ref of this name exists, symbolic or not. */
export function refExists(dirs: RefDirs, name: string): boolean {
  return readRef(dirs, name) !== null;
}

function readLooseRef(dirs: RefDirs, name: string): RefValue | null {
  const path = refPath(dirs, name);
  let text: string;
  try {
    const stat = lstatSync(path);
    if (stat.isSymbolicLink()) {
      // The oldest form of a symbolic ref. A link that leads elsewhere is a file kept at another place.
      const target = readlinkSync(path);
      if (target.startsWith('refs/') && isValidRefName(target)) return { kind: 'symbolic', target };
    } else if (!stat.isFile()) {
      return null; // a directory of refs; anything else (a pipe) would block
    }
    text = readStart(path);
  } catch (error) {
    const errno = errnoOf(error);
    // ENAMETOOLONG: no file has this name, and packed-refs may have the ref.
    if (errno === 'ENOENT' || errno === 'ENOTDIR' || errno === 'EISDIR' || errno === 'ENAMETOOLONG') return null;
    throw ioError('read ref', path, error);
  }
  return parseLooseRef(text, name);
}

/** At most MAX_LOOSE_BYTES of a file, one character a byte. */
function readStart(path: string): string {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.allocUnsafe(MAX_LOOSE_BYTES);
    let length = 0;
    while (length < bytes.length) {
      const count = readSync(file, bytes, length, bytes.length - length, null);
      if (count === 0) break;
      length += count;
    }
    return bytes.toString('utf8', 0, length);
  } finally {
    closeSync(file);
  }
}

/**
 * The content of a ref file: "ref: NAME" or an object id; after the id anything may follow a blank (FETCH_HEAD).
 *
 * @throws CheckoutError 'unknown-revision' for anything else
 */
export function parseLooseRef(text: string, name: string): RefValue {
  if (text.startsWith('ref:')) {
    const target = text.slice(4).trim();
    if (isValidRefName(target) && text.length < MAX_LOOSE_BYTES) return { kind: 'symbolic', target };
  } else {
    const oid = /^([0-9a-f]{40}(?:[0-9a-f]{24})?)(?=\s|$)/i.exec(text)?.[1]?.toLowerCase();
    if (oid !== undefined && !NULL_OID.test(oid)) return { kind: 'oid', oid };
  }
  throw new CheckoutError(
    'unknown-revision',
    `the ref '${displayName(name)}' is broken: its file holds neither an object id nor the name of a ref`,
    { option: displayName(name) },
  );
}

/**
 * The bytes of packed-refs, or null when there is none.
 * @throws CheckoutError unknown-revision when it is cut off, io
 */
export function readPackedRefs(dirs: RefDirs): Buffer | null {
  const path = join(dirs.commonDir, 'packed-refs');
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return null;
    throw ioError('read', path, error);
  }
  // What was cut off may be any ref; git refuses the whole file as well.
  if (bytes.length > 0 && bytes[bytes.length - 1] !== 10) {
    throw new CheckoutError('unknown-revision', `'${path}' is cut off in the middle of a line`, { path });
  }
  return bytes;
}

/**
 * packed-refs, read when first needed and then kept: a short name may mean any of six refs, and a big file takes longer to
 * read than to search. For one lookup after another, not across changes.
 */
export function packedRefsOnce(dirs: RefDirs): () => Buffer | null {
  let bytes: Buffer | null | undefined;
  return () => (bytes ??= readPackedRefs(dirs));
}

/**
 * Looks a ref up in packed-refs: lines "OID NAME", of which no two have the same name. One search for the bytes of the
 * line's end finds it, sorted or not, and makes no object a ref: in 1,000,000 refs (69 MB, read in 30 to 85 ms) it takes
 * 7 to 16 ms.
 */
export function findPackedRef(packed: Buffer, name: string): RefValue | null {
  const needle = Buffer.from(` ${name}\n`, 'utf8');
  for (let at = packed.indexOf(needle); at >= 0; at = packed.indexOf(needle, at + 1)) {
    const start = packed.lastIndexOf(10, at) + 1;
    const oid = packed.toString('latin1', start, Math.min(at, start + 65));
    if (at - start === oid.length && /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/i.test(oid) && !NULL_OID.test(oid)) {
      return { kind: 'oid', oid: oid.toLowerCase() };
    }
  }
  return null;
}

/**
 * A ref that cannot live beside `name`, since one's file would be the other's directory: 'refs/heads/a' against
 * 'refs/heads/a/b'. Null when there is none.
 */
export function conflictingPackedRef(packed: Buffer, name: string): string | null {
  const below = packed.indexOf(Buffer.from(` ${name}/`, 'utf8'));
  if (below >= 0) {
    const end = packed.indexOf(10, below);
    return packed.toString('utf8', below + 1, end < 0 ? packed.length : end);
  }
  for (let slash = name.lastIndexOf('/'); slash > 'refs/'.length; slash = name.lastIndexOf('/', slash - 1)) {
    const parent = name.slice(0, slash);
    if (findPackedRef(packed, parent) !== null) return parent;
  }
  return null;
}
