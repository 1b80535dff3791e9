// `npm run test:long`: what takes minutes, or needs more than the repository holds. Folders may be given:
// CODESIGN_TEST_CORPUS (real files and peculiar ones, in folders pe and pe-special, jar and jar-special, ps1-special, msi, cab, pkg-special) and
// CODESIGN_TEST_VERIFIERS (sigcheck.py, wvt.sh, make-pki.sh and JarCheck.java), CODESIGN_TEST_X509 (suites of CRLs, OCSP
// answers and certification paths: test/unit/certificates/suites/README.md), CODESIGN_TEST_PAIRS (files before and after signtool), CODESIGN_TEST_VERDICTS
// (files with the verdict that each deserves), CODESIGN_TEST_PEERS (files of other projects), CODESIGN_TEST_BUILD_TOOLS (where npm has
// installed app-builder-lib, its version 22 as app-builder-lib-22, and @electron/windows-sign), CODESIGN_TEST_NODES
// (further versions of Node, each in a folder named by it: 24/node_modules/.bin/node). CODESIGN_TEST_JAVAS may name more JDKs
// than the one on the PATH (test/support/programs/java.ts). CODESIGN_TEST_WINDOWS_NODE adds the tests of test/windows. The last line is `N passed, N failed`.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { buildWhenStale } from '../server/scripts/fresh-build.mjs';
import { asScript } from '../server/scripts/run.mjs';
import { setUp } from '../server/scripts/set-up.mjs';
import { runVitest } from './vitest-counts.mjs';
import { requireWindowsVariables } from './windows/run.mjs';

const FOLDERS = [
  { variable: 'CODESIGN_TEST_CORPUS', without: 'no program of the corpus is signed' },
  { variable: 'CODESIGN_TEST_VERIFIERS', without: 'only the installed verifiers check signatures' },
  { variable: 'CODESIGN_TEST_X509', without: 'no suite of CRLs, OCSP answers and paths that others made is run' },
  { variable: 'CODESIGN_TEST_PAIRS', without: 'no file is compared with what signtool made of it' },
  { variable: 'CODESIGN_TEST_VERDICTS', without: 'no file of the verdict corpus is judged' },
  { variable: 'CODESIGN_TEST_PEERS', without: 'no file of other projects is tried' },
  {
    variable: 'CODESIGN_TEST_BUILD_TOOLS',
    without: 'neither electron-builder nor @electron/windows-sign calls its hook',
  },
  { variable: 'CODESIGN_TEST_WINDOWS_NODE', without: "nothing runs under Windows' Node.js" },
];

await asScript(async (vitestArguments) => {
  const say = (line) => console.log(line);
  const env = { ...process.env };
  const leftOut = [];
  for (const { variable, without } of FOLDERS) {
    const folder = env[variable];
    if (!folder) {
      leftOut.push(`left out: ${variable} is not set, so ${without}`);
      continue;
    }
    env[variable] = path.resolve(folder);
    if (!existsSync(folder)) throw new Error(`${variable} names ${folder}, which does not exist`);
  }

  // Arguments choose among the long tests; `npm run test:windows` runs the Windows tests alone.
  const withWindows = Boolean(env.CODESIGN_TEST_WINDOWS_NODE) && vitestArguments.length === 0;
  if (withWindows) {
    requireWindowsVariables(env);
    env.CODESIGN_TEST_WINDOWS = 'yes';
  }
  await setUp({ forTests: true, forLongTests: true, forWindowsTests: withWindows, say });
  await buildWhenStale(say);
  const { passed, failed, skipped } = await runVitest(['--config', 'vitest.long.config.ts', ...vitestArguments], env);
  for (const line of leftOut) say(line);
  if (skipped > 0) say(`${skipped} skipped`);
  say(`${passed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
});
