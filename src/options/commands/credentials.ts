/** The settings of `login`, `logout` and `whoami`: the profile, and how its service is reached. */

import { lookUp, NOTHING_STORED, type OptionValues } from '../lookup.ts';
import type { Environment } from '../options.ts';
import { checkName, type Profiles } from '../stored/profiles.ts';
import { type RequestSettings, resolveRequests } from './common.ts';

export interface CredentialsSettings extends RequestSettings {
  readonly profile: string;
  readonly baseUrl: URL | undefined;
  /** Name of the profile's service address. */
  readonly environment: string;
  /** The address that the profile has under this name. */
  readonly storedAddress: string | undefined;
  /** Path of the file to which a record of the call is added. */
  readonly auditLog: string | undefined;
}

/**
 * `named`: the profile, and where its name comes from. It need not exist: credentials come before settings, so the keychain
 * may be the only place that knows it. Throws usage.
 */
export function resolveCredentialsSettings(
  options: OptionValues,
  env: Environment,
  { name, from }: { readonly name: string; readonly from: string },
  profiles: Pick<Profiles, 'has' | 'read'>,
  mayBeNew: boolean,
): CredentialsSettings {
  checkName(name, from);
  const profile = profiles.has(name) ? profiles.read(name, from) : { ...NOTHING_STORED.profile, name };
  const look = lookUp(options, env, { project: undefined, profile });
  const environment = look.read('environment');
  const isKnown = options.baseUrl !== undefined || profile.environments.has(environment);
  const isNew = mayBeNew && options.environment !== undefined && !isKnown;
  return {
    ...resolveRequests(look, env),
    profile: name,
    baseUrl: isNew ? undefined : look.read('baseUrl'),
    environment,
    storedAddress: profile.environments.get(environment),
    auditLog: look.read('auditLog'),
  };
}
