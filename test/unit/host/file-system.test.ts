import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  linuxFileSystem,
  macFileSystem,
  nearestExisting,
  windowsFileSystem,
} from '../../../src/engine/host/file-system.ts';
import { parseMountInfo } from '../../../src/engine/host/mounts.ts';

const FUSE = 0x65735546;
const NFS = 0x6969;
const EXT = 0xef53;
const TMPFS = 0x01021994;

function mounts(...lines: readonly (readonly [mountPoint: string, type: string])[]) {
  const text = lines.map(([point, type], i) => `${i} 1 0:${i} / ${point} rw shared:1 master:2 - ${type} dev rw\n`);
  return parseMountInfo(text.join(''), () => true);
}

describe('on Linux', () => {
  it.each<[string, string, number | null, readonly (readonly [string, string])[], string, boolean]>([
    ['longest mount point', '/data/w', EXT, [['/', 'ext4'], ['/data', 'ext3'], ['/dat', 'ext2']], 'ext3', false], // prettier-ignore
    ['the point itself', '/data', EXT, [['/', 'ext4'], ['/data', 'ext2']], 'ext2', false], // prettier-ignore
    ['later mount on the same point', '/w', FUSE, [['/w', 'fuse.sshfs'], ['/w', 'virtiofs']], 'virtiofs', true], // prettier-ignore
    ['a covered mount', '/a/b/c', TMPFS, [['/', 'ext4'], ['/a/b', 'nfs'], ['/a', 'tmpfs']], 'tmpfs', false], // prettier-ignore
    ['fuse subtype', '/w', FUSE, [['/', 'overlay'], ['/w', 'fuse.s3fs']], 'fuse.s3fs', true], // prettier-ignore
    ['fuse block device', '/w', FUSE, [['/w', 'fuseblk']], 'fuseblk', true],
    ['overlay', '/w', 0x794c7630, [['/', 'overlay']], 'overlay', false],
    ['nfs4', '/w/x', NFS, [['/', 'ext4'], ['/w', 'nfs4']], 'nfs4', true], // prettier-ignore
    ['smb3', '/w', 0xfe534d42, [['/w', 'smb3']], 'smb3', true],
    ['9p', '/w', 0x01021997, [['/w', '9p']], '9p', true],
    ['btrfs subvolume', '/home/w', 0x9123683e, [['/', 'btrfs'], ['/home', 'btrfs']], 'btrfs', false], // prettier-ignore
    ['no mount table', '/w', NFS, [], 'nfs', true],
    ['mount table disagrees', '/w', NFS, [['/', 'ext4']], 'nfs', true],
    ['statfs failed', '/w', null, [['/', 'nfs4']], 'nfs4', true],
    ['a magic number that we do not know', '/w', 0x1234567, [['/', 'newfs']], 'newfs', false],
    ['name without a number in our table', '/w', 0x1234567, [['/', 'drvfs']], 'drvfs', true],
    ['nothing known', '/w', null, [], 'unknown', false],
    ['nothing known but a number', '/w', 0x1234567, [], 'unknown', false],
  ])('%s', (_name, path, magic, table, type, network) => {
    expect(linuxFileSystem(path, magic, mounts(...table))).toEqual({ type, network });
  });

  it('reads escaped mount points and any number of optional fields', () => {
    const text =
      '1 0 8:1 / /my\\040disk\\134 rw - ext4 /dev/a rw,errors=continue\n' +
      '2 0 8:2 /sub /x rw,noatime shared:1 master:2 propagate_from:3 - nfs4 server:/x\\040y rw,vers=4.2';
    expect(parseMountInfo(text, () => true)).toEqual([
      { root: '/', mountPoint: '/my disk\\', type: 'ext4', superOptions: ['rw', 'errors=continue'] },
      { root: '/sub', mountPoint: '/x', type: 'nfs4', superOptions: ['rw', 'vers=4.2'] },
    ]);
  });
});

it('on macOS knows the type of the system volume', () => {
  expect(macFileSystem(26, 26)).toEqual({ type: 'apfs', network: false });
  expect(macFileSystem(30, 26).type).toBe('unknown');
  expect(macFileSystem(null, null).type).toBe('unknown');
});

it.each([
  ['C:\\work', 'unknown', false],
  ['\\\\?\\C:\\work', 'unknown', false],
  ['\\\\.\\pipe\\x', 'unknown', false],
  ['\\\\server\\share\\work', 'cifs', true],
  ['\\\\?\\UNC\\server\\share', 'cifs', true],
  ['\\\\wsl$\\Debian\\home', '9p', true],
  ['\\\\wsl.localhost\\Debian\\home', '9p', true],
])('on Windows %s is on %s', (path, type, network) => {
  expect(windowsFileSystem(path)).toEqual({ type, network });
});

it('takes the nearest parent of a folder that is not there yet, through links', () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'nearest-')));
  try {
    mkdirSync(join(folder, 'real'));
    symlinkSync(join(folder, 'real'), join(folder, 'link'), 'junction');
    expect(nearestExisting(join(folder, 'link', 'a', 'b'))).toBe(join(folder, 'real'));
    expect(nearestExisting(join(folder, 'real'))).toBe(join(folder, 'real'));
  } finally {
    rmSync(folder, { recursive: true });
  }
});
