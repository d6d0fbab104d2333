/**
 * Folders for tests: real ones below the system's temporary folder, gone when the test file has run.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

/** Makes a folder that is removed after the tests of the file that calls this (at its top level or in a describe). */
export function temporaryFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `parallel-checkout-${name}-`));
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  });
  return folder;
}
