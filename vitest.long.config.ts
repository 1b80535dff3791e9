import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Those that take longest, which begin first, so that all workers end at about the same time. */
const SLOWEST = [
  'fuzz/fuzz',
  'package/release',
  'interop/large-packages',
  'system/image',
  'hostile/commands',
  'hostile/containers',
  'windows/results',
  'windows/surroundings',
  'kill/kill',
  'special/containers',
  'documentation/command-blocks',
  'verdicts/verdicts',
  'system/invariants',
  'pdf/pdf',
  'windows/kills',
  'system/outages',
  'faults/faults',
  'conformance/suite',
  'inside/zip64',
];

class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rankOf = ({ moduleId }: TestSpecification): number => {
      const rank = SLOWEST.findIndex((name) => moduleId.includes(`/${name}.`));
      return rank < 0 ? SLOWEST.length : rank;
    };
    return (await super.sort(files)).sort((one, other) => rankOf(one) - rankOf(other));
  }
}

/** Set by test/run-long.mjs for a whole run, if Windows' Node.js is given. */
const withWindows = process.env.CODESIGN_TEST_WINDOWS === 'yes';

/** Tests that measure the memory of their own process. Memory that earlier tests freed would hide what they use. */
const MEASURED = ['**/large-files.long.test.ts', '**/hostile.long.test.ts', '**/long-history.long.test.ts'];

const common = {
  setupFiles: 'test/support/equal-bytes.ts',
  pool: 'forks' as const,
  testTimeout: 600_000,
  hookTimeout: 300_000,
  expect: { poll: { timeout: 20_000 } },
};

// What takes minutes, or needs more than the repository holds; `npm run test:long` starts it (test/run-long.mjs).
export default defineConfig({
  test: {
    globalSetup: ['test/support/shared-folder.ts', ...(withWindows ? ['test/windows/set-up.ts'] : [])],
    sequence: { sequencer: SlowestFirst },
    // More than there are cores: many of them wait, for servers, time limits and other programs.
    maxWorkers: Math.max(4, availableParallelism()),
    projects: [
      {
        test: {
          ...common,
          name: 'long',
          include: [
            'test/**/*.long.test.ts',
            'server/{test,conformance}/**/*.long.test.ts',
            ...(withWindows ? ['test/windows/*.windows.test.ts'] : []),
          ],
          exclude: [...MEASURED, '**/node_modules/**'],
          // Files share the modules that they load, which takes seconds for each process.
          isolate: false,
        },
      },
      { test: { ...common, name: 'memory', include: MEASURED, exclude: ['**/node_modules/**'] } },
    ],
  },
});
