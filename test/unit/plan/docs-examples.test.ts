/** The table of examples in docs/plan.md, row by row against the planner: a document that lies is a failing test. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { formatMemory } from '../../../src/engine/plan/memory.ts';
import { planCheckout } from '../../../src/engine/plan/plan-checkout.ts';

const DECIDED_BY: Readonly<Record<string, RegExp>> = {
  cores: /cores? online$/,
  quota: /the control group allows the time/,
  memory: /^memory for/,
  Windows: /on Windows$/,
  files: /^\d+ files/,
  threads: /more threads/,
  setting: /asked for$/,
};

function bytesOf(text: string): number {
  const [, number, unit] = /^([\d.]+) (MiB|GiB)$/.exec(text)!;
  return Number(number) * (unit === 'GiB' ? 2 ** 30 : 2 ** 20);
}

const document = readFileSync(new URL('../../../docs/plan.md', import.meta.url), 'utf8');
const rows = document
  .slice(document.indexOf('## Examples'))
  .split('\n')
  .filter((line) => /^\| \d/.test(line))
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .map(([, machine, workers, limit, decided]) => [machine!, workers!, limit!, decided!] as const);

it('there are examples', () => {
  expect(rows.length).toBeGreaterThan(10);
});

it.each(rows)('%s', (machine, workers, limit, decided) => {
  const parts = machine.split(', ');
  // Takes the part that matches; all must have been taken in the end.
  const take = (pattern: RegExp): string | undefined => {
    const at = parts.findIndex((part) => pattern.test(part));
    return at < 0 ? undefined : pattern.exec(parts.splice(at, 1)[0]!)![1];
  };
  const number = (text: string | undefined): number | null => (text === undefined ? null : Number(text));
  const askedLimit = take(/^memory-limit (.*)$/);
  const availableBytes = bytesOf(take(/^(.*) available$/)!);
  const plan = planCheckout({
    host: {
      platform: take(/^(Windows)$/) === undefined ? 'linux' : 'win32',
      cores: { online: Number(take(/^(\d+) cores$/)), affinity: null, quota: number(take(/^quota (.*)$/)) },
      memory: { totalBytes: 2 * availableBytes, availableBytes, cgroupLimitBytes: null, cgroupUsedBytes: null },
      pidsAvailable: number(take(/^(\d+) threads left$/)),
      fileSystem: { type: 'ext4', network: false },
    },
    files: Number(take(/^(\d+) files$/) ?? 90_000),
    workers: number(take(/^workers (\d+)$/)) ?? 'auto',
    memoryLimitBytes: askedLimit === undefined ? 'auto' : bytesOf(askedLimit),
  });
  expect(parts).toEqual([]);
  expect(String(plan.workers)).toBe(workers);
  expect(formatMemory(plan.memoryLimitBytes)).toBe(limit);
  expect(plan.reasons.find((reason) => reason.about === 'workers' && reason.decided)?.text).toMatch(
    DECIDED_BY[decided]!,
  );
});
