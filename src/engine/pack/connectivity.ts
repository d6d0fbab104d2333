/**
 * Whether a pack that was received is all that was asked for: every object that its commits, trees and tags name is in it, but for what was left
 * out on purpose. git checks the same after a fetch (git-rev-list(1), "--objects"). Without this a server that leaves out an
 * object would leave a repository that fails some day, far from here.
 */
import { bufferOver, type Bytes } from '../bytes.ts';
import { CheckoutError } from '../errors.ts';
import { commitParents, commitTree, tagTarget } from '../object/commit.ts';
import { MODE_GITLINK, MODE_TREE, TreeCursor } from '../object/tree.ts';
import { type ObjectFormat, oidFromHex, oidToHex } from '../oid.ts';
import { BLOB, COMMIT, TAG, TREE, typeName } from './entry.ts';
import type { PackFile } from './pack-file.ts';
import type { PackObjects } from './pack-objects.ts';
import { PackReader } from './pack-reader.ts';

export interface ConnectivityFacts {
  /** Numbers of the objects in the order of their ids, see sortByOid. */
  readonly order: Uint32Array;
  /** Hexadecimal ids that were asked for. */
  readonly wants: readonly string[];
  /** Hexadecimal ids of commits whose parents were left out. */
  readonly shallow: readonly string[];
  /** Blobs were left out. */
  readonly withoutBlobs: boolean;
  /** Content of the object that begins at an offset, where it is at hand. */
  readonly retained: (offset: number) => Bytes | undefined;
  /** What making one object may take. */
  readonly memoryBytes: number;
}

/**
 * Checks a pack whose objects all have their ids.
 * @throws CheckoutError object-missing with the first id that is missing; object-corrupt for a commit, tree or tag that is none; memory
 */
export function checkConnected(objects: PackObjects, file: PackFile, facts: ConnectivityFacts): void {
  const { count, offsets, kinds, oids, format } = objects;
  const { oidBytes } = format;
  const ids = new OidsInOrder(objects, facts.order);
  const need = (oid: Bytes, at: number, kind: number | null): void => {
    const number = ids.find(oid, at);
    if (number >= 0 && (kind === null || kinds[number] === kind)) return;
    if (number < 0 && kind === BLOB && facts.withoutBlobs) return;
    const hex = oidToHex(oid, at, oidBytes);
    if (number >= 0 && kind !== null) {
      const is = typeName(kinds[number] ?? 0);
      throw new CheckoutError(
        'object-corrupt',
        `object ${hex}, which the server sent, is a ${is} and is named as a ${typeName(kind)}`,
        { oid: hex },
      );
    }
    throw new CheckoutError('object-missing', `the server did not send object ${hex}, which what it sent needs`, {
      oid: hex,
    });
  };
  for (const hex of facts.wants) need(oidFromHex(hex), 0, null);
  const shallow = new Set(facts.shallow);
  const cutOff = (number: number): boolean =>
    shallow.size > 0 && shallow.has(oidToHex(oids, number * oidBytes, oidBytes));
  const reader = new PackReader([file], format, {
    findBase: (oid, at) => {
      const number = ids.find(oid, at);
      return number < 0 ? -1 : (offsets[number] ?? -1);
    },
  });
  try {
    for (let number = 0; number < count; number++) {
      const kind = kinds[number];
      if (kind !== COMMIT && kind !== TREE && kind !== TAG) continue;
      const offset = offsets[number] ?? 0;
      const content = facts.retained(offset) ?? readWhole(reader, offset, facts.memoryBytes);
      const corrupt = (): CheckoutError => {
        const oid = oidToHex(oids, number * oidBytes, oidBytes);
        return new CheckoutError('object-corrupt', `object ${oid}, which the server sent, is damaged`, { oid });
      };
      if (kind === TREE) {
        needTreeEntries(content, oidBytes, need, corrupt);
      } else if (kind === TAG) {
        need(tagTarget(content, format) ?? throwIt(corrupt()), 0, tagKind(content, format) ?? throwIt(corrupt()));
      } else {
        need(commitTree(content, format) ?? throwIt(corrupt()), 0, TREE);
        if (!cutOff(number)) for (const parent of commitParents(content, format)) need(parent, 0, COMMIT);
      }
      reader.finish();
      reader.dropRetained();
    }
  } finally {
    reader.close();
  }
}

/** The type that a tag says its object is of: its second line. */
function tagKind(content: Bytes, { oidBytes }: ObjectFormat): number | null {
  const at = 'object '.length + 2 * oidBytes + 1;
  const line = bufferOver(content, Math.min(at, content.length), Math.min(at + 20, content.length)).toString('latin1');
  return [COMMIT, TREE, BLOB, TAG].find((kind) => line.startsWith(`type ${typeName(kind)}\n`)) ?? null;
}

function throwIt(error: CheckoutError): never {
  throw error;
}

function needTreeEntries(
  content: Bytes,
  oidBytes: number,
  need: (oid: Bytes, at: number, kind: number) => void,
  corrupt: () => CheckoutError,
): void {
  const cursor = new TreeCursor(content, oidBytes);
  let found: number;
  while ((found = cursor.next()) === 1) {
    const { mode } = cursor;
    // A submodule's commit is in another repository.
    if (mode !== MODE_GITLINK) need(cursor.bytes, cursor.oidAt, mode === MODE_TREE ? TREE : BLOB);
  }
  if (found < 0) throw corrupt();
}

function readWhole(reader: PackReader, offset: number, memoryBytes: number): Bytes {
  reader.readAheadEnd = offset;
  reader.open(0, offset);
  const small = reader.readSmall();
  if (small !== null) return small;
  reader.measure();
  if (reader.readBytes > memoryBytes) {
    throw new CheckoutError('memory', `an object of the pack takes ${reader.readBytes} bytes to be read`);
  }
  return reader.read();
}

/** Finds ids by their first two bytes and a binary search, which nobody who chooses ids can make slow. */
class OidsInOrder {
  readonly #oids: Bytes;
  readonly #oidBytes: number;
  readonly #order: Uint32Array;
  /** Places in the order where the ids with these first two bytes begin. */
  readonly #starts = new Uint32Array(0x10001);

  constructor({ oids, count, format }: PackObjects, order: Uint32Array) {
    this.#oids = oids;
    this.#oidBytes = format.oidBytes;
    this.#order = order;
    for (let i = 0; i < count; i++) {
      const at = i * this.#oidBytes;
      const first = (((oids[at] ?? 0) << 8) | (oids[at + 1] ?? 0)) + 1;
      this.#starts[first] = (this.#starts[first] ?? 0) + 1;
    }
    for (let i = 1; i < this.#starts.length; i++) {
      this.#starts[i] = (this.#starts[i] ?? 0) + (this.#starts[i - 1] ?? 0);
    }
  }

  /** Number of the object, or -1. */
  find(oid: Bytes, at: number): number {
    const first = ((oid[at] ?? 0) << 8) | (oid[at + 1] ?? 0);
    let low = this.#starts[first] ?? 0;
    let high = this.#starts[first + 1] ?? 0;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const number = this.#order[middle] ?? 0;
      const order = this.#compare(oid, at, number);
      if (order === 0) return number;
      if (order < 0) high = middle;
      else low = middle + 1;
    }
    return -1;
  }

  #compare(oid: Bytes, at: number, number: number): number {
    const other = number * this.#oidBytes;
    for (let i = 0; i < this.#oidBytes; i++) {
      const difference = (oid[at + i] ?? 0) - (this.#oids[other + i] ?? 0);
      if (difference !== 0) return difference;
    }
    return 0;
  }
}
