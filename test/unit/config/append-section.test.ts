import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { appendToConfig } from '../../../src/engine/config/append-section.ts';

const folder = mkdtempSync(join(tmpdir(), 'parallel-checkout-append-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let count = 0;
const file = (content: string): string => {
  const path = join(folder, String(++count));
  writeFileSync(path, content);
  return path;
};
const read = (path: string, key: string): string =>
  execFileSync('git', ['config', '--file', path, '-z', '--get', key], { encoding: 'utf8' }).replace(/\0$/, '');

describe('appendToConfig', () => {
  it.each(['main', 'a"b\\c', 'feature/x.y', 'ünïcode', 'with space ', ']', '#hash;'])(
    'writes subsection and value %j so that git reads them back',
    (text) => {
      const path = file('[core]\n\tbare = false');
      appendToConfig(path, 'branch', text, [
        ['remote', text],
        ['merge', ` lead\ttab\nline ; # "quote" \\ ${text}`],
      ]);
      expect(read(path, `branch.${text}.remote`)).toBe(text);
      expect(read(path, `branch.${text}.merge`)).toBe(` lead\ttab\nline ; # "quote" \\ ${text}`);
      expect(read(path, 'core.bare')).toBe('false');
    },
  );

  it('continues the last section when it is the same', () => {
    const path = file('');
    appendToConfig(path, 'remote', 'origin', [['url', 'https://example.com/x']]);
    appendToConfig(path, 'remote', 'origin', [['fetch', '+refs/heads/*:refs/remotes/origin/*']]);
    appendToConfig(path, 'branch', 'main', [['remote', 'origin']]);
    appendToConfig(path, 'remote', 'origin', [['tagOpt', '--no-tags']]);
    expect(readFileSync(path, 'utf8')).toBe(
      '[remote "origin"]\n\turl = https://example.com/x\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n' +
        '[branch "main"]\n\tremote = origin\n[remote "origin"]\n\ttagOpt = --no-tags\n',
    );
  });

  it('keeps the mode, follows a link, and leaves no lock', () => {
    const path = file('');
    chmodSync(path, 0o600);
    const link = join(folder, 'link');
    symlinkSync(path, link);
    appendToConfig(link, 'a', 'b', [['c', 'd']]);
    expect(read(path, 'a.b.c')).toBe('d');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(existsSync(`${path}.lock`)).toBe(false);
  });

  it('respects a lock and changes nothing', () => {
    const path = file('x');
    writeFileSync(`${path}.lock`, '');
    expect(() => appendToConfig(path, 'a', 'b', [])).toThrow(expect.objectContaining({ code: 'ref-locked' }));
    expect(existsSync(`${path}.lock`)).toBe(true);
    expect(readFileSync(path, 'utf8')).toBe('x');
  });

  it('refuses what the syntax cannot hold, and leaves no lock', () => {
    const path = file('');
    expect(() => appendToConfig(path, 'a', 'line\nfeed', [])).toThrow(
      expect.objectContaining({ code: 'config-invalid' }),
    );
    expect(() => appendToConfig(path, 'a', 'b', [['c', 'nul\0']])).toThrow(
      expect.objectContaining({ code: 'config-invalid' }),
    );
    expect(existsSync(`${path}.lock`)).toBe(false);
  });
});
