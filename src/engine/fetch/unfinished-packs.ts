/**
 * What a failed fetch leaves: git does not remove the pack that it was receiving, and three attempts at a repository of many GiB
 * would fill the disk. Only packs that were begun during the fetch are touched.
 */
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** What git calls a pack or an object that it has not finished. */
export const UNFINISHED = /^(?:tmp_|\.tmp-)/;

export class UnfinishedPacks {
  readonly #directory: string;
  readonly #before: ReadonlySet<string>;

  /** @param directory `objects/pack`; nothing is done where there is none */
  constructor(directory: string) {
    this.#directory = directory;
    this.#before = new Set(unfinished(directory));
  }

  /** Removes what has been added. What cannot be removed is left to the next run: it only takes room. */
  remove(): void {
    for (const name of unfinished(this.#directory)) {
      if (this.#before.has(name)) continue;
      try {
        rmSync(join(this.#directory, name), { force: true });
      } catch {
        // Held open, on Windows.
      }
    }
  }
}

function unfinished(directory: string): string[] {
  try {
    return readdirSync(directory).filter((name) => UNFINISHED.test(name));
  } catch {
    return [];
  }
}
