import { crc32, deflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { SHA1 } from '../../../src/engine/oid.ts';
import { MOST_OBJECTS, type PackObjects } from '../../../src/engine/pack/pack-objects.ts';
import { PackStream, type EntrySink } from '../../../src/engine/pack/pack-stream.ts';
import {
  BLOB,
  COMMIT,
  deltaSize,
  entryHeader,
  OFS_DELTA,
  offsetBytes,
  plainEntry,
  REF_DELTA,
} from '../../support/pack-writer.ts';
import { randomBytes } from '../../support/random.ts';
import { rawPack } from '../../support/received-pack.ts';

/** Notes what comes; entries up to `held` bytes get a target, the others come by piece. */
class Notes implements EntrySink {
  readonly entries: { type: number; content: string }[] = [];
  objects: PackObjects | null = null;
  readonly #held: number;
  #target: Uint8Array | null = null;
  #pieces: Buffer[] = [];

  constructor(held: number) {
    this.#held = held;
  }

  begin(objects: PackObjects): void {
    this.objects = objects;
  }

  entry(_number: number, _type: number, size: number): { bytes: Uint8Array; at: number } | null {
    this.#pieces = [];
    this.#target = size <= this.#held ? new Uint8Array(size + 6) : null;
    return this.#target === null ? null : { bytes: this.#target, at: 5 };
  }

  piece(bytes: Uint8Array): void {
    this.#pieces.push(Buffer.from(bytes));
  }

  end(number: number, type: number, size: number): void {
    const content =
      this.#target === null ? Buffer.concat(this.#pieces) : Buffer.from(this.#target.subarray(5, 5 + size));
    expect(content).toHaveLength(size);
    expect(this.entries).toHaveLength(number);
    this.entries.push({ type, content: content.toString('latin1') });
  }
}

function take(pieces: readonly Uint8Array[], held = 1000): { notes: Notes; covered: number; stream: PackStream } {
  const notes = new Notes(held);
  const stream = new PackStream(SHA1, notes);
  let covered = 0;
  try {
    for (const piece of pieces) covered += stream.push(piece);
  } finally {
    stream.close();
  }
  return { notes, covered, stream };
}

const text = 'some text, '.repeat(20);
const first = plainEntry(BLOB, Buffer.from(text));
const delta = Buffer.concat([deltaSize(text.length), deltaSize(3), Buffer.from([3, 1, 2, 3])]);
const entries = [
  first,
  plainEntry(COMMIT, Buffer.from('tree')),
  Buffer.concat([
    entryHeader(OFS_DELTA, delta.length),
    offsetBytes(first.length + plainEntry(COMMIT, Buffer.from('tree')).length),
    deflateSync(delta),
  ]),
  Buffer.concat([entryHeader(REF_DELTA, delta.length), Buffer.alloc(20, 7), deflateSync(delta)]),
  plainEntry(BLOB, Buffer.alloc(0)),
  // Stored, not compressed: its end is not where its output ends.
  Buffer.concat([entryHeader(BLOB, 40), deflateSync(randomBytes(1, 40), { level: 0 })]),
];
const pack = rawPack(entries);
const expected = [
  { type: BLOB, content: text },
  { type: COMMIT, content: 'tree' },
  { type: OFS_DELTA, content: delta.toString('latin1') },
  { type: REF_DELTA, content: delta.toString('latin1') },
  { type: BLOB, content: '' },
  { type: BLOB, content: randomBytes(1, 40).toString('latin1') },
];
const offsets = entries.reduce<number[]>((all, entry) => [...all, (all.at(-1) ?? 0) + entry.length], [12]);

describe('PackStream', () => {
  it.each([1000, 100, -1])('finds the same entries wherever the pack is cut (held up to %i bytes)', (held) => {
    const pieces = Array.from({ length: pack.length + 1 }, (_, at) => [pack.subarray(0, at), pack.subarray(at)]);
    for (const each of [...pieces, [...pack].map((byte) => Buffer.from([byte]))]) {
      const { notes, covered, stream } = take(each, held);
      expect(notes.entries).toEqual(expected);
      expect(covered).toBe(pack.length - 20);
      expect(stream.position).toBe(pack.length - 20);
      expect(Buffer.from(stream.trailer)).toEqual(pack.subarray(pack.length - 20));
      expect(Array.from(notes.objects?.offsets ?? [])).toEqual(offsets);
      expect(Array.from(notes.objects?.crcs ?? [])).toEqual(entries.map((entry) => crc32(entry)));
      expect(notes.objects?.bases[2]).toBe(12);
      expect(Array.from(notes.objects?.kinds ?? [])).toEqual([BLOB, COMMIT, 0, 0, BLOB, BLOB]);
    }
  });

  it('has no checksum before the last byte', () => {
    for (let end = 0; end < pack.length; end++) expect(take([pack.subarray(0, end)]).stream.trailer).toHaveLength(0);
  });

  it('takes a pack of nothing', () => {
    const { notes, covered, stream } = take([rawPack([])]);
    expect([notes.objects?.count, covered, stream.trailer.length]).toEqual([0, 12, 20]);
  });

  it('gives away pieces of a large entry, and the last of a size that ends with one', () => {
    for (const size of [128 << 10, (128 << 10) - 1, (128 << 10) + 1, 400_000]) {
      const content = randomBytes(size, size);
      const { notes } = take([rawPack([plainEntry(BLOB, content), plainEntry(BLOB, Buffer.from('x'))])], 10);
      expect(notes.entries.map((entry) => entry.content.length)).toEqual([size, 1]);
      expect(notes.entries[0]?.content === content.toString('latin1')).toBe(true);
    }
  });

  const compressed = deflateSync(Buffer.from('content'));
  it.each([
    ['another file', Buffer.from('RIFF00000000'), /does not begin with PACK/],
    ['another version', Buffer.from('PACK\0\0\0\x04\0\0\0\0', 'latin1'), /has version 4/],
    ['bytes behind the checksum', Buffer.concat([pack, Buffer.from([0])]), /bytes behind its checksum/],
    ['a type that is none', rawPack([Buffer.concat([Buffer.from([0x50]), Buffer.alloc(50)])]), /invalid header/],
    ['a size without end', rawPack([Buffer.alloc(60, 0xff)]), /invalid header/],
    [
      'more than its header says',
      rawPack([Buffer.concat([entryHeader(BLOB, 6), compressed])]),
      /longer than its header/,
    ],
    [
      'less than its header says',
      rawPack([Buffer.concat([entryHeader(BLOB, 8), compressed])]),
      /shorter than its header/,
    ],
    [
      'what does not inflate',
      rawPack([Buffer.concat([entryHeader(BLOB, 8), Buffer.alloc(60, 0x55)])]),
      /does not inflate/,
    ],
    [
      'a base before the pack',
      rawPack([Buffer.concat([entryHeader(OFS_DELTA, 8), offsetBytes(1), compressed])]),
      /outside of the pack/,
    ],
    [
      'itself as its base',
      rawPack([Buffer.concat([entryHeader(OFS_DELTA, 8), offsetBytes(0), compressed])]),
      /outside of the pack/,
    ],
  ])('refuses %s', (_, bytes, message) => {
    const found = expect.objectContaining({
      code: 'object-corrupt',
      message: expect.stringMatching(message) as string,
    }) as Error;
    expect(() => take([bytes])).toThrow(found);
    expect(() => take([bytes], -1)).toThrow(found);
    expect(() => take([...bytes].map((byte) => Buffer.from([byte])))).toThrow(found);
  });

  it('refuses more objects than it can list before it allocates', () => {
    expect(() => take([rawPack([], SHA1, MOST_OBJECTS + 1)])).toThrow(
      expect.objectContaining({ code: 'unsupported' }) as Error,
    );
  });
});
