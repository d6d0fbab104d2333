// The refspec table, row by row, and what a ref must not be.
import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { harmlessLine } from '../../src/action/log.ts';
import { checkoutTarget, exactRefspecs, invalidRefName, refForm, refspecs, refTest } from '../../src/action/ref.ts';

const SHA = 'd'.repeat(40);
const ALL = ['+refs/heads/*:refs/remotes/origin/*', '+refs/tags/*:refs/tags/*'];

describe('refspecs', () => {
  it.each([
    ['refs/heads/a/B', SHA, [`+${SHA}:refs/remotes/origin/a/B`], ALL],
    ['refs/heads/a/B', '', ['+refs/heads/a/B:refs/remotes/origin/a/B'], ALL],
    ['REFS/Heads/B', '', ['+refs/heads/B:refs/remotes/origin/B'], ALL],
    ['refs/pull/7/merge', SHA, [`+${SHA}:refs/remotes/pull/7/merge`], [...ALL, `+${SHA}:refs/remotes/pull/7/merge`]],
    [
      'refs/pull/7/merge',
      '',
      ['+refs/pull/7/merge:refs/remotes/pull/7/merge'],
      [...ALL, '+refs/pull/7/merge:refs/remotes/pull/7/merge'],
    ],
    ['refs/tags/T', SHA, ['+refs/tags/T:refs/tags/T'], ALL],
    ['refs/tags/T', '', ['+refs/tags/T:refs/tags/T'], ALL],
    ['refs/x/y', SHA, [SHA], [...ALL, SHA]],
    ['refs/x/y', '', ['+refs/x/y:refs/x/y'], [...ALL, '+refs/x/y:refs/x/y']],
    ['', SHA, [SHA], ALL],
  ] as const)('%s %s', (ref, commit, shallow, full) => {
    const form = refForm(ref, commit);
    expect(refspecs(form, { depth: 1, tags: false })).toEqual(shallow);
    expect(refspecs(form, { depth: 0, tags: false })).toEqual(full);
    const tags = refspecs(form, { depth: 1, tags: true });
    expect(tags[0]).toBe('+refs/tags/*:refs/tags/*');
    expect(tags.slice(1)).toEqual(form.kind === 'tag' ? [] : shallow);
  });

  it('of a short name are those that the remote has', () => {
    const form = refForm('N', '');
    const depth = { depth: 1, tags: false };
    const branch = '+refs/heads/N:refs/remotes/origin/N';
    const tag = '+refs/tags/N:refs/tags/N';
    expect(refspecs(form, depth, { branch: true, tag: false })).toEqual([branch]);
    expect(refspecs(form, depth, { branch: false, tag: true })).toEqual([tag]);
    expect(refspecs(form, depth, { branch: true, tag: true })).toEqual([branch, tag]);
    expect(() => refspecs(form, depth, { branch: false, tag: false })).toThrow("named 'N'");
    expect(() => exactRefspecs(form)).toThrow("named 'N'");
    expect(checkoutTarget(form, { branch: true, tag: true })).toMatchObject({ kind: 'branch', branch: 'N' });
    expect(checkoutTarget(form, { branch: false, tag: true })).toEqual({ kind: 'detach', revision: 'refs/tags/N' });
  });
});

describe('the ref test', () => {
  it.each([
    ['refs/heads/B', SHA, 1, null],
    ['refs/heads/B', SHA, 0, { revision: 'refs/remotes/origin/B', expected: SHA }],
    ['refs/heads/B', '', 0, null],
    ['refs/tags/T', SHA, 1, { revision: 'refs/tags/T^{commit}', expected: SHA }],
    ['refs/pull/7/merge', SHA, 0, null],
    ['refs/x/y', SHA, 0, null],
    ['', SHA, 1, null],
    ['', SHA, 0, { revision: `${SHA}^{object}`, expected: null }],
  ] as const)('%s %s at depth %i', (ref, commit, depth, test) => {
    expect(refTest(refForm(ref, commit), depth)).toEqual(test);
  });
});

describe('ref names', () => {
  it('are judged as by git check-ref-format', () => {
    const parts = fc.constantFrom(
      'a',
      'B',
      '.',
      '..',
      '/',
      '//',
      '.lock',
      '@',
      '@{',
      '~',
      ':',
      '*',
      ' ',
      '\\',
      '-',
      'é',
      '\u007f',
      '[',
      '?',
      '^',
    );
    const names = fc.array(parts, { minLength: 1, maxLength: 5 }).map((each) => each.join(''));
    const gitAccepts = (name: string): boolean => {
      try {
        execFileSync('git', ['check-ref-format', `refs/heads/${name}`], { stdio: 'ignore' });
        return true;
      } catch {
        return false;
      }
    };
    fc.assert(
      fc.property(names, (name) => {
        expect([name, invalidRefName(`refs/heads/${name}`) === null]).toEqual([name, gitAccepts(name)]);
      }),
      { numRuns: 150 },
    );
  });
});

describe('lines of others in the log', () => {
  it.each([
    ['::error::x', '> ::error::x'],
    ['  \ufeff::set-output name=a::b', '> ::set-output name=a::b'],
    ['remote: ##[set-output name=a;]b', 'remote: # #[set-output name=a;]b'],
    ['a\n::error::b', 'a ::error::b'],
    ['\u001b[31mred', ' [31mred'],
    ['plain :: text\twith a tab', 'plain :: text\twith a tab'],
  ])('%j', (line, harmless) => {
    expect(harmlessLine(line)).toBe(harmless);
  });
});
