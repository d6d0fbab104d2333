/**
 * The options that go before a git command's name: which repository, and configuration on top of its files. They are
 * the same for every question that we ask of git, or two answers could be about two repositories.
 */
import { CheckoutError } from '../errors.ts';
import type { ConfigOverride } from '../settings.ts';

/** Where to look for a repository. */
export interface RepositoryLocation {
  /** The discovery starts here, and relative paths are relative to it. */
  readonly directory: string;
  readonly gitDir?: string | undefined;
  readonly workTree?: string | undefined;
  readonly config?: readonly ConfigOverride[] | undefined;
}

/**
 * `-c KEY=VALUE` for each override.
 *
 * @throws CheckoutError 'usage' for a key that is not SECTION.NAME, or has a '=', at which git would cut
 */
export function configArgs(overrides: readonly ConfigOverride[]): string[] {
  return overrides.flatMap(({ key, value }) => {
    if (!/^[A-Za-z0-9-]+\.(?:[^=\0\n]*\.)?[A-Za-z][A-Za-z0-9-]*$/.test(key)) {
      throw new CheckoutError('usage', `'${key}' is not a configuration key`, { option: '-c' });
    }
    if (value.includes('\0')) {
      throw new CheckoutError('usage', `the value of '${key}' has a NUL byte`, { option: '-c' });
    }
    return ['-c', `${key}=${value}`];
  });
}

/** All options of a location. */
export function locationArgs(location: RepositoryLocation): string[] {
  const args: string[] = [];
  if (location.gitDir !== undefined) args.push(`--git-dir=${location.gitDir}`);
  if (location.workTree !== undefined) args.push(`--work-tree=${location.workTree}`);
  args.push(...configArgs(location.config ?? []));
  return args;
}
