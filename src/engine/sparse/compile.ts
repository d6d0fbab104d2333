/**
 * From an info/sparse-checkout file to what answers for each entry: cone mode where it is asked for and the patterns fit,
 * else a list of patterns.
 */
import type { Bytes } from '../bytes.ts';
import { coneOf } from './cone.ts';
import type { SparseMatcher } from './matcher.ts';
import { parseSparsePatterns } from './pattern-file.ts';
import { listMatcher } from './pattern-list.ts';

export interface SparseOptions {
  /** core.sparseCheckoutCone. */
  readonly cone: boolean;
  /** core.ignoreCase. */
  readonly ignoreCase: boolean;
}

export interface CompiledSparse {
  readonly matcher: SparseMatcher;
  /** What git warns about: patterns that do not fit cone mode, so that all of them are taken as gitignore patterns. */
  readonly warnings: readonly string[];
}

/** The matcher for the content of an info/sparse-checkout file. */
export function compileSparse(file: Bytes, { cone, ignoreCase }: SparseOptions): CompiledSparse {
  const patterns = parseSparsePatterns(file);
  if (!cone) return { matcher: listMatcher(patterns, ignoreCase), warnings: [] };
  const result = coneOf(patterns, ignoreCase);
  return result.matcher === null
    ? { matcher: listMatcher(patterns, ignoreCase), warnings: result.warnings }
    : { matcher: result.matcher, warnings: [] };
}
