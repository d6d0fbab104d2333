/**
 * What a repository may have that our engine does not do itself yet. Looked for before anything is touched; docs/shortcomings.md lists
 * the same for users.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import type { Environment } from '../config/environment.ts';
import { errnoOf } from '../errors.ts';
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
  when(hasReplaceRefs(repository, config, environment), 'replace refs are in use');
  when(isPartial(config), 'the repository is a partial clone');
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

function isPartial(config: Config): boolean {
  if (config.get('extensions.partialClone') !== undefined) return true;
  return config.subsections('remote').some((name) => config.getBool(`remote.${name}.promisor`) === true);
}

function hasReplaceRefs(repository: Repository, config: Config, environment: Environment): boolean {
  if (environment['GIT_NO_REPLACE_OBJECTS'] !== undefined || config.getBool('core.useReplaceRefs') === false) {
    return false;
  }
  const base = environment['GIT_REPLACE_REF_BASE'] ?? 'refs/replace/';
  const path = base.endsWith('/') ? base : `${base}/`;
  try {
    if (readdirSync(join(repository.commonDir, path)).length > 0) return true;
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT' && errnoOf(error) !== 'ENOTDIR') return true;
  }
  try {
    return readFileSync(join(repository.commonDir, 'packed-refs')).includes(` ${path}`);
  } catch (error) {
    return errnoOf(error) !== 'ENOENT';
  }
}
