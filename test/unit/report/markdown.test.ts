import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { codeSpan, markdownText, reportToMarkdown, SUMMARY_LIMIT_BYTES } from '../../../src/engine/report/markdown.ts';
import { sampleReport, workerCost } from './sample.ts';

it('shows totals, phases, workers and the plan', () => {
  expect(reportToMarkdown(sampleReport())).toBe(`\
### parallel-checkout

| Files | Written | Time | CPU user | CPU system | Peak memory | Engine | Workers | Kept | Removed |
| --- | --: | --: | --: | --: | --: | --: | --: | --: | --: |
| 86,691 | 1.40 GB | 3.15 s | 3.30 s | 2.45 s | 210 MB | native | 2 | 12 | 3 |

Commit \` 1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d \`

| Phase | manifest | write | index |
| --- | --: | --: | --: |
| Time | 220 ms | 2.80 s | 60 ms |

| Worker | Files | Written | Time | CPU user | CPU system | Waiting | Peak memory |
| --- | --: | --: | --: | --: | --: | --: | --: |
| 1 | 43,000 | 700 MB | 2.80 s | 1.50 s | 1.20 s | 90 ms | 21.0 MB |
| 2 (died) | 43,691 | 700 MB | 2.80 s | 1.50 s | 1.20 s | 90 ms | 21.0 MB |

Plan: 2 workers, memory limit 128 MB

- **workers: 2 cores&#58; the control group allows 2 of 16**
- workers: memory is enough for 20 workers
- **lanes: ext4 is a local file system**
`);
});

it('keeps every row of up to 64 workers, and shares rows beyond', () => {
  const rows = (count: number) =>
    reportToMarkdown(sampleReport({ workers: Array.from({ length: count }, (_, i) => workerCost(i + 1)) }))
      .split('\n')
      .filter(
        (line) => /^\| (\d+|Workers \d+ to \d+) \| [\d,]+ \| [\d.]+ .B/.test(line) && line.split('|').length === 10,
      );
  expect(rows(64)).toHaveLength(64);
  expect(rows(1024)).toHaveLength(64);
  expect(rows(1024)[0]).toMatch(/^\| Workers 1 to 16 \| 688,000 \| 11\.2 GB \| 2\.80 s \| 24\.0 s /);
});

it('stays below the limit whatever there is to tell', () => {
  const longest = '\udbff\udfff@#`|<'.repeat(50_000);
  const most = <Item>(item: Item) => Array.from({ length: 20_000 }, () => item);
  const text = reportToMarkdown(
    sampleReport({
      workers: Array.from({ length: 1024 }, (_, i) => workerCost(i + 1, { died: true })),
      skipped: most({ path: longest, reason: '@'.repeat(50_000) }),
      fallbacks: most({ stage: 'checkout' as const, reason: longest }),
      plan: { ...sampleReport().plan, reasons: most({ about: 'workers' as const, text: longest, decided: true }) },
      error: { code: 'io', message: longest, subject: {} },
    }),
  );
  const bytes = Buffer.byteLength(text);
  expect(bytes).toBeGreaterThan(100_000);
  expect(bytes).toBeLessThan(0.7 * SUMMARY_LIMIT_BYTES);
  expect(text).toContain('… and 19,900 more');
});

describe('hostile names', () => {
  const hostile = [
    '`` ` ```',
    '`',
    '<script>alert(1)</script>',
    '<!-- ',
    '](http://evil.example) @octocat #1 **x** | y |',
    'a\n\n# heading\n| a | b |\n',
    '![x](http://evil.example/x.png)',
    '&lt;b&gt;',
    '\\`',
    '',
  ];

  it.each(hostile)('%j stays one code span', (path) => {
    const span = codeSpan(path);
    const fence = /^`+/.exec(span)![0];
    expect(span.startsWith(`${fence} `) && span.endsWith(` ${fence}`)).toBe(true);
    const inner = span.slice(fence.length, -fence.length);
    expect((inner.match(/`+/g) ?? []).every((run) => run.length < fence.length)).toBe(true);
    expect(span).not.toContain('\n');
  });

  it.each(hostile)('%j in a sentence has nothing left that Markdown or GitHub reads', (reason) => {
    const text = markdownText(reason);
    expect(text.replaceAll(/&#\d+;/g, '')).not.toMatch(/[`<>[\]\\*_|&@#!:~^${}\n-]/);
  });

  it('of any kind leave the structure of the report as it was', () => {
    const structure = (text: string) => text.split('\n').map((line) => line.slice(0, 2));
    const expected = structure(
      reportToMarkdown(
        sampleReport({ skipped: [{ path: 'a', reason: 'b' }], fallbacks: [{ stage: 'fetch', reason: 'c' }] }),
      ),
    );
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (path, reason) => {
        const text = reportToMarkdown(
          sampleReport({ skipped: [{ path, reason }], fallbacks: [{ stage: 'fetch', reason }] }),
        );
        expect(structure(text)).toEqual(expected);
      }),
    );
  });

  it('cannot mention, refer or link in a sentence', () => {
    expect(markdownText('@octocat')).toBe('&#64;&#8203;octocat');
    expect(markdownText('#12')).toBe('&#35;&#8203;12');
    expect(markdownText('www.evil.example')).toBe('www&#46;evil.example');
    expect(markdownText('http://evil.example')).toBe('http&#58;&#47;&#47;evil.example');
    expect(markdownText('1. item')).toBe('1&#46; item');
    expect(markdownText('1) item')).toBe('1&#41; item');
  });
});

it('tells of a failure first', () => {
  const text = reportToMarkdown(
    sampleReport({ error: { code: 'path-invalid', message: 'refusing <b>.git</b>', subject: {} } }),
  );
  expect(text.split('\n')[2]).toBe('**Failed** (` path-invalid `): refusing &#60;b&#62;.git&#60;&#47;b&#62;');
});
