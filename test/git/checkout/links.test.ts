/**
 * Symbolic links and submodule directories, fresh and where something else was before.
 */
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'vitest';
import { expectSameAsGit, FEW_MODES } from '../../support/oracle.ts';
import { GITLINK_OID, GitRepository, utf8, type TreeSpec } from '../../support/repository.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const folder = temporaryFolder('links');
const repository = new GitRepository(folder);

const targets: TreeSpec = {
  file: 'content',
  'dir/file': 'content',
  'to-file': { symlink: 'file' },
  'to-dir': { symlink: 'dir' },
  dangling: { symlink: 'nowhere' },
  self: { symlink: 'self' },
  absolute: { symlink: '/etc/passwd' },
  outside: { symlink: '../../etc' },
  'into-git': { symlink: '.git/config' },
  'dir/up': { symlink: '../to-file' },
  'line-feed': { symlink: 'a\nb\n' },
  binary: { symlink: Buffer.from([0xff, 0xfe, 0x80]) },
  unicode: { symlink: 'ü/日本' },
  crlf: { symlink: 'a\r\nb' },
  'longest-name': { symlink: 'x'.repeat(255) },
  'longest-target': { symlink: 'y/'.repeat(2000) },
  [utf8('ünï')]: { symlink: utf8('ö') },
};

describe('symbolic links', () => {
  it('every target is made as it is', async () => {
    const { commit } = repository.commit(targets);
    await expectSameAsGit({ repository, revision: commit });
  });

  it('a target is cut at a NUL, and is not what the index says then', async () => {
    const { commit } = repository.commit({ cut: { symlink: 'file\0and more' }, file: 'x' });
    await expectSameAsGit({ repository, revision: commit, unclean: true });
  });

  it('core.symlinks=false makes files of them', async () => {
    const spec = { ...targets };
    const { commit } = repository.commit(spec);
    const config = { 'core.symlinks': 'false' };
    await expectSameAsGit({ repository, revision: commit, config });
    const next = repository.commit({ ...spec, file: { symlink: 'was-a-file' }, 'to-file': 'was a link' });
    await expectSameAsGit({ repository, revision: next.commit, from: commit, config, modes: FEW_MODES });
    // Racy ones are compared; links that were made before it was set stay, as files that were do.
    await expectSameAsGit({ repository, revision: commit, from: commit, config, racy: true, modes: FEW_MODES });
    await expectSameAsGit({ repository, revision: next.commit, from: next.commit, modes: FEW_MODES });
  });

  it('attributes do not change a target', async () => {
    const { commit } = repository.commit({
      '.gitattributes': '* text eol=crlf ident\n',
      l: { symlink: 'a\n$Id$' },
      f: 'a\n$Id$\n',
    });
    await expectSameAsGit({ repository, revision: commit });
  });

  it('an empty target, and one longer than the system takes: these fail, the rest is written', async () => {
    const { commit } = repository.commit({
      a: 'x',
      empty: { symlink: '' },
      long: { symlink: 'z'.repeat(5000) },
      nul: { symlink: '\0x' },
      z: { symlink: 'a' },
    });
    await expectSameAsGit({
      repository,
      revision: commit,
      exit: 1,
      error: 'write-failed',
      failed: ['empty', 'long', 'nul'],
      unclean: true,
    });
  });

  it('a link whose blob is missing fails alone', async () => {
    const blob = repository.object('blob', 'x');
    const tree = repository.rawTree([
      { mode: '100644', name: 'a', oid: blob },
      { mode: '120000', name: 'link', oid: '77'.repeat(20) },
      { mode: '100644', name: 'z', oid: blob },
    ]);
    await expectSameAsGit({
      repository,
      revision: repository.rawCommit(tree).commit,
      exit: 1,
      error: 'write-failed',
      failed: ['link'],
      unclean: true,
      fsck: false,
    });
  });
});

describe('submodules', () => {
  const withModule: TreeSpec = { a: 'a', 'sub/module': { gitlink: GITLINK_OID }, z: 'z' };

  it('an empty directory, with no .gitmodules', async () => {
    const { commit } = repository.commit(withModule);
    await expectSameAsGit({ repository, revision: commit });
  });

  it('an existing directory is left as it is, a file or link in its place goes', async () => {
    const { commit } = repository.commit(withModule);
    const places: ((module: string, directory: string) => void)[] = [
      (module) => {
        mkdirSync(join(module, 'deep'), { recursive: true });
        writeFileSync(join(module, 'deep', 'work'), 'mine');
        writeFileSync(join(module, '.git'), 'gitdir: ../../.git/modules/x\n');
      },
      (module) => {
        mkdirSync(join(module, '..'));
        writeFileSync(module, 'a file');
      },
      (module, directory) => {
        mkdirSync(join(module, '..'));
        symlinkSync(directory, module);
      },
      (module, directory) => {
        mkdirSync(join(directory, 'elsewhere'));
        symlinkSync('elsewhere', join(module, '..'));
      },
    ];
    for (const place of places) {
      const prepare = (directory: string): void => place(join(directory, 'sub', 'module'), directory);
      await expectSameAsGit({ repository, revision: commit, prepare, modes: FEW_MODES, unclean: true });
    }
  });

  it('a populated one that the new tree lacks stays, an empty one goes', async () => {
    const from = repository.commit({ ...withModule, empty: { gitlink: GITLINK_OID } }).commit;
    const to = repository.commit({ a: 'a', z: 'z' }).commit;
    const prepare = (directory: string): void => writeFileSync(join(directory, 'sub/module/work'), 'mine');
    await expectSameAsGit({ repository, revision: to, from, prepare, modes: FEW_MODES, unclean: true });
  });

  it('one replaced by a file, a link, a directory; and the other way round', async () => {
    const from = repository.commit({
      f: { gitlink: GITLINK_OID },
      l: { gitlink: GITLINK_OID },
      d: { gitlink: GITLINK_OID },
    });
    const to = repository.commit({ f: 'file', l: { symlink: 'f' }, 'd/x': 'x' });
    const populate = (directory: string): void => {
      for (const name of ['f', 'l', 'd']) {
        rmSync(join(directory, name), { recursive: true, force: true });
        mkdirSync(join(directory, name));
        writeFileSync(join(directory, name, '.git'), 'gitdir: ../.git/modules/x\n');
        writeFileSync(join(directory, name, 'work'), 'mine');
      }
    };
    await expectSameAsGit({ repository, revision: to.commit, from: from.commit, modes: FEW_MODES });
    await expectSameAsGit({
      repository,
      revision: to.commit,
      from: from.commit,
      prepare: populate,
      modes: FEW_MODES,
      unclean: true,
    });
    await expectSameAsGit({ repository, revision: from.commit, from: to.commit, modes: FEW_MODES });
  });

  it('another commit of the same submodule', async () => {
    const from = repository.commit({ m: { gitlink: GITLINK_OID } }).commit;
    const to = repository.commit({ m: { gitlink: 'ab'.repeat(20) } }).commit;
    await expectSameAsGit({ repository, revision: to, from, modes: FEW_MODES });
  });
});
