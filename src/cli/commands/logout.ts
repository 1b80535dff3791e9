/** `codesign-remote logout`: takes the credentials of a profile out of the keychain. */

import { composeCredentialsCommand } from '../../app/compose-credentials.ts';
import { hasCredentials } from '../../options/credentials/credentials.ts';
import type { OptionsOf } from '../../options/table.ts';
import type { Io } from '../io.ts';
import { Lines } from '../output/lines.ts';

/** Gives the exit code: that there were none is none's fault. Throws usage, and the keychain's errors. */
export async function logout(options: OptionsOf<'logout'>, io: Io): Promise<number> {
  const { quiet = false, verbose = false } = options;
  const lines = new Lines(io, { quiet, verbose, json: false });
  const { settings, keychain } = await composeCredentialsCommand(options, io.env);
  const { profile } = settings;
  const wereThere = await keychain.remove(profile);
  lines.result(
    wereThere
      ? `removed  the credentials of profile ${profile} from the keychain`
      : `nothing  the keychain holds no credentials of profile ${profile}`,
  );
  if (hasCredentials(io.env)) {
    lines.warning(
      'Those in the environment stay: CODESIGN_ACCESS_KEY, CODESIGN_ACCESS_SECRET, CODESIGN_ACCESS_SECRET_FILE.',
    );
  }
  return 0;
}
