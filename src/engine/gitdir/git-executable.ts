/**
 * Which git to start. On Windows a bare `git` is looked up in the child's current directory first, and that directory
 * is the repository being checked out: a `git.exe` committed there would run. So on Windows the file is looked up here,
 * in PATH alone, and started by its full path. Elsewhere the kernel's lookup knows PATH only.
 */
import { statSync } from 'node:fs';
import { posix, win32 } from 'node:path';
import type { Environment } from '../config/environment.ts';

/** Whether `path` is a file. A folder of PATH that may not be read, or is no folder, has none. */
function isFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  } catch {
    return false;
  }
}

/** The value of PATH; on Windows a variable's name may be written in any case. */
function searchPath(environment: Environment, platform: NodeJS.Platform): string {
  const name = platform === 'win32' ? Object.keys(environment).find((key) => key.toUpperCase() === 'PATH') : 'PATH';
  return (name === undefined ? undefined : environment[name]) ?? '';
}

/**
 * The full path of git, looked up in PATH as the system would, links not followed; null when PATH has none. Entries
 * that are not absolute are passed over: they would depend on the current directory.
 */
export function findGit(
  environment: Environment,
  platform: NodeJS.Platform,
  exists: (path: string) => boolean = isFile,
): string | null {
  const path = platform === 'win32' ? win32 : posix;
  for (const entry of searchPath(environment, platform).split(path.delimiter)) {
    const folder = entry.replace(/^"(.*)"$/, '$1');
    if (!path.isAbsolute(folder)) continue;
    const candidate = path.join(folder, platform === 'win32' ? 'git.exe' : 'git');
    if (exists(candidate)) return candidate;
  }
  return null;
}

/** What to hand to spawn as the program: 'git', or on Windows its full path; null when PATH has none (Windows only). */
export function gitProgram(environment: Environment, platform: NodeJS.Platform): string | null {
  return platform === 'win32' ? findGit(environment, platform) : 'git';
}
