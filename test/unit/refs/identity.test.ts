import { describe, expect, it } from 'vitest';
import { Config } from '../../../src/engine/config/config.ts';
import { committerLine, systemUser } from '../../../src/engine/refs/identity.ts';
import { beginsReflog, reflogLine } from '../../../src/engine/refs/reflog.ts';

const system = { login: 'runner', fullName: 'The Runner', mailHost: 'host.(none)' };
const line = (values: Record<string, string>, environment: Record<string, string>, offset = 0, user = system): string =>
  committerLine(Config.of(values), environment, 1_700_000_000_999, offset, () => user);

describe('committerLine', () => {
  it('takes environment, committer.*, user.*, then the system', () => {
    const config = { 'user.name': 'U', 'user.email': 'u@x' };
    expect(line({}, {})).toBe('The Runner <runner@host.(none)> 1700000000 +0000');
    expect(line({}, { EMAIL: 'e@x' })).toBe('The Runner <e@x> 1700000000 +0000');
    expect(line(config, { EMAIL: 'e@x' })).toBe('U <u@x> 1700000000 +0000');
    expect(line({ ...config, 'committer.name': 'C', 'committer.email': 'c@x' }, {})).toBe('C <c@x> 1700000000 +0000');
    expect(line(config, { GIT_COMMITTER_NAME: 'E', GIT_COMMITTER_EMAIL: 'e@y' })).toBe('E <e@y> 1700000000 +0000');
    expect(line({}, {}, 0, { ...system, fullName: '' })).toMatch(/^runner </);
  });

  it('asks the system only when it must', () => {
    const config = Config.of({ 'user.name': 'U', 'user.email': 'u@x' });
    const refuse = (): never => {
      throw new Error('asked');
    };
    expect(committerLine(config, {}, 0, 0, refuse)).toBe('U <u@x> 0 +0000');
  });

  it('keeps the line a line', () => {
    expect(line({ 'user.name': ' .A <b>\nC, ', 'user.email': '<a@b>' }, {})).toBe('A bC <a@b> 1700000000 +0000');
  });

  it('writes zones and dates as git does', () => {
    const config = { 'user.name': 'U', 'user.email': 'u@x' };
    expect(line(config, {}, 330)).toMatch(/ \+0530$/);
    expect(line(config, {}, -210)).toMatch(/ -0330$/);
    expect(line(config, { GIT_COMMITTER_DATE: '@123 -0800' })).toBe('U <u@x> 123 -0800');
    expect(line(config, { GIT_COMMITTER_DATE: '2024-01-01T00:00:00+02:00' })).toBe('U <u@x> 1704060000 +0200');
    expect(line(config, { GIT_COMMITTER_DATE: '2024-01-01T00:00:00Z' })).toBe('U <u@x> 1704067200 +0000');
    expect(line(config, { GIT_COMMITTER_DATE: 'Mon, 01 Jan 2024 00:00:00 +0100' })).toBe('U <u@x> 1704063600 +0100');
  });

  it('finds a user on this machine', () => {
    const user = systemUser();
    expect(user.login).not.toBe('');
    expect(user.mailHost).not.toBe('');
  });
});

describe('reflog', () => {
  it('has one line a change', () => {
    expect(reflogLine(null, 'a'.repeat(40), 'U <u@x> 1 +0000', 'from  a\nto b ')).toBe(
      `${'0'.repeat(40)} ${'a'.repeat(40)} U <u@x> 1 +0000\tfrom a to b\n`,
    );
  });

  it('begins by core.logAllRefUpdates', () => {
    const begins = (value: string | null | undefined, name: string): boolean =>
      beginsReflog(Config.of(value === undefined ? {} : { 'core.logallrefupdates': value }), name);
    for (const value of [undefined, null, 'true']) {
      expect(begins(value, 'HEAD')).toBe(true);
      expect(begins(value, 'refs/heads/a')).toBe(true);
      expect(begins(value, 'refs/tags/a')).toBe(false);
    }
    expect(begins('always', 'refs/tags/a')).toBe(true);
    expect(begins('false', 'HEAD')).toBe(false);
  });
});
