/**
 * What a failed fetch means, read from what git said under LC_ALL=C. git has one exit status for all failures, and the
 * caller must tell a refused token, which no retry mends, from a server that did not answer. Pure.
 */
import { CheckoutError, type ErrorCode } from '../errors.ts';
import { displayBytes } from '../bytes.ts';
import { type ObjectFormat, SHA1, SHA256 } from '../oid.ts';

/** Lines that say that it failed, not why; another line says why. */
const SAYS_NOTHING =
  /the remote end hung up|early EOF|invalid index-pack output|Could not read from remote repository|correct access rights|and the repository exists|unexpected disconnect|fetch-pack: |^index-pack failed|remote did not send all necessary objects/;

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
];

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
