import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cloneSource, parseCommandLine, parseConfigOverride } from '../../../src/cli/arguments.ts';
import { CheckoutError } from '../../../src/engine/errors.ts';

const cwd = resolve('/home/user/repository');
const parse = (...argv: string[]) => parseCommandLine(argv, { cwd, exists: () => false });

function refusal(...argv: string[]): CheckoutError {
  try {
    parse(...argv);
  } catch (error) {
    if (error instanceof CheckoutError) return error;
    throw error;
  }
  throw new Error(`was not refused: ${argv.join(' ')}`);
}

const DEFAULTS = { workers: 'auto', memoryLimitBytes: 'auto', engine: 'auto', transport: 'auto', config: [] };

describe('checkout', () => {
  it('without anything checks out HEAD of the repository here', () => {
    expect(parse('checkout')).toEqual({
      kind: 'checkout',
      request: { ...DEFAULTS, directory: cwd, target: { kind: 'head' } },
      json: false,
      quiet: false,
    });
  });

  it('reads every option', () => {
    expect(
      parse(
        'checkout',
        'v6.12',
        '--git-dir',
        '../linux.git',
        '--work-tree=tree',
        '-c',
        'core.autocrlf=true',
        '-ccore.eol=lf',
        '--workers',
        '4',
        '--memory-limit',
        '1GiB',
        '--engine',
        'native',
        '--transport',
        'stream',
        '--report',
        'r.json',
        '--json',
        '--quiet',
        '--fetch-retries=0',
        '--fetch-stall-timeout',
        '30',
        '--fetch-timeout=0',
      ),
    ).toEqual({
      kind: 'checkout',
      request: {
        fetchLimits: { attempts: 1, stallMs: 30_000, deadlineMs: 0 },
        workers: 4,
        memoryLimitBytes: 2 ** 30,
        engine: 'native',
        transport: 'stream',
        config: [
          { key: 'core.autocrlf', value: 'true' },
          { key: 'core.eol', value: 'lf' },
        ],
        directory: cwd,
        gitDir: resolve(cwd, '../linux.git'),
        workTree: resolve(cwd, 'tree'),
        target: { kind: 'revision', revision: 'v6.12' },
      },
      json: true,
      quiet: true,
      reportFile: resolve(cwd, 'r.json'),
    });
  });

  it("knows git's '-'", () => {
    expect(parse('checkout', '-')).toMatchObject({ request: { target: { kind: 'revision', revision: '@{-1}' } } });
  });

  it.each([
    [['checkout', 'a', 'b'], "checkout: unexpected argument 'b'"],
    [['checkout', '--', '-x'], "checkout: the commit: must not begin with '-'"],
    [['checkout', ''], 'checkout: the commit: must not be empty'],
    [['checkout', '--git-dir='], '--git-dir: must not be empty'],
    [['checkout', '--depth', '1'], "--depth is an option of 'clone', not of 'checkout'"],
  ])('%j is refused: %s', (argv, message) => {
    expect(refusal(...argv).message).toBe(message);
  });
});

describe('clone', () => {
  it('reads every option', () => {
    expect(
      parse(
        'clone',
        'https://h/r',
        'dir',
        '--ref',
        'main',
        '--depth',
        '1',
        '--sparse',
        '/a/',
        '--sparse=-b',
        '--no-cone',
        '-c',
        'http.proxy=',
      ),
    ).toEqual({
      kind: 'clone',
      request: {
        ...DEFAULTS,
        config: [{ key: 'http.proxy', value: '' }],
        url: 'https://h/r',
        directory: resolve(cwd, 'dir'),
        ref: 'main',
        depth: 1,
        sparse: { kind: 'no-cone', patterns: ['/a/', '-b'] },
      },
      json: false,
      quiet: false,
    });
  });

  it.each([
    [['clone'], 'clone: the URL is missing'],
    [['clone', 'https://h/r'], 'clone: the directory is missing'],
    [['clone', 'https://h/r', ''], 'clone: the directory: must not be empty'],
    [['clone', '--', '--upload-pack=sh', 'd'], "clone: the URL: must not begin with '-'"],
    [['clone', 'u', 'd', 'https://me:secret@h/'], "clone: unexpected argument 'https://***@h/'"],
    [['clone', 'u', 'd', '--ref=--upload-pack=sh'], "--ref: must not begin with '-'"],
    [['clone', 'u', 'd', '--depth', '0'], "--depth: expected a whole number from 1 to 2147483647, not '0'"],
    [
      ['clone', 'u', 'd', '--depth', '2147483648'],
      "--depth: expected a whole number from 1 to 2147483647, not '2147483648'",
    ],
    [['clone', 'u', 'd', '--sparse', ''], '--sparse: must not be empty'],
    [
      ['clone', 'u', 'd', '--sparse', '/d/*'],
      "--sparse: '/d/*' is a pattern; cone mode takes directories, without a slash in front",
    ],
    [['clone', 'u', 'd', '--no-cone'], '--no-cone says how --sparse is read, which is missing'],
    [['clone', 'u', 'd', '--no-sparse'], "--no-sparse is an option of 'checkout', not of 'clone'"],
    [['checkout', '--no-sparse', '--sparse', 'd'], '--no-sparse goes with no other pattern option'],
    [['plan', '--sparse', 'd'], "--sparse is an option of 'clone' and 'checkout', not of 'plan'"],
    [['clone', 'u', 'd', '--sparse', 'a\nb'], '--sparse: one pattern at a time; a line break cannot be in it'],
  ])('%j is refused: %s', (argv, message) => {
    expect(refusal(...argv).message).toBe(message);
  });
});

describe('plan', () => {
  it('reads every option, before the command too', () => {
    expect(parse('--workers=2', 'plan', 'sub', '--files', '90000', '--bytes', '1.4GB')).toEqual({
      kind: 'plan',
      request: { ...DEFAULTS, workers: 2, directory: resolve(cwd, 'sub'), files: 90_000, bytes: 1_400_000_000 },
      json: false,
      quiet: false,
    });
    expect(parse('plan')).toMatchObject({ request: { directory: cwd } });
  });

  it.each([
    [['plan', 'a', 'b'], "plan: unexpected argument 'b'"],
    [['plan', '--files', '-1'], "--files needs a value; if '-1' is meant, write --files=-1"],
    [['plan', '--files=-1'], "--files: expected a whole number from 0 to 4294967295, not '-1'"],
    [['plan', '--ref', 'x'], "--ref is an option of 'clone', not of 'plan'"],
  ])('%j is refused: %s', (argv, message) => {
    expect(refusal(...argv).message).toBe(message);
  });
});

describe('the command line', () => {
  it.each([
    [[], 'a command is missing: clone, checkout, plan'],
    [['--json'], 'a command is missing: clone, checkout, plan'],
    [['switch'], "unknown command 'switch': expected clone, checkout, plan"],
    [['--bogus', 'x', 'plan'], "unknown option '--bogus'"],
    [['plan', '-x'], "unknown option '-x'"],
    [['plan', '--constructor'], "unknown option '--constructor'"],
    [['plan', '--host-facts', '{}'], "unknown option '--host-facts'"],
    [['plan', '--json=yes'], '--json takes no value'],
    [['plan', '--no-json'], "unknown option '--no-json'"],
    [['plan', '--workers'], '--workers needs a value'],
    [['plan', '--workers', '--json'], "--workers needs a value; if '--json' is meant, write --workers=--json"],
    [['plan', '-c', '-x'], "-c needs a value; if '-x' is meant, write -c-x"],
    [['plan', '--workers', 'many'], "--workers: expected 'auto' or a whole number from 0 to 1024, not 'many'"],
    [['plan', '--memory-limit', '1MB'], "--memory-limit: at least 16MB are needed, not '1MB'"],
    [['clone', 'u', 'd', '--fetch-retries', 'x'], "--fetch-retries: expected a whole number from 0 to 100, not 'x'"],
    [['plan', '--engine', 'x'], "--engine: expected one of 'auto', 'native', 'git', not 'x'"],
    [['plan', '--transport', 'x'], "--transport: expected one of 'auto', 'stream', 'git', not 'x'"],
    [['plan', '--report', ''], '--report: must not be empty'],
  ])('%j is refused: %s', (argv, message) => {
    const error = refusal(...argv);
    expect(error.code).toBe('usage');
    expect(error.message).toBe(message);
  });

  it('names the option as data', () => {
    expect(refusal('plan', '--workers', 'many').subject).toEqual({ option: '--workers' });
    expect(refusal('plan', '--bogus').subject).toEqual({ option: '--bogus' });
    expect(refusal('plan', '--git-dir', 'x').subject).toEqual({ option: '--git-dir' });
    expect(refusal('plan', '-c', 'x').subject).toEqual({ option: '-c' });
  });

  it('takes the last of an option given twice', () => {
    expect(parse('plan', '--workers', '1', '--workers', 'auto')).toMatchObject({ request: { workers: 'auto' } });
  });

  it('finds help and version wherever they stand', () => {
    expect(parse('--help')).toEqual({ kind: 'help', command: null });
    expect(parse('clone', '-h')).toEqual({ kind: 'help', command: 'clone' });
    expect(parse('--help', 'plan')).toEqual({ kind: 'help', command: 'plan' });
    expect(parse('--version')).toEqual({ kind: 'version' });
    expect(parse('plan', '--version')).toEqual({ kind: 'version' });
  });
});

describe('-c', () => {
  it.each([
    ['core.autocrlf=true', 'core.autocrlf', 'true'],
    ['core.autocrlf', 'core.autocrlf', 'true'],
    ['core.eol=', 'core.eol', ''],
    ['url.https://a/b.insteadOf=git@a:b=c', 'url.https://a/b.insteadOf', 'git@a:b=c'],
    ['filter.my lfs.smudge=cat', 'filter.my lfs.smudge', 'cat'],
    ['a..b=1', 'a..b', '1'],
  ])('%s', (text, key, value) => {
    expect(parseConfigOverride(text)).toEqual({ key, value });
  });

  it.each(['', '=x', 'core', 'core=true', '.eol=x', 'core.=x', 'core.1x=y', 'core.a_b=x', 'co re.eol=x', 'a.b\nc.d=x'])(
    'refuses %j without repeating the value',
    (text) => {
      expect(() => parseConfigOverride(text)).toThrow(
        /^-c: '[^=]*' is not the name of a setting, such as core\.autocrlf$/,
      );
    },
  );
});

describe('what is cloned', () => {
  const source = (url: string, ...existing: string[]) =>
    cloneSource(url, { cwd, exists: (path) => existing.map((name) => resolve(cwd, name)).includes(path) });

  it.each(['https://h/r', 'ssh://h/r', 'file:///r', 'ext::sh', 'git@h:r', 'host:r/x'])('%s stays', (url) => {
    expect(source(url)).toBe(url);
  });

  it('makes paths absolute', () => {
    expect(source('../other')).toBe(resolve(cwd, '../other'));
    expect(source('./a:b')).toBe(resolve(cwd, 'a:b'));
    expect(source('a:b', 'a:b')).toBe(resolve(cwd, 'a:b'));
    expect(source('a:b', 'a:b.git')).toBe(resolve(cwd, 'a:b'));
  });

  it('lets a scheme be a scheme', () => {
    expect(source('https://h/r', 'https://h/r')).toBe('https://h/r');
  });
});
