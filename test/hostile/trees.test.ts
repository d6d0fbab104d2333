/**
 * Trees and attribute files of random bytes: git's verdict is ours, and nothing lands outside of the working tree.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runHostileJob, wrongOnes } from '../support/hostile.ts';
import { LONG } from '../support/long-tests.ts';
import { GitRepository } from '../support/repository.ts';
import { memoryFolder, temporaryFolder } from '../support/temporary.ts';

const folder = temporaryFolder('hostile-trees', memoryFolder());
/** How many seeds of each kind are tried. */
const SEEDS = LONG ? 10_000 : 200;
const TIME_LIMIT_MS = LONG ? 3_600_000 : 600_000;

describe('a few trees that stand for more than can be', () => {
  it.each([
    ['files', '100644 f\0'],
    ['directories', ''],
  ])(
    'ten thousand million %s are refused soon and in little memory',
    async (name, head) => {
      const repository = new GitRepository(join(folder, name), 'case');
      const blob = Buffer.from(repository.object('blob', 'x'), 'hex');
      let oid = repository.object('tree', head === '' ? '' : Buffer.concat([Buffer.from(head), blob]));
      for (let level = 0; level < 10; level++) {
        oid = repository.rawTree([...Array(10).keys()].map((i) => ({ mode: '40000', name: `d${i}`, oid })));
      }
      const [verdict] = await runHostileJob({
        directory: repository.directory,
        commit: repository.rawCommit(oid).commit,
        kind: 'as-is',
        directories: [repository.directory],
        seeds: [0, 1],
      });
      expect(verdict?.outcome, JSON.stringify(verdict)).toBe('tree-invalid');
      // Node itself with the engine takes 100 to 150 MiB. Without counting first it was over 1 GiB.
      expect(verdict?.maxRssBytes).toBeLessThan(450 << 20);
    },
    60_000,
  );
});

describe('random damage', () => {
  it(
    'root trees',
    async () => {
      const repository = new GitRepository(join(folder, 'trees'), 'case');
      const spec: Record<string, string> = {};
      for (const name of [
        'a',
        'ab',
        '.gi',
        '.gitx',
        'git~2',
        '..x',
        'd/f',
        'd-e',
        'e/g/h',
        'con',
        'x y',
        'é'.repeat(3),
        '.gitattributes',
      ]) {
        spec[Buffer.from(name).toString('latin1')] = `${name}\n`;
      }
      const { commit } = repository.commit(spec);
      const verdicts = await runHostileJob({
        directory: repository.directory,
        commit,
        kind: 'tree',
        seeds: [1, 1 + SEEDS],
      });
      expect(wrongOnes(verdicts)).toEqual([]);
      expect(readdirSync(join(folder, 'trees'))).toEqual(['case']);
      expect(verdicts.filter((verdict) => verdict.outcome === 'as git').length).toBeGreaterThan(30);
      expect(verdicts.filter((verdict) => verdict.outcome !== 'as git').length).toBeGreaterThan(50);
    },
    TIME_LIMIT_MS,
  );

  it(
    'attribute files',
    async () => {
      const repository = new GitRepository(join(folder, 'attributes'), 'case');
      const spec: Record<string, string> = {
        '.gitattributes':
          '[attr]mine eol=crlf ident\n*.c eol=crlf\n"quo\\164ed" text eol=crlf\n/d/** ident\nd/*/[a-c]?.t[[:alpha:]]t mine\n* text=auto !ident\n**/x -text\n!neg eol=crlf\nm\\*n eol=crlf # comment\n',
      };
      for (const name of ['a.c', 'quoted', 'd/a.c', 'd/e/ab.txt', 'd/x', 'm*n', 'x', 'y/z/x.c'])
        spec[name] = 'one\ntwo\n$Id$\n';
      const { commit } = repository.commit(spec);
      const verdicts = await runHostileJob({
        directory: repository.directory,
        commit,
        kind: 'attributes',
        seeds: [1, 1 + SEEDS],
      });
      expect(wrongOnes(verdicts)).toEqual([]);
    },
    TIME_LIMIT_MS,
  );
});
