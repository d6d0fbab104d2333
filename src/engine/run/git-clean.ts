/**
 * A clean by `git clean`, before a checkout by git.
 */
import { cleanArguments } from '../checkout/clean-arguments.ts';
import { CheckoutError } from '../errors.ts';
import type { CleanSettings } from '../settings.ts';
import type { Session } from './session.ts';

/** Of what git says, the lines that are passed on. */
const TOLD_LINES = 20;

/** @throws CheckoutError clean-failed, when what git said has been passed on as warnings; interrupted */
export async function cleanByGit(session: Session, { exclude }: CleanSettings): Promise<void> {
  const { repository, ports, request, run } = session;
  const started = performance.now();
  const result = await ports.git({
    args: [...repository.gitOptions, ...cleanArguments(exclude)],
    cwd: repository.workTree,
    ...(request.signal === undefined ? {} : { signal: request.signal }),
  });
  run.phases.push({ name: 'clean', ms: performance.now() - started });
  if (request.signal?.aborted === true) throw new CheckoutError('interrupted', 'interrupted while git cleaned');
  const lines = result.stderr.split('\n').filter((line) => line !== '');
  const told = lines.map((line) => line.replace(/^(warning|error|fatal): /, ''));
  for (const line of told.slice(0, TOLD_LINES)) ports.observer.warning(line);
  if (result.exitCode === 0) return;
  throw new CheckoutError('clean-failed', `the working tree cannot be cleaned: ${told[0] ?? 'git clean failed'}`);
}
