import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

// .ci/run sets TEST_RESULTS to a file and counts there what really ran.
const results = process.env['TEST_RESULTS'];

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
    testTimeout: 30_000,
    hookTimeout: 30_000,
    passWithNoTests: false,
    allowOnly: false,
    reporters: results === undefined ? ['default'] : ['default', ['json', { outputFile: results }]],
  },
}));
