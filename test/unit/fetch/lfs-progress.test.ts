// Progress of a Git LFS download: lines are added up, in whatever pieces they come, and the file does not grow without end.
import { appendFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { LfsProgress, LfsProgressSum } from '../../../src/engine/fetch/lfs-progress.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const folder = temporaryFolder('lfs-progress');

it('adds up files that come side by side', () => {
  const sum = new LfsProgressSum();
  const lines =
    'download 1/2 10/100 a b.bin\ndownload 2/2 30/30 c\nnonsense\ndownload 1/2 60/100 a b.bin\ndownload 1/2 100/100 a b.bin\n';
  for (const character of lines) sum.push(character);
  expect(sum).toMatchObject({ filesDone: 2, bytesDone: 130 });
  sum.push('download 3/3 5/50 d\ndownload 3/3 20/50');
  expect(sum).toMatchObject({ filesDone: 2, bytesDone: 135 });
  sum.push(' d\n');
  expect(sum).toMatchObject({ filesDone: 2, bytesDone: 150 });
});

it('follows a file, which it empties', () => {
  const path = join(folder, 'progress');
  writeFileSync(path, '');
  const progress = new LfsProgress(path, 3);
  expect(progress.read()).toEqual({ phase: 'lfs', filesDone: 0, filesTotal: 3, bytesDone: 0 });
  const before = progress.mark();
  appendFileSync(path, 'download 1/3 7/7 a\n');
  expect(progress.mark()).toBeGreaterThan(before);
  appendFileSync(path, 'download 2/3 5/9 b\n'.repeat(300_000));
  expect(progress.read()).toEqual({ phase: 'lfs', filesDone: 1, filesTotal: 3, bytesDone: 12 });
  expect(statSync(path).size).toBe(0);
  const full = progress.mark();
  appendFileSync(path, 'download 2/3 9/9 b\n');
  expect(progress.mark()).toBeGreaterThan(full);
  expect(progress.read()).toEqual({ phase: 'lfs', filesDone: 2, filesTotal: 3, bytesDone: 16 });
});

it('says nothing of a file that is gone', () => {
  expect(new LfsProgress(join(folder, 'none'), 1).read()).toMatchObject({ filesDone: 0, bytesDone: 0 });
});
