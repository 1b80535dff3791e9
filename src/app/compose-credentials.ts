import { isatty } from 'node:tty';
import { resolveCredentialsSettings } from '../options/commands/credentials.ts';
import { type Credentials, readCredentials } from '../options/credentials/credentials.ts';
import { type Account, type Keychain, openKeychain } from '../options/credentials/keychain.ts';
import type { OptionValues } from '../options/lookup.ts';
import type { Environment, ProfileOptions } from '../options/options.ts';
import { openProfiles } from '../options/stored/profiles.ts';
import type { SigningServiceOptions } from '../service/client.ts';
import { checkCredentials } from '../service/client.ts';
import { nameProfile } from './compose-config.ts';
import { composeCallRecords, composeHttp } from './compose-connection.ts';

/** The user may be typing the keychain's password. */
const PATIENCE_WITH_A_USER = 120_000;
/** A build must not hang: there no user sees what the keychain asks. */
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
  account: Account,
  origin: string | undefined,
): Promise<Credentials> {
  return readCredentials({ env, account, origin, keychain: composeKeychain(env) });
}

export type CredentialsComposition = Awaited<ReturnType<typeof composeCredentialsCommand>>;

/** For a profile that need not exist yet; `mayBeNew`: nor the environment that an option names. Throws usage. */
export async function composeCredentialsCommand(
  options: OptionValues & ProfileOptions,
  env: Environment,
  { mayBeNew }: { readonly mayBeNew: boolean },
) {
  const profiles = await openProfiles(env);
  const settings = resolveCredentialsSettings(options, env, nameProfile(options, env), profiles, mayBeNew);
  return {
    settings,
    keychain: composeKeychain(env),
    profiles,
    /** Those that `sign` would use. Throws what `readCredentials` throws. */
    read: () => composeCredentials(env, settings, settings.baseUrl?.origin),
    /**
     * Asks the service, once, on record: gives its answer, and warnings on that and on the audit log. Throws what
     * `checkCredentials` throws, and what makes every request impossible.
     */
    async check(baseUrl: URL, credentials: SigningServiceOptions['credentials']) {
      const { timeoutMilliseconds, auditLog } = settings;
      const { onCall, warnings } = composeCallRecords(auditLog, () => undefined);
      const http = await composeHttp(settings, env);
      try {
        const now = Date.now;
        const check = await checkCredentials({ baseUrl, credentials, http, timeoutMilliseconds, onCall, now });
        return { ...check, warnings: [...(check.warning === undefined ? [] : [check.warning]), ...warnings] };
      } finally {
        await http.close();
      }
    },
  };
}
