import { tmpdir, totalmem, cpus } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { macAvailableBytes, probeHost } from '../../../src/engine/host/probe-host.ts';
import { fixtureMachine } from './fixture-machine.ts';

const MACHINE = {
  'proc/self/status': 'Name:\tnode\nCpus_allowed:\tff\nCpus_allowed_list:\t0-1,6-200\nMems_allowed_list:\t0\n',
  'proc/self/cgroup': '0::/job\n',
  'proc/self/mountinfo': '30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n',
  'proc/meminfo': 'MemTotal:       16000000 kB\nMemFree:          100000 kB\nMemAvailable:    8000000 kB\n',
  'sys/devices/system/cpu/online': '0-7\n',
  'sys/fs/cgroup/job/cpu.max': '250000 100000\n',
  'sys/fs/cgroup/job/memory.max': '4000000000\n',
  'sys/fs/cgroup/job/memory.current': '1000000000\n',
  'sys/fs/cgroup/job/pids.max': '64\n',
  'sys/fs/cgroup/job/pids.current': '10\n',
};

describe('Linux', () => {
  it('puts all facts together', () => {
    const roots = fixtureMachine(MACHINE);
    expect(probeHost({ workTree: tmpdir(), platform: 'linux', roots })).toMatchObject({
      platform: 'linux',
      // CPUs 8 to 200 are allowed but not online.
      cores: { online: 8, affinity: 4, quota: 2.5 },
      memory: {
        totalBytes: 16384000000,
        availableBytes: 8192000000,
        cgroupLimitBytes: 4000000000,
        cgroupUsedBytes: 1000000000,
      },
      pidsAvailable: 54,
    });
  });

  it('falls back to what Node knows when the files are not there', () => {
    const facts = probeHost({
      workTree: '/no/such/folder',
      platform: 'linux',
      roots: { proc: '/no/such/proc', sys: '/no/such/sys' },
    });
    expect(facts.cores).toEqual({ online: cpus().length, affinity: null, quota: null });
    expect(facts.memory.totalBytes).toBe(totalmem());
    expect(facts.memory.availableBytes).toBeGreaterThan(0);
    expect(facts.memory.cgroupLimitBytes).toBeNull();
    expect(facts.memory.cgroupUsedBytes).toBeNull();
    expect(facts.pidsAvailable).toBeNull();
  });

  it('uses the affinity even where the list of online CPUs is hidden', () => {
    const { 'sys/devices/system/cpu/online': _hidden, ...rest } = MACHINE;
    const roots = fixtureMachine({ ...rest, 'proc/self/status': 'Cpus_allowed_list:\t0\n' });
    expect(probeHost({ workTree: tmpdir(), platform: 'linux', roots }).cores.affinity).toBe(1);
  });

  it('stays quick with ten thousand mounts', () => {
    const lines = Array.from(
      { length: 10_000 },
      (_, i) =>
        `${i} 1 0:${i} / /var/lib/kubelet/pods/${i}/volumes/token rw,relatime shared:${i} - tmpfs tmpfs rw,size=1024k\n`,
    );
    const roots = fixtureMachine({
      ...MACHINE,
      'proc/self/mountinfo': MACHINE['proc/self/mountinfo'] + lines.join(''),
    });
    const times = Array.from({ length: 5 }, () => {
      const start = performance.now();
      expect(probeHost({ workTree: tmpdir(), platform: 'linux', roots }).cores.quota).toBe(2.5);
      return performance.now() - start;
    });
    // A table this long takes about 5 ms; what must not happen is work per pair of mounts.
    expect(Math.min(...times)).toBeLessThan(100);
  });
});

it('this machine has facts that make sense, for a folder that is not there yet too', () => {
  for (const workTree of ['.', join(tmpdir(), 'not', 'there', 'yet')]) {
    const facts = probeHost({ workTree });
    expect(facts.platform).toBe(process.platform);
    expect(facts.cores.online).toBeGreaterThanOrEqual(1);
    expect(facts.cores.affinity ?? 1).toBeGreaterThanOrEqual(1);
    expect(facts.memory.availableBytes).toBeGreaterThan(0);
    expect(facts.memory.availableBytes).toBeLessThanOrEqual(facts.memory.totalBytes);
  }
});

it.each(['darwin', 'win32', 'freebsd'] as const)(
  'on %s there are no control groups, and nothing throws',
  (platform) => {
    const facts = probeHost({ workTree: tmpdir(), platform });
    expect(facts.platform).toBe(platform);
    expect(facts.cores.quota).toBeNull();
    expect(facts.cores.online).toBeGreaterThanOrEqual(1);
    expect(facts.memory.totalBytes).toBe(totalmem());
    expect(facts.memory.cgroupLimitBytes).toBeNull();
    expect(facts.pidsAvailable).toBeNull();
  },
);

it('on macOS a quarter of the memory counts as available at least', () => {
  expect(macAvailableBytes(50, 8000)).toBe(2000);
  expect(macAvailableBytes(5000, 8000)).toBe(5000);
});
