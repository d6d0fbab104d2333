/**
 * How many files a checkout of what is checked out now would write, for a plan that nobody gave a number for. The index
 * knows; where there is none, the trees of HEAD are walked.
 */
import type { Config } from '../config/config.ts';
import type { Environment } from '../config/environment.ts';
import type { Repository } from '../gitdir/repository.ts';
import { EXTENDED_FLAG, type IndexTable } from '../index/index-table.ts';
import { readWholeIndex } from '../index/read-whole-index.ts';
import { MODE_GITLINK, MODE_SYMLINK, MODE_TREE } from '../object/tree.ts';
import { resolveRef } from '../refs/read-refs.ts';
import { buildManifest, type ConversionLookup } from './manifest.ts';
import { openObjects } from './open-objects.ts';
import { peelToTree } from './peel.ts';
import { readSparseRules } from './sparse-rules.ts';
import { State } from './tables.ts';

/** Counting needs no attributes. */
const NO_CONVERSIONS: ConversionLookup = {
  enterDirectory: () => undefined,
  leaveDirectory: () => undefined,
  lookUp: () => 0,
};

/**
 * The number of regular files in the index or, without one, in HEAD's commit, without those that a sparse checkout leaves
 * out.
 * @throws CheckoutError index-corrupt, object-missing and others of what is damaged
 */
export function countFiles(
  repository: Repository,
  config: Config,
  environment: Environment,
  warn: (line: string) => void,
): number {
  const index = readWholeIndex(repository, null);
  if (index !== null) return countRegular(index, (i) => isSkipped(index, i));
  const head = resolveRef(repository, 'HEAD')?.oid ?? null;
  if (head === null) return 0;
  const odb = openObjects(repository, config, environment, warn);
  try {
    const matcher = readSparseRules(repository, config, false, warn)?.matcher ?? null;
    const { tables } = buildManifest(odb, peelToTree(odb, head).tree, {
      rules: { ntfs: false, hfs: false, windows: false },
      conversions: NO_CONVERSIONS,
      maxPathBytes: Infinity,
      ...(matcher === null ? {} : { sparse: matcher }),
    });
    return countRegular(tables, (i) => tables.states[i] === State.SKIPPED);
  } finally {
    odb.close();
  }
}

function isSkipped(index: IndexTable, entry: number): boolean {
  return ((index.extendedFlags[entry] ?? 0) & EXTENDED_FLAG.skipWorktree) !== 0;
}

function countRegular(
  { modes, count }: { readonly modes: Uint32Array; readonly count: number },
  isLeftOut: (entry: number) => boolean,
): number {
  let files = 0;
  for (let i = 0; i < count; i++) {
    // Nothing of a sparse index's directory is in the working tree.
    const mode = modes[i];
    if (mode !== MODE_SYMLINK && mode !== MODE_GITLINK && mode !== MODE_TREE && !isLeftOut(i)) files++;
  }
  return files;
}
