/**
 * Folders for tests: real ones below the system's temporary folder, gone when the test file has run.
 */
import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs';
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

/**
 * Where thousands of small files come and go for little: in memory where the system has such a place. On a busy ext4 a case
 * of the hostile tests waited ten times as long as it worked.
 */
export function memoryFolder(): string {
  try {
    accessSync('/dev/shm', constants.W_OK | constants.X_OK);
    return '/dev/shm';
  } catch {
    return tmpdir();
  }
}
