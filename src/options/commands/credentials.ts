import { lookUp, NOTHING_STORED, type OptionValues } from '../lookup.ts';
import type { Environment } from '../options.ts';
import { checkName, type Profiles } from '../stored/profiles.ts';
import { resolveRequests } from './common.ts';

/**
 * `named`: the profile, and where its name comes from. With `mayBeNew` it need not exist: credentials come before
 * settings, so the keychain may be the only place that knows it. Throws usage.
 */
export function resolveCredentialsSettings(
  options: OptionValues,
  env: Environment,
  { name, from }: { readonly name: string; readonly from: string },
  profiles: Pick<Profiles, 'has' | 'read'>,
  mayBeNew: boolean,
) {
  checkName(name, from);
  const isKnown = profiles.has(name) || !mayBeNew;
  const profile = isKnown ? profiles.read(name, from) : { ...NOTHING_STORED.profile, name };
  const look = lookUp(options, env, { project: undefined, profile });
  const environment = look.read('environment');
  const hasAddress = options.baseUrl !== undefined || profile.environments.has(environment);
  const isNew = mayBeNew && options.environment !== undefined && !hasAddress;
  return {
    ...resolveRequests(look, env),
    profile: name,
    baseUrl: isNew ? undefined : look.read('baseUrl'),
    environment,
    isNewProfile: !profiles.has(name),
    /** The address that the profile has for this environment. */
    storedAddress: profile.environments.get(environment),
    auditLog: look.read('auditLog'),
  };
}
