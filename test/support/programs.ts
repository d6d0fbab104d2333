/**
 * Where the tests find the programs: bundled from the sources as they are, where build-programs.ts did that, else the
 * sources. Not the committed bundles, so that a test shows what was just changed.
 */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type * as Engine from '../../src/engine/engine.ts';

const ROOT = join(import.meta.dirname, '..', '..');

/** The programs' sources below the root, by their names in dist/; and the engine, for those who call it. */
export const PROGRAMS = {
  main: 'src/action/main.ts',
  post: 'src/action/post.ts',
  cli: 'src/cli/index.ts',
  worker: 'src/engine/checkout/worker.ts',
  engine: 'src/engine/engine.ts',
} as const;

/** Where Node keeps what it compiled: worth 110 ms a thread with the sources. */
export const COMPILED = join(ROOT, 'node_modules', '.cache', 'compile');

/** The path of the file that a program starts from. */
export function programPath(name: keyof typeof PROGRAMS): string {
  const folder = process.env['TEST_PROGRAMS'];
  return folder === undefined ? join(ROOT, PROGRAMS[name]) : join(folder, name, 'index.js');
}

/** The engine, in this process. */
export async function loadEngine(): Promise<typeof Engine> {
  process.env['NODE_COMPILE_CACHE'] ??= COMPILED;
  return (await import(/* @vite-ignore */ pathToFileURL(programPath('engine')).href)) as typeof Engine;
}
