/**
 * What a repository and its configuration have that only git can do, found before anything is touched.
 */
import { hooksNeedGit, repositoryNeedsGit } from '../checkout/needs-git.ts';
import { processEnvironment } from '../gitdir/environment.ts';
import { stateThatNeedsGit } from '../refs/branch-state.ts';
import type { EnginePorts } from '../settings.ts';
import type { OpenedRepository } from './session.ts';

/** Reasons, a phrase each. */
export async function whatNeedsGit(
  { repository, config }: OpenedRepository,
  ports: EnginePorts,
  signal: AbortSignal | undefined,
): Promise<string[]> {
  const environment = processEnvironment();
  const reasons = repositoryNeedsGit(repository, config, environment);
  reasons.push(...(await hooksNeedGit({ repository, config, environment }, ports.git, signal)));
  const state = stateThatNeedsGit(repository.gitDir);
  return state === null ? reasons : [...reasons, state];
}
