import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

// .ci/run sets TEST_RESULTS to a file and counts there what really ran.
const results = process.env['TEST_RESULTS'];

/** The unit tests are many short files: at the end they keep all processes at work until the last long one is done. */
class UnitTestsLast extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isUnit = ({ moduleId }: TestSpecification): boolean => moduleId.includes('/test/unit/');
    const sorted = await super.sort(files);
    return [...sorted.filter((file) => !isUnit(file)), ...sorted.filter(isUnit)];
  }
}

export default defineConfig(({ mode }) => ({
  test: {
    // `npm run test:long`, on any system.
    env: mode === 'long' ? { LONG_TESTS: '1' } : {},
    include: ['test/**/*.test.ts'],
    globalSetup: 'test/support/build-programs.ts',
    // A process for each file: tests change the working directory's umask, start threads and kill them.
    pool: 'forks',
    // By default vitest leaves a core idle, and there may be only two.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    sequence: { sequencer: UnitTestsLast },
    testTimeout: 30_000,
    hookTimeout: 30_000,
    passWithNoTests: false,
    allowOnly: false,
    reporters: results === undefined ? ['default'] : ['default', ['json', { outputFile: results }]],
  },
}));
