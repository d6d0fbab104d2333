/**
 * What a case of the fuzzer is: a value of plain JSON, so that a failing one can be printed, shrunk, kept in a file and run
 * again. It describes a repository of three related commits, how it is stored and configured, and what happens to a
 * working tree of it.
 *
 * Paths, contents and link targets are byte strings: each character is a byte.
 */
import { randomBytes, randomText } from '../support/random.ts';

/** Bytes: as they are, or a recipe where they are many. */
export type Content =
  | string
  /** A piece over and over, then an end. */
  | { readonly repeat: string; readonly times: number; readonly end?: string }
  /** Bytes that do not compress. */
  | { readonly random: number; readonly size: number }
  /** Text of words, and one version of it: versions make a delta family. */
  | { readonly words: number; readonly size: number; readonly version: number };

export type Entry =
  | { readonly kind: 'file'; readonly content: Content; readonly executable?: true }
  | { readonly kind: 'link'; readonly target: string }
  /** A submodule; the digit makes its commit. */
  | { readonly kind: 'gitlink'; readonly digit: number }
  /** A directory of so many small files. */
  | { readonly kind: 'many'; readonly count: number; readonly content: string };

/** What a path is in each of the commits; 'same' is what it was in the one before. */
export interface Slot {
  readonly path: string;
  readonly versions: readonly (Entry | 'same' | null)[];
}

export const COMMITS = 3;

export interface Storage {
  /** Loose objects, one pack, or a pack for each commit. */
  readonly packs: 'loose' | 'one' | 'several';
  /** What is done to the object database afterwards, in this order. */
  readonly then: readonly ('repack-ref-deltas' | 'repack-index-v1' | 'midx' | 'alternates' | 'pack-refs')[];
  /** Replaces the content of a path of the second commit by other content. */
  readonly replace: { readonly path: string; readonly content: string } | null;
  /** Removes the blob of a path of the second commit. */
  readonly missing: string | null;
  /** A partial clone of the repository is checked out instead: blobs are still to be fetched. */
  readonly promisor?: true;
}

/** An entry of a tree that no git command would write. */
export interface OddEntry {
  /** As it is written, such as '100644'. */
  readonly mode: string;
  readonly name: string;
  /** What its id names: a blob of this text, a tree, a commit that is not there, or nothing (an id of zeros). */
  readonly is: { readonly blob: string } | { readonly tree: readonly OddEntry[] } | 'commit' | 'nothing';
}

/** Something that happens to the working tree or the index before a checkout. Where it is not possible nothing happens. */
export type Dirt =
  /** Other content, in the same inode. */
  | { readonly do: 'write'; readonly path: string; readonly content: Content }
  /** As many bytes, but others; with the old mtime or a new one. */
  | { readonly do: 'edit'; readonly path: string; readonly keepTime: boolean }
  /** The same content in another inode, with its old mtime. */
  | { readonly do: 'copy'; readonly path: string }
  | { readonly do: 'touch'; readonly path: string; readonly time: number }
  | { readonly do: 'chmod'; readonly path: string; readonly mode: number }
  | { readonly do: 'remove'; readonly path: string }
  /** A directory, in place of whatever is there, with untracked content or without. */
  | { readonly do: 'directory'; readonly path: string; readonly file: boolean }
  | { readonly do: 'link'; readonly path: string; readonly target: string }
  /** A hard link to a file outside of the working tree, or to another path. */
  | { readonly do: 'hardlink'; readonly path: string; readonly to: string | null }
  /** Moves what is there, and puts a link in its place. */
  | { readonly do: 'move'; readonly path: string; readonly to: string }
  /** A repository of its own. */
  | { readonly do: 'nested'; readonly path: string }
  | { readonly do: 'fifo'; readonly path: string }
  /** Stages of a merge conflict for the path. */
  | { readonly do: 'unmerged'; readonly path: string; readonly stages: readonly number[] }
  | { readonly do: 'add'; readonly path: string }
  | { readonly do: 'uncache'; readonly path: string }
  | {
      readonly do: 'flag';
      readonly path: string;
      readonly flag: 'assume-unchanged' | 'skip-worktree' | 'intent-to-add';
    }
  /** Other stat data in the index than the file has. */
  | { readonly do: 'stat'; readonly path: string; readonly field: StatField }
  | { readonly do: 'index'; readonly form: 'v4' | 'split' | 'untracked-cache' | 'none' | 'resolve-undo' }
  /** Patterns of sparse checkout, written and applied by git. */
  | { readonly do: 'sparse'; readonly cone: boolean; readonly lines: readonly string[] }
  | { readonly do: 'state'; readonly name: 'MERGE_HEAD' | 'CHERRY_PICK_HEAD' | 'REVERT_HEAD' };

export type StatField = 'ctime' | 'mtime' | 'dev' | 'ino' | 'uid' | 'gid' | 'size';

export type TargetKind = 'detach' | 'revision' | 'branch' | 'move-branch' | 'head';

export interface Step {
  readonly dirt: readonly Dirt[];
  /** The time of the index file: after all files, before all files (each is racy then), or as it came. */
  readonly indexTime: 'young' | 'old' | 'natural';
  /** Removes what is untracked before the checkout, but for what these patterns match. */
  readonly clean?: readonly string[];
  readonly target: TargetKind;
  /** Number of the commit. */
  readonly commit: number;
  /** Of ours: 0 is the main thread alone. */
  readonly workers: number;
  /** Of git. */
  readonly gitWorkers: number;
}

export interface Case {
  readonly hash: 'sha1' | 'sha256';
  readonly slots: readonly Slot[];
  /** Lines of .git/info/attributes. */
  readonly infoAttributes: readonly string[];
  readonly config: Readonly<Record<string, string>>;
  readonly storage: Storage;
  /** In place of the last commit's tree, in this order. */
  readonly oddTree?: readonly OddEntry[];
  /** Lines of the user's own attributes. */
  readonly globalAttributes?: readonly string[];
  /** Hooks by name, each with the status that it ends with. They write down how they were called. */
  readonly hooks?: Readonly<Record<string, number>>;
  /** File mode creation mask of both. */
  readonly umask?: number;
  /** The commit that git checks out in both copies to begin with; null begins with nothing. */
  readonly start: number | null;
  readonly steps: readonly Step[];
}

export function contentBytes(content: Content): Buffer {
  if (typeof content === 'string') return Buffer.from(content, 'latin1');
  if ('repeat' in content) return Buffer.from(content.repeat.repeat(content.times) + (content.end ?? ''), 'latin1');
  if ('random' in content) return randomBytes(content.random + 1, content.size);
  const text = randomText(content.words, content.size);
  const at = Math.floor((content.version * 7919) % (content.size + 1));
  return Buffer.from(`${text.slice(0, at)}version ${content.version}\n${text.slice(at)}`, 'latin1');
}

export type LeafEntry = Exclude<Entry, { kind: 'many' }>;

/** The files of a commit by path. Where two slots are in each other's way, the first one stays. */
export function treeOf(one: Pick<Case, 'slots'>, commit: number): Map<string, LeafEntry> {
  const tree = new Map<string, LeafEntry>();
  const directories = new Set<string>();
  const put = (path: string, entry: LeafEntry): void => {
    if (tree.has(path) || directories.has(path)) return;
    const above: string[] = [];
    for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) above.push(path.slice(0, at));
    if (above.some((directory) => tree.has(directory))) return;
    for (const directory of above) directories.add(directory);
    tree.set(path, entry);
  };
  for (const { path, versions } of one.slots) {
    let entry: Entry | null = null;
    for (const version of versions.slice(0, commit + 1)) if (version !== 'same') entry = version;
    if (entry === null) continue;
    if (entry.kind !== 'many') put(path, entry);
    else {
      for (let i = 0; i < entry.count; i++) {
        put(`${path}/f${i}`, { kind: 'file', content: `${entry.content}${i % 7}\n` });
      }
    }
  }
  return tree;
}

/** Blobs of the odd tree by path. */
export function oddBlobs(entries: readonly OddEntry[], prefix = ''): [path: string, content: string][] {
  return entries.flatMap(({ name, is }): [string, string][] => {
    if (typeof is === 'string') return [];
    return 'blob' in is ? [[prefix + name, is.blob]] : oddBlobs(is.tree, `${prefix}${name}/`);
  });
}

/** What a commit's file at the path has, for those who write it elsewhere; null where it has none. */
export function contentAt(one: Case, commit: number, path: string): Buffer | null {
  const entry = treeOf(one, commit).get(path);
  return entry?.kind === 'file' ? contentBytes(entry.content) : null;
}
