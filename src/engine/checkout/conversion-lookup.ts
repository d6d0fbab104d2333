/**
 * Finds the conversion of each file while the manifest walks the trees: reads the .gitattributes of each directory from the new tree, and
 * from the working tree where the new tree has none (an untracked one counts, as with git).
 */
import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from 'node:fs';
import { AttributeStack } from '../attributes/attribute-stack.ts';
import { ATTRIBUTES_FILE_LIMIT, parseAttributes, type AttributeRules } from '../attributes/gitattributes.ts';
import { bufferOver, type Bytes } from '../bytes.ts';
import { CheckoutError, errnoOf, ioError } from '../errors.ts';
import { ConversionTable, type Conversion, type ConversionConfig } from '../filter/conversion.ts';
import type { TreeCursor } from '../object/tree.ts';
import type { ObjectDatabase } from '../odb/object-database.ts';
import { BLOB } from '../pack/entry.ts';
import { WorktreePaths } from '../worktree/paths.ts';
import type { ConversionLookup } from './manifest.ts';

const NAME = Buffer.from('.gitattributes');
const NAME_IN_TREE = Buffer.from(' .gitattributes\0');
const { O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants as { O_NOFOLLOW?: number; O_NONBLOCK?: number };
/** A named pipe must not make us wait for a writer, as it does git. */
const READ_NO_FOLLOW = constants.O_RDONLY | O_NOFOLLOW | O_NONBLOCK;

export interface AttributeLocations {
  /** $GIT_COMMON_DIR/info/attributes. */
  readonly info: string;
  /** core.attributesFile or its default; null where git looks nowhere. */
  readonly global: string | null;
  readonly system: string | null;
}

/** Files in the working tree that may hold rules. */
export interface WorktreeAttributes {
  readonly workTree: string;
  /** Whether a path is in the old index: such a file goes away with this checkout and does not count. */
  readonly isTracked: (path: Bytes) => boolean;
}

export class AttributeConversions implements ConversionLookup {
  readonly #odb: ObjectDatabase;
  readonly #stack: AttributeStack;
  readonly #table: ConversionTable;
  readonly #worktree: WorktreeAttributes | null;
  readonly #paths: WorktreePaths | null;

  /** @param worktree null when nothing is in the working tree yet */
  constructor(
    odb: ObjectDatabase,
    config: ConversionConfig,
    locations: AttributeLocations,
    ignoreCase: boolean,
    worktree: WorktreeAttributes | null,
  ) {
    this.#odb = odb;
    this.#stack = outerAttributes(locations, ignoreCase);
    this.#table = new ConversionTable(config, this.#stack.sets);
    this.#worktree = worktree;
    this.#paths = worktree === null ? null : new WorktreePaths(worktree.workTree);
  }

  /** By number; complete when the manifest is. */
  get conversions(): readonly Conversion[] {
    return this.#table.conversions;
  }

  /** See ConversionTable. */
  leavingPointers(number: number): number {
    return this.#table.leavingPointers(number);
  }

  enterDirectory(tree: TreeCursor, path: Bytes): void {
    const pathLength = path.length === 0 ? 0 : path.length + 1;
    const rules = this.#fromTree(tree, pathLength === 0) ?? this.#fromWorktree(path);
    this.#stack.enterDirectory(rules, pathLength);
  }

  leaveDirectory(): void {
    this.#stack.leaveDirectory();
  }

  lookUp(path: Bytes, start: number, end: number): number {
    return this.#table.fromAttributes(this.#stack.resolve(path, start, end));
  }

  #fromTree(tree: TreeCursor, isRoot: boolean): AttributeRules | null {
    // A native search first: few trees have the file, and the ids of the others rarely look like it.
    if (bufferOver(tree.bytes).indexOf(NAME_IN_TREE) < 0) return null;
    tree.rewind();
    while (tree.next() === 1) {
      // The mode does not matter: of a link, the target's text counts, and of a submodule there is no object.
      if (!bufferOver(tree.bytes, tree.nameStart, tree.nameEnd).equals(NAME)) continue;
      let content: Bytes;
      try {
        content = this.#odb.read(tree.bytes, tree.oidAt);
      } catch (error) {
        // git goes on without the rules; the file itself will fail to be written, and say so.
        if (error instanceof CheckoutError && error.code === 'object-missing') return null;
        // Too large to be read is too large to be heeded.
        const { size } = this.#odb.reader;
        if (error instanceof CheckoutError && error.code === 'memory' && size >= ATTRIBUTES_FILE_LIMIT) return null;
        throw error;
      }
      if (this.#odb.reader.type !== BLOB || content.length >= ATTRIBUTES_FILE_LIMIT) {
        this.#odb.reader.finish();
        return null;
      }
      const rules = parseAttributes(content, { fromBlob: true, macros: isRoot });
      this.#odb.reader.finish();
      return rules;
    }
    return null;
  }

  #fromWorktree(directory: Bytes): AttributeRules | null {
    if (this.#worktree === null || this.#paths === null) return null;
    const path = directory.length === 0 ? NAME : Buffer.concat([bufferOver(directory), Buffer.from('/'), NAME]);
    const absolute = this.#paths.absolute(path, 0, path.length);
    let fd: number;
    try {
      // Most directories have none, and an exception for each would cost five times as much as this look.
      if (lstatSync(absolute, { throwIfNoEntry: false }) === undefined) return null;
      fd = openSync(absolute, READ_NO_FOLLOW);
    } catch {
      // Not there, a link, or not readable: git goes on without it.
      return null;
    }
    try {
      const stat = fstatSync(fd);
      if (!stat.isFile() || stat.size >= ATTRIBUTES_FILE_LIMIT || this.#worktree.isTracked(path)) return null;
      const content = Buffer.alloc(stat.size);
      const read = readSync(fd, content, 0, stat.size, 0);
      return parseAttributes(content.subarray(0, read), { fromBlob: false, macros: directory.length === 0 });
    } finally {
      closeSync(fd);
    }
  }
}

/**
 * The rules from outside of the working tree, no directory entered.
 * @throws CheckoutError io
 */
export function outerAttributes(locations: AttributeLocations, ignoreCase: boolean): AttributeStack {
  return new AttributeStack({
    info: readRules(locations.info),
    global: locations.global === null ? null : readRules(locations.global),
    system: locations.system === null ? null : readRules(locations.system),
    ignoreCase,
  });
}

/** Rules of a file outside of the working tree; null when there is none, or one so large that git does not read it. */
function readRules(path: string): AttributeRules | null {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY);
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'ENOENT' || errno === 'ENOTDIR' || errno === 'EISDIR' || errno === 'EACCES') return null;
    throw ioError('read', path, error);
  }
  try {
    const stat = fstatSync(fd);
    if (stat.isDirectory() || stat.size >= ATTRIBUTES_FILE_LIMIT) return null;
    const content = readUpTo(fd, stat.isFile() ? stat.size : 0);
    return content === null ? null : parseAttributes(content, { fromBlob: false, macros: true });
  } catch (error) {
    throw ioError('read', path, error);
  } finally {
    closeSync(fd);
  }
}

/** Reads to the end, of a pipe or a device too; null when that is too far away. */
function readUpTo(fd: number, expectedBytes: number): Buffer | null {
  let bytes = Buffer.alloc(expectedBytes + 1);
  for (let length = 0; ;) {
    if (length === bytes.length) bytes = Buffer.concat([bytes, Buffer.alloc(Math.max(length, 4096))]);
    const read = readSync(fd, bytes, length, bytes.length - length, null);
    length += read;
    if (length >= ATTRIBUTES_FILE_LIMIT) return null;
    if (read === 0) return bytes.subarray(0, length);
  }
}
