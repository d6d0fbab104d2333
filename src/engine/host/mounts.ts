/**
 * The mount table, /proc/self/mountinfo (proc_pid_mountinfo(5)): which file system is mounted where. Machines that run
 * containers have thousands of lines, so lines that nobody asked for are skipped before they are taken apart.
 */

export interface Mount {
  /** The folder of the file system that forms the root of this mount; '/' for the whole of it. */
  readonly root: string;
  readonly mountPoint: string;
  /** The kernel's name with its subtype: 'ext4', 'nfs4', 'fuse.sshfs'. */
  readonly type: string;
  /** Options of the file system itself; cgroup v1 names its controllers here. */
  readonly superOptions: readonly string[];
}

/**
 * Parses the table's lines for which `wanted` holds, in order (a later mount lies over an earlier one on the same
 * point). A line looks like `36 35 98:0 /root /mount/point rw,noatime master:1 - ext3 /dev/root rw,errors=continue`,
 * with any number of optional fields before the dash. Lines of another shape are left out.
 */
export function parseMountInfo(text: string, wanted: (mountPoint: string, type: string) => boolean): Mount[] {
  const mounts: Mount[] = [];
  for (let start = 0; start < text.length;) {
    let end = text.indexOf('\n', start);
    if (end < 0) end = text.length;
    const line = text.slice(start, end);
    start = end + 1;

    const dash = line.indexOf(' - ');
    if (dash < 0) continue;
    const [, , , root, mountPoint] = line.slice(0, dash).split(' ', 5);
    const [type, , superOptions = ''] = line.slice(dash + 3).split(' ', 3);
    if (root === undefined || mountPoint === undefined || type === undefined) continue;
    const point = unescape(mountPoint);
    if (!wanted(point, type)) continue;
    mounts.push({ root: unescape(root), mountPoint: point, type, superOptions: superOptions.split(',') });
  }
  return mounts;
}

/** Space, tab, newline and backslash stand in the table as a backslash and three octal digits. */
function unescape(field: string): string {
  if (!field.includes('\\')) return field;
  return field.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(parseInt(octal, 8)));
}

/** Whether absolute path `path` is `folder` or lies below it. */
export function isWithin(path: string, folder: string): boolean {
  if (folder === '/') return true;
  return path.startsWith(folder) && (path.length === folder.length || path[folder.length] === '/');
}
