import { describe, expect, it } from 'vitest';
import { Config } from '../../../src/engine/config/config.ts';
import { fetchPromised, promisorRemotes } from '../../../src/engine/fetch/promised.ts';
import type { GitCall } from '../../../src/engine/settings.ts';

const A = 'a'.repeat(40);
const B = 'b'.repeat(40);

describe('promisorRemotes', () => {
  it('are those that say so, the one of the extension last', () => {
    const values = {
      'remote.one.promisor': 'true',
      'remote.two.promisor': 'true',
      'remote.three.promisor': 'false',
      'extensions.partialClone': 'one',
    };
    expect(promisorRemotes(Config.of(values), {})).toEqual(['two', 'one']);
    expect(promisorRemotes(Config.of(values), { GIT_NO_LAZY_FETCH: '0' })).toEqual(['two', 'one']);
    expect(promisorRemotes(Config.of(values), { GIT_NO_LAZY_FETCH: '1' })).toEqual([]);
    expect(promisorRemotes(Config.of({ 'remote.origin.url': 'x' }), {})).toEqual([]);
  });
});

describe('fetchPromised', () => {
  interface Answer {
    readonly stderr?: string;
    readonly brings?: readonly string[];
  }

  async function run(
    answers: readonly Answer[],
    wanted: readonly string[],
    remotes: readonly string[],
  ): Promise<{ calls: GitCall[]; warnings: string[]; error: unknown }> {
    const calls: GitCall[] = [];
    const warnings: string[] = [];
    const here = new Set<string>();
    let error: unknown = null;
    try {
      await fetchPromised(
        {
          ports: {
            observer: { info: () => undefined, warning: (line) => warnings.push(line), progress: () => undefined },
            git: (call) => {
              const answer = answers[calls.length] ?? {};
              calls.push(call);
              for (const oid of answer.brings ?? []) here.add(oid);
              const { stderr = '' } = answer;
              return Promise.resolve({ exitCode: stderr === '' ? 0 : 128, stdout: Buffer.alloc(0), stderr });
            },
          },
          gitOptions: ['--git-dir=/r'],
          cwd: '/',
          packDirectory: '/nowhere',
          remotes,
          env: { GIT_CONFIG_VALUE_0: 'AUTHORIZATION: basic c2VjcmV0c2VjcmV0' },
          signal: undefined,
          limits: { retryDelayMs: 1 },
        },
        () => wanted.filter((oid) => !here.has(oid)),
      );
    } catch (thrown) {
      error = thrown;
    }
    return { calls, warnings, error };
  }

  it('asks for all in one request, sorted, by standard input', async () => {
    const { calls, error } = await run([{ brings: [A, B] }], [B, A], ['origin', 'other']);
    expect([error, calls.length]).toEqual([null, 1]);
    expect(Buffer.from(calls[0]!.input!).toString()).toBe(`${A}\n${B}\n`);
    expect(calls[0]!.args.slice(-2)).toEqual(['--', 'origin']);
    expect(calls[0]!.args[0]).toBe('--git-dir=/r');
  });

  it('asks nobody when nothing is missing', async () => {
    expect((await run([], [], ['origin'])).calls).toEqual([]);
  });

  it('tries three times when a connection fails, and tells no secret', async () => {
    const stderr =
      "fatal: unable to access 'https://u:c2VjcmV0c2VjcmV0@h/': Could not resolve host: h c2VjcmV0c2VjcmV0";
    const failing = await run([{ stderr }, { stderr }, { stderr }, { brings: [A] }], [A], ['origin']);
    expect([failing.calls.length, failing.warnings.length]).toEqual([3, 2]);
    expect(failing.error).toMatchObject({ code: 'fetch-failed' });
    expect(`${failing.warnings.join()} ${String(failing.error)}`).not.toContain('c2VjcmV0');
    const mended = await run([{ stderr }, { brings: [A] }], [A], ['origin']);
    expect([mended.calls.length, mended.error]).toEqual([2, null]);
  });

  it.each([
    ['fatal: Authentication failed for x', 'authentication-failed'],
    ["fatal: '/x' does not appear to be a git repository", 'fetch-failed'],
    ['fatal: remote error: upload-pack: not our ref aaaa', 'unknown-revision'],
  ])('does not try again after: %s', async (stderr, code) => {
    const { calls, error } = await run([{ stderr }], [A], ['origin']);
    expect(calls.length).toBe(1);
    expect(error).toMatchObject({ code });
  });

  it('asks the next remote for what is still missing', async () => {
    const stderr = "fatal: '/x' does not appear to be a git repository";
    const { calls, error } = await run([{ brings: [A] }, { stderr }, { brings: [B] }], [A, B], ['one', 'two', 'three']);
    expect(error).toBeNull();
    expect(calls.map(({ input }) => Buffer.from(input!).toString())).toEqual([`${A}\n${B}\n`, `${B}\n`, `${B}\n`]);
  });

  it('says what no remote sent', async () => {
    const { error } = await run([{ brings: [A] }], [A, B], ['origin']);
    expect(error).toMatchObject({ code: 'object-missing', subject: { oid: B } });
  });
});
