import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { HostFacts } from '../../../src/engine/host-facts.ts';
import { HIGHEST_AUTO_LIMIT_BYTES, LOWEST_AUTO_LIMIT_BYTES } from '../../../src/engine/plan/memory.ts';
import type { PlanFacts } from '../../../src/engine/plan/plan-checkout.ts';
import { planCheckout } from '../../../src/engine/plan/plan-checkout.ts';
import type { Plan, PlanReason } from '../../../src/engine/plan/plan.ts';
import { WORKER_MEMORY_BYTES } from '../../../src/engine/plan/workers.ts';

const MB = 2 ** 20;
const GB = 2 ** 30;

/** A machine on which nothing but the number of cores (4) bounds a big checkout. */
interface Machine {
  platform?: NodeJS.Platform;
  online?: number;
  affinity?: number | null;
  quota?: number | null;
  available?: number;
  cgroupLimit?: number | null;
  cgroupUsed?: number | null;
  pids?: number | null;
  fileSystem?: HostFacts['fileSystem'];
}

function host(machine: Machine): HostFacts {
  return {
    platform: machine.platform ?? 'linux',
    cores: { online: machine.online ?? 4, affinity: machine.affinity ?? null, quota: machine.quota ?? null },
    memory: {
      totalBytes: 256 * GB,
      availableBytes: machine.available ?? 64 * GB,
      cgroupLimitBytes: machine.cgroupLimit ?? null,
      cgroupUsedBytes: machine.cgroupUsed ?? null,
    },
    pidsAvailable: machine.pids ?? null,
    fileSystem: machine.fileSystem ?? { type: 'ext4', network: false },
  };
}

function plan(machine: Machine, request: Partial<Omit<PlanFacts, 'host'>> = {}): Plan {
  return planCheckout({
    host: host(machine),
    files: 90_000,
    workers: 'auto',
    memoryLimitBytes: 'auto',
    ...request,
  });
}

function decisive(plan: Plan, about: PlanReason['about']): string[] {
  return plan.reasons.filter((reason) => reason.about === about && reason.decided).map((reason) => reason.text);
}

describe('workers', () => {
  it.each<[string, Machine, Partial<Omit<PlanFacts, 'host'>>, number, RegExp]>([
    ['one core', { online: 1 }, {}, 1, /^1 core online$/],
    ['two cores', { online: 2 }, {}, 2, /^2 cores online$/],
    ['4 cores', { online: 4 }, {}, 4, /^4 cores online$/],
    ['64 cores', { online: 64 }, {}, 64, /^64 cores online$/],
    ['128 cores: memory of the highest limit', { online: 128, available: 256 * GB }, {}, 93, /^memory for 93: 22 MiB/],
    [
      '128 cores and an explicit limit',
      { online: 128, available: 256 * GB },
      { memoryLimitBytes: 16 * GB },
      128,
      /^128 cores/,
    ],
    ['affinity', { online: 64, affinity: 3 }, {}, 3, /^the process may run on 3 cores$/],
    ['affinity as wide as the machine', { online: 8, affinity: 8 }, {}, 8, /^8 cores online$/],
    ['quota below one core', { online: 16, quota: 0.5 }, {}, 1, /the time of 0\.5 cores, counted as 1$/],
    ['quota of one and a half', { online: 16, quota: 1.5 }, {}, 2, /the time of 1\.5 cores, counted as 2$/],
    ['whole quota', { online: 16, quota: 2 }, {}, 2, /the time of 2 cores$/],
    ['quota above affinity', { online: 64, affinity: 2, quota: 3.5 }, {}, 2, /may run on 2 cores/],
    ['quota above the machine', { online: 2, quota: 8 }, {}, 2, /^2 cores online$/],
    ['64 MB', { available: 64 * MB }, {}, 0, /^memory for 0: 22 MiB each in half of 32 MiB$/],
    ['128 MB', { available: 128 * MB }, {}, 1, /^memory for 1: 22 MiB each in half of 64 MiB$/],
    ['256 MB', { available: 256 * MB }, {}, 2, /^memory for 2/],
    ['512 MB', { available: 512 * MB }, {}, 4, /^4 cores online$/],
    ['less than the lowest limit', { available: 20 * MB }, {}, 0, /half of 20 MiB$/],
    [
      'control group of 512 MB, 300 MB used',
      { online: 16, cgroupLimit: 512 * MB, cgroupUsed: 300 * MB },
      {},
      2,
      /^memory for 2: 22 MiB each in half of 106 MiB$/,
    ],
    [
      'control group full',
      { online: 16, cgroupLimit: 512 * MB, cgroupUsed: 600 * MB },
      {},
      0,
      /^memory for 0: 22 MiB each in half of 0 bytes$/,
    ],
    [
      'explicit memory limit',
      { online: 16 },
      { memoryLimitBytes: 100 * MB },
      2,
      /^memory for 2: 22 MiB each in half of 100 MiB$/,
    ],
    [
      'explicit limit above what is there',
      { online: 16, available: 200 * MB },
      { memoryLimitBytes: 8 * GB },
      4,
      /^memory for 4: 22 MiB each in half of 200 MiB$/,
    ],
    ['pids', { online: 16, pids: 12 }, {}, 4, /^the control group allows 12 more threads: 4 when 8 are kept free$/],
    ['no pids left', { online: 16, pids: 3 }, {}, 0, /^the control group allows 3 more threads: 0 /],
    ['many pids', { online: 16, pids: 4000 }, {}, 16, /^16 cores online$/],
    ['setting below the cores', {}, { workers: 3 }, 3, /^at most 3 asked for$/],
    ['setting equal to the cores', {}, { workers: 4 }, 4, /^at most 4 asked for$/],
    ['setting above the cores', {}, { workers: 9 }, 4, /^4 cores online$/],
    ['setting 0', {}, { workers: 0 }, 0, /^no workers were asked for/],
    ['no file', {}, { files: 0 }, 0, /^0 files, fewer than the 100 from which/],
    ['one file', {}, { files: 1 }, 0, /^1 file, fewer than the 100 from which/],
    ['99 files', {}, { files: 99 }, 0, /^99 files, fewer than the 100 from which/],
    ['100 files', {}, { files: 100 }, 2, /^100 files: enough for 2 workers, at 50 files each$/],
    ['199 files', {}, { files: 199 }, 3, /^199 files: enough for 3 workers/],
    ['200 files', {}, { files: 200 }, 4, /^200 files: enough for 4 workers/],
    ['a threshold of 0', {}, { files: 3, thresholdForParallelism: 0 }, 3, /enough for 3 workers, at one file each$/],
    ['a threshold of 0 and no file', {}, { files: 0, thresholdForParallelism: 0 }, 0, /^0 files: enough for 0 workers/],
    ['a threshold of 10', {}, { files: 10, thresholdForParallelism: 10 }, 2, /enough for 2 workers, at 5 files each$/],
    [
      'a high threshold',
      {},
      { files: 999, thresholdForParallelism: 1000 },
      0,
      /fewer than the 1000 of checkout\.thresholdForParallelism/,
    ],
    ['a high threshold, reached', {}, { files: 1000, thresholdForParallelism: 1000 }, 4, /^4 cores/],
    ['Windows', { platform: 'win32', online: 32 }, {}, 4, /^at most 4 on Windows$/],
    ['Windows with two cores', { platform: 'win32', online: 2 }, {}, 2, /^2 cores online$/],
    ['Windows, 499 files', { platform: 'win32' }, { files: 499 }, 0, /fewer than the 500 on Windows/],
    ['Windows, 500 files', { platform: 'win32', online: 8 }, { files: 500 }, 4, /on Windows/],
    [
      'Windows, threshold set',
      { platform: 'win32' },
      { files: 100, thresholdForParallelism: 100 },
      2,
      /^100 files: enough for 2/,
    ],
    ['Windows, more asked for', { platform: 'win32', online: 32 }, { workers: 16 }, 4, /^at most 4 on Windows$/],
    ['macOS', { platform: 'darwin', online: 10 }, {}, 10, /^10 cores online$/],
  ])('%s', (_name, machine, request, workers, reason) => {
    const result = plan(machine, request);
    expect(result.workers).toBe(workers);
    expect(decisive(result, 'workers')).toEqual([expect.stringMatching(reason)]);
  });

  it('names every bound that was looked at', () => {
    const texts = plan(
      {
        platform: 'win32',
        online: 16,
        affinity: 8,
        quota: 2.5,
        pids: 100,
        cgroupLimit: 2 * GB,
        cgroupUsed: GB,
      },
      { workers: 6 },
    ).reasons;
    expect(texts.filter((reason) => reason.about === 'workers').map((reason) => reason.text)).toEqual([
      'at most 6 asked for',
      '90000 files: enough for 1800 workers, at 50 files each',
      'at most 4 on Windows',
      '16 cores online',
      'the process may run on 8 cores',
      'the control group allows the time of 2.5 cores, counted as 3',
      'memory for 11: 22 MiB each in half of 512 MiB',
      'the control group allows 100 more threads: 92 when 8 are kept free',
    ]);
  });
});

describe('memory limit', () => {
  it.each<[string, Machine, number | 'auto', number, RegExp]>([
    [
      'half of what is available',
      { available: GB },
      'auto',
      512 * MB,
      /^memory limit 512 MiB, half of .*: 1 GiB avail/,
    ],
    [
      'control group tighter',
      { available: 64 * GB, cgroupLimit: 2 * GB, cgroupUsed: GB },
      'auto',
      512 * MB,
      /^memory limit 512 MiB, half of .*: 1 GiB left in the control group: 1 GiB of 2 GiB used$/,
    ],
    [
      'control group wider than the machine',
      { available: GB, cgroupLimit: 8 * GB, cgroupUsed: 0 },
      'auto',
      512 * MB,
      /available on this machine$/,
    ],
    ['use unknown', { cgroupLimit: GB, cgroupUsed: null }, 'auto', 512 * MB, /: 0 bytes of 1 GiB used$/],
    ['lowest', { available: 40 * MB }, 'auto', LOWEST_AUTO_LIMIT_BYTES, /^memory limit 32 MiB, the lowest/],
    ['just above the lowest', { available: 66 * MB }, 'auto', 33 * MB, /half of what there is: 66 MiB/],
    ['highest', { available: 256 * GB }, 'auto', HIGHEST_AUTO_LIMIT_BYTES, /^memory limit 4 GiB, the highest/],
    ['explicit', {}, 300 * MB, 300 * MB, /^memory limit 300 MiB, as asked for$/],
    ['explicit below the lowest', {}, MB, MB, /^memory limit 1 MiB, as asked for$/],
    ['explicit above the highest', { available: 64 * GB }, 32 * GB, 32 * GB, /as asked for$/],
    ['explicit above what is there', { available: GB }, 3 * GB, 3 * GB, /^memory limit 3 GiB, as asked for$/],
  ])('%s', (_name, machine, setting, limit, reason) => {
    const result = plan(machine, { memoryLimitBytes: setting });
    expect(result.memoryLimitBytes).toBe(limit);
    expect(decisive(result, 'memory')).toEqual([expect.stringMatching(reason)]);
  });

  it('says when the limit asked for is more than there is, and only then', () => {
    const warning = expect.stringMatching(/more than the 1 GiB available/) as unknown;
    const texts = (asked: number): string[] =>
      plan({ available: GB }, { memoryLimitBytes: asked }).reasons.map((reason) => reason.text);
    expect(texts(GB + 1)).toContainEqual(warning);
    expect(texts(GB)).not.toContainEqual(warning);
  });
});

describe('lanes', () => {
  it('has one lane, and says so where a network might make one expect more', () => {
    expect(plan({}).lanes).toBe(1);
    expect(plan({}).reasons.some((reason) => reason.about === 'lanes')).toBe(false);
    const network = plan({ fileSystem: { type: 'nfs4', network: true } });
    expect(network.lanes).toBe(1);
    expect(decisive(network, 'lanes')).toEqual(['one file at a time in each worker, on nfs4 as on local disks']);
  });
});

// Facts as one flat record, so that a property can change one of them.
const flatFacts = fc.record({
  windows: fc.boolean(),
  online: fc.integer({ min: 1, max: 128 }),
  affinity: fc.option(fc.integer({ min: 1, max: 128 })),
  quota: fc.option(fc.double({ min: 0.01, max: 200, noNaN: true })),
  available: fc.integer({ min: 0, max: 256 * GB }),
  cgroupLimit: fc.option(fc.integer({ min: 0, max: 256 * GB })),
  cgroupUsed: fc.integer({ min: 0, max: 256 * GB }),
  pids: fc.option(fc.integer({ min: 0, max: 300 })),
  files: fc.integer({ min: 0, max: 20_000 }),
  workers: fc.option(fc.integer({ min: 0, max: 200 })),
  memoryLimit: fc.option(fc.integer({ min: MB, max: 64 * GB })),
  threshold: fc.option(fc.integer({ min: 0, max: 5000 })),
});
type FlatFacts = typeof flatFacts extends fc.Arbitrary<infer T> ? T : never;

function planFlat(facts: FlatFacts): Plan {
  return plan(
    {
      platform: facts.windows ? 'win32' : 'linux',
      online: facts.online,
      affinity: facts.affinity,
      quota: facts.quota,
      available: facts.available,
      cgroupLimit: facts.cgroupLimit,
      cgroupUsed: facts.cgroupLimit === null ? null : facts.cgroupUsed,
      pids: facts.pids,
    },
    {
      files: facts.files,
      workers: facts.workers ?? 'auto',
      memoryLimitBytes: facts.memoryLimit ?? 'auto',
      ...(facts.threshold === null ? {} : { thresholdForParallelism: facts.threshold }),
    },
  );
}

describe('for all facts', () => {
  it('workers exceed no bound, and one reason of each kind decides', () => {
    fc.assert(
      fc.property(flatFacts, (facts) => {
        const { workers, memoryLimitBytes, reasons } = planFlat(facts);
        expect(Number.isInteger(workers) && workers >= 0).toBe(true);
        expect(workers).toBeLessThanOrEqual(facts.online);
        expect(workers).toBeLessThanOrEqual(facts.affinity ?? Infinity);
        expect(workers).toBeLessThanOrEqual(Math.ceil(facts.quota ?? Infinity));
        expect(workers).toBeLessThanOrEqual(facts.workers ?? Infinity);
        expect(workers).toBeLessThanOrEqual(facts.pids ?? Infinity);
        expect(workers).toBeLessThanOrEqual(facts.windows ? 4 : Infinity);
        expect(workers).toBeLessThanOrEqual(facts.files);
        if (facts.files < (facts.threshold ?? (facts.windows ? 500 : 100))) expect(workers).toBe(0);
        const left =
          facts.cgroupLimit === null
            ? facts.available
            : Math.min(facts.available, Math.max(0, facts.cgroupLimit - facts.cgroupUsed));
        expect(workers * WORKER_MEMORY_BYTES * 2).toBeLessThanOrEqual(Math.min(memoryLimitBytes, left));
        for (const about of ['workers', 'memory'] as const) {
          expect(reasons.filter((reason) => reason.about === about && reason.decided)).toHaveLength(1);
        }
        if (facts.memoryLimit === null) {
          expect(memoryLimitBytes).toBeLessThanOrEqual(Math.max(left / 2, LOWEST_AUTO_LIMIT_BYTES));
        } else {
          expect(memoryLimitBytes).toBe(facts.memoryLimit);
        }
      }),
    );
  });

  // More of any of these never makes fewer workers or less memory; null is "without limit", the most there is.
  const growing = ['online', 'affinity', 'quota', 'available', 'cgroupLimit', 'pids', 'files', 'workers'] as const;
  it.each(growing)('more %s never means fewer workers or less memory', (key) => {
    fc.assert(
      fc.property(flatFacts, flatFacts, (facts, other) => {
        const values = [facts[key], other[key]].sort((a, b) => (a ?? Infinity) - (b ?? Infinity));
        const less = planFlat({ ...facts, [key]: values[0] });
        const more = planFlat({ ...facts, [key]: values[1] });
        expect(more.workers).toBeGreaterThanOrEqual(less.workers);
        expect(more.memoryLimitBytes).toBeGreaterThanOrEqual(less.memoryLimitBytes);
      }),
    );
  });

  it.each(['cgroupUsed', 'threshold'] as const)('more %s never means more workers or more memory', (key) => {
    fc.assert(
      fc.property(flatFacts, fc.nat(256 * GB), fc.nat(256 * GB), (facts, one, two) => {
        const scale = key === 'threshold' ? 2 ** 24 : 1;
        const less = planFlat({ ...facts, [key]: Math.floor(Math.min(one, two) / scale) });
        const more = planFlat({ ...facts, [key]: Math.floor(Math.max(one, two) / scale) });
        expect(more.workers).toBeLessThanOrEqual(less.workers);
        expect(more.memoryLimitBytes).toBeLessThanOrEqual(less.memoryLimitBytes);
      }),
    );
  });

  it('a higher explicit memory limit never means fewer workers', () => {
    fc.assert(
      fc.property(flatFacts, fc.integer({ min: MB, max: 64 * GB }), fc.nat(64 * GB), (facts, limit, extra) => {
        const less = planFlat({ ...facts, memoryLimit: limit });
        const more = planFlat({ ...facts, memoryLimit: limit + extra });
        expect(more.workers).toBeGreaterThanOrEqual(less.workers);
      }),
    );
  });
});
