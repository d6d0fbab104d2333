/**
 * createCopy: a new file with another's content, whether it is read and written or the blocks are shared.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { contentOf, createCopy, NoSource } from '../../../src/engine/worktree/copy-file.ts';
import { randomBytes } from '../../support/random.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const folder = temporaryFolder('copy');
const content = randomBytes(1, (2 << 20) + 17);
const at = (...names: string[]): string => join(folder, ...names);

const ways = [false, ...(process.platform === 'linux' ? [true] : [])].flatMap((shareBlocks) =>
  [content.length, (1 << 20) - 1, 5000, 1].map((size) => ({ shareBlocks, size })),
);

describe.each(ways)('sharing blocks: $shareBlocks, $size bytes', ({ shareBlocks, size }) => {
  const options = { executable: false, size, shareBlocks };
  const name = (text: string): string => at(`${text}-${shareBlocks}-${size}`);
  const source = name('source');
  writeFileSync(source, content.subarray(0, size), { mode: 0o444 });

  it('has the content, the permissions of a new file, and its stat data', () => {
    for (const executable of [false, true]) {
      const path = name(executable ? 'run' : 'file');
      const stat = createCopy(source, Buffer.from(path), { ...options, executable });
      expect(readFileSync(path).equals(content.subarray(0, size))).toBe(true);
      const found = statSync(path, { bigint: true });
      expect(stat).toMatchObject({ ino: found.ino, size: found.size, mtimeNs: found.mtimeNs, ctimeNs: found.ctimeNs });
      if (process.platform !== 'win32')
        expect(Number(found.mode & 0o777n).toString(8)).toBe(executable ? '755' : '644');
    }
  });

  it('leaves alone what is there, and does not follow a link', () => {
    writeFileSync(name('there'), 'mine');
    expect(createCopy(source, Buffer.from(name('there')), options)).toBeNull();
    expect(readFileSync(name('there'), 'utf8')).toBe('mine');
    if (process.platform === 'win32') return;
    symlinkSync(name('nowhere'), name('link'));
    expect(createCopy(source, Buffer.from(name('link')), options)).toBeNull();
    expect(statSync(name('nowhere'), { throwIfNoEntry: false })).toBeUndefined();
  });

  it('makes nothing where the source is missing, is a directory, or has another size', () => {
    mkdirSync(at('directory'), { recursive: true });
    const path = Buffer.from(name('none'));
    expect(() => createCopy(at('missing'), path, options)).toThrow(NoSource);
    expect(() => createCopy(at('directory'), path, options)).toThrow(NoSource);
    for (const other of [size + 1, size + 2, Math.max(size - 1, 0)]) {
      expect(() => createCopy(source, path, { ...options, size: other })).toThrow(NoSource);
    }
    if (process.platform !== 'win32') {
      if (!existsSync(at('pipe'))) execFileSync('mkfifo', [at('pipe')]);
      expect(() => createCopy(at('pipe'), path, options)).toThrow(NoSource);
    }
    expect(() => contentOf(at('missing'), 5)(() => undefined)).toThrow(NoSource);
    expect(statSync(path, { throwIfNoEntry: false })).toBeUndefined();
  });
});

describe('btrfs', () => {
  const mount = at('btrfs');
  const mounted = { done: false };
  afterAll(() => {
    if (mounted.done) spawnSync('umount', [mount]);
  });

  it('shares the blocks', ({ skip }) => {
    const image = openSync(at('image'), 'w');
    ftruncateSync(image, 128 << 20);
    closeSync(image);
    mkdirSync(mount);
    const made = process.getuid?.() === 0 && spawnSync('mkfs.btrfs', ['-q', at('image')]).status === 0;
    mounted.done = made && spawnSync('mount', ['-o', 'loop', at('image'), mount]).status === 0;
    if (!mounted.done) return skip('needs Linux, root, btrfs and the right to mount');
    const large = randomBytes(2, 8 << 20);
    writeFileSync(join(mount, 'source'), large);
    spawnSync('sync', ['-f', mount]);
    const options = { executable: false, size: large.length, shareBlocks: true };
    createCopy(join(mount, 'source'), Buffer.from(join(mount, 'copy')), options);
    spawnSync('sync', ['-f', mount]);
    expect(readFileSync(join(mount, 'copy')).equals(large)).toBe(true);
    const usage = spawnSync('btrfs', ['filesystem', 'du', '--raw', '-s', join(mount, 'copy')]).stdout.toString();
    // Total, exclusive, shared.
    expect(usage).toMatch(new RegExp(`^\\s*${large.length}\\s+0\\s+${large.length}\\s`, 'm'));
  });
});
