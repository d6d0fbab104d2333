/**
 * Answers which conversion attributes a path has, while a checkout walks the tree in index order. The gitattributes files
 * that apply lie on a stack, highest first: info/attributes, the file of the path's own directory, of its parents up to
 * the root, the user's global file, the system's, and git's built-in macro. For each attribute the first file that
 * decides it wins, and in a file its last matching line.
 *
 * Most lines of most repositories say nothing about conversion (Linux has only `diff=` lines). Such lines are left out
 * when a file is entered, so that paths to which none applies cost next to nothing. An attribute matters when it is one
 * of the six, or a macro that leads to one of them.
 */
import type { Bytes } from '../bytes.ts';
import { AttributeSets, CONVERSION_ATTRIBUTES, NO_ATTRIBUTES } from './attribute-sets.ts';
import type { Assignment, AttributeRules, AttributeValue } from './gitattributes.ts';
import { compilePattern, matchPattern } from './pattern.ts';
import type { Pattern } from './pattern.ts';
import { foldByte } from './wildmatch.ts';

export interface AttributeSources {
  /** $GIT_COMMON_DIR/info/attributes. */
  readonly info: AttributeRules | null;
  /** core.attributesFile. */
  readonly global: AttributeRules | null;
  /** $(prefix)/etc/gitattributes. */
  readonly system: AttributeRules | null;
  /** core.ignoreCase. */
  readonly ignoreCase: boolean;
  /** Where to intern sets; a new one when left out. */
  readonly sets?: AttributeSets;
}

const SLASH = 0x2f;
const SLOTS = CONVERSION_ATTRIBUTES.length;

/** Frames with more rules than this are indexed by the last byte of the path. */
const INDEXED_FROM = 8;

const BINARY_MACRO: readonly Assignment[] = [
  { name: 'diff', value: false },
  { name: 'merge', value: false },
  { name: 'text', value: false },
];

/** Consecutive (slot, value id + 1) pairs, most important first: what a rule or a macro sets. */
interface Program {
  readonly start: number;
  readonly end: number;
}

/** A gitattributes file with its live rules, most important first. */
interface Frame {
  readonly patterns: readonly Pattern[];
  readonly programs: readonly Program[];
  /** By last byte of a path, the rules that can match; null where all are tried. */
  readonly byLastByte: readonly (readonly number[])[] | null;
}

interface OpenDirectory {
  readonly rules: AttributeRules | null;
  readonly pathLength: number;
  frame: Frame | null;
}

const NO_RULES: AttributeRules = { rules: [], macros: new Map() };

export class AttributeStack {
  /** The sets that `resolve` gives ids of. */
  readonly sets: AttributeSets;
  readonly #sources: AttributeSources;
  readonly #directories: OpenDirectory[] = [];
  /** Directories of the stack that have live rules. */
  #liveDirectories = 0;
  #info: Frame | null = null;
  #global: Frame | null = null;
  #system: Frame | null = null;

  // The macros in force, as of the root directory's file. Slots of live attributes: first the six, then the macros.
  #slots = new Map<string, number>();
  /** By slot, what the attribute expands to when it is set. */
  #expansions: (Program | null)[] = [];
  /** The pairs of all programs. */
  #pairs: number[] = [];
  #compiled = new WeakMap<AttributeRules, Frame>();

  // State of one resolution, kept to allocate nothing: by slot 0 while undecided, else 1 + value id.
  #decided = new Int32Array(SLOTS);
  readonly #words = new Int32Array(SLOTS);
  #undecided = 0;
  #pending: Program[] = [];
  #pendingAt: number[] = [];

  constructor(sources: AttributeSources) {
    this.#sources = sources;
    this.sets = sources.sets ?? new AttributeSets();
    this.#setMacros(null);
  }

  /**
   * Goes into a directory: the root first, then one below the directory entered last. `rules` are what its
   * .gitattributes says, null without one. `pathLength` is the length in bytes of the directory's path with its trailing
   * slash: 0 for the root, 4 for `src/`. Directories without a file need not be entered.
   */
  enterDirectory(rules: AttributeRules | null, pathLength: number): void {
    if (pathLength === 0) this.#setMacros(rules);
    const frame = rules === null ? null : this.#compile(rules);
    this.#directories.push({ rules, pathLength, frame });
    if (frame !== null) this.#liveDirectories++;
  }

  /** Leaves the directory entered last. */
  leaveDirectory(): void {
    const left = this.#directories.pop();
    if (left === undefined) throw new RangeError('no directory to leave');
    if (left.frame !== null) this.#liveDirectories--;
    if (left.pathLength === 0) this.#setMacros(null);
  }

  /**
   * The attributes of the file whose path, from the root of the working tree, is `path[start, end)`: the id of a set in
   * `sets`. The file must lie in the directory entered last, or below it where no gitattributes file intervenes.
   */
  resolve(path: Bytes, start: number, end: number): number {
    if (this.#liveDirectories === 0 && this.#info === null && this.#global === null && this.#system === null) {
      return NO_ATTRIBUTES;
    }
    let name = end;
    while (name > start && path[name - 1] !== SLASH) name--;

    this.#decided.fill(0);
    this.#undecided = SLOTS;
    if (this.#info !== null) this.#apply(this.#info, path, start, name, end);
    if (this.#liveDirectories > 0) {
      for (let i = this.#directories.length - 1; i >= 0 && this.#undecided > 0; i--) {
        const directory = this.#directories[i]!;
        if (directory.frame !== null) this.#apply(directory.frame, path, start + directory.pathLength, name, end);
      }
    }
    if (this.#global !== null) this.#apply(this.#global, path, start, name, end);
    if (this.#system !== null) this.#apply(this.#system, path, start, name, end);

    if (this.#undecided === SLOTS) return NO_ATTRIBUTES;
    const words = this.#words;
    for (let i = 0; i < SLOTS; i++) {
      const decided = this.#decided[i]!;
      words[i] = decided === 0 ? 0 : decided - 1;
    }
    return this.sets.find(words);
  }

  #apply(frame: Frame, path: Bytes, base: number, name: number, end: number): void {
    const { patterns, programs } = frame;
    if (frame.byLastByte === null) {
      for (let i = 0; i < patterns.length && this.#undecided > 0; i++) {
        if (matchPattern(patterns[i]!, path, base, name, end)) this.#run(programs[i]!);
      }
      return;
    }
    const candidates = frame.byLastByte[path[end - 1]!]!;
    for (let i = 0; i < candidates.length && this.#undecided > 0; i++) {
      const rule = candidates[i]!;
      if (matchPattern(patterns[rule]!, path, base, name, end)) this.#run(programs[rule]!);
    }
  }

  /**
   * Decides what is still undecided by a program. A macro that becomes set is expanded at once, before the program's
   * less important pairs; a chain of macros can be as long as a file, so the way back is kept here, not on the call stack.
   */
  #run(program: Program): void {
    const pairs = this.#pairs;
    const decided = this.#decided;
    let depth = 0;
    let { start: at, end } = program;
    for (;;) {
      while (at < end) {
        const slot = pairs[at]!;
        const value = pairs[at + 1]!;
        at += 2;
        if (decided[slot] !== 0) continue;
        decided[slot] = value;
        if (slot < SLOTS && --this.#undecided === 0) return;
        const expansion = value === SET ? this.#expansions[slot]! : null;
        if (expansion !== null) {
          if (at < end) {
            this.#pending[depth] = program;
            this.#pendingAt[depth++] = at;
          }
          program = expansion;
          at = program.start;
          end = program.end;
        }
      }
      if (depth === 0) return;
      program = this.#pending[--depth]!;
      at = this.#pendingAt[depth]!;
      end = program.end;
    }
  }

  /** Takes up the macros of all sources together with those of the root directory's file, and compiles by them. */
  #setMacros(root: AttributeRules | null): void {
    const { info, global, system } = this.#sources;
    const macros = new Map<string, readonly Assignment[]>([['binary', BINARY_MACRO]]);
    for (const source of [system, global, root, info]) {
      source?.macros.forEach((assignments, name) => macros.set(name, assignments));
    }

    this.#slots = liveSlots(macros);
    this.#pairs = [];
    this.#compiled = new WeakMap();
    this.#expansions = [];
    for (const name of this.#slots.keys()) {
      const macro = macros.get(name);
      const program = macro === undefined ? null : this.#program(macro);
      this.#expansions.push(program);
    }
    this.#decided = new Int32Array(this.#slots.size);

    this.#info = this.#compile(info ?? NO_RULES);
    this.#global = this.#compile(global ?? NO_RULES);
    this.#system = this.#compile(system ?? NO_RULES);
    this.#liveDirectories = 0;
    for (const directory of this.#directories) {
      directory.frame = directory.rules === null ? null : this.#compile(directory.rules);
      if (directory.frame !== null) this.#liveDirectories++;
    }
  }

  /** The frame of a file's live rules; null when there are none. */
  #compile(rules: AttributeRules): Frame | null {
    if (rules.rules.length === 0) return null;
    const known = this.#compiled.get(rules);
    if (known !== undefined) return known.patterns.length === 0 ? null : known;
    const patterns: Pattern[] = [];
    const programs: Program[] = [];
    for (let i = rules.rules.length - 1; i >= 0; i--) {
      const rule = rules.rules[i]!;
      const program = this.#program(rule.assignments);
      if (program === null) continue;
      const pattern = compilePattern(rule.pattern, this.#sources.ignoreCase);
      if (pattern === null) continue;
      patterns.push(pattern);
      programs.push(program);
    }
    const byLastByte = patterns.length > INDEXED_FROM ? indexByLastByte(patterns) : null;
    const frame = { patterns, programs, byLastByte };
    this.#compiled.set(rules, frame);
    return patterns.length === 0 ? null : frame;
  }

  /** Appends the live assignments, last written first; null when there are none. */
  #program(assignments: readonly Assignment[]): Program | null {
    const start = this.#pairs.length;
    for (let i = assignments.length - 1; i >= 0; i--) {
      const { name, value } = assignments[i]!;
      const slot = this.#slots.get(name);
      if (slot !== undefined) this.#pairs.push(slot, this.#wordOf(value));
    }
    return this.#pairs.length === start ? null : { start, end: this.#pairs.length };
  }

  #wordOf(value: AttributeValue): number {
    return this.sets.valueId(value) + 1;
  }
}

/** What a program holds for `true`: 1 + the id of the value. */
const SET = 2;

/** Numbers the six attributes and every macro that leads to one of them. */
function liveSlots(macros: ReadonlyMap<string, readonly Assignment[]>): Map<string, number> {
  const slots = new Map<string, number>();
  for (const name of CONVERSION_ATTRIBUTES) slots.set(name, slots.size);
  const usedBy = new Map<string, string[]>();
  macros.forEach((assignments, macro) => {
    for (const { name } of assignments) {
      const users = usedBy.get(name);
      if (users === undefined) usedBy.set(name, [macro]);
      else users.push(macro);
    }
  });
  // A map is walked in the order of insertion, entries added on the way included.
  for (const name of slots.keys()) {
    for (const macro of usedBy.get(name) ?? []) if (!slots.has(macro)) slots.set(macro, slots.size);
  }
  return slots;
}

function indexByLastByte(patterns: readonly Pattern[]): number[][] {
  const any: number[] = [];
  const lists = new Map<number, number[]>();
  patterns.forEach((pattern, index) => {
    if (pattern.lastByte < 0) {
      any.push(index);
      for (const list of lists.values()) list.push(index);
      return;
    }
    const list = lists.get(pattern.lastByte);
    if (list === undefined) lists.set(pattern.lastByte, [...any, index]);
    else list.push(index);
  });
  const fold = patterns[0]!.fold;
  return Array.from({ length: 256 }, (_, byte) => lists.get(fold ? foldByte(byte) : byte) ?? any);
}
