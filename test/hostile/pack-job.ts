/**
 * Takes in one hostile pack, which is made while it is sent, and prints what came of it. Run as `node pack-job.ts NAME LONG FOLDER`.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { constants, deflateSync } from 'node:zlib';
import { CheckoutError } from '../../src/engine/errors.ts';
import {
  BLOB,
  COMMIT,
  deltaSize,
  entryHeader,
  OFS_DELTA,
  offsetBytes,
  plainEntry,
  TREE,
} from '../support/pack-writer.ts';
import { oidOf, Receiver } from '../support/received-pack.ts';

const [name = '', long = '', folder = ''] = process.argv.slice(2);
const MB = 1 << 20;
/** The whole sizes; a fraction of them where that tells as much. */
const isLong = long === 'true';
const TREES = isLong ? 100 : 16;
const CHAIN = isLong ? 1_000_000 : 50_000;

interface Case {
  /** What the pack says. */
  readonly count: number;
  readonly entries: () => Iterable<Buffer>;
  /** Whether the pack is cut off behind its entries. */
  readonly cut?: boolean;
  /** Of the pack's first entry, a commit: is checked out meanwhile. */
  readonly commit?: string;
  /** Ask whether all is there, too. */
  readonly connected?: boolean;
}

const ADLER_BASE = 65521;

/** Very many zeros, deflated without making them all: one block again and again, after each of which the compressor forgets. */
function* zeros(size: number): Generator<Buffer> {
  const block = deflateSync(Buffer.alloc(MB), { finishFlush: constants.Z_FULL_FLUSH });
  yield Buffer.concat([entryHeader(BLOB, size), block]);
  for (let at = MB; at < size; at += MB) yield block.subarray(2);
  const end = Buffer.from([3, 0, 0, 0, 0, 1]);
  end.writeUInt16BE(size % ADLER_BASE, 2);
  yield end;
}

function delta(instructions: Buffer, back: number, baseSize: number, resultSize: number): Buffer {
  const content = Buffer.concat([deltaSize(baseSize), deltaSize(resultSize), instructions]);
  return Buffer.concat([entryHeader(OFS_DELTA, content.length), offsetBytes(back), deflateSync(content)]);
}

/** A tree of so many bytes, all entries the same but for a number that tells one tree from another. */
function treeOf(bytes: number, number: number, mode = '100644', oid = Buffer.alloc(20, 1)): Buffer {
  const entry = (text: string): Buffer => Buffer.concat([Buffer.from(`${mode} ${text}\0`), oid]);
  const one = entry('name');
  return Buffer.concat([
    entry(`number${number}`),
    ...Array<Buffer>(Math.max(0, Math.floor(bytes / one.length))).fill(one),
  ]);
}

function commitOf(tree: Buffer): Buffer {
  return Buffer.from(`tree ${oidOf('tree', tree)}\nauthor a <a> 1 +0000\ncommitter a <a> 1 +0000\n\nx\n`);
}

/** A commit whose tree comes with it, and other trees. */
function checkedOut(root: Buffer, others: readonly Buffer[], count = others.length + 2): Case {
  const commit = commitOf(root);
  return {
    count,
    commit: oidOf('commit', commit),
    entries: () => [plainEntry(COMMIT, commit), ...[root, ...others].map((tree) => plainEntry(TREE, tree))],
    cut: count !== others.length + 2,
  };
}

const cases: Readonly<Record<string, () => Case>> = {
  'claims 16 million objects': () => ({
    count: 1 << 24,
    entries: () => [plainEntry(BLOB, Buffer.from('x'))],
    cut: true,
  }),
  'very many tiny entries': () => ({
    count: isLong ? 1_000_000 : 200_000,
    *entries() {
      const one = plainEntry(BLOB, Buffer.from('x'));
      const thousand = Buffer.concat(Array<Buffer>(1000).fill(one));
      for (let i = 0; i < (isLong ? 1000 : 200); i++) yield thousand;
    },
    connected: true,
  }),
  [`a file of ${isLong ? 10 : 0.2} GB`]: () => ({
    count: 1,
    entries: () => zeros((isLong ? 10_240 : 205) * MB),
  }),
  'many large trees': () => ({
    count: TREES + 1,
    *entries() {
      const first = plainEntry(TREE, treeOf(8 * MB, 0));
      let since = first.length;
      yield first;
      for (let i = 1; i < TREES; i++) {
        const entry = plainEntry(TREE, treeOf(8 * MB, i));
        since += entry.length;
        yield entry;
      }
      // On one that was let go of.
      yield delta(Buffer.from([0x90, 31]), since, treeOf(8 * MB, 0).length, 31);
    },
  }),
  'deltas that each make a large tree': () => ({
    count: 41,
    *entries() {
      const content = treeOf(MB, 0);
      const base = plainEntry(TREE, content);
      let since = base.length;
      yield base;
      for (let i = 0; i < 40; i++) {
        // Twelve copies of the first 64 KiB times fifteen.
        const copies = Buffer.concat(Array<Buffer>(180).fill(Buffer.from([0x80])));
        const entry = delta(
          Buffer.concat([copies, Buffer.from([0x90, i + 1])]),
          since,
          content.length,
          180 * 65536 + i + 1,
        );
        since += entry.length;
        yield entry;
      }
    },
  }),
  'a tree of a huge size': () => ({
    count: 1,
    entries: () => [Buffer.concat([entryHeader(TREE, 2 ** 50), deflateSync(Buffer.from('x'))])],
  }),
  'a delta of a huge result': () => ({
    count: 2,
    *entries() {
      const base = plainEntry(BLOB, Buffer.from('base'));
      yield base;
      yield delta(Buffer.from([0x90, 4]), base.length, 4, 2 ** 48);
    },
  }),
  'a file beyond the memory limit, and a delta on it': () => ({
    count: 2,
    *entries() {
      let length = 0;
      for (const piece of zeros(100 * MB)) {
        length += piece.length;
        yield piece;
      }
      yield delta(Buffer.from([0x90, 4]), length, 100 * MB, 4);
    },
  }),
  'a long chain of deltas': () => ({
    count: CHAIN + 1,
    *entries() {
      const base = plainEntry(BLOB, Buffer.from('0123456789'));
      let last = base.length;
      yield base;
      let pieces: Buffer[] = [];
      for (let i = 0; i < CHAIN; i++) {
        // Ten bytes of the ten before, one of them another.
        const entry = delta(Buffer.from([1, i % 256, 0x91, 1, 9]), last, 10, 10);
        last = entry.length;
        pieces.push(entry);
        if (pieces.length < 1000) continue;
        yield Buffer.concat(pieces);
        pieces = [];
      }
    },
  }),
  'a tree that names very many directories': () => {
    // A thousand times the same tree, of which each names hundred thousands that never come.
    const inner = Buffer.concat(
      Array.from({ length: 300_000 }, (_, i) =>
        Buffer.concat([Buffer.from(`40000 ${i.toString(36)}\0`), Buffer.alloc(20, 2)]),
      ),
    );
    const innerOid = Buffer.from(oidOf('tree', inner), 'hex');
    const root = Buffer.concat(
      Array.from({ length: 1000 }, (_, i) => Buffer.concat([Buffer.from(`40000 d${i}\0`), innerOid])),
    );
    return checkedOut(root, [inner]);
  },
  'directories with very long names': () => {
    let tree = treeOf(0, 0);
    const trees: Buffer[] = [tree];
    for (let i = 0; i < 30; i++) {
      tree = Buffer.concat([Buffer.from(`40000 ${'n'.repeat(MB)}\0`), Buffer.from(oidOf('tree', tree), 'hex')]);
      trees.unshift(tree);
    }
    const [root = tree, ...others] = trees;
    return checkedOut(root, others);
  },
  // No slash from the first name to the end.
  'names without end': () => checkedOut(treeOf(12 * MB, 0), []),
};

/** Most resident memory. What getrusage(2) says would count what the parent had when it started us. */
function peakMb(): number {
  try {
    const [, kilobytes = ''] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
    return Number(kilobytes) / 1024;
  } catch {
    return process.memoryUsage.rss() / MB;
  }
}

const make = cases[name];
if (make === undefined) throw new Error(`no case '${name}'`);
const made = make();
const objects = join(folder, 'objects');
const workTree = join(folder, 'tree');
mkdirSync(workTree);
const receiver = new Receiver(objects, {
  memoryBytes: 64 * MB,
  ...(made.commit === undefined ? {} : { workTree: { path: workTree, commit: made.commit } }),
});
const sum = createHash('sha1');
const header = Buffer.alloc(12);
header.write('PACK');
header.writeUInt32BE(2, 4);
header.writeUInt32BE(made.count, 8);
const begun = performance.now();
let code = 'taken';
let message = '';
try {
  sum.update(header);
  receiver.push(header);
  for (const piece of made.entries()) {
    sum.update(piece);
    for (let at = 0; at < piece.length; at += 65536) receiver.push(piece.subarray(at, at + 65536));
  }
  if (made.cut !== true) receiver.push(sum.digest());
  await receiver.finish(made.connected === true ? {} : undefined);
} catch (error) {
  if (!(error instanceof CheckoutError)) throw error;
  ({ code, message } = error);
} finally {
  await receiver.abandon();
}
process.stdout.write(
  JSON.stringify({
    code,
    message,
    seconds: (performance.now() - begun) / 1000,
    peakMb: peakMb(),
    left: readdirSync(join(objects, 'pack')),
  }),
);
