/**
 * Blobs beyond core.bigFileThreshold, of exactly 4 GiB and of more, as a pack and as a loose file have them, against git.
 * They write some 30 GB, so that they run with LONG_TESTS=1 only.
 */
import { spawnSync } from 'node:child_process';
import { closeSync, ftruncateSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { LONG } from '../../support/long-tests.ts';
import { runOurs } from '../../support/ours.ts';
import { GitRepository } from '../../support/repository.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const folder = temporaryFolder('huge');
const GIBIBYTE = 2 ** 30;

/** Zeros with some bytes at the end, which a size that lost its upper bits would not reach. */
function sparseFile(path: string, size: number): void {
  const fd = openSync(path, 'w');
  ftruncateSync(fd, size);
  writeSync(fd, Buffer.from('end\n'), 0, 4, size - 4);
  closeSync(fd);
}

describe.runIf(LONG)('huge blobs', () => {
  it.each([
    ['in a pack', true],
    ['loose', false],
  ])(
    '%s',
    async (_, packed) => {
      const repository = new GitRepository(join(folder, packed ? 'packed' : 'loose'));
      repository.git(['config', 'core.compression', '1']);
      // What is larger than this goes straight into a pack.
      repository.git(['config', 'core.bigFileThreshold', packed ? '512m' : '100g']);
      const sizes = packed
        ? { 'over-threshold': 600 << 20, 'four-gigabytes': 4 * GIBIBYTE, 'five-gigabytes': 5 * GIBIBYTE }
        : { 'over-two-gigabytes': 2 * GIBIBYTE + 5 };
      for (const [name, size] of Object.entries(sizes)) sparseFile(join(repository.directory, name), size);
      repository.git(['add', '.']);
      repository.git(['commit', '-qm', 'huge']);
      for (const name of Object.keys(sizes)) rmSync(join(repository.directory, name));
      rmSync(join(repository.gitDir, 'index'));
      for (const workers of [0, 2]) {
        const { report } = await runOurs({
          directory: repository.directory,
          target: { kind: 'detach', revision: 'main' },
          workers,
          request: { engine: 'native', memoryLimitBytes: 512 << 20 },
        });
        expect(report.error).toBeUndefined();
        // The same bytes by git's own hash of them.
        expect(repository.text(['status', '--porcelain'])).toBe('');
        const theirs = join(folder, 'theirs');
        mkdirSync(theirs);
        repository.git([`--work-tree=${theirs}`, 'checkout-index', '-a', '-f', `--prefix=${theirs}/`]);
        for (const name of Object.keys(sizes)) {
          const { status } = spawnSync('cmp', ['-s', join(repository.directory, name), join(theirs, name)]);
          expect(status, name).toBe(0);
          rmSync(join(repository.directory, name));
        }
        rmSync(theirs, { recursive: true });
        rmSync(join(repository.gitDir, 'index'));
      }
    },
    600_000,
  );
});
