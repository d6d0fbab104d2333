/**
 * Deltas in a form that tests can write and read: a list of copies and literals, their bytes, and what they must make.
 */
import { deltaSize } from '../../support/pack-writer.ts';

/** A copy from the base, or a literal. */
export type Instruction = { readonly offset: number; readonly size: number } | Uint8Array;

export function insert(bytes: Uint8Array): Buffer {
  return Buffer.from([bytes.length, ...bytes]);
}

export function copy(offset: number, size: number): Buffer {
  let code = 0x80;
  const bytes: number[] = [];
  for (let i = 0; i < 4; i++) {
    const byte = Math.floor(offset / 256 ** i) % 256;
    if (byte === 0) continue;
    code |= 1 << i;
    bytes.push(byte);
  }
  for (let i = 0; i < 3 && size !== 0x10000; i++) {
    const byte = (size >> (8 * i)) & 0xff;
    if (byte === 0) continue;
    code |= 0x10 << i;
    bytes.push(byte);
  }
  return Buffer.from([code, ...bytes]);
}

/** The instructions' bytes, without the sizes before them. */
export function deltaOf(list: readonly Instruction[]): Buffer {
  return Buffer.concat(list.map((each) => (each instanceof Uint8Array ? insert(each) : copy(each.offset, each.size))));
}

/** What they make of a base. */
export function run(base: Uint8Array, list: readonly Instruction[]): Buffer {
  return Buffer.concat(
    list.map((each) => (each instanceof Uint8Array ? each : base.subarray(each.offset, each.offset + each.size))),
  );
}

/** A whole delta. */
export function wholeDelta(base: Uint8Array, list: readonly Instruction[]): Buffer {
  return Buffer.concat([deltaSize(base.length), deltaSize(run(base, list).length), deltaOf(list)]);
}
