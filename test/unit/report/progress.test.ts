import { describe, expect, it } from 'vitest';
import { formatProgress, ProgressMeter } from '../../../src/engine/report/progress.ts';
import type { Progress } from '../../../src/engine/settings.ts';

const at = (filesDone: number, bytesDone: number, phase: Progress['phase'] = 'write'): Progress => ({
  phase,
  filesDone,
  filesTotal: 1000,
  bytesDone,
});

it('formats what is known', () => {
  expect(formatProgress(at(145, 410_000_000), 520_000_000)).toBe('write: 145 of 1,000 files (14%), 410 MB, 520 MB/s');
  expect(formatProgress({ phase: 'fetch', filesDone: 0, filesTotal: 0, bytesDone: 5_000_000 }, null)).toBe(
    'fetch: 5.00 MB',
  );
  expect(formatProgress({ phase: 'write', filesDone: 7, filesTotal: 0, bytesDone: 0 }, 0)).toBe(
    'write: 7 files, 0 B, 0 B/s',
  );
});

describe('on a terminal', () => {
  it('rewrites one line at most ten times a second and erases it once', () => {
    const meter = new ProgressMeter({ live: true }, 0);
    const texts: string[] = [];
    for (let ms = 0; ms < 1000; ms += 10) texts.push(meter.update(at(ms, ms * 1000), ms));
    const shown = texts.filter((text) => text !== '');
    expect(shown).toHaveLength(10);
    for (const text of shown)
      expect([text.slice(0, 4), text.slice(4)]).toEqual(['\r\u001b[K', expect.stringMatching(/^[^\n\r]+$/) as string]);
    expect(meter.clear()).toBe('\r\u001b[K');
    expect(meter.clear()).toBe('');
  });

  it('keeps the line shorter than the window, whatever its width is by then', () => {
    let columns: number | undefined = 20;
    const meter = new ProgressMeter({ live: true, columns: () => columns }, 0);
    expect(meter.update(at(1, 1), 0).slice('\r\u001b[K'.length)).toHaveLength(19);
    columns = undefined;
    expect(meter.update(at(1, 1), 100).length).toBeGreaterThan(30);
    columns = 0;
    expect(meter.update(at(1, 1), 200).length).toBeGreaterThan(30);
  });
});

describe('in a log', () => {
  it('writes nothing in the first five seconds, then a line every five at most', () => {
    const meter = new ProgressMeter({ live: false }, 1000);
    const times: number[] = [];
    for (let ms = 1000; ms <= 21_000; ms += 50) {
      const text = meter.update(at(1, ms), ms);
      for (const control of ['\r', '\n', '\u001b']) expect(text).not.toContain(control);
      if (text !== '') times.push(ms);
    }
    expect(times).toEqual([6000, 11_000, 16_000, 21_000]);
    expect(meter.clear()).toBe('');
  });
});

describe('the rate', () => {
  it('is that of the last seconds, not of the whole run', () => {
    const meter = new ProgressMeter({ live: true }, 0);
    let bytes = 0;
    let text = '';
    for (let ms = 0; ms <= 20_000; ms += 100) {
      bytes += ms < 10_000 ? 100_000_000 : 1_000_000;
      text = meter.update(at(1, bytes), ms);
    }
    expect(text).toMatch(/, 10\.0 MB\/s$/);
  });

  it('starts anew with a phase', () => {
    const meter = new ProgressMeter({ live: true }, 0);
    meter.update(at(0, 0, 'fetch'), 0);
    meter.update(at(0, 900_000_000, 'fetch'), 1000);
    expect(meter.update(at(0, 0), 2000)).toMatch(/0 B$/);
    expect(meter.update(at(1, 2_000_000), 3000)).toMatch(/2\.00 MB\/s$/);
  });
});
