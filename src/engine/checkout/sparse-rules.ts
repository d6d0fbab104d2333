/**
 * Whether the working tree is sparse, and by which rules: the configuration says whether, the file info/sparse-checkout
 * how. Without a file that can be read everything is checked out, as with git.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import type { Bytes } from '../bytes.ts';
import type { Config } from '../config/config.ts';
import { errnoOf } from '../errors.ts';
import type { Repository } from '../gitdir/repository.ts';
import { compileSparse } from '../sparse/compile.ts';
import { EVERYTHING, type SparseMatcher } from '../sparse/matcher.ts';
import { PATTERN_FILE_LIMIT } from '../sparse/pattern-file.ts';

export interface SparseRules {
  /** null where the patterns cannot be read: everything is written that the index does not mark. */
  readonly matcher: SparseMatcher | null;
  /** sparse.expectFilesOutsideOfPatterns. */
  readonly expectOutside: boolean;
}

/**
 * The rules for the next checkout; null where core.sparseCheckout is off.
 * @param end a sparse checkout is to end: all that was left out is to be written
 */
export function readSparseRules(
  repository: Repository,
  config: Config,
  end: boolean,
  warn: (line: string) => void,
): SparseRules | null {
  const expectOutside = config.getBool('sparse.expectFilesOutsideOfPatterns') ?? false;
  if (end) return { matcher: EVERYTHING, expectOutside };
  if (config.getBool('core.sparseCheckout') !== true) return null;
  const file = readPatternFile(repository.sparsePath, warn);
  if (file === null) return { matcher: null, expectOutside };
  const { matcher, warnings } = compileSparse(file, {
    cone: config.getBool('core.sparseCheckoutCone') ?? false,
    ignoreCase: config.getBool('core.ignoreCase') ?? false,
  });
  for (const line of warnings) warn(line);
  return { matcher, expectOutside };
}

/** The whole file; null where git would do without it. */
function readPatternFile(path: string, warn: (line: string) => void): Bytes | null {
  let fd: number | null = null;
  try {
    fd = openSync(path, 'r');
    const { size } = fstatSync(fd);
    if (size > PATTERN_FILE_LIMIT) {
      warn(`ignoring the sparse-checkout patterns in '${path}': the file is larger than ${PATTERN_FILE_LIMIT} bytes`);
      return null;
    }
    const content = new Uint8Array(size);
    let length = 0;
    while (length < size) {
      const read = readSync(fd, content, length, size - length, length);
      if (read === 0) break;
      length += read;
    }
    return content.subarray(0, length);
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === undefined) throw error;
    if (errno !== 'ENOENT' && errno !== 'ENOTDIR') {
      warn(`the sparse-checkout patterns in '${path}' cannot be read (${errno}): everything is checked out`);
    }
    return null;
  } finally {
    if (fd !== null) closeSync(fd);
  }
}
