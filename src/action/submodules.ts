/**
 * Submodules: what their fetches may authenticate with, and what later steps find in their repositories. As with actions/checkout, SSH
 * addresses of the server are fetched over HTTP unless there is a key, and the token goes to the server's own address alone, whatever
 * .gitmodules names.
 */
import { join, posix, relative, sep } from 'node:path';
import type { SubmoduleSettings } from '../engine/settings.ts';
import { appendSections, editConfigFile, type ConfigSection } from './config-file.ts';
import { configEnvironment, includeSectionsOf, submoduleConfigFiles, tokenSetting } from './credentials.ts';

/** What the inputs say. */
export type SubmoduleInputs = Pick<SubmoduleSettings, 'recursive' | 'jobs' | 'include' | 'exclude'>;

/** Addresses that are fetched over HTTP instead: of the server, and of the organisation's own name on GitHub. */
export function replacedAddresses(origin: string, organizationId: string): string[] {
  const addresses = [`git@${new URL(origin).hostname}:`];
  if (/^[0-9]+$/.test(organizationId)) addresses.push(`org-${organizationId}@github.com:`);
  return addresses;
}

export interface SubmoduleCredentials {
  readonly origin: string;
  readonly token: string;
  /** The number of the organisation that the workflow belongs to; empty where the event names none. */
  readonly organizationId: string;
  /** What git runs for ssh, where there is a key. */
  readonly sshCommand: string | null;
}

/** For git processes that fetch submodules: their own configuration has no credentials yet. */
export function submoduleEnvironment(
  { origin, token, organizationId, sshCommand }: SubmoduleCredentials,
  environment: Readonly<Record<string, string | undefined>>,
  readsCount: boolean,
): Record<string, string> {
  const settings = [tokenSetting(origin, token)];
  if (sshCommand === null) {
    for (const address of replacedAddresses(origin, organizationId))
      settings.push([`url.${origin}/.insteadOf`, address]);
  }
  return {
    ...configEnvironment(settings, environment, readsCount),
    ...(sshCommand === null ? {} : { GIT_SSH_COMMAND: sshCommand }),
  };
}

/**
 * Makes git in every submodule use the token file and what stands for its SSH addresses, or the key. The post step finds all of it again.
 *
 * @throws CheckoutError io
 */
export function persistInSubmodules(
  place: { readonly gitDir: string; readonly workspace: string; readonly repositoryPath: string },
  credentialsPath: string,
  credentials: SubmoduleCredentials,
): void {
  const { origin, organizationId, sshCommand } = credentials;
  for (const file of submoduleConfigFiles(place.gitDir)) {
    const gitDir = file.slice(0, -'/config'.length);
    const inside = relative(place.repositoryPath, gitDir).split(sep).join('/');
    const outside = relative(place.workspace, place.repositoryPath).split(sep).join('/');
    const sections: ConfigSection[] = includeSectionsOf(
      gitDir,
      posix.join('/github/workspace', outside, inside),
      credentialsPath,
    );
    if (sshCommand !== null) {
      sections.push({ section: 'core', subsection: null, variables: [['sshCommand', sshCommand]] });
    } else {
      const variables = replacedAddresses(origin, organizationId).map((address): [string, string] => [
        'insteadOf',
        address,
      ]);
      sections.push({ section: 'url', subsection: `${origin}/`, variables });
    }
    editConfigFile(join(gitDir, 'config'), (text) => appendSections(text, sections));
  }
}
