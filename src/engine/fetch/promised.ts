/**
 * Brings objects that a partial clone lacks from its promisor remotes (git-fetch(1), "partial clone"): all that are wanted in one
 * request, by the same `git fetch` that git runs for itself when an object is missing.
 */
import type { Config } from '../config/config.ts';
import { parseConfigBool } from '../config/config-values.ts';
import type { Environment } from '../config/environment.ts';
import { CheckoutError } from '../errors.ts';
import type { EnginePorts, FetchLimits } from '../settings.ts';
import { NO_MAINTENANCE } from './fetch.ts';
import { isSaidQuietly } from './fetch-progress.ts';
import { runOnline } from './online-git.ts';
import { redactor } from './redact.ts';
import { UnfinishedPacks } from './unfinished-packs.ts';

export interface PromisedFetch {
  readonly ports: EnginePorts;
  /** Options that name the repository. */
  readonly gitOptions: readonly string[];
  readonly cwd: string;
  /** Where packs come to lie. */
  readonly packDirectory: string;
  readonly remotes: readonly string[];
  /** Credentials, for this fetch alone. */
  readonly env: Readonly<Record<string, string>>;
  readonly signal: AbortSignal | undefined;
  readonly limits?: FetchLimits | undefined;
}

/**
 * The remotes that have promised objects, in the order in which git asks them: that of extensions.partialClone last. Empty where
 * the repository is no partial clone, or fetching is switched off (GIT_NO_LAZY_FETCH).
 */
export function promisorRemotes(config: Config, environment: Environment): string[] {
  if (parseConfigBool(environment['GIT_NO_LAZY_FETCH'] ?? 'false') === true) return [];
  const remotes = config.subsections('remote').filter((name) => config.getBool(`remote.${name}.promisor`) === true);
  const last = config.get('extensions.partialClone');
  return last === undefined || last === '' ? remotes : [...remotes.filter((name) => name !== last), last];
}

/**
 * Fetches objects, from one remote after another until nothing is missing.
 * @param missing hexadecimal ids of what is still missing; looks anew each time
 * @throws CheckoutError authentication-failed, fetch-failed and others of the last remote; unsupported with a git that is too old;
 *   object-missing when all answered
 *   and something is still not there
 */
export async function fetchPromised(facts: PromisedFetch, missing: () => readonly string[]): Promise<void> {
  let failure: CheckoutError | null = null;
  for (const remote of facts.remotes) {
    const wanted = missing();
    if (wanted.length === 0) return;
    try {
      await fetchFrom(facts, remote, wanted);
    } catch (error) {
      if (!(error instanceof CheckoutError) || error.code === 'interrupted') throw error;
      failure = error;
    }
  }
  const [oid, ...others] = missing();
  if (oid === undefined) return;
  if (failure !== null) throw failure;
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
  throw new CheckoutError('object-missing', `object ${oid} is missing, and no promisor remote sent it${more}`, { oid });
}

/** A reason for git, which then fetches the objects one after the other as it meets them, in place of a git's failure for being old. */
function reasonForOldGit(error: unknown): unknown {
  if (!(error instanceof CheckoutError) || !/unknown option `(no-write-fetch-head|stdin)'/.test(error.message)) {
    return error;
  }
  return new CheckoutError('unsupported', 'git before 2.29 cannot be asked for missing objects by a list', {}, error);
}

async function fetchFrom(facts: PromisedFetch, remote: string, oids: readonly string[]): Promise<void> {
  const { ports, signal } = facts;
  const redact = redactor(facts.env);
  const from = redact(remote);
  const objects = oids.length === 1 ? 'object' : 'objects';
  ports.observer.info(`fetching ${oids.length} missing ${objects} from '${from}'`);
  const unfinished = new UnfinishedPacks(facts.packDirectory);
  const call = runOnline(
    {
      what: `fetch of missing objects from '${from}'`,
      args: [
        ...facts.gitOptions,
        ...NO_MAINTENANCE,
        // What is here already is of no interest: the objects are named one by one.
        '-c',
        'fetch.negotiationAlgorithm=noop',
        'fetch',
        // Not to be shown, but it tells a transfer that is dead from one that is slow.
        '--progress',
        '--no-tags',
        '--no-write-fetch-head',
        '--recurse-submodules=no',
        '--filter=blob:none',
        '--stdin',
        '--',
        remote,
      ],
      cwd: facts.cwd,
      env: facts.env,
      // Sorted, as git sends them.
      input: Buffer.from([...oids].sort().join('\n') + '\n'),
      onStderrLine: (line) => {
        if (isSaidQuietly(line)) ports.observer.info(redact(line));
      },
      afterFailure: () => unfinished.remove(),
      limits: facts.limits,
      ...(signal === undefined ? {} : { signal }),
    },
    ports,
  );
  await call.catch((error: unknown) => {
    throw reasonForOldGit(error);
  });
}
