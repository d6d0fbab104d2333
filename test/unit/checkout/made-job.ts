/**
 * A job for the writers of entries, without a repository around it: tables filled by hand, objects from a pack made by hand.
 */
import { mkdirSync } from 'node:fs';
import { Budget } from '../../../src/engine/checkout/budget.ts';
import { createControl, createCounters } from '../../../src/engine/checkout/control.ts';
import type { Job } from '../../../src/engine/checkout/messages.ts';
import { allocateTables, State, type Tables } from '../../../src/engine/checkout/tables.ts';
import type { Conversion } from '../../../src/engine/filter/conversion.ts';
import { MODE_FILE } from '../../../src/engine/object/tree.ts';
import { NO_REPLACEMENTS } from '../../../src/engine/odb/replacements.ts';
import { oidFromHex, SHA1 } from '../../../src/engine/oid.ts';
import type { PackFile } from '../../../src/engine/pack/pack-file.ts';

export const CONVERSIONS: readonly Conversion[] = [
  { kind: 'none', crlf: 'none', ident: false },
  { kind: 'in-core', crlf: 'auto', ident: false },
  { kind: 'stream', crlf: 'text', ident: false },
  { kind: 'in-core', crlf: 'none', ident: true },
];

export interface EntrySpec {
  /** A byte string. */
  readonly path: string;
  readonly mode?: number;
  readonly oid?: string;
  readonly conversion?: number;
  readonly pack?: number;
  readonly offset?: number;
  readonly state?: number;
}

export function tablesOf(entries: readonly EntrySpec[]): Tables {
  const paths = entries.map(({ path }) => Buffer.from(path, 'latin1'));
  const tables = allocateTables(
    Math.max(1, entries.length),
    Math.max(
      1,
      paths.reduce((sum, path) => sum + path.length, 0),
    ),
    SHA1,
  );
  entries.forEach((entry, i) => {
    const start = tables.pathOffsets[i]!;
    tables.pathBytes.set(paths[i]!, start);
    tables.pathOffsets[i + 1] = start + paths[i]!.length;
    tables.oids.set(oidFromHex(entry.oid ?? (i + 1).toString(16).padStart(40, '0')), 20 * i);
    tables.modes[i] = entry.mode ?? MODE_FILE;
    tables.conversions[i] = entry.conversion ?? 0;
    tables.packs[i] = entry.pack ?? 0;
    tables.offsets[i] = entry.offset ?? 0;
    tables.states[i] = entry.state ?? State.PENDING;
  });
  tables.count = entries.length;
  return tables;
}

export function jobOf(
  entries: readonly EntrySpec[],
  options: {
    readonly workTree: string;
    readonly packs: readonly PackFile[];
    readonly objectDirectories?: readonly string[];
    readonly budgetBytes: number;
    readonly verify?: boolean;
  },
): Job {
  mkdirSync(options.workTree, { recursive: true });
  return {
    tables: tablesOf(entries),
    control: createControl(),
    counters: createCounters(1),
    budget: Budget.create(options.budgetBytes, 1),
    packs: options.packs,
    replacements: NO_REPLACEMENTS,
    verify: options.verify ?? false,
    objectDirectories: options.objectDirectories ?? [],
    workTree: options.workTree,
    conversions: CONVERSIONS,
    lfs: null,
    platform: process.platform,
    replaces: false,
  };
}
