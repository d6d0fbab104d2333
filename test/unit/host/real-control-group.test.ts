/**
 * The probe against the kernel itself: a control group with limits is made below our own, a process is put into it, and
 * what it finds out is compared with what was set. Needs root and a writable cgroup mount; skipped where there is none.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { HostFacts } from '../../../src/engine/host-facts.ts';

const MEMORY_LIMIT = 400 * 2 ** 20;
const PIDS_LIMIT = 70;
const NAME = `parallel-checkout-test-${process.pid}`;

const made: string[] = [];

afterEach(() => {
  for (const folder of made.splice(0)) rmdirSync(folder);
});

/** Path of our group in the hierarchy of a version 1 controller, or of version 2 (''). */
function membership(controller: string): string | undefined {
  const lines = readFileSync('/proc/self/cgroup', 'utf8').split('\n');
  return lines.map((line) => line.split(':')).find(([, names]) => (names ?? '').split(',').includes(controller))?.[2];
}

/** Makes a group in `parent`, sets its limits, and returns its cgroup.procs; null where that is not allowed. */
function makeGroup(parent: string, limits: Readonly<Record<string, string>>): string | null {
  const folder = `${parent}/${NAME}`;
  try {
    mkdirSync(folder);
  } catch {
    return null;
  }
  made.push(folder);
  try {
    for (const [file, value] of Object.entries(limits)) writeFileSync(`${folder}/${file}`, value);
  } catch {
    return null;
  }
  return `${folder}/cgroup.procs`;
}

/** Groups that set a quota of 0.5, the memory limit and the pids limit, as the machine has version 1 or 2. */
function makeGroups(): string[] | null {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return null;
  if (existsSync('/sys/fs/cgroup/cgroup.controllers')) {
    // In version 2 a group with processes has no children with controllers, so the new one stands beside ours.
    const own = membership('');
    if (own === undefined || own.includes('..')) return null;
    const group = makeGroup(`/sys/fs/cgroup${own === '/' ? '' : dirname(own).replace(/\/$/, '')}`, {
      'cpu.max': '50000 100000',
      'memory.max': String(MEMORY_LIMIT),
      'pids.max': String(PIDS_LIMIT),
    });
    return group === null ? null : [group];
  }
  const groups: string[] = [];
  for (const [controller, limits] of Object.entries({
    cpu: { 'cpu.cfs_period_us': '100000', 'cpu.cfs_quota_us': '50000' },
    memory: { 'memory.limit_in_bytes': String(MEMORY_LIMIT) },
    pids: { 'pids.max': String(PIDS_LIMIT) },
  })) {
    const own = membership(controller);
    if (own === undefined || own.includes('..')) return null;
    const group = makeGroup(`/sys/fs/cgroup/${controller}${own === '/' ? '' : own}`, limits);
    if (group === null) return null;
    groups.push(group);
  }
  return groups;
}

/** Runs the probe in a process of its own, after the shell commands in `before`. */
function probeAfter(before: string): HostFacts {
  const program = new URL('../../../src/engine/host/probe-host.ts', import.meta.url).href;
  const script = `import(${JSON.stringify(program)}).then((m) => console.log(JSON.stringify(m.probeHost({ workTree: '.' }))))`;
  const result = spawnSync('sh', ['-c', `${before} exec "$0" -e "$1"`, process.execPath, script], { encoding: 'utf8' });
  if (result.status !== 0) throw new Error(`the probe failed: ${result.stderr}`);
  return JSON.parse(result.stdout) as HostFacts;
}

describe('the kernel itself', () => {
  it('limits of a control group are found from inside it', (context) => {
    const groups = makeGroups();
    if (groups === null) {
      context.skip('no control group can be made here (needs root and a writable cgroup file system)');
      return;
    }
    const facts = probeAfter(groups.map((group) => `echo $$ > '${group}' &&`).join(' '));
    expect(facts.cores.quota).toBe(0.5);
    expect(facts.memory.cgroupLimitBytes).toBe(MEMORY_LIMIT);
    // A Node process: some megabytes, and far from the limit.
    expect(facts.memory.cgroupUsedBytes).toBeGreaterThan(2 ** 20);
    expect(facts.memory.cgroupUsedBytes).toBeLessThan(MEMORY_LIMIT / 2);
    // It has at least its main thread and V8's.
    expect(facts.pidsAvailable).toBeGreaterThan(PIDS_LIMIT / 2);
    expect(facts.pidsAvailable).toBeLessThan(PIDS_LIMIT - 2);
  });

  it('the affinity that taskset sets is found', (context) => {
    if (process.platform !== 'linux' || spawnSync('taskset', ['--version']).status !== 0) {
      context.skip('no taskset here');
      return;
    }
    const cpu = /^Cpus_allowed_list:\s*(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0';
    expect(probeAfter(`taskset -cp ${cpu} $$ >&2 &&`).cores.affinity).toBe(1);
  });
});
