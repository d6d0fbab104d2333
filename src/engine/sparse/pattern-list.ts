/**
 * Sparse checkout by gitignore patterns (non-cone). Of the patterns that match a path the last one decides; where none
 * does it is as with its directory, and at the top left out.
 */
import { compilePattern, matchPattern, type Pattern } from '../attributes/pattern.ts';
import type { Bytes } from '../bytes.ts';
import type { SparseMatcher, Verdict } from './matcher.ts';
import type { SparsePattern } from './pattern-file.ts';

const OUT: Verdict = 0;
const IN: Verdict = 1;

interface Rule {
  readonly pattern: Pattern;
  readonly mustBeDirectory: boolean;
  readonly verdict: Verdict;
}

/** The matcher for these patterns, which are in the order of the file. */
export function listMatcher(patterns: readonly SparsePattern[], ignoreCase: boolean): SparseMatcher {
  const rules: Rule[] = [];
  for (const { pattern, negative, mustBeDirectory } of patterns) {
    const compiled = compilePattern(pattern, ignoreCase);
    if (compiled !== null) rules.push({ pattern: compiled, mustBeDirectory, verdict: negative ? OUT : IN });
  }
  // The last one counts, so it is asked first.
  rules.reverse();
  const decide = (
    path: Bytes,
    start: number,
    name: number,
    end: number,
    isDirectory: boolean,
    parent: Verdict,
  ): Verdict => {
    for (const rule of rules) {
      if (rule.mustBeDirectory && !isDirectory) continue;
      if (matchPattern(rule.pattern, path, start, name, end)) return rule.verdict;
    }
    return parent;
  };
  return {
    root: OUT,
    directory: (path, name, end, parent) => decide(path, 0, name, end, true, parent),
    includes: (path, start, name, end, isDirectory, parent) =>
      decide(path, start, name, end, isDirectory, parent) === IN,
  };
}
