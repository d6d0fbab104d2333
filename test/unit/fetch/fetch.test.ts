import { describe, expect, it } from 'vitest';
import { parseRemoteHead, planCloneRefspecs } from '../../../src/engine/fetch/clone-plan.ts';
import { fetchArgs } from '../../../src/engine/fetch/fetch.ts';
import { fetchError } from '../../../src/engine/fetch/fetch-error.ts';
import { isMeterInMotion, receivingProgress } from '../../../src/engine/fetch/fetch-progress.ts';
import { redactor, redactUrls } from '../../../src/engine/fetch/redact.ts';
import type { FetchRequest } from '../../../src/engine/settings.ts';

const request: FetchRequest = {
  directory: '/d',
  remote: 'origin',
  refspecs: ['+refs/heads/a:refs/remotes/origin/a'],
  tags: false,
  prune: true,
  progress: false,
  transport: 'auto',
};

describe('fetchArgs', () => {
  const after = (over: Partial<FetchRequest>): string[] => {
    const args = fetchArgs({ ...request, ...over });
    return args.slice(args.indexOf('fetch') + 1);
  };

  it('follow the request', () => {
    expect(after({})).toEqual([
      '--no-tags',
      '--prune',
      '--no-recurse-submodules',
      '--progress',
      '--',
      'origin',
      '+refs/heads/a:refs/remotes/origin/a',
    ]);
    expect(after({ tags: true, prune: false, progress: true, depth: 3, filter: 'blob:none' })).toEqual([
      '--no-recurse-submodules',
      '--progress',
      '--filter=blob:none',
      '--depth=3',
      '--',
      'origin',
      '+refs/heads/a:refs/remotes/origin/a',
    ]);
    expect(after({ unshallow: true })).toContain('--unshallow');
    expect(fetchArgs(request, [{ key: 'a.b', value: 'c' }]).slice(0, 2)).toEqual(['-c', 'a.b=c']);
    expect(fetchArgs(request)).toContain('protocol.version=2');
    expect(fetchArgs(request)).not.toContain('fetch.unpackLimit=1');
    expect(fetchArgs(request, [], true)).toContain('fetch.unpackLimit=1');
  });

  it('refuse what cannot be', () => {
    for (const over of [
      { depth: 0 },
      { depth: 1.5 },
      { depth: NaN },
      { depth: 2 ** 31 },
      { depth: 1, unshallow: true },
    ]) {
      expect(() => fetchArgs({ ...request, ...over })).toThrow(expect.objectContaining({ code: 'usage' }));
    }
  });
});

describe('redaction', () => {
  it('takes user information out of URLs', () => {
    expect(redactUrls("fatal: unable to access 'https://u:p@ss:w@host/x@y/': no")).toBe(
      "fatal: unable to access 'https://host/x@y/': no",
    );
    expect(redactUrls('ssh://git@h/x https://h/ git@h:x')).toBe('ssh://h/x https://h/ git@h:x');
  });

  it('takes out what an environment holds, whole or in part', () => {
    const redact = redactor({
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'http.https://github.com/.extraheader',
      GIT_CONFIG_VALUE_0: 'AUTHORIZATION: basic c2VjcmV0LXNlY3JldA==',
      SWITCH: 'true',
    });
    expect(redact('x AUTHORIZATION: basic c2VjcmV0LXNlY3JldA== y')).toBe('x *** y');
    expect(redact('c2VjcmV0LXNlY3JldA==')).toBe('***');
    const older = redactor({
      GIT_CONFIG_PARAMETERS: "'a.b=c' 'http.x.extraheader=AUTHORIZATION: basic c2VjcmV0LXNlY3JldA=='",
    });
    expect(older('x c2VjcmV0LXNlY3JldA== y')).toBe('x *** y');
    expect(redact('true http.https://github.com/.extraheader')).toBe('true http.https://github.com/.extraheader');
  });
});

describe('fetchError', () => {
  const error = (stderr: string): { code: string; message: string } => fetchError(stderr, 128, 'fetch', redactUrls);

  it.each([
    ["fatal: Authentication failed for 'https://u:p@h/x/'", 'authentication-failed'],
    ["fatal: could not read Username for 'https://h': terminal prompts disabled", 'authentication-failed'],
    ["fatal: unable to access 'https://h/x/': The requested URL returned error: 403", 'authentication-failed'],
    [
      'git@h: Permission denied (publickey).\nfatal: Could not read from remote repository.\n\nPlease make sure',
      'authentication-failed',
    ],
    ["fatal: couldn't find remote ref refs/heads/x", 'unknown-revision'],
    ['error: Server does not allow request for unadvertised object abc', 'unknown-revision'],
    ['fatal: remote error: upload-pack: not our ref abc\nfatal: the remote end hung up', 'unknown-revision'],
    ["fatal: unable to access 'https://h/x/': Could not resolve host: h", 'fetch-failed'],
    ["remote: Repository not found.\nfatal: repository 'https://h/x/' not found", 'fetch-failed'],
    ['fatal: the remote end hung up unexpectedly\nfatal: early EOF', 'fetch-failed'],
    ['', 'fetch-failed'],
  ])('%j', (stderr, code) => {
    const { code: actual, message } = error(stderr);
    expect(actual).toBe(code);
    expect(message).not.toMatch(/\n|u:p/);
  });

  it('tells the cause, not its echo', () => {
    expect(
      error('fatal: the remote end hung up unexpectedly\nfatal: early EOF\nerror: index-pack died\n').message,
    ).toBe('fetch failed: index-pack died');
    expect(error('error: RPC failed; curl 18\nfatal: early EOF').message).toBe('fetch failed: RPC failed; curl 18');
    expect(
      error('error: RPC failed; HTTP 502 curl 22 returned error: 502\nfatal: expected flush after ref listing').message,
    ).toBe('fetch failed: RPC failed; HTTP 502 curl 22 returned error: 502');
    expect(error('fatal: remote-curl: bad line length character: garb\nfatal: unpack-objects failed').message).toBe(
      'fetch failed: remote-curl: bad line length character: garb',
    );
    expect(error('').message).toBe('fetch failed: git ended with status 128');
    expect(error(`fatal: \x1b[31m${'x'.repeat(10_000)}`).message.length).toBeLessThan(600);
  });
});

describe('progress', () => {
  it('reads the meter', () => {
    expect(receivingProgress('Receiving objects:  45% (450/1000), 1.50 MiB | 3.00 MiB/s')).toEqual({
      phase: 'fetch',
      filesDone: 450,
      filesTotal: 1000,
      bytesDone: 1_572_864,
    });
    expect(receivingProgress('Receiving objects: 100% (3/3), done.')?.filesDone).toBe(3);
    expect(receivingProgress('remote: Counting objects: 45% (450/1000)')).toBeNull();
  });

  it('tells a meter in motion from a line for the log', () => {
    for (const line of [
      'remote: Counting objects:  45% (450/1000)',
      'Resolving deltas:   0% (0/10)',
      'remote: Enumerating objects: 5',
    ]) {
      expect(isMeterInMotion(line)).toBe(true);
    }
    for (const line of [
      'Receiving objects: 100% (3/3), 1 KiB, done.',
      'From https://h/x',
      'remote: Total 3 (delta 0), reused 0',
      ' * branch 0123 -> FETCH_HEAD',
    ]) {
      expect(isMeterInMotion(line)).toBe(false);
    }
  });
});

describe('planCloneRefspecs', () => {
  const sha = 'a'.repeat(40);
  const head = { kind: 'branch', branch: 'trunk' } as const;

  it('takes one branch with a depth, and everything without', () => {
    expect(planCloneRefspecs(undefined, 1, head)).toEqual([
      {
        refspecs: ['+refs/heads/trunk:refs/remotes/origin/trunk'],
        tags: true,
        configuredRefspec: '+refs/heads/trunk:refs/remotes/origin/trunk',
        target: { kind: 'branch', branch: 'trunk', startPoint: 'refs/remotes/origin/trunk' },
        remoteHead: 'trunk',
      },
    ]);
    const [all] = planCloneRefspecs(undefined, undefined, head);
    expect(all!.refspecs).toContain('+refs/heads/*:refs/remotes/origin/*');
    expect(all!.refspecs).toContain('+refs/tags/*:refs/tags/*');
    expect(all!.configuredRefspec).toBe('+refs/heads/*:refs/remotes/origin/*');
  });

  it('tries a short name as a branch, then as a tag', () => {
    const plans = planCloneRefspecs('v1', 1, null);
    expect(plans.map(({ refspecs }) => refspecs)).toEqual([
      ['+refs/heads/v1:refs/remotes/origin/v1'],
      ['+refs/tags/v1:refs/tags/v1'],
    ]);
    expect(plans[1]!.target).toEqual({ kind: 'detach', revision: 'refs/tags/v1' });
  });

  it('takes full refs and ids as they are', () => {
    expect(planCloneRefspecs('refs/heads/a/b', 1, null)[0]!.target).toMatchObject({ branch: 'a/b' });
    expect(planCloneRefspecs('refs/pull/7/merge', 1, null)[0]).toMatchObject({
      refspecs: ['+refs/pull/7/merge:refs/remotes/pull/7/merge'],
      target: { kind: 'detach', revision: 'refs/remotes/pull/7/merge' },
    });
    expect(planCloneRefspecs(sha.toUpperCase(), 1, null)).toMatchObject([
      { refspecs: [sha], target: { revision: sha } },
    ]);
    expect(planCloneRefspecs(sha, undefined, null)[1]!.refspecs).not.toContain(sha);
    expect(planCloneRefspecs(undefined, 1, { kind: 'detached', oid: sha })[0]!.refspecs).toEqual([sha]);
    expect(planCloneRefspecs(undefined, 1, { kind: 'empty' })).toEqual([]);
  });

  it.each(['', '-x', 'a b', 'a:b', 'refs/heads/a..b', '+x', '^x'])('refuses %j', (ref) => {
    if (ref === '+x')
      expect(planCloneRefspecs(ref, 1, null)[0]!.refspecs[0]).toBe('+refs/heads/+x:refs/remotes/origin/+x');
    else expect(() => planCloneRefspecs(ref, 1, null)).toThrow(expect.objectContaining({ code: 'usage' }));
  });

  it('reads what ls-remote says', () => {
    expect(parseRemoteHead(`ref: refs/heads/trunk\tHEAD\n${sha}\tHEAD\n`)).toEqual(head);
    expect(parseRemoteHead(`${sha}\tHEAD\n`)).toEqual({ kind: 'detached', oid: sha });
    expect(parseRemoteHead(`ref: refs/heads/..\tHEAD\n${sha}\tHEAD\n`)).toEqual({ kind: 'detached', oid: sha });
    expect(parseRemoteHead('')).toEqual({ kind: 'empty' });
  });
});
