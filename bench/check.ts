/** Checks what a measured run left: a quick wrong checkout is worth nothing. Not part of the measured time. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Prepared } from './cases.ts';
import { git } from './process.ts';

/** Fails unless the run left the right commit, every file, an index whose stat data is true, and a clean status. */
export async function check(left: Prepared, expected: { commit: string; files: number }, who: string): Promise<void> {
  const at = ['--git-dir', left.gitDir, '--work-tree', left.workTree];
  const fail = (what: string): never => {
    throw new Error(`${who} left a wrong result: ${what}`);
  };
  const head = (await git([...at, 'rev-parse', 'HEAD'])).trim();
  if (head !== expected.commit) fail(`HEAD is ${head}, not ${expected.commit}`);
  // Before status, which would refresh the index: this compares it with the files' stat data as it is.
  const stale = await git([...at, 'diff-files', '--name-only']);
  if (stale !== '') fail(`the index does not match the files: ${stale.slice(0, 200)}`);
  const status = await git([...at, 'status', '--porcelain']);
  if (status !== '') fail(`git status shows ${status.slice(0, 200)}`);
  const files = countFiles(left.workTree);
  if (files !== expected.files) fail(`${files} files, not ${expected.files}`);
}

/** Counts everything that is not a folder, without .git. */
function countFiles(folder: string): number {
  let count = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.name === '.git') continue;
    count += entry.isDirectory() ? countFiles(join(folder, entry.name)) : 1;
  }
  return count;
}
