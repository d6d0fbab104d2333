/**
 * From what the `ref` input says to what is fetched and what HEAD becomes. Pure: what the remote has is an argument. The
 * table of refspecs is that of actions/checkout, since later steps rely on which refs are there; two rows differ, each
 * marked.
 */
import { CheckoutError } from '../engine/errors.ts';
import type { CheckoutTarget } from '../engine/settings.ts';

/** The ref input, told apart. Names are without their prefix. */
export type RefForm =
  | { readonly kind: 'branch'; readonly name: string; readonly commit: string }
  | { readonly kind: 'pull'; readonly name: string; readonly commit: string }
  | { readonly kind: 'tag'; readonly name: string; readonly commit: string }
  /** `refs/…` of another kind; `name` is the whole ref. */
  | { readonly kind: 'other'; readonly name: string; readonly commit: string }
  /** A short name; branches win over tags. */
  | { readonly kind: 'unqualified'; readonly name: string }
  | { readonly kind: 'commit'; readonly commit: string };

/** What the remote has of an unqualified name. */
export interface RemoteName {
  readonly branch: boolean;
  readonly tag: boolean;
}

export const ALL_BRANCHES = '+refs/heads/*:refs/remotes/origin/*';
export const ALL_TAGS = '+refs/tags/*:refs/tags/*';

/** True for a whole object id, SHA-1 or SHA-256, in either case. */
export function isObjectId(text: string): boolean {
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/i.test(text);
}

/**
 * Why git would refuse this ref name, or null (git-check-ref-format(1)). Without this a name with a colon or a star would
 * be read as a refspec of its own.
 */
export function invalidRefName(name: string): string | null {
  if (name === '' || name === '@') return 'it is not a name';
  // eslint-disable-next-line no-control-regex -- control characters are what is looked for
  if (/[\u0000-\u0020\u007f~^:?*[\\]/.test(name)) return 'it holds a blank, a control character or one of ~^:?*[\\';
  if (name.includes('..') || name.includes('@{')) return "it holds '..' or '@{'";
  if (name.startsWith('/') || name.endsWith('/') || name.includes('//')) return 'it has an empty part';
  if (name.endsWith('.')) return "it ends in '.'";
  for (const part of name.split('/')) {
    if (part.startsWith('.') || part.endsWith('.lock')) return `a part starts with '.' or ends in '.lock'`;
  }
  return null;
}

/** Tells the forms apart. Prefixes in any case count, the rest keeps its case. Throws `usage` for an impossible name. */
export function refForm(ref: string, commit: string): RefForm {
  if (ref === '') {
    if (commit === '') throw new CheckoutError('usage', 'neither a ref nor a commit to check out', { option: 'ref' });
    return { kind: 'commit', commit };
  }
  const reason = invalidRefName(ref);
  if (reason !== null) {
    throw new CheckoutError('usage', `input 'ref' cannot be a ref: '${printable(ref)}': ${reason}`, { option: 'ref' });
  }
  const lower = ref.toLowerCase();
  const after = (prefix: string): string => ref.slice(prefix.length);
  if (lower.startsWith('refs/heads/')) return { kind: 'branch', name: after('refs/heads/'), commit };
  if (lower.startsWith('refs/pull/')) return { kind: 'pull', name: after('refs/pull/'), commit };
  if (lower.startsWith('refs/tags/')) return { kind: 'tag', name: after('refs/tags/'), commit };
  if (lower.startsWith('refs/')) return { kind: 'other', name: ref, commit };
  // A commit is given beside a ref only by events, whose refs are qualified by the time they come here.
  return { kind: 'unqualified', name: ref };
}

function printable(text: string): string {
  // eslint-disable-next-line no-control-regex -- control characters must not reach the log
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, (character) =>
    JSON.stringify(character).slice(1, -1),
  );
}

function unknownRef(name: string): CheckoutError {
  const hint = /^[0-9a-f]{4,63}$/i.test(name) ? '; a commit must be given by its whole id' : '';
  return new CheckoutError('unknown-revision', `the repository has no branch or tag named '${name}'${hint}`, {
    option: 'ref',
  });
}

/** The refspecs of the one ref alone, whatever the depth. Throws `unknown-revision` for a name that the remote lacks. */
export function exactRefspecs(form: RefForm, remote: RemoteName = { branch: false, tag: false }): string[] {
  switch (form.kind) {
    case 'branch':
      return [`+${form.commit || `refs/heads/${form.name}`}:refs/remotes/origin/${form.name}`];
    case 'pull':
      return [`+${form.commit || `refs/pull/${form.name}`}:refs/remotes/pull/${form.name}`];
    case 'tag':
      return [`+refs/tags/${form.name}:refs/tags/${form.name}`];
    case 'other':
      return [form.commit || `+${form.name}:${form.name}`];
    case 'commit':
      return [form.commit];
    case 'unqualified': {
      // actions/checkout fetches every branch and tag that starts with the name; this fetches what has the name.
      if (!remote.branch && !remote.tag) throw unknownRef(form.name);
      const specs: string[] = [];
      if (remote.branch) specs.push(`+refs/heads/${form.name}:refs/remotes/origin/${form.name}`);
      if (remote.tag) specs.push(`+refs/tags/${form.name}:refs/tags/${form.name}`);
      return specs;
    }
  }
}

/**
 * What to ask the remote for. `depth` 0 is all history. `remote` is needed for an unqualified name with a depth.
 */
export function refspecs(
  form: RefForm,
  options: { readonly depth: number; readonly tags: boolean },
  remote?: RemoteName,
): string[] {
  if (options.depth > 0) {
    const exact = exactRefspecs(form, remote);
    if (!options.tags) return exact;
    return [ALL_TAGS, ...exact.filter((spec) => !spec.startsWith('+refs/tags/'))];
  }
  const all = [ALL_BRANCHES, ALL_TAGS];
  // actions/checkout leaves out refs of other kinds here, and then cannot check them out.
  if (form.kind === 'pull' || form.kind === 'other') return [...all, ...exactRefspecs(form)];
  return all;
}

/** What HEAD becomes. `remote` decides between the branch and the tag of an unqualified name. */
export function checkoutTarget(form: RefForm, remote?: RemoteName): CheckoutTarget {
  switch (form.kind) {
    case 'branch':
      return { kind: 'branch', branch: form.name, startPoint: `refs/remotes/origin/${form.name}` };
    case 'pull':
      return { kind: 'detach', revision: `refs/remotes/pull/${form.name}` };
    case 'tag':
      return { kind: 'detach', revision: `refs/tags/${form.name}` };
    case 'other':
      return { kind: 'detach', revision: form.commit || form.name };
    case 'commit':
      return { kind: 'detach', revision: form.commit };
    case 'unqualified':
      if (remote?.branch === true) {
        return { kind: 'branch', branch: form.name, startPoint: `refs/remotes/origin/${form.name}` };
      }
      if (remote?.tag === true) return { kind: 'detach', revision: `refs/tags/${form.name}` };
      throw unknownRef(form.name);
  }
}

/** What the checkout is made from, by a name that the fetch of the refspecs has made good. */
export function fetchedRevision(form: RefForm, remote?: RemoteName): string {
  const target = checkoutTarget(form, remote);
  if (target.kind === 'branch') return target.startPoint;
  return target.kind === 'detach' ? target.revision : 'HEAD';
}

/**
 * What has to be looked up after the fetch to be sure that the ref still is at the event's commit: `revision` must
 * resolve, to `expected` if that is given. Null where the fetch itself has made sure, or there is nothing to compare.
 */
export function refTest(form: RefForm, depth: number): { revision: string; expected: string | null } | null {
  switch (form.kind) {
    case 'branch':
      // With a depth the refspec is the commit itself, so that the branch cannot be elsewhere.
      if (form.commit === '' || depth > 0) return null;
      return { revision: `refs/remotes/origin/${form.name}`, expected: form.commit };
    case 'tag':
      return form.commit === '' ? null : { revision: `refs/tags/${form.name}^{commit}`, expected: form.commit };
    case 'commit':
      return depth > 0 ? null : { revision: `${form.commit}^{object}`, expected: null };
    case 'pull':
    case 'other':
    case 'unqualified':
      return null;
  }
}

/** The branch that a checkout of this ref would have to make room for among the tracking refs, or null. */
export function branchOf(form: RefForm): string | null {
  return form.kind === 'branch' || form.kind === 'unqualified' ? form.name : null;
}
