import { expect, it } from 'vitest';
import { reportToMarkdown } from '../../../src/engine/report/markdown.ts';
import { planToText, reportToText } from '../../../src/engine/report/text.ts';
import { sampleReport, workerCost } from './sample.ts';

it('shows outcome, plan with reasons, phases, workers and totals', () => {
  expect(reportToText(sampleReport())).toBe(`\
Checked out 86,691 files, 1.40 GB in 3.15 s by the native engine with 2 workers, peak memory 210 MB
Plan: 2 workers, memory limit 128 MB
  * workers  2 cores: the control group allows 2 of 16
    workers  memory is enough for 20 workers
  * lanes    ext4 is a local file system
  (* decided)

Phases (they may overlap)
  manifest  220 ms
  write     2.80 s
  index      60 ms

Workers
  worker     files  written    time  CPU user  CPU system  waiting  peak memory
  1         43,000   700 MB  2.80 s    1.50 s      1.20 s    90 ms      21.0 MB
  2 (died)  43,691   700 MB  2.80 s    1.50 s      1.20 s    90 ms      21.0 MB

Totals
  written        86,691 files, 1.40 GB
  already right  12 files
  removed        3 files
  time           3.15 s
  CPU            3.30 s user, 2.45 s system
  peak memory    210 MB
  objects from   a fetch (git)
  commit         1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d
`);
});

it('names the main thread, and says when there were no worker threads', () => {
  const text = reportToText(sampleReport({ workers: [workerCost(0)] }));
  expect(text).toMatch(/^Checked out .* with no worker threads,/);
  expect(text).toMatch(/^ {2}main /m);
});

it('says what git did and why, and what it was told to use', () => {
  const text = reportToText(
    sampleReport({
      engine: 'git',
      workers: [],
      fallbacks: [{ stage: 'checkout', reason: "filter driver 'x\u001b]0;' is set" }],
    }),
  );
  expect(text).toMatch(/^Checked out .* by git with 2 workers,/);
  expect(text).toContain("Handed to git: 1\n  checkout: filter driver 'x\\x1b]0;' is set\n");
  expect(text).not.toContain('\nWorkers\n');
});

it('starts with the error of a failed run', () => {
  const error = { code: 'io', message: "cannot write 'a\nb': ENOSPC", subject: {} } as const;
  const text = reportToText(sampleReport({ error, commit: null }));
  expect(text).toMatch(/^Failed \(io\): cannot write 'a\\x0ab': ENOSPC; until then 86,691 files/);
  expect(text).toMatch(/commit +unknown\n/);
});

it('lists what was not written up to a bound, free of control characters', () => {
  const skipped = Array.from({ length: 1234 }, (_, i) => ({ path: `d/\u0007${i}`, reason: 'no\tspace' }));
  const text = reportToText(sampleReport({ skipped }));
  expect(text).toContain('Not written: 1,234\n  d/\\x070: no\\x09space\n');
  expect(text).toContain('… and 1,184 more');
  // eslint-disable-next-line no-control-regex -- that there are none is what is tested
  expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
});

it('prints a plan alone', () => {
  expect(planToText({ workers: 0, lanes: 1, memoryLimitBytes: 64_000_000, reasons: [] })).toBe(
    'Plan: no worker threads, memory limit 64.0 MB\n',
  );
});

it('tells how a streamed pack came', () => {
  const received = {
    bytes: 270_000_000,
    objects: 95_000,
    requests: 3,
    networkWaitMs: 400,
    engineWaitMs: 2700,
    filesWritten: 80_000,
  };
  const phrase =
    '270 MB, 95,000 objects in 3 requests; 80,000 files written by then; ' +
    'waited 400 ms for the network, which waited 2.70 s';
  const report = sampleReport({ transport: 'stream', received });
  expect(reportToText(report)).toContain(`  received       ${phrase}\n`);
  expect(reportToMarkdown(report)).toContain(`\nReceived ${phrase}\n`);
});

it('lists submodules', () => {
  const one = {
    commit: 'c',
    engine: 'native',
    files: 1200,
    kept: 0,
    bytesWritten: 5_000_000,
    workers: 2,
    ms: 300,
  } as const;
  const report = sampleReport({
    submodules: [
      { path: 'libs/a', ...one },
      { path: 'b|c', ...one },
    ],
  });
  expect(reportToText(report)).toContain(`
Submodules
  path    files  written    time
  libs/a  1,200  5.00 MB  300 ms
  b|c     1,200  5.00 MB  300 ms
`);
  expect(reportToMarkdown(report)).toContain('| ` libs/a ` | 1,200 | 5.00 MB | 300 ms |');
  const many = sampleReport({ submodules: Array.from({ length: 2000 }, (_, i) => ({ path: `s${i}`, ...one })) });
  expect(reportToText(many)).toContain('more, all of them in the JSON report');
  expect(reportToMarkdown(many)).toContain('more submodules');
});
