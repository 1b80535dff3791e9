import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

// What takes minutes, or needs more than the repository holds; `npm run test:long` starts it (test/run-long.mjs).
export default defineConfig({
  test: {
    include: ['test/**/*.long.test.ts', 'server/{test,conformance}/**/*.long.test.ts'],
    globalSetup: ['test/support/shared-folder.ts'],
    setupFiles: 'test/support/equal-bytes.ts',
    pool: 'forks',
    maxWorkers: Math.max(2, availableParallelism() - 1),
    testTimeout: 600_000,
    hookTimeout: 300_000,
  },
});
