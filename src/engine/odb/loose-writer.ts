/**
 * Makes a directory of loose objects for a command that is to see these alone. Not for the repository's own objects: nothing is
 * synced or renamed into place.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { errnoOf, ioError } from '../errors.ts';
import type { ObjectFormat } from '../oid.ts';

/**
 * Writes an object into `directory`, unless it is there.
 * @returns its id in hexadecimal
 * @throws CheckoutError io
 */
export function writeLooseObject(
  directory: string,
  format: ObjectFormat,
  type: 'blob' | 'tree' | 'commit',
  content: Uint8Array,
): string {
  const header = Buffer.from(`${type} ${content.length}\0`);
  const oid = createHash(format.name).update(header).update(content).digest('hex');
  const fan = join(directory, oid.slice(0, 2));
  const path = join(fan, oid.slice(2));
  try {
    mkdirSync(fan, { recursive: true });
    writeFileSync(path, deflateSync(Buffer.concat([header, content]), { level: 1 }), { flag: 'wx' });
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw ioError('write', path, error);
  }
  return oid;
}

/** A file of a tree that is to be made. */
export interface TreeFile {
  /** With slashes. */
  readonly path: Uint8Array;
  readonly content: Uint8Array;
}

interface OpenDirectory {
  /** Without the slash; empty for the root. */
  readonly name: Buffer;
  readonly entries: Buffer[];
}

/**
 * Writes a commit of these files, which come in the order of an index: a tree has the same.
 * @returns the commit's id in hexadecimal
 * @throws CheckoutError io
 */
export function writeLooseCommit(directory: string, format: ObjectFormat, files: Iterable<TreeFile>): string {
  const root: OpenDirectory = { name: Buffer.alloc(0), entries: [] };
  const open: OpenDirectory[] = [root];
  const top = (): OpenDirectory => open.at(-1) ?? root;
  const entry = (mode: string, name: Buffer, oid: string): Buffer =>
    Buffer.concat([Buffer.from(`${mode} `), name, Buffer.from([0]), Buffer.from(oid, 'hex')]);
  const close = (): void => {
    const closed = open.pop() ?? root;
    const oid = writeLooseObject(directory, format, 'tree', Buffer.concat(closed.entries));
    top().entries.push(entry('40000', closed.name, oid));
  };
  for (const { path, content } of files) {
    const parts = split(path);
    const name = parts.pop() ?? Buffer.alloc(0);
    let common = 0;
    while (common < parts.length && open[common + 1]?.name.equals(parts[common] ?? root.name) === true) common++;
    while (open.length > common + 1) close();
    for (const part of parts.slice(common)) open.push({ name: part, entries: [] });
    top().entries.push(entry('100644', name, writeLooseObject(directory, format, 'blob', content)));
  }
  while (open.length > 1) close();
  const tree = writeLooseObject(directory, format, 'tree', Buffer.concat(root.entries));
  const who = 'nobody <nobody@localhost> 0 +0000';
  return writeLooseObject(
    directory,
    format,
    'commit',
    Buffer.from(`tree ${tree}\nauthor ${who}\ncommitter ${who}\n\n`),
  );
}

function split(path: Uint8Array): Buffer[] {
  const bytes = Buffer.from(path);
  const parts: Buffer[] = [];
  let start = 0;
  for (let slash = bytes.indexOf('/'); slash >= 0; slash = bytes.indexOf('/', start)) {
    parts.push(bytes.subarray(start, slash));
    start = slash + 1;
  }
  parts.push(bytes.subarray(start));
  return parts;
}
