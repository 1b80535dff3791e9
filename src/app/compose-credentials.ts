import { isatty } from 'node:tty';
import { type Credentials, readCredentials } from '../options/credentials/credentials.ts';
import { type Account, type Keychain, openKeychain } from '../options/credentials/keychain.ts';
import { lookUp, NOTHING_STORED, type OptionValues } from '../options/lookup.ts';
import { resolveProxies } from '../options/resolve.ts';
import { checkName, credentialsPath, openProfiles, type Profiles } from '../options/stored/profiles.ts';
import type { Environment, ProfileOptions } from '../options/table.ts';
import type { SigningServiceOptions } from '../service/client.ts';
import { checkCredentials } from '../service/client.ts';
import { nameProfile } from './compose-config.ts';
import { composeCallRecords, composeHttp } from './compose-connection.ts';

/** Milliseconds in which a user can type the password of the keychain. */
const PATIENCE_WITH_A_USER = 120_000;
/** A CI job must not hang at a prompt that no user sees. */
const PATIENCE_ALONE = 15_000;

const STANDARD_INPUT = 0;
const STANDARD_ERROR = 2;

export function composeKeychain(env: Environment): Keychain {
  const isWatched = isatty(STANDARD_INPUT) || isatty(STANDARD_ERROR);
  return openKeychain({ env, patienceMilliseconds: isWatched ? PATIENCE_WITH_A_USER : PATIENCE_ALONE });
}

/** `origin` is undefined if the credentials are not sent. */
export async function composeCredentials(
  env: Environment,
  account: Account,
  origin: string | undefined,
): Promise<Credentials> {
  return readCredentials({ env, account, origin, keychain: composeKeychain(env), file: credentialsPath(env) });
}

export type CredentialsComposition = Awaited<ReturnType<typeof composeCredentialsCommand>>;

/**
 * With `mayBeNew`, neither the profile nor the environment needs to exist: users may store credentials before settings.
 */
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
    file: credentialsPath(env),
    profiles,
    read: () => composeCredentials(env, settings, settings.baseUrl?.origin),
    /** Calls the service once. */
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
    store: look.read('store'),
    isNewProfile: !profiles.has(name),
    storedAddress: profile.environments.get(environment),
    timeout: look.read('timeout'),
    caFile: look.read('caFile'),
    proxies: () => resolveProxies(look, env),
    auditLog: look.read('auditLog'),
  };
}
