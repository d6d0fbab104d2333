// Tarballs that no git makes: nothing leaves the directory, and what is wrong is said with a code.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { describe, expect, it } from 'vitest';
import { ArchiveWriter, type ArchiveContent } from '../../src/action/archive-writer.ts';
import { archiveSink } from '../../src/action/rest-archive.ts';
import { CheckoutError, type ErrorCode } from '../../src/engine/errors.ts';
import type { Progress } from '../../src/engine/settings.ts';
import { damage } from '../support/damage.ts';
import { randomNumbers } from '../support/random.ts';
import { memoryFolder, temporaryFolder } from '../support/temporary.ts';

const root = temporaryFolder('archive', memoryFolder());

interface Entry {
  readonly name: string;
  /** `0` file, `1` hard link, `2` symbolic link, `5` directory, `x` header of the next, `g` header of all. */
  readonly type?: string;
  readonly content?: string | Buffer;
  readonly link?: string;
  /** What the header says, if not the length of the content. */
  readonly size?: number;
}

/** A tar of 512-byte blocks (POSIX ustar). */
function tar(entries: readonly Entry[]): Buffer {
  const blocks: Buffer[] = [];
  for (const { name, type = '0', content = '', link = '', size } of entries) {
    const body = Buffer.from(content);
    const header = Buffer.alloc(512);
    header.write(name, 0, 'latin1');
    header.write('0000644\0', 100);
    header.write('0000000\x000000000\0', 108);
    header.write(`${(size ?? body.length).toString(8).padStart(11, '0')}\0`, 124);
    header.write('00000000000\0', 136);
    header.write('        ', 148);
    header.write(type, 156);
    header.write(link, 157, 'latin1');
    header.write('ustar\x0000', 257);
    const sum = header.reduce((total, byte) => total + byte, 0);
    header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
    blocks.push(header, body, Buffer.alloc((512 - (body.length % 512)) % 512));
  }
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}

/** A record of an extended header. */
function pax(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`;
  let length = rest.length;
  while (`${length}${rest}`.length !== length) length = `${length}${rest}`.length;
  return `${length}${rest}`;
}

interface Outcome {
  readonly content?: ArchiveContent;
  readonly error?: unknown;
  readonly directory: string;
  /** Of the directory above. */
  readonly around: readonly string[];
}

/** Writes an archive into `<folder>/inside`, beside which is `<folder>/outside`. */
function unpack(archive: Buffer, pieceBytes = archive.length, platform = process.platform): Outcome {
  const folder = mkdtempSync(join(root, 'case-'));
  const directory = join(folder, 'inside');
  mkdirSync(directory);
  mkdirSync(join(folder, 'outside'));
  const writer = new ArchiveWriter(directory, platform);
  const look = (): readonly string[] => [...readdirSync(folder), ...readdirSync(join(folder, 'outside'))].sort();
  try {
    for (let at = 0; at < archive.length; at += pieceBytes) writer.write(archive.subarray(at, at + pieceBytes));
    return { content: writer.end(), directory, around: look() };
  } catch (error) {
    return { error, directory, around: look() };
  } finally {
    writer.close();
  }
}

const UNTOUCHED = ['inside', 'outside'];
const link = (name: string, target: string): Entry => ({ name, type: '2', link: target });

describe('refused', () => {
  const rows: readonly (readonly [name: string, entries: readonly Entry[], code: ErrorCode])[] = [
    ['nothing', [], 'fetch-failed'],
    ['only the directory of the names above', [{ name: 'top' }], 'fetch-failed'],
    ['a file beside the directory', [{ name: 'top/a' }, { name: 'b' }], 'fetch-failed'],
    ['two directories', [{ name: 'top/a' }, { name: 'other/a' }], 'fetch-failed'],
    ['..', [{ name: 'top/../outside/a' }], 'path-invalid'],
    ['. within', [{ name: 'top/./a' }], 'path-invalid'],
    ['an empty part', [{ name: 'top//a' }], 'path-invalid'],
    ['a path from the root', [{ name: '/outside/a' }, { name: '/../outside/a' }], 'path-invalid'],
    ['.git', [{ name: 'top/.git/config', content: '[core]\n' }], 'path-invalid'],
    ['.GIT', [{ name: 'top/sub/.GIT/hooks/post-checkout' }], 'path-invalid'],
    ['git~1', [{ name: 'top/git~1/config' }], 'path-invalid'],
    ['a .git directory alone', [{ name: 'top/.git/', type: '5' }], 'path-invalid'],
    ['a link for .gitmodules', [link('top/.gitmodules', '../outside/x')], 'path-invalid'],
    ['a hard link', [{ name: 'top/a', type: '1', link: '/etc/passwd' }], 'fetch-failed'],
    ['a device', [{ name: 'top/a', type: '3' }], 'fetch-failed'],
    ['a pipe', [{ name: 'top/a', type: '6' }], 'fetch-failed'],
    ['a type that is none', [{ name: 'top/a', type: 'Z' }], 'fetch-failed'],
    ['a link with content', [{ ...link('top/a', 'b'), content: 'x' }], 'fetch-failed'],
    ['a link below a link', [link('top/a', '../outside'), link('top/a/b', 'x')], 'path-invalid'],
    ['a name that is no UTF-8', [{ name: 'top/\xff' }], 'path-invalid'],
    ['a target that is no UTF-8', [link('top/a', '\xff')], 'path-invalid'],
    ['a file where a directory is', [{ name: 'top/a/b' }, { name: 'top/a' }], 'io'],
    ['a directory where a file is', [{ name: 'top/a' }, { name: 'top/a/b' }], 'path-invalid'],
    ['less than it says', [{ name: 'top/a', size: 5000, content: 'short' }], 'fetch-failed'],
    [
      'a long name in another header',
      [{ name: 'x', type: 'x', content: pax('path', 'top/../outside/a') }, { name: 'top/a' }],
      'path-invalid',
    ],
    [
      'a name of a million characters',
      [{ name: 'x', type: 'x', content: pax('path', `top/${'d/'.repeat(400_000)}`) }, { name: 'top/a' }],
      'fetch-failed',
    ],
    [
      'a header of megabytes',
      [{ name: 'x', type: 'x', content: pax('path', `top/${'d'.repeat(2_000_000)}`) }, { name: 'top/a' }],
      'fetch-failed',
    ],
  ];
  it.each(rows)('%s', (_, entries, code) => {
    const archive = tar(entries);
    for (const size of [archive.length, 512, 7]) {
      const { error, around } = unpack(archive, Math.max(size, archive.length >> 12));
      expect(error).toBeInstanceOf(CheckoutError);
      expect((error as CheckoutError).code).toBe(code);
      expect((error as CheckoutError).message).not.toMatch(/[\r\n]/);
      expect((error as CheckoutError).message.length).toBeLessThan(1000);
      expect(around).toEqual(UNTOUCHED);
    }
  });

  it('what is a directory separator on Windows', () => {
    const { error } = unpack(tar([{ name: 'top/..\\outside\\a' }]), undefined, 'win32');
    expect((error as CheckoutError).code).toBe('path-invalid');
  });
});

it('a file is never written through a link, whichever comes first', () => {
  for (const entries of [
    [link('top/a', '../outside'), { name: 'top/a/b', content: 'x' }],
    [{ name: 'top/a/b', content: 'x' }, link('top/a', '../outside')],
  ]) {
    const { error, around } = unpack(tar(entries));
    expect((error as CheckoutError).code).toBe('io');
    expect(around).toEqual(UNTOUCHED);
  }
});

it('tells how far it is', async () => {
  const directory = mkdtempSync(join(root, 'progress-'));
  const told: Progress[] = [];
  const writer = new ArchiveWriter(directory);
  const sink = archiveSink(writer, { progress: (progress) => told.push(progress) });
  const archive = tar([{ name: 'top/a', content: 'x'.repeat(1000) }, link('top/b', 'a')]);
  await pipeline(Readable.from([archive.subarray(0, 1024), archive.subarray(1024)]), sink);
  expect(told).toEqual([
    { phase: 'write', filesDone: 1, filesTotal: 0, bytesDone: 512 },
    { phase: 'write', filesDone: 2, filesTotal: 0, bytesDone: 1000 },
  ]);
});

it('the last of two files with one name stays, and a link takes the place of a file', () => {
  const entries = [
    { name: 'top/a', content: 'first' },
    { name: 'top/a', content: 'second' },
    { name: 'top/b', content: 'file' },
    link('top/b', 'a'),
  ];
  const { content, directory } = unpack(tar(entries));
  expect(content?.files).toBe(4);
  expect(readFileSync(join(directory, 'a'), 'utf8')).toBe('second');
  expect(readFileSync(join(directory, 'b'), 'utf8')).toBe('second');
});

it('a thousand damaged archives', () => {
  const source = join(root, 'source');
  mkdirSync(join(source, 'dir', 'deep'), { recursive: true });
  for (const name of ['a', 'dir/b', `dir/deep/${'c'.repeat(120)}`]) writeFileSync(join(source, name), `${name}\n`);
  symlinkSync('../a', join(source, 'dir', 'link'));
  const gitHere = (args: readonly string[]): Buffer =>
    execFileSync('git', ['-c', 'user.name=A Tester', '-c', 'user.email=tester@example.com', ...args], { cwd: source });
  gitHere(['init', '-q']);
  gitHere(['add', '.']);
  gitHere(['commit', '-q', '-m', 'all']);
  const archive = gitHere(['archive', '--prefix=top/', 'HEAD']);

  const whole = unpack(archive, 1000);
  expect(whole.error).toBeUndefined();
  expect(whole.content).toEqual({ files: 4, bytes: 138, commit: gitHere(['rev-parse', 'HEAD']).toString().trim() });

  // Headers with a wrong sum are refused, which is nearly all that damage does; so the sum is put right in half of them.
  const outcomes = { written: 0, refused: 0 };
  for (let seed = 1; seed <= 1000; seed++) {
    const random = randomNumbers(seed);
    const bad = damage(archive, random);
    if (seed % 2 === 0) {
      for (let at = 0; at + 512 <= bad.length; at += 512) {
        if (bad.toString('latin1', at + 257, at + 262) !== 'ustar') continue;
        bad.write('        ', at + 148);
        const sum = bad.subarray(at, at + 512).reduce((total, byte) => total + byte, 0);
        bad.write(`${sum.toString(8).padStart(6, '0')}\0 `, at + 148);
      }
    }
    const { error, around } = unpack(bad, 1 + random(2000));
    expect(around, `seed ${seed}`).toEqual(UNTOUCHED);
    if (error === undefined) outcomes.written++;
    else {
      expect(error, `seed ${seed}`).toBeInstanceOf(CheckoutError);
      outcomes.refused++;
    }
  }
  expect(outcomes.written).toBeGreaterThan(50);
  expect(outcomes.refused).toBeGreaterThan(50);
});
