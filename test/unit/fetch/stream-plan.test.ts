import { describe, expect, it } from 'vitest';
import type { RemoteRef } from '../../../src/engine/fetch/protocol-v2.ts';
import {
  fetchHeadLines,
  followedTags,
  parseRefspec,
  planRefUpdates,
  refPrefixes,
  storedAs,
  targetOid,
} from '../../../src/engine/fetch/stream-plan.ts';
import { SHA1 } from '../../../src/engine/oid.ts';

const A = 'a'.repeat(40);
const B = 'b'.repeat(40);
const C = 'c'.repeat(40);
const ref = (name: string, oid: string, peeled: string | null = null): RemoteRef => ({
  name,
  oid,
  target: null,
  peeled,
});
const remote = [
  ref('HEAD', A),
  ref('refs/heads/main', A),
  ref('refs/heads/x/$&', B),
  ref('refs/tags/v1', C, A),
  ref('refs/tags/v2', B),
];

describe('refspecs', () => {
  it('are taken apart', () => {
    expect(parseRefspec('+refs/heads/*:refs/remotes/origin/*')).toEqual({
      source: 'refs/heads/*',
      destination: 'refs/remotes/origin/*',
    });
    expect(parseRefspec(A)).toEqual({ source: A, destination: '' });
  });

  it('ask for the beginnings of names, and for ids not at all', () => {
    const specs = ['+refs/heads/*:refs/remotes/o/*', `${A}:refs/x`, 'HEAD', 'refs/tags/v1:refs/tags/v1'].map((text) =>
      parseRefspec(text),
    );
    expect(refPrefixes(specs, SHA1)).toEqual(['refs/heads/', 'HEAD', 'refs/tags/v1']);
  });

  it('say which refs are set', () => {
    const plan = (text: string): unknown => planRefUpdates([parseRefspec(text)], remote, SHA1);
    expect(plan('+refs/heads/*:refs/remotes/origin/*')).toEqual([
      { source: 'refs/heads/main', destination: 'refs/remotes/origin/main', oid: A, forMerge: true },
      { source: 'refs/heads/x/$&', destination: 'refs/remotes/origin/x/$&', oid: B, forMerge: true },
    ]);
    expect(plan(`${B.toUpperCase()}:refs/remotes/pull/1`)).toEqual([
      { source: B.toUpperCase(), destination: 'refs/remotes/pull/1', oid: B, forMerge: true },
    ]);
    expect(() => plan('refs/heads/none:refs/x')).toThrow(
      expect.objectContaining({ code: 'unknown-revision', subject: { option: 'ref' } }) as Error,
    );
    expect(plan('refs/none/*:refs/x/*')).toEqual([]);
  });
});

describe('tags', () => {
  it('follow what they are of, once', () => {
    const updates = planRefUpdates([parseRefspec('refs/tags/v2:refs/tags/v2')], remote, SHA1);
    const tags = followedTags(remote, updates, (oid) => oid !== B);
    expect(tags).toEqual([{ source: 'refs/tags/v1', destination: 'refs/tags/v1', oid: C, forMerge: false }]);
    // A tag whose commit did not come, and a commit whose tag did not.
    expect(followedTags(remote, [], (oid) => oid === C)).toEqual([]);
    expect(followedTags(remote, [], (oid) => oid === A)).toEqual([]);
  });
});

describe('what will be checked out', () => {
  it('is told by the refs, tags peeled', () => {
    const updates = planRefUpdates(
      ['refs/tags/v1:refs/tags/v1', 'refs/heads/main:refs/remotes/o/main'].map((text) => parseRefspec(text)),
      remote,
      SHA1,
    );
    const oid = (revision: string): string | null =>
      targetOid({ kind: 'detached', revision } as never, updates, remote, SHA1);
    expect(oid('refs/tags/v1')).toBe(A);
    expect(oid('refs/remotes/o/main')).toBe(A);
    expect(oid(B.toUpperCase())).toBe(B);
    expect(oid('refs/remotes/o/none')).toBeNull();
    expect(
      targetOid({ kind: 'branch', name: 'main', startPoint: 'refs/remotes/o/main' } as never, updates, remote, SHA1),
    ).toBe(A);
    expect(targetOid({ kind: 'head' } as never, updates, remote, SHA1)).toBeNull();
  });
});

describe('FETCH_HEAD', () => {
  it('names what was asked for first, and no password', () => {
    const update = (source: string, forMerge: boolean): Parameters<typeof fetchHeadLines>[0][number] => ({
      source,
      destination: '',
      oid: A,
      forMerge,
    });
    expect(
      fetchHeadLines(
        [update('refs/tags/v1', false), update('refs/heads/a/b', true), update(B, true), update('HEAD', true)],
        'https://u:secret@h/r.git/',
      ),
    ).toBe(
      `${A}\t\tbranch 'a/b' of https://h/r\n${A}\t\t'${B}' of https://h/r\n${A}\t\thttps://h/r\n${A}\tnot-for-merge\ttag 'v1' of https://h/r\n`,
    );
    expect(['refs/tags/x', 'refs/heads/x', 'refs/pull/1'].map((source) => storedAs(source))).toEqual([
      'storing tag',
      'storing head',
      'storing ref',
    ]);
  });
});
