import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { Budget } from '../../../src/engine/checkout/budget.ts';
import { DEFERRED, STOP } from '../../../src/engine/checkout/control.ts';
import { EntryWriter } from '../../../src/engine/checkout/entry-writer.ts';
import type { DeferredList, Job } from '../../../src/engine/checkout/messages.ts';
import { State } from '../../../src/engine/checkout/tables.ts';
import type { ErrorJson } from '../../../src/engine/errors.ts';
import { MODE_EXECUTABLE } from '../../../src/engine/object/tree.ts';
import { LOOSE } from '../../../src/engine/odb/object-database.ts';
import { SCRATCH_BYTES } from '../../../src/engine/pack/pack-reader.ts';
import { entryHeader, TREE } from '../../support/pack-writer.ts';
import { randomBytes, randomText } from '../../support/random.ts';
import { temporaryFolder } from '../../support/temporary.ts';
import { BLOB, MadePack, plainEntry } from '../pack/made-pack.ts';
import { jobOf, type EntrySpec } from './made-job.ts';

const folder = temporaryFolder('entry-writer');
const MEBIBYTE = 2 ** 20;
const LARGE = SCRATCH_BYTES + 10_000;

// Objects: small and large, as they are and as deltas, sound and damaged.
const made = new MadePack();
const text = Buffer.from(`first line\nsecond\n${randomText(1, LARGE)}\n`);
const changed = Buffer.from('changed\n');
const small = made.plain(Buffer.from('small\ncontent\n'));
const large = made.plain(text, 1);
const deltas = [0, 1, 2].map((i) =>
  made.delta(large, [changed.subarray(0, 3 + i), { offset: 0, size: text.length - i }, changed]),
);
const otherBase = made.plain(randomBytes(9, 2 * LARGE), 0);
const otherDelta = made.delta(otherBase, [{ offset: 5, size: 2 * LARGE - 5 }]);
const smallOnLarge = made.delta(large, [{ offset: 0, size: 18 }]);
const tree = made.raw(plainEntry(TREE, Buffer.from('x')), Buffer.from('x'));
const damagedSmall = made.raw(plainEntry(BLOB, Buffer.from('damaged'), 9), Buffer.alloc(0));
const wrongEnd = plainEntry(BLOB, text);
wrongEnd[wrongEnd.length - 1] = wrongEnd[wrongEnd.length - 1]! ^ 1;
const damagedLarge = made.raw(wrongEnd, Buffer.alloc(0));
const ident = made.plain(Buffer.from(`$Id$\n${text.toString()}`), 1);
const claims = made.raw(
  Buffer.concat([entryHeader(BLOB, 600 * MEBIBYTE), deflateSync(Buffer.alloc(100))]),
  Buffer.alloc(0),
);
made.plain(randomBytes(4, 700_000), 0);
const opened = made.write(folder);
afterAll(() => {
  opened.close();
});

let cases = 0;
interface Setting {
  readonly job: Job;
  readonly writer: EntryWriter;
  readonly failures: Map<number, ErrorJson>;
  readonly at: (name: string) => string;
  readonly deferred: DeferredList;
  /** Writes all entries and gives their states. */
  readonly all: (deferred?: DeferredList | null) => number[];
}

const spec = (entry: number, more: Partial<EntrySpec> = {}): EntrySpec => ({
  path: `f${entry}`,
  offset: made.offset(entry),
  oid: made.entries[entry]!.oid,
  ...more,
});

function set(
  entries: readonly EntrySpec[],
  budgetBytes = 64 * MEBIBYTE,
  objectDirectories: string[] = [],
  verify = false,
): Setting {
  const workTree = join(folder, `work-${cases++}`);
  const job = jobOf(entries, { workTree, packs: [opened.file], budgetBytes, objectDirectories, verify });
  const failures = new Map<number, ErrorJson>();
  const writer = new EntryWriter(
    job,
    1,
    (entry, error) => failures.set(entry, error),
    () => undefined,
  );
  return {
    job,
    writer,
    failures,
    at: (name) => join(workTree, name),
    deferred: {
      entries: new Uint32Array(new SharedArrayBuffer(40)),
      bases: new Float64Array(new SharedArrayBuffer(80)),
      baseSizes: new Float64Array(new SharedArrayBuffer(80)),
    },
    all: (deferred = null) => {
      entries.forEach((_, i) => {
        writer.write(i, deferred);
        // What cannot be read may be elsewhere; the main thread looks.
        if (job.tables.states[i] === State.UNREAD) failures.set(i, writer.unread!.toJSON());
      });
      return [...job.tables.states.subarray(0, entries.length)];
    },
  };
}
const idle = (job: Job): boolean => new Budget(job.budget, 0).idle;
const crlf = (content: Buffer): Buffer => Buffer.from(content.toString('latin1').replaceAll('\n', '\r\n'), 'latin1');

describe('files', () => {
  it('small and large, as they are and converted, from a pack', () => {
    const { job, writer, failures, all, at } = set([
      spec(small),
      spec(large),
      spec(deltas[0]!),
      spec(otherDelta, { mode: MODE_EXECUTABLE }),
      spec(small, { path: 'auto', conversion: 1 }),
      spec(large, { path: 'large-auto', conversion: 1 }),
      spec(deltas[0]!, { path: 'delta-auto', conversion: 1 }),
      spec(large, { path: 'large-text', conversion: 2 }),
      spec(deltas[0]!, { path: 'delta-text', conversion: 2 }),
      spec(ident, { path: 'ident', conversion: 3 }),
      spec(smallOnLarge, { path: 'small-on-large', conversion: 1 }),
    ]);
    expect(all()).toEqual(Array(11).fill(State.WRITTEN));
    expect([...failures]).toEqual([]);
    const delta = made.contents[deltas[0]!]!;
    const expected: Record<string, Buffer> = {
      [`f${small}`]: made.contents[small]!,
      [`f${large}`]: text,
      [`f${deltas[0]!}`]: delta,
      [`f${otherDelta}`]: made.contents[otherDelta]!,
      auto: crlf(made.contents[small]!),
      'large-auto': crlf(text),
      'delta-auto': crlf(delta),
      'large-text': crlf(text),
      'delta-text': crlf(delta),
      ident: Buffer.from(`$Id: ${made.entries[ident]!.oid} $\n${text.toString()}`),
      'small-on-large': crlf(made.contents[smallOnLarge]!),
    };
    let bytes = 0;
    for (const [name, content] of Object.entries(expected)) {
      expect(Buffer.compare(readFileSync(at(name)), content), name).toBe(0);
      bytes += content.length;
    }
    expect([writer.files, writer.bytesWritten]).toEqual([11, bytes]);
    expect([...job.counters.subarray(0, 4)]).toEqual([0, 0, 11, bytes]);
    for (let i = 0; i < 11; i++) expect(job.tables.stats[10 * i + 9]).toBeGreaterThan(0);
    writer.close();
    expect(idle(job)).toBe(true);
  });

  it('loose, found in any of the directories', () => {
    const objects = join(folder, 'loose');
    const [one, two] = ['1f'.repeat(20), '2f'.repeat(20)];
    for (const [oid, content] of [
      [one, Buffer.from('loose')],
      [two, text],
    ] as const) {
      mkdirSync(join(objects, oid.slice(0, 2)), { recursive: true });
      writeFileSync(
        join(objects, oid.slice(0, 2), oid.slice(2)),
        deflateSync(Buffer.concat([Buffer.from(`blob ${content.length}\0`), content])),
      );
    }
    const { job, writer, failures, all, at } = set(
      [
        { path: 'one', pack: LOOSE, oid: one },
        { path: 'two', pack: LOOSE, oid: two },
        { path: 'two-auto', pack: LOOSE, oid: two, conversion: 1 },
        { path: 'absent', pack: LOOSE, oid: '3f'.repeat(20) },
      ],
      4 * MEBIBYTE,
      [join(folder, 'nowhere'), objects],
    );
    expect(all()).toEqual([State.WRITTEN, State.WRITTEN, State.WRITTEN, State.UNREAD]);
    expect(job.tables.offsets[3], 'no directory is left to look in').toBe(2);
    expect(readFileSync(at('one'), 'utf8')).toBe('loose');
    expect(readFileSync(at('two')).equals(text)).toBe(true);
    expect(readFileSync(at('two-auto')).equals(crlf(text))).toBe(true);
    expect(failures.get(3)).toMatchObject({
      code: 'object-missing',
      subject: { path: 'absent', oid: '3f'.repeat(20) },
    });
    writer.close();
    expect(idle(job)).toBe(true);
  });

  it('that are there are left for the main thread, or kept when they are right', () => {
    const { job, writer, at, all } = set([
      spec(small),
      spec(deltas[0]!, { path: 'large', conversion: 2 }),
      spec(small, { path: 'same', state: State.VERIFY }),
      spec(deltas[1]!, { path: 'same-large', state: State.VERIFY, conversion: 1 }),
      spec(small, { path: 'other', state: State.VERIFY }),
      spec(deltas[1]!, { path: 'other-large', state: State.VERIFY }),
    ]);
    writeFileSync(at(`f${small}`), 'there');
    writeFileSync(at('large'), 'there');
    writeFileSync(at('same'), made.contents[small]!);
    writeFileSync(at('same-large'), crlf(made.contents[deltas[1]!]!));
    writeFileSync(at('other'), 'there');
    expect(all()).toEqual([State.COLLIDED, State.COLLIDED, State.KEPT, State.KEPT, State.COLLIDED, State.COLLIDED]);
    expect(readFileSync(at('large'), 'utf8')).toBe('there');
    expect(writer.files).toBe(0);
    writer.close();
    expect(idle(job)).toBe(true);
  });
});

describe('failures', () => {
  it('name the path and the blob, leave nothing behind, and give back all memory', () => {
    const { job, writer, failures, at, all } = set([
      spec(damagedSmall, { path: 'small' }),
      spec(damagedLarge, { path: 'large' }),
      spec(damagedLarge, { path: 'large-auto', conversion: 1 }),
      spec(tree, { path: 'tree' }),
      spec(claims, { path: 'claims' }),
      spec(claims, { path: 'claims-auto', conversion: 1 }),
      { path: 'outside', offset: 3 },
      spec(deltas[0]!, { path: 'no/directory' }),
      spec(deltas[1]!, { path: 'x'.repeat(300) }),
      spec(small, { path: 'fine' }),
    ]);
    const { UNREAD, FAILED, WRITTEN } = State;
    expect(all()).toEqual([UNREAD, UNREAD, UNREAD, FAILED, UNREAD, UNREAD, UNREAD, FAILED, FAILED, WRITTEN]);
    expect([...failures.keys()]).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    for (const [entry, { code, message, subject }] of failures) {
      expect(code).toBe(entry < 7 ? 'object-corrupt' : 'io');
      expect(message).not.toContain('\n');
      expect(subject.path).toBe(
        ['small', 'large', 'large-auto', 'tree', 'claims', 'claims-auto', 'outside', 'no/directory', 'x'.repeat(300)][
          entry
        ],
      );
      if (entry < 6) expect(message).toContain(subject.oid);
    }
    expect(failures.get(7)?.subject.errno).toBe('ENOENT');
    expect(readdirSync(at('.'))).toEqual(['fine']);
    writer.close();
    expect(idle(job)).toBe(true);
  });

  it('between deltas on one base do not lose what is kept of it', () => {
    const { job, writer, failures, at } = set([
      spec(deltas[0]!, { path: 'a' }),
      spec(deltas[1]!, { path: 'no/directory' }),
      spec(deltas[2]!, { path: 'c', conversion: 1 }),
    ]);
    const held = (): number => Budget.units(job.budget[1]! * 4096) - job.budget[0]!;
    const base = Budget.units(text.length + 1);
    const before: number[] = [];
    for (let entry = 0; entry < 3; entry++) {
      writer.write(entry, null);
      before.push(held());
    }
    expect(before).toEqual([base, base, base]);
    expect([...failures.keys()]).toEqual([1]);
    expect(readdirSync(at('.'))).toEqual(['a', 'c']);
    writer.dropRetained();
    expect(idle(job)).toBe(true);
    writer.dropRetained();
    writer.close();
    expect(idle(job)).toBe(true);
  });
});

describe('verify', () => {
  it('holds what is read against its id, small and large, whole and in pieces, and leaves no file of what is other', () => {
    const blobId = (content: Uint8Array): string =>
      createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex');
    const { job, writer, failures, at, all } = set(
      [small, large, deltas[0]!, otherDelta].flatMap((entry) =>
        [0, 1, 2].flatMap((conversion) => [
          spec(entry, { path: `right-${entry}-${conversion}`, conversion, oid: blobId(made.contents[entry]!) }),
          spec(entry, { path: `wrong-${entry}-${conversion}`, conversion }),
        ]),
      ),
      64 * MEBIBYTE,
      [],
      true,
    );
    expect(all()).toEqual(Array(12).fill([State.WRITTEN, State.UNREAD]).flat());
    expect(readdirSync(at('.')).every((name) => name.startsWith('right-'))).toBe(true);
    for (const [entry, { code, message }] of failures) {
      expect([entry % 2, code]).toEqual([1, 'object-corrupt']);
      expect(message).toMatch(/^cannot write 'wrong-.* its content has the id [0-9a-f]{40}$/);
    }
    writer.dropRetained();
    writer.close();
    expect(idle(job)).toBe(true);
  });
});

describe('memory', () => {
  it('another base drops the one that was kept', () => {
    const { job, writer, all } = set([
      spec(deltas[0]!),
      spec(otherDelta),
      spec(deltas[1]!),
      spec(large, { conversion: 1 }),
    ]);
    expect(all()).toEqual(Array(4).fill(State.WRITTEN));
    // A plain object needs no base.
    expect(idle(job)).toBe(true);
    writer.close();
    expect(idle(job)).toBe(true);
  });

  it('a family gets through a budget that is too small for base and result together', () => {
    // Converted content needs the result whole, and twice as much again for what it becomes.
    const { job, writer, all, at } = set(
      deltas.map((entry) => spec(entry, { conversion: 1 })),
      text.length + 8192,
    );
    expect(all()).toEqual(Array(3).fill(State.WRITTEN));
    for (const entry of deltas) expect(readFileSync(at(`f${entry}`)).equals(crlf(made.contents[entry]!))).toBe(true);
    writer.close();
    expect(idle(job)).toBe(true);
  });

  it('deltas on large bases are put off where there is a list for them', () => {
    const { job, writer, all, deferred, at } = set([
      spec(small),
      spec(deltas[0]!),
      spec(large),
      spec(otherDelta, { state: State.VERIFY }),
      spec(deltas[1]!),
    ]);
    expect(all(deferred)).toEqual([State.WRITTEN, State.PENDING, State.WRITTEN, State.VERIFY, State.PENDING]);
    expect(job.control[DEFERRED]).toBe(3);
    expect([...deferred.entries.subarray(0, 3)]).toEqual([1, 3, 4]);
    expect(deferred.bases[0]).toBe(deferred.bases[2]);
    expect(deferred.bases[0]).not.toBe(deferred.bases[1]);
    expect([...deferred.baseSizes.subarray(0, 3)]).toEqual([text.length, 2 * LARGE, text.length]);
    expect(idle(job)).toBe(true);
    // With a base at hand there is no reason to wait.
    writer.write(1, null);
    writer.write(4, deferred);
    expect(job.control[DEFERRED]).toBe(3);
    expect(existsSync(at(`f${deltas[1]!}`))).toBe(true);
    writer.close();
    expect(idle(job)).toBe(true);
  });

  it('a stop ends the wait for memory, and the entry stays as it was', () => {
    const { job, writer, failures, at } = set([spec(deltas[0]!), spec(small, { path: 'small' })], 8 * MEBIBYTE);
    const other = new Budget(job.budget, 0);
    const all = other.reserve(8 * MEBIBYTE, () => true);
    Atomics.store(job.control, STOP, 1);
    writer.write(0, null);
    expect([job.tables.states[0], failures.size, existsSync(at(`f${deltas[0]!}`))]).toEqual([State.PENDING, 0, false]);
    other.release(all);
    expect(other.idle).toBe(true);
    // Small objects ask for none.
    writer.write(1, null);
    expect(job.tables.states[1]).toBe(State.WRITTEN);
    writer.close();
  });

  it('a stop while it would have to give up what it keeps', () => {
    const { job, writer } = set([spec(deltas[0]!), spec(deltas[1]!, { conversion: 1 })], 8 * MEBIBYTE);
    writer.write(0, null);
    const other = new Budget(job.budget, 0);
    const rest = other.tryReserve(job.budget[0]! * 4096);
    Atomics.store(job.control, STOP, 1);
    writer.write(1, null);
    expect(job.tables.states[1]).toBe(State.PENDING);
    other.release(rest);
    expect(other.idle).toBe(true);
    writer.close();
    expect(other.idle).toBe(true);
  });

  it('is looked at while a large object is held', () => {
    let looks = 0;
    const { job } = set([spec(large), spec(deltas[0]!), spec(small)]);
    const writer = new EntryWriter(
      job,
      1,
      () => undefined,
      () => looks++,
    );
    for (let entry = 0; entry < 3; entry++) writer.write(entry, null);
    expect(looks).toBe(2);
    writer.close();
  });
});
