/**
 * The server's REST interface, for a runner without git: one GET at a time, with redirects, limits and further attempts.
 * The token goes to the server that the settings name; where that one sends us elsewhere (an archive comes from a host of
 * its own), it stays behind. Addresses can hold a credential in their query, so none is ever shown with it.
 */
import { Agent as HttpAgent, get as httpGet, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, get as httpsGet } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { redactor } from '../engine/engine.ts';
import { CheckoutError, errnoOf, type ErrorCode } from '../engine/errors.ts';
import { harmlessLine } from './log.ts';

/** What requests have in common. */
export interface RestApi {
  /** Without a slash at the end. */
  readonly baseUrl: string;
  readonly token: string;
  /** For `https_proxy` and its kin, which Node reads. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
  /** Told about failed attempts, one line each. */
  readonly log: (line: string) => void;
  /** Other values than the default are for tests. */
  readonly limits?: RestLimits;
}

export interface RestLimits {
  /** A server that sends fewer than `minBytes` within this time is given up. */
  readonly windowMs: number;
  readonly minBytes: number;
  /** How long to wait before the second attempt and before the third, at most; half of it at least. */
  readonly delaysMs: readonly number[];
}

/**
 * 1000 bytes a second over a minute is what git's documentation has as an example for http.lowSpeedLimit; a server that
 * makes a large archive needs some time for its first byte. actions/checkout waits 10 to 20 s before either attempt.
 */
const LIMITS: RestLimits = { windowMs: 60_000, minBytes: 60_000, delaysMs: [8000, 20_000] };

/** Longer than this a job does not wait because the server says so; GitHub's hourly limit can be that far away. */
const LONGEST_RETRY_AFTER_MS = 120_000;

const MOST_REDIRECTS = 5;

/** Of an error's body; GitHub's are some 100 bytes. */
const MOST_ERROR_BYTES = 64 * 1024;

/** Of a JSON answer; that about a repository has some 10 KB. */
const MOST_JSON_BYTES = 4 * 1024 * 1024;

/** A failure that may be gone with the next attempt. */
class Transient extends Error {
  readonly error: CheckoutError;
  readonly retryAfterMs: number | null;

  constructor(error: CheckoutError, retryAfterMs: number | null = null) {
    super(error.message);
    this.error = error;
    this.retryAfterMs = retryAfterMs;
  }
}

/** What is said of an address: the query is left out. */
function shown(url: URL): string {
  return `${url.origin}${url.pathname}`;
}

/** `Retry-After` in milliseconds, seconds and dates alike; null if there is none or it says nothing. */
export function retryAfterMs(header: string | undefined, now: number): number | null {
  if (header === undefined) return null;
  if (/^\s*\d+\s*$/.test(header)) return Number(header) * 1000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}

async function readBody(response: IncomingMessage, mostBytes: number): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > mostBytes) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function parseJson(body: Buffer | null): unknown {
  try {
    return body === null ? null : JSON.parse(body.toString('utf8'));
  } catch {
    return null;
  }
}

function textMember(value: unknown, name: string): string {
  if (typeof value !== 'object' || value === null) return '';
  const member = (value as Record<string, unknown>)[name];
  return typeof member === 'string' ? member : '';
}

/** The failure that an answer other than 200 is. `notFound` says what a 404 means. */
async function statusFailure(
  response: IncomingMessage,
  url: URL,
  notFound: CheckoutError,
  redact: (text: string) => string,
): Promise<Error> {
  const { statusCode: status = 0, headers } = response;
  const said = textMember(parseJson(await readBody(response, MOST_ERROR_BYTES)), 'message').slice(0, 200);
  const text = harmlessLine(redact(`${shown(url)} answered ${status}${said === '' ? '' : `: ${said}`}`));
  if (status === 404) return notFound;
  const after = retryAfterMs(headers['retry-after'], Date.now());
  const isRateLimit =
    status === 429 || (status === 403 && (after !== null || headers['x-ratelimit-remaining'] === '0'));
  if (isRateLimit || status === 408 || status >= 500) {
    const error = new CheckoutError('fetch-failed', text);
    // Without the header there is no telling when the limit ends, but it is not within seconds.
    return status === 403 && after === null ? error : new Transient(error, after);
  }
  const code: ErrorCode = status === 401 || status === 403 ? 'authentication-failed' : 'fetch-failed';
  return new CheckoutError(code, text);
}

/** The first Node that can use a proxy without a library (http.Agent, `proxyEnv`). */
function canUseProxy(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > 24 || (major === 24 && minor >= 5);
}

function agentFor(url: URL, environment: RestApi['environment']): HttpAgent {
  const names = url.protocol === 'https:' ? ['https_proxy', 'HTTPS_PROXY'] : ['http_proxy', 'HTTP_PROXY'];
  const asksForProxy = names.some((name) => (environment[name] ?? '') !== '');
  if (asksForProxy && !canUseProxy(process.versions.node)) {
    const what = `Node.js ${process.versions.node} cannot use the proxy of ${names[0] ?? ''}; 24.5 and newer can`;
    throw new CheckoutError('unsupported', what);
  }
  const options = asksForProxy ? { proxyEnv: { ...environment } } : {};
  return url.protocol === 'https:' ? new HttpsAgent(options) : new HttpAgent(options);
}

/** One request and what is done with its answer, within the limits. Redirects are followed by the caller. */
async function exchange<Result>(
  api: RestApi,
  url: URL,
  sendsToken: boolean,
  consume: (response: IncomingMessage) => Promise<Result>,
): Promise<Result> {
  const { windowMs, minBytes } = api.limits ?? LIMITS;
  const { signal } = api;
  const agent = agentFor(url, api.environment);
  const headers = {
    accept: 'application/vnd.github+json',
    'accept-encoding': 'identity',
    'user-agent': 'parallel-checkout',
    ...(sendsToken ? { authorization: `token ${api.token}` } : {}),
  };
  const get = url.protocol === 'https:' ? httpsGet : httpGet;
  const request = get(url, { agent, headers, signal });
  let before = 0;
  const stalled: Transient[] = [];
  const watch = setInterval(() => {
    const now = request.socket?.bytesRead ?? 0;
    const enough = now - before >= minBytes;
    before = now;
    if (enough) return;
    const what = `${shown(url)} sent less than ${minBytes} bytes in ${windowMs / 1000} s`;
    const failure = new Transient(new CheckoutError('fetch-failed', what));
    stalled.push(failure);
    request.destroy(failure);
  }, windowMs);
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      request.once('response', resolve).once('error', reject);
    });
    // Once there is an answer, its stream has the error; one of the request as well must not end the process.
    request.on('error', () => undefined);
    return await consume(response);
  } catch (error) {
    if (signal.aborted) throw new CheckoutError('interrupted', 'interrupted while the archive was fetched', {}, error);
    if (stalled[0] !== undefined) throw stalled[0];
    if (error instanceof CheckoutError || error instanceof Transient) throw error;
    const errno = errnoOf(error);
    // A failure of ours has no code; what the network, TLS or zlib say has one.
    if (errno === undefined) throw error;
    const reason = error instanceof Error ? error.message : errno;
    throw new Transient(
      new CheckoutError('fetch-failed', harmlessLine(`${shown(url)}: ${reason || errno}`), { errno }, error),
    );
  } finally {
    clearInterval(watch);
    request.destroy();
    agent.destroy();
  }
}

/** Follows redirects to the answer. The token stays with the server that the settings name. */
async function getOnce<Result>(
  api: RestApi,
  path: string,
  notFound: CheckoutError,
  consume: (response: IncomingMessage) => Promise<Result>,
): Promise<Result> {
  const redact = redactor({ TOKEN: api.token });
  let url = new URL(`${api.baseUrl}${path}`);
  const { origin } = url;
  for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects++) {
    const answer = await exchange(api, url, url.origin === origin, async (response) => {
      const { statusCode = 0, headers } = response;
      if (statusCode === 200) return { result: await consume(response) };
      if (![301, 302, 303, 307, 308].includes(statusCode)) throw await statusFailure(response, url, notFound, redact);
      const next = headers.location === undefined ? null : URL.parse(headers.location, url.href);
      if (
        next === null ||
        !/^https?:$/.test(next.protocol) ||
        (url.protocol === 'https:' && next.protocol === 'http:')
      ) {
        const what = `${shown(url)} sends us to ${next === null ? 'nowhere' : shown(next)}, which is not followed`;
        throw new CheckoutError('fetch-failed', harmlessLine(what));
      }
      return { next };
    });
    if ('result' in answer) return answer.result;
    url = answer.next;
  }
  throw new CheckoutError('fetch-failed', `${shown(url)}: the server redirected more than ${MOST_REDIRECTS} times`);
}

/**
 * Gets `path` and hands the answer with status 200 to `consume`, again from the start where an attempt failed for what may
 * pass: three times in all.
 *
 * @param notFound the error that status 404 is
 * @throws CheckoutError fetch-failed, authentication-failed, interrupted, unsupported (a proxy with an old Node.js), `notFound`,
 *   and what `consume` throws
 */
export async function restGet<Result>(
  api: RestApi,
  path: string,
  notFound: CheckoutError,
  consume: (response: IncomingMessage) => Promise<Result>,
): Promise<Result> {
  const { delaysMs } = api.limits ?? LIMITS;
  for (let attempt = 0; ; attempt++) {
    try {
      return await getOnce(api, path, notFound, consume);
    } catch (failure) {
      if (!(failure instanceof Transient)) throw failure;
      const delay = delaysMs[attempt];
      const { error, retryAfterMs: after } = failure;
      if (delay === undefined) throw error;
      if (after !== null && after > LONGEST_RETRY_AFTER_MS) {
        const wait = `it wants to be asked again in ${Math.ceil(after / 1000)} s`;
        throw new CheckoutError(error.code, `${error.message} (${wait})`, error.subject, error);
      }
      const wait = Math.max(after ?? 0, delay * (0.5 + Math.random() / 2));
      api.log(`${error.message}; tried again in ${Math.round(wait / 1000)} s`);
      try {
        await sleep(wait, undefined, { signal: api.signal });
      } catch (aborted) {
        throw new CheckoutError('interrupted', 'interrupted while waiting for another attempt', {}, aborted);
      }
    }
  }
}

/**
 * The name of the repository's default branch. A wiki is no repository to the REST interface; its branch is `master`.
 * Throws as `restGet`; `fetch-failed` where there is no such repository.
 */
export async function restDefaultBranch(api: RestApi, owner: string, name: string): Promise<string> {
  const isWiki = name.toUpperCase().endsWith('.WIKI');
  const what = `the server has no repository '${owner}/${name}', or the token cannot read it`;
  const notFound = new CheckoutError('fetch-failed', harmlessLine(what));
  try {
    return await restGet(
      api,
      `/repos/${encodeURIComponent(owner)}/${encodeURIComponent(name)}`,
      notFound,
      async (response) => {
        const branch = textMember(parseJson(await readBody(response, MOST_JSON_BYTES)), 'default_branch');
        if (branch === '')
          throw new CheckoutError('fetch-failed', `the server does not say the default branch of '${owner}/${name}'`);
        return branch;
      },
    );
  } catch (error) {
    if (error === notFound && isWiki) return 'master';
    throw error;
  }
}
