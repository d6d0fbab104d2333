/**
 * What a repository's configuration says of its submodules, as `git submodule sync` and `git submodule update --init` leave
 * it. One edit of the file for all that are new; what is to be changed is left to git.
 */
import { join } from 'node:path';
import { appendSections, type AppendedSection } from '../config/append-section.ts';
import { parseConfigBool } from '../config/config-values.ts';
import { CheckoutError } from '../errors.ts';
import { gitFailure } from '../run/git-failure.ts';
import type { OpenedRepository } from '../run/session.ts';
import type { EnginePorts } from '../settings.ts';
import { parseUpdateMode, shown, type SubmoduleEntry, type UpdateMode } from './gitmodules.ts';

/** A submodule and its resolved URL. */
export interface Registration {
  readonly entry: SubmoduleEntry;
  readonly url: string;
}

/**
 * How a submodule is to be updated: the configuration goes before .gitmodules.
 *
 * @throws CheckoutError 'unsupported' for a command, which the user may have configured; 'config-invalid'
 */
export function updateModeOf({ config }: OpenedRepository, entry: SubmoduleEntry): UpdateMode {
  const configured = config.get(`submodule.${entry.name}.update`);
  if (configured === undefined) return entry.update ?? 'checkout';
  if (!configured.startsWith('!')) return parseUpdateMode(configured, entry.name);
  throw new CheckoutError('unsupported', `submodule '${shown(entry.path)}' is to be updated by a command of its own`, {
    option: `submodule.${shown(entry.name)}.update`,
  });
}

/**
 * Makes submodules known and active.
 *
 * @throws CheckoutError 'ref-locked', 'io', 'git-failed'
 */
export async function registerSubmodules(
  { repository, config }: OpenedRepository,
  registrations: readonly Registration[],
  ports: EnginePorts,
  signal: AbortSignal,
): Promise<void> {
  const file = join(repository.commonDir, 'config');
  const added: AppendedSection[] = [];
  const changed: (readonly [key: string, value: string])[] = [];
  const activeByPath = config.getAll('submodule.active').length > 0;
  for (const { entry, url } of registrations) {
    const key = (name: string): string => `submodule.${entry.name}.${name}`;
    const configuredUrl = config.get(key('url'));
    const values: (readonly [string, string])[] = [];
    const active = config.getAll(key('active')).at(-1);
    const isActive =
      active === undefined ? activeByPath || configuredUrl !== undefined : parseConfigBool(active) === true;
    if (!isActive) values.push(['active', 'true']);
    if (configuredUrl !== url) values.push(['url', url]);
    if (entry.update !== null && config.get(key('update')) === undefined) values.push(['update', entry.update]);
    if (values.length === 0) continue;
    if (configuredUrl === undefined && active === undefined) {
      added.push({ section: 'submodule', subsection: entry.name, values });
    } else changed.push(...values.map(([name, value]) => [key(name), value] as const));
  }
  if (added.length > 0) appendSections(file, added);
  for (const [key, value] of changed) {
    const args = ['config', '--file', file, '--replace-all', key, value];
    const result = await ports.git({ args, cwd: repository.gitDir, signal });
    if (result.exitCode !== 0) throw gitFailure('config', result.stderr);
  }
}

/** Forgets a submodule. What is not there is fine. */
export async function unregisterSubmodule(
  { repository, config }: OpenedRepository,
  name: string,
  ports: EnginePorts,
  signal: AbortSignal,
): Promise<void> {
  if (!config.subsections('submodule').includes(name)) return;
  const file = join(repository.commonDir, 'config');
  const args = ['config', '--file', file, '--remove-section', `submodule.${name}`];
  // The section may be in another file, such as the user's, which is not ours to change.
  await ports.git({ args, cwd: repository.gitDir, onStderrLine: () => undefined, signal });
}
