/**
 * The process's environment, in the one folder that may read it. Everything else takes it as an argument, so that a
 * decision that depends on HOME or GIT_COMMITTER_NAME can be tested without changing the test's own process.
 */
import type { Environment } from '../config/environment.ts';

/** The environment of this process, not a copy. */
export function processEnvironment(): Environment {
  return process.env;
}
