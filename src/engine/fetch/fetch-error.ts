/**
 * What a failed fetch means, read from what git said under LC_ALL=C. git has one exit status for all failures, and the
 * caller must tell a refused token, which no retry mends, from a server that did not answer. Pure.
 */
import { CheckoutError, type ErrorCode } from '../errors.ts';
import { displayBytes } from '../bytes.ts';
import { type ObjectFormat, SHA1, SHA256 } from '../oid.ts';
import { isTransientStatus } from './retry.ts';

/** Lines that say that it failed, not why; another line says why. */
const SAYS_NOTHING =
  /the remote end hung up|early EOF|invalid index-pack output|Could not read from remote repository|correct access rights|and the repository exists|unexpected disconnect|fetch-pack: |^index-pack failed|remote did not send all necessary objects|unpack-objects failed|expected flush after/;

/** What ssh says before its "Permission denied" or "Host key verification failed", and says more. */
const SSH_REASON = /^(Load key .*: |No \S+ host key is known for |Host key for .* has changed)/;

/** Lines of git, and those of ssh, which mostly have no prefix. */
const TELLING =
  /^((fatal|error|ERROR|ssh|remote|kex_exchange_identification|client_loop): |Connection |Timeout, server )/;

const KINDS: readonly { readonly code: ErrorCode; readonly says: RegExp }[] = [
  { code: 'authentication-failed', says: SSH_REASON },
  {
    code: 'authentication-failed',
    says: /Authentication failed|could not read (Username|Password)|terminal prompts disabled|requested URL returned error: (401|403)|Permission denied \(|Invalid username or (password|token)|HTTP Basic: Access denied|Host key verification failed/i,
  },
  {
    code: 'unknown-revision',
    says: /couldn't find remote ref|not our ref|no such remote ref|unadvertised object|invalid refspec|Remote branch .* not found/i,
  },
  // What is wrong with the repository here, which another one would not have.
  {
    code: 'object-corrupt',
    says: /^(fatal|error): .*(loose object|packed object|object file|packfile|index file|pack file|shallow) .*(corrupt|is empty|invalid|does not match)|^fatal: bad shallow|^error: inflate: data stream error/,
  },
  {
    code: 'object-missing',
    says: /^(fatal|error): (bad object|.* does not point to a valid object|Could not read [0-9a-f]{40}|Failed to traverse parents|unable to (parse|read) (commit|tree|object)|missing (blob|tree|commit)|.* did not send all necessary objects|(pack has|unresolved) .*deltas?|shallow file has changed)/,
  },
];

/** Failures that the same server or machine will have again, whatever else git says besides. */
const LASTING =
  /certificate|self[- ]signed|CAfile|Maximum \(\d+\) redirects|No space left|Disk quota|Read-only file system|cannot lock|Unable to create|unable to write|out of memory|file too large/i;

/** Failures of the network, or of a server that is in trouble. */
const TRANSIENT =
  /Could not resolve (host|proxy)|Temporary failure|Failed to connect|Connection (was )?(refused|reset|closed|timed out|aborted|died)|timed out|Timeout was reached|Timeout, server|Operation too slow|Network is (unreachable|down)|No route to host|Host is (down|unreachable)|Broken pipe|Empty reply|kex_exchange_identification|early EOF|hung up unexpectedly|unexpected disconnect|unexpectedly closed|RPC failed|transfer closed|\bcurl \d+ |gnutls_|GnuTLS|TLS connection|SSL_|OpenSSL|HTTP\/2 stream|Proxy CONNECT aborted|invalid index-pack output|protocol error|bad line length|fatal: (expected|unexpected|unable to parse|error (reading|processing)) |bad pack header|pack has bad object|pack is corrupted|unpack-objects died|index-pack died/i;

/** The answers of git servers that are overloaded; every other error that a server gives in words of its own is final. */
const OVERLOADED = /temporar|try again|unavailable|overload|too many|rate limit|internal|time(d )?out/i;

/** Whether a later attempt may fare better, by what git said. Of failures with the code 'fetch-failed'. */
export function isTransientFailure(stderr: string): boolean {
  const said = (pattern: RegExp): string[] => [...stderr.matchAll(pattern)].map((match) => match[1] ?? '');
  // curl's words, and the proxy's answer to CONNECT.
  const statuses = said(/(?:returned error:|RPC failed; HTTP|HTTP code|CONNECT tunnel failed, response) (\d{3})\b/g);
  if (statuses.length > 0) return statuses.every((status) => isTransientStatus(Number(status)));
  if (LASTING.test(stderr)) return false;
  const answers = said(/remote error: (.*)/g);
  if (answers.length > 0) return answers.every((answer) => OVERLOADED.test(answer));
  return TRANSIENT.test(stderr);
}

/**
 * The error for `stderr` of a git that talked to a remote.
 *
 * @param what what was tried, such as "fetch from 'origin'"
 * @param redact takes secrets out of a text
 */
export function fetchError(
  stderr: string,
  exitCode: number,
  what: string,
  redact: (text: string) => string,
): CheckoutError {
  const lines = stderr
    .split(/[\r\n]/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
  for (const { code, says } of KINDS) {
    const line = lines.find((each) => says.test(each));
    if (line !== undefined) return new CheckoutError(code, `${what} failed: ${show(line, redact)}`);
  }
  const telling = lines.filter((line) => TELLING.test(line) && !SAYS_NOTHING.test(line));
  const line =
    telling.find((each) => each.startsWith('fatal: ')) ??
    telling.find((each) => !each.startsWith('remote: ')) ??
    telling[0] ??
    lines.find((each) => each.startsWith('fatal: ')) ??
    lines.at(-1) ??
    `git ended with status ${exitCode}`;
  return new CheckoutError('fetch-failed', `${what} failed: ${show(line, redact)}`);
}

/** The remote's object format when a fetch failed because the repository has the other one; null for any other failure. */
export function formatThatRemoteHas(error: unknown): ObjectFormat | null {
  if (!(error instanceof CheckoutError) || error.code !== 'fetch-failed') return null;
  const name = / mismatched algorithms: client sha\d+; server (sha\d+)$/.exec(error.message)?.[1];
  return [SHA1, SHA256].find((format) => format.name === name) ?? null;
}

function show(line: string, redact: (text: string) => string): string {
  const text = displayBytes(Buffer.from(redact(line.replace(/^(fatal|error): /, ''))));
  return text.length > 500 ? `${text.slice(0, 500)}…` : text;
}
