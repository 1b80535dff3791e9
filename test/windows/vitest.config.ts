import { defineConfig } from 'vitest/config';

// Windows' own Node.js under Wine; `npm run test:windows` starts it (test/windows/run.mjs).
export default defineConfig({
  test: {
    include: ['test/windows/*.windows.test.ts'],
    globalSetup: ['test/windows/set-up.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
});
