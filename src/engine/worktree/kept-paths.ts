/**
 * Which untracked paths a clean leaves alone: patterns as in a .gitignore file at the top of the working tree, one each, as
 * `git clean --exclude` takes them. Of those that match a path the last one decides, and what is below a directory
 * that is kept stays with it.
 */
import { compilePattern, matchPattern, type Pattern } from '../attributes/pattern.ts';
import { bufferOver, type Bytes } from '../bytes.ts';

interface Rule {
  readonly pattern: Pattern;
  readonly mustBeDirectory: boolean;
  readonly keeps: boolean;
}

const SLASH = 0x2f;

export class KeptPaths {
  /** Last one first. */
  readonly #rules: Rule[] = [];

  /** @param ignoreCase core.ignoreCase */
  constructor(patterns: readonly string[], ignoreCase: boolean) {
    for (const text of patterns) {
      const keeps = !text.startsWith('!');
      const bytes = Buffer.from(keeps ? text : text.slice(1), 'utf8');
      const mustBeDirectory = bytes[bytes.length - 1] === SLASH;
      const written = mustBeDirectory ? bytes.subarray(0, bytes.length - 1) : bytes;
      const pattern = compilePattern(bufferOver(written), ignoreCase);
      if (pattern !== null) this.#rules.unshift({ pattern, mustBeDirectory, keeps });
    }
  }

  get isEmpty(): boolean {
    return this.#rules.length === 0;
  }

  /** Whether path[0, end), whose name starts at `name`, is kept by a pattern; what is above it is the caller's to ask. */
  has(path: Bytes, name: number, end: number, isDirectory: boolean): boolean {
    for (const { pattern, mustBeDirectory, keeps } of this.#rules) {
      if (mustBeDirectory && !isDirectory) continue;
      if (matchPattern(pattern, path, 0, name, end)) return keeps;
    }
    return false;
  }
}
