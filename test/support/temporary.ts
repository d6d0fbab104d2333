/**
 * Folders for tests: real ones below the system's temporary folder, gone when the test file has run.
 */
import { accessSync, constants, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

/** Makes a folder that is removed after the tests of the file that calls this (at its top level or in a describe). */
export function temporaryFolder(name: string, parent = tmpdir()): string {
  const folder = mkdtempSync(join(parent, `parallel-checkout-${name}-`));
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  });
  return folder;
}

/** What the tests of two files at once may need there, several times over. Containers often have 64 MB. */
const ENOUGH_MEMORY = 512 * 1024 * 1024;

/**
 * Where thousands of small files come and go for little: in memory where the system has such a place with room. On a busy
 * ext4 a case of the hostile tests waited ten times as long as it worked, and the oracle's tests take half the time of the
 * kernel. Nothing there can be counted on to be executable. What is about the file system itself stays on disk.
 */
export function memoryFolder(): string {
  try {
    accessSync('/dev/shm', constants.W_OK | constants.X_OK);
    const { bavail, bsize } = statfsSync('/dev/shm');
    if (bavail * bsize >= ENOUGH_MEMORY) return '/dev/shm';
  } catch {
    // No such place.
  }
  return tmpdir();
}
