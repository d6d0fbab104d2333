/**
 * Where a repository keeps its things. git itself is asked, once: discovery is a security decision (safe.directory,
 * bare repositories inside of others), and a second opinion on it is a hole. See docs/decisions/ask-git-for-config.md.
 */
import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { CheckoutError, errnoOf, ioError } from '../errors.ts';
import { displayBytes } from '../bytes.ts';
import { type Config, loadConfig } from '../config/config.ts';
import { configArgs, locationArgs, type RepositoryLocation } from '../config/git-options.ts';
import { SHA1, SHA256, type ObjectFormat } from '../oid.ts';
import type { GitProcess } from '../settings.ts';

/** A repository with a working tree. All paths are absolute. */
export interface Repository {
  /** This working tree's own directory: HEAD, index, logs/HEAD. */
  readonly gitDir: string;
  /** What all working trees share: objects, refs, packed-refs, config. Equal to `gitDir` for the main one. */
  readonly commonDir: string;
  /** Top of the working tree. */
  readonly workTree: string;
  readonly indexPath: string;
  readonly objectsDir: string;
  /** $GIT_DIR/info/attributes, which need not exist. */
  readonly attributesPath: string;
  /** The sparse-checkout pattern file, which need not exist. */
  readonly sparsePath: string;
  readonly objectFormat: ObjectFormat;
  readonly refFormat: 'files' | 'reftable';
  readonly shallow: boolean;
  /** Options that make git see this very repository and configuration; they go before the command's name. */
  readonly gitOptions: readonly string[];
}

const QUESTIONS = [
  '--is-bare-repository',
  '--is-shallow-repository',
  '--show-object-format', // 2.29; older git repeats what it does not know
  '--show-ref-format', // 2.45
  '--absolute-git-dir',
  '--git-common-dir',
  '--git-path',
  'index',
  '--git-path',
  'objects',
  '--git-path',
  'info/attributes',
  '--git-path',
  'info/sparse-checkout',
  '--show-toplevel', // last: where there is no working tree git stops here, with the other answers given
];
const ANSWERS = 11;

/** What git's message about a repository that it will not open means to us. */
export function repositoryError(stderr: string, directory: string): CheckoutError {
  const lines = stderr.split('\n').map((line) => line.trim());
  const line = lines.find((each) => each.startsWith('fatal: ')) ?? lines.find((each) => each !== '') ?? '';
  const said = displayBytes(Buffer.from(line.replace(/^fatal: /, '')));
  if (/repo(sitory)? version|repository extension|unknown (object|ref) (format|storage)|repo version is/.test(line)) {
    // "unknown repository extensions found:" lists them on the next lines.
    const listed = lines.slice(lines.indexOf(line) + 1).filter((each) => each !== '');
    const detail = line.endsWith(':') ? ` ${displayBytes(Buffer.from(listed.join(', ')))}` : '';
    return new CheckoutError('unsupported-repository', `${said}${detail}`, { path: directory });
  }
  if (/\bconfig\b/.test(line) && /\b(bad|invalid)\b/.test(line)) {
    return new CheckoutError('config-invalid', said, { path: directory });
  }
  const remedy = line.includes('dubious ownership')
    ? "; 'git config --global --add safe.directory PATH' allows it"
    : '';
  return new CheckoutError('not-a-repository', said === '' ? `not a git repository: '${directory}'` : said + remedy, {
    path: directory,
  });
}

/** A path of git's answer as a string; one that is not UTF-8 cannot be opened by a string and is refused. */
function pathOf(line: Buffer, base: string): string {
  const text = line.toString('utf8');
  if (!Buffer.from(text, 'utf8').equals(line)) {
    throw new CheckoutError('not-a-repository', `the path '${displayBytes(line)}' is not valid UTF-8`, {
      path: displayBytes(line),
    });
  }
  return resolve(base, text);
}

/** Cuts at LF; the part after the last one is dropped when empty. */
function splitLines(bytes: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  for (let start = 0; start < bytes.length;) {
    let end = bytes.indexOf(10, start);
    if (end < 0) end = bytes.length;
    // git for Windows may end lines with CR LF.
    lines.push(bytes.subarray(start, end > start && bytes[end - 1] === 13 ? end - 1 : end));
    start = end + 1;
  }
  return lines;
}

/**
 * Finds the repository as git does, from `location.directory` upwards or at the given places, with the environment's
 * GIT_DIR, GIT_WORK_TREE, GIT_INDEX_FILE and so on.
 *
 * @throws CheckoutError 'not-a-repository' (none, none that git trusts, or one without a working tree),
 *   'unsupported-repository', 'config-invalid', 'git-missing'
 */
export async function openRepository(
  location: RepositoryLocation,
  git: GitProcess,
  signal?: AbortSignal,
): Promise<Repository> {
  // Relative answers are relative to where git ran, links in that path followed.
  let directory: string;
  try {
    directory = realpathSync.native(location.directory);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') {
      throw new CheckoutError('not-a-repository', `no such directory: '${location.directory}'`, {
        path: location.directory,
        errno: 'ENOENT',
      });
    }
    throw ioError('open directory', location.directory, error);
  }
  const result = await git({
    args: [...locationArgs(location), 'rev-parse', ...QUESTIONS],
    cwd: directory,
    env: { LC_ALL: 'C' },
    ...(signal === undefined ? {} : { signal }),
  });
  const lines = splitLines(result.stdout);
  if (result.exitCode !== 0) {
    if (lines.length === ANSWERS - 1) {
      const gitDir = displayBytes(lines[4]!);
      const bare = lines[0]!.toString() === 'true';
      throw new CheckoutError(
        'not-a-repository',
        bare
          ? `'${gitDir}' is a bare repository; give it a working tree with --work-tree`
          : `'${directory}' is not inside the working tree of '${gitDir}'`,
        { path: gitDir },
      );
    }
    throw repositoryError(result.stderr, directory);
  }
  if (lines.length !== ANSWERS) {
    // A line feed in a path makes more lines than answers, and nothing tells which belongs where.
    throw new CheckoutError('not-a-repository', `the path of the repository at '${directory}' has a line feed in it`, {
      path: directory,
    });
  }
  const path = (index: number): string => pathOf(lines[index]!, directory);
  const gitDir = path(4);
  const workTree = path(10);
  return {
    gitDir,
    commonDir: path(5),
    indexPath: path(6),
    objectsDir: path(7),
    attributesPath: path(8),
    sparsePath: path(9),
    workTree,
    shallow: lines[1]!.toString() === 'true',
    objectFormat: lines[2]!.toString() === SHA256.name ? SHA256 : SHA1,
    refFormat: lines[3]!.toString() === 'reftable' ? 'reftable' : 'files',
    gitOptions: [`--git-dir=${gitDir}`, `--work-tree=${workTree}`, ...configArgs(location.config ?? [])],
  };
}

/**
 * The repository and its configuration, asked for side by side. When both fail, the repository's error is told: it is
 * the cause.
 *
 * @throws what openRepository and loadConfig throw
 */
export async function openRepositoryAndConfig(
  location: RepositoryLocation,
  git: GitProcess,
  signal?: AbortSignal,
): Promise<{ readonly repository: Repository; readonly config: Config }> {
  const [repository, config] = await Promise.allSettled([
    openRepository(location, git, signal),
    loadConfig(location, git, signal),
  ]);
  if (repository.status === 'rejected') throw repository.reason;
  if (config.status === 'rejected') throw config.reason;
  return { repository: repository.value, config: config.value };
}
