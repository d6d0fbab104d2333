import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  candidateNames,
  isPerWorktree,
  isValidBranchName,
  isValidRefName,
} from '../../../src/engine/refs/ref-names.ts';
import { conflictingPackedRef, findPackedRef, parseLooseRef } from '../../../src/engine/refs/read-refs.ts';

const A = 'a'.repeat(40);
const B = 'b'.repeat(40);

function gitAccepts(...args: string[]): boolean {
  try {
    execFileSync('git', ['check-ref-format', ...args], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

describe('names', () => {
  it.each([
    'HEAD',
    '@',
    'refs/heads/a',
    'refs/heads/.a',
    'refs/heads/a.lock',
    'refs/heads/a.lock/b',
    'a..b',
    'a.',
    'a/',
    '/a',
    'a//b',
    'a@{b',
    'a@b',
    'a b',
    'a~',
    'a^',
    'a:',
    'a?',
    'a*',
    'a[',
    'a\\',
    'a\x7f',
    'ü',
    'refs/heads/-a',
    'refs/heads/-',
    'a.b',
    'refs/heads/@',
    'refs/../x',
  ])('%j is valid when git says so', (name) => {
    expect(isValidRefName(name)).toBe(gitAccepts('--allow-onelevel', name));
  });

  it('agrees with git on generated names', () => {
    const piece = fc.constantFrom('a', 'B', '/', '.', '..', '@', '{', '@{', '.lock', '-', '*', '~', ' ', 'refs', 'ü');
    fc.assert(
      fc.property(fc.array(piece, { minLength: 1, maxLength: 6 }), (pieces) => {
        const name = pieces.join('');
        // The tool reads a leading dash as an option.
        if (!name.startsWith('-')) expect(isValidRefName(name)).toBe(gitAccepts('--allow-onelevel', name));
      }),
      { numRuns: 150 },
    );
  });

  it.each(['a', '-a', 'HEAD', 'a/HEAD', '@', 'a..b'])('branch %j', (name) => {
    expect(isValidBranchName(name)).toBe(gitAccepts('--branch', name));
  });

  it('belong to the working tree or to the repository', () => {
    expect(['HEAD', 'FETCH_HEAD', 'refs/bisect/bad', 'refs/worktree/x'].every(isPerWorktree)).toBe(true);
    expect(['refs/heads/x', 'refs/tags/x', 'refs/worktreex/y'].some(isPerWorktree)).toBe(false);
  });

  it('never turn into other files of the git directory', () => {
    for (const file of ['config', 'index', 'logs/HEAD', 'objects/x']) expect(candidateNames(file)).not.toContain(file);
  });
});

describe('loose refs', () => {
  it('hold an id or a name', () => {
    expect(parseLooseRef(`${A}\n`, 'x')).toEqual({ kind: 'oid', oid: A });
    expect(parseLooseRef(A.toUpperCase(), 'x')).toEqual({ kind: 'oid', oid: A });
    expect(parseLooseRef(`${A}\t\tbranch 'x' of y\n${B}`, 'FETCH_HEAD')).toEqual({ kind: 'oid', oid: A });
    expect(parseLooseRef('ref: refs/heads/main\n', 'HEAD')).toEqual({ kind: 'symbolic', target: 'refs/heads/main' });
    expect(parseLooseRef('ref:refs/heads/main', 'HEAD')).toEqual({ kind: 'symbolic', target: 'refs/heads/main' });
  });

  it.each([
    '',
    '\n',
    A.slice(1),
    `${A}x`,
    '0'.repeat(40),
    'ref: ../../etc/passwd',
    'ref: refs/heads/../../x',
    'ref: ',
    'ref: refs/heads/a\nb',
  ])('refuse %j', (text) => {
    expect(() => parseLooseRef(text, 'x')).toThrow(expect.objectContaining({ code: 'unknown-revision' }));
  });
});

it('a symbolic ref ends within 4 KiB', () => {
  const code = { code: 'unknown-revision' };
  expect(() => parseLooseRef(`ref: refs/heads/${'a'.repeat(5000)}`, 'x')).toThrow(expect.objectContaining(code));
});

describe('packed-refs', () => {
  const packed = Buffer.from(
    `# pack-refs with: peeled fully-peeled sorted \n${A} refs/heads/a/b\n${B} refs/heads/main\n${A} refs/tags/v1\n^${B}\n${B} refs/tags/v1.0\n`,
  );

  it('finds exact names only', () => {
    expect(findPackedRef(packed, 'refs/heads/main')).toEqual({ kind: 'oid', oid: B });
    expect(findPackedRef(packed, 'refs/tags/v1')).toEqual({ kind: 'oid', oid: A });
    expect(findPackedRef(packed, 'refs/tags/v1.0')).toEqual({ kind: 'oid', oid: B });
    for (const name of ['refs/heads/mai', 'heads/main', 'main', 'refs/tags/v', 'refs/heads/a', 'sorted', 'peeled']) {
      expect(findPackedRef(packed, name)).toBeNull();
    }
  });

  it('is not misled by broken lines', () => {
    const broken = Buffer.from(
      `x refs/heads/m\n${A}a refs/heads/m\n${'0'.repeat(40)} refs/heads/m\n${B} refs/heads/m\n${A} refs/heads/end`,
    );
    expect(findPackedRef(broken, 'refs/heads/m')).toEqual({ kind: 'oid', oid: B });
    expect(findPackedRef(broken, 'refs/heads/end')).toBeNull();
    expect(findPackedRef(Buffer.alloc(0), 'refs/heads/m')).toBeNull();
  });

  it('finds what a new ref would collide with', () => {
    expect(conflictingPackedRef(packed, 'refs/heads/a')).toBe('refs/heads/a/b');
    expect(conflictingPackedRef(packed, 'refs/heads/main/x/y')).toBe('refs/heads/main');
    expect(conflictingPackedRef(packed, 'refs/heads/a/c')).toBeNull();
    expect(conflictingPackedRef(packed, 'refs/heads/main')).toBeNull();
  });
});
