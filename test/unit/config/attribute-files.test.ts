import { describe, expect, it } from 'vitest';
import { attributeFiles, type AttributeFileFacts } from '../../../src/engine/config/attribute-files.ts';
import { Config } from '../../../src/engine/config/config.ts';

const facts = (over: Partial<AttributeFileFacts>): AttributeFileFacts => ({
  config: Config.of({}),
  environment: { HOME: '/home/u' },
  platform: 'linux',
  gitProgram: '/usr/bin/git',
  ...over,
});

describe('the user’s attributes', () => {
  it('are in core.attributesFile, $XDG_CONFIG_HOME or ~/.config', () => {
    expect(attributeFiles(facts({})).global).toBe('/home/u/.config/git/attributes');
    expect(attributeFiles(facts({ environment: { HOME: '/h', XDG_CONFIG_HOME: '/x' } })).global).toBe(
      '/x/git/attributes',
    );
    expect(attributeFiles(facts({ environment: { HOME: '/h', XDG_CONFIG_HOME: '' } })).global).toBe(
      '/h/.config/git/attributes',
    );
    expect(attributeFiles(facts({ config: Config.of({ 'core.attributesfile': '~/mine' }) })).global).toBe(
      '/home/u/mine',
    );
    expect(attributeFiles(facts({ config: Config.of({ 'core.attributesfile': '' }) })).global).toBeNull();
    expect(attributeFiles(facts({ environment: {} })).global).toBeNull();
  });
});

describe('the system’s attributes', () => {
  const system = (over: Partial<AttributeFileFacts>): string | null => attributeFiles(facts(over)).system;

  it('follow git’s prefix', () => {
    expect(system({})).toBe('/etc/gitattributes');
    expect(system({ gitProgram: '/bin/git' })).toBe('/etc/gitattributes');
    expect(system({ gitProgram: '/usr/local/bin/git' })).toBe('/usr/local/etc/gitattributes');
    expect(system({ gitProgram: '/opt/homebrew/bin/git', platform: 'darwin' })).toBe('/opt/homebrew/etc/gitattributes');
    expect(system({ gitProgram: null })).toBe('/etc/gitattributes');
  });

  it('lie beside the system’s configuration where that is known', () => {
    const config = Config.parse(Buffer.from('file:/opt/git/etc/gitconfig\0a.b\nc\0'));
    expect(system({ config })).toBe('/opt/git/etc/gitattributes');
    expect(system({ config, environment: { GIT_CONFIG_SYSTEM: '/tmp/gitconfig' } })).toBe('/etc/gitattributes');
  });

  it('are in etc of Git for Windows, whichever git.exe was found', () => {
    const expected = 'C:\\Program Files\\Git\\etc\\gitattributes';
    for (const part of ['cmd', 'bin', 'mingw64\\bin', 'usr\\bin']) {
      expect(system({ platform: 'win32', gitProgram: `C:\\Program Files\\Git\\${part}\\git.exe` })).toBe(expected);
    }
    expect(system({ platform: 'win32', gitProgram: null })).toBeNull();
  });

  it('are off with GIT_ATTR_NOSYSTEM', () => {
    for (const on of ['1', 'true', 'yes']) expect(system({ environment: { GIT_ATTR_NOSYSTEM: on } })).toBeNull();
    for (const off of ['', '0', 'false', 'no']) {
      expect(system({ environment: { GIT_ATTR_NOSYSTEM: off } })).toBe('/etc/gitattributes');
    }
  });
});
