/**
 * Removes from the working tree what the index does not have, as `git clean -ffdx`: untracked and ignored files, links, empty
 * directories, nested repositories; but for what patterns keep. Directories are walked along with the index, whose
 * entries below a directory lie together: each name that the system lists is looked up among its directory's own
 * entries, and a tracked file costs nothing more.
 *
 * The rules are those of git: an entry named `.git` is never looked at, nor a named pipe, socket or device; nothing in a submodule's directory is touched; a
 * nested repository goes or stays as a whole; a link is never followed. What stands where a tracked file goes is the checkout's.
 *
 * The unit of work is a place, a directory. Places do not depend on each other until they are left, so threads share them (clean.ts).
 */
import { lstatSync, readdirSync, rmdirSync, unlinkSync, type Dirent, type Stats } from 'node:fs';
import type { Bytes } from '../bytes.ts';
import { CheckoutError, errnoOf } from '../errors.ts';
import { FLAG, type IndexTable } from '../index/index-table.ts';
import { MODE_GITLINK } from '../object/tree.ts';
import type { SparseMatcher } from '../sparse/matcher.ts';
import { parseSparsePatterns, type SparsePattern } from '../sparse/pattern-file.ts';
import { listMatcher } from '../sparse/pattern-list.ts';
import { isNestedRepository } from '../worktree/nested-repository.ts';
import { displayPath, WorktreePaths } from '../worktree/paths.ts';
import { removeAll } from '../worktree/remove.ts';
import { foldName } from './collisions.ts';

/** The paths of an index. */
export type TrackedPaths = Pick<IndexTable, 'count' | 'pathBytes' | 'pathOffsets' | 'modes' | 'flags'>;

/** Without an index nothing is tracked. */
export function trackedPaths(index: IndexTable | null): TrackedPaths {
  return (
    index ?? {
      count: 0,
      pathBytes: new Uint8Array(0),
      pathOffsets: new Uint32Array(1),
      modes: new Uint32Array(0),
      flags: new Uint16Array(0),
    }
  );
}

/** What a walk goes by; plain values and memory, so that it can be handed to threads. */
export interface CleanRules {
  readonly workTree: string;
  readonly tracked: TrackedPaths;
  /** Lines of a gitignore file at the top of the working tree: what matches stays. */
  readonly exclude: readonly string[];
  /** core.ignoreCase, for the patterns. */
  readonly ignoreCase: boolean;
  /** Names that differ in case or Unicode form may be one file. */
  readonly foldsNames: boolean;
  /** Absolute paths that stay, with what they are in: the git directory and the index, which may lie anywhere. */
  readonly spared: readonly string[];
  /** A directory that must not be removed: the process's own. */
  readonly keep: string;
}

/** A directory of the walk. */
export interface Place {
  /** Below the working tree, without a slash at its end; empty for the root. */
  readonly path: Uint8Array;
  /** Where its name starts. */
  readonly name: number;
  /**
   * The entries below it, three numbers a range: first entry, end, and where the names of what is in it begin in their paths. One range,
   * or more where names fold. Empty: nothing in it is tracked.
   */
  readonly ranges: readonly number[];
  /** All that is in it goes, whatever the patterns say. */
  readonly whole: boolean;
}

/** What became of a place: it is gone, something in it stays, or it is to be left when all below it is done. */
export type Visit = 'gone' | 'stays' | 'open';

/** Rules as `git clean --exclude` takes them: what a gitignore file's lines come to. */
export function excludePatterns(exclude: readonly string[]): SparsePattern[] {
  return parseSparsePatterns(Buffer.from(exclude.join('\n'), 'utf8')).filter(({ pattern }) => pattern.length > 0);
}

const SLASH = 0x2f;
const DOT_GIT = '.git';
/** Compares the path as it is, with nothing behind it. */
const NOTHING = -1;

/** One thread's walk. */
export class CleanWalk {
  /** Files and links that are gone; directories are not counted. */
  removed = 0;
  /** What could not be removed, a line each. */
  readonly failures: string[] = [];
  /** What could not be looked into, a line each; git does not count that as a failure. */
  readonly unread: string[] = [];
  readonly #rules: CleanRules;
  readonly #tracked: TrackedPaths;
  readonly #paths: WorktreePaths;
  /** null without patterns. */
  readonly #kept: SparseMatcher | null;
  readonly #spared: readonly Buffer[];
  readonly #keep: Buffer;
  /** Path of what is being looked at, below the working tree. */
  #path = Buffer.alloc(4096);

  constructor(rules: CleanRules) {
    this.#rules = rules;
    this.#tracked = rules.tracked;
    this.#paths = new WorktreePaths(rules.workTree);
    const patterns = excludePatterns(rules.exclude);
    this.#kept = patterns.length === 0 ? null : listMatcher(patterns, rules.ignoreCase);
    this.#keep = Buffer.from(rules.keep, 'utf8');
    this.#spared = rules.spared.map((path) => Buffer.from(path, 'utf8'));
  }

  /** Where a walk begins. */
  static root({ tracked }: CleanRules): Place {
    return { path: new Uint8Array(0), name: 0, ranges: [0, tracked.count, 0], whole: false };
  }

  /** Removes what is untracked directly in the place, and adds the directories that are to be visited to `below`. */
  visit(place: Place, below: Place[]): Visit {
    const { path, name, ranges } = place;
    const end = path.length;
    if (end > 0) {
      const absolute = this.#paths.absolute(path, 0, end);
      const type = this.#typeOf(absolute);
      if (type === null) return 'gone';
      if (type === 'other') return 'stays';
      const isDirectory = type === 'directory';
      if (!place.whole && this.#isKept(path, name, end, isDirectory)) return 'stays';
      // What was tracked below here is no more: this is a file or a link like any other.
      if (!isDirectory) return this.#unlink(absolute, path, end) ? 'gone' : 'stays';
      if (this.#isSpared(absolute)) return 'stays';
    }
    if (ranges.length === 0) return this.#visitUntracked(place, below);
    this.#visitTracked(place, below);
    return 'stays';
  }

  /** Removes an open place when all below it was visited and left; says whether something in it stays. */
  leave({ path }: Place, stays: boolean): boolean {
    if (stays) return true;
    const absolute = this.#paths.absolute(path, 0, path.length);
    if (absolute.equals(this.#keep)) return true;
    try {
      rmdirSync(absolute);
      return false;
    } catch (error) {
      const errno = errnoOf(error);
      if (errno === undefined) throw error;
      if (errno === 'ENOENT') return false;
      if (errno !== 'ENOTEMPTY' && errno !== 'EEXIST') return this.#failed(path, path.length, errno);
    }
    // A `.git` that makes no repository is not looked at, and does not keep a directory either.
    try {
      removeAll(absolute, this.#rules.keep);
      return false;
    } catch (error) {
      if (!(error instanceof CheckoutError)) throw error;
      return this.#failed(path, path.length, error.subject.errno ?? error.message);
    }
  }

  #visitTracked(place: Place, below: Place[]): void {
    const prefix = this.#enter(place.path);
    const children = this.#rules.foldsNames ? this.#foldedChildren(place.ranges) : null;
    // Types are asked for only where they matter for tracked names.
    const read = this.#kept === null ? this.#names(place) : this.#typedNames(place);
    if (typeof read === 'string') {
      this.#notRead(place.path, read);
      return;
    }
    const types = read instanceof Map ? read : null;
    const names = read instanceof Map ? [...read.keys()] : read;
    for (const name of names) {
      if (name === DOT_GIT) continue;
      const end = this.#append(prefix, name);
      const found = children === null ? this.#lookUp(place.ranges, name) : lookUpFolded(children, name);
      if (found === null) {
        this.#untracked(prefix, end, types?.get(name) ?? null, below);
        continue;
      }
      const ranges = found.ranges;
      if (found.isEntry) {
        const isDirectory = types?.get(name) === 'directory';
        if (ranges.length > 0) {
          // A conflict of a file and a directory, or names that fold: what is on disk decides.
          if (this.#typeOf(this.#paths.absolute(this.#path, 0, end)) !== 'directory') continue;
        } else {
          if (found.isGitlink || !isDirectory) continue;
          // A directory in the place of a tracked file is the checkout's to remove, unless something in it is kept.
          const inside = this.#place(prefix, end, [], false);
          if (this.#holdsKept(inside)) below.push(inside);
          this.#enter(place.path);
          continue;
        }
      }
      below.push(this.#place(prefix, end, ranges, false));
    }
  }

  #visitUntracked(place: Place, below: Place[]): Visit {
    const whole = place.whole || this.#kept === null || isNestedRepository(this.#paths, place.path);
    const entries = this.#typedNames(place);
    if (typeof entries === 'string') {
      // One that is empty can be removed without having been read.
      const absolute = this.#paths.absolute(place.path, 0, place.path.length);
      try {
        rmdirSync(absolute);
        return 'gone';
      } catch (error) {
        const errno = errnoOf(error);
        if (errno === undefined) throw error;
        this.#failed(place.path, place.path.length, errno === 'ENOTEMPTY' ? entries : errno);
        return 'stays';
      }
    }
    const prefix = this.#enter(place.path);
    let stays = false;
    for (const [name, type] of entries) {
      if (!whole && (type === 'other' || this.#isDotGit(name))) continue;
      const end = this.#append(prefix, name);
      if (type === 'directory') below.push(this.#place(prefix, end, [], whole));
      else if (!whole && this.#isKept(this.#path, prefix, end, false)) stays = true;
      else if (!this.#unlink(this.#paths.absolute(this.#path, 0, end), this.#path, end)) stays = true;
    }
    return stays ? 'stays' : 'open';
  }

  /** An untracked name of a tracked directory. */
  #untracked(name: number, end: number, known: FileType | null, below: Place[]): void {
    const absolute = this.#paths.absolute(this.#path, 0, end);
    const type = known ?? this.#typeOf(absolute);
    if (type === null || type === 'other') return;
    if (type === 'directory') below.push(this.#place(name, end, [], false));
    else if (!this.#isKept(this.#path, name, end, false)) this.#unlink(absolute, this.#path, end);
  }

  /** Whether patterns keep something in an untracked directory. */
  #holdsKept(place: Place): boolean {
    const { path, name } = place;
    if (this.#isKept(path, name, path.length, true)) return true;
    if (isNestedRepository(this.#paths, path)) return false;
    const directories: Place[] = [];
    const prefix = this.#enter(path);
    const entries = this.#typedNames(place);
    // What cannot be read may hold anything.
    if (typeof entries === 'string') return true;
    for (const [child, type] of entries) {
      if (type === 'other' || this.#isDotGit(child)) continue;
      const end = this.#append(prefix, child);
      if (type === 'directory') directories.push(this.#place(prefix, end, [], false));
      else if (this.#isKept(this.#path, prefix, end, false)) return true;
    }
    return directories.some((directory) => this.#holdsKept(directory));
  }

  #isDotGit(name: string): boolean {
    return name === DOT_GIT || (this.#rules.foldsNames && foldName(Buffer.from(name, 'latin1')) === DOT_GIT);
  }

  #isKept(path: Bytes, name: number, end: number, isDirectory: boolean): boolean {
    return this.#kept !== null && this.#kept.includes(path, 0, name, end, isDirectory, this.#kept.root);
  }

  #isSpared(absolute: Buffer): boolean {
    for (const path of this.#spared) if (path.length === absolute.length && path.equals(absolute)) return true;
    return false;
  }

  #place(name: number, end: number, ranges: readonly number[], whole: boolean): Place {
    return { path: Uint8Array.from(this.#path.subarray(0, end)), name, ranges, whole };
  }

  /** Makes `path` and a slash the beginning of the current path; returns where names go. */
  #enter(path: Bytes): number {
    if (path.length === 0) return 0;
    this.#reserve(path.length + 1);
    this.#path.set(path);
    this.#path[path.length] = SLASH;
    return path.length + 1;
  }

  /** Puts a name, one character a byte, behind the first `prefix` bytes of the current path; returns its end. */
  #append(prefix: number, name: string): number {
    this.#reserve(prefix + name.length);
    return prefix + this.#path.write(name, prefix, 'latin1');
  }

  #reserve(length: number): void {
    if (length <= this.#path.length) return;
    const grown = Buffer.alloc(2 * length);
    this.#path.copy(grown);
    this.#path = grown;
  }

  /** null where there is nothing, or nothing that may be looked at. */
  #typeOf(absolute: Buffer): FileType | null {
    try {
      const stat = lstatSync(absolute, { throwIfNoEntry: false });
      return stat === undefined ? null : typeOf(stat);
    } catch (error) {
      if (errnoOf(error) === undefined) throw error;
      return null;
    }
  }

  /** The names in a place, one character a byte; the errno if it cannot be read. */
  #names({ path }: Place): string[] | string {
    try {
      return readdirSync(this.#paths.absolute(path, 0, path.length), 'latin1');
    } catch (error) {
      const errno = errnoOf(error);
      if (errno === undefined) throw error;
      return errno;
    }
  }

  /** The names in a place, and the type of each; the errno if it cannot be read. */
  #typedNames({ path }: Place): Map<string, FileType> | string {
    const names = new Map<string, FileType>();
    let entries: Dirent<Buffer>[];
    const absolute = this.#paths.absolute(path, 0, path.length);
    try {
      entries = readdirSync(absolute, { withFileTypes: true, encoding: 'buffer' });
    } catch (error) {
      const errno = errnoOf(error);
      if (errno === undefined) throw error;
      return errno;
    }
    const directory = Buffer.concat([absolute, Buffer.of(SLASH)]);
    for (const entry of entries) {
      // Some file systems do not tell the type along with the name; what is gone again does not matter.
      const type = typeOf(entry) === 'other' ? this.#typeOf(Buffer.concat([directory, entry.name])) : typeOf(entry);
      if (type !== null) names.set(entry.name.toString('latin1'), type);
    }
    return names;
  }

  #notRead(path: Bytes, errno: string): void {
    if (errno !== 'ENOENT')
      this.unread.push(`cannot look into '${displayPath(path, 0, path.length) || '.'}': ${errno}`);
  }

  /** Removes a file or link; false if it stays. */
  #unlink(absolute: Buffer, path: Bytes, end: number): boolean {
    if (this.#isSpared(absolute)) return false;
    try {
      unlinkSync(absolute);
      this.removed++;
      return true;
    } catch (error) {
      const errno = errnoOf(error);
      if (errno === undefined) throw error;
      if (errno === 'ENOENT') return true;
      this.#failed(path, end, errno);
      return false;
    }
  }

  #failed(path: Bytes, end: number, why: string): true {
    this.failures.push(`cannot remove '${displayPath(path, 0, end)}': ${why}`);
    return true;
  }

  /** What the index has of a name in a directory; null for nothing. */
  #lookUp(ranges: readonly number[], name: string): Child | null {
    const [low = 0, high = 0, prefix = 0] = ranges;
    const at = this.#first(low, high, prefix, name, NOTHING);
    const isEntry = at < high && this.#compare(at, prefix, name, NOTHING) === 0;
    if (isEntry && ((this.#tracked.flags[at] ?? 0) & FLAG.stage) === 0) {
      return this.#tracked.modes[at] === MODE_GITLINK ? GITLINK : FILE;
    }
    const from = this.#first(at, high, prefix, name, SLASH);
    const to = from < high ? this.#first(from, high, prefix, name, SLASH + 1) : from;
    if (to > from) return { isEntry, isGitlink: false, ranges: [from, to, prefix + name.length + 1] };
    if (!isEntry) return null;
    return this.#tracked.modes[at] === MODE_GITLINK ? GITLINK : FILE;
  }

  /** The children of a directory by their folded names. */
  #foldedChildren(ranges: readonly number[]): Map<string, Child> {
    const { pathBytes, pathOffsets, modes } = this.#tracked;
    const children = new Map<string, Child>();
    for (let i = 0; i < ranges.length; i += 3) {
      const high = ranges[i + 1] ?? 0;
      const prefix = ranges[i + 2] ?? 0;
      for (let entry = ranges[i] ?? 0; entry < high;) {
        const start = (pathOffsets[entry] ?? 0) + prefix;
        const end = pathOffsets[entry + 1] ?? 0;
        const slash = pathBytes.subarray(start, end).indexOf(SLASH);
        const bytes = pathBytes.subarray(start, slash < 0 ? end : start + slash);
        const key = foldName(bytes);
        const { isEntry = false, isGitlink = false, ranges: before = [] } = children.get(key) ?? {};
        if (slash < 0) {
          children.set(key, { isEntry: true, isGitlink: isGitlink || modes[entry] === MODE_GITLINK, ranges: before });
          entry++;
        } else {
          const text = Buffer.from(bytes).toString('latin1');
          const to = this.#first(entry, high, prefix, text, SLASH + 1);
          children.set(key, { isEntry, isGitlink, ranges: [...before, entry, to, prefix + text.length + 1] });
          entry = to;
        }
      }
    }
    return children;
  }

  /** The first entry in [low, high) that is not before the name with the byte `extra` behind it. */
  #first(low: number, high: number, prefix: number, name: string, extra: number): number {
    let from = low;
    let to = high;
    while (from < to) {
      const middle = (from + to) >>> 1;
      if (this.#compare(middle, prefix, name, extra) < 0) from = middle + 1;
      else to = middle;
    }
    return from;
  }

  /** Order of an entry's path, from `prefix` on, and of a name with the byte `extra` behind it, unless that is NOTHING. */
  #compare(entry: number, prefix: number, name: string, extra: number): number {
    const { pathBytes, pathOffsets } = this.#tracked;
    const start = (pathOffsets[entry] ?? 0) + prefix;
    const length = (pathOffsets[entry + 1] ?? 0) - start;
    const shared = length < name.length ? length : name.length;
    for (let i = 0; i < shared; i++) {
      const difference = (pathBytes[start + i] ?? 0) - name.charCodeAt(i);
      if (difference !== 0) return difference;
    }
    if (length < name.length) return -1;
    if (extra === NOTHING) return length - name.length;
    if (length === name.length) return -1;
    return (pathBytes[start + name.length] ?? 0) - extra || length - name.length - 1;
  }
}

/** Named pipes, sockets and devices are 'other': git does not see them, and they go only with a directory that goes as a whole. */
type FileType = 'file' | 'directory' | 'other';

function typeOf(entry: Pick<Stats, 'isDirectory' | 'isFile' | 'isSymbolicLink'>): FileType {
  if (entry.isDirectory()) return 'directory';
  return entry.isFile() || entry.isSymbolicLink() ? 'file' : 'other';
}

/** What the index has under a name. */
interface Child {
  /** A file, link or submodule. */
  readonly isEntry: boolean;
  readonly isGitlink: boolean;
  /** As in a place: a directory, unless it is empty. */
  readonly ranges: readonly number[];
}

const FILE: Child = { isEntry: true, isGitlink: false, ranges: [] };
const GITLINK: Child = { isEntry: true, isGitlink: true, ranges: [] };
/** `.GIT` is the git directory where names fold. */
function lookUpFolded(children: ReadonlyMap<string, Child>, name: string): Child | null {
  const key = foldName(Buffer.from(name, 'latin1'));
  return key === DOT_GIT ? GITLINK : (children.get(key) ?? null);
}
