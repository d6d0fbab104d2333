/**
 * Which entries of a tree a sparse-checkout file includes: random files, cone and not, each asked of `git read-tree` and of
 * our matcher. One repository and one shell for all of them.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readIndex } from '../../src/engine/index/parse-index.ts';
import { SHA1 } from '../../src/engine/oid.ts';
import { compileSparse } from '../../src/engine/sparse/compile.ts';
import { ALL, NONE } from '../../src/engine/sparse/matcher.ts';
import { randomNumbers } from '../support/random.ts';
import { GITLINK_OID, GitRepository, type TreeSpec } from '../support/repository.ts';
import { temporaryFolder } from '../support/temporary.ts';

const folder = temporaryFolder('sparse-patterns');

const TREE: TreeSpec = {
  root: '1',
  'x.c': '2',
  '*': 'a name that is a wildcard',
  link: { symlink: 'root' },
  module: { gitlink: GITLINK_OID },
  'a/f': '3',
  'a/x.c': '4',
  'a/b/f': '5',
  'a/b/g.c': '6',
  'a/b/c/f': '7',
  'a/b/c/d/f': '8',
  'a/bb/f': '9',
  'a/module': { gitlink: GITLINK_OID },
  'a/link': { symlink: 'f' },
  'ab/c/f': '10',
  'ab/f': '11',
  'b/a/f': '12',
  'b/a/b/f': '13',
  'b/f': '14',
  'c/a/b/f': '15',
  'Dir/File': '16',
  'Dir/sub/file': '17',
  'we[ird/f': '18',
  'we[ird/a/f': '19',
  'we?/f': '20',
  'q\\b/f': '21',
  ' lead/f': '22',
  'trail /f': '23',
  'trail /a': '24',
  '#hash/f': '25',
  '!bang/f': '26',
  'f/f/f': '27',
};

interface Case {
  readonly file: string;
  readonly cone: boolean;
  readonly ignoreCase: boolean;
}

/** Random lines from pieces that are likely to meet the tree, and each other. */
function randomPatterns(random: (below: number) => number, cone: boolean): string {
  const pick = (choices: readonly string[]): string => choices[random(choices.length)]!;
  const names = [
    'a',
    'b',
    'c',
    'd',
    'f',
    'ab',
    'bb',
    'Dir',
    'dir',
    'DIR',
    'sub',
    'FILE',
    'module',
    'link',
    'x.c',
    'root',
  ];
  const odd = [
    'we\\[ird',
    'we[ird',
    'we\\?',
    'q\\\\b',
    '*',
    '?',
    '\\*',
    '[ab]',
    '[A-D]*',
    '[^a]',
    '[[:upper:]]*',
    '**',
  ];
  const rare = ['a**', '**b', '*.c', 'a*', '*b', ' lead', 'trail ', 'trail\\ ', '\\#hash', '#hash', '!bang', '\\!bang'];
  const name = (): string => (random(3) > 0 ? pick(names) : random(2) > 0 ? pick(odd) : pick(rare));
  const path = (): string => Array.from({ length: 1 + random(3) }, name).join('/');
  const lines: string[] = [];
  if (cone) {
    if (random(6) > 0) lines.push('/*');
    if (random(6) > 0) lines.push('!/*/');
    // As `git sparse-checkout set` would write it, parents first, and now and then something else.
    for (let i = random(4); i >= 0; i--) {
      const parts = Array.from({ length: 1 + random(3) }, () => (random(8) > 0 ? pick(names) : pick(odd)));
      let prefix = '';
      for (const [at, part] of parts.entries()) {
        prefix += `/${part}`;
        if (lines.includes(`!${prefix}/*/`) && random(12) > 0) continue;
        lines.push(`${prefix}/`);
        if (at < parts.length - 1 && random(10) > 0) lines.push(`!${prefix}/*/`);
      }
    }
    if (random(8) === 0)
      lines.push(pick(['*', 'a', '/a', '/a/*', '!/a/', '/a/\\*/', '/*/', '!/*', '/', '', ' ', '/a//b/']));
  } else {
    for (let i = random(5); i >= 0; i--) {
      lines.push(
        `${pick(['', '', '!'])}${pick(['', '/', '/', '**/'])}${path()}${pick(['', '', '/', '/*', '/**', ' '])}`,
      );
    }
    if (random(3) === 0) lines.unshift(pick(['/*', '*', '/*/', '/**', 'a/']));
  }
  if (random(6) === 0) lines.splice(random(lines.length), 0, pick(['', '# comment', '  ', '\\']));
  const end = pick(['\n', '\n', '\n', '\r\n']);
  return (random(10) === 0 ? '\u00ef\u00bb\u00bf' : '') + lines.join(end) + pick(['', end, end, ` ${end}`]);
}

/**
 * What git includes in each case, into an empty directory: the paths without the skip-worktree bit. A process for each, with
 * an index of its own.
 */
function askGit(repository: GitRepository, cases: readonly Case[]): string[][] {
  const file = join(repository.gitDir, 'info', 'sparse-checkout');
  mkdirSync(join(repository.gitDir, 'info'), { recursive: true });
  const script = cases.map(({ file: content, cone, ignoreCase }, i) => {
    mkdirSync(join(folder, `tree-${i}`));
    const escaped = Buffer.from(content, 'latin1').reduce((text, byte) => `${text}\\${byte.toString(8)}`, '');
    const config = `-c core.sparseCheckoutCone=${cone} -c core.ignoreCase=${ignoreCase}`;
    const where = `GIT_INDEX_FILE=${folder}/index-${i} git --work-tree=${folder}/tree-${i}`;
    return `printf '${escaped}' >${file}\n${where} ${config} read-tree -mu HEAD 2>/dev/null`;
  });
  repository.git(['config', 'core.sparseCheckout', 'true']);
  const result = spawnSync('sh', ['-e'], { cwd: repository.directory, input: script.join('\n') });
  expect(result.status, result.stderr.toString()).toBe(0);
  return cases.map((_, i) => {
    const index = readIndex(join(folder, `index-${i}`), SHA1)!;
    return Object.keys(TREE)
      .sort()
      .filter((_path, entry) => index.extendedFlags[entry] === 0);
  });
}

function ask(options: Case): string[] {
  const { matcher } = compileSparse(Buffer.from(options.file, 'latin1'), options);
  const included = Object.entries(TREE).filter(([path]) => {
    const bytes = Buffer.from(path, 'latin1');
    let verdict = matcher.root;
    let name = 0;
    for (let at = bytes.indexOf(0x2f); at >= 0; at = bytes.indexOf(0x2f, name)) {
      if (verdict !== ALL && verdict !== NONE) verdict = matcher.directory(bytes, name, at, verdict);
      name = at + 1;
    }
    if (verdict === ALL || verdict === NONE) return verdict === ALL;
    return matcher.includes(bytes, 0, name, bytes.length, false, verdict);
  });
  return included.map(([path]) => path).sort();
}

const WRITTEN: readonly Case[] = [
  ['x', false],
  ['a/\n!a/b/', false],
  ['/a/*\n!/a/b', false],
  ['/*\n!e', false],
  ['/*\n!module', false],
  ['module/\nlink/', false],
  ['', false],
  ['', true],
  ['/*\n!/*/', true],
  ['/*', true],
  ['!/*/\n/*', true],
  ['/*\r\n!/*/\r\n# only\r\n/a/\r\n!/a/*/\r\n/a/b/', true],
  ['/*\n!/*/\n/we\\[ird/', true],
  ['/*\n!/*/\n/we[ird/', true],
  ['/a/b/', true],
  ['/a/b/c/', true],
  ['/*\n!/*/\n/a/\n!/a/*/\n/a/f/', true],
  ['/*\n!/*/\n/a/\n!/a/*/\n/a/', true],
  ['/*\n!/*/\n!/a/*/', true],
  ['/*\n!/*/\n/DIR/', true],
  ['\u00ef\u00bb\u00bf/*\n!/*/\n/a/', true],
  ['/*\n!/*/\n/a/\n\r\n', true],
].flatMap(([file, cone]) =>
  [false, true].map((ignoreCase) => ({ file: file as string, cone: cone as boolean, ignoreCase })),
);

describe('sparse-checkout files', () => {
  it('include what git includes', () => {
    const repository = new GitRepository(folder);
    repository.commit(TREE);
    const seed = Number(process.env['SPARSE_SEED'] ?? 1);
    const random = randomNumbers(seed);
    const made = Array.from({ length: Number(process.env['SPARSE_CASES'] ?? 50) }, (): Case => {
      const cone = random(2) === 0;
      return { file: randomPatterns(random, cone), cone, ignoreCase: random(4) === 0 };
    });
    const cases = [...WRITTEN, ...made];
    const expected = askGit(repository, cases);
    expect(expected.length).toBe(cases.length);
    cases.forEach((each, i) => {
      expect(ask(each), `seed ${seed}, ${JSON.stringify(each)}`).toEqual(expected[i]);
    });
    // The cases are worth their while: both answers, for most of the paths.
    const counts = expected.map((paths) => paths.length);
    expect(counts.filter((count) => count > 2 && count < Object.keys(TREE).length - 2).length).toBeGreaterThan(
      cases.length / 2,
    );
  });
});
