// What of a reused directory is kept, and that a failure which says nothing about it does not cost its contents.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { planRefChanges, reuseRepository } from '../../src/action/prepare-directory.ts';
import { refForm } from '../../src/action/ref.ts';
import { CheckoutError, type ErrorCode } from '../../src/engine/errors.ts';
import { git } from './git-fixture.ts';

const SHA = 'd'.repeat(40);

describe('what a reused repository keeps', () => {
  const ref = (name: string, isHead = false): { name: string; oid: string; isHead: boolean } => ({
    name,
    oid: SHA,
    isHead,
  });
  const refs = [
    ref('refs/heads/main', true),
    ref('refs/heads/other'),
    ref('refs/remotes/origin/main'),
    ref('refs/remotes/origin/Main/deep'),
    ref('refs/remotes/origin/mainly'),
  ];

  it('is the branch to be checked out, if HEAD is on it', () => {
    expect(planRefChanges(refs, refForm('refs/heads/main', SHA))).toEqual({
      detachAt: null,
      remove: ['refs/heads/other', 'refs/remotes/origin/Main/deep'],
    });
  });

  it('is no local branch otherwise', () => {
    expect(planRefChanges(refs, refForm('refs/tags/main', ''))).toEqual({
      detachAt: SHA,
      remove: ['refs/heads/main', 'refs/heads/other'],
    });
    expect(planRefChanges(refs, null)).toEqual({ detachAt: SHA, remove: ['refs/heads/main', 'refs/heads/other'] });
    expect(planRefChanges(refs, refForm('refs/heads/main/deep/er', '')).remove).toEqual([
      'refs/heads/main',
      'refs/heads/other',
      'refs/remotes/origin/main',
      'refs/remotes/origin/Main/deep',
    ]);
  });
});

describe('a reused repository', () => {
  const directory = mkdtempSync(join(tmpdir(), 'parallel-checkout-reuse-'));
  git(directory, ['init', '-q']);
  git(directory, ['remote', 'add', 'origin', 'https://example.com/a']);
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
  const reuse = (code: ErrorCode): ReturnType<typeof reuseRepository> =>
    reuseRepository({
      repositoryPath: directory,
      url: 'https://example.com/a',
      form: refForm('main', ''),
      git: () => Promise.reject(new CheckoutError(code, `failed with ${code}`)),
    });

  it.each(['interrupted', 'git-missing'] as const)(
    'is not given up when git was kept from looking (%s)',
    async (code) => {
      await expect(reuse(code)).rejects.toThrow(`failed with ${code}`);
    },
  );

  it('is given up when git cannot make sense of it', async () => {
    expect(await reuse('git-failed')).toEqual({ reason: 'failed with git-failed', expected: false });
  });
});
