import { describe, expect, it } from 'vitest';
import { Config } from '../../../src/engine/config/config.ts';
import { mapByPattern, planUpstream, trackingRefsOf, upstreamsOf } from '../../../src/engine/refs/remote-tracking.ts';

const origin = { 'remote.origin.fetch': '+refs/heads/*:refs/remotes/origin/*' };

describe('refspecs', () => {
  it('map both ways', () => {
    expect(mapByPattern('refs/heads/a/b', 'refs/heads/*', 'refs/remotes/o/*')).toBe('refs/remotes/o/a/b');
    expect(mapByPattern('refs/heads/$&x', 'refs/heads/*', 'r/*')).toBe('r/$&x');
    expect(mapByPattern('refs/x-1-y', 'refs/x-*-y', 'refs/*')).toBe('refs/1');
    expect(mapByPattern('refs/x-y', 'refs/x-*-y', 'refs/*')).toBeNull();
    expect(mapByPattern('refs/heads/main', 'refs/heads/main', 'refs/remotes/o/main')).toBe('refs/remotes/o/main');
    expect(mapByPattern('refs/heads/mainx', 'refs/heads/main', 'refs/remotes/o/main')).toBeNull();
  });

  it('that map nothing are passed over', () => {
    const config = Config.of({
      'remote.a.fetch': '^refs/heads/x',
      'remote.b.fetch': 'refs/heads/x',
      'remote.c.fetch': null,
    });
    expect(trackingRefsOf(config, 'x')).toEqual([]);
    expect(upstreamsOf(config, 'refs/heads/x')).toEqual([]);
  });
});

describe('planUpstream', () => {
  const start = 'refs/remotes/origin/topic';

  it('tracks a remote-tracking start point, unless told not to', () => {
    const expected = { branch: 'b', remote: 'origin', merge: 'refs/heads/topic', rebase: false };
    expect(planUpstream(Config.of(origin), 'b', start)).toEqual(expected);
    expect(planUpstream(Config.of({ ...origin, 'branch.autosetupmerge': 'false' }), 'b', start)).toBeNull();
    expect(planUpstream(Config.of({ ...origin, 'branch.autosetupmerge': 'simple' }), 'b', start)).toBeNull();
    expect(planUpstream(Config.of({ ...origin, 'branch.autosetupmerge': 'simple' }), 'topic', start)).toEqual({
      ...expected,
      branch: 'topic',
    });
    expect(planUpstream(Config.of({ ...origin, 'branch.autosetuprebase': 'remote' }), 'b', start)?.rebase).toBe(true);
    expect(planUpstream(Config.of({ ...origin, 'branch.autosetuprebase': 'local' }), 'b', start)?.rebase).toBe(false);
  });

  it('tracks nothing for tags, ids, and refs of no remote or of two', () => {
    const config = Config.of(origin);
    expect(planUpstream(config, 'b', null)).toBeNull();
    expect(planUpstream(config, 'b', 'refs/tags/v1')).toBeNull();
    expect(planUpstream(config, 'b', 'refs/heads/other')).toBeNull();
    const two = Config.of({ ...origin, 'remote.mirror.fetch': '+refs/heads/*:refs/remotes/origin/*' });
    expect(planUpstream(two, 'b', start)).toBeNull();
  });

  it('tracks local branches with "always", and inherits', () => {
    const always = Config.of({ 'branch.autosetupmerge': 'always', 'branch.autosetuprebase': 'local' });
    expect(planUpstream(always, 'b', 'refs/heads/a')).toEqual({
      branch: 'b',
      remote: '.',
      merge: 'refs/heads/a',
      rebase: true,
    });
    expect(planUpstream(always, 'a', 'refs/heads/a')).toBeNull();
    const inherit = Config.of({
      'branch.autosetupmerge': 'inherit',
      'branch.a.remote': 'origin',
      'branch.a.merge': 'refs/heads/z',
    });
    expect(planUpstream(inherit, 'b', 'refs/heads/a')).toEqual({
      branch: 'b',
      remote: 'origin',
      merge: 'refs/heads/z',
      rebase: false,
    });
    expect(planUpstream(inherit, 'b', 'refs/heads/c')).toBeNull();
  });
});
