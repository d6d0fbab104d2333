import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { Config, loadConfig } from '../../../src/engine/config/config.ts';
import { expandConfigPath, parseConfigBool, parseConfigInt } from '../../../src/engine/config/config-values.ts';
import { configArgs } from '../../../src/engine/config/git-options.ts';
import { spawnGit } from '../../../src/engine/fetch/git-process.ts';

const folder = mkdtempSync(join(tmpdir(), 'parallel-checkout-config-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What git itself makes of a value, or null when it refuses it. */
function askGit(type: string, value: string): string | null {
  const file = join(folder, 'value');
  writeFileSync(file, `[a]\n\tb = "${value}"\n`);
  try {
    const env = { ...process.env, HOME: '/home/somebody' };
    return execFileSync('git', ['config', '--file', file, `--type=${type}`, 'a.b'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      env,
    }).replace(/\n$/, '');
  } catch {
    return null;
  }
}

describe('values mean what they mean to git', () => {
  it.each(['true', 'YES', 'On', '1', '2', '0', '-1', 'false', 'no', 'OFF', '', 'maybe', 'tru', '1k', '0x10', '010'])(
    'boolean %j',
    (text) => {
      const expected = askGit('bool', text);
      expect(parseConfigBool(text)).toBe(expected === null ? null : expected === 'true');
    },
  );

  it('a key without a value is true', () => {
    expect(parseConfigBool(null)).toBe(true);
  });

  it.each([
    '0',
    '12',
    '-7',
    '+3',
    '4k',
    '2M',
    '1g',
    '0x1F',
    '010',
    '09',
    '1.5',
    '',
    'k',
    '1kb',
    ' 5',
    '5 ',
    '1 k',
    'x',
  ])('number %j', (text) => {
    const expected = askGit('int', text);
    expect(parseConfigInt(text)).toBe(expected === null ? null : Number(expected));
  });

  it('refuses a number that it cannot hold exactly', () => {
    expect(parseConfigInt('9007199254740993')).toBeNull();
    expect(parseConfigInt('9007199254740993g')).toBeNull();
  });

  it.each(['~/a', '/abs', 'rel/a', 'a~b'])('path %j', (text) => {
    expect(expandConfigPath(text, { HOME: '/home/somebody' })).toBe(askGit('path', text));
  });

  it('knows which paths it cannot expand', () => {
    expect(expandConfigPath('~other/a', { HOME: '/h' })).toBeNull();
    expect(expandConfigPath('~/a', {})).toBeNull();
    expect(expandConfigPath('%(prefix)/a', { HOME: '/h' })).toBeNull();
  });
});

describe('Config', () => {
  const config = Config.parse(
    Buffer.from(
      'file:/etc/gitconfig\0core.autocrlf\ninput\0file:.git/config\0filter.LFS.smudge\na\nb\0' +
        'file:.git/config\0filter.x.y.clean\n\0file:.git/config\0core.bare\0file:.git/config\0core.x\n1\0command line:\0CORE.x\nbad\0',
    ),
  );

  it('matches section and name in any case and the subsection as written', () => {
    expect(config.get('CORE.autoCRLF')).toBe('input');
    expect(config.get('Filter.LFS.Smudge')).toBe('a\nb');
    expect(config.get('filter.lfs.smudge')).toBeUndefined();
  });

  it('tells a missing, an empty and an absent value apart', () => {
    expect(config.getBool('core.bare')).toBe(true);
    expect(config.get('core.bare')).toBe('');
    expect(config.getAll('core.bare')).toEqual([null]);
    expect(config.getBool('filter.x.y.clean')).toBe(false);
    expect(config.getBool('core.other')).toBeUndefined();
    expect(config.getBoolOrText('core.autocrlf')).toBe('input');
    expect(config.getBoolOrText('core.bare')).toBe(true);
  });

  it('gives the last value, and names key and file of a bad one but not the value', () => {
    expect(config.getAll('core.x')).toEqual(['1', 'bad']);
    expect(() => config.getInt('core.X')).toThrow(
      expect.objectContaining({
        code: 'config-invalid',
        message: "the value of 'core.X' (command line) is not a number",
      }),
    );
    expect(() => config.getBool('core.x')).toThrow("the value of 'core.x'");
    expect(() => config.getInt('core.bare')).toThrow('is not a number');
  });

  it('lists subsections, dots in them included', () => {
    expect(config.subsections('filter')).toEqual(['LFS', 'x.y']);
    expect(config.subsections('core')).toEqual([]);
  });

  it('knows the system file', () => {
    expect(config.systemFile).toBe('/etc/gitconfig');
    expect(Config.of({ 'a.b': 'c' }).systemFile).toBeNull();
    expect(Config.parse(Buffer.from('file:/home/u/.gitconfig\0a.b\nc\0')).systemFile).toBeNull();
  });

  it('refuses a path that is not UTF-8', () => {
    const bytes = Buffer.concat([
      Buffer.from('file:x\0core.attributesfile\n/'),
      Buffer.from([0xff]),
      Buffer.from('\0'),
    ]);
    expect(() => Config.parse(bytes).getPath('core.attributesFile', {})).toThrow(
      expect.objectContaining({ code: 'config-invalid' }),
    );
  });

  it('refuses a list that ends in the middle', () => {
    expect(() => Config.parse(Buffer.from('file:x\0core.a\n1'))).toThrow('ends too early');
    expect(() => Config.parse(Buffer.from('file:x'))).toThrow('ends too early');
  });
});

describe('overrides', () => {
  it('go to git and win', async () => {
    const config = await loadConfig(
      {
        directory: folder,
        config: [
          { key: 'filter.A b.smudge', value: 'x=y\nz' },
          { key: 'core.eol', value: '' },
        ],
      },
      spawnGit,
    );
    expect(config.get('filter.A b.smudge')).toBe('x=y\nz');
    expect(config.get('core.eol')).toBe('');
  });

  it.each(['nodot', 'a=b.c', '.a', 'a.', 'a.b=c', '-c.x y', 'a.1b'])('refuses the key %j', (key) => {
    expect(() => configArgs([{ key, value: 'v' }])).toThrow(expect.objectContaining({ code: 'usage' }));
  });
});
