/**
 * The error for a git process that failed: the first thing that it called fatal, in one line.
 */
import { CheckoutError } from '../errors.ts';

/** @param command as the user knows it, such as `checkout` */
export function gitFailure(command: string, stderr: string): CheckoutError {
  const lines = stderr.split('\n').map((line) => line.trim());
  const line = lines.find((each) => /^(fatal|error): /.test(each)) ?? lines.find((each) => each !== '') ?? 'no message';
  return new CheckoutError('git-failed', `git ${command} failed: ${line.replace(/^(fatal|error): /, '')}`);
}
