import { describe, expect, it } from 'vitest';
import { invalidComponent } from '../../src/engine/object/path-validity.ts';
import type { PathRules } from '../../src/engine/object/path-validity.ts';

const LINUX: PathRules = { ntfs: true, hfs: false, windows: false };
const MAC: PathRules = { ntfs: true, hfs: true, windows: false };
const WINDOWS: PathRules = { ntfs: true, hfs: false, windows: true };
const BARE: PathRules = { ntfs: false, hfs: false, windows: false };

/** The verdict on a name of one byte a character, with bytes around it that must not matter. */
function check(name: string, rules: PathRules, isSymlink = false): string | null {
  const bytes = Buffer.from(name, 'latin1');
  const table = Buffer.concat([Buffer.from('.git/'), bytes, Buffer.from('/.git')]);
  return invalidComponent(table, 5, 5 + bytes.length, isSymlink, rules);
}

const ZWNJ = '\xe2\x80\x8c'; // U+200C
const BOM = '\xef\xbb\xbf'; // U+FEFF

describe('names that are refused everywhere', () => {
  it.each([
    '',
    '.',
    '..',
    '.git',
    '.GIT',
    '.gIt',
    'a//b',
    '/a',
    'a/',
    'a/../b',
    './a',
    'a/.git',
    '.git/config',
    'a\0b',
  ])('%j', (name) => {
    for (const rules of [BARE, LINUX, MAC, WINDOWS]) expect(check(name, rules), JSON.stringify(rules)).not.toBeNull();
  });
});

describe('names that are fine everywhere', () => {
  it.each([
    'a',
    '...a',
    '.gitignore',
    '.gitattributes',
    '.gitx',
    'git',
    'git~2',
    'git~10',
    'a/b/c.txt',
    'x.git',
    '.gi',
    '~',
    'COM0',
    'console',
  ])('%j', (name) => {
    for (const rules of [BARE, LINUX, MAC, WINDOWS]) expect(check(name, rules), JSON.stringify(rules)).toBeNull();
  });
});

describe('NTFS spellings', () => {
  const dotGit = [
    '.git. .',
    'git~1',
    'GIT~1',
    '.git::$INDEX_ALLOCATION',
    '.git:x',
    'a\\.git',
    '.git ',
    '.git...',
    'git~1 .',
    '.git\\x',
    'a\\\\git~1',
  ];
  it.each(dotGit)('%j is refused with the rule and not without', (name) => {
    expect(check(name, LINUX)).toMatch(/NTFS/);
    expect(check(name, BARE)).toBeNull();
  });

  it.each(['.git x', 'git~1x', 'git~', '\\.git', '.gitmodules', '.gitmodules.', 'gitmod~1', 'gi7eba~1'])(
    '%j is allowed for a file, as git allows it',
    (name) => expect(check(name, LINUX)).toBeNull(),
  );

  it.each([
    '.gitmodules',
    '.GitModules',
    '.gitmodules . ',
    '.gitmodules:x',
    'gitmod~1',
    'GITMOD~4',
    'gitmod~1 .',
    'gi7eb~12',
    'GI7E~123',
    'gi7eba~1',
    '~1234567',
    'a\\gitmod~1',
  ])('%j is refused for a symbolic link', (name) => expect(check(name, LINUX, true)).toMatch(/symbolic link/));

  it.each([
    'gitmod~5',
    'gitmod~0',
    '.gitmodulesx',
    'gi7eba~0',
    'gi7ebx~1',
    'gi7eb~1',
    'gi7eb~123',
    '~0234567',
    '.gitattributes',
  ])('%j is allowed for a symbolic link', (name) => expect(check(name, LINUX, true)).toBeNull());
});

describe('HFS+ spellings', () => {
  // The last two: git takes malformed UTF-8 for the end of the name.
  it.each([
    `${ZWNJ}.git`,
    `.g${BOM}it`,
    `.git${ZWNJ}`,
    `.G${ZWNJ}I${BOM}T`,
    `a/.gi${ZWNJ}t/b`,
    '.git\xff',
    '.git\xe2\x80',
  ])('%j is refused with the rule and not without', (name) => {
    expect(check(name, MAC)).toMatch(/HFS\+/);
    expect(check(name, LINUX)).toBeNull();
  });

  it.each([`${ZWNJ}x`, `.g\xc3\xa9it`, '.gi\xfft', `.git${ZWNJ}x`, '\xff.git', ZWNJ])('%j is allowed', (name) => {
    expect(check(name, MAC)).toBeNull();
  });

  it('also looks for .gitmodules, for symbolic links alone', () => {
    expect(check(`.git${ZWNJ}modules`, MAC, true)).toMatch(/symbolic link/);
    expect(check(`.git${ZWNJ}modules/x`, MAC, true)).toMatch(/symbolic link/);
    expect(check(`.git${ZWNJ}modules`, MAC, false)).toBeNull();
  });
});

describe('Windows names', () => {
  it.each([
    'a\\b',
    'c:',
    'c:x',
    '1:x',
    '\xc3\xa4:x',
    'a:b',
    'a<b',
    'a>b',
    'a"b',
    'a|b',
    'a?b',
    'a*b',
    'a\x01b',
    'a\x1fb',
    'a.',
    'a ',
    '...',
    'a./b',
    'a /b',
  ])('%j is refused there and allowed elsewhere', (name) => {
    expect(check(name, WINDOWS)).not.toBeNull();
    expect(check(name, LINUX)).toBeNull();
  });

  const devices = [
    'aux',
    'AUX',
    'prn',
    'nul',
    'con',
    'conin$',
    'CONOUT$',
    'com1',
    'COM9',
    'lpt0',
    'lpt9',
    'nul.txt',
    'aux .c',
    'com1.x.y',
    'a/nul/b',
    'NUL:x',
    'nul  .x',
  ];
  it.each(devices)('%j is refused as a device', (name) => {
    expect(check(name, WINDOWS)).not.toBeNull();
    expect(check(name, LINUX)).toBeNull();
  });

  it.each(['auxx', 'aux x', 'com', 'com0', 'com10', 'lpt', 'lpt10', 'conin', 'conx', 'nulls', 'a.aux', 'au', '\x7f'])(
    '%j is no device',
    (name) => {
      expect(check(name, WINDOWS)).toBeNull();
    },
  );

  it('without protectNTFS still refuses separators and drives', () => {
    const rules = { ...WINDOWS, ntfs: false };
    expect(check('a\\b', rules)).not.toBeNull();
    expect(check('c:x', rules)).not.toBeNull();
    expect(check('nul', rules)).toBeNull();
  });
});
