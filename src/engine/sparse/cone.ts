/**
 * Sparse checkout by directories (cone mode). The file then holds only patterns of a few forms, which name directories:
 * those that are there with all below them, and their parents, of which only the files are there. A single pattern of
 * another form ends cone mode for the whole file.
 *
 * Which forms are taken, and what odd ones mean, follows git step by step, quirks included: a file is in if its own name
 * is that of a directory with all below it, and a directory is looked into only if it is at the top, in a parent, or
 * named itself.
 */
import { displayBytes, type Bytes } from '../bytes.ts';
import { foldByte } from '../attributes/wildmatch.ts';
import { ALL, NONE, type SparseMatcher, type Verdict } from './matcher.ts';
import type { SparsePattern } from './pattern-file.ts';

export type ConeResult =
  | { readonly matcher: SparseMatcher; readonly warnings: readonly string[] }
  /** The patterns do not fit. */
  | { readonly matcher: null; readonly warnings: readonly string[] };

/** A directory that the patterns name, or one on the way to it. */
interface Node {
  /** All below it is in. */
  recursive: boolean;
  /** The files directly in it are in. */
  parent: boolean;
  /** By name, folded where case does not count; a byte string. */
  readonly children: Map<string, Node>;
}

const SLASH = 0x2f;
const BACKSLASH = 0x5c;
const ASTERISK = 0x2a;

/** Reads the patterns as a cone; without a matcher where they are none. */
export function coneOf(patterns: readonly SparsePattern[], ignoreCase: boolean): ConeResult {
  const cone = new ConeReader(ignoreCase);
  for (const pattern of patterns) {
    const objection = cone.add(pattern);
    if (objection !== null) return { matcher: null, warnings: [objection, 'disabling cone pattern matching'] };
  }
  return { matcher: cone.matcher(), warnings: [] };
}

class ConeReader {
  /** Paths with a slash in front, as byte strings; how often each was named and not yet taken back. */
  readonly #recursive = new Map<string, number>();
  readonly #parents = new Set<string>();
  /** The last of `/*` and its opposite counts. */
  #everything = false;
  readonly #ignoreCase: boolean;

  constructor(ignoreCase: boolean) {
    this.#ignoreCase = ignoreCase;
  }

  /** Takes the next pattern of the file; returns why it fits no cone, or null. */
  add({ pattern, negative, mustBeDirectory }: SparsePattern): string | null {
    const rootFiles = pattern.length === 2 && pattern[0] === SLASH && pattern[1] === ASTERISK;
    if (rootFiles && negative && mustBeDirectory) {
      this.#everything = false;
      return null;
    }
    if (rootFiles && !negative && !mustBeDirectory) {
      this.#everything = true;
      return null;
    }
    const shown = displayBytes(pattern);
    if ((!mustBeDirectory && !rootFiles) || !isConePath(pattern)) return `unrecognized pattern: '${shown}'`;
    const path = this.#pathOf(pattern);
    const last = pattern.length - 1;
    if (pattern.length > 2 && pattern[last] === ASTERISK && pattern[last - 1] === SLASH) {
      if (!negative) return `unrecognized pattern: '${shown}'`;
      const named = this.#recursive.get(path) ?? 0;
      if (named === 0) return `unrecognized negative pattern: '${shown}'`;
      this.#parents.add(path);
      this.#recursive.set(path, named - 1);
      return null;
    }
    if (negative) return `unrecognized negative pattern: '${shown}'`;
    this.#recursive.set(path, (this.#recursive.get(path) ?? 0) + 1);
    if (this.#parents.has(path)) {
      return `your sparse-checkout file may have issues: pattern '${shown}' is repeated`;
    }
    return null;
  }

  matcher(): SparseMatcher {
    if (this.#everything) return coneMatcher({ recursive: true, parent: true, children: new Map() }, this.#ignoreCase);
    const root: Node = { recursive: false, parent: true, children: new Map() };
    for (const [path, named] of this.#recursive) if (named > 0) nodeOf(root, path).recursive = true;
    for (const path of this.#parents) nodeOf(root, path).parent = true;
    return coneMatcher(root, this.#ignoreCase);
  }

  /** The path that a pattern stands for: escapes taken off, then a slash and asterisk at the end. */
  #pathOf(pattern: Bytes): string {
    const path: number[] = [];
    for (let at = 0; at < pattern.length; at++) {
      if (pattern[at] === BACKSLASH) at++;
      const byte = pattern[at];
      if (byte !== undefined) path.push(this.#ignoreCase ? foldByte(byte) : byte);
    }
    if (path.length > 2 && path.at(-1) === ASTERISK && path.at(-2) === SLASH) path.length -= 2;
    return Buffer.from(path).toString('latin1');
  }
}

/** Whether the pattern is a path from the top without wildcards but for an asterisk after its last slash. */
function isConePath(pattern: Bytes): boolean {
  if (pattern.length < 2 || pattern[0] !== SLASH) return false;
  for (let at = 1; at < pattern.length; at++) {
    const byte = pattern[at] ?? 0;
    const previous = pattern[at - 1];
    const next = pattern[at + 1];
    if (byte === ASTERISK && next === ASTERISK) return false;
    if (!isGlobSpecial(byte) || previous === BACKSLASH) continue;
    if (byte === BACKSLASH && next !== undefined && isGlobSpecial(next)) continue;
    if (byte === ASTERISK && previous === SLASH && next === undefined) continue;
    return false;
  }
  return true;
}

/** Asterisk, question mark, opening bracket, backslash. */
function isGlobSpecial(byte: number): boolean {
  return byte === ASTERISK || byte === 0x3f || byte === 0x5b || byte === BACKSLASH;
}

function nodeOf(root: Node, path: string): Node {
  let node = root;
  for (const name of path.slice(1).split('/')) {
    let child = node.children.get(name);
    if (child === undefined)
      node.children.set(name, (child = { recursive: false, parent: false, children: new Map() }));
    node = child;
  }
  return node;
}

function coneMatcher(root: Node, ignoreCase: boolean): SparseMatcher {
  /** Nodes by verdict, for directories that are not decided as a whole. */
  const nodes: Node[] = [root];
  const numbers = new Map<Node, number>([[root, 0]]);
  const childNamed = (node: Node, path: Bytes, name: number, end: number): Node | undefined => {
    // Most directories have no named ones in them, and their entries need no name.
    if (node.children.size === 0) return undefined;
    let key = '';
    for (let at = name; at < end; at++) {
      const byte = path[at] ?? 0;
      key += String.fromCharCode(ignoreCase ? foldByte(byte) : byte);
    }
    return node.children.get(key);
  };
  return {
    root: root.recursive ? ALL : 0,
    directory(path, name, end, parent): Verdict {
      const node = nodes[parent];
      if (node === undefined) return NONE;
      const child = childNamed(node, path, name, end);
      if (child?.recursive === true) return ALL;
      if (child === undefined || !node.parent) return NONE;
      let number = numbers.get(child);
      if (number === undefined) {
        number = nodes.push(child) - 1;
        numbers.set(child, number);
      }
      return number;
    },
    includes(path, _start, name, end, _isDirectory, parent): boolean {
      const node = nodes[parent];
      if (node === undefined) return false;
      return node.parent || childNamed(node, path, name, end)?.recursive === true;
    },
  };
}
