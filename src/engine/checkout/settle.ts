/**
 * The end of every entry: each has a state, and the index gets its stat data and flags from that.
 */
import { bug } from '../errors.ts';
import { FLAG } from '../index/index-table.ts';
import { STAT_WORDS, State, type Tables } from './tables.ts';

/** Counts the final states. Stat data of failed entries are cleared, so that git looks at them. */
export function settle(tables: Tables, ignoreStat: boolean): { written: number; kept: number; excluded: number } {
  let written = 0;
  let kept = 0;
  let excluded = 0;
  for (let entry = 0; entry < tables.count; entry++) {
    switch (tables.states[entry]) {
      case State.WRITTEN:
        written++;
        if (ignoreStat) tables.flags[entry] = (tables.flags[entry] ?? 0) | FLAG.assumeValid;
        break;
      case State.KEPT:
        kept++;
        break;
      case State.SKIPPED:
        excluded++;
        break;
      case State.FAILED:
        tables.stats.fill(0, entry * STAT_WORDS, (entry + 1) * STAT_WORDS);
        break;
      default:
        throw bug(`entry ${entry} ended without a state`);
    }
  }
  return { written, kept, excluded };
}
