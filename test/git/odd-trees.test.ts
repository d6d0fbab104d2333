/**
 * Random trees that git would not write: the entries that are left, and their order, are those of git's own index.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { buildManifest, type ConversionLookup } from '../../src/engine/checkout/manifest.ts';
import { settleOddTrees } from '../../src/engine/checkout/odd-trees.ts';
import { ObjectDatabase } from '../../src/engine/odb/object-database.ts';
import { oidFromHex, SHA1 } from '../../src/engine/oid.ts';
import { randomNumbers } from '../support/random.ts';
import { GitRepository, type RawEntry } from '../support/repository.ts';
import { temporaryFolder } from '../support/temporary.ts';

const TREES = 120;

it('has the index that git makes of them', () => {
  const folder = temporaryFolder('odd-trees');
  const repository = new GitRepository(folder);
  const random = randomNumbers(7);
  const blobs = ['x', 'y', 'z'].map((content) => repository.object('blob', content));
  const pick = <T>(values: readonly T[]): T => values[random(values.length)]!;
  const randomTree = (depth: number): string => {
    const entries = Array.from({ length: random(7) }, (): RawEntry => {
      const name = pick(['a', 'b', 'a-', 'a.b', 'a/b', 'a/b/c', 'a/a', 'b/a', 'ab', 'a-/a', '.gitattributes']);
      if (depth < 2 && random(3) === 0) return { mode: '40000', name, oid: randomTree(depth + 1) };
      return { mode: pick(['100644', '100755', '120000', '160000']), name, oid: pick(blobs) };
    });
    return repository.rawTree(entries);
  };
  const trees = Array.from({ length: TREES }, () => randomTree(0));
  const script = trees
    .map((tree) => `rm -f .git/index; git read-tree --reset ${tree} && git ls-files -s && echo --`)
    .join('\n');
  const answers = spawnSync('sh', ['-c', script], { cwd: repository.directory, encoding: 'latin1' }).stdout;
  const odb = ObjectDatabase.open([join(repository.gitDir, 'objects')], SHA1, () => undefined);
  const depths: number[] = [0];
  const lookup: ConversionLookup = {
    enterDirectory: (_tree, path) => void depths.push(path.length),
    leaveDirectory: () => void depths.pop(),
    lookUp: (path, start, end) => {
      // The directory that is entered last is the one that the file is in.
      const name = Buffer.from(path.subarray(start, end)).toString();
      expect(depths.at(-1), name).toBe(Math.max(0, name.lastIndexOf('/')));
      return 0;
    },
  };
  let odd = 0;
  const ours = trees.map((tree) => {
    const rules = { ntfs: true, hfs: false, windows: false };
    const quiet: ConversionLookup = {
      enterDirectory: () => undefined,
      leaveDirectory: () => undefined,
      lookUp: () => 0,
    };
    const walked = buildManifest(odb, oidFromHex(tree), { rules, conversions: quiet, maxPathBytes: 4000 });
    if (walked.isOdd) odd++;
    const { tables, directories } = walked.isOdd ? settleOddTrees(walked, lookup, null) : walked;
    const path = (entry: number): string =>
      Buffer.from(tables.pathBytes.subarray(tables.pathOffsets[entry], tables.pathOffsets[entry + 1])).toString();
    return Array.from({ length: tables.count }, (_, i) => {
      const directory = tables.directories[i]!;
      const where = path(directories.firstEntry[directory]!).slice(0, directories.pathLength[directory]);
      expect(path(i).slice(0, Math.max(0, path(i).lastIndexOf('/')))).toBe(where);
      const oid = Buffer.from(tables.oids.subarray(20 * i, 20 * i + 20)).toString('hex');
      return `${tables.modes[i]!.toString(8)} ${oid} 0\t${path(i)}\n`;
    }).join('');
  });
  odb.close();
  expect(ours).toEqual(answers.split('--\n').slice(0, -1));
  expect(depths).toEqual([0]);
  expect(odd).toBeGreaterThan(TREES / 2);
});
