/** A folder for one run of the tests: what takes long to make (RSA keys in an HSM) is made in it once, by whoever needs it first. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** How the test processes learn of the folder. */
export const SHARED_FOLDER_VARIABLE = 'CODESIGN_TEST_SHARED';

/** Vitest's global set-up; what it returns is the tear-down. */
export default async function setUp(): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'codesign-shared-'));
  process.env[SHARED_FOLDER_VARIABLE] = folder;
  return () => rm(folder, { recursive: true, force: true });
}
