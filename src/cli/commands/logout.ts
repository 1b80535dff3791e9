/** `codesign-remote logout`: removes the credentials of a profile from the keychain. */

import { composeCredentialsCommand } from '../../app/compose-credentials.ts';
import { hasCredentials } from '../../options/credentials/credentials.ts';
import { accountName, accountText } from '../../options/credentials/keychain.ts';
import type { OptionsOf } from '../../options/table.ts';
import type { Io } from '../io.ts';
import { Lines } from '../output/lines.ts';

/** Returns the exit code: 0 even if there were no credentials. Throws errors of usage and of the keychain. */
export async function logout(options: OptionsOf<'logout'>, io: Io): Promise<number> {
  const lines = new Lines(io, options);
  const { settings, keychain } = await composeCredentialsCommand(options, io.env, { mayBeNew: true });
  const wereThere = await keychain.remove(accountName(settings));
  const profile = accountText(settings);
  lines.result(
    wereThere
      ? `removed  the credentials of profile ${profile} from the keychain`
      : `nothing  the keychain has no credentials of profile ${profile}`,
  );
  if (hasCredentials(io.env)) {
    lines.warning(
      'The credentials in the environment stay: CODESIGN_ACCESS_KEY, CODESIGN_ACCESS_SECRET, CODESIGN_ACCESS_SECRET_FILE.',
    );
  }
  return 0;
}
