/**
 * Just enough of git's index format, written apart from the engine's reader, to change stat data of an entry and to see
 * which version and extensions a file has.
 */
import { createHash } from 'node:crypto';
import type { StatField } from './model.ts';

export interface IndexFacts {
  readonly version: number;
  readonly extensions: ReadonlyMap<string, Buffer>;
}

interface Place {
  readonly path: string;
  readonly at: number;
}

function walk(bytes: Buffer, hashSize: number): { version: number; entries: Place[]; end: number } {
  const version = bytes.readUInt32BE(4);
  const entries: Place[] = [];
  let at = 12;
  let previous = Buffer.alloc(0);
  for (let left = bytes.readUInt32BE(8); left > 0; left--) {
    const start = at;
    const flags = bytes.readUInt16BE(start + 40 + hashSize);
    at = start + 42 + hashSize + ((flags & 0x4000) === 0 ? 0 : 2);
    if (version === 4) {
      let drop = bytes[at]! & 127;
      while ((bytes[at++]! & 128) !== 0) drop = (drop + 1) * 128 + (bytes[at]! & 127);
      const end = bytes.indexOf(0, at);
      previous = Buffer.concat([previous.subarray(0, previous.length - drop), bytes.subarray(at, end)]);
      at = end + 1;
    } else {
      const end = bytes.indexOf(0, at);
      previous = Buffer.from(bytes.subarray(at, end));
      at = start + Math.ceil((end - start + 1) / 8) * 8;
    }
    entries.push({ path: previous.toString('latin1'), at: start });
  }
  return { version, entries, end: at };
}

export function indexFacts(bytes: Buffer, hashSize: number): IndexFacts {
  const { version, end } = walk(bytes, hashSize);
  const extensions = new Map<string, Buffer>();
  for (let at = end; at + 8 <= bytes.length - hashSize;) {
    const size = bytes.readUInt32BE(at + 4);
    extensions.set(bytes.toString('latin1', at, at + 4), bytes.subarray(at + 8, at + 8 + size));
    at += 8 + size;
  }
  return { version, extensions };
}

/**
 * What a cache tree (the extension TREE) says: a line for each directory whose tree is known, with its entries and its id. git may
 * leave in it a directory that is gone, marked as not known, which says no more than its absence.
 */
export function knownTreesText(bytes: Buffer, hashSize: number): string {
  const lines: string[] = [];
  let at = 0;
  const read = (parent: string): void => {
    const name = bytes.toString('latin1', at, bytes.indexOf(0, at));
    at = bytes.indexOf(0, at) + 1;
    const end = bytes.indexOf(0x0a, at);
    const [count = 0, below = 0] = bytes.toString('latin1', at, end).split(' ').map(Number);
    at = end + 1;
    const path = `${parent}${name}/`;
    if (count >= 0) {
      lines.push(`${path} ${count} ${bytes.toString('hex', at, at + hashSize)}`);
      at += hashSize;
    }
    for (let i = 0; i < below; i++) read(path);
  };
  read('');
  return lines.join('\n');
}

const PLACES: Readonly<Record<StatField, number>> = {
  ctime: 0,
  mtime: 8,
  dev: 16,
  ino: 20,
  uid: 28,
  gid: 32,
  size: 36,
};

/** The index with a field of a path's entry one higher; null where it has no such entry. */
export function withOtherStat(bytes: Buffer, hashSize: number, path: string, field: StatField): Buffer | null {
  const entry = walk(bytes, hashSize).entries.find((each) => each.path === path);
  if (entry === undefined) return null;
  const changed = Buffer.from(bytes);
  const at = entry.at + PLACES[field];
  changed.writeUInt32BE((changed.readUInt32BE(at) + 1) % 2 ** 32, at);
  const body = changed.subarray(0, -hashSize);
  createHash(hashSize === 20 ? 'sha1' : 'sha256')
    .update(body)
    .digest()
    .copy(changed, body.length);
  return changed;
}
