/**
 * What refspecs ask of a server that is asked by ourselves: which ids to want, and which refs to set to them. Pure.
 */
import { CheckoutError } from '../errors.ts';
import { isHexOid, type ObjectFormat } from '../oid.ts';
import type { CheckoutTarget } from '../settings.ts';
import type { RemoteRef } from './protocol-v2.ts';
import { redactUrls } from './redact.ts';

/** A refspec, taken apart. */
export interface Refspec {
  readonly source: string;
  /** '' for none: then the id is in FETCH_HEAD alone. */
  readonly destination: string;
}

/** A ref that is to be set. */
export interface RefUpdate {
  /** As the server calls it, or the id that was asked for. */
  readonly source: string;
  readonly destination: string;
  /** Hexadecimal. */
  readonly oid: string;
  /** Was asked for, rather than a tag that came with what was. */
  readonly forMerge: boolean;
}

export function parseRefspec(text: string): Refspec {
  const [source = '', destination = ''] = text.replace(/^\+/, '').split(':');
  return { source, destination };
}

/** Prefixes of names to ask the server for; empty where all are ids. */
export function refPrefixes(refspecs: readonly Refspec[], format: ObjectFormat): string[] {
  return refspecs
    .filter(({ source }) => !isHexOid(source, format))
    .map(({ source }) => (source.endsWith('*') ? source.slice(0, -1) : source));
}

/**
 * The refs that a fetch sets.
 * @throws CheckoutError unknown-revision for a name that the server lacks
 */
export function planRefUpdates(
  refspecs: readonly Refspec[],
  remote: readonly RemoteRef[],
  format: ObjectFormat,
): RefUpdate[] {
  const byName = new Map(remote.map((ref) => [ref.name, ref]));
  return refspecs.flatMap(({ source, destination }): RefUpdate[] => {
    if (isHexOid(source, format)) return [{ source, destination, oid: source.toLowerCase(), forMerge: true }];
    if (source.endsWith('*')) {
      const prefix = source.slice(0, -1);
      return remote
        .filter(({ name }) => name.startsWith(prefix))
        .map(({ name, oid }) => ({
          source: name,
          destination: destination.replace('*', () => name.slice(prefix.length)),
          oid,
          forMerge: true,
        }));
    }
    const ref = byName.get(source);
    if (ref === undefined) {
      throw new CheckoutError('unknown-revision', `the server has no ref '${source}'`, { option: 'ref' });
    }
    return [{ source, destination, oid: ref.oid, forMerge: true }];
  });
}

/**
 * The tags that follow what was fetched (git-fetch(1), "--no-tags"): those of objects that came.
 * @param has whether an object came, by its hexadecimal id
 */
export function followedTags(
  remote: readonly RemoteRef[],
  updates: readonly RefUpdate[],
  has: (oid: string) => boolean,
): RefUpdate[] {
  const planned = new Set(updates.map(({ destination }) => destination));
  return remote
    .filter(({ name, oid, peeled }) => {
      return name.startsWith('refs/tags/') && !planned.has(name) && has(oid) && (peeled === null || has(peeled));
    })
    .map(({ name, oid }) => ({ source: name, destination: name, oid, forMerge: false }));
}

/** The id that a checkout's target will name, of what is fetched; null where that is not told by the refs. Tags are peeled. */
export function targetOid(
  target: CheckoutTarget,
  updates: readonly RefUpdate[],
  remote: readonly RemoteRef[],
  format: ObjectFormat,
): string | null {
  if (target.kind === 'head') return null;
  const revision = target.kind === 'branch' ? target.startPoint : target.revision;
  if (isHexOid(revision, format)) return revision.toLowerCase();
  const update = updates.find(({ destination }) => destination === revision);
  if (update === undefined) return null;
  return remote.find(({ name, oid }) => name === update.source && oid === update.oid)?.peeled ?? update.oid;
}

/** What FETCH_HEAD says of what was fetched (git-fetch(1)). A URL's user and password are left out. */
export function fetchHeadLines(updates: readonly RefUpdate[], url: string): string {
  const from = redactUrls(url)
    .replace(/\/+$/, '')
    .replace(/\.git$/, '');
  const inOrder = [...updates.filter(({ forMerge }) => forMerge), ...updates.filter(({ forMerge }) => !forMerge)];
  return inOrder
    .map(({ source, oid, forMerge }) => {
      const [, kind = '', name = ''] = /^refs\/(heads|tags|remotes)\/(.+)$/.exec(source) ?? [];
      const what = new Map([
        ['heads', 'branch '],
        ['tags', 'tag '],
        ['remotes', 'remote-tracking branch '],
      ]).get(kind);
      const named = what === undefined ? `'${source}' of ` : `${what}'${name}' of `;
      const note = source === 'HEAD' ? '' : named;
      return `${oid}\t${forMerge ? '' : 'not-for-merge'}\t${note}${from}\n`;
    })
    .join('');
}

/** The reflog's word for what kind of ref was stored. */
export function storedAs(source: string): string {
  if (source.startsWith('refs/tags/')) return 'storing tag';
  return source.startsWith('refs/heads/') ? 'storing head' : 'storing ref';
}
