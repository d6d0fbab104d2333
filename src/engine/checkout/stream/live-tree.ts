/**
 * The working tree as far as the stream has told of it. A server sends a tree before what is in it, but not all trees before all files, so the
 * entries that are wanted grow while files are already being written. Directories are made as their trees come.
 *
 * Nothing here has the last word. What is odd, too much or not known in time is left out, and the ordinary checkout that
 * follows finds it, with all its checks.
 */
import { mkdirSync } from 'node:fs';
import type { AttributeStack } from '../../attributes/attribute-stack.ts';
import { parseAttributes, type AttributeRules } from '../../attributes/gitattributes.ts';
import { bufferOver, type Bytes } from '../../bytes.ts';
import { errnoOf } from '../../errors.ts';
import type { ConversionTable } from '../../filter/conversion.ts';
import { invalidComponent, type PathRules } from '../../object/path-validity.ts';
import { MODE_GITLINK, MODE_SYMLINK, MODE_TREE, TreeCursor } from '../../object/tree.ts';
import type { WorktreePaths } from '../../worktree/paths.ts';
import { State, type Tables } from '../tables.ts';
import { conversionCode, type StreamShare, UNKNOWN_CONVERSION } from './share.ts';
import { addWanted } from './wanted.ts';

const ATTRIBUTES_NAME = Buffer.from('.gitattributes');
/** Trees and attribute files that are kept, for directories that have the same. Linux has 3.5 MB of them. */
const MOST_KEPT_BYTES = 32 << 20;
/** Attribute files that are looked for among the blobs, each of which is hashed for that. */
export const MOST_ATTRIBUTES_BYTES = 64 << 10;
/** Of directories, all together: one tree can name very many, of which each has the same one below. Linux has 2.5 MB of them. */
const MOST_DIRECTORY_BYTES = 96 << 20;
/** What one takes, beside its path as bytes and as a key: an object of ten fields, its path's view, its place in maps and lists. */
const DIRECTORY_BYTES = 400;
/** core.maxTreeDepth's default in git 2.44 and later. */
const MOST_DEPTH = 2048;

/** A directory whose tree has come, or is to come. */
export interface LiveDirectory {
  readonly parent: LiveDirectory | null;
  readonly depth: number;
  /** With the slash behind it; empty for the root. */
  readonly path: Buffer;
  readonly children: LiveDirectory[];
  /** Its entries are [firstEntry, endEntry) of the tables. */
  firstEntry: number;
  endEntry: number;
  rules: AttributeRules | null;
  /** Its attributes have not come. */
  awaits: boolean;
  made: 'no' | 'yes' | 'failed';
}

export interface LiveTreeFacts {
  readonly tables: Tables;
  readonly share: StreamShare;
  readonly paths: WorktreePaths;
  readonly rules: PathRules;
  readonly maxPathBytes: number;
  /** Rules from outside of the working tree; nothing entered. */
  readonly stack: AttributeStack;
  readonly conversions: ConversionTable;
}

/** An id as a key: bytes one to one. */
function keyOf(oids: Bytes, at: number, oidBytes: number): string {
  return bufferOver(oids, at, at + oidBytes).toString('latin1');
}

export class LiveTree {
  /** By path with its slash. */
  readonly directories = new Map<string, LiveDirectory>();
  readonly #facts: LiveTreeFacts;
  readonly #oidBytes: number;
  readonly #trees = new Map<string, Bytes>();
  /** Directories whose tree has not come, by its id. */
  readonly #pending = new Map<string, LiveDirectory[]>();
  readonly #attributes = new Map<string, Bytes>();
  /** Directories whose attributes have not come, by the id of the blob. */
  readonly #awaited = new Map<string, LiveDirectory[]>();
  #keptBytes = 0;
  #directoryBytes = 0;
  #stopped = false;
  /** What the stack has entered: the root, and those below that have rules. */
  readonly #entered: LiveDirectory[] = [];

  constructor(facts: LiveTreeFacts) {
    this.#facts = facts;
    this.#oidBytes = facts.tables.format.oidBytes;
  }

  /** Whether a blob that comes may be an attribute file that is waited for. */
  get awaitsAttributes(): boolean {
    return this.#awaited.size > 0;
  }

  /** The commit has come: this is its tree. */
  begin(oid: Bytes): void {
    if (this.directories.size > 0) return;
    const root = newDirectory(null, Buffer.alloc(0));
    root.made = 'yes';
    this.#want(root, keyOf(oid, 0, this.#oidBytes));
  }

  /** A tree has come. `content` must not change any more. */
  addTree(oids: Bytes, oidAt: number, content: Bytes): void {
    const key = keyOf(oids, oidAt, this.#oidBytes);
    if (this.#trees.has(key) || !this.#keep(content.length)) return;
    this.#trees.set(key, content);
    const pending = this.#pending.get(key);
    if (pending === undefined) return;
    this.#pending.delete(key);
    for (const directory of pending) this.#expand(directory, content);
  }

  /** A small blob has come; whether it was waited for does not matter. */
  offerBlob(oids: Bytes, oidAt: number, content: Bytes): void {
    const key = keyOf(oids, oidAt, this.#oidBytes);
    const waiting = this.#awaited.get(key);
    if (waiting === undefined || !this.#keep(content.length)) return;
    this.#awaited.delete(key);
    const copy = Uint8Array.from(content);
    this.#attributes.set(key, copy);
    for (const directory of waiting) {
      setRules(directory, copy);
      this.#convertBelow(directory);
    }
  }

  #keep(bytes: number): boolean {
    this.#keptBytes += bytes;
    if (this.#keptBytes > MOST_KEPT_BYTES) this.#stopped = true;
    return !this.#stopped;
  }

  /** The directory's tree is needed: now, if it has come. */
  #want(directory: LiveDirectory, key: string): void {
    const queue: [LiveDirectory, string][] = [[directory, key]];
    for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
      const [wanted, treeKey] = next;
      if (this.#stopped) return;
      const content = this.#trees.get(treeKey);
      if (content === undefined) {
        const pending = this.#pending.get(treeKey);
        if (pending === undefined) this.#pending.set(treeKey, [wanted]);
        else pending.push(wanted);
      } else {
        this.#expandInto(wanted, content, queue);
      }
    }
  }

  #expand(directory: LiveDirectory, content: Bytes): void {
    const queue: [LiveDirectory, string][] = [];
    this.#expandInto(directory, content, queue);
    for (const [child, key] of queue.reverse()) this.#want(child, key);
  }

  /** Adds a directory's entries; its subdirectories go to `queue`. */
  #expandInto(directory: LiveDirectory, content: Bytes, queue: [LiveDirectory, string][]): void {
    const { tables, share, rules, maxPathBytes } = this.#facts;
    const oidBytes = this.#oidBytes;
    const { path } = directory;
    const key = path.toString('latin1');
    // A name twice, or too much of everything: the ordinary checkout has its rules for that.
    if (this.#stopped || this.directories.has(key) || directory.depth > MOST_DEPTH) {
      this.#stop();
      return;
    }
    if (this.directories.size >= share.objects.count + 1000) {
      this.#stop();
      return;
    }
    this.directories.set(key, directory);
    directory.firstEntry = directory.endEntry = tables.count;
    const cursor = new TreeCursor(content, oidBytes);
    let found: number;
    while ((found = cursor.next()) === 1) {
      const { bytes, nameStart, nameEnd, mode, oidAt } = cursor;
      if (invalidComponent(bytes, nameStart, nameEnd, mode === MODE_SYMLINK, rules) !== null) {
        this.#stop();
        return;
      }
      // Within the name only: what comes behind it may have none up to its end, and there may be very much of it.
      if (bytes.subarray(nameStart, nameEnd).includes(SLASH_BYTE)) {
        this.#stop();
        return;
      }
      if (mode === MODE_GITLINK || mode === MODE_SYMLINK) continue;
      if (mode === MODE_TREE) {
        const pathLength = path.length + nameEnd - nameStart + 1;
        this.#directoryBytes += DIRECTORY_BYTES + 2 * pathLength;
        if (pathLength > maxPathBytes || this.#directoryBytes > MOST_DIRECTORY_BYTES) {
          this.#stop();
          return;
        }
        const childPath = Buffer.concat([path, bytes.subarray(nameStart, nameEnd), SLASH]);
        const child = newDirectory(directory, childPath);
        directory.children.push(child);
        queue.push([child, keyOf(bytes, oidAt, oidBytes)]);
        continue;
      }
      if (bufferOver(bytes, nameStart, nameEnd).equals(ATTRIBUTES_NAME)) this.#awaitAttributes(directory, bytes, oidAt);
      const entry = tables.count;
      const start = tables.pathOffsets[entry] ?? 0;
      const end = start + path.length + nameEnd - nameStart;
      if (entry >= tables.modes.length || end > tables.pathBytes.length || end - start > maxPathBytes) {
        this.#stop();
        return;
      }
      tables.pathBytes.set(path, start);
      tables.pathBytes.set(bytes.subarray(nameStart, nameEnd), start + path.length);
      tables.pathOffsets[entry + 1] = end;
      tables.oids.set(bytes.subarray(oidAt, oidAt + oidBytes), entry * oidBytes);
      tables.modes[entry] = mode;
      tables.states[entry] = State.PENDING;
      tables.conversions[entry] = UNKNOWN_CONVERSION;
      tables.count = entry + 1;
      directory.endEntry = tables.count;
    }
    if (found < 0) {
      this.#stop();
      return;
    }
    if (directory.firstEntry === directory.endEntry || !this.#make(directory)) return;
    if (isKnown(directory)) this.#convert(directory);
    for (let entry = directory.firstEntry; entry < directory.endEntry; entry++) addWanted(share, tables, entry);
  }

  #stop(): void {
    this.#stopped = true;
  }

  /** Makes a directory and those above it; false where something is in the way. */
  #make(directory: LiveDirectory): boolean {
    const chain: LiveDirectory[] = [];
    for (let at: LiveDirectory | null = directory; at !== null && at.made === 'no'; at = at.parent) chain.push(at);
    for (const each of chain.reverse()) {
      each.made = 'failed';
      if (each.parent?.made === 'failed') continue;
      try {
        mkdirSync(this.#facts.paths.absolute(each.path, 0, each.path.length - 1));
        each.made = 'yes';
      } catch (error) {
        // Whatever it is, the ordinary checkout meets it again, and tells.
        if (errnoOf(error) === undefined) throw error;
      }
    }
    return directory.made === 'yes';
  }

  #awaitAttributes(directory: LiveDirectory, oids: Bytes, oidAt: number): void {
    const key = keyOf(oids, oidAt, this.#oidBytes);
    const content = this.#attributes.get(key);
    if (content !== undefined) {
      setRules(directory, content);
      return;
    }
    directory.awaits = true;
    const waiting = this.#awaited.get(key);
    if (waiting === undefined) this.#awaited.set(key, [directory]);
    else waiting.push(directory);
  }

  /** Attributes have come: finds the conversions of all below that have waited for nothing else. */
  #convertBelow(directory: LiveDirectory): void {
    if (!isKnown(directory)) return;
    const open = [directory];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      this.#convert(next);
      for (const child of next.children) if (!child.awaits) open.push(child);
    }
  }

  #convert(directory: LiveDirectory): void {
    const { tables, share, stack, conversions } = this.#facts;
    this.#enter(directory);
    for (let entry = directory.firstEntry; entry < directory.endEntry; entry++) {
      const set = stack.resolve(tables.pathBytes, tables.pathOffsets[entry] ?? 0, tables.pathOffsets[entry + 1] ?? 0);
      const number = conversions.fromAttributes(set);
      const conversion = conversions.conversions[number];
      if (number >= UNKNOWN_CONVERSION || conversion === undefined) continue;
      share.conversionCodes[number] = conversionCode(conversion);
      tables.conversions[entry] = number;
    }
  }

  /** Brings the stack to a directory. */
  #enter(directory: LiveDirectory): void {
    const { stack } = this.#facts;
    const wanted: LiveDirectory[] = [];
    for (let at: LiveDirectory | null = directory; at !== null; at = at.parent) {
      if (at.parent === null || at.rules !== null) wanted.push(at);
    }
    wanted.reverse();
    let common = 0;
    while (common < this.#entered.length && this.#entered[common] === wanted[common]) common++;
    while (this.#entered.length > common) {
      stack.leaveDirectory();
      this.#entered.pop();
    }
    for (const each of wanted.slice(common)) {
      stack.enterDirectory(each.rules, each.path.length);
      this.#entered.push(each);
    }
  }
}

const SLASH_BYTE = 0x2f;
const SLASH = Buffer.from([SLASH_BYTE]);

function newDirectory(parent: LiveDirectory | null, path: Buffer): LiveDirectory {
  return {
    parent,
    depth: parent === null ? 0 : parent.depth + 1,
    path,
    children: [],
    firstEntry: 0,
    endEntry: 0,
    rules: null,
    awaits: false,
    made: 'no',
  };
}

function setRules(directory: LiveDirectory, content: Bytes): void {
  directory.awaits = false;
  directory.rules = parseAttributes(content, { fromBlob: true, macros: directory.parent === null });
}

/** Whether all attributes that files of the directory may have are known. */
function isKnown(directory: LiveDirectory): boolean {
  for (let at: LiveDirectory | null = directory; at !== null; at = at.parent) if (at.awaits) return false;
  return true;
}
