/**
 * Where Git LFS keeps its files on this machine, and whether its filter driver would bring them: what is in the store need not go
 * through a process, one file after the other.
 */
import { isAbsolute, join, sep } from 'node:path';

/** A store of LFS objects that workers may read from. */
export interface LfsStore {
  /** Absolute path of its `objects` directory, which need not exist. */
  readonly objects: string;
  /** The driver would leave pointers as they are. */
  readonly skip: boolean;
}

/** What decides about the store. */
export interface LfsFacts {
  /** lfs.storage; undefined when it is not set. */
  readonly storage: string | undefined;
  readonly commonDir: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** What git-lfs's installer writes into the configuration: `git lfs install`, and with --skip-smudge. */
const PROCESS = /^git-lfs filter-process( --skip)?$/;
const SMUDGE = /^git-lfs smudge( --skip)? -- %f$/;

/** How a command of a filter driver treats pointers if it is git-lfs's own; null for all others. Pure. */
export function lfsCommand(command: string, longRunning: boolean): { readonly skip: boolean } | null {
  const match = (longRunning ? PROCESS : SMUDGE).exec(command);
  return match === null ? null : { skip: match[1] !== undefined };
}

/**
 * The local store; null where its place is written in a way that only git-lfs expands. Pure.
 * Source: git-lfs-config(5), "lfs.storage"; GIT_LFS_SKIP_SMUDGE as git-lfs reads booleans.
 */
export function lfsStore({ storage, commonDir, environment }: LfsFacts): LfsStore | null {
  const home = environment['HOME'] ?? '';
  const expanded = storage !== undefined && /^~(\/|$)/.test(storage) && home !== '' ? home + storage.slice(1) : storage;
  if (expanded !== undefined && /^$|^[~%]/.test(expanded)) return null;
  const directory =
    expanded === undefined ? join(commonDir, 'lfs') : isAbsolute(expanded) ? expanded : join(commonDir, expanded);
  const skip = /^(true|1|on|yes|t)$/i.test(environment['GIT_LFS_SKIP_SMUDGE'] ?? '');
  return { objects: join(directory, 'objects'), skip };
}

/** Path of an object of the store. */
export function lfsObjectPath(store: LfsStore, oid: string): string {
  // Not `join`, which looks at every character again: a fifth of what a worker computes for a file.
  return `${store.objects}${sep}${oid.slice(0, 2)}${sep}${oid.slice(2, 4)}${sep}${oid}`;
}
