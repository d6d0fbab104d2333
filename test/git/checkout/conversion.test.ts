/**
 * Attributes, line ends and $Id$ through the whole engine. The rules have tables of their own in test/unit; here it counts
 * that the right rule reaches the right file, from every place that attributes come from, in threads and without.
 */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'vitest';
import { randomText } from '../../support/random.ts';
import { expectSameAsGit, FEW_MODES } from '../../support/oracle.ts';
import { GitRepository, type TreeSpec } from '../../support/repository.ts';
import { memoryFolder, temporaryFolder } from '../../support/temporary.ts';

const folder = temporaryFolder('conversion', memoryFolder());
const repository = new GitRepository(folder);

const contents: Record<string, string | Uint8Array> = {
  lf: 'a\nb\nc\n',
  crlf: 'a\r\nb\r\nc\r\n',
  mixed: 'a\r\nb\nc\r\n',
  'lone-cr': 'a\rb\nc\n',
  'nul-early': 'a\0b\nc\n',
  'nul-late': Buffer.concat([Buffer.from('line\n'.repeat(30_000)), Buffer.from('\0\n')]),
  empty: '',
  'only-lf': '\n',
  'no-final': 'a\nb',
  'high-bit': Buffer.from([0xe4, 0x0a, 0xff, 0x0a]),
  crcrlf: 'a\r\r\nb\n',
  'border-16k': `${'x'.repeat(16383)}\n${'y'.repeat(16383)}\r\n${'z'.repeat(1023)}\n\n`,
  'border-16k-cr': `${'x'.repeat(16383)}\r\n${'y'.repeat(1022)}\r\n\n`,
  nonprintable: `${'p'.repeat(128 * 8)}${'\x01'.repeat(8)}\n`,
  'nonprintable-over': `${'p'.repeat(128 * 8 - 2)}${'\x01'.repeat(9)}\n`,
  'ctrl-z': 'a\nb\n\x1a',
  large: randomText(4, 700 << 10),
};

const LARGE = new Set(['large', 'nul-late', 'border-16k', 'border-16k-cr', 'ctrl-z']);

const attributeSets = [
  '',
  '* text=auto',
  '* text',
  '* -text',
  '* text=input',
  '* text=bogus',
  '* crlf',
  '* -crlf',
  '* crlf=input',
  '* crlf=auto',
  '* eol=lf',
  '* eol=crlf',
  '* eol=bogus',
  '* text eol=crlf',
  '* text=auto eol=crlf',
  '* text=auto eol=lf',
  '* -text eol=crlf',
  '* text=input eol=crlf',
  '* binary',
  '* binary text',
  '* ident text=auto',
  '* ident eol=crlf',
];

const endOfLine: Record<string, string | Uint8Array> = {};
attributeSets.forEach((attributes, i) => {
  endOfLine[`s${i}/.gitattributes`] = `${attributes}\n`;
  for (const [name, content] of Object.entries(contents)) {
    // The large one is about the buffers, not about the table.
    if (LARGE.has(name) && i % 4 !== 1) continue;
    endOfLine[`s${i}/${name}`] = content;
  }
});

describe('line ends', () => {
  const tree = repository.commit(endOfLine);
  for (const autocrlf of ['', 'false', 'true', 'input']) {
    for (const eol of autocrlf === 'false' ? ['lf', 'crlf'] : autocrlf === 'true' ? ['lf'] : ['', 'crlf']) {
      it(`core.autocrlf=${autocrlf} core.eol=${eol}`, async () => {
        const config: Record<string, string> = {};
        if (autocrlf !== '') config['core.autocrlf'] = autocrlf;
        if (eol !== '') config['core.eol'] = eol;
        // Files with line ends that the rules would change at the next commit are listed by git status for git, too.
        await expectSameAsGit({
          repository,
          revision: tree.commit,
          config,
          modes: [2],
          unclean: true,
          compareStatus: false,
          fsck: false,
        });
      });
    }
  }
});

const idents: Record<string, string> = {
  plain: '$Id$\n',
  expanded: '$Id: 0123 $\n',
  foreign: '$Id: a b $\n',
  'foreign-tab': '$Id: a\tb $\n',
  'no-space': '$Id:foo bar$\n',
  two: '$Id$ $Id$ x $Id: y $\n',
  double: '$$Id$\n',
  almost: '$I$Id$\n',
  lost: '$IdX$Id: y$\n',
  unclosed: '$Id: never closed\n$Id$\n',
  'unclosed-end': 'x $Id',
  'dollar-end': 'x $',
  nul: '$Id\0$\n',
  'across-lines': '$Id: a\n b $ $Id$\n',
  crlf: 'a\r\n$Id$\r\n',
  'lf-only': '$Id$\n$Id$\n',
  empty: '',
  border: `${'x'.repeat(16382)}$Id$\n${'y'.repeat(16377)}$Id: old$\n`,
  large: `${randomText(9, 600 << 10)}\n$Id$\n${randomText(10, 600 << 10)}$Id: old $`,
  'foreign-then': '$Id: a b $Id$\n',
};

describe('ident', () => {
  const spec: Record<string, string> = {};
  [
    '* ident',
    '* ident text=auto',
    '* ident eol=crlf',
    '* ident text',
    '* ident -text',
    '* ident text=auto eol=lf',
  ].forEach((attributes, i) => {
    spec[`s${i}/.gitattributes`] = `${attributes}\n`;
    for (const [name, content] of Object.entries(idents))
      if (name !== 'large' || i < 3) spec[`s${i}/${name}`] = content;
  });
  const { commit } = repository.commit(spec);
  it.each(['', 'true', 'input'])('core.autocrlf=%s', async (autocrlf) => {
    const config: Record<string, string> = autocrlf === '' ? {} : { 'core.autocrlf': autocrlf };
    await expectSameAsGit({
      repository,
      revision: commit,
      config,
      modes: FEW_MODES,
      unclean: true,
      compareStatus: false,
    });
  });
});

/** Files on whose line ends it can be seen which rule won. */
function probes(...directories: string[]): Record<string, string> {
  const spec: Record<string, string> = {};
  for (const directory of ['', ...directories.map((name) => `${name}/`)]) {
    for (const name of ['a.c', 'b.txt', 'B.TXT', 'Makefile', 'x y', '[z].c']) spec[directory + name] = 'one\n$Id$\n';
  }
  return spec;
}

describe('where attributes come from', () => {
  it('every frame, its order and its syntax', async () => {
    const long = `a.c ${'x'.repeat(2048 - 'a.c  eol=crlf'.length)} eol=crlf`;
    const spec: TreeSpec = {
      ...probes(
        'sub',
        'sub/deep',
        'other',
        'bom',
        'nul',
        'crlf',
        'length',
        'macro',
        'quoted',
        'link',
        'neg',
        'slash',
        'unset',
      ),
      '.gitattributes':
        '[attr]mine eol=crlf ident\n*.c eol=crlf\n/other/* ident\nsub/**/b.txt eol=crlf\n**/Makefile ident\n',
      'sub/.gitattributes': '*.c -text\n*.txt ident\n',
      'sub/deep/.gitattributes': '*.c !text !eol\n*.txt -ident\nb.txt ident -ident ident\n',
      'bom/.gitattributes': '\ufeffa.c -text\nb.txt eol=crlf\n',
      'nul/.gitattributes': 'b.txt eol=crlf\n\0Makefile eol=crlf\n',
      'crlf/.gitattributes': '*.txt eol=crlf\r\n# comment\r\nMakefile ident\r\n',
      'length/.gitattributes': `${long}\nb.txt ${'y'.repeat(2047 - 'b.txt  eol=crlf'.length)} eol=crlf\n`,
      'macro/.gitattributes': '[attr]late eol=crlf\nb.txt late\nMakefile mine\n*.c binary\n',
      'quoted/.gitattributes': '"x y" eol=crlf\n"\\[z\\].c" -text\n\\[z].c ident\n',
      'link/.gitattributes': { symlink: 'b.txt eol=crlf' },
      'neg/.gitattributes': '* eol=crlf\n!b.txt eol=lf\nMakefile -a$b eol=lf\n',
      'slash/.gitattributes': 'b.txt/ eol=crlf\n./Makefile eol=crlf\n/a.c -text\n',
      'unset/.gitattributes': '* eol=crlf\nb.txt !eol\nMakefile -eol\n',
    };
    const { commit } = repository.commit(spec);
    const loose = { unclean: true, compareStatus: false };
    await expectSameAsGit({ repository, revision: commit, ...loose });
    const config = { 'core.ignoreCase': 'true' };
    await expectSameAsGit({ repository, revision: commit, config, modes: FEW_MODES, ...loose });
    const prepare = (directory: string): void => {
      mkdirSync(join(directory, '.git', 'info'), { recursive: true });
      writeFileSync(
        join(directory, '.git', 'info', 'attributes'),
        '\ufeffsub/a.c eol=crlf\nother/* -ident\n[attr]m2 ident\nnul/* m2\n',
      );
    };
    await expectSameAsGit({ repository, revision: commit, prepare, modes: FEW_MODES, ...loose });
  });

  it('core.attributesFile, and the default place of the user', async () => {
    const path = join(folder, 'attributes');
    writeFileSync(path, '*.c eol=crlf\n*.txt ident\n[attr]own eol=crlf\nMakefile own\n');
    const { commit } = repository.commit({ ...probes('sub'), 'sub/.gitattributes': '*.c -eol\nb.txt -ident\n' });
    await expectSameAsGit({ repository, revision: commit, config: { 'core.attributesFile': path }, modes: FEW_MODES });
    const xdg = join(folder, 'xdg');
    mkdirSync(join(xdg, 'git'), { recursive: true });
    writeFileSync(join(xdg, 'git', 'attributes'), '*.txt eol=crlf\n');
    await expectSameAsGit({ repository, revision: commit, env: { XDG_CONFIG_HOME: xdg }, modes: FEW_MODES });
  });

  it('changed by the same checkout, removed by it, and untracked in the working tree', async () => {
    const files = probes('sub', 'new');
    const from = repository.commit({ ...files, '.gitattributes': '*.c eol=crlf\n', 'sub/.gitattributes': '* ident\n' });
    const changed: Record<string, string> = {};
    for (const name of Object.keys(files)) changed[name] = 'two\n$Id$\n';
    const to = repository.commit({
      ...changed,
      '.gitattributes': '*.txt eol=crlf\n',
      'new/.gitattributes': '* eol=crlf\n',
    });
    await expectSameAsGit({ repository, revision: to.commit, from: from.commit });
    const prepare = (directory: string): void => {
      writeFileSync(join(directory, 'sub', '.gitattributes'), '* eol=crlf\n');
      writeFileSync(join(directory, 'new', '.gitattributes'), '* -text\n');
      writeFileSync(join(directory, '.gitattributes'), '* -text\n');
    };
    await expectSameAsGit({
      repository,
      revision: to.commit,
      from: from.commit,
      prepare,
      modes: FEW_MODES,
      unclean: true,
    });
    // No index knows of it, and so it counts.
    const plain = repository.commit(probes('sub'));
    const untracked = (directory: string): void => {
      mkdirSync(join(directory, 'sub'));
      writeFileSync(join(directory, 'sub', '.gitattributes'), '* eol=crlf\n');
      writeFileSync(join(folder, 'elsewhere'), '* eol=crlf\n');
      symlinkSync(join(folder, 'elsewhere'), join(directory, '.gitattributes'));
    };
    await expectSameAsGit({
      repository,
      revision: plain.commit,
      prepare: untracked,
      modes: FEW_MODES,
      engine: 'any',
      unclean: true,
    });
  });

  it('a .gitattributes that is a directory, a submodule, or missing as an object', async () => {
    const { commit } = repository.commit({ ...probes(), '.gitattributes/a.c': 'a directory\n' });
    await expectSameAsGit({ repository, revision: commit, modes: FEW_MODES, engine: 'any' });
    const blob = repository.object('blob', 'x\n');
    const tree = repository.rawTree([
      { mode: '100644', name: '.gitattributes', oid: '99'.repeat(20) },
      { mode: '100644', name: 'file', oid: blob },
    ]);
    await expectSameAsGit({
      repository,
      revision: repository.rawCommit(tree).commit,
      modes: FEW_MODES,
      engine: 'any',
      exit: 1,
      failed: ['.gitattributes'],
      unclean: true,
      fsck: false,
    });
  });
});
