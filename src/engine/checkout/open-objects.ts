/**
 * Opens the object database of a repository as its configuration and the environment have it: with what it borrows, and with
 * what is replaced.
 */
import type { Config } from '../config/config.ts';
import type { Environment } from '../config/environment.ts';
import type { Repository } from '../gitdir/repository.ts';
import { objectDirectories } from '../odb/alternates.ts';
import { ObjectDatabase } from '../odb/object-database.ts';
import { makeReplacements } from '../odb/replacements.ts';
import { readReplaceRefs } from '../refs/replace-refs.ts';

/**
 * @param verify hash what is read and compare
 * @throws CheckoutError io, unsupported
 */
export function openObjects(
  repository: Repository,
  config: Config,
  environment: Environment,
  warn: (line: string) => void,
  verify = false,
): ObjectDatabase {
  const borrowed = environment['GIT_ALTERNATE_OBJECT_DIRECTORIES'] ?? '';
  const { objectFormat: format } = repository;
  const directories = objectDirectories(repository.objectsDir, borrowed, repository.workTree, warn);
  const replaced = readReplaceRefs(repository, format, config, environment, warn);
  return ObjectDatabase.open(directories, format, warn, {
    verify,
    replacements: makeReplacements(replaced, format.oidBytes),
  });
}
