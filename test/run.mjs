// `npm test`: sets up what is missing, then formatter and linter, type check, build, and every test that is not long.
// The last line is `N passed, N failed`: the tests and the named checks together.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { asScript } from '../server/scripts/run.mjs';
import { setUp } from '../server/scripts/set-up.mjs';
import { runVitest } from './vitest-counts.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

const CHECKS = [
  {
    name: 'formatter and linter',
    script: 'node_modules/@biomejs/biome/bin/biome',
    args: ['check', '--error-on-warnings', '.'],
  },
  { name: 'type check', script: 'node_modules/typescript-7/bin/tsc', args: ['--noEmit', '-p', 'tsconfig.json'] },
  { name: 'build', script: 'build.mjs', args: [] },
];

/** Whether the check succeeded; what it says goes to the terminal as it comes. */
async function passes({ script, args }) {
  const child = spawn(process.execPath, [script, ...args], { cwd: root, stdio: 'inherit' });
  return (await new Promise((resolve) => child.once('close', resolve))) === 0;
}

await asScript(async (vitestArguments) => {
  await setUp({ forTests: true, say: (line) => console.log(line) });

  let failedChecks = 0;
  for (const check of CHECKS) {
    console.log(`\n== ${check.name}`);
    const passed = await passes(check);
    if (!passed) failedChecks++;
    console.log(`${check.name}: ${passed ? 'passed' : 'FAILED'}`);
  }

  console.log('\n== tests');
  const tests = await runVitest(vitestArguments);
  if (tests.skipped > 0) console.log(`${tests.skipped} skipped`);
  const failed = tests.failed + failedChecks;
  console.log(`${tests.passed + CHECKS.length - failedChecks} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
});
