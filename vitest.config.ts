import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

const NOT_HERE = ['**/*.long.test.ts', '**/*.windows.test.ts', '**/node_modules/**'];
const MOCKED = 'test/**/*.mocked.test.ts';

const common = {
  setupFiles: 'test/support/equal-bytes.ts',
  pool: 'forks' as const,
  testTimeout: 30_000,
  hookTimeout: 60_000,
  expect: { poll: { timeout: 20_000 } },
};

// What needs longer belongs to `npm run test:long`.
export default defineConfig({
  test: {
    // One folder for a run: RSA keys of test servers are made in it once, by whoever needs them first.
    globalSetup: ['test/support/shared-folder.ts'],
    // One more than there are cores: some wait. Each further one loads all modules again.
    maxWorkers: availableParallelism() + 1,
    projects: [
      {
        test: {
          ...common,
          name: 'tests',
          include: ['test/**/*.test.ts', 'server/{test,conformance}/**/*.test.ts'],
          exclude: [...NOT_HERE, MOCKED],
          // Files share the modules that they load: in a process of its own, each takes 0.3 seconds more.
          isolate: false,
        },
      },
      // Modules that are replaced by `vi.mock` would be replaced for the next file too.
      { test: { ...common, name: 'mocked', include: [MOCKED], exclude: NOT_HERE, isolate: true } },
    ],
  },
});
