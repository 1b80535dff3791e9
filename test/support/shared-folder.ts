/** A folder for one run of the tests: all temporary files of it are in there, and what takes long to make, and it is searched for credentials in the end. */

import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** How the test processes learn of the folder. */
export const SHARED_FOLDER_VARIABLE = 'CODESIGN_TEST_SHARED';

/** By which systems name the folder for temporary files, and the one for caches. */
const TEMPORARY = ['TMPDIR', 'TEMP', 'TMP'];
const CACHES = 'XDG_CACHE_HOME';

type Environment = Record<string, string | undefined>;

/** Vitest's global set-up; what it returns is the tear-down. */
export default function setUp(): Promise<() => Promise<void>> {
  return openRun(process.env);
}

/** Gives what ends the run: that throws, and has the process fail, when credentials are in what remains. */
export async function openRun(env: Environment): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'codesign-'));
  const temporary = join(folder, 't');
  await mkdir(temporary);
  // Tests run programs as other users too.
  await chmod(folder, 0o711);
  await chmod(temporary, 0o1777);
  const before = [...TEMPORARY, CACHES].map((name) => [name, env[name]] as const);
  env[SHARED_FOLDER_VARIABLE] = folder;
  for (const name of TEMPORARY) env[name] = temporary;
  env[CACHES] = join(folder, 'caches');
  return async () => {
    const { mustLeaveNoCredentials } = await import('./credential-watch.ts');
    try {
      await mustLeaveNoCredentials(folder);
    } catch (leak) {
      // Of a tear-down that fails, vitest reports, but does not fail itself.
      process.exitCode = 1;
      throw leak;
    } finally {
      for (const [name, value] of before) {
        if (value === undefined) delete env[name];
        else env[name] = value;
      }
      await rm(folder, { recursive: true, force: true });
    }
  };
}
