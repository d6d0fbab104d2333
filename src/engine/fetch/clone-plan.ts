/**
 * Which refs a clone fetches and where HEAD goes then. `git clone` asks the remote for all of its refs to decide this;
 * a branch that is named needs no question. Pure.
 */
import { CheckoutError } from '../errors.ts';
import { formatOfHexOid, type ObjectFormat } from '../oid.ts';
import { isValidBranchName, isValidRefName } from '../refs/ref-names.ts';
import type { CheckoutTarget } from '../settings.ts';

/** What the remote said about its HEAD. */
export type RemoteHead =
  | { readonly kind: 'branch'; readonly branch: string }
  | { readonly kind: 'detached'; readonly oid: string }
  /** No refs at all. */
  | { readonly kind: 'empty' };

/** One way to fetch; when the remote lacks the ref, the next one is tried. */
export interface CloneAttempt {
  readonly refspecs: readonly string[];
  /** Follow tags that point into what is fetched. */
  readonly tags: boolean;
  /** Value of remote.origin.fetch afterwards. */
  readonly configuredRefspec: string;
  /** Where HEAD goes. */
  readonly target: CheckoutTarget;
  /** The branch that the remote's HEAD is on, where it was asked for. */
  readonly remoteHead: string | null;
}

const ALL_BRANCHES = '+refs/heads/*:refs/remotes/origin/*';
const ALL_TAGS = '+refs/tags/*:refs/tags/*';

/** Where a ref of the remote is kept here, as actions/checkout keeps them. */
function localRef(ref: string): string {
  if (ref.startsWith('refs/heads/')) return `refs/remotes/origin/${ref.slice('refs/heads/'.length)}`;
  if (ref.startsWith('refs/pull/')) return `refs/remotes/pull/${ref.slice('refs/pull/'.length)}`;
  return ref;
}

/**
 * The ways to fetch `ref` (a branch, tag, full ref or commit id), in the order to try them.
 *
 * @param ref what was asked for; undefined for the remote's HEAD, which `head` then tells
 * @param depth commits of history; with one, only what is needed is fetched, as `git clone --depth` does
 * @throws CheckoutError 'usage' when `ref` can be no ref
 */
export function planCloneRefspecs(
  ref: string | undefined,
  depth: number | undefined,
  head: RemoteHead | null,
): readonly CloneAttempt[] {
  const single = depth !== undefined;
  const attempt = (source: string, target: CheckoutTarget, configured: string): CloneAttempt => ({
    refspecs: single ? [`+${source}:${localRef(source)}`] : withAll(source),
    tags: true,
    configuredRefspec: single ? configured : ALL_BRANCHES,
    target,
    remoteHead: head?.kind === 'branch' ? head.branch : null,
  });
  const branch = (name: string): CloneAttempt => {
    const source = `refs/heads/${name}`;
    const target: CheckoutTarget = { kind: 'branch', branch: name, startPoint: localRef(source) };
    return attempt(source, target, `+${source}:${localRef(source)}`);
  };
  const other = (source: string): CloneAttempt => {
    return attempt(source, { kind: 'detach', revision: localRef(source) }, `+${source}:${localRef(source)}`);
  };

  if (ref === undefined) {
    if (head === null || head.kind === 'empty') return [];
    return head.kind === 'branch' ? [branch(head.branch)] : commit(head.oid, single);
  }
  if (formatOfHexOid(ref) !== null) return commit(ref.toLowerCase(), single);
  if (!isValidRefName(ref) || ref.startsWith('-')) {
    throw new CheckoutError('usage', `'${ref}' is not the name of a branch, tag or ref, nor a commit id`, {
      option: 'ref',
    });
  }
  if (ref.startsWith('refs/heads/')) {
    const name = ref.slice('refs/heads/'.length);
    if (isValidBranchName(name)) return [branch(name)];
  }
  if (ref.startsWith('refs/')) return [other(ref)];
  return [branch(ref), other(`refs/tags/${ref}`)];
}

/** Every branch and tag, and `source` where they do not hold it already. */
function withAll(source: string): string[] {
  const all = [ALL_BRANCHES, ALL_TAGS];
  // The named ref comes too even where a pattern covers it: a remote that lacks it then says so.
  return [...all, `+${source}:${localRef(source)}`];
}

function commit(oid: string, single: boolean): CloneAttempt[] {
  const target: CheckoutTarget = { kind: 'detach', revision: oid };
  const shared = { tags: true, configuredRefspec: ALL_BRANCHES, target, remoteHead: null };
  if (single) return [{ ...shared, refspecs: [oid] }];
  return [
    { ...shared, refspecs: [ALL_BRANCHES, ALL_TAGS, oid] },
    // A server that gives no commit by its id may have it in a branch.
    { ...shared, refspecs: [ALL_BRANCHES, ALL_TAGS] },
  ];
}

/**
 * Reads the answer of `git ls-remote --symref URL HEAD`: "ref: refs/heads/main TAB HEAD" and "OID TAB HEAD". A HEAD on
 * a branch without commits is told by neither line.
 */
export function parseRemoteHead(answer: string): RemoteHead {
  const lines = answer.split('\n');
  for (const line of lines) {
    const branch = /^ref: refs\/heads\/(.+)\tHEAD$/.exec(line)?.[1];
    if (branch !== undefined && isValidBranchName(branch)) return { kind: 'branch', branch };
  }
  for (const line of lines) {
    const oid = /^([0-9a-f]{40}|[0-9a-f]{64})\tHEAD$/.exec(line)?.[1];
    if (oid !== undefined) return { kind: 'detached', oid };
  }
  return { kind: 'empty' };
}

/** The object format of a remote that answered as `parseRemoteHead` reads it: that of its ids. Null when it gave none. */
export function remoteObjectFormat(answer: string): ObjectFormat | null {
  const oid = /^([0-9a-f]+)\t/m.exec(answer)?.[1];
  return oid === undefined ? null : formatOfHexOid(oid);
}
