/**
 * A smart-HTTP git server on loopback for tests: node:http in front of `git http-backend` (CGI). It can ask for a token,
 * records what was asked, and can be told to fail in several ways.
 */
import { spawn } from 'node:child_process';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TestCertificate } from './tls.ts';

/** What a fault does to the answer of the requests that it matches. */
export type Fault =
  /** Answers with this status and nothing of git's; headers such as Retry-After may be added. */
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string;
    }
  /** Sends this many bytes of git's answer as if that were all of it. */
  | { readonly kind: 'truncate'; readonly bytes: number }
  /** Sends this many bytes of git's answer and then cuts the connection. */
  | { readonly kind: 'reset'; readonly bytes: number }
  /** Takes the request and never answers. */
  | { readonly kind: 'hang' }
  /** Sends this many bytes of git's answer, and the rest of it at so many bytes a second, 40 if left out. */
  | { readonly kind: 'trickle'; readonly bytes: number; readonly bytesPerSecond?: number }
  /** Sends this many bytes of git's answer, and then others. */
  | { readonly kind: 'garbage'; readonly bytes: number }
  /** Sends whoever asks on to another address, without end. */
  | { readonly kind: 'redirect' };

/** A fault and the requests that it is for. */
export interface FaultRule {
  readonly fault: Fault;
  /** How many requests it hits before it is used up; all of them if left out. */
  readonly times?: number;
  /** Only requests whose path (with query) matches; all of them if left out. */
  readonly path?: RegExp;
}

/** Answers a request that git's server is not for; false leaves it to that. `path` is without the query. */
export type Handler = (request: IncomingMessage, response: ServerResponse, path: string) => boolean;

export interface HttpServerOptions {
  /** The directory whose repositories are served, as GIT_PROJECT_ROOT. A path without `.git` finds `<path>.git` too. */
  readonly root: string;
  /** Requests without `Authorization: basic x-access-token:<token>` are answered with 401. */
  readonly token?: string;
  readonly faults?: readonly FaultRule[];
  /** Speaks TLS with this key and certificate. */
  readonly tls?: Pick<TestCertificate, 'key' | 'cert'>;
  /** False where the process may end while the server is still open. */
  readonly lasting?: boolean;
  /** Called for each request before it is answered, while whoever asks is at work. */
  readonly onRequest?: () => void;
  /** Asked before git's server, once the token was found right. */
  readonly handler?: Handler;
}

/** One request as it came. */
export interface RecordedRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  /** Every Authorization header; more than one is a mistake of the client's. */
  readonly authorization: readonly string[];
  readonly userAgent: string;
  /** The Git-Protocol header, such as `version=2`. */
  readonly protocol: string;
  /** Set when it was answered; 0 when the connection was cut. */
  status: number;
}

export interface HttpServer {
  /** Such as `http://127.0.0.1:40321`. */
  readonly origin: string;
  readonly requests: readonly RecordedRequest[];
  /** How many `git http-backend` processes were started. */
  readonly processes: () => number;
  /** Adds a fault. */
  fail(rule: FaultRule): void;
  /** Forgets faults and recorded requests. */
  reset(): void;
  /** Cuts all connections and waits until the port is free. */
  close(): Promise<void>;
}

/** How often something comes of an answer that trickles. */
const TRICKLE_MS = 100;

interface LiveRule {
  readonly rule: FaultRule;
  left: number;
}

function headersOf(request: IncomingMessage, name: string): string[] {
  // `headersDistinct` leaves out duplicates of Authorization, which are just what is to be seen.
  const values: string[] = [];
  for (let at = 0; at + 1 < request.rawHeaders.length; at += 2) {
    if (request.rawHeaders[at]!.toLowerCase() === name) values.push(request.rawHeaders[at + 1]!);
  }
  return values;
}

/** Starts a server on a random port of 127.0.0.1. */
export async function startHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const requests: RecordedRequest[] = [];
  const children = new Set<ReturnType<typeof spawn>>();
  let started = 0;
  let rules: LiveRule[] = [];
  const addRule = (rule: FaultRule): void => {
    rules.push({ rule, left: rule.times ?? Infinity });
  };
  options.faults?.forEach(addRule);

  const takeFault = (path: string): Fault | null => {
    const live = rules.find(({ rule, left }) => left > 0 && (rule.path?.test(path) ?? true));
    if (live === undefined) return null;
    live.left--;
    return live.rule.fault;
  };
  const expected =
    options.token === undefined ? null : Buffer.from(`x-access-token:${options.token}`).toString('base64');

  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    const path = request.url ?? '/';
    const authorization = headersOf(request, 'authorization');
    const recorded: RecordedRequest = {
      method: request.method ?? '',
      path,
      authorization,
      userAgent: request.headers['user-agent'] ?? '',
      protocol: headersOf(request, 'git-protocol').join(','),
      status: 0,
    };
    requests.push(recorded);
    options.onRequest?.();
    const answer = (status: number, headers: Readonly<Record<string, string>>, body: string): void => {
      recorded.status = status;
      request.resume();
      response.writeHead(status, { 'Content-Type': 'text/plain', ...headers });
      response.end(body);
    };

    const fault = takeFault(path);
    if (fault?.kind === 'hang') return;
    if (fault?.kind === 'redirect') {
      const [at = '', query = ''] = path.split('?');
      // Another one each time, which no client can know for a circle; with git's own names at its end, without which git stops.
      answer(302, { Location: `/again${at}?${query}` }, '');
      return;
    }
    if (fault?.kind === 'status') {
      answer(fault.status, fault.headers ?? {}, fault.body ?? `fault ${fault.status}\n`);
      return;
    }
    if (authorization.length > 1) {
      answer(400, {}, 'more than one Authorization header\n');
      return;
    }
    if (expected !== null && authorization[0]?.replace(/^basic /i, '') !== expected) {
      answer(401, { 'WWW-Authenticate': 'Basic realm="test"' }, 'a token is needed\n');
      return;
    }
    response.once('finish', () => {
      recorded.status = response.statusCode;
    });
    if (options.handler?.(request, response, path.replace(/\?.*$/, '')) === true) return;
    serve(request, response, recorded, fault);
  };

  const serve = (
    request: IncomingMessage,
    response: ServerResponse,
    recorded: RecordedRequest,
    fault: Fault | null,
  ): void => {
    const url = new URL(recorded.path, 'http://localhost');
    const pathInfo = decodeURIComponent(url.pathname).replace(
      /^(.*?)(?:\.git)?(\/(?:info\/refs|git-upload-pack|git-receive-pack))$/,
      '$1.git$2',
    );
    const child = spawn('git', ['http-backend'], {
      stdio: ['pipe', 'pipe', 'ignore'],
      env: {
        PATH: process.env['PATH'],
        GIT_PROJECT_ROOT: options.root,
        GIT_HTTP_EXPORT_ALL: '1',
        // Commits by id, the object filter and shallow fetches are what a hosting server allows.
        GIT_CONFIG_NOSYSTEM: '1',
        GIT_CONFIG_COUNT: '3',
        GIT_CONFIG_KEY_0: 'uploadpack.allowAnySHA1InWant',
        GIT_CONFIG_VALUE_0: 'true',
        GIT_CONFIG_KEY_1: 'uploadpack.allowFilter',
        GIT_CONFIG_VALUE_1: 'true',
        GIT_CONFIG_KEY_2: 'safe.directory',
        GIT_CONFIG_VALUE_2: '*',
        HOME: options.root,
        PATH_INFO: pathInfo,
        QUERY_STRING: url.search.slice(1),
        REQUEST_METHOD: recorded.method,
        CONTENT_TYPE: request.headers['content-type'] ?? '',
        HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
        GIT_PROTOCOL: recorded.protocol,
        REMOTE_ADDR: '127.0.0.1',
        ...(request.headers['content-length'] === undefined
          ? {}
          : { CONTENT_LENGTH: request.headers['content-length'] }),
      },
    });
    started++;
    children.add(child);
    child.on('close', () => children.delete(child));
    response.on('close', () => child.kill());
    const { stdin, stdout } = child;
    request.pipe(stdin);
    stdin.on('error', () => undefined); // it may end before it has read everything

    let head: Buffer | null = Buffer.alloc(0);
    const limit = fault !== null && 'bytes' in fault ? fault.bytes : Infinity;
    let sent = 0;
    let isCut = false;
    const send = (chunk: Buffer): void => {
      if (isCut) return;
      const part = chunk.subarray(0, limit - sent);
      sent += part.length;
      if (!response.write(part)) {
        stdout.pause();
        response.once('drain', () => stdout.resume());
      }
      if (sent < limit) return;
      isCut = true;
      // What follows is not git's.
      stdout.removeAllListeners('end');
      if (fault?.kind === 'reset') {
        response.socket?.resetAndDestroy();
      } else if (fault?.kind === 'garbage') {
        response.end(Buffer.alloc(100_000, 'garbage'));
      } else if (fault?.kind === 'trickle') {
        const step = ((fault.bytesPerSecond ?? 40) * TRICKLE_MS) / 1000;
        let rest = chunk.subarray(part.length);
        let isAll = false;
        stdout
          .removeAllListeners('data')
          .on('data', (more: Buffer) => (rest = Buffer.concat([rest, more])))
          .on('end', () => (isAll = true));
        const timer = setInterval(() => {
          response.write(rest.subarray(0, step));
          rest = rest.subarray(step);
          if (isAll && rest.length === 0) response.end();
        }, TRICKLE_MS);
        response.once('close', () => clearInterval(timer));
      } else {
        response.end();
      }
    };
    stdout.on('data', (chunk: Buffer) => {
      if (head === null) {
        send(chunk);
        return;
      }
      head = Buffer.concat([head, chunk]);
      const end = head.indexOf('\r\n\r\n');
      if (end < 0) return;
      const lines = head.subarray(0, end).toString('latin1').split('\r\n');
      const body = head.subarray(end + 4);
      head = null;
      let status = 200;
      for (const line of lines) {
        const colon = line.indexOf(':');
        const name = line.slice(0, colon);
        const value = line.slice(colon + 1).trim();
        if (name.toLowerCase() === 'status') status = Number.parseInt(value, 10);
        else response.setHeader(name, value);
      }
      recorded.status = status;
      response.writeHead(status);
      if (body.length > 0 || limit === 0) send(body);
    });
    stdout.on('end', () => {
      if (!response.writableEnded && !response.destroyed) response.end();
    });
  };

  const { tls } = options;
  const server: Server =
    tls === undefined ? createServer(handle) : createSecureServer({ key: tls.key, cert: tls.cert }, handle);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  if (options.lasting === false) server.unref();
  const { port } = server.address() as AddressInfo;
  return {
    origin: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    requests,
    processes: () => started,
    fail: addRule,
    reset() {
      rules = [];
      requests.length = 0;
    },
    async close() {
      for (const child of children) child.kill();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
