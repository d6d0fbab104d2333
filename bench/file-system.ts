/**
 * A fresh file system for every run. ext4 avoids inodes that were freed a moment ago, and its allocator works the
 * harder the fuller and older it is: a benchmark that removes a tree and writes it again measures that, not the checkout.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { run } from './process.ts';

/** `loop`: an ext4 image on the local disk, mounted through a loop device (needs root). `directory`: a new directory. */
export type FileSystemKind = 'loop' | 'directory';

export interface FreshFileSystem {
  /** An empty folder on it. */
  path: string;
  /** Takes it away, and waits until the disk has settled. */
  release: () => Promise<void>;
  /** Leaves it where it is when the benchmark ends. */
  keep: () => void;
}

/** What to unmount if the benchmark is interrupted. */
const mounted = new Map<string, string>();
process.on('exit', () => {
  for (const [mountPoint, image] of mounted) {
    // Lazily: the interrupted competitor may not have ended yet. It may also be unmounted already, which is as good.
    spawnSync('umount', ['-l', mountPoint], { stdio: 'ignore' });
    rmSync(image, { force: true });
  }
});

/** Sparse, so it costs what is written to it; large enough that no group of blocks fills up. */
const IMAGE_BYTES = '16G';

/** What the results say about the file system. */
export const fileSystemDescription: Record<FileSystemKind, string> = {
  loop: `ext4 with a journal, made anew for every run: mkfs.ext4 on a sparse image of ${IMAGE_BYTES} on the local disk, mounted through a loop device`,
  directory: 'a new directory for every run on the local disk; none is removed before the end',
};

/**
 * Makes a fresh file system under `folder`. With `directory` nothing is removed on release, because removing is what
 * disturbs the next run: the caller removes `folder` at the end.
 */
export async function freshFileSystem(kind: FileSystemKind, folder: string, id: string): Promise<FreshFileSystem> {
  const mountPoint = join(folder, `fs-${id}`);
  mkdirSync(mountPoint, { recursive: true });
  if (kind === 'directory') return { path: mountPoint, release: settle, keep: () => undefined };

  const image = join(folder, `fs-${id}.img`);
  await run('truncate', ['-s', IMAGE_BYTES, image]);
  await run('mkfs.ext4', ['-q', '-F', image]);
  // noinit_itable: mkfs leaves inode tables for a kernel thread to clear after the mount, which would run beside us.
  await run('mount', ['-o', 'loop,noinit_itable', image, mountPoint]);
  mounted.set(mountPoint, image);
  rmSync(join(mountPoint, 'lost+found'), { recursive: true });
  return {
    path: mountPoint,
    release: async () => {
      await run('umount', [mountPoint]);
      mounted.delete(mountPoint);
      rmSync(image, { force: true });
      rmSync(mountPoint, { recursive: true });
      await settle();
    },
    keep: () => {
      mounted.delete(mountPoint);
    },
  };
}

/** Waits until little is left to write to the disk, for at most half a minute. */
async function settle(): Promise<void> {
  for (let tries = 0; tries < 60; tries++) {
    const facts = readFileSync('/proc/meminfo', 'latin1');
    const kilobytes = (key: string): number => Number(new RegExp(`^${key}: +(\\d+) kB$`, 'm').exec(facts)?.[1] ?? 0);
    if (kilobytes('Dirty') + kilobytes('Writeback') < 64 * 1024) return;
    await sleep(500);
  }
}
