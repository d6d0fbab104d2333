/**
 * Writes a branch's upstream into the repository's configuration, once the branch exists. A branch that has none yet,
 * the case of every fresh checkout, costs no process: a section is added to the file.
 */
import { join } from 'node:path';
import { appendToConfig } from '../config/append-section.ts';
import type { Config } from '../config/config.ts';
import { CheckoutError } from '../errors.ts';
import type { GitProcess } from '../settings.ts';
import type { RefDirs } from './ref-names.ts';
import type { UpstreamPlan } from './remote-tracking.ts';

export interface UpstreamFacts {
  readonly dirs: RefDirs;
  readonly config: Config;
  readonly git: GitProcess;
  readonly gitOptions: readonly string[];
  readonly cwd: string;
}

/**
 * Sets branch.BRANCH.remote and .merge (and .rebase).
 *
 * @throws CheckoutError 'ref-locked', 'io', 'git-failed'
 */
export async function writeUpstream(facts: UpstreamFacts, plan: UpstreamPlan): Promise<void> {
  const { config } = facts;
  const key = `branch.${plan.branch}`;
  const values: [string, string][] = [
    ['remote', plan.remote],
    ['merge', plan.merge],
  ];
  if (plan.rebase) values.push(['rebase', 'true']);
  const wrong = values.filter(([name, value]) => {
    const present = config.getAll(`${key}.${name}`);
    return present.length !== 1 || present[0] !== value;
  });
  if (wrong.length === 0) return;
  if (wrong.every(([name]) => config.getAll(`${key}.${name}`).length === 0)) {
    appendToConfig(join(facts.dirs.commonDir, 'config'), 'branch', plan.branch, wrong);
    return;
  }
  for (const [name, value] of wrong) {
    const result = await facts.git({
      args: [...facts.gitOptions, 'config', '--local', '--replace-all', `${key}.${name}`, value],
      cwd: facts.cwd,
    });
    if (result.exitCode !== 0) {
      throw new CheckoutError(
        'git-failed',
        `git could not set '${key}.${name}': ${result.stderr.trim().split('\n')[0]!}`,
      );
    }
  }
}
