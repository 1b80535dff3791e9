/** What `login`, `logout` and `whoami` are told: the profile, and how to reach its service. */

import type { Proxies } from '../http/proxy.ts';
import { lookUp, NOTHING_STORED, readBaseUrl, type StoredProfile } from './lookup.ts';
import type { Environment, ProfileOptions } from './options.ts';
import { resolveProxies } from './proxy-settings.ts';
import { checkName, type Profiles } from './stored/profiles.ts';
import { readText, readTimeout } from './values.ts';

export interface CredentialsOptions extends ProfileOptions {
  readonly baseUrl?: string | undefined;
  /** In seconds. */
  readonly timeout?: string | number | undefined;
  readonly caFile?: string | undefined;
  readonly proxy?: string | undefined;
}

export interface CredentialsSettings {
  readonly profile: string;
  /** The address that is known; undefined where nobody has said it. */
  readonly baseUrl: URL | undefined;
  /** The environment of the profile that is meant. */
  readonly environment: string;
  /** What the profile itself has for that environment. */
  readonly storedAddress: string | undefined;
  /** For one call. */
  readonly timeoutMilliseconds: number;
  /** Path of the file to which a record of the call is added. */
  readonly auditLog: string | undefined;
  /** Path of a PEM file with further TLS roots. */
  readonly caFile: string | undefined;
  /** Asked for where somebody is to be called. Throws `proxy-invalid`, `proxy-holds-credentials`. */
  readonly proxies: () => Proxies;
}

/** `named`: which profile, and who says so. It may be one that is not there yet. Throws usage. */
export function resolveCredentialsSettings(
  options: CredentialsOptions,
  env: Environment,
  named: { readonly name: string; readonly from: string },
  profiles: Pick<Profiles, 'has' | 'read'>,
): CredentialsSettings {
  const profile = findProfile(named, profiles);
  const look = lookUp(options, env, { project: undefined, profile });
  const { value: environment } = look.environment();
  const auditLog = look.one('auditLog');
  return {
    profile: profile.name,
    baseUrl: readBaseUrl(look),
    environment,
    storedAddress: profile.environments.get(environment),
    timeoutMilliseconds: readTimeout(look.one('timeout')),
    auditLog: auditLog && readText(auditLog),
    caFile: look.one('caFile')?.value,
    proxies: () => resolveProxies(look, env),
  };
}

/** Credentials come before settings: their profile may be in the keychain alone. */
function findProfile(
  { name, from }: { readonly name: string; readonly from: string },
  profiles: Pick<Profiles, 'has' | 'read'>,
): StoredProfile {
  checkName(name, from);
  return profiles.has(name) ? profiles.read(name, from) : { ...NOTHING_STORED.profile, name };
}
