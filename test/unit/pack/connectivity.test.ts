import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ConnectivityFacts } from '../../../src/engine/pack/connectivity.ts';
import { BLOB, COMMIT, plainEntry, TREE } from '../../support/pack-writer.ts';
import { oidOf, rawPack, Receiver } from '../../support/received-pack.ts';
import { git, GITLINK_OID, GitRepository } from '../../support/repository.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const folder = temporaryFolder('connectivity');
const TAG = 4;
const TYPES = { blob: BLOB, tree: TREE, commit: COMMIT, tag: TAG };

interface Made {
  readonly type: keyof typeof TYPES;
  readonly content: Buffer;
  readonly oid: string;
}

function made(type: keyof typeof TYPES, content: string | Buffer): Made {
  const bytes = Buffer.from(content as string);
  return { type, content: bytes, oid: oidOf(type, bytes) };
}
function tree(...entries: readonly (readonly [mode: string, name: string, oid: string])[]): Made {
  return made(
    'tree',
    Buffer.concat(
      entries.map(([mode, name, oid]) => Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(oid, 'hex')])),
    ),
  );
}
function commit(treeOid: string, ...parents: readonly string[]): Made {
  return made(
    'commit',
    `tree ${treeOid}\n${parents.map((oid) => `parent ${oid}\n`).join('')}author a\n\nparent ${'e'.repeat(40)}\n`,
  );
}
function tag(oid: string, type: string): Made {
  return made('tag', `object ${oid}\ntype ${type}\ntag v1\n\nmessage\n`);
}

async function check(all: readonly Made[], facts: Partial<ConnectivityFacts> = {}): Promise<void> {
  const pack = rawPack(all.map(({ type, content }) => plainEntry(TYPES[type], content)));
  // Trees that are at hand, and trees that have to be read.
  for (const retained of [{}, { retained: () => undefined }]) {
    const receiver = new Receiver(mkdtempSync(join(folder, 'o-')));
    try {
      await receiver.take(pack, 65536, { ...facts, ...retained });
    } finally {
      await receiver.abandon();
    }
  }
}

const file = made('blob', 'file');
const other = made('blob', 'other');
const link = made('blob', 'target');
const sub = tree(['100755', 'x', other.oid]);
const root = tree(
  ['100644', 'a', file.oid],
  ['120000', 'l', link.oid],
  ['160000', 'm', GITLINK_OID],
  ['40000', 'sub', sub.oid],
);
const parent = commit(sub.oid);
const tip = commit(root.oid, parent.oid);
const label = tag(tip.oid, 'commit');
const all = [label, tip, parent, root, sub, file, other, link];

describe('checkConnected', () => {
  it('is content when all is there, and gitlinks are not looked for', async () => {
    await check(all, { wants: [label.oid, tip.oid] });
    await check(all.toReversed(), { wants: [tip.oid] });
  });

  it('finds each object that is missing', async () => {
    for (const missing of all.slice(1)) {
      await expect(check(all.filter((each) => each !== missing))).rejects.toMatchObject({
        code: 'object-missing',
        subject: { oid: missing.oid },
        message: `the server did not send object ${missing.oid}, which what it sent needs`,
      });
    }
    await expect(check(all.slice(1), { wants: [label.oid] })).rejects.toMatchObject({
      code: 'object-missing',
      subject: { oid: label.oid },
    });
  });

  it('does without the parents of shallow commits, and of no others', async () => {
    const withoutParent = all.filter((each) => each !== parent);
    await check(withoutParent, { shallow: [tip.oid] });
    await expect(check(withoutParent, { shallow: [parent.oid] })).rejects.toMatchObject({
      subject: { oid: parent.oid },
    });
  });

  it('does without blobs where a filter left them out, and without nothing else', async () => {
    const trees = all.filter(({ type }) => type !== 'blob');
    await check(trees, { withoutBlobs: true });
    for (const missing of [sub, parent, root]) {
      await expect(
        check(
          trees.filter((each) => each !== missing),
          { withoutBlobs: true },
        ),
      ).rejects.toMatchObject({
        code: 'object-missing',
        subject: { oid: missing.oid },
      });
    }
  });

  it.each([
    ['a file for a tree', [tree(['40000', 'x', file.oid]), file]],
    ['a tree for a file', [tree(['100644', 'x', sub.oid]), sub, other]],
    ['a tree for a parent', [commit(sub.oid, sub.oid), sub, other]],
    ['a file for the tree of a commit', [commit(file.oid), file]],
    ['a tag of another type', [tag(file.oid, 'tree'), file]],
    ['a commit without a tree', [made('commit', 'author a\n\n')]],
    ['a commit with half a parent', [made('commit', `tree ${sub.oid}\nparent ${'a'.repeat(39)}\n\n`), sub, other]],
    ['a tag without a type', [made('tag', `object ${file.oid}\n\n`), file]],
    ['a tag of nothing', [made('tag', '')]],
  ])('refuses %s', async (_, objects) => {
    await expect(check(objects)).rejects.toMatchObject({ name: 'CheckoutError', code: 'object-corrupt' });
  });

  it('refuses a tree that cannot be parsed', async () => {
    const broken = made('tree', '100644 a');
    await expect(check([broken])).rejects.toMatchObject({ code: 'object-corrupt', subject: { oid: broken.oid } });
  });

  it('reads trees and commits that are deltas', async () => {
    const repository = new GitRepository(folder);
    const files = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`f${i}`, `${i}`]));
    const commits = repository.commits(Array.from({ length: 20 }, (_, i) => ({ ...files, [`f${i}`]: `changed ${i}` })));
    const bytes = git(
      repository.directory,
      ['pack-objects', '--stdout', '--revs', '-q', '--delta-base-offset', '--window=50'],
      {
        input: 'main\n',
      },
    );
    const receiver = new Receiver(mkdtempSync(join(folder, 'o-')));
    await receiver.take(bytes, 4096, { wants: [commits.at(-1)?.commit ?? ''] });
    receiver.check({ retained: () => undefined });
    await receiver.abandon();
    // Without the first commit, which the second one names; its tree is still wanted by nobody.
    const depth = git(repository.directory, ['pack-objects', '--stdout', '--revs', '-q'], {
      input: `main\n^${commits[0]?.commit ?? ''}\n`,
    });
    const cut = new Receiver(mkdtempSync(join(folder, 'o-')));
    await expect(cut.take(depth, 65536, {})).rejects.toMatchObject({ code: 'object-missing' });
    await cut.abandon();
  });
});
