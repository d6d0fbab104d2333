/**
 * From one commit to another over a working tree that somebody worked in: what must go goes, what must stay stays, and what
 * already is right is not written again.
 */
import {
  chmodSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { expectSameAsGit, FEW_MODES } from '../../support/oracle.ts';
import { git, GITLINK_OID, GitRepository, type TreeSpec } from '../../support/repository.ts';
import { memoryFolder, temporaryFolder } from '../../support/temporary.ts';

const folder = temporaryFolder('update', memoryFolder());
/** Links in working trees lead here; made anew for each copy that has one. */
const outside = join(folder, 'outside');
const repository = new GitRepository(folder);

/** What one path can be before and after. */
const shapes: Record<string, (name: string) => TreeSpec> = {
  nothing: () => ({}),
  file: (name) => ({ [name]: 'file\n' }),
  changed: (name) => ({ [name]: 'changed\n' }),
  executable: (name) => ({ [name]: { content: 'file\n', executable: true } }),
  link: (name) => ({ [name]: { symlink: 'target' } }),
  'link-to-dir': (name) => ({ [name]: { symlink: 'stays' } }),
  directory: (name) => ({ [`${name}/x`]: 'x\n', [`${name}/y/z`]: 'z\n' }),
  'other-directory': (name) => ({ [`${name}/x/w`]: 'w\n', [`${name}/y`]: 'y\n' }),
  submodule: (name) => ({ [name]: { gitlink: GITLINK_OID } }),
};

function crossed(order: (from: string, to: string) => string): TreeSpec {
  let spec: TreeSpec = { 'stays/file': 'same\n', stay: 'same\n' };
  for (const from of Object.keys(shapes)) {
    for (const to of Object.keys(shapes)) {
      spec = { ...spec, ...shapes[order(from, to)]!(`${from}-to-${to}`) };
    }
  }
  return spec;
}
const before = repository.commit(crossed((from) => from));
const after = repository.commit(crossed((_, to) => to));

describe('everything to everything', () => {
  it('forwards', async () => {
    await expectSameAsGit({ repository, revision: after.commit, from: before.commit });
  });

  it('backwards', async () => {
    await expectSameAsGit({ repository, revision: before.commit, from: after.commit });
  });

  it('to itself: nothing is written', async () => {
    await expectSameAsGit({
      repository,
      revision: before.commit,
      from: before.commit,
      inspect: (_, run) => {
        if (run === null) return;
        expect(run.report.workers.reduce((sum, worker) => sum + worker.files, 0)).toBe(0);
        expect(run.started).toBe(0);
      },
    });
  });

  it('with all tracked files removed by hand', async () => {
    const prepare = (directory: string): void => {
      git(directory, ['ls-files', '-z']);
      for (const name of [
        'stays',
        'stay',
        'file-to-file',
        'directory-to-directory',
        'directory-to-link',
        'link-to-link',
      ]) {
        rmSync(join(directory, name), { recursive: true, force: true });
      }
    };
    await expectSameAsGit({ repository, revision: after.commit, from: before.commit, prepare });
  });

  it('without an index over a full working tree', async () => {
    const prepare = (directory: string): void => rmSync(join(directory, '.git', 'index'));
    await expectSameAsGit({ repository, revision: after.commit, from: before.commit, prepare, unclean: true });
  });

  it('with an index of no entries over a full working tree', async () => {
    const prepare = (directory: string): void => void git(directory, ['read-tree', '--empty']);
    await expectSameAsGit({
      repository,
      revision: after.commit,
      from: before.commit,
      prepare,
      unclean: true,
      modes: FEW_MODES,
    });
  });

  it('with the index of another tree', async () => {
    const prepare = (directory: string): void => void git(directory, ['read-tree', after.commit]);
    await expectSameAsGit({
      repository,
      revision: after.commit,
      from: before.commit,
      prepare,
      unclean: true,
      modes: FEW_MODES,
    });
  });
});

describe('work in the tree', () => {
  const base: TreeSpec = {
    kept: 'kept\n',
    dirty: 'clean\n',
    staged: 'clean\n',
    touched: 'touched\n',
    deleted: 'deleted\n',
    mode: 'mode\n',
    tool: { content: 'tool\n', executable: true },
    linked: 'linked\n',
    link: { symlink: 'kept' },
    'gone-link': { symlink: 'kept' },
    'dir/a': 'a\n',
    'dir/b': 'b\n',
    'dir2/a': 'a\n',
    'lone/only/deep/file': 'x\n',
    'lone2/only/file': 'x\n',
    'lone3/only/file': 'x\n',
    '.gitignore': '*.o\nbuild/\n',
  };
  const first = repository.commit(base);
  const next: Record<string, TreeSpec[string]> = {
    ...base,
    dirty: 'next\n',
    'new/file': 'new\n',
    'new2/deep/file': 'n\n',
    top: 'top\n',
  };
  for (const name of ['deleted', 'lone/only/deep/file', 'lone2/only/file', 'lone3/only/file', 'dir2/a']) {
    Reflect.deleteProperty(next, name);
  }
  const second = repository.commit(next);

  const works: Record<string, (directory: string) => void> = {
    'modified, deleted, touched, chmodded': (directory) => {
      const at = (name: string): string => join(directory, name);
      writeFileSync(at('dirty'), 'my own work\n');
      writeFileSync(at('kept'), 'kepT\n');
      utimesSync(at('touched'), 1, 1);
      rmSync(at('staged'));
      chmodSync(at('mode'), 0o755);
      chmodSync(at('tool'), 0o644);
      chmodSync(at('dir/a'), 0o600);
      rmSync(at('gone-link'));
      rmSync(at('dir'), { recursive: true });
      writeFileSync(at('staged'), 'staged\n');
      git(directory, ['add', 'staged']);
    },
    'types changed by hand': (directory) => {
      const at = (name: string): string => join(directory, name);
      rmSync(at('kept'));
      symlinkSync('elsewhere', at('kept'));
      rmSync(at('dirty'));
      mkdirSync(join(at('dirty'), 'deep'), { recursive: true });
      writeFileSync(at('dirty/deep/file'), 'mine');
      rmSync(at('link'));
      writeFileSync(at('link'), 'a file\n');
      rmSync(at('gone-link'));
      mkdirSync(at('gone-link'));
      rmSync(at('dir'), { recursive: true });
      writeFileSync(at('dir'), 'a file where the directory was\n');
      rmSync(at('deleted'));
      mkdirSync(at('deleted'));
      writeFileSync(at('deleted/file'), 'x');
    },
    'untracked in the way': (directory) => {
      const at = (name: string): string => join(directory, name);
      writeFileSync(at('new'), 'a file where a directory goes\n');
      symlinkSync(folder, at('new2'));
      mkdirSync(join(at('top'), 'nested', '.git'), { recursive: true });
      writeFileSync(at('top/nested/file'), 'x');
      git(at('top'), ['init', '-q', 'repository']);
      writeFileSync(at('top/repository/work'), 'x');
      writeFileSync(at('untracked'), 'stays\n');
      writeFileSync(at('dir/untracked'), 'stays\n');
      writeFileSync(at('ignored.o'), 'stays\n');
      mkdirSync(at('build'));
      writeFileSync(at('build/out'), 'stays\n');
      writeFileSync(at('lone2/only/untracked'), 'stays\n');
      mkdirSync(at('lone3/empty'));
      symlinkSync('/nowhere', at('dangling'));
    },
    'a directory moved away and linked back': (directory) => {
      const at = (name: string): string => join(directory, name);
      renameSync(at('dir'), at('moved'));
      symlinkSync('moved', at('dir'));
      renameSync(at('dir2'), at('moved2'));
      symlinkSync('moved2', at('dir2'));
      renameSync(at('lone'), `${directory}-moved`);
    },
    'a link to outside in place of a directory that goes': (directory) => {
      rmSync(outside, { recursive: true, force: true });
      mkdirSync(join(outside, 'only', 'deep'), { recursive: true });
      writeFileSync(join(outside, 'only', 'deep', 'file'), 'not yours\n');
      writeFileSync(join(outside, 'a'), 'not yours\n');
      rmSync(join(directory, 'lone'), { recursive: true });
      symlinkSync(outside, join(directory, 'lone'));
      rmSync(join(directory, 'dir2'), { recursive: true });
      symlinkSync(outside, join(directory, 'dir2'));
    },
    'index flags: assume-unchanged, intent to add': (directory) => {
      writeFileSync(join(directory, 'kept'), 'hidden\n');
      git(directory, ['update-index', '--assume-unchanged', 'kept']);
      writeFileSync(join(directory, 'intended'), 'x\n');
      writeFileSync(join(directory, 'top'), 'x\n');
      git(directory, ['add', '-N', 'intended', 'top']);
    },
    'an index of version 4, and staged removals': (directory) => {
      git(directory, ['update-index', '--index-version', '4']);
      git(directory, ['rm', '-q', '--cached', 'kept', 'dir/a']);
    },
    'an unmerged index': (directory) => {
      const oids = ['one', 'two', 'three'].map((input) =>
        git(directory, ['hash-object', '-w', '--stdin'], { input }).toString().trim(),
      );
      const lines = ['kept', 'dir/a', 'deleted', 'gone/by/merge'].flatMap((path) => [
        `0 ${'0'.repeat(40)}\t${path}`,
        ...oids.map((oid, i) => `100644 ${oid} ${i + 1}\t${path}`),
      ]);
      git(directory, ['update-index', '--index-info'], { input: `${lines.join('\n')}\n` });
      writeFileSync(join(directory, 'kept'), '<<<<<<< ours\n');
      mkdirSync(join(directory, 'gone', 'by'), { recursive: true });
      writeFileSync(join(directory, 'gone', 'by', 'merge'), '<<<<<<<\n');
    },
    'a merge in progress': (directory) => {
      writeFileSync(join(directory, '.git', 'MERGE_HEAD'), `${first.commit}\n`);
      writeFileSync(join(directory, '.git', 'MERGE_MSG'), 'merge\n');
      writeFileSync(join(directory, '.git', 'MERGE_MODE'), '');
      writeFileSync(join(directory, '.git', 'CHERRY_PICK_HEAD'), `${first.commit}\n`);
    },
  };
  for (const [name, prepare] of Object.entries(works)) {
    it(`${name}: to another commit`, async () => {
      await expectSameAsGit({
        repository,
        revision: second.commit,
        from: first.commit,
        prepare,
        unclean: true,
        modes: FEW_MODES,
      });
    });
    it(`${name}: to the same commit`, async () => {
      await expectSameAsGit({
        repository,
        revision: first.commit,
        from: first.commit,
        prepare,
        unclean: true,
        modes: [0],
      });
    });
  }

  it('skip-worktree entries whose files are gone or there', async () => {
    const prepare = (directory: string): void => {
      git(directory, ['update-index', '--skip-worktree', 'kept', 'dirty', 'deleted', 'dir/a']);
      rmSync(join(directory, 'kept'));
      rmSync(join(directory, 'deleted'));
      writeFileSync(join(directory, 'dir/a'), 'changed');
    };
    for (const revision of [first.commit, second.commit]) {
      await expectSameAsGit({
        repository,
        revision,
        from: first.commit,
        prepare,
        unclean: true,
        modes: FEW_MODES,
      });
    }
  });

  const marks: Record<string, (directory: string) => void> = {
    'assume-unchanged, each entry unchanged on disk or gone': (directory) => {
      git(directory, ['update-index', '--assume-unchanged', 'kept', 'dirty', 'deleted', 'dir/a', 'link', 'tool']);
      rmSync(join(directory, 'dirty'));
    },
    'skip-worktree, files and a link': (directory) => {
      git(directory, ['update-index', '--skip-worktree', 'kept', 'dirty', 'dir2/a', 'link', 'gone-link', 'tool']);
      rmSync(join(directory, 'link'));
      chmodSync(join(directory, 'tool'), 0o644);
    },
    'intent to add what the commit has as an empty file, in an index of version 4': (directory) => {
      git(directory, ['update-index', '--index-version', '4']);
      git(directory, ['rm', '-q', '--cached', 'empty/file', 'kept']);
      git(directory, ['add', '-N', 'empty/file', 'kept']);
    },
  };
  const withEmpty = (spec: TreeSpec): TreeSpec => ({ ...spec, 'empty/file': '', 'empty/other': 'x\n' });
  const marked = [repository.commit(withEmpty(base)), repository.commit(withEmpty(next))] as const;
  it.each(Object.keys(marks))('marks: %s', async (name) => {
    const [from, revision] = [marked[0].commit, marked[1].commit];
    await expectSameAsGit({ repository, revision, from, prepare: marks[name]!, unclean: true, modes: FEW_MODES });
  });

  it.each([
    ['assume-unchanged', 'dirty', 'own work\n'],
    ['skip-worktree', 'dirty', 'own work\n'],
    ['assume-unchanged', 'deleted', 'own work\n'],
    ['skip-worktree', 'lone/only/deep/file', 'y\n'],
  ])('marked %s, %s has local changes: refused', async (mark, path, content) => {
    await expectSameAsGit({
      repository,
      revision: second.commit,
      from: first.commit,
      prepare: (directory) => {
        git(directory, ['update-index', `--${mark}`, path]);
        writeFileSync(join(directory, path), content);
      },
      exit: 128,
      error: 'local-changes',
      modes: FEW_MODES,
      // 'y' is as long as what it replaces: only its time, or in the index's own second its content, tells.
      racy: path.startsWith('lone'),
    });
  });

  it('a hard-linked file is replaced, not written through', async () => {
    const other = (directory: string): string => `${directory}-hard-link`;
    const prepare = (directory: string): void => {
      rmSync(other(directory), { force: true });
      linkSync(join(directory, 'dirty'), other(directory));
      linkSync(join(directory, 'linked'), join(directory, 'same-file'));
      writeFileSync(join(directory, 'linked'), 'changed through one name\n');
    };
    await expectSameAsGit({
      repository,
      revision: second.commit,
      from: first.commit,
      prepare,
      unclean: true,
      inspect: (directory) => expect(readFileSync(other(directory), 'utf8')).toBe('clean\n'),
    });
  });

  it('nothing outside was touched by any of these', () => {
    for (const name of ['only/deep/file', 'a']) expect(readFileSync(join(outside, name), 'utf8')).toBe('not yours\n');
  });
});

describe('racy files', () => {
  const base: Record<string, string> = {};
  for (let i = 0; i < 12; i++) base[`f${i}`] = `content ${i}\n`;
  const first = repository.commit({ ...base, link: { symlink: 'f0' } });
  const second = repository.commit({ ...base, f0: 'changed 0\n', link: { symlink: 'f0' } });
  /** The index is as old as the files, so that nothing but the content can tell. */
  const sameSecond = (directory: string, change: (at: (name: string) => string) => void): void => {
    const at = (name: string): string => join(directory, name);
    const index = join(directory, '.git', 'index');
    const kept = new Map(Object.keys(base).map((name) => [name, statSync(at(name))] as const));
    change(at);
    for (const [name, stat] of kept) utimesSync(at(name), stat.atimeMs / 1000, Math.floor(stat.mtimeMs / 1000) + 0.5);
    const second = Math.floor(statSync(at('f1')).mtimeMs / 1000);
    utimesSync(index, second, second);
  };
  for (const [name, revision] of [
    ['another commit that keeps it', second.commit],
    ['the same commit', first.commit],
  ] as const) {
    it(`a change of the same size in the second of the index is found: ${name}`, async () => {
      await expectSameAsGit({
        repository,
        revision,
        from: first.commit,
        config: { 'core.trustctime': 'false', 'core.checkStat': 'minimal' },
        prepare: (directory) =>
          sameSecond(directory, (at) => {
            for (const file of ['f1', 'f2', 'f3'])
              writeFileSync(at(file), readFileSync(at(file), 'utf8').toUpperCase());
          }),
        racy: true,
        compareKept: false,
        modes: FEW_MODES,
      });
    });
  }

  it('racy files that are right are left alone', async () => {
    const index = (directory: string): void => {
      const second = Math.floor(statSync(join(directory, 'f1')).mtimeMs / 1000);
      utimesSync(join(directory, '.git', 'index'), second, second);
    };
    await expectSameAsGit({
      repository,
      revision: second.commit,
      from: first.commit,
      prepare: index,
      racy: true,
      compareKept: false,
      inspect: (_, run) => {
        if (run === null) return;
        expect(run.report.workers.reduce((sum, worker) => sum + worker.files, 0)).toBe(1);
      },
    });
  });

  // Loose, so that one can be taken away. One that is packed in a pack that is damaged comes to the same.
  const looseFirst = repository.commit({ ...base, gone: 'whose blob goes\n' }, { packed: false });
  const looseSecond = repository.commit({ ...base, gone: 'whose blob goes\n', f0: 'changed 0\n' }, { packed: false });
  const goneBlob = repository.text(['rev-parse', `${looseFirst.commit}:gone`]);
  const withoutBlob = (directory: string, damage: (path: string) => void): void => {
    const second = Math.floor(statSync(join(directory, 'gone')).mtimeMs / 1000);
    const path = join(directory, '.git', 'objects', goneBlob.slice(0, 2), goneBlob.slice(2));
    damage(path);
    utimesSync(join(directory, '.git', 'index'), second, second);
  };
  it.each<[string, (path: string) => void]>([
    [
      'gone',
      (path) => {
        rmSync(path);
      },
    ],
    [
      'damaged',
      (path) => {
        rmSync(path);
        writeFileSync(path, 'no object');
      },
    ],
  ])('a racy file whose blob is %s is left alone: the file says what it is', async (_, damage) => {
    await expectSameAsGit({
      repository,
      revision: looseSecond.commit,
      from: looseFirst.commit,
      prepare: (directory) => withoutBlob(directory, damage),
      racy: true,
      compareKept: false,
      compareTree: false,
      fsck: false,
      modes: [0, 2],
      inspect: (_directory, run) => {
        if (run !== null) expect(run.report.totals.kept).toBe(12);
      },
    });
  });

  it('a racy file that was changed, and whose blob is gone, fails', async () => {
    await expectSameAsGit({
      repository,
      revision: looseSecond.commit,
      from: looseFirst.commit,
      prepare: (directory) =>
        withoutBlob(directory, (path) => {
          rmSync(path);
          writeFileSync(join(directory, 'gone'), 'Whose blob goes\n');
        }),
      racy: true,
      compareKept: false,
      exit: 1,
      failed: ['gone'],
      fsck: false,
      modes: FEW_MODES,
    });
  });

  it('a racy file with converted content', async () => {
    const spec = { '.gitattributes': '* text eol=crlf\n', a: 'one\ntwo\n', big: 'line\n'.repeat(150_000) };
    const converted = repository.commit(spec);
    const changed = repository.commit({ ...spec, b: 'b\n' });
    const prepare = (directory: string): void => {
      const second = Math.floor(statSync(join(directory, 'a')).mtimeMs / 1000);
      utimesSync(join(directory, '.git', 'index'), second, second);
    };
    await expectSameAsGit({
      repository,
      revision: changed.commit,
      from: converted.commit,
      prepare,
      racy: true,
      modes: FEW_MODES,
    });
  });
});

describe('stat data that do not count', () => {
  const base = repository.commit({ a: 'a\n', b: { content: 'b\n', executable: true }, c: 'c\n' });
  const next = repository.commit({ a: 'a\n', b: { content: 'b\n', executable: true }, c: 'changed\n' });
  it.each([
    ['core.trustctime=false', { 'core.trustctime': 'false' }, (at: string) => chmodSync(join(at, 'a'), 0o600)],
    [
      'core.fileMode=false',
      { 'core.fileMode': 'false', 'core.trustctime': 'false' },
      (at: string) => chmodSync(join(at, 'b'), 0o644),
    ],
    ['core.checkStat=minimal', { 'core.checkStat': 'minimal' }, (at: string) => chmodSync(join(at, 'a'), 0o600)],
    ['core.ignoreStat=true', { 'core.ignoreStat': 'true' }, (at: string) => writeFileSync(join(at, 'a'), 'other')],
  ])('%s', async (_, config: Record<string, string>, prepare) => {
    await expectSameAsGit({
      repository,
      revision: next.commit,
      from: base.commit,
      config,
      prepare,
      modes: FEW_MODES,
      unclean: true,
    });
  });
});
