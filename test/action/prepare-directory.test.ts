// What of a reused directory is kept, and that a failure which says nothing about it does not cost its contents.
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { planRefChanges, removeLeftOvers, reuseRepository } from '../../src/action/prepare-directory.ts';
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

describe('what a killed job left', () => {
  const root = mkdtempSync(join(tmpdir(), 'parallel-checkout-left-'));
  const gitDir = join(root, '.git');
  afterAll(() => rmSync(root, { recursive: true, force: true }));
  const make = (base: string, path: string): string => {
    const file = join(base, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, '');
    return file;
  };
  const places = ['.', 'modules/lib', 'modules/with/slash', 'modules/lib/modules/inner'];
  const left = [
    'index.lock',
    'config.lock',
    'refs/heads/deep/er.lock',
    'worktrees/other/HEAD.lock',
    'objects/info/commit-graphs/commit-graph-chain.lock',
    'objects/pack/tmp_pack_AbCdEf',
    'objects/pack/tmp_idx_AbCdEf',
    'objects/pack/.tmp-1-pack-0.pack',
    'objects/ab/tmp_obj_AbCdEf',
  ];
  const kept = [
    'HEAD',
    'objects/pack/pack-0.pack',
    'objects/pack/pack-0.keep',
    'objects/ab/00000000000000000000000000000000000000',
    'worktrees/other/locked',
    'logs/refs/heads/a.lock',
    'hooks/tmp_hook',
  ];

  it('goes, in the repository, its working trees and its submodules, and nothing else does', () => {
    const goes = places.flatMap((place) => left.map((path) => make(join(gitDir, place), path)));
    const stays = places.flatMap((place) => kept.map((path) => make(join(gitDir, place), path)));
    const elsewhere = make(root, 'elsewhere/index.lock');
    make(root, 'elsewhere/HEAD');
    symlinkSync(join(root, 'elsewhere'), join(gitDir, 'modules', 'link'));
    symlinkSync(join(root, 'elsewhere'), join(gitDir, 'refs', 'link'));
    expect(removeLeftOvers(gitDir).sort()).toEqual(goes.sort());
    expect(goes.filter((path) => existsSync(path))).toEqual([]);
    expect([...stays, elsewhere].filter((path) => !existsSync(path))).toEqual([]);
    expect(removeLeftOvers(gitDir)).toEqual([]);
  });

  it('is nothing where there is no repository', () => {
    expect(removeLeftOvers(join(root, 'nowhere'))).toEqual([]);
  });
});
