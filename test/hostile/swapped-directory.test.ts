/**
 * Somebody puts a link in the place of a directory while a checkout runs, after the main thread has made the directory and before a
 * worker writes into it. The worker looks again, writes nothing through the link, and leaves the entry to the main thread,
 * which makes a directory of it.
 */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { EntryWriter } from '../../src/engine/checkout/entry-writer.ts';
import { State } from '../../src/engine/checkout/tables.ts';
import { ObjectDatabase } from '../../src/engine/odb/object-database.ts';
import { SHA1 } from '../../src/engine/oid.ts';
import { GitRepository } from '../support/repository.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { jobOf } from '../unit/checkout/made-job.ts';

const folder = temporaryFolder('swapped');
const repository = new GitRepository(folder);
const oid = repository.object('blob', 'content\n');

it.each([
  ['the directory itself', 'd/e', 'd/e/f'],
  ['one above it', 'd', 'd/e/f'],
])('%s', (_name, swapped, path) => {
  const workTree = join(folder, swapped.replace('/', '-'));
  const outside = join(workTree, '..', 'outside');
  rmSync(outside, { recursive: true, force: true });
  mkdirSync(join(outside, 'e'), { recursive: true });
  writeFileSync(join(outside, 'f'), 'not yours\n');
  const odb = ObjectDatabase.open([join(repository.gitDir, 'objects')], SHA1, () => undefined);
  const job = jobOf(
    [
      { path: 'd/e/before', oid },
      { path: path, oid },
      { path: 'd/g', oid },
    ],
    {
      workTree,
      packs: odb.packs,
      objectDirectories: odb.directories,
      budgetBytes: 1 << 20,
    },
  );
  const { tables } = job;
  for (let entry = 0; entry < tables.count; entry++) {
    odb.find(tables.oids, 20 * entry);
    tables.packs[entry] = odb.pack;
  }
  // The main thread has made the directories.
  mkdirSync(join(workTree, 'd', 'e'), { recursive: true });
  renameSync(join(workTree, swapped), join(workTree, 'aside'));
  symlinkSync(outside, join(workTree, swapped));

  const failures: string[] = [];
  const writer = new EntryWriter(
    job,
    0,
    (_entry, error) => void failures.push(error.message),
    () => undefined,
  );
  for (let entry = 0; entry < tables.count; entry++) writer.write(entry, null);
  writer.close();
  odb.close();

  expect(failures).toEqual([]);
  expect([tables.states[0], tables.states[1]]).toEqual([State.COLLIDED, State.COLLIDED]);
  expect(readdirSync(outside).sort()).toEqual(['e', 'f']);
  expect(readdirSync(join(outside, 'e'))).toEqual([]);
  expect(readFileSync(join(outside, 'f'), 'utf8')).toBe('not yours\n');
  if (swapped === 'd/e') expect(tables.states[2]).toBe(State.WRITTEN);
});
