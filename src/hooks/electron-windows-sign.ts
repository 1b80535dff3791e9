/** The hook module of @electron/windows-sign, which Electron Forge, Packager and winstaller sign through: `hookModulePath`. */

import { toCodesignError } from '../errors/codesign-error.ts';
import { exitCodeFor } from '../errors/exit-codes.ts';
import { say, signForBuild } from './sign-for-build.ts';

/**
 * Signs a file of the build. @electron/windows-sign goes on when a hook throws, and says so only in its debug output: so
 * that no unsigned program looks signed, the failure is printed on standard error, and the process will end
 * with its exit code. Throws a CodesignError.
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
