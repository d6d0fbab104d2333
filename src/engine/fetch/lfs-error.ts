/**
 * Turns what git-lfs says when a download failed into one error: which file or what about the server, and whether a later attempt may
 * fare better. Its exit status is 2 for all of them. Words: git-lfs 2.13 to 3.7.
 */
import { displayBytes } from '../bytes.ts';
import { CheckoutError } from '../errors.ts';

import { isTransientStatus, TransientFetchError } from './retry.ts';

/** `[<id>] Object does not exist: [404] Object does not exist` */
const OBJECT = /^\[([0-9a-f]{64})\] (.*)$/;

const REFUSED =
  /Authentication required|Authorization error|Git credentials for .* not found|could not read (Username|Password)|Authentication failed|Permission denied \(|Host key verification failed/i;

/** The network, or a server in trouble. git-lfs has tried most of these several times itself. */
const TRANSIENT =
  /dial tcp|connection (refused|reset|closed)|\bEOF\b|time(d )?out|no such host|TLS handshake|network is unreachable|broken pipe|Server error|LFS: Error$|rate limit|too many|try again|temporar|unavailable|overload|expected OID/i;

/** Lines that say nothing about the reason. */
const SAYS_NOTHING =
  /^(fetch: |Fetching |error: failed to fetch some objects from |Errors logged to |Use `git lfs logs |Check that (you|it) |Uploading|Downloading)/;

/**
 * The error for what a git-lfs said that was to download; a TransientFetchError where another attempt may fare better.
 *
 * @param output its standard error and output
 * @param what what was tried, such as "download of Git LFS files from 'origin'"
 * @param pathOf the path that an object is for
 * @param redact takes secrets out of a text
 */
export function lfsError(
  output: string,
  exitCode: number,
  what: string,
  pathOf: (oid: string) => string | undefined,
  redact: (text: string) => string,
): CheckoutError {
  const lines = output
    .split(/[\r\n]/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !SAYS_NOTHING.test(line));
  const show = (line: string): string => {
    const text = displayBytes(Buffer.from(redact(line.replace(/^(fatal|error|batch response|Fatal error): /, ''))));
    return text.length > 500 ? `${text.slice(0, 500)}…` : text;
  };

  const refused =
    lines.find((line) => REFUSED.test(line) && /^batch response/.test(line)) ??
    lines.find((line) => REFUSED.test(line));
  if (refused !== undefined) return new CheckoutError('authentication-failed', `${what} failed: ${show(refused)}`);

  const objects = lines.map((line) => OBJECT.exec(line)).filter((match) => match !== null);
  const [object] = objects;
  if (object !== undefined) {
    const [, oid = '', reason = ''] = object;
    const path = pathOf(oid);
    const file = path === undefined ? `object ${oid}` : `'${path}' (object ${oid})`;
    const more = objects.length === 1 ? '' : ` (and ${objects.length - 1} more)`;
    const subject = { ...(path === undefined ? {} : { path }), oid };
    // `[404] words`, the words often twice.
    const status = /\[(\d{3})\]/.exec(reason)?.[1];
    const message = `${what} failed: ${file}: ${show(reason)}${more}`;
    if (status !== undefined && isTransientStatus(Number(status))) {
      return new TransientFetchError('fetch-failed', message, subject, null);
    }
    return new CheckoutError('fetch-failed', message, subject);
  }

  const telling =
    lines.find((line) => line.startsWith('batch response: ')) ??
    lines.find((line) => /^(fatal|error|LFS): /i.test(line)) ??
    lines[0] ??
    `git-lfs ended with status ${exitCode}`;
  const status = /\bHTTP (\d{3})\b/.exec(telling)?.[1];
  // git-lfs 3.3 prints its own format errors in there.
  const shown = status === undefined ? show(telling) : `HTTP ${status} from the server`;
  const isTransient = status === undefined ? TRANSIENT.test(telling) : isTransientStatus(Number(status));
  const message = `${what} failed: ${shown}`;
  return isTransient
    ? new TransientFetchError('fetch-failed', message, {}, null)
    : new CheckoutError('fetch-failed', message);
}
