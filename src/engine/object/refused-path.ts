/**
 * The names that a checkout refuses, for whoever writes files of a repository that come another way than as trees.
 */
import { invalidComponent } from './path-validity.ts';

/**
 * Why a checkout would not write this path (relative, with slashes), or null. git's own defaults decide, since there is no
 * repository whose configuration could say otherwise. The reason completes "path … is refused: ".
 */
export function refusedPath(path: string, isSymlink: boolean, platform: NodeJS.Platform): string | null {
  const bytes = Buffer.from(path, 'utf8');
  const rules = { ntfs: true, hfs: platform === 'darwin', windows: platform === 'win32' };
  return invalidComponent(bytes, 0, bytes.length, isSymlink, rules);
}
