/**
 * What is on disk, as a value that can be compared: each path below a folder with its type, mode, and content.
 */
import { createHash } from 'node:crypto';
import { lstatSync, readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

/** By path (a byte string, directories included); `.git` at the top is left out. */
export type Snapshot = Map<string, string>;

/** Bytes that are shown as they are in a snapshot; of longer content the hash. */
const SHOWN_BYTES = 200;

export function snapshot(folder: string): Snapshot {
  const found: Snapshot = new Map();
  inside(folder, () => walk(Buffer.alloc(0), '', found));
  return found;
}

/** Runs with the folder as working directory, so that paths may be as long as git allows below it. */
export function inside<T>(folder: string, run: () => T): T {
  const old = process.cwd();
  process.chdir(folder);
  try {
    return run();
  } finally {
    process.chdir(old);
  }
}

function walk(directory: Buffer, prefix: string, found: Snapshot): void {
  for (const name of readdirSync(directory.length === 0 ? '.' : directory, { encoding: 'buffer' })) {
    const path = prefix + name.toString('latin1');
    if (path === '.git') continue;
    const full = directory.length === 0 ? name : Buffer.concat([directory, Buffer.from('/'), name]);
    const stat = lstatSync(full);
    const mode = (stat.mode & 0o7777).toString(8);
    if (stat.isDirectory()) {
      found.set(path, `directory ${mode}`);
      walk(full, `${path}/`, found);
    } else if (stat.isSymbolicLink()) {
      found.set(path, `link ${readlinkSync(full, { encoding: 'buffer' }).toString('latin1')}`);
    } else if (stat.isFile()) {
      found.set(path, shownFile(stat.mode, readFileSync(full)));
    } else {
      found.set(path, `other ${stat.mode.toString(8)}`);
    }
  }
}

/** How a snapshot shows a file. */
export function shownFile(mode: number, content: Buffer): string {
  const shown =
    content.length <= SHOWN_BYTES
      ? JSON.stringify(content.toString('latin1'))
      : createHash('sha1').update(content).digest('hex');
  return `file ${(mode & 0o7777).toString(8)} ${content.length} ${shown}`;
}

/** One line for each path that differs; empty when both are the same. At most 30 lines. */
export function differences(expected: Snapshot, actual: Snapshot): string[] {
  const lines: string[] = [];
  for (const [path, value] of expected) {
    const other = actual.get(path);
    if (other !== value) lines.push(`${JSON.stringify(path)}: expected ${value}, got ${other ?? 'nothing'}`);
  }
  for (const [path, value] of actual) {
    if (!expected.has(path)) lines.push(`${JSON.stringify(path)}: expected nothing, got ${value}`);
  }
  return lines.length > 30 ? [...lines.slice(0, 30), `… ${lines.length - 30} more`] : lines;
}

/** Which file each path is (device, inode and the time it was last changed), to tell a file that was kept from a new one. */
export function identities(folder: string, paths: Iterable<string>): Map<string, string> {
  const found = new Map<string, string>();
  inside(folder, () => {
    for (const path of paths) {
      try {
        const stat = lstatSync(Buffer.from(path, 'latin1'), { bigint: true });
        if (stat.isFile() || stat.isSymbolicLink()) found.set(path, `${stat.ino} ${stat.ctimeNs} ${stat.mtimeNs}`);
      } catch {
        // Not there, or below something that is no directory: no identity.
      }
    }
  });
  return found;
}

/** All names below .git that a stopped or failed run must not leave behind. */
export function leftovers(gitDir: string): string[] {
  const found: string[] = [];
  const look = (folder: string): void => {
    for (const entry of readdirSync(join(gitDir, folder), { withFileTypes: true })) {
      const name = join(folder, entry.name);
      if (/\.lock$|tmp_|\.tmp$/.test(entry.name)) found.push(name);
      // Nothing of ours goes among the loose objects, and there may be thousands.
      if (entry.isDirectory() && !/^(hooks|objects[/\\][0-9a-f]{2})$/.test(name)) look(name);
    }
  };
  look('');
  return found;
}
