/**
 * A fetch by ourselves, streamed: asks the server, takes the pack in while workers write its files, and leaves a repository as `git fetch --depth`
 * does. What speaks against it is found before anything is asked or touched, and is for git then.
 * docs/decisions/streamed-checkout.md.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { outerAttributes } from '../checkout/conversion-lookup.ts';
import { isEmptyWorkTree } from '../checkout/checkout-tree.ts';
import { foldsCase } from '../checkout/collisions.ts';
import { YoungCollection } from '../checkout/stream/collect-young.ts';
import { StreamedCheckout, type StreamedWorkTree } from '../checkout/stream/streamed-checkout.ts';
import { attributeFiles } from '../config/attribute-files.ts';
import { CheckoutError, ioError } from '../errors.ts';
import { fetchArgs } from '../fetch/fetch.ts';
import { HttpRemote } from '../fetch/http-remote.ts';
import { httpSettings, type HttpSettings, rewriteUrl } from '../fetch/http-settings.ts';
import { STALL_MS } from '../fetch/online-git.ts';
import { type Capabilities, offers, type RemoteRef } from '../fetch/protocol-v2.ts';
import { redactUrls } from '../fetch/redact.ts';
import { makePromisor, storeRefs, writeShallow } from '../fetch/store-fetch.ts';
import {
  followedTags,
  parseRefspec,
  planRefUpdates,
  refPrefixes,
  type RefUpdate,
  targetOid,
} from '../fetch/stream-plan.ts';
import { earlyStreamReason, streamReasons } from '../fetch/stream-route.ts';
import { ConversionTable, readConversionConfig } from '../filter/conversion.ts';
import { processEnvironment } from '../gitdir/environment.ts';
import { findGit } from '../gitdir/git-executable.ts';
import { openRepositoryAndConfig, type Repository } from '../gitdir/repository.ts';
import { readPackedRefs } from '../refs/read-refs.ts';
import type { Environment } from '../config/environment.ts';
import { probeHost } from '../host/probe-host.ts';
import { objectBudget } from '../plan/object-budget.ts';
import { oidToHex } from '../oid.ts';
import { checkConnected } from '../pack/connectivity.ts';
import { IncomingPack } from '../pack/incoming-pack.ts';
import { sortByOid } from '../pack/write-pack-index.ts';
import type {
  CheckoutRequest,
  ConfigOverride,
  EnginePorts,
  FetchLimits,
  FetchOutcome,
  FetchRequest,
  Received,
  RunSettings,
} from '../settings.ts';
import { maxPathBytes } from '../worktree/paths.ts';
import { whatNeedsGit } from './needs-git.ts';
import { type OpenedRepository, planFor } from './session.ts';

/** What a server is told that we are. It is not git, and must not be taken for it where its behaviour is worked around. */
export const USER_AGENT = 'parallel-checkout/1';
/** Room for objects on their way to the workers: a tenth of a second of a fast link. Halves and doubles of it made no difference on the Linux tree. */
const RING_BYTES = 8 << 20;
const LEAST_RING_BYTES = 1 << 20;
/** Of the memory limit, what the ring may take. */
const RING_SHARE = 8;
const TAGS = 'refs/tags/';
/** How often progress is told. */
const PROGRESS_MS = 100;

/** Why a fetch is for git: found before anything was touched. */
export class NotStreamable extends Error {
  readonly reasons: readonly string[];

  constructor(reasons: readonly string[]) {
    super(reasons.join('; '));
    this.reasons = reasons;
  }
}

/** A server that was asked what it offers, and the repository that is fetched into. */
export interface Stream extends OpenedRepository {
  readonly remote: HttpRemote;
  readonly capabilities: Capabilities;
  /** Without user and password. */
  readonly url: string;
  /** What the server has told of its refs so far. */
  readonly refs: RemoteRef[];
  /** The beginnings of names that it was asked for. */
  readonly asked: Set<string>;
}

/**
 * Asks the server what it offers. To be closed by the caller.
 * @throws NotStreamable; CheckoutError authentication-failed, fetch-failed, interrupted, and as openRepositoryAndConfig
 */
export async function openStream(
  request: FetchRequest,
  ports: EnginePorts,
  overrides: readonly ConfigOverride[] = [],
): Promise<Stream> {
  const { directory, env = {}, signal } = request;
  const early = earlyStreamReason(request);
  if (early !== null) throw new NotStreamable([early]);
  // What the checkout will go by.
  const later = overrides.length > 0 ? [] : (request.ahead?.config ?? []);
  const git: EnginePorts['git'] = async (call) => await ports.git({ ...call, env: { ...env, ...call.env } });
  const opened = await openRepositoryAndConfig({ directory, config: [...overrides, ...later] }, git, signal);
  const { repository, config } = opened;
  const environment = { ...processEnvironment(), ...env };
  const reasons = streamReasons({ request, repository, config, environment });
  const configured = config.getAll(`remote.${request.remote}.url`)[0];
  const settings = httpSettings(
    rewriteUrl(configured ?? request.remote, config),
    configured === undefined ? null : request.remote,
    config,
    environment,
  );
  if (typeof settings === 'string') throw new NotStreamable([settings, ...reasons]);
  if (reasons.length > 0) throw new NotStreamable(reasons);
  const remote = new HttpRemote({
    url: settings.url,
    headers: settings.headers,
    userAgent: settings.userAgent ?? USER_AGENT,
    proxyFor: await proxies(settings.proxy, environment),
    ca: readAuthorities(settings),
    systemCa,
    followRedirects: settings.followRedirects,
    stallMs: settings.lowSpeed === null ? stallLimit(request.limits) : settings.lowSpeed.seconds * 1000,
    signal,
  });
  try {
    const capabilities = await remote.discover();
    if (capabilities === null) throw new NotStreamable(["the server does not speak version 2 of git's protocol"]);
    const missing = whatServerLacks(capabilities, request);
    if (missing !== null) throw new NotStreamable([missing]);
    const { objectFormat } = repository;
    if (capabilities.objectFormat !== objectFormat) {
      // As git has it, since callers make the repository again then.
      const formats = `client ${objectFormat.name}; server ${capabilities.objectFormat.name}`;
      throw new CheckoutError('fetch-failed', `fetch failed: mismatched algorithms: ${formats}`);
    }
    return { ...opened, remote, capabilities, url: settings.url, refs: [], asked: new Set() };
  } catch (error) {
    remote.close();
    throw error;
  }
}

function whatServerLacks(capabilities: Capabilities, { filter }: FetchRequest): string | null {
  if (!offers(capabilities, 'fetch', 'shallow')) return 'the server cannot limit the history';
  if (filter !== undefined && !offers(capabilities, 'fetch', 'filter')) return 'the server cannot filter objects';
  return null;
}

function stallLimit(limits: FetchLimits | undefined): number {
  const { stallMs = STALL_MS } = limits ?? {};
  return stallMs === 0 ? Infinity : stallMs;
}

function readAuthorities({ caFile }: HttpSettings): string | null {
  if (caFile === null) return null;
  try {
    return readFileSync(caFile, 'utf8');
  } catch (error) {
    throw ioError('read', caFile, error);
  }
}

/** Certificates that the system trusts; asked for only where those that Node brings were not enough. */
async function systemCa(): Promise<readonly string[]> {
  const { getCACertificates } = await import('node:tls');
  return [...getCACertificates('default'), ...getCACertificates('system')];
}

async function proxies(
  configured: string | null,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<(url: string) => string> {
  if (configured !== null) return () => configured;
  const names = ['http_proxy', 'https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY'];
  if (names.every((name) => (environment[name] ?? '') === '')) return () => '';
  const { getProxyForUrl } = await import('proxy-from-env');
  // curl does not heed HTTP_PROXY, which a CGI program's client could set.
  const isCgiName = (environment['http_proxy'] ?? '') === '' && (environment['HTTP_PROXY'] ?? '') !== '';
  return (url) => (isCgiName && url.startsWith('http:') ? (environment['all_proxy'] ?? '') : getProxyForUrl(url));
}

/**
 * Asks for refs by the beginnings of their names.
 * @throws CheckoutError authentication-failed, fetch-failed, interrupted
 */
export async function askRefs(stream: Stream, prefixes: readonly string[]): Promise<void> {
  stream.refs.push(...(await stream.remote.lsRefs(prefixes)));
  for (const prefix of prefixes) stream.asked.add(prefix);
}

/**
 * Fetches what a request names.
 * @throws CheckoutError unknown-revision for a ref that the server lacks, authentication-failed, fetch-failed, object-corrupt,
 *   object-missing, memory, io, ref-locked, interrupted; nothing of the fetch is left then
 */
export async function fetchStreamed(stream: Stream, request: FetchRequest, ports: EnginePorts): Promise<FetchOutcome> {
  const start = performance.now();
  const { repository } = stream;
  const { objectFormat: format } = repository;
  const refspecs = request.refspecs.map((refspec) => parseRefspec(refspec));
  const known = new Set(stream.refs.map(({ name }) => name));
  const wanted = [...refPrefixes(refspecs, format), ...(request.tags ? [TAGS] : [])];
  const prefixes = wanted.filter((prefix) => !known.has(prefix) && !stream.asked.has(prefix));
  if (prefixes.length > 0) await askRefs(stream, prefixes);
  const updates = planRefUpdates(refspecs, stream.refs, format);
  const wants = [...new Set(updates.map(({ oid }) => oid))];
  const { ahead } = request;
  const commit = ahead === undefined ? null : targetOid(ahead.target, updates, stream.refs, format);
  const tree = ahead === undefined || commit === null ? null : await workTreeFor(stream, ahead, commit, ports);
  const sink = streamedCheckout(stream, request, tree);
  const pack = new IncomingPack(repository.objectsDir, format, sink);
  sink.pack = pack;
  const clock = new Waits();
  const garbage = new YoungCollection();
  let progressAt = 0;
  try {
    const answer = await stream.remote.fetch(
      {
        wants,
        depth: request.depth ?? null,
        filter: request.filter ?? null,
        includeTag: request.tags,
        shallow: [],
      },
      (piece) => {
        clock.begin();
        pack.push(piece);
        sink.stored(pack.stored);
        garbage.received(pack.size);
        const now = clock.end();
        if (now - progressAt < PROGRESS_MS) return;
        progressAt = now;
        ports.observer.progress({
          phase: 'fetch',
          filesDone: sink.filesWritten,
          filesTotal: 0,
          bytesDone: pack.size,
        });
      },
      (line) => {
        if (request.progress) ports.observer.info(`remote: ${line}`);
      },
    );
    pack.complete();
    const received: Received = {
      bytes: pack.size,
      objects: pack.objects.count,
      requests: stream.remote.requests,
      networkWaitMs: clock.waitedMs,
      engineWaitMs: clock.workedMs,
      filesWritten: sink.filesWritten,
    };
    // What is done from here on needs the server no more.
    stream.remote.close();
    await sink.finish();
    const order = sortByOid(pack.objects);
    checkConnected(pack.objects, pack.file, {
      order,
      wants,
      shallow: answer.shallow,
      withoutBlobs: request.filter !== undefined,
      retained: (offset) => sink.retained(offset),
      memoryBytes: sink.memoryBytes,
    });
    if (request.filter !== undefined) makePromisor(dirsOf(stream), request.remote, request.filter);
    await pack.install(order, request.filter !== undefined);
    writeShallow(dirsOf(stream), answer.shallow);
    const tags = request.tags ? followedTags(stream.refs, updates, objectsOf(pack)) : [];
    storeAll(stream, request, [...updates, ...tags]);
    const outcome: FetchOutcome = {
      transport: 'stream',
      ms: performance.now() - start,
      reasons: [{ text: 'files are written while the pack comes', decided: true }],
      received,
    };
    if (tree !== null) {
      // Of a partial clone the configuration is another now.
      if (request.filter === undefined) {
        openedBefore.set(sink, { ...stream, repository: { ...repository, shallow: answer.shallow.length > 0 } });
      }
      return { ...outcome, begun: sink };
    }
    await sink.pool.end();
    return outcome;
  } catch (error) {
    await sink.abandon();
    await pack.abandon();
    throw error;
  }
}

/** The repositories of checkouts that have begun: git need not be asked again where they are and what is configured. */
const openedBefore = new WeakMap<StreamedCheckout, OpenedRepository>();

export function repositoryOf(begun: StreamedCheckout): OpenedRepository | null {
  const opened = openedBefore.get(begun);
  return opened === undefined ? null : { repository: opened.repository, config: opened.config };
}

/** Times how long the network waited for us, and we for it. */
class Waits {
  workedMs = 0;
  waitedMs = 0;
  #at = performance.now();

  begin(): void {
    const now = performance.now();
    this.waitedMs += now - this.#at;
    this.#at = now;
  }

  end(): number {
    const now = performance.now();
    this.workedMs += now - this.#at;
    this.#at = now;
    return now;
  }
}

function dirsOf({ repository: { gitDir, commonDir } }: Stream): { gitDir: string; commonDir: string } {
  return { gitDir, commonDir };
}

/** Whether an object came, by its id. */
function objectsOf({ objects: { oids, count, format } }: IncomingPack): (oid: string) => boolean {
  let all: Set<string> | null = null;
  return (oid) => {
    if (all === null) {
      all = new Set();
      for (let i = 0; i < count; i++) all.add(oidToHex(oids, i * format.oidBytes, format.oidBytes));
    }
    return all.has(oid);
  };
}

function storeAll(stream: Stream, request: FetchRequest, updates: readonly RefUpdate[]): void {
  const args = fetchArgs(request);
  storeRefs(
    {
      dirs: dirsOf(stream),
      config: stream.config,
      environment: processEnvironment(),
      url: stream.url,
      // What git would have been called with, from the command's name on.
      action: redactUrls(args.slice(args.indexOf('fetch')).join(' ')),
    },
    updates,
  );
}

/** Whether there may be objects in place of others (git-replace(1)); none come with a fetch, so that is hardly ever so. */
function mayReplace({ commonDir }: Repository, environment: Environment): boolean {
  if ((environment['GIT_REPLACE_REF_BASE'] ?? '') !== '') return true;
  if (existsSync(join(commonDir, 'refs', 'replace'))) return true;
  const packed = readPackedRefs({ gitDir: commonDir, commonDir });
  return packed?.includes(' refs/replace/') === true;
}

/** What is to be written while the pack comes; null where that is for later. */
async function workTreeFor(
  stream: Stream,
  ahead: CheckoutRequest,
  commit: string,
  ports: EnginePorts,
): Promise<StreamedWorkTree | null> {
  const { repository, config } = stream;
  const environment = processEnvironment();
  if (ahead.engine === 'git' || (ahead.sparse !== undefined && ahead.sparse.kind !== 'off')) return null;
  if (config.getBool('core.sparseCheckout') === true || mayReplace(repository, environment)) return null;
  const ignoreCase = config.getBool('core.ignoreCase') ?? false;
  // Which of several names that fold into one wins is decided when all of them are known.
  const folds = ignoreCase || (config.getBool('core.precomposeUnicode') ?? false) || foldsCase(repository.workTree);
  if (folds || !isEmptyWorkTree(repository.workTree)) return null;
  if ((await whatNeedsGit(stream, ports, ahead.signal)).length > 0) return null;
  const stack = outerAttributes(
    {
      info: repository.attributesPath,
      ...attributeFiles({
        config,
        environment,
        platform: process.platform,
        gitProgram: findGit(environment, process.platform),
      }),
    },
    ignoreCase,
  );
  return {
    workTree: repository.workTree,
    commit,
    rules: {
      ntfs: config.getBool('core.protectNTFS') ?? true,
      hfs: config.getBool('core.protectHFS') ?? process.platform === 'darwin',
      windows: process.platform === 'win32',
    },
    maxPathBytes: maxPathBytes(process.platform),
    stack,
    conversions: new ConversionTable(readConversionConfig(config, process.platform), stack.sets),
  };
}

function streamedCheckout(stream: Stream, request: FetchRequest, tree: StreamedWorkTree | null): StreamedCheckout {
  const { repository, config } = stream;
  const { ahead } = request;
  const host = ahead?.hostFacts ?? probeHost({ workTree: repository.workTree });
  const settings: RunSettings = ahead ?? {
    workers: 'auto',
    memoryLimitBytes: 'auto',
    engine: 'auto',
    transport: 'auto',
    config: [],
  };
  const plan = (files: number): ReturnType<typeof planFor> => planFor({ request: settings, host, config }, files, []);
  const most = plan(Number.MAX_SAFE_INTEGER);
  const { memoryLimitBytes } = most;
  return new StreamedCheckout({
    format: repository.objectFormat,
    tree,
    platform: process.platform,
    workersFor: (files) => plan(files).workers,
    ringBytes: Math.min(RING_BYTES, Math.max(LEAST_RING_BYTES, Math.floor(memoryLimitBytes / RING_SHARE))),
    objectBytes: objectBudget(most, settings.memoryLimitBytes, 0),
    memoryBytes: memoryLimitBytes,
  });
}
