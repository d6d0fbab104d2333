/**
 * The environment that git gives to the commands it runs: where the repository is, the configuration of the command line, and its
 * own programs found first. Filter drivers are often git commands themselves and rely on it.
 */
import { delimiter, join, relative, sep } from 'node:path';
import { realpathSync } from 'node:fs';
import type { Environment } from '../config/environment.ts';
import { configArgs, type RepositoryLocation } from '../config/git-options.ts';
import type { Repository } from './repository.ts';

export interface ChildFacts {
  readonly repository: Pick<Repository, 'gitDir' | 'workTree'>;
  readonly location: RepositoryLocation;
  readonly environment: Environment;
  /** What `git --exec-path` says: where its programs are. */
  readonly execPath: string;
}

/**
 * The environment of a command that runs at the top of the working tree. Pure, but that the links in the directory's path
 * are followed.
 */
export function childEnvironment({ repository, location, environment, execPath }: ChildFacts): NodeJS.ProcessEnv {
  const { gitDir, workTree } = repository;
  const named = [location.gitDir, location.workTree, environment['GIT_DIR'], environment['GIT_WORK_TREE']];
  const discovered = named.every((each) => each === undefined);
  const path = environment['PATH'];
  const parameters = configParameters(location, environment['GIT_CONFIG_PARAMETERS']);
  return {
    ...environment,
    GIT_EXEC_PATH: execPath,
    GIT_PREFIX: discovered ? prefix(workTree, location.directory) : '',
    PATH: path === undefined || path === '' ? execPath : `${execPath}${delimiter}${path}`,
    ...(parameters === '' ? {} : { GIT_CONFIG_PARAMETERS: parameters }),
    // Where .git is in its usual place, git leaves it to be found again.
    ...(discovered && gitDir === join(workTree, '.git') ? {} : { GIT_DIR: gitDir }),
    ...(discovered ? {} : { GIT_WORK_TREE: '.' }),
  };
}

/** git's form of `-c KEY=VALUE` for those that it starts, after what it was itself started with. */
function configParameters(location: RepositoryLocation, inherited: string | undefined): string {
  const own = configArgs(location.config ?? [])
    .filter((argument) => argument !== '-c')
    .map((argument) => {
      const at = argument.indexOf('=');
      return `${quoted(argument.slice(0, at))}=${quoted(argument.slice(at + 1))}`;
    });
  return [...(inherited === undefined || inherited === '' ? [] : [inherited]), ...own].join(' ');
}

function quoted(text: string): string {
  return `'${text.replace(/['!]/g, "'\\$&'")}'`;
}

/** The directory that the user is in, from the top of the working tree, with a slash at its end. */
function prefix(workTree: string, directory: string): string {
  let real: string;
  try {
    real = realpathSync.native(directory);
  } catch {
    // It was removed by this very checkout.
    return '';
  }
  const below = relative(workTree, real);
  return below === '' || below === '..' || below.startsWith(`..${sep}`) ? '' : `${below.split(sep).join('/')}/`;
}
