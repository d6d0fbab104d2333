// The client of the REST interface against servers that answer in every way but the right one.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isCertificateFault, restDefaultBranch, restGet, type RestApi } from '../../src/action/rest-api.ts';
import { restBaseUrl } from '../../src/action/rest-base-url.ts';
import { CheckoutError } from '../../src/engine/errors.ts';

const TOKEN = 'a-long-token-of-a-test';

interface Seen {
  readonly url: string;
  readonly authorization: string | undefined;
}

type Answer = (response: ServerResponse, request: IncomingMessage) => void;

let server: Server;
let stranger: Server;
let seen: Seen[];
/** What the server answers, in turn; the last one again and again. */
let answers: readonly Answer[];
let strangers: Seen[];
let log: string[];

const origin = (of: Server): string => `http://127.0.0.1:${(of.address() as AddressInfo).port}`;
const listening = async (handler: Answer): Promise<Server> => {
  const created = createServer((request, response) => handler(response, request));
  await new Promise<void>((resolve) => created.listen(0, '127.0.0.1', resolve));
  return created;
};
const look = ({ url, headers }: IncomingMessage): Seen => ({ url: url ?? '', authorization: headers.authorization });

beforeAll(async () => {
  server = await listening((response, request) => {
    const answer = answers[Math.min(seen.length, answers.length - 1)];
    seen.push(look(request));
    answer?.(response, request);
  });
  // Another host, and a proxy.
  stranger = await listening((response, request) => {
    strangers.push(look(request));
    response.end('from elsewhere');
  });
});
afterAll(() => {
  for (const each of [server, stranger]) {
    each.closeAllConnections();
    each.close();
  }
});
beforeEach(() => {
  seen = [];
  strangers = [];
  log = [];
});

const ok: Answer = (response) => response.end('content');
const status =
  (code: number, headers: Readonly<Record<string, string>> = {}, body = ''): Answer =>
  (response) =>
    response.writeHead(code, headers).end(body);
const redirect =
  (location: () => string): Answer =>
  (response) =>
    response.writeHead(302, { location: location() }).end();

const NOT_FOUND = new CheckoutError('unknown-revision', 'not there');

function api(changes: Partial<RestApi> = {}): RestApi {
  return {
    baseUrl: origin(server),
    token: TOKEN,
    environment: {},
    signal: new AbortController().signal,
    log: (line) => log.push(line),
    limits: { retryDelayMs: 1 },
    ...changes,
  };
}

async function text(response: IncomingMessage): Promise<string> {
  let all = '';
  for await (const chunk of response as AsyncIterable<Buffer>) all += chunk.toString();
  return all;
}

const ask = (changes: Partial<RestApi> = {}): Promise<string> => restGet(api(changes), '/path?q=1', NOT_FOUND, text);

async function failure(changes: Partial<RestApi> = {}): Promise<CheckoutError> {
  const error: unknown = await ask(changes).then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(CheckoutError);
  const { message } = error as CheckoutError;
  expect(message).not.toContain(TOKEN);
  expect(message).not.toMatch(/[\r\n]|^::/);
  return error as CheckoutError;
}

describe('an answer that is not tried again', () => {
  it.each([
    ['401', status(401, {}, '{"message":"Bad credentials"}'), 'authentication-failed', 'answered 401: Bad credentials'],
    ['403', status(403), 'authentication-failed', 'answered 403'],
    ['404', status(404), 'unknown-revision', 'not there'],
    ['422', status(422), 'fetch-failed', 'answered 422'],
    ['204', status(204), 'fetch-failed', 'answered 204'],
    ['the hourly limit', status(403, { 'x-ratelimit-remaining': '0' }), 'fetch-failed', 'answered 403'],
    ['a limit that ends late', status(429, { 'retry-after': '3600' }), 'fetch-failed', 'asks to come back in 1 h'],
    ['a redirect to nowhere', status(302), 'fetch-failed', 'sends us to nowhere'],
    ['a redirect to a file', redirect(() => 'file:///etc/passwd'), 'fetch-failed', 'is not followed'],
    ['a message that is a command', status(400, {}, `{"message":"\\n::error::${TOKEN}"}`), 'fetch-failed', '400'],
    ['a message without end', status(400, {}, `{"message":"${'x'.repeat(100_000)}"}`), 'fetch-failed', 'answered 400'],
  ] as const)('%s', async (_, answer, code, message) => {
    answers = [answer];
    const error = await failure();
    expect(error.code).toBe(code);
    expect(error.message).toContain(message);
    expect(seen).toHaveLength(1);
  });
});

describe('a failure that passes', () => {
  it.each([
    ['500', status(500)],
    ['502', status(502)],
    ['408', status(408)],
    ['429', status(429, { 'retry-after': '0' })],
    ['the second limit of GitHub', status(403, { 'retry-after': '0' })],
    ['a connection that is cut', (response: ServerResponse): unknown => response.socket?.destroy()],
    [
      'a connection that is cut in the middle',
      (response: ServerResponse): void => {
        response.writeHead(200, { 'content-length': '100' });
        response.write('half', () => response.socket?.destroy());
      },
    ],
  ] as const)('%s', async (_, answer) => {
    answers = [answer, answer, ok];
    expect(await ask()).toBe('content');
    expect(seen).toHaveLength(3);
    expect(log).toHaveLength(2);
    answers = [answer];
    seen = [];
    expect((await failure()).code).toBe('fetch-failed');
    expect(seen).toHaveLength(3);
  });

  it('a server that sends nothing, and one that sends next to nothing', async () => {
    const limits = { stallMs: 200, attempts: 2, retryDelayMs: 1 };
    answers = [
      () => undefined,
      (response) => {
        response.writeHead(200);
        const timer = setInterval(() => response.write('x'), 20);
        response.on('close', () => clearInterval(timer));
      },
    ];
    expect((await failure({ limits })).message).toMatch(
      /path sent less than 1000 bytes a second for 0.2 s \(after 2 attempts\)$/,
    );
    expect(seen).toHaveLength(2);
  });
});

it('waits as long as the server says', async () => {
  answers = [status(503, { 'retry-after': '1' }), ok];
  const started = performance.now();
  await ask();
  expect(performance.now() - started).toBeGreaterThan(990);
});

it('gives up an attempt that takes too long, for good', async () => {
  answers = [() => undefined];
  const error = await failure({ limits: { deadlineMs: 50, retryDelayMs: 1 } });
  expect(error.message).toMatch(/path took longer than 0.05 s$/);
  expect(seen).toHaveLength(1);
});

describe('the token', () => {
  it('stays with its server where that sends us to another', async () => {
    answers = [redirect(() => `${origin(stranger)}/there?secret=s3cret`)];
    expect(await ask()).toBe('from elsewhere');
    expect(seen).toEqual([{ url: '/path?q=1', authorization: `token ${TOKEN}` }]);
    expect(strangers).toEqual([{ url: '/there?secret=s3cret', authorization: undefined }]);
  });

  it('goes along on the same server, and comes back with it', async () => {
    answers = [redirect(() => '/other'), ok];
    expect(await ask()).toBe('content');
    expect(seen.map(({ authorization }) => authorization)).toEqual([`token ${TOKEN}`, `token ${TOKEN}`]);
  });

  it('is not sent round and round', async () => {
    answers = [redirect(() => '/again?secret=s3cret')];
    const { message } = await failure();
    expect(message).toContain('redirected more than 5 times');
    expect(message).not.toContain('s3cret');
    expect(seen).toHaveLength(6);
  });
});

it('stops when it is told to, in the middle and between two attempts', async () => {
  for (const answer of [(() => undefined) as Answer, status(500)]) {
    answers = [answer];
    seen = [];
    const abort = new AbortController();
    const asked = failure({ signal: abort.signal, limits: { retryDelayMs: 60_000 } });
    while (seen.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    setTimeout(() => abort.abort(), 20);
    expect((await asked).code).toBe('interrupted');
  }
});

it('knows a server that is not trusted, which is not tried again', () => {
  for (const code of ['SELF_SIGNED_CERT_IN_CHAIN', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'ERR_TLS_CERT_ALTNAME_INVALID']) {
    expect(isCertificateFault(code)).toBe(true);
  }
  for (const code of ['ECONNRESET', 'ENOTFOUND', 'EPROTO', 'Z_DATA_ERROR'])
    expect(isCertificateFault(code)).toBe(false);
});

it('says what is wrong with a server that is not there', async () => {
  const gone = await listening(ok);
  const baseUrl = origin(gone);
  await new Promise((resolve) => gone.close(resolve));
  expect((await failure({ baseUrl })).message).toContain('ECONNREFUSED');
});

it.each(['ftp://example.com', 'no address', ''])('says so where it has no address: %s', async (baseUrl) => {
  const error = await failure({ baseUrl });
  expect(error.code).toBe('usage');
  expect(error.message).toContain(`no http or https address: '${baseUrl}'`);
});

describe('a proxy', () => {
  it('is used, but for hosts that it is not for', async () => {
    answers = [ok];
    const proxy = { http_proxy: origin(stranger) };
    const baseUrl = 'http://ghes.example.com';
    expect(await ask({ environment: proxy, baseUrl })).toBe('from elsewhere');
    expect(strangers[0]?.url).toBe('http://ghes.example.com/path?q=1');
    expect(await ask({ environment: { ...proxy, no_proxy: '127.0.0.1' } })).toBe('content');
  });
});

describe('the default branch', () => {
  const branch = (name: string): Promise<string> => restDefaultBranch(api(), 'own er', name);

  it('is what the server says', async () => {
    answers = [status(200, {}, '{"default_branch":"trunk"}')];
    expect(await branch('name')).toBe('trunk');
    expect(seen[0]?.url).toBe('/repos/own%20er/name');
  });

  it('of a wiki, which the interface does not know, is master', async () => {
    answers = [status(404)];
    expect(await branch('name.wiki')).toBe('master');
    await expect(branch('name')).rejects.toThrow("no repository 'own er/name'");
  });

  it.each([['{}'], ['['], ['{"default_branch":7}'], [`{"default_branch":"${'x'.repeat(5_000_000)}"}`]])(
    'is not in %.30s',
    async (body) => {
      answers = [status(200, {}, body)];
      await expect(branch('name')).rejects.toThrow('does not say the default branch');
    },
  );
});

it('the address', () => {
  const known = 'https://api.github.com/';
  expect(restBaseUrl('', 'https://github.com', known)).toBe('https://api.github.com');
  expect(restBaseUrl('', 'https://ghes.example.com', 'https://ghes.example.com/api/v3')).toBe(
    'https://ghes.example.com/api/v3',
  );
  expect(restBaseUrl('https://github.com', 'https://github.com', 'https://ghes.example.com/api/v3')).toBe(
    'https://api.github.com',
  );
  expect(restBaseUrl('https://octo.ghe.com', 'https://octo.ghe.com', known)).toBe('https://api.octo.ghe.com');
  expect(restBaseUrl('http://github.localhost:8', 'http://github.localhost:8', known)).toBe(
    'http://api.github.localhost:8',
  );
  expect(restBaseUrl('https://ghes.example.com', 'https://ghes.example.com', known)).toBe(
    'https://ghes.example.com/api/v3',
  );
  // The token of this server must not go to github.com.
  expect(restBaseUrl('', 'https://ghes.example.com', '')).toBe('https://ghes.example.com/api/v3');
  expect(restBaseUrl('', 'https://notghe.com', '')).toBe('https://notghe.com/api/v3');
});
