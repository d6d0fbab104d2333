/**
 * Writes files while the pack that has them is still coming. The main thread stores the pack, inflates its entries and puts them into a ring;
 * workers find out their ids and write those that the trees seen so far want. What is left at the end (deltas on large bases, what came before its
 * directory or its attributes) is for the ordinary checkout, which reads the stored pack.
 * docs/decisions/streamed-checkout.md.
 */
import { createHash, hash, type Hash } from 'node:crypto';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { AttributeStack } from '../../attributes/attribute-stack.ts';
import type { Bytes } from '../../bytes.ts';
import { ioError } from '../../errors.ts';
import type { ConversionTable } from '../../filter/conversion.ts';
import { commitTree } from '../../object/commit.ts';
import type { PathRules } from '../../object/path-validity.ts';
import { NO_REPLACEMENTS } from '../../odb/replacements.ts';
import { oidEquals, oidFromHex, type ObjectFormat } from '../../oid.ts';
import { applyDelta, DeltaSizes } from '../../pack/delta.ts';
import { SCRATCH_BYTES } from '../../pack/pack-reader.ts';
import { BLOB, COMMIT, OFS_DELTA, TREE } from '../../pack/entry.ts';
import type { IncomingPack } from '../../pack/incoming-pack.ts';
import { nameDeltas } from '../../pack/name-deltas.ts';
import type { PackObjects } from '../../pack/pack-objects.ts';
import { type EntrySink, type EntryTarget, isDelta } from '../../pack/pack-stream.ts';
import { WorktreePaths } from '../../worktree/paths.ts';
import { Budget } from '../budget.ts';
import { BYTES_DONE, COUNTERS, createControl, createCounters, FILES_DONE, STOP } from '../control.ts';
import { EntryWriter } from '../entry-writer.ts';
import type { Job } from '../messages.ts';
import { WorkerPool } from '../pool.ts';
import { allocateTables } from '../tables.ts';
import type { Streamed } from './carry-over.ts';
import { LiveTree, MOST_ATTRIBUTES_BYTES } from './live-tree.ts';
import { RingWriter } from './ring.ts';
import { createShare, ENDED, PUBLISHED, type StreamShare } from './share.ts';
import { BatchTaker, objectHead } from './take-batch.ts';

/** Trees, commits and tags are held whole. Larger ones are stored, and left to the ordinary checkout. */
const MOST_HELD_BYTES = 16 << 20;
/** All that is held; what comes later is made of the stored pack where it is needed. Linux has 3.5 MB of trees. */
const MOST_RETAINED_BYTES = 32 << 20;
/** What holding a thing takes beside its bytes, about. */
const RETAINED_OVERHEAD_BYTES = 200;
/** Deltas on trees that are at hand are made at once, since what they list comes next. */
const MOST_TREE_DELTA_BYTES = 1 << 20;
/** Deltas that a worker takes at once. */
const DELTA_BATCH = 32;
/** A family is taken to be complete when so many other objects have come after its last member: git puts them together. */
const FAMILY_GAP = 64;
/** Room for paths: 160 bytes for each object is twice what the largest repositories have. Memory that is not touched costs nothing. */
const PATH_BYTES_PER_OBJECT = 160;
const LEAST_PATH_BYTES = 1 << 20;

/** An empty working tree, and what is to be written to it. */
export interface StreamedWorkTree {
  readonly workTree: string;
  /** Hexadecimal id of the commit that is to be checked out. */
  readonly commit: string;
  readonly rules: PathRules;
  readonly maxPathBytes: number;
  /** Rules from outside of the working tree. */
  readonly stack: AttributeStack;
  readonly conversions: ConversionTable;
}

export interface StreamFacts {
  readonly format: ObjectFormat;
  /** Null where nothing is written while the pack comes: the workers find out ids then. */
  readonly tree: StreamedWorkTree | null;
  readonly platform: NodeJS.Platform;
  /** Workers for so many files; pure. */
  readonly workersFor: (files: number) => number;
  readonly ringBytes: number;
  /** For large objects that deltas are made of, all threads together. */
  readonly objectBytes: number;
  /** For the one that is too large for that. */
  readonly memoryBytes: number;
}

/** How an entry is taken. */
type Way = 'ring' | 'held' | 'passing' | 'tree-delta' | 'delta';

export class StreamedCheckout implements EntrySink, Streamed {
  readonly pool = new WorkerPool();
  readonly tables;
  readonly counters;
  readonly #facts: StreamFacts;
  readonly #commit: Bytes | null;
  #pack: IncomingPack | null = null;
  #job: Job | null = null;
  #share: StreamShare | null = null;
  #ring: RingWriter | null = null;
  #live: LiveTree | null = null;
  #taker: BatchTaker | null = null;
  #writer: EntryWriter | null = null;
  /** Settles when the workers have seen the end of the stream. */
  #workers: Promise<void> = Promise.resolve();
  // The entry that is coming.
  #way: Way = 'passing';
  #number = 0;
  #headLength = 0;
  #held: Uint8Array | null = null;
  #ringAt = 0;
  #hash: Hash | null = null;
  readonly #sizes = new DeltaSizes();
  /** Commits, trees and tags by where they are in the pack: for deltas on them, and to see whether all that they name has come. */
  readonly #retained = new Map<number, { readonly type: number; readonly content: Bytes }>();
  #retainedBytes = 0;
  #deltas = 0;
  #publishedDeltas = 0;
  /** Deltas on large objects that nobody has been given yet, by the number of that object. */
  readonly #families = new Map<number, number[]>();
  /** Numbers of objects that are no deltas and too large for the scratch buffers. */
  readonly #large = new Set<number>();
  /** Of each delta, what it is made of in the end and 1; 0 for what is not known. */
  #heads: Int32Array = new Int32Array(0);
  #familyMembers = 0;

  constructor(facts: StreamFacts) {
    this.#facts = facts;
    this.#commit = facts.tree === null ? null : oidFromHex(facts.tree.commit);
    // Until the number of objects is known.
    this.tables = allocateTables(1, 1, facts.format);
    this.counters = createCounters(facts.workersFor(Number.MAX_SAFE_INTEGER));
  }

  get directories(): Streamed['directories'] {
    return this.#live?.directories ?? new Map();
  }

  /** Files and bytes so far. */
  get filesWritten(): number {
    return sum(this.counters, FILES_DONE);
  }

  get bytesWritten(): number {
    return sum(this.counters, BYTES_DONE);
  }

  /** Time for which the network waited for the engine, beside what inflating took. */
  get waitMs(): number {
    return this.#ring?.waitMs ?? 0;
  }

  /** The pack whose entries will come. */
  set pack(pack: IncomingPack) {
    this.#pack = pack;
  }

  begin(objects: PackObjects): void {
    const { format, tree, workersFor, platform } = this.#facts;
    const pack = this.#pack;
    if (pack === null) throw new Error('a stream without its pack');
    const { count } = objects;
    if (tree !== null) {
      const paths = Math.min(LEAST_PATH_BYTES + count * PATH_BYTES_PER_OBJECT, 0xffffffff);
      Object.assign(this.tables, allocateTables(count + 1, paths, format));
    }
    const share = createShare(objects, tree === null ? 1 : count + 1, this.#facts.ringBytes, pack.file);
    const job: Job = {
      tables: this.tables,
      control: createControl(),
      counters: this.counters,
      budget: Budget.create(this.#facts.objectBytes, workersFor(Number.MAX_SAFE_INTEGER)),
      packs: [],
      replacements: NO_REPLACEMENTS,
      verify: false,
      objectDirectories: [],
      workTree: tree?.workTree ?? '',
      conversions: [],
      lfs: null,
      replaces: false,
      platform,
    };
    this.#job = job;
    this.#share = share;
    this.#heads = new Int32Array(new SharedArrayBuffer(4 * count));
    const ignore = (): void => undefined;
    this.#writer = new EntryWriter(job, 0, ignore, ignore);
    this.#taker = new BatchTaker(share, job, this.#writer, 0, ignore);
    this.#ring = new RingWriter(share, () => this.#taker?.take() ?? false);
    if (tree !== null) {
      const { rules, maxPathBytes, stack, conversions } = tree;
      const paths = new WorktreePaths(tree.workTree);
      this.#live = new LiveTree({ tables: this.tables, share, paths, rules, maxPathBytes, stack, conversions });
    }
    const workers = workersFor(count);
    if (workers > 0) {
      this.pool.start(workers);
      this.pool.begin(job, ignore);
      this.#workers = this.pool.stream(share);
    }
  }

  entry(number: number, type: number, size: number): EntryTarget | null {
    this.#number = number;
    if (!isDelta(type) && size > SCRATCH_BYTES) this.#large.add(number);
    if (isDelta(type)) return this.#deltaEntry(number, size);
    const head = objectHead(type, size);
    this.#headLength = head.length;
    const ring = this.#ring;
    if (type === BLOB && ring !== null && head.length + size + 1 <= ring.mostBytes) {
      const at = ring.reserve(number, head.length + size + 1);
      if (at >= 0) {
        const bytes = this.#shared().ring;
        for (let i = 0; i < head.length; i++) bytes[at + i] = head.charCodeAt(i);
        this.#way = 'ring';
        this.#ringAt = at;
        return { bytes, at: at + head.length };
      }
    }
    if (type !== BLOB && size <= MOST_HELD_BYTES) {
      const held = new Uint8Array(head.length + size + 1);
      for (let i = 0; i < head.length; i++) held[i] = head.charCodeAt(i);
      this.#way = 'held';
      this.#held = held;
      return { bytes: held, at: head.length };
    }
    this.#way = 'passing';
    this.#hash = createHash(this.#facts.format.name).update(head);
    return null;
  }

  piece(bytes: Bytes): void {
    if (this.#way === 'passing') this.#hash?.update(bytes);
  }

  end(number: number, type: number, size: number): void {
    const { objects } = this.#shared();
    const { oidBytes } = objects.format;
    switch (this.#way) {
      case 'ring':
        this.#endInRing(number, size);
        return;
      case 'held': {
        const held = this.#held ?? new Uint8Array(0);
        this.#held = null;
        this.#name(number, type, held.subarray(0, this.#headLength + size));
        this.#see(number, type, held.subarray(this.#headLength, this.#headLength + size));
        return;
      }
      case 'passing':
        if (this.#hash !== null) objects.oids.set(this.#hash.digest(), number * oidBytes);
        objects.kinds[number] = type;
        objects.named[number] = 1;
        return;
      case 'tree-delta':
        if (this.#endTreeDelta(number, size)) return;
        this.#addDelta(number);
        return;
      case 'delta':
        this.#addDelta(number);
    }
  }

  /** So much of the pack can be read from its file. */
  stored(bytes: number): void {
    const share = this.#share;
    if (share === null) return;
    share.stored[0] = bytes;
    const waiting = this.#deltas - this.#publishedDeltas;
    const { offsets } = share.objects;
    const last = share.deltas[this.#deltas - 1] ?? 0;
    if (this.#families.size > 0) {
      const storedNumbers = numberBelow(offsets, this.#number, bytes) - 1;
      this.#publishFamilies(Math.min(this.#number - FAMILY_GAP, storedNumbers));
    }
    if (waiting >= DELTA_BATCH && (offsets[last + 1] ?? 0) < bytes) this.#publishDeltas();
  }

  /**
   * To be called when the last byte is stored: settles when all objects have their ids and the workers have done what they can.
   * @throws CheckoutError object-corrupt, memory, interrupted
   */
  async finish(): Promise<void> {
    const share = this.#shared();
    const { objects } = share;
    const pack = this.#pack;
    if (pack === null) throw new Error('a stream without its pack');
    this.stored(pack.size);
    this.#publishDeltas();
    this.#ring?.publish(objects.count);
    this.#publishFamilies(Infinity);
    Atomics.store(share.control, ENDED, 1);
    Atomics.notify(share.control, PUBLISHED);
    // Each thread that takes part needs memory of its own, so where there are workers they are enough.
    while (this.pool.size === 0 && this.#taker?.take() === true) continue;
    await this.#workers;
    this.#taker?.close();
    this.#writer?.close();
    nameDeltas(objects, pack.file, this.#facts.memoryBytes);
  }

  /** What making one object may take. */
  get memoryBytes(): number {
    return this.#facts.memoryBytes;
  }

  /** A conversion of the entries as one byte, see conversionCode. */
  conversionCode(number: number): number {
    return this.#share?.conversionCodes[number] ?? 0;
  }

  /** Content of a commit, tree or tag that begins at this place in the pack, where it is at hand. */
  retained(offset: number): Bytes | undefined {
    return this.#retained.get(offset)?.content;
  }

  /** Ends the workers, whatever they are at, and removes what was written: the working tree was empty before. */
  async abandon(): Promise<void> {
    if (this.#job !== null) Atomics.store(this.#job.control, STOP, 1);
    if (this.#share !== null) {
      Atomics.store(this.#share.control, ENDED, 1);
      Atomics.notify(this.#share.control, PUBLISHED);
    }
    await this.#workers;
    await this.pool.end();
    this.#taker?.close();
    this.#writer?.close();
    if (this.#facts.tree !== null && this.#live !== null) emptyWorkTree(this.#facts.tree.workTree);
  }

  #shared(): StreamShare {
    if (this.#share === null) throw new Error('the header of the pack has not come');
    return this.#share;
  }

  #endInRing(number: number, size: number): void {
    const share = this.#shared();
    const { objects } = share;
    share.sizes[number] = size;
    share.placed[number] = 1;
    const end = this.#ringAt + this.#headLength + size;
    if (size <= MOST_ATTRIBUTES_BYTES && this.#live?.awaitsAttributes === true) {
      this.#name(number, BLOB, share.ring.subarray(this.#ringAt, end));
      const content = share.ring.subarray(this.#ringAt + this.#headLength, end);
      this.#live.offerBlob(objects.oids, number * objects.format.oidBytes, content);
    }
    this.#ring?.commit(number, this.#headLength + size);
  }

  /** Finds out an object's id: of its head and content. */
  #name(number: number, type: number, whole: Bytes): void {
    const { oids, named, kinds, format } = this.#shared().objects;
    oids.set(hash(format.name, whole, 'buffer'), number * format.oidBytes);
    kinds[number] = type;
    named[number] = 1;
  }

  /** Looks at a commit or tree that has come. */
  #see(number: number, type: number, content: Bytes): void {
    const { objects } = this.#shared();
    const { oids, format, offsets } = objects;
    const oidAt = number * format.oidBytes;
    this.#retainedBytes += content.length + RETAINED_OVERHEAD_BYTES;
    if (this.#retainedBytes <= MOST_RETAINED_BYTES) this.#retained.set(offsets[number] ?? 0, { type, content });
    if (type === TREE) {
      this.#live?.addTree(oids, oidAt, content);
    } else if (type === COMMIT && this.#commit !== null && oidEquals(oids, oidAt, this.#commit, 0, format.oidBytes)) {
      const tree = commitTree(content, format);
      if (tree !== null) this.#live?.begin(tree);
    }
  }

  #deltaEntry(number: number, size: number): EntryTarget | null {
    const { objects } = this.#shared();
    this.#way = 'delta';
    const isOnTree = this.#retained.get(objects.bases[number] ?? 0)?.type === TREE;
    if (size > MOST_TREE_DELTA_BYTES || !isOnTree) return null;
    this.#way = 'tree-delta';
    this.#held = new Uint8Array(size + 1);
    return { bytes: this.#held, at: 0 };
  }

  /** Makes a tree of its delta; false where that is for later. */
  #endTreeDelta(number: number, size: number): boolean {
    const { objects } = this.#shared();
    const base = this.retained(objects.bases[number] ?? 0);
    const delta = this.#held;
    this.#held = null;
    const sizes = this.#sizes;
    if (base === undefined || delta === null || !sizes.parse(delta, 0, size) || sizes.baseSize !== base.length)
      return false;
    const { resultSize, instructionsAt } = sizes;
    if (resultSize > MOST_HELD_BYTES) return false;
    const out = new Uint8Array(resultSize);
    if (!applyDelta(base, 0, base.length, delta, instructionsAt, size, out, resultSize)) return false;
    const id = createHash(objects.format.name).update(objectHead(TREE, resultSize)).update(out).digest();
    objects.oids.set(id, number * objects.format.oidBytes);
    objects.kinds[number] = TREE;
    objects.named[number] = 1;
    this.#see(number, TREE, out);
    return true;
  }

  #addDelta(number: number): void {
    const share = this.#shared();
    const head = this.#headOf(number);
    if (!this.#large.has(head)) {
      share.deltas[this.#deltas++] = number;
      return;
    }
    const family = this.#families.get(head);
    if (family === undefined) this.#families.set(head, [number]);
    else family.push(number);
  }

  /** The object that a delta is made of in the end; -1 where that is named by an id. Of its base it is known: chains may be long. */
  #headOf(delta: number): number {
    const { types, bases, offsets } = this.#shared().objects;
    let head = -1;
    if (types[delta] === OFS_DELTA) {
      const base = bases[delta] ?? 0;
      const number = numberBelow(offsets, delta, base + 1) - 1;
      if (offsets[number] === base) head = isDelta(types[number] ?? 0) ? (this.#heads[number] ?? 0) - 1 : number;
    }
    this.#heads[delta] = head + 1;
    return head;
  }

  /**
   * Has deltas on large objects made: each such object is inflated once for all of its deltas.
   * @param before families whose last member has a number below this
   */
  #publishFamilies(before: number): void {
    const { families } = this.#shared();
    for (const [head, members] of this.#families) {
      if ((members.at(-1) ?? 0) >= before) continue;
      this.#families.delete(head);
      const first = this.#familyMembers;
      families[this.#familyMembers++] = head;
      for (const number of members) families[this.#familyMembers++] = number;
      this.#ring?.publishFamily(first, this.#familyMembers);
    }
  }

  #publishDeltas(): void {
    for (; this.#publishedDeltas < this.#deltas; this.#publishedDeltas += DELTA_BATCH) {
      this.#ring?.publishDeltas(this.#publishedDeltas, Math.min(this.#deltas, this.#publishedDeltas + DELTA_BATCH));
    }
    this.#publishedDeltas = this.#deltas;
  }
}

/** How many of the first `count` objects begin below an offset. */
function numberBelow(offsets: Float64Array, count: number, offset: number): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((offsets[middle] ?? 0) < offset) low = middle + 1;
    else high = middle;
  }
  return low;
}

function sum(counters: Float64Array, which: number): number {
  let total = 0;
  for (let i = which; i < counters.length; i += COUNTERS) total += counters[i] ?? 0;
  return total;
}

/** Removes all but the git directory. */
function emptyWorkTree(workTree: string): void {
  try {
    for (const name of readdirSync(workTree)) {
      if (name !== '.git') rmSync(join(workTree, name), { recursive: true, force: true });
    }
  } catch (error) {
    throw ioError('empty', workTree, error);
  }
}
