/** A defect that leaves a promise unsettled must not pass for success: Node.js would end with 0. */

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { fixture, runCliProcess, temporaryFolder } from '../../../support/programs/cli.ts';

it('ends with exit code 1 and an error if the program waits for something that never happens', async () => {
  await using folder = await temporaryFolder();
  const preload = join(folder.path, 'never.cjs');
  await writeFile(preload, "require('node:fs/promises').open = () => new Promise(() => {});\n");
  const run = await runCliProcess(['verify', fixture('pe/hello.exe')], {
    env: { NODE_OPTIONS: `--require ${preload}` },
  });
  expect([run.code, run.stdout]).toEqual([1, '']);
  expect(run.stderr).toMatch(/^error {4}the program ended without a result.* \[internal\]$/m);
});
