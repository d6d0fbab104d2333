/**
 * What the control group of this process allows, in versions 1 and 2 and in machines that mix them. A container's limit
 * is often set on a group above the one that the process is in, so each limit is looked up on every level up to the
 * root of the mount, and the tightest wins.
 *
 * Sources: cgroups(7), the kernel's admin-guide/cgroup-v2 and cgroup-v1/{memory,pids}, scheduler/sched-bwc.
 */
import type { Mount } from './mounts.ts';
import { isWithin } from './mounts.ts';
import type { KernelRoots } from './roots.ts';
import { numberOfKey, parseLimit, readNumberOrNull, readTextOrNull } from './roots.ts';

export interface ControlGroupLimits {
  /** CPU time in cores, may be a fraction; null without a quota. */
  readonly cpuQuota: number | null;
  /** The limit and the use of the group that leaves least; null when no group has a limit. */
  readonly memory: { readonly limitBytes: number; readonly usedBytes: number } | null;
  /** Threads and processes that may still be started; null without a limit. */
  readonly pidsAvailable: number | null;
}

/** Version 1 states "no limit" as the largest multiple of a page in 63 bits; no machine has 2^60 bytes. */
const MEMORY_UNLIMITED_FROM = 2 ** 60;

/** Reads the limits. `mounts` are those of type cgroup and cgroup2. What cannot be read counts as no limit. */
export function readControlGroupLimits(roots: KernelRoots, mounts: readonly Mount[]): ControlGroupLimits {
  const memberships = parseMemberships(readTextOrNull(`${roots.proc}/self/cgroup`) ?? '');
  const unified = levels(roots, mounts, memberships, null);
  const quotas = [...unified.map(cpuQuota2), ...levels(roots, mounts, memberships, 'cpu').map(cpuQuota1)].filter(
    (quota) => quota !== null,
  );
  const memories = [...unified.map(memory2), ...levels(roots, mounts, memberships, 'memory').map(memory1)].filter(
    (memory) => memory !== null,
  );
  const pids = [...unified, ...levels(roots, mounts, memberships, 'pids')]
    .map(pidsLeft)
    .filter((left) => left !== null);

  memories.sort((a, b) => a.limitBytes - a.usedBytes - (b.limitBytes - b.usedBytes) || a.limitBytes - b.limitBytes);
  return {
    cpuQuota: quotas.length === 0 ? null : Math.min(...quotas),
    memory: memories[0] ?? null,
    pidsAvailable: pids.length === 0 ? null : Math.min(...pids),
  };
}

interface Membership {
  /** Controllers of a version 1 hierarchy; empty for version 2. */
  readonly controllers: readonly string[];
  readonly path: string;
}

/** Lines of /proc/self/cgroup: 'number:controllers:path'; version 2 is '0::path'. The path may hold colons. */
function parseMemberships(text: string): Membership[] {
  const memberships: Membership[] = [];
  for (const line of text.split('\n')) {
    const match = /^\d+:([^:]*):(\/.*)$/.exec(line);
    if (match === null) continue;
    const [, controllers = '', path = '/'] = match;
    memberships.push({ controllers: controllers === '' ? [] : controllers.split(','), path });
  }
  return memberships;
}

/**
 * The folders of this process's group and of its parents up to the mount point, innermost first. `controller` names a
 * version 1 hierarchy, null means version 2. Empty when there is no such hierarchy.
 */
function levels(
  roots: KernelRoots,
  mounts: readonly Mount[],
  memberships: readonly Membership[],
  controller: string | null,
): string[] {
  const membership = memberships.find((candidate) =>
    controller === null ? candidate.controllers.length === 0 : candidate.controllers.includes(controller),
  );
  if (membership === undefined) return [];
  const candidates = mounts.filter((mount) =>
    controller === null ? mount.type === 'cgroup2' : mount.type === 'cgroup' && mount.superOptions.includes(controller),
  );
  // The mount that shows the group and the most of what is above it. Where none shows the group (a container that sees
  // the host's paths but only its own part of the tree), the mount's root is the group or one above it.
  const showing = candidates
    .filter((mount) => isWithin(membership.path, mount.root))
    .sort((a, b) => a.root.length - b.root.length)[0];
  const mount = showing ?? candidates[0];
  if (mount === undefined) return [];

  const top = mount.mountPoint.startsWith('/sys/') ? roots.sys + mount.mountPoint.slice(4) : mount.mountPoint;
  const below = showing === undefined ? '' : membership.path.slice(mount.root === '/' ? 0 : mount.root.length);
  const names = below.split('/').filter((name) => name !== '');
  // '..' leads out of our cgroup namespace, to where the mount does not reach.
  if (names.includes('..')) return [top];
  const folders: string[] = [];
  for (let depth = names.length; depth >= 0; depth--) folders.push([top, ...names.slice(0, depth)].join('/'));
  return folders;
}

/** cpu.max: 'quota period' in microseconds, or 'max period'. */
function cpuQuota2(folder: string): number | null {
  const [quota, period] = (readTextOrNull(`${folder}/cpu.max`) ?? '').trim().split(' ');
  return ratio(parseLimit(quota ?? ''), parseLimit(period ?? ''));
}

/** A quota of -1 means none. */
function cpuQuota1(folder: string): number | null {
  const quota = readNumberOrNull(`${folder}/cpu.cfs_quota_us`);
  return quota === null || quota <= 0 ? null : ratio(quota, readNumberOrNull(`${folder}/cpu.cfs_period_us`));
}

function ratio(quota: number | null, period: number | null): number | null {
  if (quota === null || period === null || quota <= 0 || period <= 0 || !Number.isFinite(quota)) return null;
  return quota / period;
}

/** Above memory.high a group is slowed down hard, above memory.max its processes are killed: the lower one counts. */
function memory2(folder: string): ControlGroupLimits['memory'] {
  const limitBytes = Math.min(
    readNumberOrNull(`${folder}/memory.max`) ?? Infinity,
    readNumberOrNull(`${folder}/memory.high`) ?? Infinity,
  );
  return withUse(limitBytes, folder, 'memory.current', 'inactive_file');
}

function memory1(folder: string): ControlGroupLimits['memory'] {
  const limitBytes = readNumberOrNull(`${folder}/memory.limit_in_bytes`) ?? Infinity;
  return withUse(limitBytes, folder, 'memory.usage_in_bytes', 'total_inactive_file');
}

/** Use counts the file cache too; the part of it that has not been touched lately goes as soon as memory is short. */
function withUse(limitBytes: number, folder: string, useFile: string, cacheKey: string): ControlGroupLimits['memory'] {
  if (!(limitBytes >= 0 && limitBytes < MEMORY_UNLIMITED_FROM)) return null;
  const charged = readNumberOrNull(`${folder}/${useFile}`) ?? 0;
  const cache = numberOfKey(readTextOrNull(`${folder}/memory.stat`) ?? '', cacheKey) ?? 0;
  return { limitBytes, usedBytes: Math.max(0, charged - cache) };
}

function pidsLeft(folder: string): number | null {
  const limit = readNumberOrNull(`${folder}/pids.max`);
  if (limit === null || !Number.isFinite(limit) || limit < 0) return null;
  return Math.max(0, limit - (readNumberOrNull(`${folder}/pids.current`) ?? 0));
}
