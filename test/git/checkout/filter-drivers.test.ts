/**
 * Filter drivers through the whole engine: what they get, what becomes of their answers, and what a failure costs. The driver
 * in test/support/filter-driver.js notes what it was asked, which must be the same with git.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { randomText } from '../../support/random.ts';
import { expectSameAsGit, type OracleCase } from '../../support/oracle.ts';
import { runOurs } from '../../support/ours.ts';
import { git, GitRepository, type TreeSpec } from '../../support/repository.ts';
import { memoryFolder, temporaryFolder } from '../../support/temporary.ts';

const folder = temporaryFolder('filter-drivers', memoryFolder());
const repository = new GitRepository(folder);
const DRIVER = `'${process.execPath}' '${join(import.meta.dirname, '..', '..', 'support', 'filter-driver.js')}'`;

/** The driver as a `process`, with a log in the git directory. */
function rot13(...capabilities: string[]): string {
  return `${DRIVER} .git/filter.log ${capabilities.join(' ')}`;
}

/** Files that no driver sees, so that workers have something to do. */
const OTHERS: TreeSpec = Object.fromEntries(
  Array.from({ length: 12 }, (_, i) => [`other/${i}`, randomText(i, 1000 + i)]),
);

function logOf(directory: string): string {
  const path = join(directory, '.git', 'filter.log');
  return existsSync(path) ? readFileSync(path, 'latin1') : '';
}

/** Compares all that can be seen, what the driver was asked, and which files were not filtered. */
async function expectFiltered(spec: TreeSpec, options: Partial<OracleCase>, filtered: number): Promise<void> {
  const { commit } = repository.commit({ ...OTHERS, ...spec });
  let expected: string | null = null;
  await expectSameAsGit({
    repository,
    revision: commit,
    modes: [2],
    unclean: true,
    compareStatus: false,
    byMainThread: filtered,
    ...options,
    inspect: (directory, run) => {
      // One that is stopped by force may, or may not, see that its input ends.
      const log = logOf(directory).replace(/STOP\n/g, '');
      expected ??= log;
      expect(log, 'what the driver was asked').toBe(expected);
      // git looks at the copies afterwards, and then runs the driver as well.
      rmSync(join(directory, '.git', 'filter.log'), { force: true });
      options.inspect?.(directory, run);
    },
  });
}

describe('one command for each file', () => {
  it('gets the content and the path, and in which environment', async () => {
    await expectFiltered(
      {
        '.gitattributes':
          '*.up filter=up\n*.env filter=env\n*.path filter=path\n*.x filter=unknown\n*.c filter=clean\n*.t filter\n',
        'a.up': 'hello\n',
        'sub/b.up': { content: 'executable\n', executable: true },
        'sub/empty.up': '',
        'big.up': randomText(77, 3 << 20),
        'a.env': '',
        'sub/a.env': '',
        "it's !a $(touch x) %f.path": '',
        'a.x': 'x\n',
        'a.c': 'c\n',
        'a.t': 't\n',
      },
      {
        config: {
          'filter.up.smudge': 'tr a-z A-Z',
          'filter.env.smudge': 'env | grep -v "^GIT_CONFIG_PARAMETERS=" | grep "^GIT_\\|^PATH=" | sort; pwd >/dev/null',
          'filter.path.smudge': "echo %f '%%' %x %",
          'filter.clean.clean': 'cat',
        },
      },
      7,
    );
  });

  it('may read less than it gets, leave others behind, write much, and warn', async () => {
    await expectFiltered(
      {
        '.gitattributes': '*.none filter=none\n*.head filter=head\n*.much filter=much\n*.true filter=plain\n',
        'a.none': randomText(3, 1 << 20),
        'a.head': randomText(4, 1 << 20),
        'a.much': 'x\n',
        'a.true': 'gone\n',
      },
      {
        config: {
          'filter.none.smudge': 'echo nothing read; echo to the log >&2',
          'filter.head.smudge': 'head -c 10',
          'filter.much.smudge': 'head -c 3000000 /dev/zero; (sleep 0.1; echo late) & exit 0',
          'filter.plain.smudge': 'true',
        },
        inspect: (_, run) => {
          if (run !== null) expect(run.warnings).toContain('to the log');
        },
      },
      4,
    );
  });

  it('that fails leaves the content as it is, converted', async () => {
    await expectFiltered(
      {
        '.gitattributes':
          '* eol=crlf ident\nother/* !eol !ident\n*.fail filter=fail\n*.gone filter=gone\n*.half filter=half\n',
        'a.fail': 'a\n$Id$\n',
        'a.gone': 'b\n$Id$\n',
        'a.half': `c\n$Id$\n${randomText(9, 1 << 20)}`,
      },
      {
        config: {
          'filter.fail.smudge': 'cat; exit 1',
          'filter.gone.smudge': 'no-such-program',
          'filter.half.smudge': 'head -c 2000000 /dev/zero; exit 3',
        },
        inspect: (_, run) => {
          if (run !== null) expect(run.warnings.join('\n')).toMatch(/'cat; exit 1' failed with status 1/);
        },
      },
      3,
    );
  });

  it('that is required and fails ends the checkout', async () => {
    for (const smudge of ['false', 'exit 3', 'no-such-program']) {
      await expectFiltered(
        { '.gitattributes': 'm filter=must\n', m: 'x\n' },
        {
          config: { 'filter.must.smudge': smudge, 'filter.must.required': 'true' },
          exit: 128,
          halfway: true,
          error: 'filter-failed',
        },
        1,
      );
    }
  });

  it('a path that is no text goes to git if the command wants it, and to the driver if not', async () => {
    const spec = { '.gitattributes': '*d filter=x\n', 'b\xe4d': 'x\n' };
    const path = { config: { 'filter.x.smudge': 'echo %f' }, engine: 'git', reason: /not UTF-8/ } as const;
    await expectFiltered(spec, path, 1);
    await expectFiltered(spec, { config: { 'filter.x.smudge': 'tr a-z A-Z', 'filter.x.clean': 'cat' } }, 1);
    // Nothing is left for threads that were started early.
    const { commit } = repository.commit({ ...OTHERS, '.gitattributes': '* filter=x\n' });
    const directory = join(folder, 'all-filtered');
    git(folder, ['clone', '-q', '--no-checkout', repository.directory, directory]);
    const target = { kind: 'detach', revision: commit } as const;
    const { report } = await runOurs({ directory, target, config: { 'filter.x.smudge': 'tr a-z A-Z' } });
    expect(report.error).toBeUndefined();
    expect(report.workers.filter(({ files }) => files > 0)).toMatchObject([{ id: 0, files: 13 }]);
    expect(report.workers.filter(({ died }) => died)).toEqual([]);
  });
});

describe('required without a command', () => {
  const spec = { '.gitattributes': 'a filter=x\nb filter=x text=auto\n', a: 'a\n', b: 'b\n' };
  it.each([
    [{ 'filter.x.required': 'true' }],
    [{ 'filter.x.required': 'true', 'filter.x.clean': 'cat' }],
    [{ 'filter.x.required': 'true', 'filter.x.process': '', 'filter.x.smudge': 'cat' }],
  ])('%j stops before anything is touched', async (config) => {
    await expectFiltered(spec, { config, exit: 128, halfway: true, error: 'filter-failed' }, 0);
  });

  it('does not matter for what git streams, nor without `required`', async () => {
    await expectFiltered(
      { '.gitattributes': 'a filter=x\n', a: 'a\n' },
      { config: { 'filter.x.required': 'true' } },
      0,
    );
    await expectFiltered(spec, { config: { 'filter.x.process': '', 'filter.x.smudge': 'cat' } }, 0);
  });
});

describe('a long-running process', () => {
  const attributes = '*.r filter=rot13\n';

  it('filters one file after the other, and is told what is checked out', async () => {
    const spec = {
      '.gitattributes': attributes,
      'a.r': 'hello\n',
      'sub/b.r': { content: 'executable\n', executable: true },
      'empty.r': '',
      'packet.r': randomText(5, 65516),
      'packets.r': randomText(6, 2 * 65516),
      'large.r': randomText(7, 3 << 20),
      'b\xe4d.r': 'not text\n',
      'late-success.r': 'x\n',
    };
    const config = { 'filter.rot13.process': rot13('smudge'), 'filter.rot13.required': 'true' };
    await expectFiltered(spec, { config, inspect: (directory) => checkStatus(directory) }, 8);
    const { commit } = repository.commit({ ...OTHERS, ...spec }, { branch: 'side' });
    repository.git(['tag', '-f', 'tagged', commit]);
    // With git's own arguments, and ours.
    const targets = [
      { kind: 'detach', revision: 'side' },
      { kind: 'detach', revision: 'tagged' },
      { kind: 'revision', revision: 'side' },
      { kind: 'branch', branch: 'made', startPoint: 'side' },
      { kind: 'detach', revision: 'side~0' },
      { kind: 'head' },
    ] as const;
    for (const target of targets) {
      let expected: string | null = null;
      await expectSameAsGit({
        repository,
        revision: commit,
        target,
        modes: [2],
        config,
        unclean: true,
        compareStatus: false,
        byMainThread: 8,
        inspect: (directory) => {
          expected ??= logOf(directory);
          expect(logOf(directory)).toMatch(target.kind === 'head' ? /treeish=[0-9a-f]{40} blob=/ : /treeish=/);
          expect(logOf(directory)).toBe(expected);
          rmSync(join(directory, '.git', 'filter.log'));
        },
      });
    }
  });

  it('says no to a file, ends, or says what makes no sense', async () => {
    const spec: Record<string, string> = { '.gitattributes': attributes };
    for (const name of [
      'crash-first',
      'crash-middle',
      'late-error',
      'say-error',
      'say-later',
      'say-nothing',
      'say-what',
    ]) {
      spec[`${name}.r`] = `${name}\n`;
      spec[`${name}.then.r`] = `after ${name}\n`;
    }
    await expectFiltered(spec, { config: { 'filter.rot13.process': rot13('smudge', 'clean') } }, 14);
  });

  it('that aborts gets no other file', async () => {
    const spec = { '.gitattributes': attributes, 'a.r': 'a\n', 'say-abort.r': 'b\n', 'z.r': 'z\n' };
    await expectFiltered(spec, { config: { 'filter.rot13.process': rot13('smudge') } }, 3);
  });

  it('that cannot smudge, does not start, or does not speak the protocol changes nothing', async () => {
    const spec = { '.gitattributes': attributes, 'a.r': 'a\n', 'b.r': 'b\n' };
    for (const process of [rot13('clean'), 'no-such-program', 'cat', 'echo 000anonsense; cat']) {
      await expectFiltered(spec, { config: { 'filter.rot13.process': process } }, 2);
    }
  });

  it.each([
    ['that breaks the protocol', 'garbage.r', rot13('smudge'), 'false'],
    ['that ends in its introduction', 'a.r', 'head -c 40 >/dev/null; exit 0', 'false'],
    ['that wants what git does not have', 'a.r', rot13('smudge', 'tea'), 'false'],
    ['required, and it says no', 'say-error.r', rot13('smudge'), 'true'],
    ['required, and it aborts', 'say-abort.r', rot13('smudge'), 'true'],
    ['required, and it ends', 'crash-middle.r', rot13('smudge'), 'true'],
    ['required, and it cannot smudge', 'a.r', rot13('clean'), 'true'],
    ['required, and it does not start', 'a.r', 'no-such-program', 'true'],
    ['required, and it says no when the file was put off', 'delay-say-error.r', rot13('smudge', 'delay'), 'true'],
    ['that ends in its list', 'delay-list-crash.r', rot13('smudge', 'delay'), 'false'],
  ])('%s ends the checkout', async (_, name, command, required) => {
    const config = { 'filter.rot13.process': command, 'filter.rot13.required': required };
    await expectFiltered(
      { '.gitattributes': attributes, [name]: 'a\n' },
      { config, exit: 128, halfway: true, error: 'filter-failed', modes: [2] },
      1,
    );
  });
});

describe('files that a process puts off', () => {
  const attributes = '*.r filter=rot13\n*.s filter=other\n* ident\n';
  const config = {
    'filter.rot13.process': rot13('smudge', 'delay'),
    'filter.other.process': `${rot13('smudge', 'delay')} clean`,
  };

  it('are fetched at the end', async () => {
    await expectFiltered(
      {
        '.gitattributes': attributes,
        'a.r': 'a\n',
        'delay-1.r': 'one\n',
        'delay-2.r': { content: 'two\n', executable: true },
        'sub/delay-3.r': 'three\n',
        'sub/delay-second.r': 'four\n',
        'delay-1.s': 'five\n',
        link: { symlink: 'delay-1.r' },
      },
      { config },
      6,
    );
  });

  it('are empty if the driver then says no', async () => {
    const spec = { '.gitattributes': attributes, 'delay-say-error.r': '$Id$\n', 'delay-then.r': 'x\n' };
    await expectFiltered(spec, { config }, 2);
  });

  it('are missing if it never mentions them again', async () => {
    await expectFiltered(
      { '.gitattributes': attributes, 'delay-1.r': 'one\n', 'delay-never.r': 'two\n' },
      { config, exit: 1, error: 'write-failed', failed: ['delay-never.r'] },
      1,
    );
  });

  it('and one that nobody asked for', async () => {
    await expectFiltered(
      { '.gitattributes': attributes, 'delay-list-unknown.r': 'one\n', 'delay-second.r': 'two\n' },
      { config, exit: 1, error: 'write-failed', failed: ['delay-second.r'] },
      1,
    );
  });

  it('and a list that fails', async () => {
    await expectFiltered(
      { '.gitattributes': attributes, 'delay-list-error.r': 'one\n', 'delay-1.s': 'two\n' },
      { config, exit: 1, error: 'write-failed', failed: ['delay-list-error.r'] },
      1,
    );
  });

  it('and a crash while they wait', async () => {
    await expectFiltered(
      { '.gitattributes': attributes, 'delay-1.r': 'one\n', 'x-crash-first.r': 'two\n' },
      { config, exit: 1, error: 'write-failed', failed: ['delay-1.r'] },
      1,
    );
  });
});

/** git must find the working tree clean by stat data alone, without running the driver. */
function checkStatus(directory: string): void {
  const later = Date.now() / 1000 + 10;
  utimesSync(join(directory, '.git', 'index'), later, later);
  expect(git(directory, ['diff-files', '--name-status']).toString()).toBe('');
}

describe('a later checkout', () => {
  it('filters what changed, and what may have', async () => {
    const first = { '.gitattributes': '*.r filter=rot13\n', 'same.r': 'same\n', 'new.r': 'old\n', 'kind.r/x': 'x\n' };
    const from = repository.commit({ ...OTHERS, ...first });
    const to = repository.commit({
      ...OTHERS,
      '.gitattributes': '*.r filter=rot13\n',
      'same.r': 'same\n',
      'new.r': 'new\n',
      'kind.r': 'now a file\n',
      'more.r': 'more\n',
    });
    const config = { 'filter.rot13.smudge': 'tr a-z n-za-m', 'filter.rot13.clean': 'tr a-z n-za-m' };
    await expectSameAsGit({
      repository,
      revision: to.commit,
      from: from.commit,
      config,
      modes: [0, 2],
      byMainThread: 3,
    });
    const prepare = (directory: string): void => {
      writeFileSync(join(directory, 'same.r'), 'something else\n');
      rmSync(join(directory, 'new.r'));
      mkdirSync(join(directory, 'new.r', 'below'), { recursive: true });
      symlinkSync('/', join(directory, 'more.r'));
    };
    await expectSameAsGit({
      repository,
      revision: to.commit,
      from: from.commit,
      config,
      prepare,
      modes: [0, 2],
      byMainThread: 4,
    });
    await expectSameAsGit({
      repository,
      revision: to.commit,
      from: from.commit,
      config,
      racy: true,
      modes: [0, 2],
      byMainThread: 4,
      compareKept: false,
    });
  });
});

describe('a stop', () => {
  it.each([
    ['filter.x.smudge', 'echo $$ > .git/pids; sleep 600 & wait'],
    ['filter.x.process', 'echo $$ > .git/pids; exec sleep 600'],
  ])('ends the driver: %s', async (key, command) => {
    const { commit } = repository.commit({ ...OTHERS, '.gitattributes': 'x filter=x\n', x: 'x\n' });
    const directory = join(folder, `stop-${key}`);
    git(folder, ['clone', '-q', '--no-checkout', repository.directory, directory]);
    const controller = new AbortController();
    const pids = join(directory, '.git', 'pids');
    const watch = setInterval(() => {
      if (existsSync(pids) && readFileSync(pids).includes('\n')) controller.abort();
    }, 20);
    const { report } = await runOurs({
      directory,
      target: { kind: 'detach', revision: commit },
      config: { [key]: command },
      request: { signal: controller.signal },
    });
    clearInterval(watch);
    expect(report.error?.code).toBe('interrupted');
    expect(existsSync(join(directory, '.git', 'index'))).toBe(false);
    expect(existsSync(join(directory, '.git', 'index.lock'))).toBe(false);
    expect(existsSync(join(directory, 'x'))).toBe(false);
    for (const pid of readFileSync(pids, 'latin1').trim().split('\n')) {
      expect(() => process.kill(Number(pid), 0), 'the driver has ended').toThrow();
    }
  });
});
