/**
 * Converts a blob's content into a file's, as its Conversion says: ident first, then line ends. For content in memory the
 * size comes first, exactly, so that the caller can find room for it; content too large for that goes through a
 * StreamConverter.
 */
import type { Bytes } from '../bytes.ts';
import { bufferOver } from '../bytes.ts';
import { bug } from '../errors.ts';
import type { Conversion } from './conversion.ts';
import { expandInCore, IdentStream } from './ident.ts';
import { autoLineFeeds, bareLineFeeds, copyWithCrlf, Measure, MemoryWriter, PieceWriter } from './sinks.ts';

/**
 * Size in bytes of what `content[0, length)` is converted to, or -1 when it stays as it is. `oid` is as in `convertInto`; only
 * its length counts.
 */
export function convertedSize(conversion: Conversion, content: Bytes, length: number, oid: Bytes): number {
  if (conversion.kind === 'none' || length === 0) return -1;
  refuseGit(conversion);
  if (conversion.ident && mayHaveKeyword(content, length)) {
    const measure = new Measure();
    const changed = pushIdent(conversion, content, length, oid, measure);
    const added = addedByEol(conversion, measure);
    return changed || added > 0 ? measure.length + added : -1;
  }
  const added = lineFeedsToConvert(conversion, content, length);
  return added > 0 ? length + added : -1;
}

/**
 * Writes the converted form of `content[0, length)` to `out` and returns its size, which is the one that `convertedSize`
 * gave; `out` must have room for it. Not for content of which `convertedSize` said that it stays as it is.
 *
 * `oid` is what ident shows, raw and whole: the blob's id. It may be empty where the conversion has no ident. In the in-core kind git shows the id of the actual bytes,
 * which is another one where a replace ref stands in for the blob.
 */
export function convertInto(conversion: Conversion, content: Bytes, length: number, oid: Bytes, out: Bytes): number {
  refuseGit(conversion);
  if (!conversion.ident || !mayHaveKeyword(content, length)) {
    if (conversion.crlf !== 'none') return copyWithCrlf(content, 0, length, 0, out, 0);
    out.set(content.subarray(0, length));
    return length;
  }
  let crlf = conversion.crlf === 'text';
  if (conversion.crlf === 'auto') {
    const measure = new Measure();
    pushIdent(conversion, content, length, oid, measure);
    crlf = addedByEol(conversion, measure) > 0;
  }
  const writer = new MemoryWriter(out, crlf);
  pushIdent(conversion, content, length, oid, writer);
  return writer.length;
}

/** Converts content of the `stream` (or `none`) kind piece by piece, holding a bounded part of it. */
export interface StreamConverter {
  /**
   * Takes the next piece; hands what can be written to `write`, each time valid during the call only.
   *
   * @throws CheckoutError 'memory' when ident would have to hold more than its bound; nothing else of the content can
   * then be had from this converter
   */
  push(piece: Bytes, write: (piece: Bytes) => void): void;
  /** Ends the content and hands on the rest. */
  end(write: (piece: Bytes) => void): void;
}

/**
 * A converter for one blob. `oid` is the blob's id, raw and whole; it may be empty where the conversion has no ident. `identLimit` bounds what ident may hold, by default
 * 16 MiB.
 */
export function createStreamConverter(conversion: Conversion, oid: Bytes, identLimit?: number): StreamConverter {
  if (conversion.kind === 'none') return { push: (piece, write) => write(piece), end: () => undefined };
  if (conversion.kind !== 'stream') throw bug(`content of the ${conversion.kind} kind cannot be converted in pieces`);
  const crlf = conversion.crlf === 'text';
  const writer = new PieceWriter(crlf);
  const ident = conversion.ident ? new IdentStream(writer, oid, drainSize(conversion), identLimit) : null;
  const first = ident ?? writer;
  return {
    push(piece, write): void {
      writer.write = write;
      first.push(piece, 0, piece.length);
    },
    end(write): void {
      writer.write = write;
      ident?.end();
      writer.end();
    },
  };
}

function drainSize(conversion: Conversion): 1024 | 16384 {
  return conversion.crlf === 'none' ? 16384 : 1024;
}

function refuseGit({ kind, reason }: Conversion): void {
  if (kind === 'git' || kind === 'refused') throw bug(`content that is not ours to convert: ${reason ?? ''}`);
}

/** Both implementations leave content without a `$Id` alone. */
function mayHaveKeyword(content: Bytes, length: number): boolean {
  return bufferOver(content, 0, length).includes('$Id', 0, 'latin1');
}

/** Pushes the content with its keywords expanded; returns whether anything changed. */
function pushIdent(
  conversion: Conversion,
  content: Bytes,
  length: number,
  oid: Bytes,
  sink: Measure | MemoryWriter,
): boolean {
  if (conversion.kind !== 'stream') return expandInCore(content, length, oid, sink) > 0;
  const stream = new IdentStream(sink, oid, drainSize(conversion), Infinity);
  stream.push(content, 0, length);
  stream.end();
  return stream.changed;
}

function addedByEol(conversion: Conversion, measure: Measure): number {
  if (conversion.crlf === 'none') return 0;
  return conversion.crlf === 'auto' ? measure.autoLineFeeds : measure.bareLineFeeds;
}

function lineFeedsToConvert(conversion: Conversion, content: Bytes, length: number): number {
  if (conversion.crlf === 'none') return 0;
  return conversion.crlf === 'auto' ? autoLineFeeds(content, length) : bareLineFeeds(content, length);
}
