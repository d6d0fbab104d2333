/**
 * `working-tree-encoding` through the whole engine: the names that git takes, what comes of text that cannot be encoded, the order of the
 * conversions, and what git stops at.
 */
import { describe, expect, it } from 'vitest';
import { encodingOf, hasGlibc, TABLE_NAMES } from '../../../src/engine/filter/encodings.ts';
import { expectSameAsGit } from '../../support/oracle.ts';
import { GitRepository, type TreeSpec } from '../../support/repository.ts';
import { memoryFolder, temporaryFolder } from '../../support/temporary.ts';

const repository = new GitRepository(temporaryFolder('encodings', memoryFolder()));
const LOOSE = { unclean: true, compareStatus: false, modes: [0, 2] } as const;

const NAMES = [
  'UTF-16',
  'utf16',
  'UTF-16LE',
  'UTF-16BE',
  'UTF-16LE-BOM',
  'utf16be-bom',
  'UTF-32',
  'UTF-32LE',
  'utf-32BE',
  'utf8',
  'UTF-8',
  'latin-1',
  'Latin1',
  'ISO-8859-1',
  'US-ASCII',
  ...(hasGlibc() ? [...TABLE_NAMES.filter((_, i) => i % 13 === 0), 'SHIFT-JIS', 'EUC-JP', 'cp949'] : []),
];
const TEXTS: Readonly<Record<string, string>> = {
  ascii: 'one\ntwo\n$Id$\n',
  latin: 'übel\n£\n',
  greek: 'αβγ\n',
  kana: 'テスト 漢字\n~\\\n',
  emoji: '\u{1f600}\n',
  mark: '\ufeffmark\n',
  empty: '',
  large: 'a line with ümlauts\n'.repeat(60_000),
};

describe('working-tree-encoding', () => {
  const spec: Record<string, TreeSpec[string]> = {};
  NAMES.forEach((name, i) => {
    spec[`e${i}/.gitattributes`] = `* working-tree-encoding=${name}\n.gitattributes !working-tree-encoding\n`;
    for (const [text, content] of Object.entries(TEXTS))
      if (text !== 'large' || i === 0 || name === 'SHIFT-JIS') spec[`e${i}/${text}`] = content;
    spec[`e${i}/broken`] = Buffer.from([0x61, 0x0a, 0xc3]);
  });
  ['* text=auto ident', '* eol=crlf ident', '* ident'].forEach((attributes, i) => {
    spec[`c${i}/.gitattributes`] =
      `${attributes} working-tree-encoding=UTF-16LE-BOM\n.gitattributes !working-tree-encoding !eol\n`;
    for (const [text, content] of Object.entries(TEXTS)) spec[`c${i}/${text}`] = content;
    spec[`c${i}/broken`] = Buffer.from('a\n$Id$\n\xc3\n', 'latin1');
    spec[`c${i}/foreign`] = '$IdX$Id: y$\n$$Id$\n';
  });
  const { commit } = repository.commit(spec);

  it('as git, and what cannot be encoded stays UTF-8, with a warning', async () => {
    await expectSameAsGit({
      repository,
      revision: commit,
      config: { 'core.autocrlf': 'input' },
      ...LOOSE,
      modes: [2],
      fsck: false,
      inspect: (_, run) => {
        const warning = `'e0/broken' cannot be written in its working-tree-encoding and stays in UTF-8`;
        if (run !== null) expect(run.warnings).toContain(warning);
      },
    });
  });

  it('comes before a filter driver, whose failure leaves the encoded text', async () => {
    const tree = repository.commit({
      '.gitattributes':
        'a working-tree-encoding=UTF-16 eol=crlf filter=x\nb working-tree-encoding=UTF-16 filter=fail\n',
      a: 'übel\n',
      b: 'übel\n',
    });
    const config = { 'filter.x.smudge': 'od -An -tx1', 'filter.fail.smudge': 'false' };
    await expectSameAsGit({ repository, revision: tree.commit, config, ...LOOSE, byMainThread: 2 });
  });

  it('without a value stops before anything is touched, if such a file is to be written', async () => {
    const tree = repository.commit({
      '.gitattributes': 'a working-tree-encoding\nb -working-tree-encoding\n',
      a: 'a\n',
    });
    await expectSameAsGit({
      repository,
      revision: tree.commit,
      ...LOOSE,
      exit: 128,
      halfway: true,
      error: 'filter-failed',
    });
    const unset = repository.commit({
      '.gitattributes': 'b -working-tree-encoding\nc working-tree-encoding=\n',
      b: 'b\n',
      c: 'c\n',
    });
    await expectSameAsGit({ repository, revision: unset.commit, modes: [0, 2] });
  });

  it('that the driver needs which has no command is refused', async () => {
    const tree = repository.commit({ '.gitattributes': 'a working-tree-encoding=UTF-16 filter=x\n', a: 'a\n' });
    const config = { 'filter.x.required': 'true' };
    await expectSameAsGit({
      repository,
      revision: tree.commit,
      config,
      ...LOOSE,
      exit: 128,
      halfway: true,
      error: 'filter-failed',
    });
  });

  it('that we do not know goes to git', async () => {
    expect(encodingOf('bogus', true)).toBeNull();
    const tree = repository.commit({ '.gitattributes': 'a working-tree-encoding=bogus\n', a: 'a\n' });
    await expectSameAsGit({ repository, revision: tree.commit, ...LOOSE, engine: 'git', reason: /'bogus'/ });
  });
});
