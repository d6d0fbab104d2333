/**
 * Fetches by the git process. git stores what comes in one step at the end, so a fetch that fails or is stopped leaves
 * the repository as it was, and can be run again.
 */
import { join } from 'node:path';
import { CheckoutError } from '../errors.ts';
import { configArgs } from '../config/git-options.ts';
import type { ConfigOverride, EnginePorts, FetchOutcome, FetchRequest } from '../settings.ts';
import { isMeterInMotion, isSaidQuietly, receivingProgress } from './fetch-progress.ts';
import { runOnline } from './online-git.ts';
import { tellsActivity } from '../host/processes.ts';
import { redactor } from './redact.ts';
import { UnfinishedPacks } from './unfinished-packs.ts';

/** The observer wants a few calls a second; git's meter makes up to a hundred. */
const PROGRESS_INTERVAL_MS = 250;

/** A repack in the background would take packs away from under the checkout that follows. */
export const NO_MAINTENANCE = ['-c', 'gc.auto=0', '-c', 'maintenance.auto=false'];

/**
 * The arguments of `git` for a request. Pure.
 *
 * @param meterOnly whether git's meter is all that there is to know of its progress: only packs that are kept have one
 * @throws CheckoutError 'usage' for contradictory or impossible values
 */
export function fetchArgs(request: FetchRequest, config: readonly ConfigOverride[] = [], meterOnly = false): string[] {
  const { depth, filter } = request;
  if (depth !== undefined && request.unshallow === true) {
    throw new CheckoutError('usage', 'a depth and a complete history exclude each other', { option: 'depth' });
  }
  if (depth !== undefined && !(Number.isSafeInteger(depth) && depth > 0 && depth < 2 ** 31)) {
    throw new CheckoutError('usage', `'${depth}' is not a depth: it must be a whole number above 0`, {
      option: 'depth',
    });
  }
  const place = request.gitDir === undefined ? [] : [`--git-dir=${request.gitDir}`];
  const args = [...place, ...configArgs(config), ...NO_MAINTENANCE, '-c', 'protocol.version=2'];
  if (meterOnly) args.push('-c', 'fetch.unpackLimit=1');
  args.push('fetch');
  if (!request.tags) args.push('--no-tags');
  if (request.prune) args.push('--prune');
  // Always with progress, shown or not: it tells a transfer that is dead from one that is slow.
  args.push('--no-recurse-submodules', '--progress');
  if (filter !== undefined) args.push(`--filter=${filter}`);
  if (depth !== undefined) args.push(`--depth=${depth}`);
  if (request.unshallow === true) args.push('--unshallow');
  // Nothing after "--" is an option, whatever its first character.
  args.push('--', request.remote, ...request.refspecs);
  return args;
}

/**
 * Brings what `request` names into the repository at `request.directory`.
 *
 * @throws CheckoutError 'authentication-failed', 'unknown-revision' (the remote lacks it), 'fetch-failed',
 *   'interrupted', 'git-missing', 'usage'
 */
export async function fetchByGit(
  request: FetchRequest,
  ports: EnginePorts,
  config: readonly ConfigOverride[] = [],
): Promise<FetchOutcome> {
  const { observer } = ports;
  const redact = redactor(request.env);
  const start = performance.now();
  let lastProgress = -Infinity;
  const onStderrLine = (line: string): void => {
    if (!request.progress) {
      if (isSaidQuietly(line)) observer.info(redact(line));
      return;
    }
    const progress = receivingProgress(line);
    if (progress !== null) {
      const now = performance.now();
      if (now - lastProgress < PROGRESS_INTERVAL_MS && progress.filesDone < progress.filesTotal) return;
      lastProgress = now;
      observer.progress(progress);
    }
    if (!isMeterInMotion(line)) observer.info(redact(line));
  };
  const unfinished = new UnfinishedPacks(join(request.gitDir ?? join(request.directory, '.git'), 'objects', 'pack'));
  await runOnline(
    {
      what: `fetch from '${redact(request.remote)}'`,
      args: fetchArgs(request, config, !tellsActivity()),
      cwd: request.directory,
      onStderrLine,
      afterFailure: () => unfinished.remove(),
      limits: request.limits,
      ...(request.env === undefined ? {} : { env: request.env }),
      ...(request.signal === undefined ? {} : { signal: request.signal }),
    },
    ports,
  );
  return {
    transport: 'git',
    ms: performance.now() - start,
    reasons: [{ text: 'the objects were fetched by git', decided: true }],
  };
}
