import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { treeTotals } from '../../../src/engine/checkout/tree-totals.ts';
import { ObjectDatabase } from '../../../src/engine/odb/object-database.ts';
import { oidFromHex, SHA1 } from '../../../src/engine/oid.ts';
import { plainEntry, TREE, writePack } from '../../support/pack-writer.ts';
import { GITLINK_OID, GitRepository, type RawEntry } from '../../support/repository.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const folder = temporaryFolder('tree-totals');
const repository = new GitRepository(folder, 'repository');
const blob = repository.object('blob', 'content');
const file = (name: string): RawEntry => ({ mode: '100644', name, oid: blob });
const directory = (name: string, oid: string): RawEntry => ({ mode: '40000', name, oid });
const leaf = repository.rawTree([file('f'), { mode: '160000', name: 'sub', oid: GITLINK_OID }]);
const odb = ObjectDatabase.open([join(repository.gitDir, 'objects')], SHA1, () => undefined);
afterAll(() => odb.close());

describe('what a tree stands for', () => {
  it('is counted, each time that it is named', () => {
    expect(treeTotals(odb, oidFromHex(leaf))).toEqual({ directories: 1, entries: 2 });
    const two = repository.rawTree([directory('a', leaf), directory('b', leaf), file('c')]);
    expect(treeTotals(odb, oidFromHex(two))).toEqual({ directories: 3, entries: 5 });
    const top = repository.rawTree([directory('x', two), directory('y', two), directory('z', leaf)]);
    expect(treeTotals(odb, oidFromHex(top))).toEqual({ directories: 8, entries: 12 });
  });

  it('may be more than any number that is exact', () => {
    let tree = leaf;
    for (let level = 0; level < 60; level++) {
      tree = repository.rawTree([...Array(10).keys()].map((i) => directory(`d${i}`, tree)));
    }
    expect(treeTotals(odb, oidFromHex(tree))!.entries).toBeGreaterThan(1e60);
  });

  it('is not known of what is missing, no tree, damaged, or too much to remember', () => {
    const missing = repository.rawTree([directory('a', 'd7'.repeat(20))]);
    const odd = repository.rawTree([directory('a', blob)]);
    const damaged = repository.object('tree', '100644 no-end');
    for (const tree of [missing, odd, damaged]) expect(treeTotals(odb, oidFromHex(tree))).toBeNull();
    const many = repository.rawTree(
      [...Array(10).keys()].map((i) => directory(`d${i}`, repository.rawTree([file(`f${i}`)]))),
    );
    expect(treeTotals(odb, oidFromHex(many))).toEqual({ directories: 11, entries: 10 });
    expect(treeTotals(odb, oidFromHex(many), 5)).toBeNull();
  });

  it('is not known of one that contains itself', () => {
    const objects = join(folder, 'cycle');
    const oid = 'c1'.repeat(20);
    const body = Buffer.concat([Buffer.from('40000 again\0'), Buffer.from(oid, 'hex')]);
    writePack(objects, [{ oid, bytes: plainEntry(TREE, body) }]);
    const cyclic = ObjectDatabase.open([objects], SHA1, () => undefined);
    expect(treeTotals(cyclic, oidFromHex(oid))).toBeNull();
    cyclic.close();
  });
});
