import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Producer } from '../../../src/engine/worktree/create-file.ts';
import { createFile } from '../../../src/engine/worktree/create-file.ts';
import { fileHasContent } from '../../../src/engine/worktree/compare-file.ts';
import { createGitlinkDirectory, createLink, linkHasTarget } from '../../../src/engine/worktree/create-link.ts';
import { removeAll, removeEmptyDirectory, unlinkTracked } from '../../../src/engine/worktree/remove.ts';
import { randomBytes } from '../../support/random.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const folder = temporaryFolder('files');
let cases = 0;
/** A folder for one test. */
function place(): (name: string) => string {
  const directory = join(folder, `${cases++}`);
  mkdirSync(directory);
  return (name) => join(directory, name);
}
const asBytes = (path: string): Buffer => Buffer.from(path, 'utf8');
const openFiles = (): number => (process.platform === 'linux' ? readdirSync('/proc/self/fd').length : 0);
const inPieces =
  (...pieces: Uint8Array[]): Producer =>
  (write) => {
    for (const piece of pieces) write(piece);
  };

describe('createFile', () => {
  it.each(['goes', 'is-likely'] as const)(
    'replaces a file or link, never through it, and no directory: %s',
    (existing) => {
      const at = place();
      const write = (name: string): boolean =>
        createFile(asBytes(at(name)), false, Buffer.from('new'), existing) !== null;
      writeFileSync(at('file'), 'old and longer');
      linkSync(at('file'), at('same'));
      mkdirSync(at('full'));
      writeFileSync(at('full/file'), 'x');
      mkdirSync(at('empty'));
      if (process.platform !== 'win32') symlinkSync('same', at('link'));
      expect(['file', 'none', 'link', 'full', 'empty'].map(write)).toEqual([true, true, true, false, false]);
      for (const name of ['file', 'none', 'link']) {
        expect([lstatSync(at(name)).isFile(), readFileSync(at(name), 'utf8')]).toEqual([true, 'new']);
      }
      expect(readFileSync(at('same'), 'utf8')).toBe('old and longer');
      expect(readFileSync(at('full/file'), 'utf8')).toBe('x');
      writeFileSync(at('stays'), 'old');
      expect(createFile(asBytes(at('stays')), false, Buffer.from('new'), 'stays')).toBeNull();
      expect(readFileSync(at('stays'), 'utf8')).toBe('old');
    },
  );

  it('writes bytes, or pieces that are used again, and gives the stat data', () => {
    const at = place();
    const content = randomBytes(1, 300_000);
    const shared = new Uint8Array(new SharedArrayBuffer(content.length));
    shared.set(content);
    const piece = Buffer.alloc(1000);
    const reused: Producer = (write) => {
      for (let i = 0; i < content.length; i += 1000) {
        content.copy(piece, 0, i, i + 1000);
        write(piece);
      }
    };
    const ways = { bytes: content, shared, pieces: inPieces(content.subarray(0, 1), content.subarray(1)), reused };
    for (const [name, way] of Object.entries(ways)) {
      const stat = createFile(asBytes(at(name)), false, way);
      expect(stat?.size).toBe(300_000n);
      expect(stat).toEqual(lstatSync(at(name), { bigint: true }));
      expect(Buffer.compare(readFileSync(at(name)), content)).toBe(0);
    }
  });

  it('writes empty files', () => {
    const at = place();
    expect(createFile(asBytes(at('a')), false, new Uint8Array(0))?.size).toBe(0n);
    expect(createFile(asBytes(at('b')), false, () => undefined)?.size).toBe(0n);
    expect(createFile(asBytes(at('c')), false, inPieces(Buffer.alloc(0)))?.size).toBe(0n);
  });

  it.runIf(process.platform !== 'win32')('lets the umask decide about permissions', () => {
    const at = place();
    const old = process.umask(0o027);
    try {
      createFile(asBytes(at('plain')), false, Buffer.from('x'));
      createFile(asBytes(at('program')), true, Buffer.from('x'));
    } finally {
      process.umask(old);
    }
    expect(lstatSync(at('plain')).mode & 0o777).toBe(0o640);
    expect(lstatSync(at('program')).mode & 0o777).toBe(0o750);
  });

  it('changes nothing that is there, nor what a link leads to', () => {
    const at = place();
    writeFileSync(at('file'), 'old');
    mkdirSync(at('directory'));
    symlinkSync(at('file'), at('link'));
    symlinkSync(at('nothing'), at('dangling'));
    const open = openFiles();
    for (const name of ['file', 'directory', 'link', 'dangling']) {
      let asked = false;
      expect(
        createFile(asBytes(at(name)), false, () => {
          asked = true;
        }),
      ).toBeNull();
      expect(asked).toBe(false);
    }
    expect(readFileSync(at('file'), 'utf8')).toBe('old');
    expect(existsSync(at('nothing'))).toBe(false);
    expect(openFiles()).toBe(open);
  });

  it('takes its half-written file away when the content fails', () => {
    const at = place();
    const open = openFiles();
    const failing: Producer = (write) => {
      write(Buffer.from('half'));
      expect(readFileSync(at('file'), 'utf8')).toBe('half');
      throw new Error('the object is damaged');
    };
    expect(() => createFile(asBytes(at('file')), false, failing)).toThrow('the object is damaged');
    expect(existsSync(at('file'))).toBe(false);
    expect(openFiles()).toBe(open);
    expect(createFile(asBytes(at('file')), false, Buffer.from('x'))).not.toBeNull();
  });

  it('throws the system’s error otherwise', () => {
    const at = place();
    writeFileSync(at('file'), '');
    expect(() => createFile(asBytes(at('absent/file')), false, Buffer.from('x'))).toThrow(
      expect.objectContaining({ code: 'ENOENT' }),
    );
    expect(() => createFile(asBytes(at('file/below')), false, Buffer.from('x'))).toThrow(
      expect.objectContaining({ code: process.platform === 'win32' ? 'ENOENT' : 'ENOTDIR' }),
    );
    expect(() => createFile(asBytes(at('x'.repeat(300))), false, Buffer.from('x'))).toThrow(/ENAMETOOLONG|ENOENT/);
  });
});

describe('fileHasContent', () => {
  const at = place();
  const content = randomBytes(3, 200_000);
  writeFileSync(at('file'), content);
  const compare = (expected: Uint8Array | Producer): boolean => fileHasContent(asBytes(at('file')), expected);

  it('the same content', () => {
    expect(compare(content)).toBe(true);
    expect(compare(inPieces(content.subarray(0, 1), content.subarray(1, 70_000), content.subarray(70_000)))).toBe(true);
    expect(compare(inPieces(Buffer.alloc(0), content, Buffer.alloc(0)))).toBe(true);
  });

  it('any other', () => {
    for (const place of [0, 1, 65_535, 65_536, 131_072, 199_999]) {
      const other = Buffer.from(content);
      other[place] = other[place]! ^ 1;
      expect(compare(other), `${place}`).toBe(false);
      expect(compare(inPieces(other.subarray(0, 100_000), other.subarray(100_000))), `${place}`).toBe(false);
    }
  });

  it('more or less', () => {
    const longer = Buffer.concat([content, Buffer.from('x')]);
    expect(compare(longer)).toBe(false);
    expect(compare(inPieces(longer))).toBe(false);
    expect(compare(inPieces(content, Buffer.from('x')))).toBe(false);
    expect(compare(content.subarray(0, -1))).toBe(false);
    expect(compare(inPieces(content.subarray(0, -1)))).toBe(false);
    expect(compare(inPieces())).toBe(false);
    expect(compare(Buffer.alloc(0))).toBe(false);
  });

  it('empty files', () => {
    writeFileSync(at('empty'), '');
    expect(fileHasContent(asBytes(at('empty')), Buffer.alloc(0))).toBe(true);
    expect(fileHasContent(asBytes(at('empty')), inPieces())).toBe(true);
    expect(fileHasContent(asBytes(at('empty')), inPieces(Buffer.from('x')))).toBe(false);
  });

  it('what is not there or no file has none', () => {
    mkdirSync(at('directory'));
    expect(fileHasContent(asBytes(at('absent')), Buffer.alloc(0))).toBe(false);
    expect(fileHasContent(asBytes(at('file/below')), Buffer.alloc(0))).toBe(false);
    const directory = asBytes(at('directory'));
    expect(fileHasContent(directory, Buffer.alloc(10))).toBe(false);
    expect(fileHasContent(directory, Buffer.alloc(lstatSync(directory).size))).toBe(false);
    expect(fileHasContent(directory, inPieces(Buffer.from('x')))).toBe(false);
    expect(fileHasContent(directory, inPieces())).toBe(false);
  });

  it.runIf(process.platform !== 'win32')('a link has none, whatever it leads to', () => {
    symlinkSync(at('file'), at('link'));
    expect(fileHasContent(asBytes(at('link')), content)).toBe(false);
  });

  it('closes the file whatever the content does', () => {
    const open = openFiles();
    expect(() =>
      compare(() => {
        throw new Error('damaged');
      }),
    ).toThrow('damaged');
    compare(content);
    compare(Buffer.alloc(1));
    expect(openFiles()).toBe(open);
  });
});

describe.runIf(process.platform !== 'win32')('links and submodules', () => {
  it('a link to any bytes, up to the first NUL', () => {
    const at = place();
    const target = Buffer.from('d/\xff\xfe', 'latin1');
    const stat = createLink(asBytes(at('a')), target);
    expect(stat).toEqual(lstatSync(at('a'), { bigint: true }));
    expect(readlinkSync(at('a'), { encoding: 'buffer' })).toEqual(target);
    createLink(asBytes(at('b')), Buffer.from('to\0nothing'));
    expect(readlinkSync(at('b'))).toBe('to');
    expect(linkHasTarget(asBytes(at('b')), Buffer.from('to\0other'))).toBe(true);
  });

  it('nothing in place of what is there', () => {
    const at = place();
    writeFileSync(at('file'), 'x');
    expect(createLink(asBytes(at('file')), Buffer.from('to'))).toBeNull();
    expect(readFileSync(at('file'), 'utf8')).toBe('x');
    expect(() => createLink(asBytes(at('absent/x')), Buffer.from('to'))).toThrow(/ENOENT/);
  });

  it('knows a link’s target', () => {
    const at = place();
    symlinkSync('to', at('link'));
    writeFileSync(at('file'), 'to');
    expect(linkHasTarget(asBytes(at('link')), Buffer.from('to'))).toBe(true);
    expect(linkHasTarget(asBytes(at('link')), Buffer.from('t'))).toBe(false);
    expect(linkHasTarget(asBytes(at('file')), Buffer.from('to'))).toBe(false);
    expect(linkHasTarget(asBytes(at('absent')), Buffer.from('to'))).toBe(false);
  });

  it('a submodule’s directory, there or not', () => {
    const at = place();
    expect(createGitlinkDirectory(asBytes(at('sub')))?.isDirectory()).toBe(true);
    writeFileSync(at('sub/file'), 'x');
    expect(createGitlinkDirectory(asBytes(at('sub')))).toBeNull();
    expect(readdirSync(at('sub'))).toEqual(['file']);
    expect(() => createGitlinkDirectory(asBytes(at('absent/sub')))).toThrow(/ENOENT/);
  });
});

describe.runIf(process.platform !== 'win32')('removeAll', () => {
  it('files, links and whole directories', () => {
    const at = place();
    writeFileSync(at('file'), 'x');
    mkdirSync(at('d/e/f'), { recursive: true });
    writeFileSync(at('d/e/f/g'), 'x');
    // Names that are not UTF-8 are refused on macOS.
    const name = process.platform === 'linux' ? Buffer.from([0xff]) : Buffer.from('h');
    writeFileSync(Buffer.concat([asBytes(at('d/')), name]), 'x');
    symlinkSync('nowhere', at('link'));
    for (const each of ['file', 'd', 'link', 'absent']) {
      removeAll(asBytes(at(each)), '');
      expect(lstatSync(at(each), { throwIfNoEntry: false })).toBeUndefined();
    }
  });

  it('never what a link leads to', () => {
    const at = place();
    mkdirSync(at('outside'));
    writeFileSync(at('outside/file'), 'x');
    mkdirSync(at('d'));
    symlinkSync(at('outside'), at('d/link'));
    symlinkSync(at('outside/file'), at('d/link-to-file'));
    linkSync(at('outside/file'), at('d/hard'));
    symlinkSync(at('outside'), at('link'));
    removeAll(asBytes(at('d')), '');
    removeAll(asBytes(at('link')), '');
    expect(readdirSync(at('.'))).toEqual(['outside']);
    expect(readFileSync(at('outside/file'), 'utf8')).toBe('x');
  });

  it('never the directory that is to be kept', () => {
    const at = place();
    mkdirSync(at('d/keep/below'), { recursive: true });
    for (const name of ['d', 'd/keep']) {
      expect(() => {
        removeAll(asBytes(at(name)), at('d/keep'));
      }).toThrow(
        expect.objectContaining({
          code: 'io',
          message: expect.stringContaining('current working directory') as string,
        }),
      );
    }
    expect(existsSync(at('d/keep/below'))).toBe(true);
    // What is beside or below it is not it.
    removeAll(asBytes(at('d/keep/below')), at('d/keep'));
    expect(readdirSync(at('d/keep'))).toEqual([]);
  });

  it.runIf(process.platform === 'linux')('deep directories', () => {
    const at = place();
    mkdirSync(at(Array(800).fill('d').join('/')), { recursive: true });
    removeAll(asBytes(at('d')), '');
    expect(readdirSync(at('.'))).toEqual([]);
  });

  it('says what it cannot look at', () => {
    const at = place();
    writeFileSync(at('file'), '');
    for (const [name, errno] of [
      ['x'.repeat(300), 'ENAMETOOLONG'],
      ['file/below', 'ENOTDIR'],
    ] as const) {
      expect(() => {
        removeAll(asBytes(at(name)), '');
      }).toThrow(expect.objectContaining({ code: 'io', subject: { path: at(name), errno } }));
    }
  });

  it.runIf(process.getuid?.() !== 0)('says what it may not remove', () => {
    const at = place();
    mkdirSync(at('d'));
    writeFileSync(at('d/file'), '');
    chmodSync(at('d'), 0o500);
    expect(() => {
      removeAll(asBytes(at('d')), '');
    }).toThrow(expect.objectContaining({ code: 'io' }));
    chmodSync(at('d'), 0o700);
  });
});

describe('unlinkTracked and removeEmptyDirectory', () => {
  it('what is not there is gone', () => {
    const at = place();
    writeFileSync(at('file'), '');
    expect(unlinkTracked(asBytes(at('absent')))).toBeNull();
    expect(unlinkTracked(asBytes(at('file/below')))).toBeNull();
    expect(unlinkTracked(asBytes(at('file')))).toBeNull();
    expect(existsSync(at('file'))).toBe(false);
  });

  it('directories are not files', () => {
    const at = place();
    mkdirSync(at('d'));
    expect(unlinkTracked(asBytes(at('d')))).toMatch(/EISDIR|EPERM/);
    expect(existsSync(at('d'))).toBe(true);
  });

  it('only empty directories go, and not the one to be kept', () => {
    const at = place();
    mkdirSync(at('full'));
    writeFileSync(at('full/file'), '');
    mkdirSync(at('empty'));
    writeFileSync(at('file'), '');
    expect(removeEmptyDirectory(asBytes(at('full')), '')).toBe(false);
    expect(removeEmptyDirectory(asBytes(at('absent')), '')).toBe(false);
    expect(removeEmptyDirectory(asBytes(at('file')), '')).toBe(false);
    expect(removeEmptyDirectory(asBytes(at('empty')), at('empty'))).toBe(false);
    expect(existsSync(at('empty'))).toBe(true);
    expect(removeEmptyDirectory(asBytes(at('empty')), '')).toBe(true);
    expect(existsSync(at('empty'))).toBe(false);
  });
});
