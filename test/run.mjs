// `npm test`: sets up what is missing and builds, then runs every test that is not long, next to formatter, linter and type check.
// The last line is `N passed, N failed`: the tests and the named checks together.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { asScript } from '../server/scripts/run.mjs';
import { setUp } from '../server/scripts/set-up.mjs';
import { runVitest } from './vitest-counts.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

const BUILD = { name: 'build', script: 'build.mjs', args: [] };
const CHECKS = [
  {
    name: 'formatter and linter',
    script: 'node_modules/@biomejs/biome/bin/biome',
    args: ['check', '--error-on-warnings', '.'],
  },
  { name: 'type check', script: 'node_modules/typescript-7/bin/tsc', args: ['--noEmit', '-p', 'tsconfig.json'] },
];

/** Whether it succeeded, and what it said. */
async function run({ name, script, args }) {
  const child = spawn(process.execPath, [script, ...args], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  const said = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => said.push(chunk));
  const passed = (await new Promise((resolve) => child.once('close', resolve))) === 0;
  return { passed, text: `\n== ${name}\n${Buffer.concat(said)}${name}: ${passed ? 'passed' : 'FAILED'}` };
}

await asScript(async (vitestArguments) => {
  await setUp({ forTests: true, say: (line) => console.log(line) });

  // The tests run what is built; they leave a processor idle while they wait.
  const checking = CHECKS.map(run);
  const built = await run(BUILD);
  console.log(`${built.text}\n\n== tests`);
  const tests = await runVitest(vitestArguments);
  const checked = await Promise.all(checking);
  for (const { text } of checked) console.log(text);
  const failedChecks = [built, ...checked].filter(({ passed }) => !passed).length;
  if (tests.skipped > 0) console.log(`${tests.skipped} skipped`);
  const failed = tests.failed + failedChecks;
  console.log(`${tests.passed + 1 + CHECKS.length - failedChecks} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
});
