/**
 * The multi-pack index of an object directory: one file, or the layers of an incremental chain. A damaged one is as good as none,
 * since each pack has its own index.
 */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { CheckoutError, errnoOf, ioError } from '../errors.ts';
import type { ObjectFormat } from '../oid.ts';
import type { FilePool } from '../pack/file-pool.ts';
import { MultiPackIndex } from '../pack/multi-pack-index.ts';
import { isUnusable } from '../pack/pack-index.ts';

/** git's chains have a handful of layers; this is no chain any more. */
const MOST_LAYERS = 1000;

/**
 * Opens what an object directory has.
 * @param warn told of one that cannot be used
 * @returns the layers, the newest first; empty when there are none
 * @throws CheckoutError io, where the process may not open more files
 */
export function openMultiPackIndexes(
  objectDirectory: string,
  format: ObjectFormat,
  pool: FilePool,
  warn: (line: string) => void,
): MultiPackIndex[] {
  const packs = join(objectDirectory, 'pack');
  try {
    const single = join(packs, 'multi-pack-index');
    if (isFile(single)) return [MultiPackIndex.open(single, format, pool)];
    return openChain(join(packs, 'multi-pack-index.d'), format, pool);
  } catch (error) {
    if (!isUnusable(error)) throw error;
    warn(`${error.message}; it is ignored, as each pack has an index of its own`);
    return [];
  }
}

function isFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  } catch (error) {
    throw ioError('look at', path, error);
  }
}

function openChain(folder: string, format: ObjectFormat, pool: FilePool): MultiPackIndex[] {
  const names = readChain(join(folder, 'multi-pack-index-chain'), 2 * format.oidBytes);
  const layers: MultiPackIndex[] = [];
  try {
    for (const name of names) {
      const path = join(folder, `multi-pack-index-${name}.midx`);
      const layer = MultiPackIndex.open(path, format, pool);
      layers.unshift(layer);
      if (layer.checksum().toString('hex') !== name) {
        throw new CheckoutError('object-corrupt', `multi-pack index '${path}' has another checksum than its name`, {
          path,
        });
      }
    }
  } catch (error) {
    for (const layer of layers) layer.close();
    throw error;
  }
  return layers;
}

/** Checksums of the layers, the oldest first. */
function readChain(path: string, digits: number): string[] {
  let text: string;
  try {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat?.isFile() !== true) return [];
    const invalid = new CheckoutError('object-corrupt', `multi-pack index chain '${path}' is no list of layers`, {
      path,
    });
    if (stat.size > MOST_LAYERS * (digits + 1)) throw invalid;
    text = readFileSync(path, 'latin1');
    const names = text.split('\n').filter((line) => line !== '');
    if (names.some((name) => name.length !== digits || !/^[0-9a-f]+$/.test(name))) throw invalid;
    return names;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return [];
    throw ioError('read', path, error);
  }
}
