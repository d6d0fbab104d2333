/**
 * Every failure that a user can meet, as data: a stable code, what it concerns, and the cause. Errors cross thread
 * boundaries and end up in reports, so they convert to plain JSON and back. Anything else that is thrown is a bug in
 * this program and is reported as one.
 */

/** Stable codes; scripts may rely on them. */
export type ErrorCode =
  | 'usage' // wrong command line, input or setting
  | 'not-a-repository' // no git directory, or one that we may not use
  | 'unsupported-repository' // a repository format newer than we or git know
  | 'unknown-revision' // a ref or object name that does not resolve
  | 'object-missing'
  | 'object-corrupt' // a loose object, pack, pack index or delta that does not hold what it must
  | 'tree-invalid' // a tree object that cannot be parsed
  | 'tree-too-deep'
  | 'path-invalid' // a path that a checkout must refuse (git-check of names, before anything is touched)
  | 'config-invalid'
  | 'index-locked'
  | 'index-corrupt'
  | 'local-changes' // a file that the index says not to look at was changed, and git would not overwrite it either
  | 'ref-locked'
  | 'filter-failed' // a required filter driver failed, or a driver broke the protocol
  | 'clean-failed' // something untracked could not be removed; nothing was checked out
  | 'write-failed' // an entry could not be written; others were
  | 'io' // the operating system refused: disk full, read only, no permission
  | 'memory' // an object does not fit the memory limit
  | 'git-failed' // a git process ended with an error
  | 'git-missing'
  | 'hook-failed' // the post-checkout hook ended with an error; the checkout itself is done
  | 'fetch-failed'
  | 'authentication-failed'
  | 'unsupported' // engine: native was asked for and the repository needs git
  | 'interrupted';

/** What an error concerns. Paths are in display form (UTF-8, invalid bytes replaced), oids in hexadecimal. */
export interface ErrorSubject {
  readonly path?: string;
  readonly oid?: string;
  readonly option?: string;
  /** The operating system's code, such as ENOSPC. */
  readonly errno?: string;
  /** Path of the submodule, where it concerns one; other paths are below that then. */
  readonly submodule?: string;
  /** The exit status that the run must have where that is not the one of its code. */
  readonly exitStatus?: number;
}

/** The plain form that survives JSON and structured clone. */
export interface ErrorJson {
  readonly code: ErrorCode;
  readonly message: string;
  readonly subject: ErrorSubject;
}

/** An expected failure. `message` is one line, names its subject, and never holds a secret. */
export class CheckoutError extends Error {
  readonly code: ErrorCode;
  readonly subject: ErrorSubject;

  constructor(code: ErrorCode, message: string, subject: ErrorSubject = {}, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'CheckoutError';
    this.code = code;
    this.subject = subject;
  }

  toJSON(): ErrorJson {
    return { code: this.code, message: this.message, subject: this.subject };
  }

  static fromJSON(json: ErrorJson): CheckoutError {
    return new CheckoutError(json.code, json.message, json.subject);
  }
}

/** The errno code of a Node system error ('ENOENT'), or undefined for anything else. */
export function errnoOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** What Node says of memory that it does not get; these errors have no code. */
const NO_MEMORY = /^(Array buffer allocation failed|Invalid (typed array|array buffer) length)/;
/** Node's codes for calls that were made wrongly. */
const WRONG_CALL = ['ERR_INVALID_ARG_TYPE', 'ERR_OUT_OF_RANGE'];

/**
 * Wraps a system error on `path` into one line; passes a CheckoutError through unchanged. Memory that cannot be had is a
 * failure with a code of its own.
 * @throws what is none of these: a bug of ours, which must not pass for the system's failure
 */
export function ioError(action: string, path: string, error: unknown): CheckoutError {
  if (error instanceof CheckoutError) return error;
  if (error instanceof RangeError && NO_MEMORY.test(error.message)) {
    return new CheckoutError('memory', `cannot ${action} '${path}': ${error.message}`, { path }, error);
  }
  const errno = errnoOf(error);
  if (errno === undefined || WRONG_CALL.includes(errno)) throw error;
  return new CheckoutError('io', `cannot ${action} '${path}': ${errno}`, { path, errno }, error);
}

/** A broken invariant of this program, never the user's fault. */
export function bug(what: string): Error {
  return new Error(`BUG in parallel-checkout: ${what}`);
}
