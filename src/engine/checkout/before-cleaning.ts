/**
 * What a comparison with the index and the working tree sets in the tables, put away and brought back. A checkout that cleans
 * first compares twice: before cleaning, so that what only git can do is found while nothing has been touched; and, where
 * something was removed, after it, since that may have been a link by which old files were found.
 */
import type { IndexTable } from '../index/index-table.ts';
import { STAT_WORDS, type Tables } from './tables.ts';

interface Compared {
  readonly states: Uint8Array;
  readonly conversions: Uint8Array;
  readonly flags: Uint16Array;
  readonly extendedFlags: Uint16Array;
  /** Of the index. */
  readonly modes: Uint32Array;
}

export class TablesBeforeCleaning {
  readonly #tables: Tables;
  readonly #index: IndexTable;
  readonly #before: Compared;

  /** To be made before the comparison. The index is the one that it is made with. */
  constructor(tables: Tables, index: IndexTable) {
    this.#tables = tables;
    this.#index = index;
    this.#before = this.#copy();
  }

  /** The index as it was, for cleaning. What is returned makes it what the comparison made of it. */
  hideIndex(): () => void {
    const after = this.#index.modes.slice(0, this.#index.count);
    this.#index.modes.set(this.#before.modes);
    return () => {
      this.#index.modes.set(after);
    };
  }

  /** Undoes the comparison. */
  restore(): void {
    const { states, conversions, flags, extendedFlags, modes } = this.#before;
    this.#tables.states.set(states);
    this.#tables.conversions.set(conversions);
    this.#tables.flags.set(flags);
    this.#tables.extendedFlags.set(extendedFlags);
    this.#index.modes.set(modes);
    // There are none before a comparison.
    this.#tables.stats.fill(0, 0, this.#tables.count * STAT_WORDS);
  }

  #copy(): Compared {
    const { count, states, conversions, flags, extendedFlags } = this.#tables;
    return {
      states: states.slice(0, count),
      conversions: conversions.slice(0, count),
      flags: flags.slice(0, count),
      extendedFlags: extendedFlags.slice(0, count),
      modes: this.#index.modes.slice(0, this.#index.count),
    };
  }
}
