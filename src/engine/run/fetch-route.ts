/**
 * How objects are brought: streamed by ourselves where that can be done, and by git otherwise; by git, too, when the stream fails in a way that
 * git might not.
 */
import { CheckoutError } from '../errors.ts';
import type { FetchRoute, RemoteAnswer } from '../fetch/clone.ts';
import { fetchByGit } from '../fetch/fetch.ts';
import { HttpStatusError } from '../fetch/http-remote.ts';
import { DEADLINE_MS } from '../fetch/online-git.ts';
import { ATTEMPTS, spell, TransientFetchError, waitBeforeRetry, withRetries } from '../fetch/retry.ts';
import type { ConfigOverride, EnginePorts, FetchOutcome, FetchRequest } from '../settings.ts';
import { askRefs, fetchStreamed, NotStreamable, openStream, type Stream } from './stream-fetch.ts';

/** Failures that git would meet as well, or that are ours to tell at once. */
const FINAL: readonly string[] = [
  'interrupted',
  'unknown-revision',
  'io',
  'ref-locked',
  'not-a-repository',
  'config-invalid',
];

/** The way to one remote; keeps its connection between questions. */
export class StreamOrGit implements FetchRoute {
  readonly #ports: EnginePorts;
  readonly #overrides: readonly ConfigOverride[];
  #stream: Stream | null = null;
  /** Why git is asked. */
  #reasons: readonly string[] | null = null;
  #failure: CheckoutError | null = null;
  #deadline: AbortSignal | null = null;

  constructor(ports: EnginePorts, overrides: readonly ConfigOverride[] = []) {
    this.#ports = ports;
    this.#overrides = overrides;
  }

  close(): void {
    this.#stream?.remote.close();
    this.#stream = null;
  }

  async head(request: FetchRequest): Promise<RemoteAnswer | null> {
    const stream = await this.#open(request);
    if (stream === null) return null;
    try {
      await askRefs(stream, ['HEAD', ...(request.tags ? ['refs/tags/'] : [])]);
    } catch (error) {
      await this.#giveUp(error, request);
      return null;
    }
    const { objectFormat } = stream.repository;
    const head = stream.refs.find(({ name }) => name === 'HEAD');
    if (head === undefined) return { head: { kind: 'empty' }, objectFormat };
    const branch = /^refs\/heads\/(.+)$/.exec(head.target ?? '')?.[1];
    if (branch === undefined) return { head: { kind: 'detached', oid: head.oid }, objectFormat };
    // It need not be asked for again.
    stream.refs.push({ ...head, name: `refs/heads/${branch}`, target: null });
    return { head: { kind: 'branch', branch }, objectFormat };
  }

  async fetch(request: FetchRequest): Promise<FetchOutcome> {
    const start = performance.now();
    const { limits, signal, transport } = request;
    const warn = (line: string): void => this.#ports.observer.warning(line);
    const streamed =
      transport === 'stream'
        ? await withRetries({ limits, signal, warn }, async () => await this.#streamed(request))
        : await this.#streamed(request);
    if (streamed !== null) return { ...streamed, ms: performance.now() - start };
    const outcome = await fetchByGit(this.#limited(request), this.#ports, this.#overrides);
    return {
      ...outcome,
      ms: performance.now() - start,
      reasons: (this.#reasons ?? []).map((text) => ({ text, decided: true })),
      ...(this.#failure === null ? {} : { fallback: this.#failure.message }),
    };
  }

  /** Null where git is to fetch. */
  async #streamed(request: FetchRequest): Promise<FetchOutcome | null> {
    const stream = await this.#open(request);
    if (stream === null) return null;
    try {
      return await fetchStreamed(stream, request, this.#ports);
    } catch (error) {
      await this.#giveUp(error, request);
      return null;
    }
  }

  async #open(request: FetchRequest): Promise<Stream | null> {
    if (this.#stream !== null || this.#reasons !== null) return this.#stream;
    if (request.transport === 'git') {
      this.#reasons = ['git, as asked for'];
      return null;
    }
    try {
      this.#stream = await openStream(this.#timed(request), this.#ports, this.#overrides);
    } catch (error) {
      await this.#giveUp(error, request);
    }
    return this.#stream;
  }

  /** The request with an end to the time that the server is given. */
  #timed(request: FetchRequest): FetchRequest {
    const { deadlineMs = DEADLINE_MS } = request.limits ?? {};
    if (deadlineMs === 0) return request;
    this.#deadline ??= AbortSignal.timeout(deadlineMs);
    const { signal } = request;
    return { ...request, signal: signal === undefined ? this.#deadline : AbortSignal.any([signal, this.#deadline]) };
  }

  /** The request for git, with an attempt less where the stream has had one in vain. */
  #limited(request: FetchRequest): FetchRequest {
    if (!(this.#failure instanceof TransientFetchError)) return request;
    const { attempts = ATTEMPTS } = request.limits ?? {};
    return { ...request, limits: { ...request.limits, attempts: Math.max(1, attempts - 1) } };
  }

  /**
   * Turns to git, after a wait where what failed may be over then.
   * @throws the error itself where git is no way out
   */
  async #giveUp(error: unknown, { transport, limits, signal }: FetchRequest): Promise<void> {
    // Another ref may be asked for on the same connection.
    if (error instanceof CheckoutError && error.code === 'unknown-revision') throw error;
    this.close();
    if (error instanceof NotStreamable) {
      if (transport === 'stream') {
        throw new CheckoutError('unsupported', `the fetch cannot be streamed: ${error.message}`, {
          option: 'transport',
        });
      }
      this.#reasons = error.reasons.map((reason) => `git, since ${reason}`);
      return;
    }
    if (!(error instanceof CheckoutError)) throw error;
    if (error.code === 'interrupted' && this.#deadline?.aborted === true && signal?.aborted !== true) {
      const { deadlineMs = DEADLINE_MS } = limits ?? {};
      throw new CheckoutError('fetch-failed', `the fetch failed: it took longer than ${spell(deadlineMs)}`);
    }
    if (transport === 'stream' || FINAL.includes(error.code) || isFinal(error)) throw error;
    if (error instanceof TransientFetchError) {
      await waitBeforeRetry({ limits, signal, warn: (line) => this.#ports.observer.warning(line) }, error, 1);
    } else {
      this.#ports.observer.warning(`${error.message}; git is tried`);
    }
    this.#failure = error;
    this.#reasons = ['git, since the stream failed'];
  }
}

/** A repository that is not there, or has another format of ids, is that for git, too. */
function isFinal(error: CheckoutError): boolean {
  return (error instanceof HttpStatusError && error.status === 404) || / mismatched algorithms: /.test(error.message);
}
