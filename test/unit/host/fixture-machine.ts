/** Lays out the /proc and /sys of another machine in a temporary folder. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach } from 'vitest';
import type { KernelRoots } from '../../../src/engine/host/roots.ts';

const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** Files by path, such as 'proc/self/cgroup' or 'sys/fs/cgroup/cpu.max'. Removed after the test. */
export function fixtureMachine(files: Readonly<Record<string, string>>): KernelRoots {
  const folder = mkdtempSync(join(tmpdir(), 'fixture-machine-'));
  folders.push(folder);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return { proc: join(folder, 'proc'), sys: join(folder, 'sys') };
}
