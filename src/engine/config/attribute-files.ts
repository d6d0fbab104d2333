/**
 * Which attribute files lie outside of a repository (gitattributes(5), "FILES"): the user's and the system's.
 */
import { posix, win32 } from 'node:path';
import type { Config } from './config.ts';
import { type Environment, environmentFlag } from './environment.ts';

/** What the places depend on. */
export interface AttributeFileFacts {
  readonly config: Config;
  readonly environment: Environment;
  readonly platform: NodeJS.Platform;
  /** Full path of the git program that PATH leads to, links not followed; null when unknown. */
  readonly gitProgram: string | null;
}

/** Paths that need not exist; null where git would look nowhere. A relative one is relative to the working tree. */
export interface AttributeFiles {
  readonly global: string | null;
  readonly system: string | null;
}

/**
 * Where git looks for attributes besides the repository. The system's file lies beside the system's configuration file;
 * where that one has no setting, git's own folder tells: git puts it into `etc` of its prefix, and into /etc for /usr.
 *
 * @throws CheckoutError 'config-invalid' when core.attributesFile is not a path
 */
export function attributeFiles(facts: AttributeFileFacts): AttributeFiles {
  return { global: globalFile(facts), system: systemFile(facts) };
}

function globalFile({ config, environment }: AttributeFileFacts): string | null {
  const configured = config.getPath('core.attributesFile', environment);
  // An empty path names no file.
  if (configured !== undefined) return configured === '' ? null : configured;
  const xdg = environment['XDG_CONFIG_HOME'];
  if (xdg !== undefined && xdg !== '') return `${xdg}/git/attributes`;
  const home = environment['HOME'] ?? environment['USERPROFILE'];
  return home === undefined ? null : `${home}/.config/git/attributes`;
}

function systemFile({ config, environment, platform, gitProgram }: AttributeFileFacts): string | null {
  if (environmentFlag(environment, 'GIT_ATTR_NOSYSTEM')) return null;
  const path = platform === 'win32' ? win32 : posix;
  // GIT_CONFIG_SYSTEM moves the configuration alone.
  if (config.systemFile !== null && environment['GIT_CONFIG_SYSTEM'] === undefined) {
    return path.join(path.dirname(config.systemFile), 'gitattributes');
  }
  if (gitProgram === null) return platform === 'win32' ? null : '/etc/gitattributes';
  const prefix = path.dirname(path.dirname(gitProgram));
  if (platform === 'win32') {
    // Git\cmd\git.exe, Git\bin\git.exe or Git\mingw64\bin\git.exe; the file is Git\etc\gitattributes.
    const root = /^(mingw|ucrt|clang|usr)/i.test(path.basename(prefix)) ? path.dirname(prefix) : prefix;
    return path.join(root, 'etc', 'gitattributes');
  }
  return prefix === '/usr' || prefix === '/' ? '/etc/gitattributes' : path.join(prefix, 'etc', 'gitattributes');
}
