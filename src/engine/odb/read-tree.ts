/** Reads a tree object whole. */
import type { Bytes } from '../bytes.ts';
import { CheckoutError } from '../errors.ts';
import { oidToHex } from '../oid.ts';
import { TREE, typeName } from '../pack/entry.ts';
import type { ObjectDatabase } from './object-database.ts';

/**
 * The bytes of the tree whose id is at `oidAt`, a copy.
 * @throws CheckoutError object-missing, object-corrupt, tree-invalid when it is no tree; the error names the object
 */
export function readTree(odb: ObjectDatabase, oids: Bytes, oidAt: number): Bytes {
  const content = odb.read(oids, oidAt);
  if (odb.reader.type !== TREE) {
    const hex = oidToHex(oids, oidAt, odb.format.oidBytes);
    throw new CheckoutError('tree-invalid', `object ${hex} is a ${typeName(odb.reader.type)}, not a tree`, {
      oid: hex,
    });
  }
  const bytes = new Uint8Array(content);
  odb.reader.finish();
  return bytes;
}
