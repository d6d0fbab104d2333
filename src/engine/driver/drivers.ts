/**
 * The filter drivers of one checkout: one process for each long-running command, started when the first file needs it and
 * again after it broke; and the paths that they have put off.
 */
import type { Bytes } from '../bytes.ts';
import type { ConversionDriver } from '../filter/conversion.ts';
import type { DriverSettings } from './driver-process.ts';
import { LongRunningDriver, type SmudgeRequest } from './long-running.ts';
import { smudgeOnce } from './one-shot.ts';

/** - `unfiltered`: nothing that was pushed counts, the file gets the content that the driver was given. */
export type Outcome = 'filtered' | 'unfiltered' | 'delayed';

export class FilterDrivers {
  readonly #settings: DriverSettings;
  readonly #running = new Map<string, LongRunningDriver>();
  /** Commands that said `abort`, whose process goes on. */
  readonly #aborted = new WeakSet<LongRunningDriver>();
  /** Commands that have put off a path, and the paths, as byte strings. */
  readonly #delaying = new Set<string>();
  readonly #delayed = new Set<string>();

  constructor(settings: DriverSettings) {
    this.#settings = settings;
  }

  /**
   * Has one file filtered.
   * @throws CheckoutError filter-failed where git dies; interrupted; what `push` throws
   */
  async smudge(driver: ConversionDriver, request: SmudgeRequest, push: (piece: Bytes) => void): Promise<Outcome> {
    const { command } = driver;
    if (!driver.longRunning) {
      const done = await smudgeOnce(command, request.path, request.content, this.#settings, push);
      return done ? 'filtered' : 'unfiltered';
    }
    const running = this.#running.get(command) ?? (await this.#start(command));
    if (running === null) return 'unfiltered';
    if (!running.capabilities.has('smudge') || this.#aborted.has(running)) return 'unfiltered';
    const canDelay = request.canDelay && running.capabilities.has('delay');
    let answer;
    try {
      answer = await running.smudge({ ...request, canDelay }, push);
    } catch (error) {
      await this.#stop(command, running);
      throw error;
    }
    switch (answer) {
      case 'filtered':
        return answer;
      case 'delayed':
        this.#delaying.add(command);
        this.#delayed.add(keyOf(request.path));
        return answer;
      case 'error':
        return 'unfiltered';
      case 'abort':
        this.#aborted.add(running);
        return 'unfiltered';
      case 'broken':
        await this.#broken(command, running);
        return 'unfiltered';
    }
  }

  /** Paths that are still put off. */
  get delayed(): ReadonlySet<string> {
    return this.#delayed;
  }

  /** Whether any driver may have something to say about the delayed paths. */
  get delaying(): boolean {
    return this.#delaying.size > 0;
  }

  /**
   * Asks each driver that has put off a path, once, and hands on what it has; `fetch` is called for each path, which is no
   * longer delayed then.
   * @returns what went wrong, a line each
   * @throws as `smudge`, and what `fetch` throws
   */
  async round(fetch: (path: string) => Promise<void>): Promise<readonly string[]> {
    const problems: string[] = [];
    for (const command of [...this.#delaying].sort(byBytes)) {
      const running = this.#running.get(command);
      if (running === undefined) {
        problems.push(`the filter command '${command}' ended before it had filtered all files`);
        this.#delaying.delete(command);
        continue;
      }
      let list;
      try {
        list = await running.availableBlobs((path) => this.#delayed.has(path));
      } catch (error) {
        await this.#stop(command, running);
        throw error;
      }
      if (list.answer !== 'listed') {
        problems.push(`the filter command '${command}' does not say which files it has filtered`);
        this.#delaying.delete(command);
        if (list.answer === 'broken') await this.#broken(command, running);
        continue;
      }
      // A driver without an answer is done; one that lists what nobody waits for is not to be relied on.
      if (list.paths.size === 0 || list.unknown !== null) this.#delaying.delete(command);
      if (list.unknown !== null) {
        problems.push(`the filter command '${command}' announced '${list.unknown}', which it had not put off`);
      }
      for (const path of list.paths) this.#delayed.delete(path);
      for (const path of [...list.paths].sort(byBytes)) await fetch(path);
    }
    return problems;
  }

  /** Tells the processes that all is done, and waits until they have ended. */
  async close(): Promise<void> {
    const running = [...this.#running.values()];
    this.#running.clear();
    await Promise.all(running.map((driver) => driver.close()));
  }

  async #start(command: string): Promise<LongRunningDriver | null> {
    const started = await LongRunningDriver.start(command, this.#settings);
    if (started !== null) this.#running.set(command, started);
    return started;
  }

  async #broken(command: string, running: LongRunningDriver): Promise<void> {
    this.#settings.warn(`the filter command '${command}' failed`);
    await this.#stop(command, running);
  }

  async #stop(command: string, running: LongRunningDriver): Promise<void> {
    this.#running.delete(command);
    await running.stop();
  }
}

/** A path as a byte string, to be looked up by. */
export function keyOf(path: Uint8Array): string {
  return Buffer.from(path).toString('latin1');
}

function byBytes(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
