import { describe, expect, it } from 'vitest';
import type { ControlGroupLimits } from '../../../src/engine/host/control-group.ts';
import { readControlGroupLimits } from '../../../src/engine/host/control-group.ts';
import { parseMountInfo } from '../../../src/engine/host/mounts.ts';
import { readTextOrNull } from '../../../src/engine/host/roots.ts';
import { fixtureMachine } from './fixture-machine.ts';

const NONE: ControlGroupLimits = { cpuQuota: null, memory: null, pidsAvailable: null };
// A group's name may hold a colon, the separator of /proc/self/cgroup; a Windows file name may not.
const POD = process.platform === 'win32' ? 'pod1' : 'pod:1';
const V2 = '30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n';

function limits(files: Record<string, string>): ControlGroupLimits {
  const roots = fixtureMachine(files);
  return readControlGroupLimits(
    roots,
    parseMountInfo(readTextOrNull(`${roots.proc}/self/mountinfo`) ?? '', () => true),
  );
}

describe('version 2', () => {
  it('reads all limits of the group', () => {
    expect(
      limits({
        'proc/self/cgroup': '0::/\n',
        'proc/self/mountinfo': V2,
        'sys/fs/cgroup/cpu.max': '150000 100000\n',
        'sys/fs/cgroup/memory.max': '2147483648\n',
        'sys/fs/cgroup/memory.high': 'max\n',
        'sys/fs/cgroup/memory.current': '600000000\n',
        'sys/fs/cgroup/memory.stat': 'anon 1\nfile 2\nactive_file 7\ninactive_file 100000000\n',
        'sys/fs/cgroup/pids.max': '100\n',
        'sys/fs/cgroup/pids.current': '37\n',
      }),
    ).toEqual({ cpuQuota: 1.5, memory: { limitBytes: 2147483648, usedBytes: 500000000 }, pidsAvailable: 63 });
  });

  it('takes the tightest limit of all levels, each kind by itself', () => {
    expect(
      limits({
        'proc/self/cgroup': `0::/kubepods/${POD}/app\n`,
        'proc/self/mountinfo': V2,
        [`sys/fs/cgroup/kubepods/${POD}/app/cpu.max`]: 'max 100000\n',
        [`sys/fs/cgroup/kubepods/${POD}/cpu.max`]: '50000 100000\n',
        'sys/fs/cgroup/kubepods/cpu.max': '800000 100000\n',
        // The app's limit is lower, but the pod's leaves less.
        [`sys/fs/cgroup/kubepods/${POD}/app/memory.max`]: '1000\n',
        [`sys/fs/cgroup/kubepods/${POD}/app/memory.current`]: '100\n',
        [`sys/fs/cgroup/kubepods/${POD}/memory.max`]: '2000\n',
        [`sys/fs/cgroup/kubepods/${POD}/memory.current`]: '1500\n',
        'sys/fs/cgroup/kubepods/memory.max': 'max\n',
        [`sys/fs/cgroup/kubepods/${POD}/app/pids.max`]: 'max\n',
        'sys/fs/cgroup/kubepods/pids.max': '10\n',
        'sys/fs/cgroup/kubepods/pids.current': '12\n',
      }),
    ).toEqual({ cpuQuota: 0.5, memory: { limitBytes: 2000, usedBytes: 1500 }, pidsAvailable: 0 });
  });

  it('counts memory.high where it is the lower one', () => {
    const { memory } = limits({
      'proc/self/cgroup': '0::/\n',
      'proc/self/mountinfo': V2,
      'sys/fs/cgroup/memory.max': '4000\n',
      'sys/fs/cgroup/memory.high': '3000\n',
      'sys/fs/cgroup/memory.current': '10\n',
      'sys/fs/cgroup/memory.stat': 'inactive_file 20\n',
    });
    expect(memory).toEqual({ limitBytes: 3000, usedBytes: 0 });
  });

  it('has no limits where there are none, as in the root group', () => {
    expect(limits({ 'proc/self/cgroup': '0::/\n', 'proc/self/mountinfo': V2 })).toEqual(NONE);
  });

  it('looks at the mount alone when the group lies outside of our namespace', () => {
    const { cpuQuota } = limits({
      'proc/self/cgroup': '0::/../../x\n',
      'proc/self/mountinfo': V2,
      'sys/fs/cgroup/cpu.max': '100000 100000\n',
      'sys/cpu.max': '1 100000\n',
      'x/cpu.max': '1 100000\n',
    });
    expect(cpuQuota).toBe(1);
  });

  it('finds the group below a mount of a part of the tree', () => {
    const { cpuQuota } = limits({
      'proc/self/cgroup': '0::/docker/abc/inner\n',
      'proc/self/mountinfo': V2.replace(' / /sys', ' /docker/abc /sys'),
      'sys/fs/cgroup/inner/cpu.max': '200000 100000\n',
      'sys/fs/cgroup/cpu.max': 'max 100000\n',
      'sys/fs/cgroup/docker/abc/inner/cpu.max': '1 100000\n',
    });
    expect(cpuQuota).toBe(2);
  });

  it('does not take /docker/abcd for a child of /docker/abc', () => {
    const { cpuQuota } = limits({
      'proc/self/cgroup': '0::/docker/abcd\n',
      'proc/self/mountinfo': V2.replace(' / /sys', ' /docker/abc /sys'),
      'sys/fs/cgroup/d/cpu.max': '1 100000\n',
      'sys/fs/cgroup/cpu.max': '300000 100000\n',
    });
    expect(cpuQuota).toBe(3);
  });
});

describe('version 1', () => {
  const V1 =
    '33 32 0:30 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid - cgroup cgroup rw,cpu,cpuacct\n' +
    '34 32 0:31 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n' +
    '35 32 0:32 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n' +
    '36 32 0:33 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,name=systemd\n';
  const MEMBER = '5:pids:/a\n4:memory:/a/b\n3:cpu,cpuacct:/a/b\n1:name=systemd:/a\n';

  it('reads each hierarchy, on every level', () => {
    expect(
      limits({
        'proc/self/cgroup': MEMBER,
        'proc/self/mountinfo': V1,
        'sys/fs/cgroup/cpu,cpuacct/a/b/cpu.cfs_quota_us': '-1\n',
        'sys/fs/cgroup/cpu,cpuacct/a/b/cpu.cfs_period_us': '100000\n',
        'sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us': '25000\n',
        'sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us': '50000\n',
        'sys/fs/cgroup/memory/a/b/memory.limit_in_bytes': '9223372036854771712\n',
        'sys/fs/cgroup/memory/a/b/memory.usage_in_bytes': '700\n',
        'sys/fs/cgroup/memory/a/memory.limit_in_bytes': '1000\n',
        'sys/fs/cgroup/memory/a/memory.usage_in_bytes': '800\n',
        'sys/fs/cgroup/memory/a/memory.stat': 'cache 9\ninactive_file 5\ntotal_inactive_file 300\n',
        'sys/fs/cgroup/pids/a/pids.max': '50\n',
        'sys/fs/cgroup/pids/a/pids.current': '20\n',
      }),
    ).toEqual({ cpuQuota: 0.5, memory: { limitBytes: 1000, usedBytes: 500 }, pidsAvailable: 30 });
  });

  it('has no limits where none are set', () => {
    expect(
      limits({
        'proc/self/cgroup': MEMBER,
        'proc/self/mountinfo': V1,
        'sys/fs/cgroup/cpu,cpuacct/a/b/cpu.cfs_quota_us': '-1\n',
        'sys/fs/cgroup/cpu,cpuacct/a/b/cpu.cfs_period_us': '100000\n',
        'sys/fs/cgroup/memory/a/b/memory.limit_in_bytes': '9223372036854771712\n',
        'sys/fs/cgroup/pids/a/pids.max': 'max\n',
      }),
    ).toEqual(NONE);
  });

  it('is read together with version 2 on a machine that mixes them', () => {
    expect(
      limits({
        'proc/self/cgroup': `${MEMBER}0::/u\n`,
        'proc/self/mountinfo': V1 + V2.replace('/sys/fs/cgroup', '/sys/fs/cgroup/unified'),
        'sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us': '400000\n',
        'sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us': '100000\n',
        'sys/fs/cgroup/unified/u/cpu.max': '300000 100000\n',
        'sys/fs/cgroup/unified/u/pids.max': '9\n',
        'sys/fs/cgroup/unified/u/pids.current': '4\n',
      }),
    ).toEqual({ cpuQuota: 3, memory: null, pidsAvailable: 5 });
  });

  it('prefers the mount that shows more levels, and one that shows the group at all', () => {
    const host = '40 1 0:30 / /sys/host rw - cgroup cgroup rw,memory\n';
    const own = '39 1 0:30 /docker/x /sys/own rw - cgroup cgroup rw,memory\n';
    const other = '38 1 0:30 /docker/y /sys/other rw - cgroup cgroup rw,memory\n';
    const files = {
      'proc/self/cgroup': '4:memory:/docker/x\n',
      'sys/host/docker/memory.limit_in_bytes': '10\n',
      'sys/own/memory.limit_in_bytes': '20\n',
      'sys/other/memory.limit_in_bytes': '5\n',
    };
    expect(limits({ ...files, 'proc/self/mountinfo': other + own + host }).memory?.limitBytes).toBe(10);
    expect(limits({ ...files, 'proc/self/mountinfo': other + own }).memory?.limitBytes).toBe(20);
  });
});

describe('unreadable facts', () => {
  it.each<[string, Record<string, string>]>([
    ['nothing at all', {}],
    ['no mount', { 'proc/self/cgroup': '0::/\n' }],
    ['no membership', { 'proc/self/mountinfo': V2 }],
    ['nonsense', { 'proc/self/cgroup': 'x\n::\n0:\n', 'proc/self/mountinfo': 'a b c\n - \n\n1 2 3 - x\n' }],
    [
      'nonsense in the limits',
      {
        'proc/self/cgroup': '0::/\n',
        'proc/self/mountinfo': V2,
        'sys/fs/cgroup/cpu.max': '\n',
        'sys/fs/cgroup/memory.max': '12 apples\n',
        'sys/fs/cgroup/pids.max': '',
      },
    ],
    [
      'a quota over no time',
      { 'proc/self/cgroup': '0::/\n', 'proc/self/mountinfo': V2, 'sys/fs/cgroup/cpu.max': '100 0\n' },
    ],
  ])('%s: no limits', (_name, files) => {
    expect(limits(files)).toEqual(NONE);
  });
});
