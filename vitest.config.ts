import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

// What needs longer belongs to `npm run test:long`.
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts', 'server/{test,conformance}/**/*.test.ts'],
    exclude: ['**/*.long.test.ts', '**/*.windows.test.ts', '**/node_modules/**'],
    // One folder for a run: RSA keys of test servers are made in it once, by whoever needs them first.
    globalSetup: ['test/support/shared-folder.ts'],
    pool: 'forks',
    // Vitest leaves one core to itself, which on two cores means one test file at a time; most of these wait for processes,
    // and for time to pass.
    maxWorkers: Math.max(3, availableParallelism() - 1),
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
