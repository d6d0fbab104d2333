/**
 * Makes git accept a working tree that belongs to another user (in container jobs it often does) for our own git
 * processes only: they get a HOME of their own, whose configuration adds `safe.directory` to the user's. The
 * configuration of the user is included, not copied, so that relative includes in it still work; later steps never see
 * any of this, as with actions/checkout.
 *
 * A HOME and not `-c safe.directory`, which git before 2.38 does not obey.
 */
import { randomUUID } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ioError } from '../engine/errors.ts';
import { formatSection, type ConfigSection } from './config-file.ts';

/** A new path for the temporary home. */
export function newTemporaryHome(runnerTemp: string): string {
  return join(runnerTemp, randomUUID());
}

/**
 * Makes the home and returns the environment for git. `userHome` is the real one. Throws `io`.
 */
export function makeTemporaryHome(
  home: string,
  repositoryPath: string,
  userHome: string,
  environment: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const global = environment['GIT_CONFIG_GLOBAL'];
  // Without XDG_CONFIG_HOME git looks below HOME, for its attributes and ignore files too.
  const xdg = environment['XDG_CONFIG_HOME'] ?? '';
  const include = (path: string): ConfigSection => ({
    section: 'include',
    subsection: null,
    variables: [['path', path]],
  });
  const safe: ConfigSection = { section: 'safe', subsection: null, variables: [['directory', repositoryPath]] };
  const config = join(home, '.gitconfig');
  const text = formatSection(include(global ?? join(userHome, '.gitconfig'))) + formatSection(safe);
  try {
    mkdirSync(home, { recursive: true, mode: 0o700 });
    writeFileSync(config, text, { mode: 0o600, encoding: 'latin1' });
  } catch (error) {
    throw ioError('write', config, error);
  }
  return {
    HOME: home,
    XDG_CONFIG_HOME: xdg === '' ? join(userHome, '.config') : xdg,
    ...(global === undefined ? {} : { GIT_CONFIG_GLOBAL: config }),
  };
}

/** Removes it. Throws `io`. */
export function removeTemporaryHome(home: string): void {
  try {
    rmSync(home, { recursive: true, force: true });
  } catch (error) {
    throw ioError('remove', home, error);
  }
}
