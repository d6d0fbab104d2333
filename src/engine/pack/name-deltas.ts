/**
 * Finds out the ids of a stored pack's deltas that nobody has yet: of large ones, and of those whose base is named by its id. Without its
 * index, which is made of these ids.
 */
import { createHash } from 'node:crypto';
import { bufferOver, type Bytes } from '../bytes.ts';
import { CheckoutError } from '../errors.ts';
import { REF_DELTA, typeName } from './entry.ts';
import { OidNumbers } from './oid-numbers.ts';
import type { PackFile } from './pack-file.ts';
import type { PackObjects } from './pack-objects.ts';
import { PackReader } from './pack-reader.ts';

/**
 * Names all objects that have no id yet.
 * @param memoryBytes what making one object may take beside the reader's own buffers
 * @throws CheckoutError object-corrupt for a delta without its base, memory, io
 */
export function nameDeltas(objects: PackObjects, file: PackFile, memoryBytes: number): void {
  const { count, named, offsets, types, oids, format } = objects;
  if (!isAnyOpen(objects)) return;
  const numbers = types.includes(REF_DELTA) ? new OidNumbers(objects) : null;
  numbers?.addNamed();
  const lacking = { oid: '' };
  const reader = new PackReader([file], format, {
    findBase: (oid, at) => {
      const number = numbers?.find(oid, at) ?? -1;
      if (number < 0) lacking.oid = keyAt(oid, at, format.oidBytes);
      return number < 0 ? -1 : (offsets[number] ?? 0);
    },
  });
  /** By id of a base that has none yet, those that wait for it: each is looked at once more when it has, so that a long row takes no longer. */
  const waiting = new Map<string, number[]>();
  let failure: unknown = null;
  try {
    for (let first = 0; first < count; first++) {
      if (named[first] === 1) continue;
      const open = [first];
      for (let number = open.pop(); number !== undefined; number = open.pop()) {
        lacking.oid = '';
        try {
          nameObject(reader, objects, number, memoryBytes);
        } catch (error) {
          if (lacking.oid === '') throw error;
          failure = error;
          const others = waiting.get(lacking.oid);
          if (others === undefined) waiting.set(lacking.oid, [number]);
          else others.push(number);
          continue;
        } finally {
          reader.finish();
          reader.dropRetained();
        }
        if (numbers === null) continue;
        numbers.add(number);
        const key = keyAt(oids, number * format.oidBytes, format.oidBytes);
        for (const other of waiting.get(key) ?? []) open.push(other);
        waiting.delete(key);
      }
    }
    if (waiting.size > 0) throw failure;
  } finally {
    reader.close();
  }
}

function isAnyOpen({ count, named }: PackObjects): boolean {
  for (let i = 0; i < count; i++) if (named[i] !== 1) return true;
  return false;
}

/** An id as a key: bytes one to one. */
function keyAt(bytes: Bytes, at: number, oidBytes: number): string {
  return bufferOver(bytes, at, at + oidBytes).toString('latin1');
}

function nameObject(reader: PackReader, objects: PackObjects, number: number, memoryBytes: number): void {
  const { oids, named, kinds, offsets, format } = objects;
  const content = readObject(reader, offsets[number] ?? 0, memoryBytes);
  const id = createHash(format.name)
    .update(`${typeName(reader.type)} ${content.length}\0`)
    .update(content)
    .digest();
  oids.set(id, number * format.oidBytes);
  kinds[number] = reader.type;
  named[number] = 1;
}

function readObject(reader: PackReader, offset: number, memoryBytes: number): Bytes {
  reader.readAheadEnd = offset;
  reader.open(0, offset);
  const small = reader.readSmall();
  if (small !== null) return small;
  reader.measure();
  if (reader.readBytes > memoryBytes) {
    throw new CheckoutError(
      'memory',
      `an object of the pack takes ${reader.readBytes} bytes to be read, more than the memory limit`,
    );
  }
  return reader.read();
}
