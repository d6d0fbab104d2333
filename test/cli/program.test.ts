// The command line program as a child process, with the real engine and real repositories.
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Plan, Report } from '../../src/engine/report/report.ts';
import { programPath } from '../support/programs.ts';

const PROGRAM = programPath('cli');
const FILES = 120;

let root: string;
let origin: string;

/** git's environment for a machine whose own settings must not count. */
function environment(): NodeJS.ProcessEnv {
  const { PATH, SystemRoot } = process.env;
  return {
    ...(PATH === undefined ? {} : { PATH }),
    ...(SystemRoot === undefined ? {} : { SystemRoot }),
    HOME: root,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_NAME: 'A',
    GIT_AUTHOR_EMAIL: 'a@example.com',
    GIT_COMMITTER_NAME: 'A',
    GIT_COMMITTER_EMAIL: 'a@example.com',
    GIT_TERMINAL_PROMPT: '0',
  };
}

function git(directory: string, ...args: string[]): string {
  return execFileSync('git', args, { cwd: directory, env: environment(), encoding: 'utf8' }).trim();
}

interface Ended {
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly out: string;
  readonly err: string;
}

function start(argv: readonly string[], cwd = root): ChildProcess {
  return spawn(process.execPath, [PROGRAM, ...argv], { cwd, env: environment(), stdio: ['ignore', 'pipe', 'pipe'] });
}

function ended(child: ChildProcess): Promise<Ended> {
  let out = '';
  let err = '';
  child.stdout!.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (err += text));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (status, signal) => resolve({ status, signal, out, err }));
  });
}

const program = (argv: readonly string[], cwd?: string): Promise<Ended> => ended(start(argv, cwd));

beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'parallel-checkout-cli-')));
  origin = join(root, 'origin');
  mkdirSync(join(origin, 'd'), { recursive: true });
  git(origin, 'init', '-q', '-b', 'main');
  for (let i = 0; i < FILES; i++) writeFileSync(join(origin, 'd', `${i}.txt`), `content ${i}\n`.repeat(i));
  git(origin, 'add', '.');
  git(origin, 'commit', '-q', '-m', 'one');
  git(origin, 'tag', 'one');
  writeFileSync(join(origin, 'second.txt'), 'two\n');
  git(origin, 'add', '.');
  git(origin, 'commit', '-q', '-m', 'two');
});

afterAll(() => {
  rmSync(root, { recursive: true, force: true });
});

describe('clone and checkout', () => {
  it('make what git calls clean, and say so on standard output and in the report', async () => {
    const clone = join(root, 'clone');
    const report = join(root, 'clone.json');
    const first = await program(['clone', 'origin', 'clone', '--workers', '2', '--report', report]);
    expect(first).toMatchObject({ status: 0, signal: null });
    expect(first.out).toMatch(/^Checked out 121 files, /);
    expect(git(clone, 'status', '--porcelain')).toBe('');
    expect(git(clone, 'symbolic-ref', 'HEAD')).toBe('refs/heads/main');
    const value = JSON.parse(readFileSync(report, 'utf8')) as Report;
    expect(value).toMatchObject({ schemaVersion: 1, commit: git(origin, 'rev-parse', 'HEAD'), totals: { files: 121 } });
    expect(value.error).toBeUndefined();

    const second = await program(['checkout', 'one', '--json', '--quiet'], clone);
    expect(second).toMatchObject({ status: 0, err: '' });
    expect(JSON.parse(second.out)).toMatchObject({ commit: git(origin, 'rev-parse', 'one'), totals: { removed: 1 } });
    expect(git(clone, 'status', '--porcelain')).toBe('');
    expect(readdirSync(clone).sort()).toEqual(['.git', 'd']);
    expect(readFileSync(join(clone, 'd/119.txt'), 'utf8')).toBe(readFileSync(join(origin, 'd/119.txt'), 'utf8'));
  });

  it('take the repository and the working tree from options', async () => {
    const tree = join(root, 'tree');
    mkdirSync(tree);
    git(root, 'clone', '-q', '--no-checkout', origin, 'elsewhere');
    const run = await program(['checkout', '--git-dir', 'elsewhere/.git', '--work-tree', 'tree', 'main']);
    expect(run).toMatchObject({ status: 0 });
    expect(readFileSync(join(tree, 'second.txt'), 'utf8')).toBe('two\n');
  });
});

describe('clone --sparse', () => {
  it('takes patterns; a later checkout stays sparse, takes directories, and is full again', async () => {
    const native = { engine: 'native', fallbacks: [] };
    const clone = ['clone', 'origin', 'sparse', '--sparse', '/second.txt', '--no-cone', '--sparse', '/d/1*.txt'];
    const cloned = await program([...clone, '--json']);
    expect(cloned).toMatchObject({ status: 0 });
    expect(JSON.parse(cloned.out)).toMatchObject(native);
    const sparse = join(root, 'sparse');
    const seen = (): string[] => readdirSync(sparse).sort();
    const clean = (): void => expect(git(sparse, 'status', '--porcelain')).toBe('');
    expect(seen()).toEqual(['.git', 'd', 'second.txt']);
    expect(readdirSync(join(sparse, 'd')).every((name) => /^1.*\.txt$/.test(name))).toBe(true);
    clean();
    expect(git(sparse, 'sparse-checkout', 'list')).toBe('/second.txt\n/d/1*.txt');

    const here = async (...options: string[]): Promise<Report> => {
      const run = await program(['checkout', ...options, '--json'], sparse);
      expect(run, run.err).toMatchObject({ status: 0 });
      return JSON.parse(run.out) as Report;
    };
    const again = await here();
    expect(again).toMatchObject({ ...native, totals: { files: 0 } });
    expect(again.totals.excluded).toBeGreaterThan(0);

    expect(await here('--sparse', 'none')).toMatchObject(native);
    expect(git(sparse, 'sparse-checkout', 'list')).toBe('none');
    expect(seen()).not.toContain('d');
    clean();

    expect(await here('--no-sparse')).toMatchObject({ ...native, totals: { excluded: 0 } });
    expect(git(sparse, 'ls-files', '-t')).not.toContain('S ');
    expect(readdirSync(join(sparse, 'd'))).toEqual(readdirSync(join(root, 'origin', 'd')));
    expect(git(sparse, 'config', 'core.sparseCheckout')).toBe('false');
    clean();
  });

  it('is set up and ended with git as the engine, too', async () => {
    const options = ['--engine', 'git', '--json'];
    const cloned = await program(['clone', 'origin', 'by-git', '--sparse', 'none', ...options]);
    expect(cloned).toMatchObject({ status: 0 });
    expect((JSON.parse(cloned.out) as Report).totals.excluded).toBeGreaterThan(0);
    const directory = join(root, 'by-git');
    expect(readdirSync(directory)).not.toContain('d');
    expect(await program(['checkout', '--no-sparse', ...options], directory)).toMatchObject({ status: 0 });
    expect(readdirSync(join(directory, 'd'))).toEqual(readdirSync(join(root, 'origin', 'd')));
    expect(git(directory, 'status', '--porcelain')).toBe('');
  });
});

describe('plan', () => {
  async function reasonsOf(...argv: string[]): Promise<string[]> {
    const run = await program(['plan', ...argv, '--json']);
    expect(run).toMatchObject({ status: 0, err: '' });
    return (JSON.parse(run.out) as Plan).reasons.map(({ text }) => text);
  }

  it('counts the files of the repository: in the index, and without one in HEAD', async () => {
    expect((await reasonsOf('origin')).join()).toContain('121 files');
    git(root, 'clone', '-q', '--no-checkout', origin, 'no-checkout');
    git(join(root, 'no-checkout'), 'reset', '-q', '--soft', 'HEAD');
    rmSync(join(root, 'no-checkout/.git/index'), { force: true });
    expect((await reasonsOf('no-checkout')).join()).toContain('121 files');
    git(root, 'init', '-q', 'unborn');
    expect((await reasonsOf('unborn')).join()).toContain('0 files, fewer than');
  });

  it('says what it assumes where there is no repository, and what it makes of each option', async () => {
    const nowhere = mkdtempSync(join(tmpdir(), 'parallel-checkout-none-'));
    try {
      expect((await reasonsOf(nowhere)).join()).toContain('git finds no repository here: 100000 files are assumed');
    } finally {
      rmSync(nowhere, { recursive: true, force: true });
    }
    const options = ['--files', '7', '--bytes', '1.4GB', '--engine', 'git', '--transport', 'git'];
    const reasons = (await reasonsOf('origin', ...options)).join('\n');
    expect(reasons).toContain('7 files, fewer than');
    expect(reasons).toContain('1400000000 bytes: no bound');
    expect(reasons.match(/git, as asked for/g)).toHaveLength(2);
    expect(reasons).not.toContain('121');
    expect((await reasonsOf('origin', '--transport', 'stream')).join('\n')).toContain('stream, as asked for');
  });

  it("heeds the repository's own settings", async () => {
    git(root, 'clone', '-q', origin, 'configured');
    git(join(root, 'configured'), 'config', 'checkout.thresholdForParallelism', '200');
    git(join(root, 'configured'), 'config', 'submodule.recurse', 'true');
    const reasons = await reasonsOf('configured');
    expect(reasons).toContain(
      '121 files, fewer than the 200 of checkout.thresholdForParallelism from which workers are started',
    );
    expect(reasons).toContain('git: submodule.recurse is set');
    const native = await program(['plan', 'configured', '--engine', 'native']);
    expect(native).toMatchObject({ status: 1, out: '' });
    expect(native.err).toMatch(/submodule\.recurse is set/);
  });

  it('says what it would do and why, and changes nothing', async () => {
    const before = readdirSync(origin);
    const text = await program(['plan', 'origin', '--files', '90000', '--bytes', '1.4GB']);
    expect(text).toMatchObject({ status: 0 });
    expect(text.out).toMatch(/^Plan: /);
    const json = await program(['plan', 'origin', '--files', '90000', '--workers', '1', '--json']);
    expect(json).toMatchObject({ status: 0 });
    const plan = JSON.parse(json.out) as Plan;
    expect(plan.workers).toBeLessThanOrEqual(1);
    expect(plan.reasons.length).toBeGreaterThan(0);
    expect(readdirSync(origin)).toEqual(before);
  });
});

describe('a failure', () => {
  it('is one line that names what is wrong, and status 1', async () => {
    const run = await program(['checkout', 'no-such-branch'], origin);
    expect(run).toMatchObject({ status: 1, out: '' });
    expect(run.err).toMatch(/^parallel-checkout: [^\n]*no-such-branch[^\n]*\n$/);
    expect(git(origin, 'status', '--porcelain')).toBe('');
  });

  it('has its code in the JSON', async () => {
    const nowhere = mkdtempSync(join(tmpdir(), 'parallel-checkout-none-'));
    try {
      const run = await program(['checkout', '--json', '--report', 'r.json'], nowhere);
      expect(run).toMatchObject({ status: 1 });
      expect(run.err).toMatch(/^parallel-checkout: [^\n]+\n$/);
      expect(JSON.parse(run.out)).toMatchObject({ schemaVersion: 1, error: { code: 'not-a-repository' } });
      expect(readFileSync(join(nowhere, 'r.json'), 'utf8')).toBe(run.out);
    } finally {
      rmSync(nowhere, { recursive: true, force: true });
    }
  });

  it('is status 2 for wrong usage', async () => {
    const run = await program(['checkout', '--workers', '-3']);
    expect(run).toMatchObject({ status: 2, out: '' });
    expect(run.err).toMatch(/^parallel-checkout: --workers /);
    expect(await program([])).toMatchObject({ status: 2, out: '' });
  });
});

it('prints help and version', async () => {
  const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')) as {
    version: string;
  };
  expect(await program(['--version'])).toMatchObject({ status: 0, out: `${version}\n`, err: '' });
  const help = await program(['clone', '--help']);
  expect(help).toMatchObject({ status: 0, err: '' });
  expect(help.out).toMatch(/^usage: parallel-checkout clone/);
});

it('does not mind a reader that leaves', async () => {
  const child = start(['--help']);
  child.stdout!.destroy();
  const run = await ended(child);
  expect(run).toMatchObject({ status: 0, signal: null, err: '' });
});

// Windows has no signals that a program could catch from another process.
describe.skipIf(process.platform === 'win32')('a signal', () => {
  let server: Server;
  const sockets = new Set<Socket>();

  beforeAll(async () => {
    server = createServer((socket) => sockets.add(socket.on('error', () => undefined)));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });

  afterAll(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });

  it('is left after the time that is given', async () => {
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('the server has no port');
    const url = `http://127.0.0.1:${address.port}/r.git`;
    const [stalled, late] = await Promise.all([
      program(['clone', url, 'stalled', '--fetch-retries', '0', '--fetch-stall-timeout', '1']),
      program(['clone', url, 'late', '--fetch-stall-timeout=0', '--fetch-timeout=1']),
    ]);
    expect([stalled.status, late.status]).toEqual([1, 1]);
    expect(stalled.err).toMatch(/nothing came from the server for 1 s\n$/);
    expect(late.err).toMatch(/it took longer than 1 s\n$/);
    expect(readdirSync(root).filter((name) => ['stalled', 'late'].includes(name))).toEqual([]);
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('%s stops a fetch that hangs with status %d', async (name, status) => {
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('the server has no port');
    const connected = new Promise((resolve) => server.once('connection', resolve));
    const child = start(['clone', `http://127.0.0.1:${address.port}/r.git`, `hangs-${name}`]);
    const end = ended(child);
    await connected;
    child.kill(name);
    const run = await end;
    expect(run).toMatchObject({ status, signal: null, out: '' });
    expect(run.err).toMatch(/(^|\n)parallel-checkout: [^\n]*interrupted[^\n]*\n$/);
    expect(run.err).not.toContain('bug');
  });
});
