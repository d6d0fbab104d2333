/**
 * What the machine offers, as plain values. `host/` probes them once; everything that decides takes them as arguments,
 * so that a plan for 64 cores can be tested on two.
 */

export interface HostFacts {
  readonly platform: NodeJS.Platform;
  readonly cores: {
    /** Logical CPUs that the OS has online. */
    readonly online: number;
    /** CPUs that this process may run on (sched_getaffinity), null where unknown. */
    readonly affinity: number | null;
    /** CPU quota of the control group in cores, may be a fraction (0.5); null without a quota. */
    readonly quota: number | null;
  };
  readonly memory: {
    readonly totalBytes: number;
    /** What the OS could give without swapping (MemAvailable). */
    readonly availableBytes: number;
    /** Limit of the control group or the parent of it that leaves least, null when none has a limit. */
    readonly cgroupLimitBytes: number | null;
    /** What that group uses now, reclaimable file cache not counted; null without a limit. */
    readonly cgroupUsedBytes: number | null;
  };
  /** How many more threads or processes the control group allows (pids.max less pids.current); null without a limit. */
  readonly pidsAvailable: number | null;
  /** The file system that the working tree is on. */
  readonly fileSystem: {
    /** Kernel name such as 'ext4', 'btrfs', 'xfs', 'tmpfs', 'overlay', 'nfs', 'fuse', 'apfs', 'ntfs'; 'unknown'. */
    readonly type: string;
    /** True where each operation waits on a network or another process (nfs, cifs, 9p, virtiofs, fuse). */
    readonly network: boolean;
  };
}
