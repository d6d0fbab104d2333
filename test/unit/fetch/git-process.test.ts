import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { LineSplitter, MAX_STDOUT_BYTES, spawnGit } from '../../../src/engine/fetch/git-process.ts';

const folder = mkdtempSync(join(tmpdir(), 'parallel-checkout-process-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let count = 0;

/** An environment in which `git` is this shell script. */
function fakeGit(script: string): { PATH: string } {
  const path = join(folder, String(++count));
  rmSync(path, { recursive: true, force: true });
  const bin = mkdtempSync(`${path}-`);
  writeFileSync(join(bin, 'git'), `#!/bin/sh\n${script}\n`);
  chmodSync(join(bin, 'git'), 0o755);
  return { PATH: `${bin}${delimiter}${process.env['PATH'] ?? ''}` };
}

describe('spawnGit', () => {
  it('runs git without a shell, in the directory and with the environment given', async () => {
    const result = await spawnGit({
      args: ['-c', 'alias.x=!printf "%s|%s" "$V" "$1" && pwd', 'x', '$HOME; `id` "q"'],
      cwd: folder,
      env: { V: 'value' },
    });
    expect(result.exitCode).toBe(0);
    expect(result.stdout.toString()).toContain('value|$HOME; `id` "q"');
    expect(result.stdout.toString()).toContain(folder);
  });

  it('hands input over, and keeps bytes bytes', async () => {
    const input = Buffer.from([0, 255, 10, 13, 128]);
    const result = await spawnGit({ args: ['stripspace'], input: Buffer.from('a  \n\n\n') });
    expect(result.stdout.toString()).toBe('a\n');
    const raw = await spawnGit({ args: ['x'], env: fakeGit('exec cat'), input });
    expect(raw.stdout.equals(input)).toBe(true);
  });

  it('survives a git that does not read its input', async () => {
    const result = await spawnGit({ args: ['x'], env: fakeGit('exit 3'), input: Buffer.alloc(4_000_000) });
    expect(result.exitCode).toBe(3);
  });

  it('gives status and message of a failure, and 128 + the number for a signal', async () => {
    const failed = await spawnGit({ args: ['no-such-command'], env: { LC_ALL: 'C' } });
    expect(failed.exitCode).toBe(1);
    expect(failed.stderr).toContain("'no-such-command' is not a git command");
    expect((await spawnGit({ args: ['x'], env: fakeGit('kill -9 $$') })).exitCode).toBe(137);
  });

  it.skipIf(process.platform === 'win32')(
    'gives the trace of HTTP headers, unless it is somebody’s already',
    async () => {
      const env = fakeGit('echo "$GIT_TRACE_CURL,$GIT_TRACE_CURL_NO_DATA"; [ -e /dev/fd/3 ] && printf "a\\nb" >&3');
      const traced: string[] = [];
      const onHttpTraceLine = (line: string): void => void traced.push(line);
      const result = await spawnGit({ args: ['x'], env, onHttpTraceLine });
      expect([result.stdout.toString(), traced]).toEqual(['3,1\n', ['a', 'b']]);
      const theirs = await spawnGit({ args: ['x'], env: { ...env, GIT_TRACE_CURL: '/dev/null' }, onHttpTraceLine });
      expect([theirs.stdout.toString(), traced.length]).toEqual(['/dev/null,\n', 2]);
      const none = await spawnGit({ args: ['x'], env });
      expect([none.stdout.toString(), traced.length]).toEqual([',\n', 2]);
    },
  );

  it('gives lines of standard error as they come, and keeps the last 64 KiB', async () => {
    const lines: string[] = [];
    const result = await spawnGit({
      args: ['x'],
      env: fakeGit(
        `printf 'a 1%%\\ra 2%%\\r\\nend' >&2; i=0; while [ $i -lt 100 ]; do printf '%02048d' $i >&2; i=$((i+1)); done`,
      ),
      onStderrLine: (line) => lines.push(line),
    });
    expect(lines.slice(0, 2)).toEqual(['a 1%', 'a 2%']);
    expect(lines[2]!.startsWith('end0000')).toBe(true);
    expect(lines.join('').length).toBe(4 + 4 + 3 + 204_800);
    expect(Buffer.byteLength(result.stderr)).toBe(64 * 1024);
    expect(result.stderr.endsWith('099')).toBe(true);
  });

  it('says that git is missing, or the directory', async () => {
    await expect(spawnGit({ args: ['version'], env: { PATH: folder } })).rejects.toMatchObject({ code: 'git-missing' });
    await expect(spawnGit({ args: ['version'], cwd: join(folder, 'none') })).rejects.toMatchObject({
      code: 'io',
      message: expect.stringContaining('no such directory') as string,
    });
  });

  it('refuses an argument with a NUL byte instead of hanging', async () => {
    await expect(spawnGit({ args: ['a\0b'] })).rejects.toMatchObject({ name: 'CheckoutError' });
  });

  it('stops git on abort, lets it clean up, and waits for its end', async () => {
    const mark = join(folder, 'cleaned');
    const controller = new AbortController();
    const running = spawnGit({
      args: ['x'],
      env: fakeGit(`trap 'sleep 0.1; : > "${mark}"; exit 143' TERM; echo ready >&2; while :; do sleep 0.05; done`),
      signal: controller.signal,
      onStderrLine: () => controller.abort(),
    });
    await expect(running).rejects.toMatchObject({ code: 'interrupted' });
    expect(existsSync(mark)).toBe(true);
    await expect(spawnGit({ args: ['version'], signal: controller.signal })).rejects.toMatchObject({
      code: 'interrupted',
    });
  });

  it.each([
    [['fetch', 'origin'], 'git fetch'],
    [['-c', 'gc.auto=0', '-c', 'protocol.version=2', 'ls-remote', '--symref'], 'git ls-remote'],
    [
      ['-C', 'folder', '--git-dir', 'x', '--work-tree=y', '--no-pager', '--exec-path=/x', 'checkout', '-q'],
      'git checkout',
    ],
    [['--version'], 'git'],
  ])('names the command of %j in its messages', async (args, name) => {
    const signal = AbortSignal.abort();
    await expect(spawnGit({ args, signal })).rejects.toThrow(`${name} was interrupted`);
  });

  it('does not wait for a process that git left behind with its pipes', async () => {
    const start = performance.now();
    const result = await spawnGit({ args: ['x'], env: fakeGit('sleep 20 & echo out; echo $! ') });
    const [out, pid] = result.stdout.toString().split('\n');
    process.kill(Number(pid));
    expect(out).toBe('out');
    expect(result.exitCode).toBe(0);
    expect(performance.now() - start).toBeLessThan(5000);
  });

  it('stops a git that prints without end', async () => {
    const running = spawnGit({ args: ['x'], env: fakeGit(`exec head -c ${MAX_STDOUT_BYTES + 1} /dev/zero`) });
    await expect(running).rejects.toMatchObject({ code: 'git-failed' });
  });
});

describe('LineSplitter', () => {
  it('keeps characters whole across chunks', () => {
    const lines: string[] = [];
    const splitter = new LineSplitter((line) => lines.push(line));
    for (const byte of Buffer.from('é\r\n\nü')) splitter.push(Buffer.from([byte]));
    splitter.end();
    expect(lines).toEqual(['é', 'ü']);
  });
});
