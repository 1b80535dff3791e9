/** The `hookModulePath` of @electron/windows-sign, which Electron Forge, Packager and winstaller use. */

import { toCodesignError } from '../errors/codesign-error.ts';
import { exitCodeFor } from '../errors/exit-codes.ts';
import { say, signForBuild } from './sign-for-build.ts';

/**
 * @electron/windows-sign shows the errors of hooks only in its debug output. Therefore this hook prints each failure to
 * standard error and sets the exit code of the process.
 */
export default async function sign(path: string): Promise<void> {
  try {
    await signForBuild({ path });
  } catch (thrown) {
    const error = toCodesignError(thrown);
    say(error.message);
    process.exitCode = exitCodeFor([error.category]);
    throw error;
  }
}
