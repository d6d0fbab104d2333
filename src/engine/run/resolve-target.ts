/**
 * Looks up what a target names: the commit, and what becomes of HEAD and the branch.
 */
import type { HeadChange } from '../refs/head-update.ts';
import { type UpstreamPlan, planUpstream } from '../refs/remote-tracking.ts';
import { type RevisionFacts, resolveCheckoutRevision, resolveRevision } from '../refs/revision.ts';
import type { Session } from './session.ts';

/** Where HEAD goes, with everything that the target's names stand for looked up. */
interface ResolvedTarget {
  /** Id of what was named: a commit, or a tag that leads to one. */
  readonly oid: string;
  /** The ref that was named, symbolic refs followed: what filter drivers are told. */
  readonly refName: string | null;
  /** null: HEAD stays as it is. */
  readonly change: ((commit: string) => HeadChange) | null;
  readonly upstream: UpstreamPlan | null;
}

export async function resolveTarget(session: Session): Promise<ResolvedTarget> {
  const { request, repository, config, ports } = session;
  const facts: RevisionFacts = {
    dirs: repository,
    objectFormat: repository.objectFormat,
    config,
    git: ports.git,
    gitOptions: repository.gitOptions,
    cwd: repository.workTree,
    signal: request.signal,
  };
  const { target } = request;
  const branchFrom = (
    branch: string,
    start: { oid: string; refName: string | null },
    startPoint: string,
  ): ResolvedTarget => ({
    oid: start.oid,
    refName: start.refName,
    change: (commit) => ({ kind: 'reset-branch', refName: `refs/heads/${branch}`, oid: commit, startPoint }),
    upstream: start.refName === null ? null : planUpstream(config, branch, start.refName),
  });
  switch (target.kind) {
    case 'branch':
      return branchFrom(target.branch, await resolveRevision(facts, target.startPoint), target.startPoint);
    case 'detach': {
      const { oid, refName } = await resolveRevision(facts, target.revision);
      return {
        oid,
        refName,
        change: (commit) => ({ kind: 'detach', oid: commit, to: target.revision }),
        upstream: null,
      };
    }
    case 'head':
    case 'revision': {
      const text = target.kind === 'head' ? 'HEAD' : target.revision;
      const found = await resolveCheckoutRevision(facts, text);
      if (found.kind === 'head') return { oid: found.oid, refName: null, change: null, upstream: null };
      if (found.kind === 'detached') {
        // '@{-1}' stands for what was checked out before, and it is that which the reflog names.
        const to = /^(-|@\{-[0-9]+\})$/.test(text) ? found.oid : text;
        const change = (commit: string): HeadChange => ({ kind: 'detach', oid: commit, to });
        return { oid: found.oid, refName: found.refName, change, upstream: null };
      }
      if (found.trackingRef !== undefined) {
        const branch = found.refName.slice('refs/heads/'.length);
        return branchFrom(branch, { oid: found.oid, refName: found.trackingRef }, found.trackingRef);
      }
      const { oid, refName } = found;
      return { oid, refName, change: () => ({ kind: 'switch', refName }), upstream: null };
    }
  }
}
