/**
 * How many files a checkout of what is checked out now would write, for a plan that nobody gave a number for. The index
 * knows; where there is none, the trees of HEAD are walked.
 */
import type { Environment } from '../config/environment.ts';
import type { Repository } from '../gitdir/repository.ts';
import { readWholeIndex } from '../index/read-whole-index.ts';
import { MODE_GITLINK, MODE_SYMLINK, MODE_TREE } from '../object/tree.ts';
import { objectDirectories } from '../odb/alternates.ts';
import { ObjectDatabase } from '../odb/object-database.ts';
import { resolveRef } from '../refs/read-refs.ts';
import { buildManifest, type ConversionLookup } from './manifest.ts';
import { peelToTree } from './peel.ts';

/** Counting needs no attributes. */
const NO_CONVERSIONS: ConversionLookup = {
  enterDirectory: () => undefined,
  leaveDirectory: () => undefined,
  lookUp: () => 0,
};

/**
 * The number of regular files in the index or, without one, in HEAD's commit.
 * @throws CheckoutError index-corrupt, object-missing and others of what is damaged
 */
export function countFiles(repository: Repository, environment: Environment, warn: (line: string) => void): number {
  const { objectFormat } = repository;
  const index = readWholeIndex(repository, null);
  if (index !== null) return countRegular(index.modes, index.count);
  const head = resolveRef(repository, 'HEAD')?.oid ?? null;
  if (head === null) return 0;
  const alternates = environment['GIT_ALTERNATE_OBJECT_DIRECTORIES'] ?? '';
  const odb = ObjectDatabase.open(objectDirectories(repository.objectsDir, alternates, warn), objectFormat, warn);
  try {
    const { tables } = buildManifest(odb, peelToTree(odb, head).tree, {
      rules: { ntfs: false, hfs: false, windows: false },
      conversions: NO_CONVERSIONS,
      maxPathBytes: Infinity,
    });
    return countRegular(tables.modes, tables.count);
  } finally {
    odb.close();
  }
}

function countRegular(modes: Uint32Array, count: number): number {
  let files = 0;
  for (let i = 0; i < count; i++) {
    // Nothing of a sparse index's directory is in the working tree.
    if (modes[i] !== MODE_SYMLINK && modes[i] !== MODE_GITLINK && modes[i] !== MODE_TREE) files++;
  }
  return files;
}
