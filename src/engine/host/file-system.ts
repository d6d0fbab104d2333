/**
 * Which kind of file system a folder is on. On Linux two sources are needed: statfs tells the family for certain (its
 * magic number is that of the folder itself), but gives one number for all that is FUSE and one for all versions of
 * NFS; the mount table has the full name, but a path alone can name a mount that another one covers. So the magic
 * number decides and the mount table refines.
 */
import { realpathSync, statfsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { HostFacts } from '../host-facts.ts';
import type { Mount } from './mounts.ts';
import { isWithin } from './mounts.ts';

type FileSystem = HostFacts['fileSystem'];

const UNKNOWN: FileSystem = { type: 'unknown', network: false };

/** Magic numbers of statfs(2): the kernel's include/uapi/linux/magic.h, and the file systems' own headers. */
const FAMILY_BY_MAGIC: ReadonlyMap<number, string> = new Map([
  [0xef53, 'ext4'], // ext2 and ext3 too
  [0x9123683e, 'btrfs'],
  [0x58465342, 'xfs'],
  [0x01021994, 'tmpfs'],
  [0x858458f6, 'ramfs'],
  [0x794c7630, 'overlay'],
  [0xf2f52010, 'f2fs'],
  [0x2fc12fc1, 'zfs'],
  [0xca451a4e, 'bcachefs'],
  [0x3153464a, 'jfs'],
  [0x52654973, 'reiserfs'],
  [0x3434, 'nilfs2'],
  [0xf15f, 'ecryptfs'],
  [0x4d44, 'vfat'],
  [0x2011bab0, 'exfat'],
  [0x5346544e, 'ntfs'],
  [0x7366746e, 'ntfs3'],
  [0x7461636f, 'ocfs2'],
  [0x01161970, 'gfs2'],
  [0x65735546, 'fuse'],
  [0x6969, 'nfs'],
  [0xff534d42, 'cifs'],
  [0xfe534d42, 'cifs'], // SMB 2 and 3
  [0x517b, 'cifs'],
  [0x01021997, '9p'],
  [0x00c36400, 'ceph'],
  [0x5346414f, 'afs'],
  [0x6b414653, 'afs'],
  [0x0bd00bd0, 'lustre'],
  [0x19830326, 'beegfs'],
  [0x47504653, 'gpfs'],
  [0x73757245, 'coda'],
  [0x786f4256, 'vboxsf'],
]);

/** Names in the mount table that share a family's magic number. */
const FAMILY_BY_TYPE: ReadonlyMap<string, string> = new Map([
  ['ext2', 'ext4'],
  ['ext3', 'ext4'],
  ['devtmpfs', 'tmpfs'],
  ['msdos', 'vfat'],
  ['nfs4', 'nfs'],
  ['smb3', 'cifs'],
  ['smbfs', 'cifs'],
  ['fuseblk', 'fuse'],
  ['virtiofs', 'fuse'],
]);

/** Families whose every operation waits on a network, the host of a virtual machine, or another process. */
const WAITING_FAMILIES: ReadonlySet<string> = new Set([
  'fuse',
  'nfs',
  'cifs',
  '9p',
  'ceph',
  'afs',
  'lustre',
  'beegfs',
  'gpfs',
  'coda',
  'vboxsf',
  // These have no magic number in the table above; the mount table alone names them.
  'drvfs',
  'vmhgfs',
  'prl_fs',
  'pvfs2',
  'panfs',
  'wekafs',
]);

function familyOf(type: string): string {
  return type.startsWith('fuse.') ? 'fuse' : (FAMILY_BY_TYPE.get(type) ?? type);
}

function named(type: string): FileSystem {
  return { type, network: WAITING_FAMILIES.has(familyOf(type)) };
}

/**
 * The file system of absolute path `path`. `magic` is what statfs gives for it, null where that failed; `mounts` are
 * in the order of the mount table.
 */
export function linuxFileSystem(path: string, magic: number | null, mounts: readonly Mount[]): FileSystem {
  const family = magic === null ? undefined : FAMILY_BY_MAGIC.get(magic);
  let best: Mount | undefined;
  for (const mount of mounts) {
    if (!isWithin(path, mount.mountPoint)) continue;
    if (family !== undefined && familyOf(mount.type) !== family) continue;
    // On the same point the later mount lies on top.
    if (best === undefined || mount.mountPoint.length >= best.mountPoint.length) best = mount;
  }
  if (best !== undefined) return named(best.type);
  return family === undefined ? UNKNOWN : named(family);
}

/**
 * macOS numbers its file systems in the order in which they are registered, so a number says nothing by itself; but
 * the system volume has been APFS in every release that Node 24 runs on.
 */
export function macFileSystem(magic: number | null, rootMagic: number | null): FileSystem {
  return magic !== null && magic === rootMagic ? named('apfs') : UNKNOWN;
}

/**
 * Windows gives no type without starting a process. But a share, mapped to a drive letter or not, has a real path of
 * the form \\server\share; \\wsl$ and \\wsl.localhost are Linux's files served over 9P.
 */
export function windowsFileSystem(realPath: string): FileSystem {
  const share = /^\\\\(?:\?\\UNC\\)?([^\\?.][^\\]*)\\/i.exec(realPath);
  if (share === null) return UNKNOWN;
  return named(/^wsl(\$|\.localhost)$/i.test(share[1] ?? '') ? '9p' : 'cifs');
}

/** The real path of `path`, or of its nearest parent that exists: a clone's directory may not be there yet. */
export function nearestExisting(path: string): string {
  for (let folder = resolve(path); ; folder = dirname(folder)) {
    try {
      return realpathSync.native(folder);
    } catch {
      if (dirname(folder) === folder) return folder;
    }
  }
}

/** The type number of statfs(2); null where it fails. */
export function statfsMagic(path: string): number | null {
  try {
    // On 32 bits the kernel's field is signed.
    return statfsSync(path).type >>> 0;
  } catch {
    return null;
  }
}
