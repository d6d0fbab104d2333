import { spawnSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { CheckoutError } from '../../../src/engine/errors.ts';
import { IndexLock } from '../../../src/engine/index/index-lock.ts';

let folder: string;
let index: string;
let lockPath: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'index-lock-'));
  index = join(folder, 'index');
  lockPath = join(folder, 'index.lock');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function failure(action: () => unknown): CheckoutError {
  try {
    action();
  } catch (error) {
    if (error instanceof CheckoutError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

it('puts the new index in place and leaves no lock', () => {
  writeFileSync(index, 'old');
  const lock = IndexLock.acquire(index);
  expect(existsSync(lockPath)).toBe(true);
  expect(readFileSync(index, 'utf8')).toBe('old');
  lock.writeAndCommit(Buffer.from('new'));
  expect(readdirSync(folder)).toEqual(['index']);
  expect(readFileSync(index, 'utf8')).toBe('new');
  writeFileSync(lockPath, 'of another process');
  lock.release();
  expect(existsSync(lockPath)).toBe(true);
});

it('keeps others out, and names the file', () => {
  const lock = IndexLock.acquire(index);
  const error = failure(() => IndexLock.acquire(index));
  expect(error.code).toBe('index-locked');
  expect(error.message).toContain(lockPath);
  expect(error.message).not.toContain('\n');
  lock.release();
  IndexLock.acquire(index).release();
});

it('gives the lock up without touching the index', () => {
  writeFileSync(index, 'old');
  const lock = IndexLock.acquire(index);
  lock.release();
  lock.release();
  expect(readdirSync(folder)).toEqual(['index']);
  expect(readFileSync(index, 'utf8')).toBe('old');
  expect(() => lock.writeAndCommit(Buffer.from('new'))).toThrow(/BUG/);
});

it('is an io error where the folder is missing', () => {
  const error = failure(() => IndexLock.acquire(join(folder, 'none', 'index')));
  expect(error.code).toBe('io');
  expect(error.subject.errno).toBe('ENOENT');
});

it('removes the lock when the rename fails', () => {
  mkdirSync(join(index, 'in the way'), { recursive: true });
  const lock = IndexLock.acquire(index);
  const error = failure(() => lock.writeAndCommit(Buffer.from('new')));
  expect(error.code).toBe('io');
  expect(existsSync(lockPath)).toBe(false);
});

it('leaves no listener behind', () => {
  const before = process.listenerCount('exit');
  const lock = IndexLock.acquire(index);
  expect(process.listenerCount('exit')).toBe(before + 1);
  lock.writeAndCommit(Buffer.alloc(3));
  IndexLock.acquire(index).release();
  expect(process.listenerCount('exit')).toBe(before);
});

it.skipIf(process.platform === 'win32')('locks what a symbolic link leads to, and keeps the link', () => {
  mkdirSync(join(folder, 'real'));
  symlinkSync('hop', index);
  symlinkSync('real/index', join(folder, 'hop'));
  const lock = IndexLock.acquire(index);
  expect(lock.lockPath).toBe(join(folder, 'real', 'index.lock'));
  expect(existsSync(lock.lockPath)).toBe(true);
  lock.writeAndCommit(Buffer.from('new'));
  expect(lstatSync(index).isSymbolicLink()).toBe(true);
  expect(readFileSync(join(folder, 'real', 'index'), 'utf8')).toBe('new');
});

it.skipIf(process.platform === 'win32')('makes an index of mode 0666 less the umask', () => {
  const before = process.umask(0o027);
  try {
    IndexLock.acquire(index).writeAndCommit(Buffer.from('new'));
  } finally {
    process.umask(before);
  }
  expect(statSync(index).mode & 0o777).toBe(0o640);
});

it.each(['process.exit(3)', 'throw new Error("planted")'])('leaves no lock after %s', (ending) => {
  const module = pathToFileURL(join(import.meta.dirname, '../../../src/engine/index/index-lock.ts')).href;
  const program = `
    import { existsSync } from 'node:fs';
    import { IndexLock } from ${JSON.stringify(module)};
    const lock = IndexLock.acquire(${JSON.stringify(index)});
    if (existsSync(lock.lockPath)) console.log('locked');
    ${ending};`;
  const result = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' });
  expect(result.stdout).toBe('locked\n');
  expect(result.status).not.toBe(0);
  expect(readdirSync(folder)).toEqual([]);
});
