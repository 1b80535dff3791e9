/** Where credentials come from: the environment, or this user's keychain. */

import { isatty } from 'node:tty';
import { type Credentials, readCredentials } from '../settings/credentials.ts';
import type { Keychain } from '../settings/keychain.ts';
import { openKeychain } from '../settings/keychain-keytar.ts';
import type { Environment } from '../settings/options.ts';

/** Somebody may be typing the keychain's password. */
const PATIENCE_WITH_A_USER = 120_000;
/** A build must not hang: there nobody sees what the keychain asks. */
const PATIENCE_ALONE = 15_000;

const STANDARD_INPUT = 0;
const STANDARD_ERROR = 2;

/** Nothing is opened before the first operation. */
export function composeKeychain(env: Environment): Keychain {
  const isWatched = isatty(STANDARD_INPUT) || isatty(STANDARD_ERROR);
  return openKeychain({ env, patienceMilliseconds: isWatched ? PATIENCE_WITH_A_USER : PATIENCE_ALONE });
}

/** Throws what `readCredentials` throws. `origin`: where they will be sent; undefined for nowhere. */
export async function composeCredentials(
  env: Environment,
  profile: string,
  origin: string | undefined,
): Promise<Credentials> {
  return readCredentials({ env, profile, origin, keychain: composeKeychain(env) });
}
