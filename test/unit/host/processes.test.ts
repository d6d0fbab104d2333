// Who runs on this machine: read from a folder laid out as /proc, and from the real one.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import {
  activityOf,
  descendantsOf,
  listProcesses,
  openPaths,
  processInfo,
  signalProcess,
  startTime,
  stillRuns,
  tellsActivity,
  variableOf,
  worksIn,
} from '../../../src/engine/host/processes.ts';

const proc = realpathSync(mkdtempSync(join(tmpdir(), 'parallel-checkout-proc-')));
afterAll(() => rmSync(proc, { recursive: true, force: true }));

function lay(pid: number, stat: string, more: { cwd?: string; environ?: string; open?: readonly string[] } = {}): void {
  mkdirSync(join(proc, String(pid), 'fd'), { recursive: true });
  writeFileSync(join(proc, String(pid), 'stat'), stat);
  if (more.cwd !== undefined) symlinkSync(more.cwd, join(proc, String(pid), 'cwd'));
  if (more.environ !== undefined) writeFileSync(join(proc, String(pid), 'environ'), more.environ);
  more.open?.forEach((path, at) => symlinkSync(path, join(proc, String(pid), 'fd', String(at))));
}
const stat = (pid: number, name: string, parent: number, state = 'S', start = 500): string =>
  `${pid} (${name}) ${state} ${parent} ${'0 '.repeat(9)}7 3 ${'0 '.repeat(6)}${start} 0 0\n`;

lay(1, stat(1, 'init', 0));
lay(10, stat(10, 'git', 1), {
  cwd: '/work/repo',
  environ: 'A=1\0STEP=7:9\0',
  open: ['/work/repo/.git/x.lock', 'pipe:[3]'],
});
lay(11, stat(11, 'odd) name (', 10), { cwd: '/work/repo/below' });
lay(12, stat(12, 'git', 11, 'Z'));
lay(13, stat(13, 'git', 11), { cwd: '/work/repository' });
lay(14, 'garbage');
writeFileSync(join(proc, '10', 'io'), 'rchar: 1000\nwchar: 200\nsyscr: 5\n');
writeFileSync(join(proc, '13', 'io'), 'rchar: 30\nwchar: 4\n');
writeFileSync(join(proc, 'stat'), 'cpu 1 2 3\nbtime 1700000000\n');
const at = (pid: number): NonNullable<ReturnType<typeof processInfo>> => processInfo(pid, proc)!;

describe('a laid-out /proc', () => {
  it('shows who runs, whatever their names', () => {
    expect(listProcesses(proc).map(({ pid, name, parent }) => [pid, name, parent])).toEqual([
      [1, 'init', 0],
      [10, 'git', 1],
      [11, 'odd) name (', 10],
      [13, 'git', 11],
    ]);
    expect(listProcesses(join(proc, 'nowhere'))).toEqual([]);
    expect(descendantsOf(10, listProcesses(proc)).map(({ pid }) => pid)).toEqual([11, 13]);
    expect(descendantsOf(99, listProcesses(proc))).toEqual([]);
  });

  it('shows where they work, since when, and with what', () => {
    expect([10, 11, 13].map((pid) => worksIn(at(pid), '/work/repo', proc))).toEqual([true, true, false]);
    expect(worksIn(at(1), '/', proc)).toBe(false);
    expect(worksIn(at(10), '/', proc)).toBe(true);
    expect(startTime(at(10), proc)).toBe(1_700_000_005_000);
    expect([variableOf(at(10), 'STEP', proc), variableOf(at(10), 'TEP', proc)]).toEqual(['7:9', undefined]);
    expect(variableOf(at(1), 'STEP', proc)).toBeUndefined();
    expect(activityOf(10, proc)).toEqual({ bytes: 1234, ms: 300 });
    expect(activityOf(99, proc)).toEqual({ bytes: 0, ms: 0 });
    expect(tellsActivity(proc)).toBe(false);
    expect(openPaths(at(10), proc)).toEqual(['/work/repo/.git/x.lock', 'pipe:[3]']);
  });
});

describe.skipIf(process.platform !== 'linux')('the real one', () => {
  it('shows a child until it ends, and takes no other for it', async () => {
    const child = spawn('sleep', ['60'], { cwd: proc, env: { ...process.env, MARK: 'here' } });
    await once(child, 'spawn');
    const info = processInfo(child.pid!)!;
    expect(info.parent).toBe(process.pid);
    expect(Math.abs(startTime(info) - Date.now())).toBeLessThan(5000);
    expect(descendantsOf(process.pid, listProcesses()).map(({ pid }) => pid)).toContain(child.pid);
    expect([worksIn(info, proc), stillRuns(info)]).toEqual([true, true]);
    signalProcess({ ...info, startTicks: info.startTicks - 1 }, 'SIGKILL');
    expect(stillRuns(info)).toBe(true);
    signalProcess(info, 'SIGTERM');
    await once(child, 'exit');
    expect(stillRuns(info)).toBe(false);
    signalProcess(info, 'SIGTERM');
  });
});
