/** Git LFS in a checkout: the local store that workers copy from, and what brings the rest of the content. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { LfsSource } from '../checkout/lfs-content.ts';
import type { LfsAccess } from '../checkout/messages.ts';
import { configArgs } from '../config/git-options.ts';
import { CheckoutError } from '../errors.ts';
import { downloadLfs, hasPathLists, type LfsFacts, selectLfs } from '../fetch/lfs-download.ts';
import { lfsStore, type LfsStore } from '../filter/lfs-store.ts';
import { processEnvironment } from '../gitdir/environment.ts';
import type { LfsSettings } from '../settings.ts';
import type { Session } from './session.ts';

/** File systems of Linux on which two files may share blocks. */
const SHARING_FILE_SYSTEMS: readonly string[] = ['btrfs', 'xfs', 'bcachefs'];

function storeOf({ repository, config, request }: Session): LfsStore | null {
  const environment = { ...processEnvironment(), ...request.environment };
  return lfsStore({ storage: config.get('lfs.storage'), commonDir: repository.commonDir, environment });
}

/** The local store; null where git-lfs alone finds it, or where it may not be copied from without asking git-lfs for each path. */
export function lfsAccess(session: Session): LfsAccess | null {
  const { config, host, request } = session;
  const store = storeOf(session);
  if (request.lfs === undefined && hasPathLists((key) => config.get(key), null)) return null;
  const shareBlocks = host.platform === 'linux' && SHARING_FILE_SYSTEMS.includes(host.fileSystem.type);
  return store === null ? null : { store, shareBlocks };
}

/** What a download works with. Throws `config-invalid` where the store's place is written in a way that only git-lfs expands. */
export function lfsFacts(session: Session, { remote }: LfsSettings): LfsFacts {
  const { repository, config, request, ports } = session;
  const store = storeOf(session);
  if (store === null) {
    throw new CheckoutError('config-invalid', `cannot tell where lfs.storage '${config.get('lfs.storage') ?? ''}' is`, {
      option: 'lfs.storage',
    });
  }
  return {
    ports,
    gitDir: repository.gitDir,
    objectFormat: repository.objectFormat,
    store,
    // The index lock is held, and no other working tree has the same store.
    alone: config.get('lfs.storage') === undefined && !existsSync(join(repository.commonDir, 'worktrees')),
    remote,
    configArgs: configArgs(request.config),
    configured: (key) => config.get(key),
    env: request.fetchEnv ?? {},
    limits: request.fetchLimits,
    signal: request.signal,
  };
}

/** What brings Git LFS files that are not in the store; undefined where nobody asked for them, or pointers are to stay. */
export function lfsSource(session: Session, leavingPointers: (conversion: number) => number): LfsSource | undefined {
  const { lfs } = session.request;
  if (lfs === undefined || storeOf(session)?.skip === true) return undefined;
  const facts = lfsFacts(session, lfs);
  return {
    store: facts.store,
    hasPathLists: (lfsConfig) => hasPathLists(facts.configured, lfsConfig),
    select: (pointers, lfsConfig) => selectLfs(facts, pointers, lfsConfig),
    download: (pointers, lfsConfig) => downloadLfs(facts, pointers, lfsConfig),
    leavingPointers,
  };
}
