/**
 * From the object that a revision names to the tree that is checked out: tags are followed to a commit.
 */
import { CheckoutError } from '../errors.ts';
import { commitTree, tagTarget } from '../object/commit.ts';
import type { ObjectDatabase } from '../odb/object-database.ts';
import { isHexOid, oidFromHex, oidToHex } from '../oid.ts';
import { COMMIT, TAG, typeName } from '../pack/entry.ts';

/** Tags of tags are rare and short; a loop of them cannot be made without breaking the hash. */
const MOST_TAGS = 64;

/**
 * Follows tags from an object to a commit, and gives that commit's id and its tree's.
 * @throws CheckoutError unknown-revision when it leads to no commit, object-missing, object-corrupt
 */
export function peelToTree(odb: ObjectDatabase, hex: string): { commit: string; tree: Uint8Array } {
  const { format } = odb;
  if (!isHexOid(hex, format)) {
    throw new CheckoutError('unknown-revision', `'${hex}' is no object id of ${format.name}`, { oid: hex });
  }
  let oid = oidFromHex(hex);
  for (let depth = 0; depth < MOST_TAGS; depth++) {
    const bytes = odb.read(oid);
    const { type } = odb.reader;
    if (type === COMMIT) {
      const tree = commitTree(bytes, format);
      if (tree === null) break;
      return { commit: oidToHex(oid, 0, oid.length), tree: new Uint8Array(tree) };
    }
    const next = type === TAG ? tagTarget(bytes, format) : null;
    if (next === null) {
      throw new CheckoutError('unknown-revision', `object ${hex} is a ${typeName(type)}, not a commit`, { oid: hex });
    }
    oid = next;
  }
  throw new CheckoutError('object-corrupt', `object ${hex} does not lead to a tree`, { oid: hex });
}
