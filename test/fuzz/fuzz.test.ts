/**
 * Cases that the fuzzer found, and a short run of it with a seed that stays. `npm run fuzz -- SECONDS` looks for more.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { Workplace, fuzz } from './fuzzer.ts';
import type { Case } from './model.ts';
import { reproduction } from './reproduce.ts';

const place = new Workplace();
afterAll(() => {
  place.close();
});

const folder = join(import.meta.dirname, 'cases');

describe('cases that were found', () => {
  for (const file of readdirSync(folder).sort()) {
    it(file.replace(/\.json$/, '').replaceAll('-', ' '), async () => {
      const one = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Case;
      const { differences } = await place.run(one);
      expect(differences).toEqual([]);
    });
  }
});

describe('random cases', () => {
  it('are as with git', async () => {
    // The seed stays so that a run repeats; 40 cases are 5 s of a core.
    const { failure, coverage } = await fuzz(place, { seed: 20_261_201, cases: 40 });
    if (failure !== null) {
      const steps = reproduction(failure.case);
      expect.fail(`${failure.differences.join('\n')}\n${JSON.stringify(failure.case)}\n${steps}`);
    }
    expect(coverage.cases).toBe(40);
    // Most of them must have been our engine's work, and some of it that of threads.
    expect(coverage.native).toBeGreaterThan(20);
    expect(coverage.threads).toBeGreaterThan(0);
  }, 240_000);
});
