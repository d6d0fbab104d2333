/**
 * Which remote branch a remote-tracking ref stands for, by the fetch refspecs in the configuration. `git checkout`
 * needs it both ways: to set a new branch's upstream, and to find the remote branch that a bare name may mean. Pure.
 */
import type { Config } from '../config/config.ts';

/** A branch of a remote. */
export interface Upstream {
  readonly remote: string;
  /** The ref's name at the remote, such as 'refs/heads/main'. */
  readonly merge: string;
}

interface Refspec {
  readonly source: string;
  readonly destination: string;
}

/** The refspecs of a remote that have a destination; negative and source-only ones map nothing. */
function fetchRefspecs(config: Config, remote: string): Refspec[] {
  return config.getAll(`remote.${remote}.fetch`).flatMap((text) => {
    if (text === null || text.startsWith('^')) return [];
    const [source, destination] = text.replace(/^\+/, '').split(':');
    return source === undefined || destination === undefined || source === '' || destination === ''
      ? []
      : [{ source, destination }];
  });
}

/** Maps `name` through a pattern with at most one '*' on each side; null when it does not match. */
export function mapByPattern(name: string, from: string, to: string): string | null {
  const star = from.indexOf('*');
  if (star < 0) return name === from ? to : null;
  const prefix = from.slice(0, star);
  const suffix = from.slice(star + 1);
  if (name.length < prefix.length + suffix.length || !name.startsWith(prefix) || !name.endsWith(suffix)) return null;
  // A function, since '$' in the middle part would be a pattern of String.replace.
  const middle = name.slice(prefix.length, name.length - suffix.length);
  return to.replace('*', () => middle);
}

/** Every remote branch that is fetched into `trackingRef`. */
export function upstreamsOf(config: Config, trackingRef: string): Upstream[] {
  return config.subsections('remote').flatMap((remote) =>
    fetchRefspecs(config, remote).flatMap(({ source, destination }) => {
      const merge = mapByPattern(trackingRef, destination, source);
      return merge === null ? [] : [{ remote, merge }];
    }),
  );
}

/** Where each remote's branch `branch` is kept here, whether or not that ref exists. */
export function trackingRefsOf(config: Config, branch: string): { readonly remote: string; readonly ref: string }[] {
  return config.subsections('remote').flatMap((remote) =>
    fetchRefspecs(config, remote).flatMap(({ source, destination }) => {
      const ref = mapByPattern(`refs/heads/${branch}`, source, destination);
      return ref === null ? [] : [{ remote, ref }];
    }),
  );
}

/** What a new branch's configuration gets. */
export interface UpstreamPlan {
  readonly branch: string;
  /** '.' for a branch of this repository. */
  readonly remote: string;
  readonly merge: string;
  /** Pull by rebase (branch.autoSetupRebase). */
  readonly rebase: boolean;
}

/**
 * The upstream that `git checkout -B branch start` sets when `start` names the ref `startRef` (git-config(1),
 * branch.autoSetupMerge and branch.autoSetupRebase); null for none.
 */
export function planUpstream(config: Config, branch: string, startRef: string | null): UpstreamPlan | null {
  const mode = config.getBoolOrText('branch.autoSetupMerge') ?? true;
  if (startRef === null || mode === false) return null;
  const text = typeof mode === 'string' ? mode.toLowerCase() : '';
  if (text === 'inherit') {
    // Only a branch has an upstream to hand on.
    if (!startRef.startsWith('refs/heads/')) return null;
    const parent = startRef.slice('refs/heads/'.length);
    const remote = config.get(`branch.${parent}.remote`);
    const merge = config.get(`branch.${parent}.merge`);
    if (remote === undefined || merge === undefined) return null;
    return { branch, remote, merge, rebase: rebases(config, remote === '.') };
  }
  const upstreams = upstreamsOf(config, startRef);
  const upstream = upstreams[0];
  // More than one remote could be meant: git tracks none of them.
  if (upstreams.length > 1) return null;
  if (upstream === undefined) {
    if (text !== 'always' || !startRef.startsWith('refs/heads/') || startRef === `refs/heads/${branch}`) return null;
    return { branch, remote: '.', merge: startRef, rebase: rebases(config, true) };
  }
  if (text === 'simple' && upstream.merge !== `refs/heads/${branch}`) return null;
  return { branch, ...upstream, rebase: rebases(config, false) };
}

function rebases(config: Config, local: boolean): boolean {
  const mode = config.get('branch.autoSetupRebase') ?? 'never';
  return mode === 'always' || mode === (local ? 'local' : 'remote');
}
