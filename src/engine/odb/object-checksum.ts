/**
 * The id that an object's content has, to be held against the id under which it was found: git does this when it fetches, and
 * not when it checks out; `verify` asks for it.
 */
import { createHash, type Hash } from 'node:crypto';
import type { Bytes } from '../bytes.ts';
import { CheckoutError } from '../errors.ts';
import { oidToHex, type ObjectFormat } from '../oid.ts';
import { typeName } from '../pack/entry.ts';

export class ObjectChecksum {
  readonly #hash: Hash;
  readonly #oidBytes: number;

  /** @param size of the whole object: it is hashed before the content */
  constructor(format: ObjectFormat, type: number, size: number) {
    this.#oidBytes = format.oidBytes;
    this.#hash = createHash(format.name).update(`${typeName(type)} ${size}\0`);
  }

  update(piece: Bytes): this {
    this.#hash.update(piece);
    return this;
  }

  /**
   * To be called when all of the content was seen.
   * @throws CheckoutError object-corrupt when it has another id
   */
  check(oid: Bytes, oidAt: number): void {
    const actual = this.#hash.digest();
    for (let i = 0; i < this.#oidBytes; i++) {
      if (actual[i] === oid[oidAt + i]) continue;
      const hex = oidToHex(oid, oidAt, this.#oidBytes);
      const message = `object ${hex} is corrupt: its content has the id ${actual.toString('hex')}`;
      throw new CheckoutError('object-corrupt', message, { oid: hex });
    }
  }
}
