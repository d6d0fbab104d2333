/**
 * Repositories for tests, made by git itself in few processes: trees go in through one `git fast-import` a commit series,
 * and what no git command would make (a tree with a hostile name, an object that lies about its size) is written as a
 * loose object by hand. Nothing of the user's configuration is seen.
 */
import { spawnSync, type SpawnSyncReturns } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { afterAll } from 'vitest';

/** The same for every process of a test file, our engine's git processes included. */
function isolateGit(): void {
  const home = mkdtempSync(join(tmpdir(), 'parallel-checkout-home-'));
  afterAll(() => {
    rmSync(home, { recursive: true, force: true });
  });
  for (const name of Object.keys(process.env)) {
    if (name.startsWith('GIT_') && name !== 'GIT_EXEC_PATH') Reflect.deleteProperty(process.env, name);
  }
  Object.assign(process.env, {
    HOME: home,
    XDG_CONFIG_HOME: join(home, 'xdg'),
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_AUTHOR_NAME: 'A U Thor',
    GIT_AUTHOR_EMAIL: 'author@example.com',
    GIT_AUTHOR_DATE: '1700000000 +0000',
    GIT_COMMITTER_NAME: 'C O Mitter',
    GIT_COMMITTER_EMAIL: 'committer@example.com',
    GIT_COMMITTER_DATE: '1700000000 +0000',
    LC_ALL: 'C',
    TZ: 'UTC',
    // No test pulls a plug.
    GIT_TEST_FSYNC: '0',
  });
}
isolateGit();

/** The major and minor number of the git under test, such as 2.39. */
export function gitVersion(): readonly [number, number] {
  const [, major, minor] = /(\d+)\.(\d+)/.exec(runGit('.', ['version']).stdout.toString()) ?? [];
  return [Number(major), Number(minor)];
}

export interface GitOptions {
  readonly input?: string | Uint8Array;
  readonly env?: Readonly<Record<string, string>>;
  /** Given as `-c KEY=VALUE`. */
  readonly config?: Readonly<Record<string, string>>;
}

export function configArguments(config: Readonly<Record<string, string>>): string[] {
  return Object.entries(config).flatMap(([key, value]) => ['-c', `${key}=${value}`]);
}

/** Runs git; whatever the exit status, it is the caller's to judge. */
export function runGit(cwd: string, args: readonly string[], options: GitOptions = {}): SpawnSyncReturns<Buffer> {
  const result = spawnSync('git', [...configArguments(options.config ?? {}), ...args], {
    cwd,
    env: { ...process.env, ...options.env },
    maxBuffer: 1 << 28,
    ...(options.input === undefined ? {} : { input: options.input }),
  });
  if (result.error !== undefined) throw result.error;
  return result;
}

/** Runs git, which must succeed; returns what it printed. */
export function git(cwd: string, args: readonly string[], options: GitOptions = {}): Buffer {
  const result = runGit(cwd, args, options);
  if (result.status !== 0) {
    throw new Error(`git ${args.join(' ')} in ${cwd}: status ${result.status ?? 'none'}\n${result.stderr.toString()}`);
  }
  return result.stdout;
}

export interface File {
  readonly content: string | Uint8Array;
  readonly executable?: boolean;
}
export interface Link {
  readonly symlink: string | Uint8Array;
}
export interface Gitlink {
  readonly gitlink: string;
}
/** A file by its content, or what else a path can be. */
export type Entry = string | Uint8Array | File | Link | Gitlink;
/** Paths are byte strings: each character (up to U+00FF) is a byte, so `latin1(path)` writes any. */
export type TreeSpec = Readonly<Record<string, Entry>>;

/** The byte string of a text, for paths outside of ASCII. */
export function utf8(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}

export interface Commit {
  readonly commit: string;
  readonly tree: string;
}

/** Some id for a submodule's commit. */
export const GITLINK_OID = '1234567890123456789012345678901234567890';

export interface RawEntry {
  /** As it is written, such as '100644'. */
  readonly mode: string;
  /** A byte string. */
  readonly name: string;
  readonly oid: string;
}

export class GitRepository {
  /** The working tree; .git is in it. */
  readonly directory: string;
  readonly gitDir: string;
  readonly #hash: 'sha1' | 'sha256';

  /** Makes a repository; `parent` is made where it is missing. */
  constructor(parent: string, name = 'template', initArgs: readonly string[] = []) {
    this.directory = join(parent, name);
    this.gitDir = join(this.directory, '.git');
    this.#hash = initArgs.includes('--object-format=sha256') ? 'sha256' : 'sha1';
    mkdirSync(parent, { recursive: true });
    // No template: each copy of a repository would copy its sample hooks.
    git(parent, ['init', '-q', '-b', 'main', '--template=', ...initArgs, name]);
  }

  git(args: readonly string[], options: GitOptions = {}): Buffer {
    return git(this.directory, args, options);
  }

  text(args: readonly string[], options: GitOptions = {}): string {
    return this.git(args, options).toString('latin1').trim();
  }

  /** Makes one commit of exactly these paths. */
  commit(spec: TreeSpec, options: CommitOptions = {}): Commit {
    const [commit] = this.commits([spec], options);
    if (commit === undefined) throw new Error('no commit came back');
    return commit;
  }

  /** Makes a commit of each tree, each the child of the one before, in one git process. */
  commits(specs: readonly TreeSpec[], options: CommitOptions = {}): Commit[] {
    const parts: Buffer[] = [];
    const say = (text: string): void => void parts.push(Buffer.from(text, 'latin1'));
    const data = (bytes: Uint8Array): void => {
      say(`data ${bytes.length}\n`);
      parts.push(Buffer.from(bytes));
      say('\n');
    };
    const branch = options.branch ?? 'main';
    // Not on top of what the branch was: each series is a history of its own, which the last one then names.
    say(`reset refs/heads/${branch}\n`);
    specs.forEach((spec, i) => {
      say(`commit refs/heads/${branch}\nmark :${i + 1}\n`);
      say('committer C O Mitter <committer@example.com> 1700000000 +0000\n');
      data(Buffer.from(`commit ${i}\n`));
      if (i > 0) say(`from :${i}\n`);
      say('deleteall\n');
      for (const [path, entry] of Object.entries(spec)) {
        const quoted = quotePath(path);
        if (typeof entry === 'object' && 'gitlink' in entry) {
          say(`M 160000 ${entry.gitlink} ${quoted}\n`);
          continue;
        }
        const [mode, content] = modeAndContent(entry);
        say(`M ${mode} inline ${quoted}\n`);
        data(Buffer.from(content));
      }
    });
    for (let i = 1; i <= specs.length; i++) say(`get-mark :${i}\n`);
    say('done\n');
    const { packed = true, depth } = options;
    const printed = this.git(
      [
        '-c',
        `fastimport.unpackLimit=${packed ? 1 : 1_000_000}`,
        'fast-import',
        '--quiet',
        '--done',
        '--force',
        ...(depth === undefined ? [] : [`--depth=${depth}`]),
      ],
      { input: Buffer.concat(parts) },
    );
    const commits = printed.toString().trim().split('\n');
    const trees = this.text(['rev-parse', ...commits.map((commit) => `${commit}^{tree}`)]).split('\n');
    return commits.map((commit, i) => ({ commit, tree: trees[i] ?? '' }));
  }

  /** Writes a loose object by hand, whatever is in it. */
  object(type: 'blob' | 'tree' | 'commit' | 'tag', body: string | Uint8Array): string {
    const bytes = typeof body === 'string' ? Buffer.from(body, 'latin1') : body;
    const whole = Buffer.concat([Buffer.from(`${type} ${bytes.length}\0`), bytes]);
    const oid = createHash(this.#hash).update(whole).digest('hex');
    const path = this.loosePath(oid);
    if (!existsSync(path)) {
      mkdirSync(join(path, '..'), { recursive: true });
      writeFileSync(path, deflateSync(whole), { mode: 0o444 });
    }
    return oid;
  }

  loosePath(oid: string): string {
    return join(this.gitDir, 'objects', oid.slice(0, 2), oid.slice(2));
  }

  /** A tree by hand: entries in the order given, names and modes unchecked. */
  rawTree(entries: readonly RawEntry[]): string {
    const parts = entries.flatMap(({ mode, name, oid }) => [
      Buffer.from(`${mode} ${name}\0`, 'latin1'),
      Buffer.from(oid, 'hex'),
    ]);
    return this.object('tree', Buffer.concat(parts));
  }

  /** The tree of these paths as loose objects, without a git process: for many small trees. */
  treeByHand(spec: TreeSpec): string {
    const entries: RawEntry[] = [];
    const below = new Map<string, Record<string, Entry>>();
    for (const [path, entry] of Object.entries(spec)) {
      const slash = path.indexOf('/');
      if (slash < 0) {
        if (typeof entry === 'object' && 'gitlink' in entry) {
          entries.push({ mode: '160000', name: path, oid: entry.gitlink });
        } else {
          const [mode, content] = modeAndContent(entry);
          entries.push({ mode, name: path, oid: this.object('blob', content) });
        }
        continue;
      }
      const name = path.slice(0, slash);
      const inside = below.get(name) ?? {};
      inside[path.slice(slash + 1)] = entry;
      below.set(name, inside);
    }
    for (const [name, inside] of below) entries.push({ mode: '40000', name, oid: this.treeByHand(inside) });
    return this.rawTree(sortedEntries(entries));
  }

  /** A commit by hand on any tree. */
  rawCommit(tree: string, parent?: string): Commit {
    const person = 'C O Mitter <committer@example.com> 1700000000 +0000';
    const commit = this.object(
      'commit',
      `tree ${tree}\n${parent === undefined ? '' : `parent ${parent}\n`}author ${person}\ncommitter ${person}\n\nby hand\n`,
    );
    return { commit, tree };
  }
}

/** In git's order: names of directories compare as if they ended in a slash. */
export function sortedEntries(entries: readonly RawEntry[]): RawEntry[] {
  const key = (entry: RawEntry): Buffer => Buffer.from(entry.name + (entry.mode === '40000' ? '/' : ''), 'latin1');
  return [...entries].sort((a, b) => Buffer.compare(key(a), key(b)));
}

export interface CommitOptions {
  /** The branch that is moved to the last commit. */
  readonly branch?: string;
  /** In a pack (default) or as loose objects. */
  readonly packed?: boolean;
  /** How deep fast-import makes deltas. */
  readonly depth?: number;
}

export function modeAndContent(entry: Exclude<Entry, Gitlink>): readonly [string, Uint8Array] {
  const bytes = (value: string | Uint8Array): Uint8Array => (typeof value === 'string' ? Buffer.from(value) : value);
  if (typeof entry === 'string' || entry instanceof Uint8Array) return ['100644', bytes(entry)];
  if ('symlink' in entry) return ['120000', bytes(entry.symlink)];
  return [entry.executable === true ? '100755' : '100644', bytes(entry.content)];
}

/** C-style quotes, as fast-import wants them. */
function quotePath(path: string): string {
  let quoted = '"';
  for (const byte of Buffer.from(path, 'latin1')) {
    if (byte === 0x22 || byte === 0x5c) quoted += `\\${String.fromCharCode(byte)}`;
    else if (byte < 0x20 || byte >= 0x7f) quoted += `\\${byte.toString(8).padStart(3, '0')}`;
    else quoted += String.fromCharCode(byte);
  }
  return `${quoted}"`;
}
