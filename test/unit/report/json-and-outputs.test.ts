import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { PhaseName } from '../../../src/engine/cost.ts';
import type { ErrorCode } from '../../../src/engine/errors.ts';
import { errorToJson, planToJson, reportToJson } from '../../../src/engine/report/json.ts';
import { reportToOutputs } from '../../../src/engine/report/outputs.ts';
import { sampleReport, workerCost } from './sample.ts';

it('is the same value as JSON, with nothing in it that drives a terminal', () => {
  const report = sampleReport({ skipped: [{ path: 'a\u009b31m\u202e\u001b[1m', reason: 'ä😀' }] });
  const text = reportToJson(report);
  expect(JSON.parse(text)).toEqual(report);
  expect(text).toMatch(/\}\n$/);
  expect(text).toContain('a\\u009b31m\\u202e\\u001b[1m');
  expect(text).toContain('ä😀');
  expect(JSON.parse(planToJson(report.plan))).toEqual(report.plan);
  const error = { code: 'io', message: 'm', subject: { path: 'p' } } as const;
  expect(JSON.parse(errorToJson({ schemaVersion: 1, error }))).toEqual({ schemaVersion: 1, error });
});

it('gives plain digits for the outputs', () => {
  expect(
    reportToOutputs(sampleReport({ totals: { ...sampleReport().totals, wallMs: 3150.4, peakRssBytes: 2.1e8 } })),
  ).toEqual({
    engine: 'native',
    workers: '2',
    files: '86691',
    bytes: '1400000000',
    'duration-ms': '3150',
    'peak-memory-bytes': '210000000',
  });
});

it('counts the workers that ran; for git those that it was told to use', () => {
  expect(reportToOutputs(sampleReport({ workers: [workerCost(0)] })).workers).toBe('0');
  expect(reportToOutputs(sampleReport({ workers: [workerCost(0), workerCost(1)] })).workers).toBe('1');
  expect(reportToOutputs(sampleReport({ engine: 'git', workers: [] })).workers).toBe('2');
});

it('documents every key of the schema', () => {
  const document = reportDocument();
  const report = sampleReport({
    received: { bytes: 1, objects: 2, requests: 3, networkWaitMs: 4, engineWaitMs: 5, filesWritten: 6 },
    submodules: [{ path: 's', commit: 'c', engine: 'native', files: 1, kept: 0, bytesWritten: 2, workers: 0, ms: 3 }],
    skipped: [{ path: 'a', reason: 'b' }],
    fallbacks: [{ stage: 'fetch', reason: 'c' }],
    error: { code: 'io', message: 'm', subject: { path: 'p', oid: 'o', option: 'q', errno: 'ENOSPC' } },
  });
  const documented = new Set([...document.matchAll(/^\| `([^`]+)` +\|/gm)].map((match) => match[1]!));
  const keys = new Set(keyPaths(report, ''));
  expect([...keys].filter((key) => !documented.has(key))).toEqual([]);
  expect([...documented].filter((key) => !keys.has(key) && key.includes('.'))).toEqual([]);
  // The example in the document is a report too: same keys, whichever of the optional ones it shows.
  const example = JSON.parse(/```json\n([\s\S]*?)```/.exec(document)![1]!) as object;
  expect(keyPaths(example, '').filter((key) => !keys.has(key))).toEqual([]);
});

it('documents every phase and every error code', () => {
  // The compiler holds these complete.
  const phases: Record<PhaseName, true> = {
    clean: true,
    start: true,
    fetch: true,
    manifest: true,
    'fetch-missing': true,
    'fetch-lfs': true,
    clear: true,
    write: true,
    links: true,
    index: true,
    submodules: true,
    'git-checkout': true,
  };
  const codes: Record<ErrorCode, true> = {
    usage: true,
    'not-a-repository': true,
    'unsupported-repository': true,
    'unknown-revision': true,
    'object-missing': true,
    'object-corrupt': true,
    'tree-invalid': true,
    'tree-too-deep': true,
    'path-invalid': true,
    'config-invalid': true,
    'index-locked': true,
    'index-corrupt': true,
    'local-changes': true,
    'ref-locked': true,
    'filter-failed': true,
    'clean-failed': true,
    'write-failed': true,
    io: true,
    memory: true,
    'git-failed': true,
    'git-missing': true,
    'hook-failed': true,
    'fetch-failed': true,
    'authentication-failed': true,
    unsupported: true,
    interrupted: true,
  };
  const rows = (heading: string) => {
    const [section = ''] = reportDocument().split(`### ${heading}\n`)[1]!.split(/^##/m);
    return [...section.matchAll(/^\| `([^`]+)` +\|/gm)].map((match) => match[1]!);
  };
  expect(rows('Phases').sort()).toEqual(Object.keys(phases).sort());
  expect(rows('Errors').sort()).toEqual(Object.keys(codes).sort());
});

function reportDocument(): string {
  return readFileSync(join(import.meta.dirname, '../../../docs/report.md'), 'utf8');
}

function keyPaths(value: unknown, path: string): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => keyPaths(item, `${path}[]`));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const here = path === '' ? key : `${path}.${key}`;
    return [here, ...keyPaths(inner, here)];
  });
}
