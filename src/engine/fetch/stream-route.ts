/**
 * Whether a fetch can be streamed: every reason against it, found before anything is asked or touched. git does such fetches. Pure, but for a look at
 * what the repository has.
 */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import type { Environment } from '../config/environment.ts';
import { hookExists } from '../gitdir/hooks.ts';
import type { Repository } from '../gitdir/repository.ts';
import type { FetchRequest } from '../settings.ts';

const ALL_HISTORY = 'all of the history is wanted';
const HAS_OBJECTS = 'the repository has objects to build on';

export interface StreamRouteFacts {
  readonly request: Pick<FetchRequest, 'depth' | 'unshallow' | 'filter'>;
  readonly repository: Repository;
  readonly config: Config;
  readonly environment: Environment;
}

/**
 * A reason that needs no look at the configuration, for which git would have to be asked: most fetches into a repository that has been used
 * before end here.
 */
export function earlyStreamReason({ directory, depth, unshallow }: FetchRequest): string | null {
  if (depth === undefined || unshallow === true) return ALL_HISTORY;
  const commonDir = join(directory, '.git');
  return hasObjects({ commonDir, objectsDir: join(commonDir, 'objects') }) ? HAS_OBJECTS : null;
}

/** Reasons, a phrase each; none where the stream may be tried. */
export function streamReasons({ request, repository, config, environment }: StreamRouteFacts): string[] {
  const reasons: string[] = [];
  const when = (condition: boolean | undefined, reason: string): void => {
    if (condition === true) reasons.push(reason);
  };
  when(request.depth === undefined || request.unshallow === true, ALL_HISTORY);
  when(request.filter !== undefined && request.filter !== 'blob:none', `objects are filtered by '${request.filter}'`);
  when(repository.refFormat !== 'files', `refs are kept in a ${repository.refFormat}`);
  when(hasObjects(repository), HAS_OBJECTS);
  const borrowed = (environment['GIT_ALTERNATE_OBJECT_DIRECTORIES'] ?? '') !== '';
  when(borrowed || existsSync(join(repository.objectsDir, 'info', 'alternates')), 'objects are borrowed');
  when((config.getInt('protocol.version') ?? 2) < 2, 'protocol.version is below 2');
  when(
    config.get('protocol.allow') !== undefined || config.section('protocol').some(isRule),
    'protocols are restricted',
  );
  when((environment['GIT_ALLOW_PROTOCOL'] ?? '') !== '', 'GIT_ALLOW_PROTOCOL is set');
  when(
    config.getBool('fetch.fsckObjects') ?? config.getBool('transfer.fsckObjects'),
    'fetched objects are to be checked',
  );
  when(config.getBool('fetch.writeCommitGraph'), 'fetch.writeCommitGraph is set');
  when((config.get('core.sharedRepository') ?? 'false') !== 'false', 'core.sharedRepository is set');
  when((config.get('transfer.credentialsInUrl') ?? 'allow') !== 'allow', 'transfer.credentialsInUrl is set');
  when(config.get('fetch.bundleURI') !== undefined, 'fetch.bundleURI is set');
  when(
    hookExists('reference-transaction', { repository, config, environment }),
    'there is a reference-transaction hook',
  );
  return reasons;
}

function isRule({ subsection, name }: { subsection: string | null; name: string }): boolean {
  return subsection !== null && name === 'allow' && /^https?$/i.test(subsection);
}

/** Whether there is anything that the server need not send. */
function hasObjects({ commonDir, objectsDir }: Pick<Repository, 'commonDir' | 'objectsDir'>): boolean {
  if (existsSync(join(commonDir, 'shallow'))) return true;
  const names = (directory: string): string[] => {
    try {
      return readdirSync(directory);
    } catch {
      return [];
    }
  };
  const packs = names(join(objectsDir, 'pack'));
  return names(objectsDir).some((name) => /^[0-9a-f]{2}$/.test(name)) || packs.some((name) => name.endsWith('.pack'));
}
