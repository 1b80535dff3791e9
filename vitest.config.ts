import { defineConfig } from 'vitest/config';
import { workersFromSource } from './test/support/workers-from-source.ts';

// Two cores: more workers than that only slows each other down. What needs longer belongs to `npm run test:long`.
export default defineConfig({
  plugins: [workersFromSource()],
  test: {
    include: ['test/**/*.test.ts', 'server/test/**/*.test.ts'],
    exclude: ['**/*.long.test.ts', '**/node_modules/**'],
    // One folder for a run: RSA keys of test servers are made in it once, by whoever needs them first.
    globalSetup: ['test/support/shared-folder.ts'],
    pool: 'forks',
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
