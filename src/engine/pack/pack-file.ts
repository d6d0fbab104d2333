/**
 * A .pack file: its bounds and, while it is kept open, its descriptor, which threads share. Plain data, so that workers can be
 * handed it.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { CheckoutError, ioError } from '../errors.ts';
import type { PackIndex } from './pack-index.ts';

/** Signature, version, count. */
export const PACK_HEADER_BYTES = 12;
const SIGNATURE = 0x5041434b; // "PACK"
/** Places are sorted, and bases are kept, by offsets of 40 bits: 1 TiB. */
const MOST_BYTES = 2 ** 40;

export interface PackFile {
  readonly path: string;
  readonly indexPath: string;
  /** Open for all threads; -1 where each thread opens the file for itself (FilePool). */
  readonly fd: number;
  /** Where the entries end and the checksum begins. */
  readonly end: number;
  /** Of the whole file. */
  readonly size: number;
}

/**
 * Opens a pack and checks it against its index: signature, version, number of objects, checksum (compared, not
 * computed: git does the same).
 * @throws CheckoutError object-corrupt, io
 */
export function openPack(path: string, indexPath: string, index: PackIndex): PackFile {
  const { oidBytes } = index;
  const corrupt = (how: string): CheckoutError =>
    new CheckoutError('object-corrupt', `pack '${path}' ${how}`, { path });
  let fd: number;
  try {
    fd = openSync(path, 'r');
  } catch (error) {
    throw ioError('open', path, error);
  }
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) throw corrupt('is not a regular file');
    const size = stat.size;
    if (size > MOST_BYTES) throw new CheckoutError('unsupported', 'a pack is larger than 1 TiB', { path });
    if (size < PACK_HEADER_BYTES + oidBytes) throw corrupt('is too small');
    const head = Buffer.alloc(PACK_HEADER_BYTES);
    readSync(fd, head, 0, PACK_HEADER_BYTES, 0);
    if (head.readUInt32BE(0) !== SIGNATURE) throw corrupt('does not begin with PACK');
    const version = head.readUInt32BE(4);
    if (version !== 2 && version !== 3) throw corrupt(`has version ${version}`);
    if (head.readUInt32BE(8) !== index.count) throw corrupt('and its index disagree about the number of objects');
    const trailer = Buffer.alloc(oidBytes);
    readSync(fd, trailer, 0, oidBytes, size - oidBytes);
    if (!trailer.equals(index.packChecksum())) throw corrupt('and its index disagree about its checksum');
    return { path, indexPath, fd, end: size - oidBytes, size };
  } catch (error) {
    closeSync(fd);
    throw ioError('read', path, error);
  }
}
