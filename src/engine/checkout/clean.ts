/**
 * Cleans the working tree. The main thread begins alone, breadth first, so that what is left to do after a moment is many
 * places next to each other. If that was not all, threads are started and share them; the directories that the main
 * thread went through are removed at the end, when all below them is done.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { CheckoutError } from '../errors.ts';
import {
  claimPlace,
  Descent,
  finishPlace,
  PlaceState,
  STOP_CLEAN,
  type CleanOutcome,
  type CleanShare,
} from './clean-share.ts';
import { CleanWalk, type CleanRules, type Place, type TrackedPaths } from './clean-walk.ts';
import type { WorkerPool } from './pool.ts';

/**
 * How long the main thread cleans alone. A thread took about 120 ms of CPU to start, and a walk over the 5,760 directories of the
 * Linux tree with nothing to remove takes 0.19 s (docs/decisions/clean.md).
 */
const ALONE_MS = 200;
/** Fewer places than this for each thread are too few to share evenly. */
const PLACES_PER_THREAD = 4;
/** The event loop gets a turn this often, for signals. */
const TURN_MS = 30;
/** Paths that are named; of the others the number is. */
const NAMED_FAILURES = 20;

export interface CleanOptions {
  /** Threads that may be started. */
  readonly workers: number;
  readonly pool: Pick<WorkerPool, 'size' | 'start' | 'clean'>;
  readonly signal?: AbortSignal | undefined;
  readonly warn: (line: string) => void;
  /** For tests: how long the main thread is alone, in milliseconds. */
  readonly aloneMs?: number;
}

/** A place that the main thread visited, or is to visit. */
interface Row {
  readonly place: Place;
  readonly above: Row | null;
  open: boolean;
  stays: boolean;
}

/**
 * Removes what is untracked. Files and links are counted in the result.
 * @throws CheckoutError clean-failed when something could not be removed (the rest is gone, and each path was warned of),
 *   interrupted
 */
export async function cleanWorkTree(rules: CleanRules, options: CleanOptions): Promise<number> {
  const clean = new Clean(rules, options);
  const outcome = await clean.run();
  for (const line of outcome.unread.slice(0, NAMED_FAILURES)) options.warn(line);
  const { failures } = outcome;
  const [first] = failures;
  if (first === undefined) return outcome.removed;
  for (const line of failures.slice(0, NAMED_FAILURES)) options.warn(line);
  if (failures.length > NAMED_FAILURES) options.warn(`and ${failures.length - NAMED_FAILURES} more`);
  const more = failures.length === 1 ? '' : ` (and ${failures.length - 1} more)`;
  throw new CheckoutError('clean-failed', `the working tree cannot be cleaned: ${first}${more}`);
}

class Clean {
  readonly #rules: CleanRules;
  readonly #options: CleanOptions;
  readonly #walk: CleanWalk;
  #turnAt = performance.now() + TURN_MS;

  constructor(rules: CleanRules, options: CleanOptions) {
    this.#rules = rules;
    this.#options = options;
    this.#walk = new CleanWalk(rules);
  }

  async run(): Promise<CleanOutcome> {
    const { workers, aloneMs = ALONE_MS } = this.#options;
    const aloneUntil = performance.now() + aloneMs;
    const rows: Row[] = [{ place: CleanWalk.root(this.#rules), above: null, open: false, stays: false }];
    let next = 0;
    while (next < rows.length) {
      if (performance.now() >= aloneUntil && rows.length - next >= PLACES_PER_THREAD * (workers + 1)) break;
      const row = rows[next++];
      if (row === undefined) break;
      const below: Place[] = [];
      const visit = this.#walk.visit(row.place, below);
      row.open = visit === 'open';
      row.stays = visit === 'stays';
      for (const place of below) rows.push({ place, above: row, open: false, stays: false });
      await this.#turn();
    }
    const others = next < rows.length ? await this.#share(rows.slice(next)) : [];
    // From the innermost: those below a row come after it.
    for (let i = rows.length - 1; i >= 0; i--) {
      const row = rows[i];
      if (row === undefined) break;
      const stays = row.open ? this.#walk.leave(row.place, row.stays) : row.stays;
      if (stays && row.above !== null) row.above.stays = true;
    }
    const { removed, failures, unread } = this.#walk;
    return {
      removed: others.reduce((sum, other) => sum + other.removed, removed),
      failures: others.reduce<readonly string[]>((all, other) => [...all, ...other.failures], failures),
      unread: others.reduce<readonly string[]>((all, other) => [...all, ...other.unread], unread),
    };
  }

  /** Has all threads and this one clean what the rows are places of, and notes in the rows what stays. */
  async #share(rows: readonly Row[]): Promise<readonly CleanOutcome[]> {
    this.#stopIfAborted();
    const { workers, pool, signal } = this.#options;
    if (workers > pool.size) pool.start(workers - pool.size);
    const share: CleanShare = {
      rules: pool.size === 0 ? this.#rules : { ...this.#rules, tracked: inSharedMemory(this.#rules.tracked) },
      places: rows.map(({ place }) => place),
      states: new Uint8Array(new SharedArrayBuffer(rows.length)),
      control: new Int32Array(new SharedArrayBuffer(8)),
    };
    const stop = (): void => {
      Atomics.store(share.control, STOP_CLEAN, 1);
    };
    signal?.addEventListener('abort', stop, { once: true });
    try {
      const running = pool.clean(share);
      try {
        for (let at = claimPlace(share); at !== null; at = claimPlace(share)) await this.#descend(share, at);
      } catch (error) {
        stop();
        await running;
        throw error;
      }
      const outcomes = await running;
      this.#stopIfAborted();
      for (let at = 0; at < rows.length; at++) {
        // A thread that died left its place half-done.
        if (share.states[at] === PlaceState.OPEN) await this.#descend(share, at);
        const row = rows[at];
        if (row !== undefined) row.stays = share.states[at] === PlaceState.STAYS;
      }
      return outcomes;
    } finally {
      signal?.removeEventListener('abort', stop);
    }
  }

  async #descend(share: CleanShare, at: number): Promise<void> {
    const place = share.places[at];
    if (place === undefined) return;
    const descent = new Descent(this.#walk, place);
    while (descent.step()) await this.#turn();
    finishPlace(share, at, descent);
  }

  async #turn(): Promise<void> {
    if (performance.now() < this.#turnAt) return;
    await nextTurn();
    this.#stopIfAborted();
    this.#turnAt = performance.now() + TURN_MS;
  }

  #stopIfAborted(): void {
    if (this.#options.signal?.aborted === true) throw new CheckoutError('interrupted', 'interrupted while cleaning');
  }
}

function inSharedMemory({ count, pathBytes, pathOffsets, modes, flags }: TrackedPaths): TrackedPaths {
  const bytes = new Uint8Array(new SharedArrayBuffer(pathOffsets[count] ?? 0));
  bytes.set(pathBytes.subarray(0, bytes.length));
  const offsets = new Uint32Array(new SharedArrayBuffer(4 * (count + 1)));
  offsets.set(pathOffsets.subarray(0, count + 1));
  const sharedModes = new Uint32Array(new SharedArrayBuffer(4 * count));
  sharedModes.set(modes.subarray(0, count));
  const sharedFlags = new Uint16Array(new SharedArrayBuffer(2 * count));
  sharedFlags.set(flags.subarray(0, count));
  return { count, pathBytes: bytes, pathOffsets: offsets, modes: sharedModes, flags: sharedFlags };
}
