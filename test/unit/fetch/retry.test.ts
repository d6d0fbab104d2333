// Which failures are tried again, when, and when a transfer is dead.
import { describe, expect, it } from 'vitest';
import { CheckoutError } from '../../../src/engine/errors.ts';
import { fetchError, isTransientFailure } from '../../../src/engine/fetch/fetch-error.ts';
import { isSaidQuietly, packMeter } from '../../../src/engine/fetch/fetch-progress.ts';
import { RetryAfterReader } from '../../../src/engine/fetch/retry-after.ts';
import {
  delayBeforeRetry,
  isTransientStatus,
  LONGEST_RETRY_AFTER_MS,
  parseRetryAfter,
  spell,
  TransientFetchError,
  withRetries,
} from '../../../src/engine/fetch/retry.ts';
import { TransferWatch } from '../../../src/engine/fetch/transfer-watch.ts';

const http = (status: number): string =>
  `fatal: unable to access 'http://h/r/': The requested URL returned error: ${status}`;

describe('a failure may be over later', () => {
  it.each([
    http(408),
    http(429),
    http(500),
    http(502),
    http(503),
    http(504),
    http(522),
    'error: RPC failed; HTTP 503 curl 22 The requested URL returned error: 503\nfatal: expected flush after ref listing',
    'error: RPC failed; HTTP 429 curl 22\nfatal: the remote end hung up unexpectedly',
    "fatal: unable to access 'https://h/r/': Received HTTP code 503 from proxy after CONNECT",
    "fatal: unable to access 'https://h/r/': CONNECT tunnel failed, response 502",
    "fatal: unable to access 'https://h/r/': Could not resolve host: h",
    "fatal: unable to access 'https://h/r/': Failed to connect to h port 443 after 3 ms: Couldn't connect to server",
    "fatal: unable to access 'https://h/r/': gnutls_handshake() failed: Error in the pull function.",
    "fatal: unable to access 'https://h/r/': OpenSSL SSL_read: Connection was reset, errno 10054",
    "fatal: unable to access 'https://h/r/': Operation too slow. Less than 1000 bytes/sec transferred the last 60 seconds",
    'error: RPC failed; curl 56 GnuTLS recv error (-9): Error decoding the received TLS packet.',
    'error: RPC failed; curl 92 HTTP/2 stream 5 was not closed cleanly: CANCEL (err 8)',
    'fetch-pack: unexpected disconnect while reading sideband packet\nfatal: early EOF\nfatal: fetch-pack: invalid index-pack output',
    'fatal: protocol error: bad line length character: garb',
    'fatal: expected flush after capabilities',
    'fatal: the remote end hung up unexpectedly',
    'fatal: protocol error: bad pack header',
    'fatal: pack is corrupted (SHA1 mismatch)\nfatal: fetch-pack: invalid index-pack output',
    'ssh: connect to host h port 22: Connection timed out\nfatal: Could not read from remote repository.',
    'ssh: Could not resolve hostname h: Temporary failure in name resolution',
    'kex_exchange_identification: Connection closed by remote host',
    'Timeout, server h not responding.\nfatal: the remote end hung up unexpectedly',
    'fatal: remote error: GitHub is temporarily unavailable, try again in a minute',
  ])('%s', (stderr) => {
    expect(fetchError(stderr, 128, 'fetch', String).code).toBe('fetch-failed');
    expect(isTransientFailure(stderr)).toBe(true);
  });

  it.each([
    http(400),
    http(410),
    http(501),
    "remote: Repository not found.\nfatal: repository 'https://h/r/' not found",
    "fatal: unable to access 'https://h/r/': SSL certificate problem: unable to get local issuer certificate",
    "fatal: unable to access 'https://h/r/': server certificate verification failed. CAfile: none CRLfile: none",
    "fatal: unable to access 'http://h/r/': Maximum (20) redirects followed",
    "fatal: unable to access 'https://h/r/': Received HTTP code 407 from proxy after CONNECT",
    'fatal: write error: No space left on device\nfatal: fetch-pack: invalid index-pack output',
    "error: cannot lock ref 'refs/remotes/origin/a': unable to resolve reference",
    'fatal: remote error: access denied or repository not exported: /r',
    "fatal: '/x' does not appear to be a git repository\nfatal: Could not read from remote repository.",
    "fatal: protocol 'file' not supported",
    '',
  ])('never: %s', (stderr) => {
    expect(fetchError(stderr, 128, 'fetch', String).code).toBe('fetch-failed');
    expect(isTransientFailure(stderr)).toBe(false);
  });

  it('by the status of an answer', () => {
    expect([408, 425, 429, 500, 502, 503, 504, 599].filter(isTransientStatus)).toHaveLength(8);
    expect([200, 301, 400, 401, 403, 404, 407, 410, 501, 505].filter(isTransientStatus)).toEqual([]);
  });

  it.each([
    [`fatal: bad object ${'a'.repeat(40)}\nerror: http://h/r did not send all necessary objects`, 'object-missing'],
    ['error: refs/remotes/origin/main does not point to a valid object!', 'object-missing'],
    [`fatal: loose object ${'a'.repeat(40)} (stored in .git/objects/aa/aaa) is corrupt`, 'object-corrupt'],
    ['error: object file .git/objects/aa/aaa is empty', 'object-corrupt'],
    ['remote: fatal: bad object HEAD\nfatal: early EOF', 'fetch-failed'],
  ])('a damaged repository here is told apart: %s', (stderr, code) => {
    expect(fetchError(stderr, 128, 'fetch', String).code).toBe(code);
  });
});

describe('Retry-After', () => {
  const now = Date.parse('Tue, 01 Dec 2026 12:00:00 GMT');
  it.each([
    ['0', 0],
    [' 7 ', 7000],
    ['Tue, 01 Dec 2026 12:00:30 GMT', 30_000],
    ['Tue, 01 Dec 2026 11:00:00 GMT', 0],
    ['-1', null],
    ['1.5', null],
    ['99999999999999999999', null],
    ['soon', null],
    ['Tuesday, or so', null],
    ['', null],
  ])('%j', (value, expected) => {
    expect(parseRetryAfter(value, now)).toBe(expected);
  });

  it('is that of the last answer in git’s trace, and no request is taken for an answer', () => {
    const reader = new RetryAfterReader();
    const at = '13:20:47.122418 http.c:684              ';
    for (const line of [
      '=> Send header: Retry-After: 1',
      '== Info: Retry-After: 2',
      '<= Recv header: X: retry-after: 3',
    ]) {
      reader.line(at + line);
    }
    expect(reader.retryAfterMs(0)).toBeNull();
    reader.line(`${at}<= Recv header: HTTP/1.1 429 Too Many Requests`);
    reader.line(`${at}<= Recv header: Retry-After: 7`);
    expect(reader.retryAfterMs(0)).toBe(7000);
    reader.line(`${at}<= Recv header: HTTP/2 503`);
    expect(reader.retryAfterMs(0)).toBeNull();
    reader.line(`${at}<= Recv header: retry-after: 8`);
    expect(reader.retryAfterMs(0)).toBe(8000);
  });
});

describe('the wait before another attempt', () => {
  it('grows, is left to chance in part, and ends', () => {
    const waits = (random: number): (number | null)[] =>
      [1, 2, 3, 4, 5].map((failed) => delayBeforeRetry(failed, null, { attempts: 5 }, random));
    expect(waits(0)).toEqual([1000, 4000, 16_000, 30_000, null]);
    expect(waits(0.5)).toEqual([2000, 8000, 32_000, 60_000, null]);
    expect(delayBeforeRetry(2, null, undefined, 0.5)).toBe(8000);
    expect(delayBeforeRetry(3, null, undefined, 0.5)).toBeNull();
    expect(delayBeforeRetry(1, null, { attempts: 1 }, 0.5)).toBeNull();
  });

  it('is never shorter than the server asks for, and not endless', () => {
    expect(delayBeforeRetry(1, 7000, undefined, 0)).toBe(7000);
    expect(delayBeforeRetry(1, 7000, undefined, 0.5)).toBe(7500);
    expect(delayBeforeRetry(1, 0, undefined, 0.5)).toBe(2000);
    expect(delayBeforeRetry(1, LONGEST_RETRY_AFTER_MS, undefined, 0)).toBe(LONGEST_RETRY_AFTER_MS);
    expect(delayBeforeRetry(1, LONGEST_RETRY_AFTER_MS + 1, undefined, 0)).toBeNull();
  });

  it('is spelled for people', () => {
    expect([500, 2500, 9960, 120_000, 21_600_000].map(spell)).toEqual(['500 ms', '2.5 s', '10 s', '120 s', '6 h']);
  });
});

describe('withRetries', () => {
  const transient = (retryAfterMs: number | null = null): TransientFetchError =>
    new TransientFetchError('fetch-failed', 'it failed', {}, retryAfterMs);
  async function run(failures: readonly Error[]): Promise<{ calls: number; warnings: string[]; end: unknown }> {
    const warnings: string[] = [];
    let calls = 0;
    const end = await withRetries({ limits: { retryDelayMs: 1 }, warn: (line) => warnings.push(line) }, () => {
      const failure = failures[calls++];
      return failure === undefined ? Promise.resolve('done') : Promise.reject(failure);
    }).catch((error: unknown) => error);
    return { calls, warnings, end };
  }

  it('goes on until it is done, has had enough, or there is no hope', async () => {
    expect(await run([transient(), transient()])).toMatchObject({ calls: 3, end: 'done' });
    const failed = await run([transient(), transient(), transient(), transient()]);
    expect(failed).toMatchObject({ calls: 3, end: { code: 'fetch-failed', message: 'it failed (after 3 attempts)' } });
    expect(failed.warnings).toHaveLength(2);
    expect(failed.warnings[0]).toMatch(/^it failed; trying again in \d+ ms$/);
    const refused = new CheckoutError('authentication-failed', 'no');
    expect(await run([transient(), refused])).toMatchObject({ calls: 2, end: refused });
    expect(await run([transient(3_600_000)])).toMatchObject({
      calls: 1,
      end: { message: 'it failed (the server asks to come back in 1 h)' },
    });
  });

  it('stops waiting when it is told to', async () => {
    const controller = new AbortController();
    const limits = { retryDelayMs: 60_000 };
    const warn = (): void => controller.abort();
    const waiting = withRetries({ limits, signal: controller.signal, warn }, () => Promise.reject(transient()));
    await expect(waiting).rejects.toMatchObject({ code: 'interrupted' });
  });
});

describe('a transfer', () => {
  const receiving = (bytes: string, rate: string): string => `Receiving objects:  45% (450/1000), ${bytes} | ${rate}`;

  it('reads the meter of what takes the pack in', () => {
    expect(packMeter(receiving('1.50 MiB', '3.00 KiB/s'))).toEqual({
      bytes: 1_572_864,
      bytesPerSecond: 3072,
      done: false,
    });
    expect(packMeter('Unpacking objects: 100% (3/3), 250 bytes | 0 bytes/s, done.')).toMatchObject({ done: true });
    expect(packMeter('Receiving objects:   0% (1/1000)')).toMatchObject({ bytes: 0 });
    expect(packMeter('remote: Counting objects: 45% (450/1000)')).toBeNull();
  });

  it('is dead when nothing comes', () => {
    const watch = new TransferWatch(1000, 0);
    expect([watch.deadAt, watch.reason]).toEqual([1000, 'nothing came from the server for 1 s']);
    watch.line('remote: Counting objects: 45% (450/1000)', 500);
    expect(watch.deadAt).toBe(1500);
  });

  it('is dead when next to nothing of the pack comes, whatever the server says besides', () => {
    const watch = new TransferWatch(10_000, 0);
    watch.line('Receiving objects:   0% (1/1000)', 1000);
    watch.line(receiving('500 bytes', '0 bytes/s'), 2000);
    watch.line('remote: still at it', 3000);
    expect([watch.deadAt, watch.reason]).toEqual([10_000, 'less than 1000 bytes a second came for 10 s']);
    watch.line(receiving('9.90 KiB', '0 bytes/s'), 4000);
    expect(watch.deadAt).toBe(14_000);
    watch.line(receiving('9.95 KiB', '1.00 KiB/s'), 5000);
    expect(watch.deadAt).toBe(15_000);
    // Steps of 10 MiB take their time.
    watch.line(receiving('1.23 GiB', '50.00 KiB/s'), 6000);
    watch.line(receiving('1.23 GiB', '50.00 KiB/s'), 15_000);
    expect(watch.deadAt).toBe(25_000);
  });

  it('is alive while its processes hand things on or compute, and not by what they did before', () => {
    const watch = new TransferWatch(10_000, 0);
    watch.activity({ bytes: 9999, ms: 499 }, 1000);
    expect(watch.deadAt).toBe(10_000);
    watch.activity({ bytes: 10_000, ms: 499 }, 2000);
    expect(watch.deadAt).toBe(12_000);
    watch.activity({ bytes: 19_999, ms: 998 }, 3000);
    expect(watch.deadAt).toBe(12_000);
    watch.activity({ bytes: 19_999, ms: 999 }, 4000);
    expect(watch.deadAt).toBe(14_000);
    // A line is progress too, from which what is done is counted anew.
    watch.activity({ bytes: 29_000, ms: 1000 }, 5000);
    watch.line('remote: Counting objects: 45% (450/1000)', 6000);
    watch.activity({ bytes: 38_000, ms: 1000 }, 7000);
    expect(watch.deadAt).toBe(16_000);
    // One of them has ended.
    watch.activity({ bytes: 1000, ms: 10 }, 8000);
    watch.activity({ bytes: 10_999, ms: 10 }, 9000);
    expect(watch.deadAt).toBe(16_000);
    watch.activity({ bytes: 11_000, ms: 10 }, 10_000);
    expect(watch.deadAt).toBe(20_000);
  });

  it('is over when all of the pack is here', () => {
    const watch = new TransferWatch(1000, 0);
    watch.line('Receiving objects: 100% (1000/1000), 1.00 MiB | 3.00 MiB/s, done.', 10);
    expect(watch.deadAt).toBe(Infinity);
    watch.line('Resolving deltas:  10% (1/10)', 20);
    expect(watch.deadAt).toBe(Infinity);
    expect(new TransferWatch(Infinity, 0).deadAt).toBe(Infinity);
  });
});

it('what is said quietly are warnings and words of the server, no progress', () => {
  const said = ['warning: redirecting to x', 'fatal: x', 'remote: maintenance tonight'];
  const rest = [
    'remote: Counting objects: 100% (3/3), done.',
    'remote: Total 3 (delta 0)',
    ' * branch a -> b',
    'From x',
  ];
  expect([...said, ...rest].filter(isSaidQuietly)).toEqual(said);
});
