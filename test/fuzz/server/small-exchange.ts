/**
 * What a server says in one small exchange: what it offers, its refs, and a pack with a commit, a tree, files and deltas.
 */
import { deflateSync } from 'node:zlib';
import { DELIM_PKT, FLUSH_PKT, pktLine } from '../../../src/engine/fetch/pkt-line.ts';
import {
  BLOB,
  COMMIT,
  deltaSize,
  entryHeader,
  OFS_DELTA,
  offsetBytes,
  plainEntry,
  REF_DELTA,
  TREE,
} from '../../support/pack-writer.ts';
import { oidOf, rawPack } from '../../support/received-pack.ts';

export const OFFER_TYPE = 'application/x-git-upload-pack-advertisement';
export const RESULT_TYPE = 'application/x-git-upload-pack-result';

/** A pack of one commit with three files, of which one is a delta by offset and one by id. */
function makePack(): { pack: Buffer; commit: string } {
  const file = Buffer.from('the content of a file\n');
  const changed = Buffer.concat([Buffer.from('abc'), file]);
  const first = Buffer.concat([
    deltaSize(file.length),
    deltaSize(changed.length),
    Buffer.from([3, 97, 98, 99, 0x90, file.length]),
  ]);
  const second = Buffer.concat([deltaSize(changed.length), deltaSize(5), Buffer.from([0x90, 5])]);
  const named = (name: string, content: Buffer): Buffer =>
    Buffer.concat([Buffer.from(`100644 ${name}\0`), Buffer.from(oidOf('blob', content), 'hex')]);
  const tree = Buffer.concat([named('a', file), named('b', changed), named('c', changed.subarray(0, 5))]);
  const commit = Buffer.from(`tree ${oidOf('tree', tree)}\nauthor a <a> 1 +0000\ncommitter a <a> 1 +0000\n\nx\n`);
  const base = plainEntry(BLOB, file);
  const pack = rawPack([
    plainEntry(COMMIT, commit),
    plainEntry(TREE, tree),
    base,
    Buffer.concat([entryHeader(OFS_DELTA, first.length), offsetBytes(base.length), deflateSync(first)]),
    Buffer.concat([
      entryHeader(REF_DELTA, second.length),
      Buffer.from(oidOf('blob', changed), 'hex'),
      deflateSync(second),
    ]),
  ]);
  return { pack, commit: oidOf('commit', commit) };
}

export const { pack: PACK, commit: COMMIT_OID } = makePack();

export const OFFER = Buffer.from(
  [
    pktLine('# service=git-upload-pack\n'),
    FLUSH_PKT,
    ...['version 2\n', 'agent=git/2.39.5\n', 'ls-refs=unborn\n', 'fetch=shallow filter\n', 'object-format=sha1\n'].map(
      (line) => pktLine(line),
    ),
    FLUSH_PKT,
  ].join(''),
);

export const REFS = Buffer.from(
  `${pktLine(`${COMMIT_OID} HEAD symref-target:refs/heads/main\n`)}${pktLine(`${COMMIT_OID} refs/heads/main\n`)}${FLUSH_PKT}`,
);

function packet(bytes: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from((bytes.length + 4).toString(16).padStart(4, '0')), bytes]);
}

/** An answer to `fetch`. @param pieces sizes of the pack's pieces, again and again; @param between what comes before each of them */
export function fetchAnswer(pack: Buffer, pieces: readonly number[], between: readonly Buffer[] = []): Buffer {
  const parts: Buffer[] = [
    Buffer.from(`${pktLine('shallow-info\n')}${pktLine(`shallow ${COMMIT_OID}`)}${DELIM_PKT}${pktLine('packfile\n')}`),
  ];
  for (let at = 0, piece = 0; at < pack.length; piece++) {
    const size = Math.max(1, pieces[piece % pieces.length] ?? 1);
    const beside = between[piece % Math.max(1, between.length)];
    if (beside !== undefined) parts.push(packet(beside));
    parts.push(packet(Buffer.concat([Buffer.from([1]), pack.subarray(at, at + size)])));
    at += size;
  }
  return Buffer.concat([...parts, Buffer.from(FLUSH_PKT)]);
}
