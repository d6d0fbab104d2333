/**
 * Which submodules are wanted: lists of patterns as in a .gitignore, matched with the submodule's path from the top of the
 * outermost working tree. A pattern that matches a directory holds for all below it, so one that names a submodule holds
 * for its own submodules too. Pure.
 */
import { parseSparsePatterns } from '../sparse/pattern-file.ts';
import { listMatcher } from '../sparse/pattern-list.ts';

/** Whether a path is matched by one of the lines, the last that matches deciding. */
function pathMatcher(lines: readonly string[]): (path: string) => boolean {
  const patterns = parseSparsePatterns(Buffer.from(lines.join('\n'), 'utf8')).filter(
    ({ pattern }) => pattern.length > 0,
  );
  const matcher = listMatcher(patterns, false);
  return (path) => {
    const bytes = Buffer.from(path, 'utf8');
    let verdict = matcher.root;
    for (let name = 0; name < bytes.length;) {
      let end = bytes.indexOf(0x2f, name);
      if (end < 0) end = bytes.length;
      if (end === bytes.length) return matcher.includes(bytes, 0, name, end, true, verdict);
      verdict = matcher.directory(bytes, name, end, verdict);
      name = end + 1;
    }
    return false;
  };
}

/** A test for paths: in the list of what to include, which without lines is everything, and not in the other. */
export function submoduleSelection(include: readonly string[], exclude: readonly string[]): (path: string) => boolean {
  const isIncluded = include.length === 0 ? (): boolean => true : pathMatcher(include);
  const isExcluded = pathMatcher(exclude);
  return (path) => isIncluded(path) && !isExcluded(path);
}
