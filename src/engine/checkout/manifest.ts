/**
 * The manifest: what the commit's tree says should be on disk. Reads all trees of the commit, checks each name before anything
 * is touched, and fills the shared tables in index order.
 *
 * A directory whose tree the old index knows takes its entries from there, without reading the trees (index/known-trees.ts).
 *
 * Trees that git would not write (out of order, a name twice, a name with a slash) are noticed here, and settled after the walk by
 * odd-trees.ts.
 */
import { displayBytes, type Bytes } from '../bytes.ts';
import { CheckoutError } from '../errors.ts';
import type { KnownTrees } from '../index/known-trees.ts';
import { invalidComponent, type PathRules } from '../object/path-validity.ts';
import { MODE_GITLINK, MODE_SYMLINK, MODE_TREE, TreeCursor } from '../object/tree.ts';
import type { ObjectDatabase } from '../odb/object-database.ts';
import { oidEquals, oidToHex, type ObjectFormat } from '../oid.ts';
import { TREE, typeName } from '../pack/entry.ts';
import { ALL, NONE, type SparseMatcher, type Verdict } from '../sparse/matcher.ts';
import {
  allocateTables,
  growEntries,
  growPaths,
  MAX_ENTRIES,
  MAX_PATH_TABLE_BYTES,
  State,
  type Tables,
} from './tables.ts';
import { treeTotals } from './tree-totals.ts';

/** core.maxTreeDepth's default in git 2.44 and later. */
const MAX_TREE_DEPTH = 2048;
/**
 * A tree may name one subtree many times, and that one another, so that a few objects stand for more directories than anybody
 * could make. The largest repositories that we know of have some hundred thousand.
 */
const MAX_DIRECTORIES = 4_000_000;
/**
 * When a tree has come to these parts of its bounds, all of it is counted (tree-totals.ts) before the tables grow on: at 62,500
 * directories or a million entries. A bomb takes 150 MB then, all of Node with it, where it took over 1 GB.
 */
const COUNT_FROM = { directories: 1 / 64, entries: 1 / 16 };

/** The directories of the commit in depth-first order, the root being number 0. */
export interface Directories {
  readonly format: ObjectFormat;
  count: number;
  parent: Int32Array;
  /** The directory's path is a prefix, of this length, of the path of its first entry. */
  pathLength: Uint32Array;
  /** Number of the first entry below it, and how many there are. */
  firstEntry: Uint32Array;
  entryCount: Uint32Array;
  /** 1 where git would write the entries as another tree than they came from, so that nobody may vouch for its id. */
  irregular: Uint8Array;
  /** Id of its tree: `format.oidBytes` each. */
  oids: Bytes;
}

export interface Manifest {
  readonly tables: Tables;
  readonly directories: Directories;
  /** Reasons for which only git can check this tree out. */
  readonly needsGit: readonly string[];
  /** Entries are not in index order yet, or some displace others: for odd-trees.ts to settle. */
  readonly isOdd: boolean;
}

/** Finds out how the content of files is converted, while the walk goes from directory to directory. */
export interface ConversionLookup {
  /** `tree` is the directory's tree; `path` (no slash at its end) is empty for the root. */
  enterDirectory(tree: TreeCursor, path: Bytes): void;
  leaveDirectory(): void;
  /** Number of the conversion for path[start, end). */
  lookUp(path: Bytes, start: number, end: number): number;
}

interface Frame {
  cursor: TreeCursor;
  directory: number;
  /** Length of the path with its slash. */
  prefixLength: number;
  previousStart: number;
  previousEnd: number;
  previousIsTree: boolean;
  /** The next directory below this one in the old index whose name may come; -1 when there is none. */
  nextKnown: number;
  /** Of the sparse checkout on this directory. */
  verdict: Verdict;
  /** Files that a later directory could have the name of: start and end of each name. */
  candidates: number[];
}

const SLASH = 0x2f;

export interface ManifestOptions {
  readonly rules: PathRules;
  /** Asked for each file that is inside; null where that is done later, for those that are to be written only. */
  readonly conversions: ConversionLookup | null;
  /** What the old index knows of trees. Without it all are read. */
  readonly known?: KnownTrees;
  /** What is outside of it becomes SKIPPED; without it everything is inside. */
  readonly sparse?: SparseMatcher;
  /** Whether there is a directory at path[start, end); asked for submodules. Without it there are none. */
  readonly hasDirectory?: (path: Bytes, start: number, end: number) => boolean;
  /** Called as soon as this many regular files that are inside are known, once. */
  readonly many?: { readonly files: number; readonly notify: () => void };
  /** Bounds against trees that name others again and again; tests set lower ones. */
  readonly maxDepth?: number;
  readonly maxDirectories?: number;
  readonly maxEntries?: number;
  /** Longest path below the working tree that can be opened by its absolute name; git works with relative ones. */
  readonly maxPathBytes: number;
}

/**
 * Walks the trees from a root tree.
 * @throws CheckoutError path-invalid, tree-invalid, tree-too-deep, object-missing, object-corrupt
 */
export function buildManifest(odb: ObjectDatabase, rootOid: Bytes, options: ManifestOptions): Manifest {
  return new ManifestBuilder(odb, options).build(rootOid);
}

class ManifestBuilder {
  readonly #odb: ObjectDatabase;
  readonly #options: ManifestOptions;
  readonly #tables: Tables;
  readonly #oidBytes: number;
  #directories: Directories;
  readonly #needsGit = new Set<string>();
  readonly #frames: Frame[] = [];
  /** The path of the directory that the walk is in, with its slash. */
  #prefix = new Uint8Array(4096);
  /** Met a tree whose entries git would not have in this order, or not all of them. */
  #odd = false;
  #notified = false;
  #counted = false;
  #rootOid: Bytes = new Uint8Array(0);
  /** Regular files so far. */
  #files = 0;

  constructor(odb: ObjectDatabase, options: ManifestOptions) {
    this.#odb = odb;
    this.#oidBytes = odb.format.oidBytes;
    this.#options = options;
    // A shallow repository has about as many objects as its commit has entries, so that the tables need not grow; memory that
    // is not touched costs nothing.
    const capacity = Math.min(Math.max(odb.packedObjects, 1024), 1 << 20);
    this.#tables = allocateTables(capacity, 32 * capacity, odb.format);
    this.#directories = newDirectories(1024, odb.format);
  }

  build(rootOid: Bytes): Manifest {
    const { conversions } = this.#options;
    const maxDepth = this.#options.maxDepth ?? MAX_TREE_DEPTH;
    this.#rootOid = rootOid;
    this.#enter(rootOid, 0, -1, 0, this.#options.sparse?.root ?? ALL, 0);
    while (this.#frames.length > 0) {
      const frame = this.#frames[this.#frames.length - 1];
      if (frame === undefined) break;
      const { cursor } = frame;
      const found = cursor.next();
      if (found < 0) {
        throw this.#invalidTree(this.#directoryDisplay(frame), 'is damaged');
      }
      if (found === 0) {
        this.#leave(frame);
        if (frame.verdict !== NONE) conversions?.leaveDirectory();
        continue;
      }
      this.#checkName(frame);
      this.#checkOrder(frame);
      if (!cursor.isModeCanonical) this.#directories.irregular[frame.directory] = 1;
      if (cursor.mode === MODE_TREE) {
        if (this.#frames.length >= maxDepth) {
          const where = this.#entryDisplay(frame);
          throw new CheckoutError('tree-too-deep', `'${where}' is more than ${maxDepth} directories deep`, {
            path: where,
          });
        }
        const length = frame.prefixLength + (cursor.nameEnd - cursor.nameStart);
        this.#extendPrefix(frame);
        const verdict = this.#verdict(frame, length);
        const known = this.#findKnown(frame);
        if (known >= 0 && this.#take(frame, known, verdict)) continue;
        this.#enter(cursor.bytes, cursor.oidAt, frame.directory, length + 1, verdict, known);
      } else {
        this.#addEntry(frame);
      }
    }
    return {
      tables: this.#tables,
      directories: this.#directories,
      needsGit: [...this.#needsGit],
      isOdd: this.#odd,
    };
  }

  /** Verdict on the directory of `length` bytes of path that is found in `frame`. */
  #verdict({ verdict, prefixLength }: Frame, length: number): Verdict {
    if (verdict === ALL || verdict === NONE) return verdict;
    return this.#options.sparse?.directory(this.#prefix, prefixLength, length, verdict) ?? ALL;
  }

  /** Refuses, when the tables have become unusually large, what would make them larger than they may be. */
  #checkTotals(): void {
    const { maxDirectories = MAX_DIRECTORIES, maxEntries = MAX_ENTRIES } = this.#options;
    this.#counted = true;
    const totals = treeTotals(this.#odb, this.#rootOid);
    if (totals === null) return;
    if (totals.directories > maxDirectories) {
      throw this.#invalidTree('', `has more than ${maxDirectories} directories`);
    }
    if (totals.entries > maxEntries) throw this.#invalidTree('', `has more than ${maxEntries} entries`);
  }

  /** @param known the directory's number in the old index, or -1 */
  #enter(oid: Bytes, oidAt: number, parent: number, prefixLength: number, verdict: Verdict, known: number): void {
    const { maxDirectories = MAX_DIRECTORIES } = this.#options;
    if (!this.#counted && this.#directories.count > maxDirectories * COUNT_FROM.directories) this.#checkTotals();
    let bytes: Bytes;
    try {
      bytes = this.#odb.read(oid, oidAt);
    } catch (error) {
      if (!(error instanceof CheckoutError)) throw error;
      const path = displayBytes(this.#prefix.subarray(0, Math.max(0, prefixLength - 1)));
      const what = path === '' ? 'the root tree' : `the tree of '${path}'`;
      throw new CheckoutError(error.code, `cannot read ${what}: ${error.message}`, {
        ...error.subject,
        path: path === '' ? '.' : path,
      });
    }
    if (this.#odb.reader.type !== TREE) {
      const hex = oidToHex(oid, oidAt, this.#oidBytes);
      throw new CheckoutError('tree-invalid', `object ${hex} is a ${typeName(this.#odb.reader.type)}, not a tree`, {
        oid: hex,
      });
    }
    const directories = this.#directories;
    const oidBytes = this.#oidBytes;
    if (directories.count >= maxDirectories) throw this.#invalidTree('', `has more than ${maxDirectories} directories`);
    for (const { directory } of this.#frames) {
      if (oidEquals(directories.oids, directory * oidBytes, oid, oidAt, oidBytes)) {
        throw this.#invalidTree(displayBytes(this.#prefix.subarray(0, prefixLength)), 'contains itself');
      }
    }
    if (directories.count === directories.parent.length) this.#directories = growDirectories(directories);
    const number = this.#directories.count++;
    this.#directories.parent[number] = parent;
    this.#directories.pathLength[number] = Math.max(0, prefixLength - 1);
    this.#directories.firstEntry[number] = this.#tables.count;
    this.#directories.oids.set(oid.subarray(oidAt, oidAt + oidBytes), number * oidBytes);
    // The entries are those of another tree.
    if (this.#odb.isReplaced(oid, oidAt)) this.#directories.irregular[number] = 1;
    // The reader's bytes last until the next read only. Node's `slice` of a Buffer would not copy.
    const cursor = new TreeCursor(new Uint8Array(bytes), oidBytes);
    this.#odb.reader.finish();
    this.#frames.push({
      cursor,
      directory: number,
      prefixLength,
      previousStart: 0,
      previousEnd: 0,
      previousIsTree: false,
      nextKnown: this.#firstKnownBelow(known),
      verdict,
      candidates: [],
    });
    // Attributes matter to files that are written only.
    if (verdict !== NONE) {
      this.#options.conversions?.enterDirectory(cursor, this.#prefix.subarray(0, Math.max(0, prefixLength - 1)));
    }
    cursor.rewind();
  }

  #leave(frame: Frame): void {
    this.#frames.pop();
    const directories = this.#directories;
    const count = this.#tables.count - (directories.firstEntry[frame.directory] ?? 0);
    directories.entryCount[frame.directory] = count;
    // git makes no directory for an empty tree.
    const parent = directories.parent[frame.directory] ?? -1;
    if (parent >= 0 && (count === 0 || directories.irregular[frame.directory] === 1)) directories.irregular[parent] = 1;
  }

  #addEntry(frame: Frame): void {
    const tables = this.#tables;
    const { cursor, prefixLength } = frame;
    const entry = tables.count;
    const { maxEntries = MAX_ENTRIES } = this.#options;
    if (entry >= maxEntries) throw this.#invalidTree('', `has more than ${maxEntries} entries`);
    if (!this.#counted && entry > maxEntries * COUNT_FROM.entries) this.#checkTotals();
    if (entry + 1 > tables.modes.length) growEntries(tables);
    const pathStart = tables.pathOffsets[entry] ?? 0;
    const nameLength = cursor.nameEnd - cursor.nameStart;
    const pathEnd = pathStart + prefixLength + nameLength;
    if (pathEnd > MAX_PATH_TABLE_BYTES) throw this.#invalidTree('', 'has more than 4 GiB of paths');
    if (pathEnd > tables.pathBytes.length) growPaths(tables, pathStart, prefixLength + nameLength);
    const { pathBytes } = tables;
    const prefix = this.#prefix;
    for (let i = 0; i < prefixLength; i++) pathBytes[pathStart + i] = prefix[i] ?? 0;
    const { bytes } = cursor;
    for (let i = cursor.nameStart, at = pathStart + prefixLength; i < cursor.nameEnd; i++) {
      const byte = bytes[i] ?? 0;
      if (byte === SLASH) this.#odd = true;
      pathBytes[at++] = byte;
    }
    tables.pathOffsets[entry + 1] = pathEnd;
    // Some rules for links look at the whole path.
    if (cursor.mode === MODE_SYMLINK)
      this.#refuse(invalidComponent(pathBytes, pathStart, pathEnd, true, this.#options.rules), frame);
    const oidBytes = this.#oidBytes;
    for (let i = 0, at = entry * oidBytes; i < oidBytes; i++) tables.oids[at + i] = bytes[cursor.oidAt + i] ?? 0;
    tables.modes[entry] = cursor.mode;
    tables.directories[entry] = frame.directory;
    tables.count = entry + 1;
    if (!this.#isInside(frame, pathStart, pathEnd)) {
      tables.states[entry] = State.SKIPPED;
      return;
    }
    if (pathEnd - pathStart > this.#options.maxPathBytes) {
      this.#refuseLength();
    }
    if (cursor.mode === MODE_GITLINK || cursor.mode === MODE_SYMLINK) return;
    const { conversions } = this.#options;
    if (conversions !== null) tables.conversions[entry] = conversions.lookUp(pathBytes, pathStart, pathEnd);
    this.#countFiles(1);
  }

  #countFiles(files: number): void {
    this.#files += files;
    const { many } = this.#options;
    if (!this.#notified && many !== undefined && this.#files >= many.files) {
      this.#notified = true;
      many.notify();
    }
  }

  /** The first directory right below one of the old index, or -1. */
  #firstKnownBelow(known: number): number {
    const trees = this.#options.known;
    return trees !== undefined && known >= 0 && known + 1 < (trees.end[known] ?? 0) ? known + 1 : -1;
  }

  /**
   * The number in the old index of the directory that the frame's cursor is at, or -1. Both sides come in the order of the index,
   * so that each is passed once; of a tree in another order some directories are not found, and read.
   */
  #findKnown(frame: Frame): number {
    const trees = this.#options.known;
    if (trees === undefined) return -1;
    const { cursor, prefixLength } = frame;
    const length = cursor.nameEnd - cursor.nameStart;
    while (frame.nextKnown >= 0) {
      const known = frame.nextKnown;
      const nameAt = (trees.index.pathOffsets[trees.firstEntry[known] ?? 0] ?? 0) + prefixLength;
      const order = compareDirectoryNames(
        trees.index.pathBytes,
        nameAt,
        (trees.pathLength[known] ?? 0) - prefixLength,
        cursor.bytes,
        cursor.nameStart,
        length,
      );
      if (order > 0) return -1;
      const after = trees.end[known] ?? 0;
      const parent = trees.parent[known] ?? 0;
      frame.nextKnown = after < (trees.end[parent] ?? 0) ? after : -1;
      if (order === 0) return known;
    }
    return -1;
  }

  /** Takes all of the directory at the frame's cursor from the old index, if that is the same tree; false if it must be read. */
  #take(frame: Frame, known: number, verdict: Verdict): boolean {
    const trees = this.#options.known;
    const tables = this.#tables;
    const { cursor } = frame;
    const oidBytes = this.#oidBytes;
    if (trees?.isKnown[known] !== 1) return false;
    if (!oidEquals(trees.oids, known * oidBytes, cursor.bytes, cursor.oidAt, oidBytes)) return false;
    // A sparse checkout that decides file by file.
    if (verdict !== ALL && verdict !== NONE) return false;
    const { index } = trees;
    const {
      maxDepth = MAX_TREE_DEPTH,
      maxEntries = MAX_ENTRIES,
      maxDirectories = MAX_DIRECTORIES,
      maxPathBytes,
    } = this.#options;
    const first = trees.firstEntry[known] ?? 0;
    const count = trees.entryCount[known] ?? 0;
    const endKnown = trees.end[known] ?? 0;
    const entry = tables.count;
    const pathFrom = index.pathOffsets[first] ?? 0;
    const pathBytes = (index.pathOffsets[first + count] ?? 0) - pathFrom;
    const pathStart = tables.pathOffsets[entry] ?? 0;
    const directory = this.#directories.count;
    // The walk has words for what is beyond a bound.
    if (this.#frames.length + (trees.height[known] ?? 0) > maxDepth) return false;
    if (entry + count > maxEntries || directory + endKnown - known > maxDirectories) return false;
    if (pathStart + pathBytes > MAX_PATH_TABLE_BYTES) return false;
    this.#checkTaken(trees, known);

    while (entry + count > tables.modes.length) growEntries(tables);
    if (pathStart + pathBytes > tables.pathBytes.length) growPaths(tables, pathStart, pathBytes);
    tables.pathBytes.set(index.pathBytes.subarray(pathFrom, pathFrom + pathBytes), pathStart);
    tables.oids.set(index.oids.subarray(first * oidBytes, (first + count) * oidBytes), entry * oidBytes);
    tables.modes.set(index.modes.subarray(first, first + count), entry);
    let files = 0;
    let longest = 0;
    for (let i = 0; i < count; i++) {
      const end = (index.pathOffsets[first + i + 1] ?? 0) - pathFrom + pathStart;
      tables.pathOffsets[entry + i + 1] = end;
      longest = Math.max(longest, end - (tables.pathOffsets[entry + i] ?? 0));
      tables.directories[entry + i] = (trees.directoryOf[first + i] ?? 0) - known + directory;
      const mode = tables.modes[entry + i];
      if (mode !== MODE_SYMLINK && mode !== MODE_GITLINK) files++;
    }
    tables.count = entry + count;

    while (directory + endKnown - known > this.#directories.parent.length) {
      this.#directories = growDirectories(this.#directories);
    }
    const directories = this.#directories;
    for (let from = known, to = directory; from < endKnown; from++, to++) {
      directories.parent[to] = from === known ? frame.directory : (trees.parent[from] ?? 0) - known + directory;
      directories.pathLength[to] = trees.pathLength[from] ?? 0;
      directories.firstEntry[to] = (trees.firstEntry[from] ?? 0) - first + entry;
      directories.entryCount[to] = trees.entryCount[from] ?? 0;
    }
    directories.oids.set(trees.oids.subarray(known * oidBytes, endKnown * oidBytes), directory * oidBytes);
    directories.count = directory + endKnown - known;

    if (verdict === NONE) {
      tables.states.fill(State.SKIPPED, entry, entry + count);
      return true;
    }
    if (longest > maxPathBytes) this.#refuseLength();
    this.#countFiles(files);
    return true;
  }

  /** The names of what is taken are held against the rules of today as those in trees are; the index may be of other times. */
  #checkTaken({ index, ...trees }: KnownTrees, known: number): void {
    const { pathBytes, pathOffsets, modes } = index;
    const { rules } = this.#options;
    const check = (start: number, nameAt: number, end: number, isSymlink: boolean): void => {
      const reason = invalidComponent(pathBytes, nameAt, end, isSymlink, rules);
      if (reason !== null) throw refused(displayBytes(pathBytes.subarray(start, end)), reason);
    };
    const nameOffset = (directory: number): number => {
      const length = trees.pathLength[directory] ?? 0;
      return length === 0 ? 0 : length + 1;
    };
    const end = trees.end[known] ?? 0;
    for (let directory = known + 1; directory < end; directory++) {
      const start = pathOffsets[trees.firstEntry[directory] ?? 0] ?? 0;
      const nameAt = start + nameOffset(trees.parent[directory] ?? 0);
      check(start, nameAt, start + (trees.pathLength[directory] ?? 0), false);
    }
    const first = trees.firstEntry[known] ?? 0;
    const endEntry = first + (trees.entryCount[known] ?? 0);
    for (let entry = first; entry < endEntry; entry++) {
      const start = pathOffsets[entry] ?? 0;
      const pathEnd = pathOffsets[entry + 1] ?? 0;
      const isSymlink = modes[entry] === MODE_SYMLINK;
      check(start, start + nameOffset(trees.directoryOf[entry] ?? 0), pathEnd, isSymlink);
      // Some rules for links look at the whole path.
      if (isSymlink) check(start, start, pathEnd, true);
    }
  }

  #isInside({ verdict, cursor, prefixLength }: Frame, start: number, end: number): boolean {
    if (verdict === ALL) return true;
    if (verdict === NONE) return false;
    const { sparse, hasDirectory } = this.#options;
    const { pathBytes } = this.#tables;
    const isDirectory = cursor.mode === MODE_GITLINK && (hasDirectory?.(pathBytes, start, end) ?? false);
    return sparse?.includes(pathBytes, start, start + prefixLength, end, isDirectory, verdict) ?? true;
  }

  #refuseLength(): void {
    this.#needsGit.add('a path is too long to be opened by its absolute name');
  }

  #checkName(frame: Frame): void {
    const { cursor } = frame;
    const reason = invalidComponent(
      cursor.bytes,
      cursor.nameStart,
      cursor.nameEnd,
      cursor.mode === MODE_SYMLINK,
      this.#options.rules,
    );
    this.#refuse(reason, frame);
  }

  #refuse(reason: string | null, frame: Frame): void {
    if (reason === null) return;
    throw refused(this.#entryDisplay(frame), reason);
  }

  /**
   * Trees must be sorted as git sorts them, names of directories as if they ended in a slash, and no name may occur twice. A
   * file "a" and a directory "a" need not be neighbours ("a.b" sorts between them), so files that are a prefix of their
   * successor are remembered.
   */
  #checkOrder(frame: Frame): void {
    const { cursor } = frame;
    const { bytes, nameStart, nameEnd } = cursor;
    const isTree = cursor.mode === MODE_TREE;
    const { previousStart, previousEnd } = frame;
    if (previousEnd > 0) {
      const previousLength = previousEnd - previousStart;
      const length = nameEnd - nameStart;
      const least = previousLength < length ? previousLength : length;
      let i = 0;
      while (i < least && bytes[previousStart + i] === bytes[nameStart + i]) i++;
      const a = i < previousLength ? (bytes[previousStart + i] ?? 0) : frame.previousIsTree ? SLASH : 0;
      const b = i < length ? (bytes[nameStart + i] ?? 0) : isTree ? SLASH : 0;
      if (a >= b) this.#odd = true;
      if (i === previousLength && !frame.previousIsTree) frame.candidates.push(previousStart, previousEnd);
      if (frame.candidates.length > 0) this.#checkCandidates(frame, isTree);
    }
    frame.previousStart = nameStart;
    frame.previousEnd = nameEnd;
    frame.previousIsTree = isTree;
  }

  #checkCandidates(frame: Frame, isTree: boolean): void {
    const { candidates, cursor } = frame;
    const { bytes, nameStart, nameEnd } = cursor;
    while (candidates.length > 0) {
      const end = candidates[candidates.length - 1] ?? 0;
      const start = candidates[candidates.length - 2] ?? 0;
      const length = end - start;
      let i = 0;
      while (i < length && nameStart + i < nameEnd && bytes[start + i] === bytes[nameStart + i]) i++;
      if (i === length) {
        if (isTree && nameEnd - nameStart === length) this.#odd = true;
        return;
      }
      candidates.length -= 2;
    }
  }

  #extendPrefix(frame: Frame): void {
    const { cursor, prefixLength } = frame;
    const length = prefixLength + (cursor.nameEnd - cursor.nameStart) + 1;
    if (length > this.#prefix.length) {
      const grown = new Uint8Array(length * 2);
      grown.set(this.#prefix);
      this.#prefix = grown;
    }
    this.#prefix.set(cursor.bytes.subarray(cursor.nameStart, cursor.nameEnd), prefixLength);
    this.#prefix[length - 1] = SLASH;
    for (let i = cursor.nameStart; i < cursor.nameEnd; i++) {
      if (cursor.bytes[i] === SLASH) this.#odd = true;
    }
  }

  /** `where` is the directory with its slash, empty for the root. */
  #invalidTree(where: string, how: string): CheckoutError {
    const path = where === '' ? '.' : where;
    return new CheckoutError('tree-invalid', `the ${where === '' ? 'root tree' : `tree of '${where}'`} ${how}`, {
      path,
    });
  }

  #directoryDisplay(frame: Frame): string {
    return displayBytes(this.#prefix.subarray(0, frame.prefixLength));
  }

  #entryDisplay(frame: Frame): string {
    const { cursor } = frame;
    return this.#directoryDisplay(frame) + displayBytes(cursor.bytes.subarray(cursor.nameStart, cursor.nameEnd));
  }
}

function refused(path: string, reason: string): CheckoutError {
  return new CheckoutError('path-invalid', `refusing to check out '${path}': ${reason}`, { path });
}

/** Order of two names of directories as trees have it, each as if it ended in a slash. */
function compareDirectoryNames(
  a: Bytes,
  aStart: number,
  aLength: number,
  b: Bytes,
  bStart: number,
  bLength: number,
): number {
  const least = aLength < bLength ? aLength : bLength;
  for (let i = 0; i < least; i++) {
    const order = (a[aStart + i] ?? 0) - (b[bStart + i] ?? 0);
    if (order !== 0) return order;
  }
  if (aLength === bLength) return 0;
  return aLength < bLength ? SLASH - (b[bStart + least] ?? 0) : (a[aStart + least] ?? 0) - SLASH;
}

/** Room for so many directories; none is in it. */
export function newDirectories(capacity: number, format: ObjectFormat): Directories {
  return {
    format,
    count: 0,
    parent: new Int32Array(capacity),
    pathLength: new Uint32Array(capacity),
    firstEntry: new Uint32Array(capacity),
    entryCount: new Uint32Array(capacity),
    irregular: new Uint8Array(capacity),
    oids: new Uint8Array(capacity * format.oidBytes),
  };
}

/** The same directories with room for as many more. */
export function growDirectories(directories: Directories): Directories {
  const grown = newDirectories(directories.parent.length * 2, directories.format);
  grown.count = directories.count;
  grown.parent.set(directories.parent);
  grown.pathLength.set(directories.pathLength);
  grown.firstEntry.set(directories.firstEntry);
  grown.entryCount.set(directories.entryCount);
  grown.irregular.set(directories.irregular);
  grown.oids.set(directories.oids);
  return grown;
}
