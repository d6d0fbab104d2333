import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { objectDirectories } from '../../../src/engine/odb/alternates.ts';
import { GitRepository, runGit } from '../../support/repository.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const folder = temporaryFolder('alternates');
let cases = 0;

/** Makes object directories with these alternates files; names are relative to a folder of the case's own. */
function make(files: Readonly<Record<string, string>>): (name: string) => string {
  const top = join(folder, `${cases++}`);
  for (const [name, alternates] of Object.entries(files)) {
    mkdirSync(join(top, name, 'info'), { recursive: true });
    if (alternates !== '') writeFileSync(join(top, name, 'info', 'alternates'), alternates.replaceAll('TOP', top));
  }
  return (name) => join(top, name);
}

function list(own: string, environment = ''): { found: string[]; warnings: string[] } {
  const warnings: string[] = [];
  return { found: objectDirectories(own, environment, folder, (line) => warnings.push(line)), warnings };
}

describe('alternates files', () => {
  it('none', () => {
    const at = make({ own: '' });
    expect(list(at('own'))).toEqual({ found: [at('own')], warnings: [] });
  });

  it('absolute and relative paths, comments, empty lines, no newline at the end', () => {
    const at = make({ own: '# a comment\n\nTOP/a\n../b\n#../c\n../d', a: '', b: '', c: '', d: '' });
    expect(list(at('own'))).toEqual({ found: ['own', 'a', 'b', 'd'].map(at), warnings: [] });
  });

  it('names in quotes', () => {
    const at = make({
      own: '"../a \\"b\\"\\t\\303\\251"\n"../line\\nfeed"\n"../\\q"\n"../\\389"\n"../not closed\n',
      'a "b"\té': '',
      'line\nfeed': '',
      own2: '',
    });
    const { found, warnings } = list(at('own'));
    expect(found).toEqual([at('own'), at('a "b"\té'), at('line\nfeed')]);
    expect(warnings.map((line) => line.split("'")[1])).toEqual(
      ['"../\\q"', '"../\\389"', '"../not closed'].map((name) => join(at('own'), name)),
    );
  });

  it('each directory once, and never itself', () => {
    const at = make({ own: '../own\n../a\n../b\n../a\nTOP/link\n', a: '../b\n../own\n', b: '../a\n' });
    symlinkSync('a', at('link'));
    expect(list(at('own'))).toEqual({ found: ['own', 'a', 'b'].map(at), warnings: [] });
  });

  it('the alternates of each behind it', () => {
    const at = make({ own: '../a\n../d\n', a: '../b\n../c\n', b: '', c: '', d: '' });
    expect(list(at('own')).found).toEqual(['own', 'a', 'b', 'c', 'd'].map(at));
  });

  it('missing ones and files are told and left out', () => {
    const at = make({ own: 'TOP/gone\nTOP/file\n../a\n', a: '' });
    writeFileSync(at('file'), '');
    const { found, warnings } = list(at('own'));
    expect(found).toEqual([at('own'), at('a')]);
    expect(warnings.map((line) => /'(.*)'/.exec(line)?.[1])).toEqual([at('gone'), at('file')]);
  });

  it('a missing directory of the repository itself is an error', () => {
    expect(() => list(join(folder, 'nothing'))).toThrow(expect.objectContaining({ code: 'io' }));
  });

  it('a file too large to be one counts as none', () => {
    const at = make({ own: `../a\n${'#'.repeat(1 << 20)}`, a: '' });
    expect(list(at('own')).found).toEqual([at('own')]);
  });
});

describe('GIT_ALTERNATE_OBJECT_DIRECTORIES', () => {
  it('comes before the alternates of the repository', () => {
    const at = make({ own: '../a\n', a: '', e1: '../e2\n', e2: '', e3: '' });
    expect(list(at('own'), [at('e1'), at('e3')].join(delimiter)).found).toEqual(['own', 'e1', 'e2', 'e3', 'a'].map(at));
  });

  it('may have empty entries, comments, and quotes around a name with the separator', () => {
    const at = make({ own: '', 'with:and;': '', b: '' });
    const value = ['', '#comment', `"${at('with:and;')}"`, at('b'), ''].join(delimiter);
    expect(list(at('own'), value)).toEqual({ found: ['own', 'with:and;', 'b'].map(at), warnings: [] });
  });
});

describe('against git', () => {
  /** A chain of bare repositories, each borrowing from the next, each with an object of its own. */
  const names = [...Array(9).keys()].map((i) => `r${i}`);
  const top = join(folder, 'chain');
  const repositories = names.map((name) => new GitRepository(top, name, ['--bare']));
  const objectsOf = (i: number): string => join(top, names[i]!, 'objects');
  const oids = repositories.map((repository, i) =>
    repository.text(['hash-object', '-w', '--stdin'], { input: `object ${i}` }),
  );
  for (let i = 0; i < names.length - 1; i++) {
    writeFileSync(join(objectsOf(i), 'info', 'alternates'), `../../${names[i + 1]!}/objects\n`);
  }

  it.each([
    ['in a row', 0, ''],
    ['in a row from the environment', 8, objectsOf(1)],
  ])('as deep as git follows alternates %s', (_, own, environment) => {
    const { found, warnings } = list(objectsOf(own), environment);
    const env = { GIT_ALTERNATE_OBJECT_DIRECTORIES: environment };
    const readable = oids.map((oid) => runGit(join(top, names[own]!), ['cat-file', '-e', oid], { env }).status === 0);
    expect(names.map((_name, i) => found.includes(objectsOf(i)))).toEqual(readable);
    expect(readable).toContain(false);
    expect(warnings).toEqual([`alternates of '${objectsOf(6)}' are nested too deep and ignored`]);
  });
});
