// What git-lfs says when a download fails, and what becomes of it.
import { describe, expect, it } from 'vitest';
import { lfsError } from '../../../src/engine/fetch/lfs-error.ts';
import { TransientFetchError } from '../../../src/engine/fetch/retry.ts';

const OID = 'ab'.repeat(32);
const END = "error: failed to fetch some objects from 'http://localhost/o/r.git/info/lfs'";
const error = (said: string): ReturnType<typeof lfsError> =>
  lfsError(
    `fetch: Fetching reference abc\n${said}\n${END}\n`,
    2,
    'download',
    (oid) => (oid === OID ? 'd/a.bin' : undefined),
    (text) => text.replaceAll('sesame', '***'),
  );

describe('lfsError', () => {
  it.each([
    [
      'a refused token',
      'batch response: Authentication required: Authorization error: http://localhost/x\nCheck that you have proper access to the repository',
      'authentication-failed',
      false,
      'download failed: Authentication required: Authorization error: http://localhost/x',
    ],
    [
      'a missing token',
      "fatal: could not read Username for 'http://localhost': terminal prompts disabled\nbatch response: Git credentials for http://localhost/o/r not found.",
      'authentication-failed',
      false,
      'download failed: Git credentials for http://localhost/o/r not found.',
    ],
    [
      'objects that are not there',
      `[${OID}] Object does not exist: [404] Object does not exist\n[${'cd'.repeat(32)}] Object does not exist: [404] Object does not exist`,
      'fetch-failed',
      false,
      `download failed: 'd/a.bin' (object ${OID}): Object does not exist: [404] Object does not exist (and 1 more)`,
    ],
    [
      'an object that the server cannot give now',
      `[${OID}] Server is busy: [503] Server is busy`,
      'fetch-failed',
      true,
      `download failed: 'd/a.bin' (object ${OID}): Server is busy: [503] Server is busy`,
    ],
    [
      'no such repository',
      'batch response: Repository or object not found: http://localhost/x\nCheck that it exists and that you have proper access to it',
      'fetch-failed',
      false,
      'download failed: Repository or object not found: http://localhost/x',
    ],
    [
      'a server in trouble',
      'batch response: Fatal error: Server error: http://localhost/x\n\nErrors logged to somewhere',
      'fetch-failed',
      true,
      'download failed: Fatal error: Server error: http://localhost/x',
    ],
    [
      'the same in words that git-lfs 3.3 gets wrong',
      'batch response: Fatal error: Server error &{%!!(string=http)}s(MISSING) from HTTP 503',
      'fetch-failed',
      true,
      'download failed: HTTP 503 from the server',
    ],
    [
      'a status that stays',
      'batch response: Fatal error: from HTTP 501',
      'fetch-failed',
      false,
      'download failed: HTTP 501 from the server',
    ],
    [
      'nobody listening',
      'batch response: Post "http://localhost/x": dial tcp 127.0.0.1:9: connect: connection refused',
      'fetch-failed',
      true,
      'download failed: Post "http://localhost/x": dial tcp 127.0.0.1:9: connect: connection refused',
    ],
    [
      'a quota',
      'batch response: This repository is over its data quota.',
      'fetch-failed',
      false,
      'download failed: This repository is over its data quota.',
    ],
    ['nothing at all', '', 'fetch-failed', false, 'download failed: git-lfs ended with status 2'],
    ['a secret', 'batch response: open sesame', 'fetch-failed', false, 'download failed: open ***'],
  ])('%s', (_, said, code, transient, message) => {
    const result = error(said);
    expect(result.message).toBe(message);
    expect(result.code).toBe(code);
    expect(result instanceof TransientFetchError).toBe(transient);
  });
});
