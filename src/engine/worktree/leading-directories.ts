/**
 * Makes the directories that entries lie in, and sees to it that each is a real directory: a file or a link where a directory
 * must be is removed, never followed. Main thread only, before any worker writes below.
 */
import { lstatSync, mkdirSync } from 'node:fs';
import { errnoOf, ioError } from '../errors.ts';
import type { Bytes } from '../bytes.ts';
import { displayPath, type WorktreePaths } from './paths.ts';
import { removeAll } from './remove.ts';

const UNKNOWN = 0;
/** Made by this run, so nothing can be in it that this run did not put there. */
const FRESH = 1;
/** Was there before. */
const EXISTING = 2;

/** The directories of a manifest; number 0 is the root of the working tree. */
export interface DirectoryTable {
  readonly count: number;
  readonly parent: Int32Array;
  readonly pathLength: Uint32Array;
  readonly firstEntry: Uint32Array;
}

export class LeadingDirectories {
  readonly #table: DirectoryTable;
  readonly #paths: WorktreePaths;
  readonly #pathBytes: Bytes;
  readonly #pathOffsets: Uint32Array;
  readonly #states: Uint8Array;
  readonly #keep: string;

  /**
   * @param rootIsEmpty nothing but the git directory is in the root, so that nothing needs to be looked at
   * @param keep a directory that must not be removed
   */
  constructor(
    table: DirectoryTable,
    entries: { readonly pathBytes: Bytes; readonly pathOffsets: Uint32Array },
    paths: WorktreePaths,
    rootIsEmpty: boolean,
    keep: string,
  ) {
    this.#table = table;
    this.#paths = paths;
    this.#pathBytes = entries.pathBytes;
    this.#pathOffsets = entries.pathOffsets;
    this.#states = new Uint8Array(table.count);
    this.#states[0] = rootIsEmpty ? FRESH : EXISTING;
    this.#keep = keep;
  }

  /**
   * Makes a directory and those above it.
   * @returns true when it was there before, so that something may be in it
   * @throws CheckoutError io, naming the directory
   */
  ensure(directory: number): boolean {
    const state = this.#states[directory];
    if (state !== UNKNOWN) return state === EXISTING;
    // From the outermost unknown directory inwards; trees may be thousands deep, so without recursion.
    const chain: number[] = [];
    for (let at = directory; this.#states[at] === UNKNOWN; at = this.#table.parent[at] ?? 0) chain.push(at);
    for (let i = chain.length - 1; i >= 0; i--) this.#make(chain[i] ?? 0);
    return this.#states[directory] === EXISTING;
  }

  /**
   * As `ensure`, looking at the directory and all above it again: where names fold, what was written for another path may have
   * taken the place of any of them, and a filter driver may have done anything.
   */
  ensureAnew(directory: number): boolean {
    for (let at = directory; at > 0; at = this.#table.parent[at] ?? 0) this.#states[at] = UNKNOWN;
    this.#states[0] = EXISTING;
    return this.ensure(directory);
  }

  /** Looks again: for use after something was removed. */
  forget(): void {
    for (let i = 1; i < this.#states.length; i++) if (this.#states[i] === EXISTING) this.#states[i] = UNKNOWN;
  }

  #make(directory: number): void {
    const start = this.#pathOffsets[this.#table.firstEntry[directory] ?? 0] ?? 0;
    const end = start + (this.#table.pathLength[directory] ?? 0);
    const path = this.#paths.absolute(this.#pathBytes, start, end);
    const parent = this.#table.parent[directory] ?? 0;
    try {
      if (this.#states[parent] === EXISTING) {
        const stat = lstatSync(path, { throwIfNoEntry: false });
        if (stat?.isDirectory() === true) {
          this.#states[directory] = EXISTING;
          return;
        }
        if (stat !== undefined) removeAll(path, this.#keep);
      }
      mkdirSync(path);
    } catch (error) {
      // Below a fresh directory only a file system that folds names can have it already.
      if (errnoOf(error) !== 'EEXIST') throw ioError('make directory', displayPath(this.#pathBytes, start, end), error);
      const stat = lstatSync(path);
      if (!stat.isDirectory()) throw ioError('make directory', displayPath(this.#pathBytes, start, end), error);
      this.#states[directory] = EXISTING;
      return;
    }
    this.#states[directory] = FRESH;
  }
}
