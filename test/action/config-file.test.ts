// Our editing of configuration files against git's own reading and writing of them.
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import {
  appendSections,
  configValues,
  configVariables,
  editConfigFile,
  removeSections,
  removeVariables,
} from '../../src/action/config-file.ts';

const directory = mkdtempSync(join(tmpdir(), 'parallel-checkout-config-'));
const file = join(directory, 'config');
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** What git reads from a text: `key\nvalue` or `key`, in order; null if git refuses it. */
function gitReads(text: string): string[] | null {
  writeFileSync(file, text, 'latin1');
  try {
    const stdio: ['ignore', 'pipe', 'ignore'] = ['ignore', 'pipe', 'ignore'];
    const output = execFileSync('git', ['config', '--file', file, '--null', '--list'], { encoding: 'utf8', stdio });
    return output.split('\0').slice(0, -1);
  } catch {
    return null;
  }
}

/** The same by us. */
function weRead(text: string): string[] {
  return configVariables(text).map(({ section, subsection, name, value }) => {
    const key = `${section}.${subsection === null ? '' : `${subsection}.`}${name}`;
    return value === null ? key : `${key}\n${value}`;
  });
}

const texts: readonly (readonly [name: string, text: string])[] = [
  ['empty', ''],
  ['comments', '# one\n[core] ; two\n\tbare = false # three\n; four\n'],
  ['no value', '[core]\n\tbare\n\tfilemode\n'],
  ['one line', '[core] bare = true\n[a]b=c\n'],
  ['case', '[CoRe "SuB"]\n\tNaMe = VaLue\n'],
  ['old subsections', '[Branch.Main]\n\tremote = origin\n'],
  ['escapes', '[a]\n\tb = "x\\ty\\n\\"z\\\\" plain \\"q\\"\n'],
  ['quoted parts', '[a]\n\tb = one" # two "three ; four\n'],
  ['continuation', '[a]\n\tb = one \\\n  two\n\tc = "x\\\ny"\n'],
  ['blanks', '[a]\n\tb =   spaced   out   \t\n\tc=\n\td = ""\n'],
  ['subsection escapes', '[a "q\\"b\\\\c\\d"]\n\tx = 1\n'],
  ['CR LF', '[a]\r\n\tb = c\r\n\td\r\n[e]\r\n\tf = "g" \r\n'],
  ['byte order mark', '\xef\xbb\xbf[a]\n\tb = c\n'],
  ['no last line break', '[a]\n\tb = c'],
  ['UTF-8', Buffer.from('[a "ü"]\n\tb = é\n').toString('latin1')],
  ['several values', '[a]\n\tb = 1\n\tb = 2\n[c]\n[a]\n\tb = 3\n'],
  ['includeIf', '[includeIf "gitdir:/a b/.git"]\n\tpath = /t/git-credentials-x.config\n'],
];

describe('reading', () => {
  it.each(texts)('%s', (_, text) => {
    const expected = gitReads(text);
    expect(expected).not.toBeNull();
    expect(weRead(text)).toEqual(expected);
  });

  it.each([
    '[core\n',
    '[a "b]\n\tc = d\n',
    '[a]\n\tb = "c\n',
    '[a]\n\tb = \\q\n',
    '[a]\n\t1 = 2\n',
    '[a]\n\tb c\n',
    '[]\n\tb = c\n',
  ])('refuses what git refuses: %j', (text) => {
    expect(gitReads(text)).toBeNull();
    expect(() => weRead(text)).toThrow(/bad line/);
  });
});

describe('editing', () => {
  it('removes variables, and sections that this empties, and nothing else', () => {
    const text =
      '[core]\n\tbare = false\n\tsshCommand = x\n[gc]\n\tauto = 0\n; kept\n[a] b = 1\n\tc = 2\n[d]\n\te = f\n';
    const drop = new Set(['core.sshcommand', 'gc.auto', 'a.b', 'd.e']);
    expect(removeVariables(text, ({ section, name }) => drop.has(`${section}.${name}`))).toBe(
      '[core]\n\tbare = false\n[gc]\n; kept\n[a] \n\tc = 2\n',
    );
  });

  it('removes sections', () => {
    const text = '[a]\n\tb = 1\n[branch "x"]\n\tremote = o\n[branch "y"]\n\tremote = o\n';
    expect(removeSections(text, (section, name) => section === 'branch' && name === 'x')).toBe(
      '[a]\n\tb = 1\n[branch "y"]\n\tremote = o\n',
    );
  });

  it('writes any value and subsection so that git reads the same', () => {
    const bytes = fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\0') && !text.includes('\r'));
    const names = bytes.filter((text) => !text.includes('\n'));
    fc.assert(
      fc.property(names, bytes, (subsection, value) => {
        const text = appendSections('[core]\n\tbare = false', [
          { section: 'section', subsection, variables: [['name', value]] },
        ]);
        expect(configValues(text, 'section', subsection, 'name')).toEqual([value]);
        expect(gitReads(text)).toEqual(['core.bare\nfalse', `section.${subsection}.name\n${value}`]);
      }),
      { numRuns: 60 },
    );
  });

  it('undoes what it did: adding and removing gives the text back', () => {
    for (const [, text] of texts) {
      const start = text === '' || text.endsWith('\n') ? text : `${text}\n`;
      const added = appendSections(text, [
        {
          section: 'zz',
          subsection: 'y',
          variables: [
            ['a', '1'],
            ['b', '2'],
          ],
        },
      ]);
      expect(removeVariables(added, ({ section }) => section === 'zz')).toBe(start);
    }
  });

  it('goes through a lock, keeps the mode, and leaves no lock', () => {
    writeFileSync(file, '[a]\n\tb = c\n');
    chmodSync(file, 0o640);
    editConfigFile(file, (text) => `${text}# more\n`);
    expect(readFileSync(file, 'utf8')).toBe('[a]\n\tb = c\n# more\n');
    if (process.platform !== 'win32') expect(statSync(file).mode & 0o777).toBe(0o640);
    writeFileSync(`${file}.lock`, '');
    expect(() => editConfigFile(file, () => 'x')).toThrow(/config\.lock.*EEXIST/);
    expect(readFileSync(`${file}.lock`, 'utf8')).toBe('');
    rmSync(`${file}.lock`);
    expect(() => editConfigFile(file, (text) => (configVariables('['), text))).toThrow(`'${file}'`);
    expect(existsSync(`${file}.lock`)).toBe(false);
    editConfigFile(join(directory, 'missing'), () => 'x');
    expect(existsSync(join(directory, 'missing'))).toBe(false);
  });
});
