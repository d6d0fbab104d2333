/**
 * What a repository may have that our engine does not do itself yet. Looked for before anything is touched; docs/shortcomings.md lists
 * the same for users.
 */
import type { Config } from '../config/config.ts';
import type { Environment } from '../config/environment.ts';
import { hasHookCommand, hookExists, type HookFacts } from '../gitdir/hooks.ts';
import type { Repository } from '../gitdir/repository.ts';
import type { IndexTable } from '../index/index-table.ts';
import type { GitProcess } from '../settings.ts';

/** Reasons that configuration and the git directory give, a phrase each. */
export function repositoryNeedsGit(repository: Repository, config: Config, environment: Environment): string[] {
  const reasons: string[] = [];
  const when = (condition: boolean | undefined, reason: string): void => {
    if (condition === true) reasons.push(reason);
  };
  when(repository.refFormat !== 'files', `refs are kept in a ${repository.refFormat}`);
  when(config.getBool('submodule.recurse'), 'submodule.recurse is set');
  const attributeTree = config.get('attr.tree') ?? environment['GIT_ATTR_SOURCE'];
  when(attributeTree !== undefined && attributeTree !== '', 'attributes are taken from another tree');
  return reasons;
}

/** The reason that a hook gives, where it cannot be run as git runs it. git is asked only if there is a hook. */
export async function hooksNeedGit(facts: HookFacts, git: GitProcess, signal?: AbortSignal): Promise<string[]> {
  const reasons: string[] = [];
  if (hookExists('post-checkout', facts) || hookExists('post-index-change', facts)) {
    const { stdout } = await git({ args: ['version'], ...(signal === undefined ? {} : { signal }) });
    if (!hasHookCommand(stdout.toString())) reasons.push("a hook is to be run, and git before 2.36 has no 'git hook'");
  }
  return reasons;
}

/** Reasons that the current index gives. */
export function indexNeedsGit(index: IndexTable): string[] {
  const reasons: string[] = [];
  for (const { signature } of index.extensions) {
    if (/^[a-z]/.test(signature)) reasons.push(`the index has the extension '${signature}'`);
  }
  return reasons;
}
