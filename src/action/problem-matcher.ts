/**
 * Makes the runner turn git's `fatal:` and `error:` lines into annotations while the step works. The runner wants a file;
 * it is written to RUNNER_TEMP under a fixed name, so that the bundle needs no file beside it, and left there: the runner
 * reads it some time after the command was printed.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ioError } from '../engine/errors.ts';

/** The name under which a matcher is removed again; that of actions/checkout. */
const OWNER = 'checkout-git';

const MATCHER = {
  problemMatcher: [{ owner: OWNER, pattern: [{ regexp: '^(fatal|error): (.*)$', message: 2 }] }],
};

/** Writes the file and returns the command that makes the runner use it. Throws `io`. */
export function addProblemMatcher(runnerTemp: string): string {
  const path = join(runnerTemp, 'parallel-checkout-problem-matcher.json');
  try {
    writeFileSync(path, JSON.stringify(MATCHER));
  } catch (error) {
    throw ioError('write', path, error);
  }
  return `::add-matcher::${path.replaceAll('%', '%25')}`;
}

/** The command that ends it. */
export function removeProblemMatcher(): string {
  return `::remove-matcher owner=${OWNER}::`;
}
