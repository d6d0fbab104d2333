/**
 * Merges, cherry-picks and reverts in progress. A checkout ends them: what is left of them is removed, as
 * `git checkout` does.
 */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ioError } from '../errors.ts';
import { removeFile } from './ref-lock.ts';

const STATE_FILES = [
  'CHERRY_PICK_HEAD',
  'REVERT_HEAD',
  'SQUASH_MSG',
  'MERGE_HEAD',
  'MERGE_RR',
  'MERGE_MSG',
  'MERGE_MODE',
  'AUTO_MERGE',
];

/**
 * Why the state in progress needs git itself: it would store the autostash of a merge as a stash entry. Null when a
 * checkout can end the state by itself.
 */
export function stateThatNeedsGit(gitDir: string): string | null {
  return existsSync(join(gitDir, 'MERGE_AUTOSTASH')) ? 'a merge with an autostash is in progress' : null;
}

/**
 * Removes the state files of a working tree. A sequence of picks goes with its last one; one with more to do stays, so
 * that `git cherry-pick --continue` finds it.
 *
 * @throws CheckoutError 'io'
 */
export function removeBranchState(gitDir: string): void {
  const picking = ['CHERRY_PICK_HEAD', 'REVERT_HEAD'].some((name) => existsSync(join(gitDir, name)));
  for (const name of STATE_FILES) removeFile(join(gitDir, name));
  if (!picking) return;
  const sequencer = join(gitDir, 'sequencer');
  let todo: string;
  try {
    todo = readFileSync(join(sequencer, 'todo'), 'utf8');
  } catch {
    return; // a single pick keeps no list
  }
  if (todo.split('\n').filter((line) => line !== '').length > 1) return;
  try {
    rmSync(sequencer, { recursive: true, force: true });
  } catch (error) {
    throw ioError('remove', sequencer, error);
  }
}
