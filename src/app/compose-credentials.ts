import { isatty } from 'node:tty';
import { type Credentials, readCredentials } from '../options/credentials/credentials.ts';
import { type Account, type Keychain, openKeychain } from '../options/credentials/keychain.ts';
import { lookUp, NOTHING_STORED, type OptionValues } from '../options/lookup.ts';
import type { Environment, ProfileOptions } from '../options/options.ts';
import { resolveProxies } from '../options/resolve.ts';
import { checkName, openProfiles, type Profiles } from '../options/stored/profiles.ts';
import type { SigningServiceOptions } from '../service/client.ts';
import { checkCredentials } from '../service/client.ts';
import { nameProfile } from './compose-config.ts';
import { composeCallRecords, composeHttp } from './compose-connection.ts';

/** The user may be typing the password of the keychain at this moment. */
const PATIENCE_WITH_A_USER = 120_000;
/** A CI job must not hang at the keychain's prompt, which no user sees. */
const PATIENCE_ALONE = 15_000;

const STANDARD_INPUT = 0;
const STANDARD_ERROR = 2;

/** Opens no connection and no file before the first operation. */
export function composeKeychain(env: Environment): Keychain {
  const isWatched = isatty(STANDARD_INPUT) || isatty(STANDARD_ERROR);
  return openKeychain({ env, patienceMilliseconds: isWatched ? PATIENCE_WITH_A_USER : PATIENCE_ALONE });
}

/** `origin`: URL origin to which the credentials are sent; undefined if they are not sent. */
export async function composeCredentials(
  env: Environment,
  account: Account,
  origin: string | undefined,
): Promise<Credentials> {
  return readCredentials({ env, account, origin, keychain: composeKeychain(env) });
}

export type CredentialsComposition = Awaited<ReturnType<typeof composeCredentialsCommand>>;

/** If `mayBeNew` is true, neither the profile nor the environment needs to exist. */
export async function composeCredentialsCommand(
  options: OptionValues & ProfileOptions,
  env: Environment,
  { mayBeNew }: { readonly mayBeNew: boolean },
) {
  const profiles = await openProfiles(env);
  const settings = settingsOf(options, env, profiles, mayBeNew);
  return {
    settings,
    keychain: composeKeychain(env),
    profiles,
    read: () => composeCredentials(env, settings, settings.baseUrl?.origin),
    /** Calls the service once, and records the call in the audit log. */
    async check(baseUrl: URL, credentials: SigningServiceOptions['credentials']) {
      const { timeout, auditLog } = settings;
      const { onCall, warnings } = composeCallRecords(auditLog, () => undefined);
      const http = await composeHttp(settings, env);
      try {
        const request = { timeoutMilliseconds: timeout, onCall, now: Date.now };
        const check = await checkCredentials({ baseUrl, credentials, http, ...request });
        return { ...check, warnings: [...(check.warning === undefined ? [] : [check.warning]), ...warnings] };
      } finally {
        await http.close();
      }
    },
  };
}

/** With `mayBeNew`, the profile may be missing, because users may store credentials before other settings. */
function settingsOf(options: OptionValues & ProfileOptions, env: Environment, profiles: Profiles, mayBeNew: boolean) {
  const { name, from } = nameProfile(options, env);
  checkName(name, from);
  const isKnown = profiles.has(name) || !mayBeNew;
  const profile = isKnown ? profiles.read(name, from) : { ...NOTHING_STORED.profile, name };
  const look = lookUp(options, env, { project: undefined, profile });
  const environment = look.read('environment');
  const hasAddress = options.baseUrl !== undefined || profile.environments.has(environment);
  const isNew = mayBeNew && options.environment !== undefined && !hasAddress;
  return {
    profile: name,
    environment,
    baseUrl: isNew ? undefined : look.read('baseUrl'),
    isNewProfile: !profiles.has(name),
    storedAddress: profile.environments.get(environment),
    timeout: look.read('timeout'),
    caFile: look.read('caFile'),
    proxies: () => resolveProxies(look, env),
    auditLog: look.read('auditLog'),
  };
}
