/**
 * Looks up the conversions of the entries that are to be written or compared, once it is known which these are. Over an old
 * index most entries stay as they are and need none, and most directories' attributes need not be looked for.
 */
import { MODE_GITLINK, MODE_SYMLINK } from '../object/tree.ts';
import type { ConversionLookup, Manifest } from './manifest.ts';
import { attributesTree } from './odd-trees.ts';
import { State } from './tables.ts';

/**
 * Sets `conversions` of each regular file that will be written or compared.
 * @param all also of files that stay, where another file's way may lead over them
 */
export function lookUpConversions(
  { tables, directories }: Pick<Manifest, 'tables' | 'directories'>,
  conversions: ConversionLookup,
  all: boolean,
): void {
  const { pathBytes, pathOffsets, states, modes } = tables;
  /** From the root to the directory that the look-up is in. */
  const entered: number[] = [];
  const enter = (directory: number): void => {
    const first = directories.firstEntry[directory] ?? 0;
    const length = directories.pathLength[directory] ?? 0;
    const start = pathOffsets[first] ?? 0;
    conversions.enterDirectory(attributesTree(tables, first, length), pathBytes.subarray(start, start + length));
    entered.push(directory);
  };
  const holds = (directory: number, entry: number): boolean =>
    entry < (directories.firstEntry[directory] ?? 0) + (directories.entryCount[directory] ?? 0);
  for (let entry = 0; entry < tables.count; entry++) {
    const state = states[entry];
    if (state === State.SKIPPED || (state === State.KEPT && !all)) continue;
    const mode = modes[entry];
    if (mode === MODE_SYMLINK || mode === MODE_GITLINK) continue;
    // Entries come in order, so that what has ended does not come again.
    for (let top = entered.at(-1); top !== undefined && !holds(top, entry); top = entered.at(-1)) {
      conversions.leaveDirectory();
      entered.pop();
    }
    const top = entered.at(-1) ?? -1;
    const missing: number[] = [];
    let directory = tables.directories[entry] ?? 0;
    for (; directory !== top && directory >= 0; directory = directories.parent[directory] ?? -1)
      missing.push(directory);
    for (let next = missing.pop(); next !== undefined; next = missing.pop()) enter(next);
    tables.conversions[entry] = conversions.lookUp(pathBytes, pathOffsets[entry] ?? 0, pathOffsets[entry + 1] ?? 0);
  }
  for (; entered.length > 0; entered.pop()) conversions.leaveDirectory();
}
