// A report as a checkout of a big repository leaves it, for the tests of the renderers.
import type { WorkerCost } from '../../../src/engine/cost.ts';
import type { Report } from '../../../src/engine/report/report.ts';

export function workerCost(id: number, changes: Partial<WorkerCost> = {}): WorkerCost {
  return {
    id,
    files: 43_000,
    bytesWritten: 700_000_000,
    wallMs: 2800,
    cpuUserMs: 1500,
    cpuSystemMs: 1200,
    waitMs: 90,
    peakMemoryBytes: 21_000_000,
    ...changes,
  };
}

export function sampleReport(changes: Partial<Report> = {}): Report {
  return {
    schemaVersion: 1,
    commit: '1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d',
    engine: 'native',
    transport: 'git',
    plan: {
      workers: 2,
      lanes: 1,
      memoryLimitBytes: 128_000_000,
      reasons: [
        { about: 'workers', text: '2 cores: the control group allows 2 of 16', decided: true },
        { about: 'workers', text: 'memory is enough for 20 workers', decided: false },
        { about: 'lanes', text: 'ext4 is a local file system', decided: true },
      ],
    },
    phases: [
      { name: 'manifest', ms: 220 },
      { name: 'write', ms: 2800 },
      { name: 'index', ms: 60 },
    ],
    workers: [workerCost(1), workerCost(2, { files: 43_691, died: true })],
    totals: {
      files: 86_691,
      kept: 12,
      excluded: 0,
      removed: 3,
      cleaned: 0,
      bytesWritten: 1_400_000_000,
      wallMs: 3150,
      cpuUserMs: 3300,
      cpuSystemMs: 2450,
      peakRssBytes: 210_400_000,
    },
    skipped: [],
    fallbacks: [],
    ...changes,
  };
}
