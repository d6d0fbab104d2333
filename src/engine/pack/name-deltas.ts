/**
 * Finds out the ids of a stored pack's deltas that nobody has yet: of large ones, and of those whose base is named by its id. Without its
 * index, which is made of these ids.
 */
import { createHash } from 'node:crypto';
import { bufferOver, type Bytes } from '../bytes.ts';
import { CheckoutError } from '../errors.ts';
import { REF_DELTA, typeName } from './entry.ts';
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
  let open: number[] = [];
  for (let i = 0; i < count; i++) if (named[i] !== 1) open.push(i);
  if (open.length === 0) return;
  const { oidBytes } = format;
  let places: Map<string, number> | null = null;
  const keyAt = (bytes: Bytes, at: number): string => bufferOver(bytes, at, at + oidBytes).toString('latin1');
  if (types.includes(REF_DELTA)) {
    places = new Map();
    for (let i = 0; i < count; i++) if (named[i] === 1) places.set(keyAt(oids, i * oidBytes), offsets[i] ?? 0);
  }
  const reader = new PackReader([file], format, { findBase: (oid, at) => places?.get(keyAt(oid, at)) ?? -1 });
  try {
    // A base may itself be one that has no id yet, so again and again, as long as that gets on.
    while (open.length > 0) {
      const left: number[] = [];
      let failure: unknown = null;
      for (const number of open) {
        try {
          const content = readObject(reader, offsets[number] ?? 0, memoryBytes);
          const id = createHash(format.name)
            .update(`${typeName(reader.type)} ${content.length}\0`)
            .update(content)
            .digest();
          oids.set(id, number * oidBytes);
          objects.kinds[number] = reader.type;
          named[number] = 1;
          places?.set(keyAt(oids, number * oidBytes), offsets[number] ?? 0);
        } catch (error) {
          if (!(error instanceof CheckoutError) || error.code !== 'object-corrupt' || places === null) throw error;
          failure = error;
          left.push(number);
        } finally {
          reader.finish();
          reader.dropRetained();
        }
      }
      if (left.length === open.length) throw failure;
      open = left;
    }
  } finally {
    reader.close();
  }
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
