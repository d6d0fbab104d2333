/**
 * The token: where git finds it, and how every trace of it goes again.
 *
 * With `persist-credentials` it lies in a file of its own in RUNNER_TEMP, which the repository's configuration includes
 * under four conditions: the git directory and its worktrees, each as the runner sees it and as a container action does
 * (the runner mounts the workspace at /github/workspace there). File name and keys are those of actions/checkout, whose
 * own clean-up relies on them, as ours does on its. Without it the token is in the environment of our own git processes
 * that talk to the server, and nowhere else.
 */
import { readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { basename, dirname, join, posix, relative, resolve, sep } from 'node:path';
import { CheckoutError, errnoOf, ioError } from '../engine/errors.ts';
import {
  appendSections,
  configVariables,
  editConfigFile,
  formatSection,
  readConfigFile,
  removeVariables,
  type ConfigSection,
  type ConfigVariable,
} from './config-file.ts';
import { filesOfCommand, removeSshFile } from './ssh.ts';

/** What the token becomes in the header; a secret as much as the token itself. */
export function basicCredential(token: string): string {
  return Buffer.from(`x-access-token:${token}`, 'utf8').toString('base64');
}

function authorization(token: string): string {
  return `AUTHORIZATION: basic ${basicCredential(token)}`;
}

/** The setting that has git send the token to `origin`, and nowhere else. */
export function tokenSetting(origin: string, token: string): [key: string, value: string] {
  return [`http.${origin}/.extraheader`, authorization(token)];
}

/**
 * The environment that makes one git process send the token to `origin` alone. Settings of that kind that the environment has
 * already are kept.
 */
export function credentialEnvironment(
  origin: string,
  token: string,
  environment: Readonly<Record<string, string | undefined>>,
  readsCount: boolean,
): Record<string, string> {
  return configEnvironment([tokenSetting(origin, token)], environment, readsCount);
}

/**
 * The environment that gives one git process settings beside those of its files; those that the environment has already are kept.
 *
 * @param readsCount whether git reads GIT_CONFIG_COUNT (git-config(1)). An older one is given GIT_CONFIG_PARAMETERS, which is how
 *   `git -c` hands its settings on to the processes that it starts, in the form that it had until then.
 */
export function configEnvironment(
  settings: readonly (readonly [key: string, value: string])[],
  environment: Readonly<Record<string, string | undefined>>,
  readsCount: boolean,
): Record<string, string> {
  if (!readsCount) {
    const before = environment['GIT_CONFIG_PARAMETERS'] ?? '';
    const all = settings.map(([key, value]) => `'${key}=${value}'`);
    return { GIT_CONFIG_PARAMETERS: [...(before === '' ? [] : [before]), ...all].join(' ') };
  }
  const count = Number.parseInt(environment['GIT_CONFIG_COUNT'] ?? '', 10);
  const at = count > 0 ? count : 0;
  const result: Record<string, string> = { GIT_CONFIG_COUNT: String(at + settings.length) };
  settings.forEach(([key, value], i) => {
    result[`GIT_CONFIG_KEY_${at + i}`] = key;
    result[`GIT_CONFIG_VALUE_${at + i}`] = value;
  });
  return result;
}

/** A new path for a token file. */
export function newCredentialsPath(runnerTemp: string): string {
  return join(runnerTemp, `git-credentials-${randomUUID()}.config`);
}

const CREDENTIALS_FILE = /(?:^|[/\\])git-credentials-[0-9a-f-]+\.config$/i;

/** The token file, readable by its owner only. Throws `io`. */
export function writeCredentialsFile(path: string, origin: string, token: string): void {
  const section: ConfigSection = {
    section: 'http',
    subsection: `${origin}/`,
    variables: [['extraheader', authorization(token)]],
  };
  try {
    writeFileSync(path, formatSection(section), { mode: 0o600, flag: 'wx' });
  } catch (error) {
    throw ioError('write', path, error);
  }
}

/** A path as a `gitdir:` condition: forward slashes, and no character that its pattern would take for a wildcard. */
function gitdirPattern(path: string): string {
  return path
    .split(sep)
    .join('/')
    .replace(/[*?[\\]/g, '\\$&');
}

/** The four conditional includes (six where the path has a link in it, since git compares real paths first). */
export function includeSections(workspace: string, repositoryPath: string, credentialsPath: string): ConfigSection[] {
  const inside = relative(workspace, repositoryPath).split(sep).join('/');
  const inContainer = posix.join('/github/workspace', inside, '.git');
  return includeSectionsOf(join(repositoryPath, '.git'), inContainer, credentialsPath);
}

/**
 * The same of any git directory.
 * @param inContainer its path to a container action
 */
export function includeSectionsOf(gitDir: string, inContainer: string, credentialsPath: string): ConfigSection[] {
  const both = (condition: string, path: string): ConfigSection[] =>
    [condition, `${condition}/worktrees/*`].map((each) => ({
      section: 'includeIf',
      subsection: `gitdir:${each}`,
      variables: [['path', path]],
    }));
  const here = gitdirPattern(gitDir);
  const sections = both(here, credentialsPath);
  const real = gitdirPattern(join(realPathOf(dirname(gitDir)), basename(gitDir)));
  if (real !== here) sections.push(...both(real, credentialsPath));
  sections.push(...both(gitdirPattern(inContainer), posix.join('/github/runner_temp', basename(credentialsPath))));
  return sections;
}

function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** SSH addresses that submodules are fetched from over HTTP instead: of the server, and of an organisation on GitHub. */
const REPLACED_ADDRESS = /^(?:git@[^/:@]+|org-[0-9]+@github\.com):$/;

/** Whether this variable is one that a checkout step, ours or actions/checkout 2 to 7, left to authenticate with. */
function isCredential(variable: ConfigVariable, origins: readonly string[], ofSubmodule: boolean): boolean {
  const { section, subsection, name, value } = variable;
  // No step sets it in the repository itself, so there it is the user's own.
  if (section === 'url') {
    if (!ofSubmodule || subsection === null || name !== 'insteadof' || value === null) return false;
    return origins.includes(subsection.replace(/\/$/, '')) && REPLACED_ADDRESS.test(value);
  }
  if (section === 'includeif') {
    return (
      subsection !== null &&
      subsection.startsWith('gitdir:') &&
      name === 'path' &&
      value !== null &&
      CREDENTIALS_FILE.test(value)
    );
  }
  // Before version 6 of actions/checkout the header itself stood in the configuration.
  if (section === 'http') {
    return subsection !== null && name === 'extraheader' && origins.includes(subsection.replace(/\/$/, ''));
  }
  return section === 'core' && subsection === null && name === 'sshcommand';
}

/** A configuration without credentials, and the files that they were in. */
export interface CleanedConfig {
  readonly text: string;
  /** Paths of token files, as they stood there. */
  readonly tokenFiles: readonly string[];
  /** Names in RUNNER_TEMP of keys and known hosts. */
  readonly sshFiles: readonly string[];
}

/** The configuration text without credentials. */
export function withoutCredentials(text: string, origins: readonly string[], ofSubmodule: boolean): CleanedConfig {
  const found = configVariables(text).filter((variable) => isCredential(variable, origins, ofSubmodule));
  const valuesIn = (section: string): string[] =>
    found.filter((variable) => variable.section === section).map(({ value }) => value ?? '');
  return {
    text: removeVariables(text, (variable) => isCredential(variable, origins, ofSubmodule)),
    tokenFiles: valuesIn('includeif'),
    sshFiles: valuesIn('core').flatMap(filesOfCommand),
  };
}

/** The configuration files of the submodules within a git directory, and of theirs. */
export function submoduleConfigFiles(gitDir: string): string[] {
  const files: string[] = [];
  const walk = (directory: string, depth: number): void => {
    if (depth > 64) return;
    let entries;
    try {
      entries = readdirSync(directory, { withFileTypes: true });
    } catch (error) {
      if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR') return;
      throw ioError('read', directory, error);
    }
    // A link is how HEAD once was written.
    const isGitDir = entries.some((entry) => entry.name === 'HEAD' && !entry.isDirectory());
    if (isGitDir) {
      files.push(join(directory, 'config'));
      walk(join(directory, 'modules'), depth + 1);
      return;
    }
    // A submodule's name may have slashes in it.
    for (const entry of entries) if (entry.isDirectory()) walk(join(directory, entry.name), depth + 1);
  };
  walk(join(gitDir, 'modules'), 0);
  return files;
}

/** What to clean up after. */
export interface CredentialTraces {
  readonly gitDir: string;
  readonly runnerTemp: string;
  /** Servers whose header may stand in the configuration. */
  readonly origins: readonly string[];
  /** The token file of this step, if it wrote one: removed even if the configuration is gone. */
  readonly credentialsPath?: string;
  /** The same of its SSH key and known hosts. */
  readonly sshFiles?: readonly string[];
}

/**
 * Removes every credential that a checkout step left, without a git process. Goes on after a failure, so that one file
 * that cannot be edited does not leave a token behind in another; returns the failures.
 */
export function removeCredentials(traces: CredentialTraces): CheckoutError[] {
  const failures: CheckoutError[] = [];
  const attempt = (work: () => void): void => {
    try {
      work();
    } catch (error) {
      failures.push(error instanceof CheckoutError ? error : ioError('clean up', traces.gitDir, error));
    }
  };
  const tokenFiles = new Set<string>();
  if (traces.credentialsPath !== undefined) tokenFiles.add(resolve(traces.credentialsPath));
  const sshFiles = new Set<string>(traces.sshFiles);
  const clean = (config: string, ofSubmodule: boolean): void =>
    attempt(() => {
      editConfigFile(config, (text) => {
        const found = withoutCredentials(text, traces.origins, ofSubmodule);
        for (const file of found.tokenFiles) tokenFiles.add(resolve(file));
        if (traces.runnerTemp !== '') for (const name of found.sshFiles) sshFiles.add(join(traces.runnerTemp, name));
        return found.text;
      });
    });
  clean(join(traces.gitDir, 'config'), false);
  attempt(() => {
    for (const config of submoduleConfigFiles(traces.gitDir)) clean(config, true);
  });
  for (const file of sshFiles) attempt(() => removeSshFile(file));
  if (traces.runnerTemp === '') return failures;
  const inside = resolve(traces.runnerTemp) + sep;
  for (const file of tokenFiles) {
    // The configuration is not ours alone: only what lies in RUNNER_TEMP under a token file's name is removed. The
    // container's name for the same file falls out here.
    if (!file.startsWith(inside) || !CREDENTIALS_FILE.test(file)) continue;
    attempt(() => {
      try {
        rmSync(file, { force: true });
      } catch (error) {
        throw ioError('remove', file, error);
      }
    });
  }
  return failures;
}

/** Makes git in this repository use the token file and, if there is one, the command that has the SSH key in it. */
export function includeCredentials(
  gitDir: string,
  workspace: string,
  repositoryPath: string,
  credentialsPath: string,
  sshCommand: string | null,
): void {
  const config = join(gitDir, 'config');
  if (readConfigFile(config) === null) {
    throw new CheckoutError('not-a-repository', `'${gitDir}' has no configuration file`, { path: gitDir });
  }
  const sections = includeSections(workspace, repositoryPath, credentialsPath);
  if (sshCommand !== null) {
    sections.push({ section: 'core', subsection: null, variables: [['sshCommand', sshCommand]] });
  }
  editConfigFile(config, (text) => appendSections(text, sections));
}
