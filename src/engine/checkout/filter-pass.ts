/**
 * Writes the entries that go through filter drivers: in the main thread, in index order, one after the other, while the workers
 * write the others; and what a driver has put off at the very end. See docs/decisions/filter-drivers.md.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bytes } from '../bytes.ts';
import { CheckoutError } from '../errors.ts';
import type { FilterDrivers } from '../driver/drivers.ts';
import { keyOf } from '../driver/drivers.ts';
import { canNamePath, namesPath } from '../driver/one-shot.ts';
import type { Conversion, ConversionDriver } from '../filter/conversion.ts';
import { MODE_EXECUTABLE } from '../object/tree.ts';
import { missing, type ObjectDatabase } from '../odb/object-database.ts';
import { oidToHex } from '../oid.ts';
import { ComparisonSink, FileSink } from '../worktree/file-sink.ts';
import type { LeadingDirectories } from '../worktree/leading-directories.ts';
import { displayPath, WorktreePaths } from '../worktree/paths.ts';
import type { EntryWriter, HeldContent } from './entry-writer.ts';
import { isForWorkers, State, type Tables } from './tables.ts';

/** How long to wait before memory that other threads hold is asked for again. */
const MEMORY_WAIT_MS = 10;

export interface FilterPassFacts {
  readonly tables: Tables;
  readonly conversions: readonly Conversion[];
  readonly odb: ObjectDatabase;
  readonly workTree: string;
  readonly directories: LeadingDirectories;
  readonly drivers: FilterDrivers;
  /** See openFilterEntries. */
  readonly withLfs: boolean;
  /** The main thread's. */
  readonly writer: EntryWriter;
  /** What is checked out, as drivers are told. */
  readonly ref: string | null;
  readonly treeish: string;
  /** Removes what is in an entry's way; false when the entry has failed. */
  readonly clear: (entry: number) => boolean;
  /** Throws when the run is stopped. */
  readonly stopIfAborted: () => void;
}

/**
 * Opens entries for this pass: those whose conversion ends in a driver. Returns how many there are.
 * @param withLfs whether workers try the files of Git LFS first, and leave to this pass what is not in the local store
 */
export function openFilterEntries(tables: Tables, conversions: readonly Conversion[], withLfs: boolean): number {
  if (!conversions.some(({ kind }) => kind === 'filter')) return 0;
  let count = 0;
  for (let entry = 0; entry < tables.count; entry++) {
    const state = tables.states[entry];
    if (!isForWorkers(state)) continue;
    if (!goesThroughDriver(conversions[tables.conversions[entry] ?? 0], withLfs)) continue;
    tables.states[entry] = state === State.VERIFY ? State.FILTER_VERIFY : State.FILTER;
    count++;
  }
  return count;
}

function goesThroughDriver(conversion: Conversion | undefined, withLfs: boolean): boolean {
  return conversion?.driver !== undefined && !(withLfs && conversion.driver.lfs !== undefined);
}

/** Why a path needs git: it cannot be handed to the command that wants it in its command line. Null when none does. */
export function pathReason(tables: Tables, conversions: readonly Conversion[]): string | null {
  const named = conversions.map(({ driver }) => driver?.longRunning === false && namesPath(driver.command));
  if (!named.includes(true)) return null;
  for (let entry = 0; entry < tables.count; entry++) {
    if (named[tables.conversions[entry] ?? 0] !== true) continue;
    const path = tables.pathBytes.slice(tables.pathOffsets[entry] ?? 0, tables.pathOffsets[entry + 1] ?? 0);
    if (!canNamePath(path)) return 'a path that is not UTF-8 goes into the command of a filter driver';
  }
  return null;
}

export class FilterPass {
  readonly #facts: FilterPassFacts;
  readonly #paths: WorktreePaths;
  /** Entries of paths that were put off, by path. */
  readonly #delayed = new Map<string, number>();

  constructor(facts: FilterPassFacts) {
    this.#facts = facts;
    this.#paths = new WorktreePaths(facts.workTree);
  }

  /** Makes room for all entries, before anything else is written. */
  clearWay(): void {
    const { tables, directories, clear } = this.#facts;
    for (let entry = 0; entry < tables.count; entry++) {
      const state = tables.states[entry];
      if (state !== State.FILTER && state !== State.FILTER_VERIFY) continue;
      const existed = directories.ensure(tables.directories[entry] ?? 0);
      if (existed && state === State.FILTER) clear(entry);
    }
  }

  /**
   * Writes all entries that are open for it; those that a driver puts off stay open.
   * @throws CheckoutError filter-failed where git dies, and interrupted
   */
  async run(): Promise<void> {
    const { tables } = this.#facts;
    for (let entry = 0; entry < tables.count; entry++) {
      const state = tables.states[entry];
      if (state !== State.FILTER && state !== State.FILTER_VERIFY) continue;
      await this.#write(entry, state === State.FILTER_VERIFY ? 'compare' : 'first');
    }
  }

  /** Writes an entry that collided with something, once all others are there. Its way was cleared. */
  async writeCollided(entry: number): Promise<void> {
    this.#facts.tables.states[entry] = State.FILTER;
    await this.#write(entry, 'collided');
  }

  /** Whether an entry is one of this pass, whatever its state. */
  isFiltered(entry: number): boolean {
    const { tables, conversions, withLfs } = this.#facts;
    return goesThroughDriver(conversions[tables.conversions[entry] ?? 0], withLfs);
  }

  /**
   * Fetches what was put off.
   * @returns what went wrong beside single entries, a line each
   * @throws as `run`
   */
  async finishDelayed(): Promise<readonly string[]> {
    const { drivers, writer } = this.#facts;
    const problems: string[] = [];
    while (drivers.delaying) {
      const more = await drivers.round(async (path) => {
        const entry = this.#delayed.get(path);
        if (entry === undefined) return;
        this.#delayed.delete(path);
        await this.#write(entry, 'delayed');
      });
      problems.push(...more);
    }
    for (const entry of this.#delayed.values()) {
      writer.fail(entry, new CheckoutError('filter-failed', 'its filter driver put it off and never delivered it'));
    }
    return problems;
  }

  async #write(entry: number, turn: Turn): Promise<void> {
    const { writer } = this.#facts;
    this.#facts.stopIfAborted();
    try {
      await this.#filter(entry, turn);
    } catch (error) {
      // The driver's failure, and a stop, are not the entry's alone.
      if (error instanceof Fatal) throw error.cause;
      writer.fail(entry, error);
    }
  }

  async #filter(entry: number, turn: Turn): Promise<void> {
    const { tables, conversions, stopIfAborted } = this.#facts;
    const driver = conversions[tables.conversions[entry] ?? 0]?.driver;
    if (driver === undefined) throw new Error(`entry ${entry} has no filter driver`);
    if (turn !== 'delayed') this.#locate(entry);
    let held: HeldContent | null = turn === 'delayed' ? NOTHING_HELD : this.#read(entry);
    while (held === null) {
      await sleep(MEMORY_WAIT_MS);
      try {
        stopIfAborted();
      } catch (error) {
        throw new Fatal(error);
      }
      held = this.#read(entry);
    }
    try {
      const path = tables.pathBytes.slice(tables.pathOffsets[entry] ?? 0, tables.pathOffsets[entry + 1] ?? 0);
      if (turn === 'compare') {
        if (await this.#hasContent(entry, path, driver, held.content)) {
          tables.states[entry] = State.KEPT;
          return;
        }
        if (!this.#facts.clear(entry)) return;
      }
      await this.#create(entry, path, driver, held.content, turn);
    } finally {
      held.release();
    }
  }

  /** Looks up where the blob is, as write-order.ts does for the workers. */
  #locate(entry: number): void {
    const { tables, odb } = this.#facts;
    const at = entry * tables.format.oidBytes;
    if (!odb.find(tables.oids, at) && !odb.findAgain(tables.oids, at, -1, 0)) {
      throw missing(tables.oids, at, tables.format);
    }
    this.#setPlace(entry);
  }

  #setPlace(entry: number): void {
    const { tables, odb, writer } = this.#facts;
    tables.packs[entry] = odb.pack;
    tables.offsets[entry] = odb.offset;
    writer.usePacks(odb.packs);
  }

  /** Reads the blob, from another place where it cannot be read at the first. */
  #read(entry: number): HeldContent | null {
    const { tables, odb, writer } = this.#facts;
    let first: unknown = null;
    for (;;) {
      try {
        return writer.readForFilter(entry);
      } catch (error) {
        first ??= error;
        const at = entry * tables.format.oidBytes;
        if (!writer.isUnread(entry, error)) throw error;
        if (!odb.findAgain(tables.oids, at, tables.packs[entry] ?? 0, tables.offsets[entry] ?? 0)) throw first;
        this.#setPlace(entry);
      }
    }
  }

  async #hasContent(entry: number, path: Bytes, driver: ConversionDriver, content: Bytes): Promise<boolean> {
    const sink = new ComparisonSink(this.#paths.absolute(path, 0, path.length));
    try {
      await this.#smudge(entry, path, driver, content, false, sink);
      return sink.finish();
    } finally {
      sink.abandon();
    }
  }

  async #create(entry: number, path: Bytes, driver: ConversionDriver, content: Bytes, turn: Turn): Promise<void> {
    const { tables, writer, directories, clear } = this.#facts;
    // A driver may have done anything to the working tree, and a path that was put off has seen all others go by.
    directories.ensureAnew(tables.directories[entry] ?? 0);
    if (turn === 'delayed' && !clear(entry)) return;
    const canDelay = turn === 'first' || turn === 'collided';
    const sink = new FileSink(this.#paths.absolute(path, 0, path.length), tables.modes[entry] === MODE_EXECUTABLE);
    try {
      if ((await this.#smudge(entry, path, driver, content, canDelay, sink)) === 'delayed') {
        this.#delayed.set(keyOf(path), entry);
        return;
      }
      const stat = sink.finish();
      if (stat !== null) writer.record(entry, stat);
      else if (turn === 'first' || turn === 'compare') tables.states[entry] = State.COLLIDED;
      else throw new CheckoutError('io', 'something was put in its way', { errno: 'EEXIST' });
    } finally {
      sink.abandon();
    }
  }

  /** Has the content filtered into the sink, which then has the file's content. */
  async #smudge(
    entry: number,
    path: Bytes,
    driver: ConversionDriver,
    content: Bytes,
    canDelay: boolean,
    sink: FileSink | ComparisonSink,
  ): Promise<'done' | 'delayed'> {
    const { tables, drivers, ref, treeish, stopIfAborted } = this.#facts;
    const failure: { sink?: unknown } = {};
    const push = (piece: Bytes): void => {
      try {
        sink.push(piece);
      } catch (error) {
        failure.sink = error;
        throw error;
      }
    };
    let outcome;
    try {
      const blob = oidToHex(tables.oids, entry * tables.format.oidBytes, tables.format.oidBytes);
      outcome = await drivers.smudge(driver, { path, ref, treeish, blob, canDelay, content }, push);
      stopIfAborted();
    } catch (error) {
      // A full disk costs this entry; a driver that broke the protocol, and a stop, cost the run.
      if ('sink' in failure) throw failure.sink;
      throw new Fatal(error);
    }
    if (outcome === 'delayed') return 'delayed';
    if (outcome === 'unfiltered') {
      if (driver.required) {
        const shown = displayPath(path, 0, path.length);
        const message = `cannot write '${shown}': the required filter driver '${driver.name}' failed`;
        throw new Fatal(new CheckoutError('filter-failed', message, { path: shown }));
      }
      sink.discard();
      sink.push(content);
    }
    return 'done';
  }
}

/**
 * Which of its turns an entry is in: the first, which may have to compare the file that is there; a second one after a collision; the
 * one in which the driver delivers what it put off.
 */
type Turn = 'first' | 'compare' | 'collided' | 'delayed';

const NOTHING_HELD: HeldContent = { content: new Uint8Array(0), release: () => undefined };

/** Carries what ends the run past the place where an entry's own failures are caught. */
class Fatal extends Error {
  constructor(cause: unknown) {
    super('ends the run', { cause });
  }
}
