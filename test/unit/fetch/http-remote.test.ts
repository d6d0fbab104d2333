import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { HttpRemote, type HttpOptions, HttpStatusError } from '../../../src/engine/fetch/http-remote.ts';
import { TransientFetchError } from '../../../src/engine/fetch/retry.ts';
import { DELIM_PKT, FLUSH_PKT, pktLine } from '../../../src/engine/fetch/pkt-line.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const A = 'a'.repeat(40);
const SECRET = 'Basic c2VjcmV0';
const OFFER = [
  pktLine('# service=git-upload-pack\n'),
  FLUSH_PKT,
  pktLine('version 2\n'),
  pktLine('agent=x\n'),
  pktLine('fetch=shallow\n'),
  FLUSH_PKT,
].join('');
const REFS = `${pktLine(`${A} refs/heads/main\n`)}${FLUSH_PKT}`;
const PACK = 'PACK of some bytes, '.repeat(5000);
const ANSWER = Buffer.from(
  `${pktLine('shallow-info\n')}${pktLine(`shallow ${A}\n`)}${DELIM_PKT}${pktLine('packfile\n')}${pktLine('\x02working\n')}` +
    `${pktLine('\x01')}${pktLine(`\x01${PACK.slice(0, 60000)}`)}${pktLine(`\x01${PACK.slice(60000)}`)}${FLUSH_PKT}`,
  'latin1',
);
const COMMAND = { wants: [A], depth: 1, filter: null, includeTag: false, shallow: [] };

type Handler = (request: IncomingMessage, answer: ServerResponse, body: Buffer) => void;

interface Served {
  readonly origin: string;
  readonly requests: {
    method: string;
    url: string;
    headers: IncomingMessage['headers'];
    body: Buffer;
    raw: string[];
  }[];
  readonly sockets: Set<Socket>;
  connections: number;
}

const closers: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function listen(server: Server | ReturnType<typeof createTcpServer>, scheme = 'http'): Promise<Served> {
  const served: Served = { origin: '', requests: [], sockets: new Set(), connections: 0 };
  server.on('connection', (socket: Socket) => {
    served.connections++;
    served.sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => served.sockets.delete(socket));
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  closers.push(async () => {
    for (const socket of served.sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return Object.assign(served, { origin: `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}` });
}

function listenerOf(requests: () => Served['requests'], handler: Handler): RequestListener {
  return (request, answer) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const body = Buffer.concat(pieces);
      const { method = '', url = '', headers, rawHeaders } = request;
      requests().push({ method, url, headers, body, raw: rawHeaders });
      handler(request, answer, body);
    });
  };
}

async function serve(handler: Handler): Promise<Served> {
  const server = createServer(listenerOf(() => served.requests, handler));
  const served = await listen(server);
  return served;
}

const OFFER_TYPE = 'application/x-git-upload-pack-advertisement';
const RESULT_TYPE = 'application/x-git-upload-pack-result';

/** A server that does what it must. */
const proper: Handler = (request, answer, body) => {
  if (request.method === 'GET') {
    answer.writeHead(200, { 'Content-Type': OFFER_TYPE }).end(OFFER);
    return;
  }
  const plain = request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body;
  answer.writeHead(200, { 'Content-Type': RESULT_TYPE });
  answer.end(plain.includes('command=ls-refs') ? REFS : ANSWER);
};

const remotes: HttpRemote[] = [];
afterEach(() => {
  for (const remote of remotes.splice(0)) remote.close();
});

function remoteAt(url: string, options: Partial<HttpOptions> = {}): HttpRemote {
  const remote = new HttpRemote({
    url,
    headers: [['Authorization', SECRET]],
    userAgent: 'test/1',
    proxyFor: () => '',
    ca: null,
    systemCa: async () => await Promise.resolve([]),
    followRedirects: true,
    stallMs: 5000,
    ...options,
  });
  remotes.push(remote);
  return remote;
}

async function exchange(
  remote: HttpRemote,
): Promise<{ pack: string; said: string[]; shallow: readonly string[]; refs: string[] }> {
  await remote.discover();
  const refs = await remote.lsRefs(['refs/heads/']);
  let pack = '';
  const said: string[] = [];
  const { shallow } = await remote.fetch(
    COMMAND,
    (piece) => (pack += Buffer.from(piece).toString('latin1')),
    (line) => said.push(line),
  );
  return { pack, said, shallow, refs: refs.map(({ name }) => name) };
}

const WHOLE = { pack: PACK, said: ['working'], shallow: [A], refs: ['refs/heads/main'] };

const failed = (code: string, message?: RegExp): unknown =>
  expect.objectContaining({
    name: 'CheckoutError',
    code,
    ...(message === undefined ? {} : { message: expect.stringMatching(message) as string }),
  });

describe('an exchange', () => {
  it('takes three requests on one connection, and says who asks', async () => {
    const served = await serve(proper);
    const remote = remoteAt(`${served.origin}/a/b.git/`, {
      headers: [
        ['Authorization', SECRET],
        ['X-Own', '1'],
        ['x-own', '2'],
      ],
    });
    expect(await exchange(remote)).toEqual(WHOLE);
    expect(served.connections).toBe(1);
    expect(remote.requests).toBe(3);
    expect(served.requests.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'GET /a/b.git/info/refs?service=git-upload-pack',
      'POST /a/b.git/git-upload-pack',
      'POST /a/b.git/git-upload-pack',
    ]);
    for (const { headers, raw, method } of served.requests) {
      expect(headers).toMatchObject({
        'user-agent': 'test/1',
        'git-protocol': 'version=2',
        authorization: SECRET,
        'x-own': '1, 2',
      });
      expect(raw.filter((name) => name.toLowerCase() === 'authorization')).toHaveLength(1);
      if (method === 'POST') expect(headers['content-type']).toBe('application/x-git-upload-pack-request');
    }
    remote.close();
    for (let tries = 0; served.sockets.size > 0 && tries < 100; tries++)
      await new Promise((resolve) => setTimeout(resolve, 10));
    expect(served.sockets.size).toBe(0);
  });

  it('takes compressed answers, and compresses long requests', async () => {
    const served = await serve((request, answer, body) => {
      const isOffer = request.method === 'GET';
      const plain = request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body;
      const content = isOffer ? OFFER : plain.includes('command=ls-refs') ? REFS : ANSWER;
      answer.writeHead(200, {
        'Content-Type': isOffer ? OFFER_TYPE : `${RESULT_TYPE}; x=y`,
        'Content-Encoding': 'gzip',
      });
      answer.end(gzipSync(content));
    });
    const remote = remoteAt(served.origin);
    expect(await exchange(remote)).toEqual(WHOLE);
    await remote.lsRefs(Array.from({ length: 100 }, (_, i) => `refs/heads/some-branch-${i}`));
    const last = served.requests.at(-1);
    expect(last?.headers['content-encoding']).toBe('gzip');
    expect(gunzipSync(last?.body ?? '').toString()).toContain(pktLine('ref-prefix refs/heads/some-branch-99\n'));
    expect(served.connections).toBe(1);
  });

  it.each([1, 7, 1000, 70_000])('takes answers in chunks of %i bytes', async (size) => {
    const served = await serve((request, answer, body) => {
      if (request.method === 'GET' || body.includes('command=ls-refs')) {
        proper(request, answer, body);
        return;
      }
      const content = size === 1 ? ANSWER.subarray(0, 2000) : ANSWER;
      answer.writeHead(200, { 'Content-Type': RESULT_TYPE });
      for (let at = 0; at < content.length; at += size) answer.write(content.subarray(at, at + size));
      answer.end();
    });
    const remote = remoteAt(served.origin);
    if (size === 1) await expect(exchange(remote)).rejects.toEqual(failed('fetch-failed', /ends too early/));
    else expect(await exchange(remote)).toEqual(WHOLE);
  });

  it('goes on where the server has closed the connection that was kept', async () => {
    const served = await serve(proper);
    const remote = remoteAt(served.origin);
    await remote.discover();
    // Closed without a word, just when the next request is on its way.
    for (const socket of served.sockets) socket.once('data', () => socket.resetAndDestroy());
    expect((await remote.lsRefs([])).length).toBe(1);
    expect(served.connections).toBe(2);
    // But not for ever.
    const dead = createTcpServer((socket) => socket.once('data', () => socket.resetAndDestroy()));
    const { origin } = await listen(dead);
    await expect(remoteAt(origin).discover()).rejects.toEqual(failed('fetch-failed', /was reset/));
  });

  it('has the server wait while pieces are taken', async () => {
    const served = await serve((request, answer, body) => {
      if (request.method === 'GET') {
        proper(request, answer, body);
        return;
      }
      answer.writeHead(200, { 'Content-Type': RESULT_TYPE });
      answer.write(pktLine('packfile\n'));
      const piece = Buffer.from(pktLine(`\x01${'x'.repeat(60_000)}`));
      for (let i = 0; i < 300; i++) answer.write(piece);
      answer.end(FLUSH_PKT);
    });
    const remote = remoteAt(served.origin, { stallMs: 300 });
    await remote.discover();
    let taken = 0;
    let blocked = 0;
    await remote.fetch(
      COMMAND,
      (piece) => {
        taken += piece.length;
        // Busy for longer than a server may be silent.
        if (blocked++ === 2) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
      },
      () => undefined,
    );
    expect(taken).toBe(300 * 60_000);
  });

  it('lets a fault of whoever takes the pack through', async () => {
    const served = await serve(proper);
    const remote = remoteAt(served.origin);
    await remote.discover();
    const fault = new RangeError('a bug');
    const bug = remote.fetch(COMMAND, () => { throw fault; }, () => undefined); // prettier-ignore
    await expect(bug).rejects.toBe(fault);
  });
});

describe('redirects', () => {
  it('are followed for the first question, and no secret goes to another server', async () => {
    const other = await serve(proper);
    const served = await serve((request, answer) => {
      answer
        .writeHead(301, { Location: `${other.origin}/moved.git${(request.url ?? '').slice('/old.git'.length)}` })
        .end();
    });
    const remote = remoteAt(`${served.origin}/old.git`);
    expect(await exchange(remote)).toEqual(WHOLE);
    expect(served.requests.map(({ headers }) => headers.authorization)).toEqual([SECRET]);
    expect(other.requests.map(({ headers }) => headers.authorization)).toEqual([undefined, undefined, undefined]);
    expect(other.requests.map(({ url }) => url.split('?')[0])).toEqual([
      '/moved.git/info/refs',
      '/moved.git/git-upload-pack',
      '/moved.git/git-upload-pack',
    ]);
    expect(other.connections).toBe(1);
  });

  it('on the same server keep what it is told', async () => {
    const served = await serve((request, answer, body) => {
      if (request.url?.startsWith('/old') === true)
        answer.writeHead(302, { Location: '/new/info/refs?service=git-upload-pack' }).end();
      else proper(request, answer, body);
    });
    expect(await exchange(remoteAt(`${served.origin}/old`))).toEqual(WHOLE);
    expect(served.requests.every(({ headers }) => headers.authorization === SECRET)).toBe(true);
  });

  it.each([
    ['to itself without end', '/info/refs?service=git-upload-pack', /redirect without end/],
    ['to a file', 'file:///etc/passwd', /no address/],
    ['to nowhere', 'http://[', /no address/],
    ['to another page', '/login', /no git repository/],
  ])('%s are refused', async (_, location, message) => {
    const served = await serve((request, answer, body) => {
      if (request.url === '/login') proper(request, answer, body);
      else answer.writeHead(302, { Location: location }).end();
    });
    await expect(remoteAt(served.origin).discover()).rejects.toEqual(failed('fetch-failed', message));
    expect(served.requests.length).toBeLessThanOrEqual(21);
  });

  it('are not followed where that is switched off, nor for commands', async () => {
    const served = await serve((request, answer, body) => {
      if (request.method === 'GET' && request.url?.startsWith('/a') === true) proper(request, answer, body);
      else answer.writeHead(307, { Location: `/a${request.url ?? ''}` }).end();
    });
    await expect(remoteAt(`${served.origin}/b`, { followRedirects: false }).discover()).rejects.toEqual(
      failed('fetch-failed', /not followed/),
    );
    const remote = remoteAt(`${served.origin}/a`);
    await remote.discover();
    await expect(remote.lsRefs([])).rejects.toMatchObject({ status: 307, code: 'fetch-failed' });
  });
});

describe('answers that are none', () => {
  it.each([
    [401, 'authentication-failed', undefined],
    [403, 'authentication-failed', undefined],
    [404, 'fetch-failed', undefined],
    [429, 'fetch-failed', 7000],
    [500, 'fetch-failed', null],
    [503, 'fetch-failed', null],
  ])('status %i', async (status, code, retryAfterMs) => {
    const after = status === 503 ? { 'Retry-After': '9'.repeat(400) } : status === 429 ? { 'Retry-After': '7' } : {};
    const served = await serve((_, answer) => {
      answer.writeHead(status, { 'Content-Type': 'text/plain', ...after }).end('sorry\x1b[31m\nmore');
    });
    const error: unknown = await remoteAt(`${served.origin}/a.git`)
      .discover()
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(retryAfterMs === undefined ? HttpStatusError : TransientFetchError);
    expect(error).toMatchObject(retryAfterMs === undefined ? { status, code } : { code, retryAfterMs });
    const { message } = error as Error;
    expect(message).toContain(
      status === 404 ? `'${served.origin}/a.git' not found` : `error: ${status} (sorry\\x1b[31m)`,
    );
    expect(message).not.toMatch(/more|c2VjcmV0/);
  });

  it.each([
    ['files alone', { 'Content-Type': 'text/plain' }, `${A}\trefs/heads/main\n`],
    [
      'an older version',
      { 'Content-Type': OFFER_TYPE },
      `${pktLine('# service=git-upload-pack\n')}${FLUSH_PKT}${pktLine(`${A} HEAD\0agent=git/1\n`)}${FLUSH_PKT}`,
    ],
    [
      'very many refs of an older version',
      { 'Content-Type': OFFER_TYPE },
      `${pktLine(`${A} HEAD\0agent=git/1\n`)}${pktLine(`${A} refs/heads/main\n`).repeat(100_000)}`,
    ],
  ])('of a server with %s are for git', async (_, headers, body) => {
    const served = await serve((_request, answer) => answer.writeHead(200, headers).end(body));
    expect(await remoteAt(served.origin).discover()).toBeNull();
  });

  it.each([
    ['a page', { 'Content-Type': 'text/html' }, '<html>', /type 'text\/html'/],
    ['no type', {}, REFS, /type 'none'/],
    [
      'another encoding',
      { 'Content-Type': RESULT_TYPE, 'Content-Encoding': 'br' },
      REFS,
      /encoding that nobody asked for/,
    ],
    ['a broken encoding', { 'Content-Type': RESULT_TYPE, 'Content-Encoding': 'gzip' }, REFS, /Z_DATA_ERROR/],
    [
      'half an encoding',
      { 'Content-Type': RESULT_TYPE, 'Content-Encoding': 'gzip' },
      gzipSync(REFS).subarray(0, 30),
      /Z_BUF_ERROR/,
    ],
    ['less than it says', { 'Content-Type': RESULT_TYPE, 'Content-Length': '1000' }, REFS, /was reset/],
    ['headers without end', { 'Content-Type': RESULT_TYPE, x: 'y'.repeat(70_000) }, REFS, /HPE_HEADER_OVERFLOW/],
  ])('with %s are refused', async (_, headers, body, message) => {
    const served = await serve((request, answer, sent) => {
      if (request.method === 'GET') {
        proper(request, answer, sent);
        return;
      }
      answer.writeHead(200, headers);
      answer.write(body);
      if (!('Content-Length' in headers)) answer.end();
      else setTimeout(() => answer.destroy(), 20);
    });
    const remote = remoteAt(served.origin);
    await remote.discover();
    await expect(remote.lsRefs([])).rejects.toEqual(failed('fetch-failed', message));
  });

  it.each([
    'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n',
    'SSH-2.0-x\r\n',
    '\0\0\0\0',
    '',
  ])('that are not HTTP are refused: %j', async (said) => {
    const server = createTcpServer((socket) => socket.once('data', () => socket.end(said)));
    const { origin } = await listen(server);
    await expect(remoteAt(origin).discover()).rejects.toEqual(failed('fetch-failed'));
  });
});

describe('silence and interruption', () => {
  /** Servers that stop at some point of an exchange. */
  const stages: [string, Handler][] = [
    ['before the first answer', () => undefined],
    [
      'in the first answer',
      (_, answer) => void answer.writeHead(200, { 'Content-Type': OFFER_TYPE }).write(OFFER.slice(0, 20)),
    ],
    [
      'before the pack',
      (request, answer, body) => {
        if (request.method === 'GET' || body.includes('command=ls-refs')) proper(request, answer, body);
      },
    ],
    [
      'in the pack',
      (request, answer, body) => {
        if (request.method === 'GET' || body.includes('command=ls-refs')) proper(request, answer, body);
        else answer.writeHead(200, { 'Content-Type': RESULT_TYPE }).write(ANSWER.subarray(0, 90_000));
      },
    ],
    [
      'in a compressed pack',
      (request, answer, body) => {
        if (request.method === 'GET' || body.includes('command=ls-refs')) proper(request, answer, body);
        else
          answer
            .writeHead(200, { 'Content-Type': RESULT_TYPE, 'Content-Encoding': 'gzip' })
            .write(gzipSync(ANSWER).subarray(0, 300));
      },
    ],
    ['in a message', (_, answer) => void answer.writeHead(500, { 'Content-Type': 'text/plain' }).write('so')],
  ];

  it.each(stages)('a server that falls silent %s', async (stage, handler) => {
    const served = await serve(handler);
    const error = exchange(remoteAt(served.origin, { stallMs: 150 }));
    await expect(error).rejects.toEqual(
      failed('fetch-failed', stage === 'in a message' ? /error: 500/ : /nothing came|bytes a second came/),
    );
  });

  it.each(stages.slice(0, 5))('an end that is asked for %s', async (_, handler) => {
    const controller = new AbortController();
    const served = await serve((request, answer, body) => {
      handler(request, answer, body);
      if (!answer.writableEnded) setTimeout(() => controller.abort(), 30);
    });
    await expect(exchange(remoteAt(served.origin, { signal: controller.signal }))).rejects.toEqual(
      failed('interrupted'),
    );
  });

  it('an end that was asked for before', async () => {
    const served = await serve(proper);
    await expect(remoteAt(served.origin, { signal: AbortSignal.abort() }).discover()).rejects.toEqual(
      failed('interrupted'),
    );
    expect(served.connections).toBe(0);
  });

  it('bytes that come slowly are no silence', async () => {
    const served = await serve((request, answer, body) => {
      if (request.method === 'GET') {
        proper(request, answer, body);
        return;
      }
      answer.writeHead(200, { 'Content-Type': RESULT_TYPE });
      let at = 0;
      const timer = setInterval(() => {
        answer.write(REFS.slice(at, (at += 1000)));
        if (at < REFS.length) return;
        clearInterval(timer);
        answer.end();
      }, 50);
    });
    const remote = remoteAt(served.origin, { stallMs: 300 });
    await remote.discover();
    expect((await remote.lsRefs([])).length).toBe(1);
  });

  it('nobody there', async () => {
    const served = await serve(proper);
    await closers.pop()?.();
    await expect(remoteAt(served.origin).discover()).rejects.toMatchObject({
      code: 'fetch-failed',
      subject: { errno: 'ECONNREFUSED' },
    });
  });
});

const openssl = spawnSync('openssl', ['version']).status === 0;

describe.skipIf(!openssl)('https (needs openssl to make a certificate)', () => {
  const folder = temporaryFolder('http-remote');
  const key = join(folder, 'key.pem');
  const cert = join(folder, 'cert.pem');
  function certificate(): { key: string; cert: string } {
    const made = spawnSync('openssl', [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'],
      ...['-keyout', key, '-out', cert, '-subj', '/CN=loopback', '-addext', 'subjectAltName=IP:127.0.0.1'],
    ]);
    if (made.status !== 0) throw new Error(made.stderr.toString());
    return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
  }
  let pair: { key: string; cert: string } | null = null;

  async function serveSecurely(handler: Handler): Promise<Served & { cert: string }> {
    pair ??= certificate();
    const server = createSecureServer(
      pair,
      listenerOf(() => served.requests, handler),
    );
    const served = await listen(server, 'https');
    return Object.assign(served, { cert: pair.cert });
  }

  it('asks servers of an authority that it was told of, on one connection', async () => {
    const served = await serveSecurely(proper);
    expect(await exchange(remoteAt(served.origin, { ca: served.cert }))).toEqual(WHOLE);
    expect(served.connections).toBe(1);
  });

  it('asks the system where the authority is not known, once', async () => {
    const served = await serveSecurely(proper);
    let asked = 0;
    const systemCa = async (): Promise<string[]> => {
      asked++;
      return await Promise.resolve([served.cert]);
    };
    expect(await exchange(remoteAt(served.origin, { systemCa }))).toEqual(WHOLE);
    expect(asked).toBe(1);
    const unknown = remoteAt(served.origin);
    await expect(unknown.discover()).rejects.toEqual(failed('fetch-failed', /DEPTH_ZERO_SELF_SIGNED_CERT/));
    expect(served.requests).toHaveLength(3);
  });

  it('does not follow a redirect to http, in whatever letters', async () => {
    const plain = await serve(proper);
    const served = await serveSecurely((request, answer) =>
      answer.writeHead(301, { Location: `${plain.origin}${request.url ?? ''}` }).end(),
    );
    for (const origin of [served.origin, served.origin.replace('https', 'HTTPS')]) {
      await expect(remoteAt(origin, { ca: served.cert }).discover()).rejects.toEqual(
        failed('fetch-failed', /from https to http/),
      );
    }
    expect(plain.requests).toHaveLength(0);
  });

  it('goes through a proxy by CONNECT, which gets its own password only', async () => {
    const served = await serveSecurely(proper);
    const heads: string[] = [];
    const proxy = createServer();
    proxy.on('connect', (request: IncomingMessage, client: Socket) => {
      heads.push(`${request.method ?? ''} ${request.url ?? ''} ${request.rawHeaders.join(' ')}`);
      const { hostname, port } = new URL(`http://${request.url ?? ''}`);
      const upstream = connect(Number(port), hostname, () => {
        client.write('HTTP/1.1 200 OK\r\n\r\n');
        upstream.pipe(client).pipe(upstream);
      });
      upstream.on('error', () => client.destroy());
      client.on('error', () => upstream.destroy());
    });
    const { origin } = await listen(proxy);
    const through = origin.replace('http://', 'http://me:p%40ss@');
    expect(await exchange(remoteAt(served.origin, { ca: served.cert, proxyFor: () => through }))).toEqual(WHOLE);
    expect(heads).toHaveLength(1);
    expect(heads[0]).toContain(`CONNECT ${new URL(served.origin).host}`);
    expect(heads[0]).toContain(`Basic ${Buffer.from('me:p@ss').toString('base64')}`);
    expect(heads[0]).not.toContain(SECRET);
    expect(served.requests.every(({ headers }) => headers['proxy-authorization'] === undefined)).toBe(true);
  });

  it.each([
    [
      'wants a password',
      'HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n',
      'authentication-failed',
      /the proxy for .* 407/,
    ],
    ['cannot connect', 'HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n', 'fetch-failed', /502/],
    ['hangs up', '', 'fetch-failed', /failed: /],
  ])('tells that the proxy %s', async (_, said, code, message) => {
    const { origin } = await listen(createTcpServer((socket) => socket.once('data', () => socket.end(said))));
    const remote = remoteAt('https://127.0.0.1:1', { proxyFor: () => origin.replace('//', '//me:secret@') });
    const error = (await remote.discover().catch((thrown: unknown) => thrown)) as Error;
    expect(error).toEqual(failed(code, message));
    expect(error.message).not.toContain('secret');
  });

  it('does not wait for a proxy that says nothing, nor leaves the connection to it', async () => {
    const served = await listen(createTcpServer((socket) => socket.resume()));
    const proxyFor = (): string => served.origin;
    await expect(remoteAt('https://127.0.0.1:1', { proxyFor, stallMs: 100 }).discover()).rejects.toEqual(
      failed('fetch-failed', /nothing came|bytes a second came/),
    );
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 50);
    await expect(remoteAt('https://127.0.0.1:1', { proxyFor, signal: controller.signal }).discover()).rejects.toEqual(
      failed('interrupted'),
    );
    for (let tries = 0; served.sockets.size > 0 && tries < 100; tries++)
      await new Promise((resolve) => setTimeout(resolve, 10));
    expect([served.connections, served.sockets.size]).toEqual([2, 0]);
  });

  it('does not wait for a handshake that does not come', async () => {
    const { origin } = await listen(
      createTcpServer((socket) => socket.resume()),
      'https',
    );
    await expect(remoteAt(origin, { stallMs: 100 }).discover()).rejects.toEqual(
      failed('fetch-failed', /nothing came|bytes a second came/),
    );
  });
});

describe('an http proxy', () => {
  it('gets whole addresses, and its own password', async () => {
    const proxy = await serve(proper);
    const through = proxy.origin.replace('http://', 'http://me:secret@');
    expect(await exchange(remoteAt('http://git.invalid/a.git', { proxyFor: () => through }))).toEqual(WHOLE);
    expect(proxy.connections).toBe(1);
    expect(proxy.requests.map(({ url }) => url.split('?')[0])).toEqual([
      'http://git.invalid/a.git/info/refs',
      'http://git.invalid/a.git/git-upload-pack',
      'http://git.invalid/a.git/git-upload-pack',
    ]);
    for (const { headers } of proxy.requests) {
      expect(headers).toMatchObject({
        host: 'git.invalid',
        authorization: SECRET,
        'proxy-authorization': `Basic ${Buffer.from('me:secret').toString('base64')}`,
      });
    }
  });

  it.each(['socks5://127.0.0.1:1', 'no address'])('of another kind is refused: %s', async (proxy) => {
    await expect(remoteAt('http://git.invalid/', { proxyFor: () => proxy }).discover()).rejects.toEqual(
      failed('unsupported', /no|not/),
    );
  });
});
