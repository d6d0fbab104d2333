// What of a reused directory is kept, and that a failure which says nothing about it does not cost its contents.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { planRefChanges, reuseRepository } from '../../src/action/prepare-directory.ts';
import { refForm } from '../../src/action/ref.ts';
import { endOrphans, removeLeftOvers, runMark } from '../../src/engine/engine.ts';
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
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'parallel-checkout-left-')));
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
    'info/sparse-checkout.lock',
    'logs/refs/heads/a.lock',
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
    'hooks/tmp_hook',
    'hooks/Gemfile.lock',
  ];

  it('goes, in the repository, its working trees and its submodules, and nothing else does', () => {
    const goes = places.flatMap((place) => left.map((path) => make(join(gitDir, place), path)));
    const stays = places.flatMap((place) => kept.map((path) => make(join(gitDir, place), path)));
    const elsewhere = make(root, 'elsewhere/index.lock');
    make(root, 'elsewhere/HEAD');
    symlinkSync(join(root, 'elsewhere'), join(gitDir, 'modules', 'link'));
    symlinkSync(join(root, 'elsewhere'), join(gitDir, 'refs', 'link'));
    const { removed, held } = removeLeftOvers(gitDir, root);
    expect([[...removed].sort(), held]).toEqual([goes.sort(), []]);
    expect(goes.filter((path) => existsSync(path))).toEqual([]);
    expect([...stays, elsewhere].filter((path) => !existsSync(path))).toEqual([]);
    expect(removeLeftOvers(gitDir, root).removed).toEqual([]);
  });

  const itOnLinux = it.skipIf(process.platform !== 'linux');

  itOnLinux('stays while a git process that is older works there, or somebody has it open', async () => {
    const past = new Date(Date.now() - 3_600_000);
    const old = make(gitDir, 'index.lock');
    const open = make(gitDir, 'objects/pack/tmp_pack_open');
    for (const path of [old, open]) utimesSync(path, past, past);
    // Named as git, and waiting in the working tree.
    const program = join(root, 'git-waits');
    copyFileSync('/bin/sleep', program);
    chmodSync(program, 0o755);
    const processes = [
      spawn(program, ['60'], { cwd: join(root, '.git') }),
      spawn('sleep', ['60'], { cwd: '/', stdio: [openSync(open, 'r'), 'ignore', 'ignore'] }),
    ];
    try {
      await Promise.all(processes.map((each) => once(each, 'spawn')));
      const young = make(gitDir, 'config.lock');
      const found = removeLeftOvers(gitDir, root);
      expect(found.removed).toEqual([old]);
      expect([...found.held].sort()).toEqual([young, open].sort());
    } finally {
      await Promise.all(processes.map((each) => (each.kill('SIGKILL'), once(each, 'exit'))));
    }
    expect(removeLeftOvers(gitDir, root).removed).toHaveLength(2);
  });

  itOnLinux('at work is ended, and nobody else is', async () => {
    const program = join(root, 'git-orphan');
    // Once it heeds the signal, once it does not.
    writeFileSync(program, '#!/bin/sh\n[ "$1" = deaf ] && trap "" TERM\necho\nwhile :; do sleep 0.05; done\n', {
      mode: 0o755,
    });
    const self = runMark();
    const dead = { PARALLEL_CHECKOUT_RUN: `${process.pid}:1` };
    const start = (env: Record<string, string>, cwd: string, deaf = ''): ReturnType<typeof spawn> =>
      spawn(program, [deaf], { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'ignore'] });
    const orphans = [start(dead, gitDir), start(dead, root, 'deaf')];
    const others = [start(self, root), start({}, root), start(dead, tmpdir())];
    try {
      await Promise.all([...orphans, ...others].map((each) => once(each.stdout!, 'data')));
      const ended = await endOrphans(root, 200);
      expect(ended.map(({ pid }) => pid).sort()).toEqual(orphans.map(({ pid }) => pid).sort());
      for (const each of orphans) if (each.exitCode === null && each.signalCode === null) await once(each, 'exit');
      expect(others.map((each) => each.exitCode ?? each.signalCode)).toEqual([null, null, null]);
    } finally {
      for (const each of [...orphans, ...others]) each.kill('SIGKILL');
    }
  });

  it('is nothing where there is no repository', () => {
    expect(removeLeftOvers(join(root, 'nowhere'), root).removed).toEqual([]);
  });
});
