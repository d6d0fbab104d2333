/**
 * Version 2 of git's protocol (gitprotocol-v2(5)): what a server offers, and the two commands that a checkout needs, `ls-refs` and
 * `fetch`. Requests are made and answers are read here; how they travel is another file's business.
 */
import { displayBytes, type Bytes } from '../bytes.ts';
import { CheckoutError } from '../errors.ts';
import { isHexOid, SHA1, SHA256, type ObjectFormat } from '../oid.ts';
import {
  DELIM_PKT,
  FLUSH_PKT,
  type PktHandler,
  pktLine,
  PktReader,
  protocolError,
  type SpecialPkt,
} from './pkt-line.ts';

/** Lines of an advertisement; a server of today has about ten. */
const MOST_CAPABILITIES = 200;
/** Refs that an answer may list: only names that were asked for are listed, but a prefix may match many. */
const MOST_REFS = 1_000_000;
/** Commits at which the history may end. Of a depth there are as many as commits were asked for, for most histories. */
const MOST_SHALLOW = 1_000_000;
/** What a server says of itself during a fetch; further text is left out. */
const MOST_PROGRESS_BYTES = 1 << 20;
/** Of a line that goes on and on, what is kept. */
const MOST_PROGRESS_LINE = 1000;

/** What a server offers. */
export interface Capabilities {
  /** By name; the value is '' for one without. */
  readonly values: ReadonlyMap<string, string>;
  readonly objectFormat: ObjectFormat;
}

/** Whether a capability has a feature: `fetch=shallow filter` has 'filter'. */
export function offers({ values }: Capabilities, name: string, feature?: string): boolean {
  const value = values.get(name);
  if (value === undefined) return false;
  return feature === undefined || value.split(' ').includes(feature);
}

/**
 * Reads the answer to `GET info/refs`.
 * @returns null when the server does not speak version 2
 * @throws CheckoutError fetch-failed for what is no such answer, or what the server says is wrong
 */
export function parseAdvertisement(body: Bytes): Capabilities | null {
  const values = new Map<string, string>();
  const seen = { lines: 0, isVersion2: false, ended: false };
  const reader = new PktReader({
    line(payload): void {
      const text = lineText(payload);
      refuseError(text);
      if (seen.ended) return;
      if (seen.lines === 0 && text === '# service=git-upload-pack') return;
      if (seen.lines++ === 0) seen.isVersion2 = text === 'version 2';
      else if (seen.isVersion2) {
        if (seen.lines > MOST_CAPABILITIES) throw protocolError('offers too much');
        const equals = text.indexOf('=');
        values.set(equals < 0 ? text : text.slice(0, equals), equals < 0 ? '' : text.slice(equals + 1));
      }
    },
    special(kind): void {
      // The one behind the line of the service comes first.
      if (kind === 'flush' && seen.lines > 0) seen.ended = true;
    },
    data(): void {
      throw protocolError('has a pack where none can be');
    },
  });
  reader.push(body);
  if (seen.lines === 0) throw protocolError('to the first question is empty');
  if (!seen.isVersion2) return null;
  if (!seen.ended) throw protocolError('to the first question ends too early');
  const name = values.get('object-format') ?? SHA1.name;
  const objectFormat = [SHA1, SHA256].find((format) => format.name === name);
  if (objectFormat === undefined) throw protocolError(`names an unknown format of ids, '${displayText(name)}'`);
  return { values, objectFormat };
}

/** The lines that begin a command. */
function commandHead({ values }: Capabilities, command: string, agent: string): string {
  const head = [`command=${command}`];
  // A server dies of a capability that it has not offered.
  if (values.has('agent')) head.push(`agent=${agent}`);
  const format = values.get('object-format');
  if (format !== undefined) head.push(`object-format=${format}`);
  return head.map((line) => pktLine(line)).join('') + DELIM_PKT;
}

/** The body of an `ls-refs` request for refs whose names begin with one of the prefixes. */
export function lsRefsRequest(capabilities: Capabilities, agent: string, prefixes: readonly string[]): Buffer {
  const lines = ['symrefs\n', 'peel\n', ...prefixes.map((prefix) => `ref-prefix ${prefix}\n`)];
  return Buffer.from(
    commandHead(capabilities, 'ls-refs', agent) + lines.map((line) => pktLine(line)).join('') + FLUSH_PKT,
  );
}

/** A ref of the server's. */
export interface RemoteRef {
  readonly name: string;
  /** Hexadecimal. */
  readonly oid: string;
  /** What it names, for a symbolic one. */
  readonly target: string | null;
  /** What an annotated tag is of in the end. */
  readonly peeled: string | null;
}

/**
 * Reads the answer to `ls-refs`.
 * @throws CheckoutError fetch-failed
 */
export function parseRefs(body: Bytes, format: ObjectFormat): RemoteRef[] {
  const refs: RemoteRef[] = [];
  const seen = { end: false };
  const reader = new PktReader({
    line(payload): void {
      const text = lineText(payload);
      refuseError(text);
      if (seen.end) throw protocolError('with the refs goes on behind its end');
      const [oid = '', name = '', ...attributes] = text.split(' ');
      if (!isHexOid(oid, format) || name === '') throw protocolError('lists a ref that is none');
      if (refs.length >= MOST_REFS) throw protocolError('lists too many refs');
      const attribute = (key: string): string | null =>
        attributes.find((each) => each.startsWith(key))?.slice(key.length) ?? null;
      const peeled = attribute('peeled:');
      if (peeled !== null && !isHexOid(peeled, format)) throw protocolError('lists a tag that is none');
      // git passes over such names, too. In FETCH_HEAD, a line feed would begin another line.
      if (hasControl(name)) return;
      const target = attribute('symref-target:');
      refs.push({
        name,
        oid: oid.toLowerCase(),
        target: target === null || hasControl(target) ? null : target,
        peeled,
      });
    },
    special(): void {
      seen.end = true;
    },
    data(): void {
      throw protocolError('has a pack where none can be');
    },
  });
  reader.push(body);
  if (!seen.end || !reader.isBetweenLines) throw protocolError('with the refs ends too early');
  return refs;
}

function hasControl(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 0x20 || code === 0x7f) return true;
  }
  return false;
}

/** What a fetch asks for. */
export interface FetchCommand {
  /** Hexadecimal ids, each once. */
  readonly wants: readonly string[];
  /** Commits of history; null for all, or where the wanted are no commits. */
  readonly depth: number | null;
  /** Such as 'blob:none'. */
  readonly filter: string | null;
  /** Tags that point at what is sent come too. */
  readonly includeTag: boolean;
  /** Where the history that is here ends, in hexadecimal; the server leaves that alone. */
  readonly shallow: readonly string[];
}

/** The body of a `fetch` request that has nothing to build on: all that is wanted is sent. */
export function fetchRequest(capabilities: Capabilities, agent: string, command: FetchCommand): Buffer {
  const { wants, depth, filter, includeTag, shallow } = command;
  const lines = ['no-progress', 'ofs-delta'];
  if (includeTag) lines.push('include-tag');
  for (const oid of shallow) lines.push(`shallow ${oid}`);
  if (depth !== null) lines.push(`deepen ${depth}`);
  if (filter !== null) lines.push(`filter ${filter}`);
  for (const oid of wants) lines.push(`want ${oid}\n`);
  lines.push('done\n');
  const head = commandHead(capabilities, 'fetch', agent);
  return Buffer.from(head + lines.map((line) => pktLine(line)).join('') + FLUSH_PKT);
}

/** What comes of a fetch; the pack is given away as it comes. */
export class FetchAnswer {
  /** Hexadecimal ids of the commits at which the history now ends. */
  readonly shallow: string[] = [];
  readonly unshallow: string[] = [];
  readonly #format: ObjectFormat;
  readonly #reader: PktReader;
  #section: 'none' | 'shallow-info' | 'wanted-refs' | 'packfile' | 'other' | 'ended' = 'none';
  #sawPack = false;
  #progressBytes = 0;
  #progress = '';

  /**
   * @param onPack gets the pack's bytes, valid during the call only
   * @param onProgress gets lines that the server writes for people
   */
  constructor(format: ObjectFormat, onPack: (piece: Bytes) => void, onProgress: (line: string) => void) {
    this.#format = format;
    const handler: PktHandler = {
      line: (payload) => this.#line(payload, onProgress),
      special: (kind) => this.#special(kind),
      data: onPack,
    };
    this.#reader = new PktReader(handler);
  }

  /** @throws CheckoutError fetch-failed; what `onPack` throws */
  push(bytes: Bytes): void {
    this.#reader.push(bytes);
  }

  /**
   * To be called when the answer has ended.
   * @throws CheckoutError fetch-failed when something is missing
   */
  end(): void {
    if (this.#section !== 'ended' || !this.#reader.isBetweenLines) throw protocolError('to the fetch ends too early');
    if (!this.#sawPack) throw protocolError('to the fetch has no pack');
  }

  #special(kind: SpecialPkt): void {
    if (this.#section === 'ended') throw protocolError('to the fetch goes on behind its end');
    if (kind === 'flush') {
      this.#section = 'ended';
      this.#reader.sideBand = false;
    } else if (this.#section === 'packfile') {
      throw protocolError('to the fetch goes on behind the pack');
    } else {
      this.#section = 'none';
    }
  }

  #line(payload: Bytes, onProgress: (line: string) => void): void {
    if (this.#section === 'packfile') {
      this.#band(payload, onProgress);
      return;
    }
    const text = lineText(payload);
    refuseError(text);
    switch (this.#section) {
      case 'none':
        if (text === 'packfile') {
          this.#section = 'packfile';
          this.#reader.sideBand = true;
          this.#sawPack = true;
        } else if (text === 'shallow-info' || text === 'wanted-refs') {
          this.#section = text;
        } else {
          this.#section = 'other';
        }
        return;
      case 'shallow-info': {
        const [kind, oid = ''] = text.split(' ');
        const list = kind === 'shallow' ? this.shallow : kind === 'unshallow' ? this.unshallow : null;
        if (list === null || !isHexOid(oid, this.#format)) throw protocolError('has a line about depth that is none');
        if (list.length >= MOST_SHALLOW) throw protocolError('ends the history in too many places');
        list.push(oid.toLowerCase());
        return;
      }
      case 'ended':
        throw protocolError('to the fetch goes on behind its end');
      default:
    }
  }

  /** A line beside the pack: text, or the reason why there is no more of it. An empty one keeps the connection alive. */
  #band(payload: Bytes, onProgress: (line: string) => void): void {
    const band = payload[0];
    if (band === undefined) return;
    if (band === 3) {
      const text = displayText(lineText(payload.subarray(1)));
      throw new CheckoutError('fetch-failed', `the server reports: ${text}`);
    }
    if (band !== 2) throw protocolError(`has an unknown side band, ${band}`);
    this.#progressBytes += payload.length;
    if (this.#progressBytes > MOST_PROGRESS_BYTES) return;
    // Meters end their lines with CR.
    const lines = (this.#progress + Buffer.from(payload.subarray(1)).toString('utf8')).split(/[\r\n]/);
    // One without an end is of no use to anybody.
    this.#progress = (lines.pop() ?? '').slice(0, MOST_PROGRESS_LINE);
    for (const line of lines) if (line !== '') onProgress(displayText(line));
  }
}

/** A line's text, without the line feed that may end it. */
function lineText(payload: Bytes): string {
  const end = payload[payload.length - 1] === 10 ? payload.length - 1 : payload.length;
  return Buffer.from(payload.buffer, payload.byteOffset, end).toString('utf8');
}

function displayText(text: string): string {
  const shown = displayBytes(Buffer.from(text));
  return shown.length > 500 ? `${shown.slice(0, 500)}…` : shown;
}

/** A server may end any answer with the reason why there is none. */
function refuseError(text: string): void {
  if (!text.startsWith('ERR ')) return;
  const reason = displayText(text.slice('ERR '.length).trim());
  const isUnknown = /not our ref|no such ref|unadvertised object/i.test(reason);
  throw new CheckoutError(isUnknown ? 'unknown-revision' : 'fetch-failed', `the server reports: ${reason}`);
}
