/**
 * Packs as a server sends them, and the receiver that takes them in: without workers and without a working tree.
 */
import { createHash } from 'node:crypto';
import { AttributeStack } from '../../src/engine/attributes/attribute-stack.ts';
import { StreamedCheckout, type StreamedWorkTree } from '../../src/engine/checkout/stream/streamed-checkout.ts';
import { ConversionTable, readConversionConfig } from '../../src/engine/filter/conversion.ts';
import { SHA1, type ObjectFormat } from '../../src/engine/oid.ts';
import { sortByOid } from '../../src/engine/pack/write-pack-index.ts';
import { IncomingPack } from '../../src/engine/pack/incoming-pack.ts';
import type { ConnectivityFacts } from '../../src/engine/pack/connectivity.ts';
import { checkConnected } from '../../src/engine/pack/connectivity.ts';

/** A pack of these entries; `count` is what its header claims. */
export function rawPack(entries: readonly Uint8Array[], format = SHA1, count = entries.length): Buffer {
  const header = Buffer.alloc(12);
  header.write('PACK');
  header.writeUInt32BE(2, 4);
  header.writeUInt32BE(count, 8);
  const body = Buffer.concat([header, ...entries]);
  return Buffer.concat([body, createHash(format.name).update(body).digest()]);
}

/** An object's id. */
export function oidOf(type: string, content: Uint8Array, format = SHA1): string {
  return createHash(format.name).update(`${type} ${content.length}\0`).update(content).digest('hex');
}

export interface ReceiverOptions {
  /** An empty folder, and the commit that is checked out to it while the pack comes. */
  readonly workTree?: { readonly path: string; readonly commit: string };
  readonly format?: ObjectFormat;
  readonly memoryBytes?: number;
  readonly ringBytes?: number;
}

function workTreeOf({ path, commit }: { path: string; commit: string }): StreamedWorkTree {
  const stack = new AttributeStack({ info: null, global: null, system: null, ignoreCase: false });
  const config = { getBoolOrText: () => undefined, getAll: () => [], getBool: () => undefined, subsections: () => [] };
  return {
    workTree: path,
    commit,
    rules: { ntfs: true, hfs: false, windows: false },
    maxPathBytes: 4096,
    stack,
    conversions: new ConversionTable(readConversionConfig(config, process.platform), stack.sets),
  };
}

/** Takes a pack in. */
export class Receiver {
  readonly sink: StreamedCheckout;
  readonly pack: IncomingPack;
  readonly #memoryBytes: number;

  /** @param objects an object directory */
  constructor(objects: string, options: ReceiverOptions = {}) {
    const { format = SHA1, memoryBytes = 64 << 20, ringBytes = 1 << 20 } = options;
    this.#memoryBytes = memoryBytes;
    this.sink = new StreamedCheckout({
      format,
      tree: options.workTree === undefined ? null : workTreeOf(options.workTree),
      platform: process.platform,
      workersFor: () => 0,
      ringBytes,
      objectBytes: memoryBytes,
      memoryBytes,
    });
    this.pack = new IncomingPack(objects, format, this.sink);
    this.sink.pack = this.pack;
  }

  push(bytes: Uint8Array): void {
    this.pack.push(bytes);
    this.sink.stored(this.pack.stored);
  }

  /** To be called when all has come: checks, and finds out all ids. */
  async finish(connected?: Partial<ConnectivityFacts>): Promise<void> {
    this.pack.complete();
    await this.sink.finish();
    if (connected !== undefined) this.check(connected);
  }

  check(facts: Partial<ConnectivityFacts>): void {
    const { objects, file } = this.pack;
    checkConnected(objects, file, {
      wants: [],
      order: sortByOid(objects),
      shallow: [],
      withoutBlobs: false,
      retained: (offset) => this.sink.retained(offset),
      memoryBytes: this.#memoryBytes,
      ...facts,
    });
  }

  /** Takes all in, in pieces, and finishes. */
  async take(bytes: Uint8Array, pieceBytes = 65536, connected?: Partial<ConnectivityFacts>): Promise<void> {
    for (let at = 0; at < bytes.length; at += pieceBytes) this.push(bytes.subarray(at, at + pieceBytes));
    await this.finish(connected);
  }

  /** Puts the pack into its place; returns its path. */
  async install(promisor = false): Promise<string> {
    return await this.pack.install(sortByOid(this.pack.objects), promisor);
  }

  async abandon(): Promise<void> {
    await this.sink.abandon();
    await this.pack.abandon();
  }

  /** Hexadecimal ids in the order of the pack. */
  get oids(): string[] {
    const { oids, count, format } = this.pack.objects;
    const { oidBytes } = format;
    return Array.from({ length: count }, (_, i) =>
      Buffer.from(oids.subarray(i * oidBytes, (i + 1) * oidBytes)).toString('hex'),
    );
  }
}
