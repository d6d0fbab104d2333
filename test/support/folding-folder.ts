/**
 * A folder where names that differ in case only are the same: the temporary folder itself on macOS and Windows, elsewhere a file
 * system of our own (folding-file-system.py) where fusepy is installed and may be used.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export interface FoldingFolder {
  readonly directory: string;
  readonly remove: () => Promise<void>;
}

/** Makes one below `parent`; null where there is none to be had. */
export async function foldingFolder(parent: string): Promise<FoldingFolder | null> {
  writeFileSync(join(parent, 'probe'), '');
  if (existsSync(join(parent, 'PROBE'))) return { directory: parent, remove: () => Promise.resolve() };
  const python = ['python3', '/usr/bin/python3'].find((each) => {
    const script = 'try:\n import fusepy\nexcept ImportError:\n import fuse';
    return spawnSync(each, ['-c', script]).status === 0;
  });
  if (python === undefined || !existsSync('/dev/fuse')) return null;
  const [real, directory] = ['real', 'mounted'].map((name) => join(parent, name)) as [string, string];
  mkdirSync(real);
  mkdirSync(directory);
  writeFileSync(join(real, 'probe'), '');
  const script = join(import.meta.dirname, 'folding-file-system.py');
  const child = spawn(python, [script, real, directory], { stdio: 'ignore' });
  const ended = new Promise<void>((resolve) => void child.once('exit', () => resolve()));
  const remove = async (): Promise<void> => {
    if (spawnSync('fusermount', ['-u', directory]).status !== 0) spawnSync('umount', [directory]);
    await Promise.race([ended, sleep(2000)]);
    child.kill();
  };
  for (let i = 0; i < 200 && child.exitCode === null; i++) {
    if (existsSync(join(directory, 'PROBE'))) return { directory, remove };
    await sleep(50);
  }
  await remove();
  return null;
}
