/**
 * A git server over HTTP (gitprotocol-http(5), the smart protocol, version 2): one question what it offers, then commands by POST, all on one
 * connection that is kept open. Made with Node's own client, whose answers stop coming while nobody takes them.
 * docs/decisions/http-client.md.
 */
import { Agent as HttpAgent, type ClientRequest, type IncomingMessage, request as httpRequest } from 'node:http';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream';
import { createGunzip, gzipSync } from 'node:zlib';
import { displayBytes, type Bytes } from '../bytes.ts';
import { CheckoutError, errnoOf } from '../errors.ts';
import {
  type Capabilities,
  FetchAnswer,
  type FetchCommand,
  fetchRequest,
  lsRefsRequest,
  parseAdvertisement,
  parseRefs,
  type RemoteRef,
} from './protocol-v2.ts';
import { protocolError } from './pkt-line.ts';
import { isTransientStatus, parseRetryAfter, spell, TransientFetchError } from './retry.ts';

const SERVICE = 'git-upload-pack';
/** As many as git follows. */
const MOST_REDIRECTS = 20;
/** An answer that is held whole: what a server offers, or its refs. A repository of 100,000 tags has 8 MB of them. */
const MOST_ANSWER_BYTES = 256 << 20;
/** git compresses requests beyond this. */
const GZIP_FROM_BYTES = 1024;
/** A pack that comes more slowly is not coming: the same as for git's own transfers, see transfer-watch.ts. */
const LEAST_BYTES_PER_SECOND = 1000;
/** What a failed request's body may tell us. */
const MOST_MESSAGE_BYTES = 4096;

export interface HttpOptions {
  /** http or https; may end in a slash. No user in it. */
  readonly url: string;
  /** Headers for the URL's own origin alone, such as Authorization. Name and value. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly userAgent: string;
  /** URL of a proxy for a URL; '' for none. */
  readonly proxyFor: (url: string) => string;
  /** Certificates of authorities, in place of those that Node knows. */
  readonly ca: string | null;
  /** Certificates to try when those were not enough: the system's. */
  readonly systemCa: () => Promise<readonly string[]>;
  readonly followRedirects: boolean;
  /** No byte, or next to none, for so long ends the attempt; Infinity for never. */
  readonly stallMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** The server answered with a status that is no success. */
export class HttpStatusError extends CheckoutError {
  readonly status: number;

  constructor(status: number, message: string) {
    super(status === 401 || status === 403 || status === 407 ? 'authentication-failed' : 'fetch-failed', message);
    this.status = status;
  }
}

const UNKNOWN_AUTHORITY = new Set([
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
]);

interface Call {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | null;
}

export class HttpRemote {
  /** Round trips made so far. */
  requests = 0;
  readonly #options: HttpOptions;
  readonly #origin: string;
  /** What commands are sent to: the URL, or where the first question was redirected to. */
  #base: string;
  #capabilities: Capabilities | null = null;
  #agent: HttpAgent | null = null;
  #agentOrigin = '';
  #ca: string | readonly string[] | null;

  constructor(options: HttpOptions) {
    this.#options = options;
    this.#base = options.url.replace(/\/$/, '');
    this.#origin = new URL(options.url).origin;
    this.#ca = options.ca;
  }

  /** Ends the connection. */
  close(): void {
    this.#agent?.destroy();
    this.#agent = null;
  }

  /**
   * Asks what the server offers.
   * @returns null when it does not speak version 2
   * @throws CheckoutError authentication-failed, fetch-failed, interrupted
   */
  async discover(): Promise<Capabilities | null> {
    let url = `${this.#base}/info/refs`;
    url += `${url.includes('?') ? '&' : '?'}service=${SERVICE}`;
    const ending = `/info/refs?service=${SERVICE}`;
    for (let redirects = 0; ; redirects++) {
      const answer = await this.#call({ method: 'GET', url, headers: {}, body: null });
      const status = answer.statusCode ?? 0;
      const { location } = answer.headers;
      if (status >= 300 && status < 400 && location !== undefined) {
        answer.destroy();
        url = this.#redirected(url, location, redirects);
        continue;
      }
      await refuseStatus(answer);
      const type = answer.headers['content-type']?.split(';')[0]?.trim();
      if (type !== `application/x-${SERVICE}-advertisement`) {
        answer.destroy();
        // An old server that only has files, or no git server at all.
        return null;
      }
      if (redirects > 0) {
        if (!url.endsWith(ending)) throw protocolError('redirects to something that is no git repository');
        this.#base = url.slice(0, -ending.length);
      }
      this.#capabilities = parseAdvertisement(await readWhole(answer));
      return this.#capabilities;
    }
  }

  #redirected(from: string, location: string, redirects: number): string {
    if (!this.#options.followRedirects || redirects >= MOST_REDIRECTS) {
      throw protocolError(
        redirects >= MOST_REDIRECTS ? 'is a redirect without end' : 'is a redirect, which is not followed',
      );
    }
    const to = URL.parse(location, from);
    if (to === null || !/^https?:$/.test(to.protocol)) throw protocolError('redirects to something that is no address');
    if (from.startsWith('https:') && to.protocol !== 'https:') {
      throw protocolError('redirects from https to http, which is not followed');
    }
    return to.href;
  }

  /**
   * Lists refs whose names begin with one of the prefixes.
   * @throws CheckoutError authentication-failed, fetch-failed, interrupted
   */
  async lsRefs(prefixes: readonly string[]): Promise<RemoteRef[]> {
    const capabilities = this.#offered();
    const answer = await this.#post(lsRefsRequest(capabilities, this.#options.userAgent, prefixes));
    return parseRefs(await readWhole(answer), capabilities.objectFormat);
  }

  /**
   * Fetches a pack.
   * @param onPack gets the pack's bytes as they come, valid during the call only; while it works nothing more comes
   * @returns where the history now ends
   * @throws CheckoutError authentication-failed, unknown-revision, fetch-failed, interrupted; what `onPack` throws
   */
  async fetch(
    command: FetchCommand,
    onPack: (piece: Bytes) => void,
    onProgress: (line: string) => void,
  ): Promise<Pick<FetchAnswer, 'shallow' | 'unshallow'>> {
    const capabilities = this.#offered();
    const answer = await this.#post(fetchRequest(capabilities, this.#options.userAgent, command));
    let hasPack = false;
    const takePack = (piece: Bytes): void => {
      hasPack = true;
      onPack(piece);
    };
    const read = new FetchAnswer(capabilities.objectFormat, takePack, onProgress);
    // A server that counts the objects of a big repository sends some bytes a second of progress, for minutes.
    const leastBytesPerSecond = (): number => (hasPack ? LEAST_BYTES_PER_SECOND : 0);
    await readPieces(answer, (piece) => read.push(piece), leastBytesPerSecond);
    read.end();
    return read;
  }

  #offered(): Capabilities {
    if (this.#capabilities === null) throw new Error('the server was not asked what it offers');
    return this.#capabilities;
  }

  async #post(body: Buffer): Promise<IncomingMessage> {
    const compressed = body.length > GZIP_FROM_BYTES;
    const answer = await this.#call({
      method: 'POST',
      url: `${this.#base}/${SERVICE}`,
      headers: {
        'Content-Type': `application/x-${SERVICE}-request`,
        Accept: `application/x-${SERVICE}-result`,
        ...(compressed ? { 'Content-Encoding': 'gzip' } : {}),
      },
      body: compressed ? gzipSync(body) : body,
    });
    await refuseStatus(answer);
    const type = answer.headers['content-type']?.split(';')[0]?.trim();
    if (type !== `application/x-${SERVICE}-result`) {
      answer.destroy();
      throw protocolError(`is of the type '${displayBytes(Buffer.from(type ?? 'none'))}', which git's is not`);
    }
    return answer;
  }

  /** Sends one request; once more where the server's authority is one that only the system knows. */
  async #call(call: Call): Promise<IncomingMessage> {
    try {
      return await this.#send(call);
    } catch (error) {
      const errno = error instanceof Error ? errnoOf(error.cause) : undefined;
      if (errno === undefined || !UNKNOWN_AUTHORITY.has(errno) || this.#ca !== null) throw error;
      this.#ca = await this.#options.systemCa();
      this.close();
      return await this.#send(call);
    }
  }

  async #send({ method, url, headers, body }: Call): Promise<IncomingMessage> {
    const { signal, stallMs, userAgent } = this.#options;
    const target = new URL(url);
    const agent = await this.#agentFor(target);
    const { request: secureRequest } = target.protocol === 'https:' ? await import('node:https') : { request: null };
    this.requests++;
    const own = target.origin === this.#origin ? Object.fromEntries(this.#options.headers) : {};
    return await new Promise((resolve, reject) => {
      const fail = (error: unknown): void => reject(connectionError(error, target.origin, signal));
      let request: ClientRequest;
      const options = {
        method,
        agent,
        headers: {
          'User-Agent': userAgent,
          'Git-Protocol': 'version=2',
          Accept: '*/*',
          'Accept-Encoding': 'gzip',
          ...(method === 'GET' ? { Pragma: 'no-cache' } : {}),
          ...headers,
          ...(body === null ? {} : { 'Content-Length': String(body.length) }),
          ...own,
        },
        ...(signal === undefined ? {} : { signal }),
      };
      try {
        request = (secureRequest ?? httpRequest)(target, options);
      } catch (error) {
        fail(error);
        return;
      }
      if (stallMs < Infinity) request.setTimeout(stallMs, () => request.destroy(new Stalled(stallMs, false)));
      request.once('error', fail);
      request.once('response', (answer) => {
        // What goes wrong from here on is the answer's error.
        request.off('error', fail);
        request.on('error', () => undefined);
        origins.set(answer, { origin: target.origin, url: this.#base, signal, stallMs });
        resolve(answer);
      });
      request.end(body ?? undefined);
    });
  }

  async #agentFor(target: URL): Promise<HttpAgent> {
    if (this.#agent !== null && this.#agentOrigin === target.origin) return this.#agent;
    this.close();
    const isSecure = target.protocol === 'https:';
    const tls = this.#ca === null ? {} : { ca: [...(typeof this.#ca === 'string' ? [this.#ca] : this.#ca)] };
    const options = { keepAlive: true, maxSockets: 1, ...(isSecure ? tls : {}) };
    const proxy = this.#options.proxyFor(target.href);
    let agent: HttpAgent;
    if (proxy !== '') {
      // Loaded where there is a proxy only: 25 ms.
      if (isSecure) {
        const { HttpsProxyAgent } = await import('https-proxy-agent');
        agent = new HttpsProxyAgent(proxy, options);
      } else {
        const { HttpProxyAgent } = await import('http-proxy-agent');
        agent = new HttpProxyAgent(proxy, options);
      }
    } else if (isSecure) {
      const { Agent } = await import('node:https');
      agent = new Agent(options);
    } else {
      agent = new HttpAgent(options);
    }
    this.#agent = agent;
    this.#agentOrigin = target.origin;
    return agent;
  }
}

/** Nothing, or next to nothing, came for too long. */
class Stalled extends Error {
  constructor(ms: number, receiving: boolean) {
    super(
      receiving
        ? `less than ${LEAST_BYTES_PER_SECOND} bytes a second came for ${spell(ms)}`
        : `nothing came from the server for ${spell(ms)}`,
    );
  }
}

/** What goes wrong with connections, in words. */
const MEANINGS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'the connection was reset',
  ENOTFOUND: 'the name of the host is not known',
  EAI_AGAIN: 'the name of the host cannot be looked up now',
  ETIMEDOUT: 'it timed out',
  EPIPE: 'the connection was closed',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
};

/** What is wrong with a certificate (Node's documentation of TLS, "X509 certificate error codes"), which no later attempt mends. */
const CERTIFICATE = /^(CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|ERR_TLS_CERT|INVALID_CA|HOSTNAME_MISMATCH)/;

interface AnswerOrigin {
  readonly origin: string;
  /** Of the repository. */
  readonly url: string;
  readonly signal: AbortSignal | undefined;
  readonly stallMs: number;
}

/** Whose answer it is, for messages. */
const origins = new WeakMap<IncomingMessage, AnswerOrigin>();

/** What is wrong with a connection, in one line. A URL in it is without its path, which may hold a secret. */
function connectionError(error: unknown, origin: string, signal: AbortSignal | undefined): CheckoutError {
  if (error instanceof CheckoutError) return error;
  if (signal?.aborted === true) return new CheckoutError('interrupted', 'the fetch was interrupted');
  const errno = errnoOf(error);
  const why =
    error instanceof Stalled
      ? error.message
      : errno === undefined
        ? displayBytes(Buffer.from(error instanceof Error ? error.message : String(error)))
        : (MEANINGS[errno] ?? errno);
  if (errno !== undefined && CERTIFICATE.test(errno)) {
    return new CheckoutError(
      'fetch-failed',
      `the certificate of '${origin}' is not trusted: ${errno}`,
      { errno },
      error,
    );
  }
  return new TransientFetchError(
    'fetch-failed',
    `the connection to '${origin}' failed: ${why}`,
    errno === undefined ? {} : { errno },
    null,
    error,
  );
}

/** @throws TransientFetchError, HttpStatusError; for all but success */
async function refuseStatus(answer: IncomingMessage): Promise<void> {
  const status = answer.statusCode ?? 0;
  if (status === 200) return;
  const { origin = 'the server', url = '' } = origins.get(answer) ?? {};
  let said = '';
  if (answer.headers['content-type']?.startsWith('text/plain') === true) {
    said = await readWhole(answer, MOST_MESSAGE_BYTES).then(
      (body) => displayBytes(body.subarray(0, 200)).split('\\x0a')[0] ?? '',
      () => '',
    );
  }
  answer.destroy();
  const message =
    status === 404
      ? `repository '${url}' not found`
      : `'${origin}' returned error: ${status}${said === '' ? '' : ` (${said})`}`;
  if (isTransientStatus(status)) throw new TransientFetchError('fetch-failed', message, {}, retryAfter(answer));
  throw new HttpStatusError(status, message);
}

function retryAfter({ headers: { 'retry-after': value } }: IncomingMessage): number | null {
  return value === undefined ? null : parseRetryAfter(value, Date.now());
}

/** The body without its content encoding. */
function decoded(answer: IncomingMessage): Readable {
  const encoding = answer.headers['content-encoding']?.toLowerCase() ?? 'identity';
  if (encoding === 'identity') return answer;
  if (encoding !== 'gzip' && encoding !== 'x-gzip') throw protocolError('has an encoding that nobody asked for');
  return pipeline(answer, createGunzip(), () => undefined);
}

/**
 * Gives a body away piece by piece; nothing more is read while `take` works.
 *
 * @param leastBytesPerSecond what must come for the server not to be dead; with 0 any byte will do
 */
async function readPieces(
  answer: IncomingMessage,
  take: (piece: Bytes) => void,
  leastBytesPerSecond: () => number = () => LEAST_BYTES_PER_SECOND,
): Promise<void> {
  const { origin = 'the server', signal, stallMs = Infinity } = origins.get(answer) ?? {};
  let received = 0;
  let before = 0;
  const look = (): void => {
    if (received - before < Math.max(1, (leastBytesPerSecond() * stallMs) / 1000))
      answer.destroy(new Stalled(stallMs, received > 0));
    before = received;
  };
  const watch = stallMs < Infinity ? setInterval(look, stallMs) : undefined;
  try {
    const body = decoded(answer);
    for await (const piece of body as AsyncIterable<Buffer>) {
      received += piece.length;
      take(piece);
    }
  } catch (error) {
    answer.destroy();
    if (error instanceof CheckoutError) throw error;
    const errno = errnoOf(error);
    // A bug in what takes the pieces is no failure of the connection.
    if (errno === undefined && !(error instanceof Stalled) && signal?.aborted !== true) throw error;
    throw connectionError(error, origin, signal);
  } finally {
    clearInterval(watch);
  }
}

async function readWhole(answer: IncomingMessage, most = MOST_ANSWER_BYTES): Promise<Buffer> {
  const pieces: Bytes[] = [];
  let length = 0;
  await readPieces(answer, (piece) => {
    length += piece.length;
    if (length > most) throw protocolError('is too long');
    pieces.push(piece);
  });
  return Buffer.concat(pieces);
}
