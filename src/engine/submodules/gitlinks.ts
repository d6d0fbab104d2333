/**
 * The submodules of a repository: the gitlinks of its index, each with what .gitmodules says of it.
 */
import { bufferOver } from '../bytes.ts';
import { CheckoutError } from '../errors.ts';
import { EXTENDED_FLAG, FLAG, type IndexTable, MODE } from '../index/index-table.ts';
import { readWholeIndex } from '../index/read-whole-index.ts';
import { oidToHex } from '../oid.ts';
import { gitFailure } from '../run/git-failure.ts';
import type { OpenedRepository } from '../run/session.ts';
import type { EnginePorts } from '../settings.ts';
import { displayPath } from '../worktree/paths.ts';
import { parseGitmodules, type SubmoduleEntry } from './gitmodules.ts';

/** An entry of the index that names a commit. */
export interface Gitlink {
  /** From the top of the working tree that has it. */
  readonly path: string;
  readonly oid: string;
  /** Outside of the sparse checkout, so that it is not to be there. */
  readonly isExcluded: boolean;
}

export interface Gitlinks {
  readonly index: IndexTable | null;
  /** In the order of the index. */
  readonly links: readonly Gitlink[];
  readonly hasGitmodules: boolean;
}

/**
 * The gitlinks of the repository's index.
 *
 * @throws CheckoutError 'path-invalid' for one whose path is not UTF-8, as index files and file systems let it be
 */
export function readGitlinks({ repository }: Pick<OpenedRepository, 'repository'>): Gitlinks {
  const index = readWholeIndex(repository, null);
  const links: Gitlink[] = [];
  let hasGitmodules = false;
  const count = index?.count ?? 0;
  const gitmodules = Buffer.from('.gitmodules');
  for (let entry = 0; index !== null && entry < count; entry++) {
    const start = index.pathOffsets[entry] ?? 0;
    const end = index.pathOffsets[entry + 1] ?? 0;
    if (index.modes[entry] !== MODE.gitlink) {
      // The names before it begin with a smaller byte, and the length tells most of the others.
      if (end - start === gitmodules.length && gitmodules.equals(index.pathBytes.subarray(start, end))) {
        hasGitmodules = true;
      }
      continue;
    }
    if (((index.flags[entry] ?? 0) & FLAG.stage) !== 0) continue;
    const bytes = bufferOver(index.pathBytes, start, end);
    const path = bytes.toString('utf8');
    if (!Buffer.from(path, 'utf8').equals(bytes)) {
      const display = displayPath(index.pathBytes, start, end);
      throw new CheckoutError('path-invalid', `the path of submodule '${display}' is not valid UTF-8`, {
        path: display,
      });
    }
    const { oidBytes } = index.format;
    links.push({
      path,
      oid: oidToHex(index.oids, entry * oidBytes, oidBytes),
      isExcluded: ((index.extendedFlags[entry] ?? 0) & EXTENDED_FLAG.skipWorktree) !== 0,
    });
  }
  return { index, links, hasGitmodules };
}

/** Whether the index has anything below a directory. */
export function hasEntriesBelow(index: IndexTable, directory: string): boolean {
  const prefix = Buffer.from(`${directory}/`, 'utf8');
  let low = 0;
  let high = index.count;
  // The first entry that is not before the prefix.
  while (low < high) {
    const middle = (low + high) >>> 1;
    const path = index.pathBytes.subarray(index.pathOffsets[middle] ?? 0, index.pathOffsets[middle + 1] ?? 0);
    if (Buffer.compare(path, prefix) < 0) low = middle + 1;
    else high = middle;
  }
  if (low === index.count) return false;
  const start = index.pathOffsets[low] ?? 0;
  const end = index.pathOffsets[low + 1] ?? 0;
  return prefix.equals(index.pathBytes.subarray(start, Math.min(end, start + prefix.length)));
}

/**
 * What the index's .gitmodules says, by path. The index and not the file is read: the file may be outside of a sparse
 * checkout, or be what a filter made of it.
 *
 * @param env credentials, in case that a partial clone has to fetch it
 * @throws CheckoutError 'config-invalid'
 */
export async function readGitmodules(
  { repository }: OpenedRepository,
  ports: EnginePorts,
  env: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, SubmoduleEntry>> {
  const result = await ports.git({
    args: [...repository.gitOptions, 'config', '-z', '--list', '--blob', ':.gitmodules'],
    cwd: repository.workTree,
    env: { ...env, LC_ALL: 'C' },
    signal,
  });
  if (result.exitCode === 0) return parseGitmodules(result.stdout);
  const { message } = gitFailure('config', result.stderr);
  throw new CheckoutError('config-invalid', `.gitmodules cannot be read: ${message}`, { path: '.gitmodules' });
}

/**
 * The paths that `submodule.active` takes in; null where it is not set, and all are.
 *
 * @throws CheckoutError 'git-failed' for what is no pathspec
 */
export async function activePaths(
  { repository, config }: OpenedRepository,
  ports: EnginePorts,
  signal: AbortSignal,
): Promise<ReadonlySet<string> | null> {
  const pathspecs = config.getAll('submodule.active').map((pathspec) => pathspec ?? '');
  if (pathspecs.length === 0) return null;
  const result = await ports.git({
    args: [...repository.gitOptions, 'ls-files', '-z', '--', ...pathspecs],
    cwd: repository.workTree,
    signal,
  });
  if (result.exitCode !== 0) throw gitFailure('ls-files', result.stderr);
  return new Set(result.stdout.toString('utf8').split('\0'));
}
