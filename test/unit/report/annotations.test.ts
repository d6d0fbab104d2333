import { describe, expect, it } from 'vitest';
import { reportToAnnotations } from '../../../src/engine/report/annotations.ts';
import { sampleReport, workerCost } from './sample.ts';

const workers = (count: number) => Array.from({ length: count }, (_, i) => workerCost(i + 1, { files: i + 1 }));

it('gives the outcome and each worker its own notice where they fit', () => {
  const annotations = reportToAnnotations(sampleReport({ workers: workers(2) }));
  expect(annotations).toEqual([
    {
      level: 'notice',
      title: 'parallel-checkout',
      message:
        'Checked out 86,691 files, 1.40 GB in 3.15 s by the native engine with 2 workers, peak memory 210 MB\n' +
        'workers: 2 cores: the control group allows 2 of 16\nlanes: ext4 is a local file system',
    },
    {
      level: 'notice',
      title: 'Worker 1',
      message: '1 file, 700 MB in 2.80 s; CPU 1.50 s user, 1.20 s system; waiting 90 ms; peak memory 21.0 MB',
    },
    {
      level: 'notice',
      title: 'Worker 2',
      message: '2 files, 700 MB in 2.80 s; CPU 1.50 s user, 1.20 s system; waiting 90 ms; peak memory 21.0 MB',
    },
  ]);
});

describe.each([1, 8, 9, 10, 17, 64, 1024])('with %d workers', (count) => {
  const annotations = reportToAnnotations(sampleReport({ workers: workers(count) }));

  it('there are at most ten, none longer than a runner shows', () => {
    expect(annotations).toHaveLength(Math.min(10, 1 + count));
    for (const { message } of annotations) expect(message.length).toBeLessThanOrEqual(4096);
  });

  it('every worker is in exactly one of them', () => {
    const covered = annotations.slice(1).flatMap(({ title }) => {
      const [first = 0, last = first] = [...title.matchAll(/\d+/g)].map(Number);
      return Array.from({ length: last - first + 1 }, (_, i) => first + i);
    });
    expect(covered).toEqual(Array.from({ length: count }, (_, i) => i + 1));
  });
});

it('says each worker of a shared notice in a line of its own, and sums up where that is too long', () => {
  const few = reportToAnnotations(sampleReport({ workers: workers(18) }))[1]!;
  expect(few.title).toBe('Workers 1 to 2');
  expect(few.message.split('\n')).toEqual([
    expect.stringMatching(/^1: 1 file, 700 MB/) as string,
    expect.stringMatching(/^2: 2 files, 700 MB/) as string,
  ]);
  const many = reportToAnnotations(sampleReport({ workers: workers(900) }))[1]!;
  expect(many.title).toBe('Workers 1 to 100');
  expect(many.message).toMatch(/^together: 5,050 files, 70\.0 GB in 2\.80 s; CPU 150 s user/);
});

it('adds no notice for a main thread that was alone', () => {
  expect(reportToAnnotations(sampleReport({ workers: [workerCost(0)] }))).toHaveLength(1);
});

it('warns of fallbacks, unwritten entries and dead workers, within the same ten', () => {
  const annotations = reportToAnnotations(
    sampleReport({
      workers: [...workers(30), workerCost(31, { died: true })],
      fallbacks: Array.from({ length: 30 }, (_, i) => ({ stage: 'checkout' as const, reason: `why ${i}` })),
      skipped: [{ path: 'a\nb', reason: 'too long' }],
      error: { code: 'write-failed', message: 'one entry was not written', subject: {} },
    }),
  );
  expect(annotations).toHaveLength(10);
  expect(annotations.map(({ level }) => level).join(' ')).toBe(
    'error notice warning warning warning notice notice notice notice notice',
  );
  expect(annotations[0]).toMatchObject({
    title: 'parallel-checkout failed (write-failed)',
    message: 'one entry was not written',
  });
  expect(annotations[1]!.message).toMatch(/^Until it failed: 86,691 files/);
  expect(annotations[2]!.message).toContain('why 9\n… and 20 more');
  expect(annotations[3]!.message).toBe('a\\x0ab: too long');
  expect(annotations[4]!.message).toBe('31 (died): others took its entries over');
});

it('keeps to a smaller limit, the most important first', () => {
  const annotations = reportToAnnotations(sampleReport({ workers: workers(5) }), 1);
  expect(annotations.map(({ title }) => title)).toEqual(['parallel-checkout']);
  expect(reportToAnnotations(sampleReport(), 0)).toEqual([]);
});
