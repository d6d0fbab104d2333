/**
 * A git server over HTTP (gitprotocol-http(5), the smart protocol, version 2): one question what it offers, then commands by POST, all on one
 * connection that is kept open. Made with Node's own client, whose answers stop coming while nobody takes them.
 * docs/decisions/http-client.md.
 */
import { Agent as HttpAgent, type ClientRequest, type IncomingMessage, request as httpRequest } from 'node:http';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream';
import type { ConnectionOptions } from 'node:tls';
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
import { StallWatch } from './stall-watch.ts';

const SERVICE = 'git-upload-pack';
/** As many as git follows. */
const MOST_REDIRECTS = 20;
/** An answer that is held whole: a server's refs. A repository of 100,000 tags has 8 MB of them. */
const MOST_ANSWER_BYTES = 256 << 20;
/** What a server offers takes a kilobyte. One of an older version lists all its refs instead, which nobody needs to read. */
const MOST_OFFER_BYTES = 1 << 20;
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
  #connecting: AbortController | null = null;
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
    this.#connecting?.abort();
    this.#connecting = null;
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
      this.#capabilities = parseAdvertisement(await readBeginning(answer));
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
    if (new URL(from).protocol === 'https:' && to.protocol !== 'https:') {
      throw protocolError('redirects from https to http, which is not followed');
    }
    // Who we are is not for the server to say.
    to.username = to.password = '';
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

  /**
   * Sends one request; once more where the server's authority is one that only the system knows, or where the connection that was kept open
   * turned out to be closed: the server may close it at any time.
   */
  async #call(call: Call): Promise<IncomingMessage> {
    for (let mayBeStale = true; ;) {
      try {
        return await this.#send(call);
      } catch (error) {
        this.close();
        if (mayBeStale && error instanceof CheckoutError && stale.has(error)) {
          mayBeStale = false;
          continue;
        }
        const errno = error instanceof Error ? errnoOf(error.cause) : undefined;
        if (errno === undefined || !UNKNOWN_AUTHORITY.has(errno) || this.#ca !== null) throw error;
        this.#ca = await this.#options.systemCa();
      }
    }
  }

  async #send({ method, url, headers, body }: Call): Promise<IncomingMessage> {
    const { signal, stallMs, userAgent } = this.#options;
    const target = new URL(url);
    const { origin } = target;
    if (signal?.aborted === true) throw connectionError(null, origin, signal);
    const agent = await this.#agentFor(target);
    const { request: secureRequest } = target.protocol === 'https:' ? await import('node:https') : { request: null };
    this.requests++;
    const own = origin === this.#origin ? headersByName(this.#options.headers) : {};
    return await new Promise((resolve, reject) => {
      let request: ClientRequest | null = null;
      let isReused = false;
      const settle = (): void => {
        watch.stop();
        signal?.removeEventListener('abort', abort);
      };
      const fail = (error: unknown): void => {
        settle();
        const failure = connectionError(error, origin, signal);
        if (isReused && !(error instanceof Stalled)) stale.add(failure);
        reject(failure);
      };
      // A request that has no connection yet, since the proxy has not made it, tells nobody that it was destroyed.
      const end = (error: unknown): void => {
        fail(error);
        request?.destroy();
      };
      const abort = (): void => end(null);
      const watch = new StallWatch(
        stallMs,
        () => 1,
        () => end(new Stalled(stallMs, false)),
      );
      signal?.addEventListener('abort', abort, { once: true });
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
      };
      try {
        request = (secureRequest ?? httpRequest)(target, options);
      } catch (error) {
        fail(error);
        return;
      }
      request.once('socket', (socket) => {
        isReused = used.has(socket);
        used.add(socket);
      });
      // To the end: what goes wrong once an answer has begun is the answer's error.
      request.on('error', fail);
      request.once('upgrade', (_, socket) => {
        socket.destroy();
        fail(protocolError('is of another protocol'));
      });
      request.once('response', (answer) => {
        settle();
        origins.set(answer, { origin, url: this.#base, signal, stallMs });
        resolve(answer);
      });
      request.end(body ?? undefined);
    });
  }

  #trusted(): { ca?: string[] } {
    const ca = this.#ca;
    return ca === null ? {} : { ca: typeof ca === 'string' ? [ca] : [...ca] };
  }

  async #agentFor(target: URL): Promise<HttpAgent> {
    if (this.#agent !== null && this.#agentOrigin === target.origin) return this.#agent;
    this.close();
    const isSecure = target.protocol === 'https:';
    // Ends connections that are still being made, too, of which a proxy's agent does not know.
    const { signal } = (this.#connecting = new AbortController());
    const options = { keepAlive: true, maxSockets: 1, signal, ...(isSecure ? this.#trusted() : {}) };
    const proxy = this.#options.proxyFor(target.href);
    if (proxy !== '' && !/^https?:$/.test(URL.parse(proxy)?.protocol ?? '')) {
      throw new CheckoutError('unsupported', 'the proxy is not an HTTP proxy');
    }
    let agent: HttpAgent;
    if (proxy !== '') {
      // Loaded where there is a proxy only: 25 ms.
      if (isSecure) {
        const { HttpsProxyAgent } = await import('https-proxy-agent');
        const through = new HttpsProxyAgent(proxy, options);
        const connect = through.connect.bind(through);
        const checked = { ...this.#trusted(), ...(await checkedAs(target)) };
        // It would use these for the proxy alone.
        through.connect = async (request, call) => await connect(request, { ...call, ...checked });
        agent = through;
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

/**
 * The name that a server's certificate must have: the agent for a proxy would take one for 'localhost' where the target is an address. Not an option
 * of requests, since those that have it share no connection.
 */
async function checkedAs({ hostname }: URL): Promise<Pick<ConnectionOptions, 'checkServerIdentity'>> {
  const { checkServerIdentity } = await import('node:tls');
  const name = hostname.replace(/^\[|\]$/g, '');
  return { checkServerIdentity: (_, certificate) => checkServerIdentity(name, certificate) };
}

/** By name; a name may be there more than once. */
function headersByName(headers: HttpOptions['headers']): Record<string, string[]> {
  const byName = new Map<string, [name: string, ...values: string[]]>();
  for (const [name, value] of headers) {
    const known = byName.get(name.toLowerCase());
    if (known === undefined) byName.set(name.toLowerCase(), [name, value]);
    else known.push(value);
  }
  return Object.fromEntries([...byName.values()].map(([name, ...values]) => [name, values]));
}

/** Connections that had a request. `reusedSocket` does not tell of those that a request has waited for. */
const used = new WeakSet<object>();

/** Failures of a connection that was kept open: another one may do. */
const stale = new WeakSet<CheckoutError>();

/** Nobody wants more. */
class Ended extends Error {}

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
  const { origin, url } = originOf(answer);
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
      : `${status === 407 ? 'the proxy for ' : ''}'${origin}' returned error: ${status}${said === '' ? '' : ` (${said})`}`;
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
  const { origin, signal, stallMs } = originOf(answer);
  const abort = (): void => void answer.destroy(new Ended());
  const least = (): number => Math.max(1, (leastBytesPerSecond() * stallMs) / 1000);
  const watch = new StallWatch(stallMs, least, (hasReceived) => answer.destroy(new Stalled(stallMs, hasReceived)));
  signal?.addEventListener('abort', abort, { once: true });
  try {
    if (signal?.aborted === true) throw new Ended();
    const body = decoded(answer);
    for await (const piece of body as AsyncIterable<Buffer>) {
      const begun = performance.now();
      take(piece);
      watch.came(piece.length, performance.now() - begun);
    }
  } catch (error) {
    answer.destroy();
    if (error instanceof CheckoutError) throw error;
    const isOfConnection = error instanceof Stalled || error instanceof Ended || errnoOf(error) !== undefined;
    // A bug in what takes the pieces is no failure of the connection.
    throw isOfConnection ? connectionError(error, origin, signal) : error;
  } finally {
    watch.stop();
    signal?.removeEventListener('abort', abort);
  }
}

function originOf(answer: IncomingMessage): AnswerOrigin {
  const origin = origins.get(answer);
  if (origin === undefined) throw new Error('an answer that nobody asked for');
  return origin;
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

/** As much as what a server offers can take; what comes behind that is left. */
async function readBeginning(answer: IncomingMessage): Promise<Buffer> {
  const pieces: Bytes[] = [];
  const enough = new Ended();
  let length = 0;
  try {
    await readPieces(answer, (piece) => {
      pieces.push(piece);
      length += piece.length;
      if (length > MOST_OFFER_BYTES) throw enough;
    });
  } catch (error) {
    if (!(error instanceof CheckoutError) || error.cause !== enough) throw error;
  }
  return Buffer.concat(pieces);
}
