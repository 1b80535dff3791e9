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

/** Whether the check succeeded; what it said is printed when it ends. */
async function passes({ name, script, args }) {
  const child = spawn(process.execPath, [script, ...args], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  const said = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => said.push(chunk));
  const passed = (await new Promise((resolve) => child.once('close', resolve))) === 0;
  console.log(`\n== ${name}\n${Buffer.concat(said)}${name}: ${passed ? 'passed' : 'FAILED'}`);
  return passed;
}

await asScript(async (vitestArguments) => {
  await setUp({ forTests: true, say: (line) => console.log(line) });

  const checks = await Promise.all(CHECKS.map(passes));
  const failedChecks = checks.filter((passed) => !passed).length;

  console.log('\n== tests');
  const tests = await runVitest(vitestArguments);
  if (tests.skipped > 0) console.log(`${tests.skipped} skipped`);
  const failed = tests.failed + failedChecks;
  console.log(`${tests.passed + CHECKS.length - failedChecks} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
});
