/**
 * Has git-lfs download the content of exactly these pointers, in its batches. git-lfs takes commits and lists of patterns, no list of
 * objects; so it is given a commit that has the pointers and nothing else, in an object directory of its own.
 * docs/decisions/lfs-download.md.
 */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { displayBytes, type Bytes } from '../bytes.ts';
import { CheckoutError, ioError } from '../errors.ts';
import type { LfsStore } from '../filter/lfs-store.ts';
import { writeLooseCommit } from '../odb/loose-writer.ts';
import type { ObjectFormat } from '../oid.ts';
import type { EnginePorts, FetchLimits } from '../settings.ts';
import { lfsError } from './lfs-error.ts';
import { LfsProgress } from './lfs-progress.ts';
import { runOnline } from './online-git.ts';
import { redactor } from './redact.ts';

/** A pointer and where it stands. */
export interface LfsPointer {
  /** With slashes. */
  readonly path: Bytes;
  /** The blob. */
  readonly content: Bytes;
  /** The SHA-256 of what it points to; null where only git-lfs can read the pointer. */
  readonly oid: string | null;
  /** Bytes of that. */
  readonly size: number;
}

export interface LfsFacts {
  readonly ports: EnginePorts;
  readonly gitDir: string;
  readonly objectFormat: ObjectFormat;
  readonly store: LfsStore;
  /** Whether nobody else can be at work in the store: what is found there was left by a run that was killed. */
  readonly alone: boolean;
  /** Whose LFS server is asked, unless the configuration names another. */
  readonly remote: string;
  /** `-c` options of the run. */
  readonly configArgs: readonly string[];
  /** A value of the repository's configuration. */
  readonly configured: (key: string) => string | undefined;
  /** Credentials, for the download alone. */
  readonly env: Readonly<Record<string, string>>;
  readonly limits: FetchLimits | undefined;
  readonly signal: AbortSignal | undefined;
}

const PREFIX = 'parallel-checkout-';

/** The observer wants a few calls a second. */
const PROGRESS_MS = 250;

/** In a store that others use, a directory this old was left by a run that was killed: none takes as long. */
const LEFT_OVER_MS = 86_400_000;

/**
 * How often git-lfs itself tries an object again. Its default of 8 takes 16 s for a server that answers 429, and three such attempts are
 * made here.
 */
const MAX_RETRIES = 3;

const LISTS = { include: 'lfs.fetchinclude', exclude: 'lfs.fetchexclude' } as const;

/**
 * Whether there are path lists that may forbid some pointers: of the configuration, or of the commit's .lfsconfig. Pure.
 * Source: git-lfs-fetch(1), "Include and exclude".
 */
export function hasPathLists(configured: (key: string) => string | undefined, lfsConfig: Bytes | null): boolean {
  if (Object.values(LISTS).some((key) => (configured(key) ?? '') !== '')) return true;
  return lfsConfig !== null && /fetch(in|ex)clude/i.test(Buffer.from(lfsConfig).toString('latin1'));
}

/**
 * Which of the pointers the path lists allow, by git-lfs's own judgement: its rules for patterns are not git's, and have changed
 * between versions.
 *
 * @param lfsConfig the commit's .lfsconfig
 * @throws CheckoutError git-failed, config-invalid, interrupted, git-missing, io
 */
export async function selectLfs(
  facts: LfsFacts,
  pointers: readonly LfsPointer[],
  lfsConfig: Bytes | null,
): Promise<readonly boolean[]> {
  const { ports, signal, configArgs, configured } = facts;
  return await withScratch(facts, async (scratch) => {
    const commit = scratch.fill(facts.objectFormat, pointers, lfsConfig);
    const run = async (what: string, args: readonly string[], worst = 0): Promise<string> => {
      const { exitCode, stdout, stderr } = await ports.git({
        args,
        cwd: scratch.workTree,
        env: scratch.environment(facts.gitDir),
        onStderrLine: () => undefined,
        ...(signal === undefined ? {} : { signal }),
      });
      if (exitCode <= worst) return stdout.toString('latin1');
      if (signal?.aborted === true) throw new CheckoutError('interrupted', `interrupted: ${what}`);
      const line = stderr.split(/[\r\n]/).find((each) => each.trim() !== '') ?? `exit status ${exitCode}`;
      throw new CheckoutError('git-failed', `${what} failed: ${displayBytes(Buffer.from(line.slice(0, 500)))}`);
    };
    /** The value that git-lfs heeds: .lfsconfig has the last word nowhere. */
    const list = async (key: string): Promise<string> => {
      const value = configured(key);
      if (value !== undefined || lfsConfig === null) return value ?? '';
      const args = ['config', '--file', join(scratch.workTree, '.lfsconfig'), '--get', key];
      const text = await run(`reading '${key}' of .lfsconfig`, args, 1);
      return Buffer.from(text, 'latin1').toString('utf8').replace(/\n$/, '');
    };
    const options = [`--include=${await list(LISTS.include)}`, `--exclude=${await list(LISTS.exclude)}`];
    // It heeds the lists as options alone.
    const args = [...configArgs, ...scratch.options, 'lfs', 'ls-files', '--name-only', ...options, commit];
    const allowed = new Set((await run('listing Git LFS files', args)).split('\n'));
    return pointers.map(({ path }) => {
      const name = Buffer.from(path).toString('latin1');
      return name.includes('\n') || allowed.has(name);
    });
  });
}

/**
 * Downloads what these pointers point to into the store; what is there already is not asked for.
 *
 * @param lfsConfig the commit's .lfsconfig, which may name another server
 * @throws CheckoutError authentication-failed, fetch-failed, interrupted, git-missing, io
 */
export async function downloadLfs(
  facts: LfsFacts,
  pointers: readonly LfsPointer[],
  lfsConfig: Bytes | null,
): Promise<void> {
  const { ports, remote, limits, signal } = facts;
  const redact = redactor(facts.env);
  const bytes = pointers.reduce((sum, { size }) => sum + size, 0);
  const files = pointers.length === 1 ? '1 Git LFS file' : `${pointers.length} Git LFS files`;
  ports.observer.info(`downloading ${files} (${(bytes / 1e6).toFixed(1)} MB) from '${redact(remote)}'`);
  const pathOf = (oid: string): string | undefined => {
    const pointer = pointers.find((each) => each.oid === oid);
    return pointer === undefined ? undefined : Buffer.from(pointer.path).toString('utf8');
  };
  await withScratch(facts, async (scratch) => {
    const commit = scratch.fill(facts.objectFormat, pointers, lfsConfig);
    const what = `download of Git LFS files from '${redact(remote)}'`;
    const progress = new LfsProgress(scratch.progress, new Set(pointers.map(({ oid, path }) => oid ?? path)).size);
    const timer = setInterval(() => ports.observer.progress(progress.read()), PROGRESS_MS);
    try {
      await runOnline(
        {
          what,
          args: [
            ...(facts.configured('lfs.transfer.maxretries') === undefined
              ? ['-c', `lfs.transfer.maxretries=${MAX_RETRIES}`]
              : []),
            ...facts.configArgs,
            ...scratch.options,
            'lfs',
            'fetch',
            // The choice has been made.
            '--include=',
            '--exclude=',
            remote,
            commit,
          ],
          cwd: scratch.workTree,
          env: { ...facts.env, ...scratch.environment(facts.gitDir) },
          limits,
          mark: () => progress.mark(),
          explain: ({ stdout, stderr, exitCode }) =>
            lfsError(`${stderr}\n${stdout.toString('utf8')}`, exitCode, what, pathOf, redact),
          ...(signal === undefined ? {} : { signal }),
        },
        ports,
      );
    } finally {
      clearInterval(timer);
    }
  });
}

/**
 * Runs a git whose filter driver may download: with options that keep git-lfs from writing the token into a log.
 *
 * @throws CheckoutError io, and what `work` throws
 */
export async function withLfsStorage<Result>(
  facts: Pick<LfsFacts, 'store' | 'alone'>,
  work: (options: readonly string[]) => Promise<Result>,
): Promise<Result> {
  return await withScratch(facts, (scratch) => work(scratch.options));
}

/**
 * Where git-lfs works: with a working tree that has the commit's .lfsconfig (it takes the one that is there, which may be another
 * commit's), objects that are the pointers', and a storage of which `objects` leads to the real one. When git-lfs fails it writes a log
 * of its environment, token included, into its storage: there `logs` is a file, so that none is written.
 */
class Scratch {
  readonly root: string;
  readonly workTree: string;
  readonly #objects: string;
  readonly #storage: string;
  /** What git-lfs tells of its progress. */
  readonly progress: string;

  constructor(root: string, store: LfsStore) {
    this.root = root;
    this.workTree = join(root, 'tree');
    this.#objects = join(root, 'git-objects');
    this.#storage = join(root, 'storage');
    this.progress = join(root, 'progress');
    for (const directory of [store.objects, this.workTree, this.#objects, this.#storage]) {
      mkdirSync(directory, { recursive: true });
    }
    // A junction needs no right of its own on Windows.
    symlinkSync(store.objects, join(this.#storage, 'objects'), 'junction');
    writeFileSync(join(this.#storage, 'logs'), '');
    writeFileSync(this.progress, '');
  }

  /** Makes the commit. Returns its id. */
  fill(format: ObjectFormat, pointers: readonly LfsPointer[], lfsConfig: Bytes | null): string {
    writeFileSync(join(this.workTree, '.lfsconfig'), lfsConfig ?? '');
    return writeLooseCommit(this.#objects, format, pointers);
  }

  get options(): string[] {
    // Commits of yesterday are not asked for.
    return ['-c', `lfs.storage=${this.#storage}`, '-c', 'lfs.fetchrecentalways=false'];
  }

  environment(gitDir: string): Record<string, string> {
    return {
      GIT_DIR: gitDir,
      GIT_WORK_TREE: this.workTree,
      GIT_OBJECT_DIRECTORY: this.#objects,
      GIT_LFS_PROGRESS: this.progress,
    };
  }
}

async function withScratch<Result>(
  { store, alone }: Pick<LfsFacts, 'store' | 'alone'>,
  work: (scratch: Scratch) => Promise<Result>,
): Promise<Result> {
  const storage = join(store.objects, '..');
  let root: string;
  let scratch: Scratch;
  try {
    mkdirSync(storage, { recursive: true });
    removeLeftOvers(storage, alone ? 0 : LEFT_OVER_MS);
    // Beside the objects, since what has come is renamed.
    root = mkdtempSync(join(storage, PREFIX));
  } catch (error) {
    throw ioError('write', storage, error);
  }
  try {
    try {
      scratch = new Scratch(root, store);
    } catch (error) {
      throw ioError('write', root, error);
    }
    return await work(scratch);
  } finally {
    rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}

function removeLeftOvers(storage: string, ms: number): void {
  for (const name of readdirSync(storage)) {
    if (!name.startsWith(PREFIX)) continue;
    const path = join(storage, name);
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat !== undefined && Date.now() - stat.mtimeMs >= ms) rmSync(path, { recursive: true, force: true });
  }
}
