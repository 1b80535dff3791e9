/** Which of the places that may say so decides a setting: option, environment, project file, profile; and which of them it was. */

import { parseBaseUrl } from './base-url.ts';
import { settingsErrors } from './errors.ts';
import { definitionOf, SETTING_KEYS, type SettingKey } from './keys.ts';
import type { Environment, ProfileOptions } from './options.ts';
import { didYouMean } from './suggest.ts';
import type { Given } from './values.ts';

/** What a file says, as text. */
export type StoredValues = ReadonlyMap<SettingKey, readonly string[]>;

/** What is stored on this machine, below options and environment. */
export interface Stored {
  /** Undefined when there is no project file. */
  readonly project: { readonly path: string; readonly values: StoredValues } | undefined;
  readonly profile: StoredProfile;
}

export interface StoredProfile {
  readonly name: string;
  readonly values: StoredValues;
  /** Addresses of the service by the name of the environment. */
  readonly environments: ReadonlyMap<string, string>;
  /** The environment meant when none is named. */
  readonly environment: string | undefined;
}

/** For those who have no files looked at, such as users of the library. */
export const NOTHING_STORED: Stored = {
  project: undefined,
  profile: { name: 'default', values: new Map(), environments: new Map(), environment: undefined },
};

export const PROJECT_FILE = 'codesign-remote.config.json';
export const DEFAULT_ENVIRONMENT = 'production';

export interface Found extends Given {
  /** `--code`, `CODESIGN_CODE`, `codesign-remote.config.json`, `profile work`, `default`. */
  readonly origin: string;
}

/** What was said in options, by key, as text or number or several. */
export type OptionValues = { readonly [Key in SettingKey]?: string | number | readonly string[] | undefined };

export interface LookupOptions extends OptionValues, ProfileOptions {
  readonly baseUrl?: string | undefined;
}

export interface Lookup {
  /** Undefined when nobody has said it: the default is not among the places. */
  one(key: SettingKey): Found | undefined;
  all(key: SettingKey): readonly Found[];
  /** The name of the environment that is meant. */
  environment(): Found;
  /** The address of the service. Throws `environment-unknown` when an environment was named that has none. */
  baseUrl(): Found | undefined;
}

export function lookUp(options: LookupOptions, env: Environment, stored: Stored = NOTHING_STORED): Lookup {
  const all = (key: SettingKey): readonly Found[] =>
    fromOption(key, options) ?? fromVariable(key, env) ?? fromProject(key, stored) ?? fromProfile(key, stored) ?? [];
  return {
    all,
    one: (key) => all(key)[0],
    environment: () => environmentOf(options, env, stored),
    baseUrl: () => addressOf(options, env, stored),
  };
}

/** The address, judged. Throws what `parseBaseUrl` and `Lookup.baseUrl` throw. */
export function readBaseUrl(look: Lookup): URL | undefined {
  const found = look.baseUrl();
  return found && parseBaseUrl(found.value, found.name);
}

function fromOption(key: SettingKey, options: OptionValues): readonly Found[] | undefined {
  const { option } = definitionOf(key);
  const value = options[key];
  const values = value === undefined ? [] : typeof value === 'object' ? value : [String(value)];
  // A list without elements says nothing, as in the library's options.
  return values.length === 0 ? undefined : values.map((one) => named(one, option));
}

function fromVariable(key: SettingKey, env: Environment): readonly Found[] | undefined {
  const { variable, isSplit } = definitionOf(key);
  const text = variable && env[variable];
  if (!text) return undefined;
  const values = isSplit ? text.split(/\s+/).filter((part) => part !== '') : [text];
  return values.length === 0 ? undefined : values.map((one) => named(one, variable));
}

function fromProject(key: SettingKey, { project }: Stored): readonly Found[] | undefined {
  return project?.values.get(key)?.map((value) => ({ value, name: `${key} in ${project.path}`, origin: PROJECT_FILE }));
}

function fromProfile(key: SettingKey, { profile }: Stored): readonly Found[] | undefined {
  return profile.values.get(key)?.map((value) => inProfile(value, key, profile));
}

function environmentOf(options: ProfileOptions, env: Environment, { profile }: Stored): Found {
  if (options.environment !== undefined) return named(options.environment, '--environment');
  if (env.CODESIGN_ENVIRONMENT) return named(env.CODESIGN_ENVIRONMENT, 'CODESIGN_ENVIRONMENT');
  if (profile.environment !== undefined) return inProfile(profile.environment, 'environment', profile);
  return named(DEFAULT_ENVIRONMENT, 'default');
}

/** An environment named as an option is an option: it wins over an address in a variable. */
function addressOf(options: LookupOptions, env: Environment, stored: Stored): Found | undefined {
  if (options.baseUrl !== undefined) return named(options.baseUrl, '--base-url');
  const isChosen = options.environment !== undefined;
  if (!isChosen && env.CODESIGN_BASE_URL) return named(env.CODESIGN_BASE_URL, 'CODESIGN_BASE_URL');
  const { profile } = stored;
  const { value: environment, name, origin } = environmentOf(options, env, stored);
  const address = profile.environments.get(environment);
  if (address !== undefined) return inProfile(address, `environments.${environment}`, profile);
  if (origin === 'default') return undefined;
  throw settingsErrors('environment-unknown', {
    name,
    environment,
    where: `profile ${profile.name}`,
    suggestion: didYouMean(environment, profile.environments.keys()),
  });
}

function named(value: string, name: string): Found {
  return { value, name, origin: name };
}

function inProfile(value: string, key: string, profile: StoredProfile): Found {
  return { value, name: `${key} in profile ${profile.name}`, origin: `profile ${profile.name}` };
}

/** Every key with its values where somebody has said something. */
export function everythingFound(look: Lookup): ReadonlyMap<SettingKey, readonly Found[]> {
  return new Map(SETTING_KEYS.map((key) => [key, look.all(key)] as const).filter(([, found]) => found.length > 0));
}
