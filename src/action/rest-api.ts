/**
 * The server's REST interface, for a runner without git: one GET at a time, with redirects, limits and further attempts.
 * The token goes to the server that the settings name; where that one sends us elsewhere (an archive comes from a host of
 * its own), it stays behind. Addresses can hold a credential in their query, so none is ever shown with it.
 */
import { Agent as HttpAgent, get as httpGet, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, get as httpsGet } from 'node:https';
import { getCACertificates } from 'node:tls';
import {
  DEADLINE_MS,
  isTransientStatus,
  parseRetryAfter,
  redactor,
  STALL_MS,
  TransientFetchError,
  withRetries,
} from '../engine/engine.ts';
import { CheckoutError, errnoOf } from '../engine/errors.ts';
import type { FetchLimits } from '../engine/settings.ts';
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
  readonly limits: FetchLimits;
}

const MOST_REDIRECTS = 5;

/** Of an error's body; GitHub's are some 100 bytes. */
const MOST_ERROR_BYTES = 64 * 1024;

/** Of a JSON answer; that about a repository has some 10 KB. */
const MOST_JSON_BYTES = 4 * 1024 * 1024;

/** What is said of an address: the query is left out. */
function shown(url: URL): string {
  return `${url.origin}${url.pathname}`;
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
  const after = parseRetryAfter(headers['retry-after'] ?? '', Date.now());
  // GitHub's limits: of one it says when to come back; of the hourly one another header does, and it is not within seconds.
  const isLimited = status === 403 && (after !== null || headers['x-ratelimit-remaining'] === '0');
  if (isTransientStatus(status) || (isLimited && after !== null)) {
    return new TransientFetchError('fetch-failed', text, {}, after);
  }
  const isRefused = status === 401 || (status === 403 && !isLimited);
  return new CheckoutError(isRefused ? 'authentication-failed' : 'fetch-failed', text);
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
  if (url.protocol === 'http:') return new HttpAgent(options);
  // The system's authorities too, as git trusts them (some 45 ms to read): Node by itself knows its own and NODE_EXTRA_CA_CERTS.
  const ca = [...getCACertificates('default'), ...getCACertificates('system')];
  return new HttpsAgent({ ...options, ca });
}

/** Whether Node's code of a failed connection says that it does not trust the server, which no other attempt changes. */
export function isCertificateFault(code: string): boolean {
  return /CERT|SIGNATURE|CRL|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|^PATH_LENGTH_EXCEEDED$/.test(code);
}

/** One request and what is done with its answer, within the limits. Redirects are followed by the caller. */
async function exchange<Result>(
  api: RestApi,
  url: URL,
  sendsToken: boolean,
  consume: (response: IncomingMessage) => Promise<Result>,
): Promise<Result> {
  const { stallMs = STALL_MS, deadlineMs = DEADLINE_MS } = api.limits;
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
  const stopped: CheckoutError[] = [];
  const stop = (error: CheckoutError): void => {
    stopped.push(error);
    request.destroy(error);
  };
  let before = 0;
  const watch = (): void => {
    const now = request.socket?.bytesRead ?? 0;
    const enough = now - before >= stallMs;
    before = now;
    // 1000 bytes a second are a byte a millisecond.
    const what = `${shown(url)} sent less than 1000 bytes a second for ${stallMs / 1000} s`;
    if (!enough) stop(new TransientFetchError('fetch-failed', what, {}, null));
  };
  const over = (): void => {
    stop(new CheckoutError('fetch-failed', `${shown(url)} took longer than ${deadlineMs / 1000} s`));
  };
  const timers = [
    ...(stallMs === 0 ? [] : [setInterval(watch, stallMs)]),
    ...(deadlineMs === 0 ? [] : [setTimeout(over, deadlineMs)]),
  ];
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      request.once('response', resolve).once('error', reject);
    });
    // Once there is an answer, its stream has the error; one of the request as well must not end the process.
    request.on('error', () => undefined);
    return await consume(response);
  } catch (error) {
    if (signal.aborted) throw new CheckoutError('interrupted', 'interrupted while the archive was fetched', {}, error);
    if (stopped[0] !== undefined) throw stopped[0];
    if (error instanceof CheckoutError) throw error;
    const errno = errnoOf(error);
    // A failure of ours has no code; what the network, TLS or zlib say has one.
    if (errno === undefined) throw error;
    const reason = (error instanceof Error ? error.message : '') || errno;
    if (isCertificateFault(errno)) {
      // What Node adds is advice about its own command line.
      const what = `${shown(url)}: ${reason.replace(/;.*/s, '')} (${errno}). NODE_EXTRA_CA_CERTS can name a file of further authorities`;
      throw new CheckoutError('fetch-failed', harmlessLine(what), { errno }, error);
    }
    throw new TransientFetchError('fetch-failed', harmlessLine(`${shown(url)}: ${reason}`), { errno }, null, error);
  } finally {
    for (const timer of timers) clearInterval(timer);
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
  const first = URL.parse(`${api.baseUrl}${path}`);
  if (first === null || !/^https?:$/.test(first.protocol)) {
    throw new CheckoutError('usage', harmlessLine(`the REST interface has no http or https address: '${api.baseUrl}'`));
  }
  const { origin } = first;
  let url = first;
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
 * pass, by the rules of every fetch.
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
  const { limits, signal, log } = api;
  return withRetries({ limits, signal, warn: log }, () => getOnce(api, path, notFound, consume));
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
