/**
 * A pack of entries that are built one after another, each knowing where those before it lie; opened for a reader.
 */
import { closeSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { openPack, type PackFile } from '../../../src/engine/pack/pack-file.ts';
import { PackIndex } from '../../../src/engine/pack/pack-index.ts';
import {
  BLOB,
  entryHeader,
  OFS_DELTA,
  offsetBytes,
  offsetsOf,
  plainEntry,
  REF_DELTA,
  writePack,
  type PackEntry,
} from '../../support/pack-writer.ts';
import { run, wholeDelta, type Instruction } from './delta-instructions.ts';
import { SHA1 } from '../../../src/engine/oid.ts';

export class MadePack {
  readonly entries: PackEntry[] = [];
  /** What each entry is when it is whole. */
  readonly contents: Buffer[] = [];
  #at = 12;

  /** Adds an entry as it is; returns its number. */
  raw(bytes: Uint8Array, content: Uint8Array, oid = this.#nextOid()): number {
    this.entries.push({ oid, bytes });
    this.contents.push(Buffer.from(content));
    this.#at += bytes.length;
    return this.entries.length - 1;
  }

  plain(content: Uint8Array, level = 6): number {
    return this.raw(Buffer.concat([entryHeader(BLOB, content.length), deflateSync(content, { level })]), content);
  }

  /** A delta on an earlier entry, by offset or by id. */
  delta(base: number, list: readonly Instruction[], by: 'offset' | 'id' = 'offset', level = 6): number {
    const from = this.contents[base]!;
    const delta = wholeDelta(from, list);
    const where =
      by === 'offset' ? offsetBytes(this.#at - this.offset(base)) : Buffer.from(this.entries[base]!.oid, 'hex');
    const type = by === 'offset' ? OFS_DELTA : REF_DELTA;
    return this.raw(
      Buffer.concat([entryHeader(type, delta.length), where, deflateSync(delta, { level })]),
      run(from, list),
    );
  }

  offset(entry: number): number {
    return offsetsOf(this.entries)[entry]!;
  }

  /** Where the next entry will lie. */
  get end(): number {
    return this.#at;
  }

  write(folder: string): OpenedPack {
    return openByName(join(folder, 'pack'), writePack(folder, this.entries));
  }

  #nextOid(): string {
    return (this.entries.length + 1).toString(16).padStart(8, '0').padEnd(40, '7');
  }
}

export interface OpenedPack {
  readonly file: PackFile;
  readonly index: PackIndex;
  readonly close: () => void;
}

export function openByName(packFolder: string, name: string): OpenedPack {
  const base = join(packFolder, `pack-${name}`);
  const index = PackIndex.open(`${base}.idx`, SHA1);
  const file = openPack(`${base}.pack`, `${base}.idx`, index);
  return {
    file,
    index,
    close: () => {
      closeSync(file.fd);
      index.close();
    },
  };
}

export { BLOB, plainEntry };
