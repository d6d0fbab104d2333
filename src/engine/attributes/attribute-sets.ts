/**
 * Gives each distinct combination of the six attributes that conversion looks at a small number, so that a path's
 * attributes are one integer. A repository has a handful of combinations; looking one up allocates nothing.
 */
import type { AttributeValue } from './gitattributes.ts';

/** The attributes that decide how a blob becomes a file, in the order of a set's words. */
export const CONVERSION_ATTRIBUTES = ['text', 'crlf', 'eol', 'ident', 'filter', 'working-tree-encoding'] as const;

/** Values of the conversion attributes of a path; null is unspecified. */
export interface AttributeSet {
  readonly text: AttributeValue;
  readonly crlf: AttributeValue;
  readonly eol: AttributeValue;
  readonly ident: AttributeValue;
  readonly filter: AttributeValue;
  readonly workingTreeEncoding: AttributeValue;
}

/** The set in which nothing is specified. */
export const NO_ATTRIBUTES = 0;

const WORDS = CONVERSION_ATTRIBUTES.length;
const FIRST_SLOTS = 64;

/** The interned sets and values of a run. */
export class AttributeSets {
  readonly #values: AttributeValue[] = [null, true, false];
  readonly #valueIds = new Map<string, number>();
  readonly #sets: AttributeSet[] = [];
  // Open addressing: a slot holds 1 + the id of a set whose words are at id * WORDS.
  #words = new Int32Array(FIRST_SLOTS * WORDS);
  #slots = new Int32Array(FIRST_SLOTS);

  constructor() {
    this.find(new Int32Array(WORDS));
  }

  /** Number of sets so far; ids are 0 to count - 1. */
  get count(): number {
    return this.#sets.length;
  }

  /** The set of an id that `find` gave. */
  get(id: number): AttributeSet {
    const set = this.#sets[id];
    if (set === undefined) throw new RangeError(`no attribute set ${id}`);
    return set;
  }

  /** A small number for a value; 0 is unspecified. */
  valueId(value: AttributeValue): number {
    if (value === null) return 0;
    if (typeof value === 'boolean') return value ? 1 : 2;
    let id = this.#valueIds.get(value);
    if (id === undefined) {
      id = this.#values.length;
      this.#values.push(value);
      this.#valueIds.set(value, id);
    }
    return id;
  }

  /** The id of the set whose value ids are the first words of `words`, in the order of CONVERSION_ATTRIBUTES. */
  find(words: Int32Array): number {
    let hash = 0;
    for (let i = 0; i < WORDS; i++) hash = (Math.imul(hash, 31) + words[i]!) | 0;
    const mask = this.#slots.length - 1;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const entry = this.#slots[slot]!;
      if (entry === 0) return this.#add(words, slot);
      const base = (entry - 1) * WORDS;
      let i = 0;
      while (i < WORDS && this.#words[base + i] === words[i]) i++;
      if (i === WORDS) return entry - 1;
    }
  }

  #add(words: Int32Array, slot: number): number {
    const id = this.#sets.length;
    this.#words.set(words.subarray(0, WORDS), id * WORDS);
    this.#slots[slot] = id + 1;
    const value = (word: number): AttributeValue => this.#values[words[word]!]!;
    this.#sets.push({
      text: value(0),
      crlf: value(1),
      eol: value(2),
      ident: value(3),
      filter: value(4),
      workingTreeEncoding: value(5),
    });
    if (2 * this.#sets.length > this.#slots.length) this.#grow();
    return id;
  }

  #grow(): void {
    const slots = this.#slots.length * 2;
    const words = new Int32Array(slots * WORDS);
    words.set(this.#words);
    this.#words = words;
    this.#slots = new Int32Array(slots);
    for (let id = 0; id < this.#sets.length; id++) {
      let hash = 0;
      for (let i = 0; i < WORDS; i++) hash = (Math.imul(hash, 31) + words[id * WORDS + i]!) | 0;
      let slot = hash & (slots - 1);
      while (this.#slots[slot] !== 0) slot = (slot + 1) & (slots - 1);
      this.#slots[slot] = id + 1;
    }
  }
}
