/**
 * Known attacks on a checkout, each written as its exploit: the repository that somebody would be sent. Afterwards nothing outside of the
 * working tree has changed, nothing in .git that an attacker wants, and nothing of theirs has run. What needs a file system
 * that folds names (CVE-2021-21300, CVE-2024-32002) is in test/git/checkout/collisions.test.ts.
 */
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Report } from '../../src/engine/engine.ts';
import { invalidComponent } from '../../src/engine/object/path-validity.ts';
import { clone, ROOMY_HOST, runOurs, spawnGit } from '../support/ours.ts';
import { git, GITLINK_OID, GitRepository, utf8, type RawEntry, type TreeSpec } from '../support/repository.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { differences, leftovers, snapshot, type Snapshot } from '../support/worktree.ts';

const folder = temporaryFolder('cve');
const source = new GitRepository(folder, 'source');
const script = '#!/bin/sh\ntouch "$PWNED"\n';
const payload = source.object('blob', script);
const outside = join(folder, 'outside');
const pwned = join(folder, 'pwned');
process.env['PWNED'] = pwned;

const file = (name: string, oid = payload): RawEntry => ({ mode: '100755', name, oid });
const dir = (name: string, entries: RawEntry[]): RawEntry => ({ mode: '40000', name, oid: source.rawTree(entries) });
const link = (name: string, target: string): RawEntry => ({
  mode: '120000',
  name,
  oid: source.object('blob', target),
});
const commitOf = (entries: RawEntry[]): string => source.rawCommit(source.rawTree(entries)).commit;

let cases = 0;
let victim = '';

beforeEach(() => {
  rmSync(outside, { recursive: true, force: true });
  mkdirSync(outside);
  writeFileSync(join(outside, 'x'), 'not yours\n');
  victim = join(folder, `victim-${cases++}`);
  git(folder, ['clone', '-q', '--no-checkout', '--shared', source.directory, victim]);
  mkdirSync(join(victim, '.git', 'hooks'), { recursive: true });
});

/** What an attacker must not change: all outside, and in .git all but what a checkout writes. */
function guarded(): Snapshot {
  const seen = snapshot(outside);
  for (const [path, value] of snapshot(join(victim, '.git'))) {
    if (!/^(index|HEAD|ORIG_HEAD|logs|objects|refs)(\/|$)/.test(path)) seen.set(`.git/${path}`, value);
  }
  for (const name of readdirSync(folder)) seen.set(`beside/${name}`, '');
  return seen;
}

/** Checks the commit out, with and without workers, and sees to it that it did no harm. */
async function attack(commit: string, config: Record<string, string> = {}, code?: string): Promise<Report> {
  const before = guarded();
  let last: Report | undefined;
  // What is refused is refused before workers matter.
  for (const workers of code === undefined ? [0, 2] : [0]) {
    const { report } = await runOurs({
      directory: victim,
      target: { kind: 'detach', revision: commit },
      workers,
      config,
      request: { engine: 'native' },
    });
    expect(report.error?.code).toBe(code);
    expect(differences(before, guarded())).toEqual([]);
    expect(existsSync(pwned), 'their code ran').toBe(false);
    expect(leftovers(join(victim, '.git'))).toEqual([]);
    last = report;
  }
  if (code !== undefined) {
    expect(
      readdirSync(victim).filter((name) => name !== '.git'),
      'written before it was refused',
    ).toEqual([]);
  }
  return last!;
}

describe('names that are .git for some file system', () => {
  const hooks = [dir('hooks', [file('post-checkout')])];

  it('CVE-2014-9390: case, and characters that HFS+ ignores', async () => {
    for (const name of ['.git', '.GIT', '.Git', '.gIt']) await attack(commitOf([dir(name, hooks)]), {}, 'path-invalid');
    for (const name of ['.g\u200cit', '\ufeff.git', '.GI\u206aT', '.git\u200f']) {
      await attack(commitOf([dir(utf8(name), hooks)]), { 'core.protectHFS': 'true' }, 'path-invalid');
    }
  });

  it('CVE-2014-9390, CVE-2019-1353: the short names of NTFS, on every system and without a setting', async () => {
    for (const name of ['git~1', 'GIT~1', '.git.', '.git ', '.git. . ']) {
      await attack(commitOf([dir(name, hooks)]), {}, 'path-invalid');
    }
  });

  it('CVE-2019-1352: streams of NTFS', async () => {
    for (const name of ['.git::$INDEX_ALLOCATION', '.git:hooks', 'git~1:x', '.git :x']) {
      await attack(commitOf([dir(name, hooks)]), {}, 'path-invalid');
    }
  });

  it('CVE-2019-1354: backslashes', async () => {
    for (const name of ['a\\.git', '..\\.git\\hooks\\x', '.git\\hooks', 'a\\git~1\\b']) {
      await attack(commitOf([file(name)]), {}, 'path-invalid');
    }
    const rules = { ntfs: true, hfs: false, windows: true };
    const reason = (name: string): string | null => invalidComponent(Buffer.from(name), 0, name.length, false, rules);
    expect(reason('a\\b')).not.toBeNull();
    expect(reason('..\\..\\x')).not.toBeNull();
  });

  it('CVE-2019-1351: drives of any one character', () => {
    const rules = { ntfs: false, hfs: false, windows: true };
    for (const name of ['C:x', '1:x', '\u00fc:x', '\u{1f600}:x', '::x', 'c:']) {
      const bytes = Buffer.from(name);
      expect(invalidComponent(bytes, 0, bytes.length, false, rules), name).not.toBeNull();
    }
  });

  it('CVE-2018-11233: names that end in the middle of what is looked for', async () => {
    const pieces = ['.', 'g', 'gi', 'git', 'git~', '.g', '.gi', '.gitm', 'gitmod', 'gitmod~', 'gi7eba~', 'gi7e~', '~1'];
    const names = pieces.filter((name) => name !== '.');
    const entries = [...names].sort().map((name) => link(name, 'x'));
    await attack(commitOf(entries));
    expect(readdirSync(victim).sort()).toEqual(['.git', ...names].sort());
    // The same at the very end of memory that may be read.
    for (const name of pieces) {
      const bytes = new Uint8Array(Buffer.from(name));
      for (const symlink of [true, false]) {
        const rules = { ntfs: true, hfs: true, windows: true };
        expect(() => invalidComponent(bytes, 0, bytes.length, symlink, rules)).not.toThrow();
      }
    }
  });

  it('links in place of .gitmodules', async () => {
    for (const name of ['.gitmodules', '.GITMODULES', 'gitmod~1', 'gi7eba~1', '.gitmodules:x', '.gitmodules ']) {
      await attack(commitOf([link(name, '../outside/x')]), {}, 'path-invalid');
    }
  });

  it('paths that leave the working tree', async () => {
    const up = [file('x')];
    for (const entries of [[dir('..', up)], [file('../outside/x')], [file('a/../../outside/x')], [file('/etc/x')]]) {
      await attack(commitOf(entries), {}, 'path-invalid');
    }
  });
});

describe('writing through links', () => {
  it('CVE-2021-21300, CVE-2023-23946: a link of the tree is no way to write below it', async () => {
    // A tree with a link and a directory of one name: the later takes the place of the earlier.
    for (const target of ['../outside', '.git/hooks', '.git']) {
      await attack(commitOf([link('d', target), dir('d', [file('x'), file('post-checkout')])]));
      expect(lstatSync(join(victim, 'd')).isDirectory()).toBe(true);
      await attack(commitOf([dir('d', [file('x')]), link('d', target), file('d/hooks')]));
      await attack(commitOf([file('d/x'), link('d', target)]));
      expect(lstatSync(join(victim, 'd')).isSymbolicLink()).toBe(true);
    }
  });

  it('CVE-2021-21300: nor is one that an earlier checkout made, or that somebody put there', async () => {
    for (const target of ['../outside', '.git/hooks']) {
      await attack(commitOf([link('d', target), file('e')]));
      await attack(commitOf([dir('d', [dir('deep', [file('x')]), file('post-checkout'), file('x')])]));
      expect(lstatSync(join(victim, 'd')).isDirectory()).toBe(true);
      rmSync(join(victim, 'd'), { recursive: true });
      symlinkSync(target, join(victim, 'd'));
      await attack(commitOf([dir('d', [file('x', source.object('blob', 'other')), file('y')])]));
      expect(lstatSync(join(victim, 'd')).isDirectory()).toBe(true);
    }
  });

  it('CVE-2023-23946: nothing is removed through a link', async () => {
    await attack(commitOf([dir('d', [file('x'), file('y')]), file('e')]));
    rmSync(join(victim, 'd'), { recursive: true });
    symlinkSync('../outside', join(victim, 'd'));
    await attack(commitOf([file('e')]));
    expect(readFileSync(join(outside, 'x'), 'utf8')).toBe('not yours\n');
  });
});

describe('submodules, which are not entered', () => {
  const modules = (text: string): RawEntry => file('.gitmodules', source.object('blob', text));
  const gitlink = (name: string): RawEntry => ({ mode: '160000', name, oid: GITLINK_OID });

  it.each([
    ['CVE-2018-11235: a name that leads out', '[submodule "../../outside"]\n\tpath = sub\n\turl = ./x\n'],
    ['CVE-2018-17456: a URL that is an option', '[submodule "s"]\n\tpath = sub\n\turl = -u./payload\n'],
    [
      'CVE-2019-19604: a command as the way to update',
      '[submodule "s"]\n\tpath = sub\n\turl = x\n\tupdate = !./payload\n',
    ],
    [
      'CVE-2019-1349, CVE-2019-1387: git directories inside of each other',
      '[submodule "a"]\n\tpath = sub\n\turl = x\n[submodule "a/hooks"]\n\tpath = sub2\n\turl = y\n',
    ],
  ])('%s', async (_name, text) => {
    await attack(commitOf([modules(text), file('payload'), gitlink('sub'), gitlink('sub2')]));
    expect(readdirSync(join(victim, 'sub'))).toEqual([]);
    expect(existsSync(join(victim, '.git', 'modules'))).toBe(false);
  });

  it('CVE-2025-48384: a path that ends in a carriage return', async () => {
    const text = '[submodule "s"]\n\tpath = "sub\\r"\n\turl = x\n';
    await attack(commitOf([modules(text), link('sub', '.git/hooks'), gitlink('sub\r')]));
    expect(readdirSync(join(victim, 'sub\r'))).toEqual([]);
  });
});

describe('other people’s bytes', () => {
  it('CVE-2022-23521: attributes beyond all numbers', async () => {
    const many = Array.from({ length: 20_000 }, (_, i) => `a${i}`).join(' ');
    const lines = [
      `* ${many}`,
      `${'p'.repeat(100_000)} text`,
      `* ${'x'.repeat(3000)}=y`,
      `[attr]m ${many.slice(0, 1900)}`,
      '* m eol=crlf',
    ];
    const rules = source.object('blob', lines.join('\n'));
    const text = source.object('blob', 'one\ntwo\n');
    await attack(commitOf([file('.gitattributes', rules), file('f', text)]));
    expect(readFileSync(join(victim, 'f'), 'latin1')).toBe('one\r\ntwo\r\n');
  });

  it('CVE-2019-1350: names are no shell’s', async () => {
    const names = ['$(touch pwned)', '"; touch pwned; "', '`touch pwned`', "'|touch pwned", '-rf', '--upload-pack=x'];
    await attack(commitOf([...names].sort().map((name) => file(name))));
    expect(readdirSync(victim).sort()).toEqual(['.git', ...names].sort());
    for (const revision of ['--upload-pack=touch pwned', '-f', '--output=pwned']) {
      const { report } = await runOurs({ directory: victim, target: { kind: 'detach', revision } });
      expect(report.error?.code).toBe('usage');
    }
    expect(existsSync(join(victim, 'pwned'))).toBe(false);
  });

  it('CVE-2022-24765, CVE-2022-29187: a repository of somebody else is not opened, nor its hooks run', async () => {
    const commit = commitOf([file('x')]);
    writeFileSync(join(victim, '.git', 'hooks', 'post-checkout'), script, { mode: 0o755 });
    git(victim, ['config', 'core.fsmonitor', `touch ${pwned}`]);
    process.env['GIT_TEST_ASSUME_DIFFERENT_OWNER'] = '1';
    try {
      await attack(commit, {}, 'not-a-repository');
    } finally {
      Reflect.deleteProperty(process.env, 'GIT_TEST_ASSUME_DIFFERENT_OWNER');
    }
  });

  const cloneTo = async (url: string, directory: string): Promise<Report> =>
    await clone(
      {
        url,
        directory,
        workers: 0,
        memoryLimitBytes: 'auto',
        engine: 'native',
        transport: 'auto',
        hostFacts: ROOMY_HOST,
        config: [],
      },
      {
        git: spawnGit,
        observer: { info: () => undefined, warning: () => undefined, progress: () => undefined },
      },
    );

  it('CVE-2022-39253, CVE-2023-22490: links among the objects of a local source are not followed into a clone', async () => {
    const local = new GitRepository(folder, 'local');
    local.commit({ a: 'a\n' } satisfies TreeSpec);
    writeFileSync(join(outside, 'secret'), 'secret');
    symlinkSync(outside, join(local.gitDir, 'objects', 'zz'));
    symlinkSync(join(outside, 'secret'), join(local.gitDir, 'objects', 'stolen'));
    const directory = join(folder, 'cloned');
    expect((await cloneTo(local.directory, directory)).error).toBeUndefined();
    const found = [...snapshot(join(directory, '.git')).entries()].filter(
      ([path, value]) => value.startsWith('link') || value.includes('secret') || /stolen|zz/.test(path),
    );
    expect(found).toEqual([]);
    expect(readFileSync(join(directory, 'a'), 'utf8')).toBe('a\n');
  });

  it('CVE-2023-29007: what is written into the configuration stays one value', async () => {
    await expect(
      cloneTo('https://example.invalid/x\n[core]\n\tsshCommand = touch pwned', join(folder, 'n')),
    ).rejects.toMatchObject({ code: 'usage' });
    const strange = `strange ${'#;"\\ '.repeat(20)}${'long'.repeat(30)}`;
    const local = new GitRepository(folder, strange);
    local.commit({ a: 'a\n' });
    const directory = join(folder, 'cloned-strange');
    expect((await cloneTo(local.directory, directory)).error).toBeUndefined();
    expect(git(directory, ['config', 'remote.origin.url']).toString()).toBe(`${local.directory}\n`);
  });
});
