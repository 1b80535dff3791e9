/** The user's profiles: named sets of settings in one file, read without any package and changed by conf, which writes it whole or not at all. */

import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { makeFolders } from '../bytes/make-folders.ts';
import { systemReason } from '../errors/system-reason.ts';
import { configFolder } from './config-folder.ts';
import { settingsErrors } from './errors.ts';
import { isObject, type JsonObject, readJsonFile, shownKey } from './json-file.ts';
import { checkAddress, definitionOf, SETTING_KEYS, type SettingKey } from './keys.ts';
import type { StoredProfile } from './lookup.ts';
import type { Environment } from './options.ts';
import { damaged, isSettingKey, keyAsWritten, storedForm, textOf, unknownKey } from './stored-values.ts';
import { didYouMean } from './suggest.ts';

export const DEFAULT_PROFILE = 'default';

/** A profile's key: a setting, `environment`, `environments.<name>`, or `baseUrl`, which is `environments.production`. */
export type ProfileKey = SettingKey | 'environment' | `environments.${string}`;

export interface Profiles {
  /** Of the file, which need not be there. */
  readonly path: string;
  names(): readonly string[];
  has(name: string): boolean;
  /** The profile `default` is empty until something is put in. `from`: who named it. Throws `profile-unknown`. */
  read(name: string, from?: string): StoredProfile;
  /** Keys as in the profile or as options are typed. Throws `setting-unknown`, `setting-is-secret`, what is wrong with a value. */
  set(name: string, key: string, values: readonly string[]): Promise<void>;
  /** Several at once, or none of them; what has no values is taken out. */
  setAll(name: string, settings: ReadonlyMap<string, readonly string[]>): Promise<void>;
  /** False when it was not set. */
  unset(name: string, key: string): Promise<boolean>;
}

const NAME = /^[A-Za-z0-9._-]{1,64}$/;
const PROFILE_KEYS = SETTING_KEYS.filter((key) => definitionOf(key).inProfile);

/** What `config` shows and suggests. */
export const KNOWN_KEYS: readonly string[] = ['baseUrl', 'environment', 'environments.<name>', ...PROFILE_KEYS];

/** Where the file is, without looking. */
export function profilesPath(env: Environment): string {
  const folder = configFolder({ environment: env, platform: process.platform, home: homedir() });
  return resolve(folder, 'config.json');
}

/** Throws `settings-file-unreadable`, `-exposed`, `-damaged`, `setting-unknown`. */
export async function openProfiles(env: Environment): Promise<Profiles> {
  const path = profilesPath(env);
  let profiles = await readProfiles(path);

  /** Read anew, so that what another process has written since stays. */
  async function change<Result>(name: string, edit: (profile: Record<string, unknown>) => Result): Promise<Result> {
    checkName(name, '--profile');
    const stored = (await readProfiles(path)).get(name)?.raw ?? {};
    const profile: Record<string, unknown> = { ...stored };
    const result = edit(profile);
    await write(path, name, profile);
    profiles = await readProfiles(path);
    return result;
  }

  return {
    path,
    names: () => [...profiles.keys()],
    has: (name) => profiles.has(name),
    read(name, from = '--profile') {
      checkName(name, from);
      const found = profiles.get(name);
      if (found !== undefined) return found;
      if (name === DEFAULT_PROFILE) return { name, values: new Map(), environments: new Map(), environment: undefined };
      const suggestion = didYouMean(name, profiles.keys());
      throw settingsErrors('profile-unknown', { name: from, profile: name, path, suggestion });
    },
    set: (name, key, values) => change(name, (profile) => put(profile, key, values)),
    setAll: (name, settings) =>
      change(name, (profile) => {
        for (const [key, values] of settings) {
          if (values.length > 0) put(profile, key, values);
          else takeOut(profile, profileKey(key));
        }
      }),
    async unset(name, key) {
      const isSet = takeOut({ ...profiles.get(name)?.raw }, profileKey(key));
      return isSet && (await change(name, (profile) => takeOut(profile, profileKey(key))));
    },
  };
}

/** Throws `profile-name-invalid`. */
export function checkName(value: string, name: string): void {
  if (!NAME.test(value)) throw settingsErrors('profile-name-invalid', { name, value });
}

/** Throws `setting-unknown`, `setting-is-secret`, `profile-name-invalid`. */
export function profileKey(text: string): ProfileKey {
  const key = keyAsWritten(text);
  if (key === 'baseUrl') return 'environments.production';
  if (key === 'environment') return key;
  const [, environment] = /^environments\.(.*)$/s.exec(text) ?? [];
  if (environment !== undefined) {
    checkName(environment, text);
    return `environments.${environment}`;
  }
  if (isSettingKey(key) && definitionOf(key).inProfile) return key;
  throw unknownKey(text, KNOWN_KEYS, 'a profile');
}

/** Throws what is wrong with a value. */
export function checkValues(key: ProfileKey, values: readonly string[]): void {
  const [first = '', ...others] = values;
  const isList = isSettingKey(key) && definitionOf(key).form === 'list';
  if (!isList && others.length > 0) {
    throw settingsErrors('invalid-setting', { name: key, value: values.join(' '), expected: 'one value' });
  }
  if (key === 'environment') checkName(first, key);
  else if (!isSettingKey(key)) checkAddress({ value: first, name: key });
  else for (const value of values) definitionOf(key).check({ value, name: key });
}

interface ReadProfile extends StoredProfile {
  readonly raw: JsonObject;
}

async function readProfiles(path: string): Promise<ReadonlyMap<string, ReadProfile>> {
  const file = (await readJsonFile(path, { rootTakesAny: true })) ?? {};
  for (const key of Object.keys(file)) if (key !== 'profiles') throw unknownKey(key, ['profiles'], path);
  const { profiles = {} } = file;
  if (!isObject(profiles)) throw damaged(path, '"profiles" is no object');
  return new Map(Object.entries(profiles).map(([name, raw]) => [name, readProfile(name, raw, path)]));
}

function readProfile(name: string, raw: unknown, path: string): ReadProfile {
  const where = `profiles.${shownKey(name)}`;
  if (!NAME.test(name)) throw damaged(path, `has a profile of a name that cannot be: "${shownKey(name)}"`);
  if (!isObject(raw)) throw damaged(path, `"${where}" is no object`);
  const values = new Map<SettingKey, readonly string[]>();
  const { environment, environments = {}, ...others } = raw;
  for (const [key, value] of Object.entries(others)) {
    if (!isSettingKey(key) || !definitionOf(key).inProfile) {
      throw unknownKey(key, ['environments', 'environment', ...PROFILE_KEYS], `${path}, ${where}`);
    }
    values.set(key, textOf(value, key, path, `${where}.${key}`));
  }
  if (environment !== undefined && typeof environment !== 'string') {
    throw damaged(path, `"${where}.environment" is not text in quotes`);
  }
  return { name, values, environment, environments: readAddresses(environments, where, path), raw };
}

function readAddresses(environments: unknown, where: string, path: string): ReadonlyMap<string, string> {
  if (!isObject(environments)) throw damaged(path, `"${where}.environments" is no object`);
  const addresses = new Map<string, string>();
  for (const [name, address] of Object.entries(environments)) {
    const shown = `${where}.environments.${shownKey(name)}`;
    if (!NAME.test(name)) throw damaged(path, `has a name for an environment that cannot be: "${shown}"`);
    if (typeof address !== 'string') throw damaged(path, `"${shown}" is not text in quotes`);
    addresses.set(name, address);
  }
  return addresses;
}

/** Paths are kept whole: the next command may run in another folder. */
function put(profile: Record<string, unknown>, text: string, given: readonly string[]): void {
  const key = profileKey(text);
  checkValues(key, given);
  const [first = ''] = given;
  if (key === 'environment') profile[key] = first;
  else if (isSettingKey(key)) {
    profile[key] = storedForm(definitionOf(key).isPath ? given.map((path) => resolve(path)) : given, key);
  } else profile.environments = { ...environmentsIn(profile), [key.slice('environments.'.length)]: first };
}

function takeOut(profile: Record<string, unknown>, key: ProfileKey): boolean {
  const place = key.startsWith('environments.') ? environmentsIn(profile) : profile;
  const name = key.replace(/^environments\./, '');
  const wasSet = Object.hasOwn(place, name);
  delete place[name];
  if (place !== profile) profile.environments = place;
  return wasSet;
}

function environmentsIn({ environments }: Record<string, unknown>): Record<string, unknown> {
  return isObject(environments) ? { ...environments } : {};
}

/** The package is loaded for a change only: that takes longer than reading the file, and most runs change nothing. */
async function write(path: string, name: string, profile: JsonObject): Promise<void> {
  const { default: Conf } = await import('conf');
  try {
    const folder = join(path, '..');
    await makeFolders(folder, 0o700);
    const conf = new Conf<{ profiles?: Record<string, JsonObject> }>({
      cwd: folder,
      configFileMode: 0o600,
      accessPropertiesByDotNotation: false,
      serialize: (value) => `${JSON.stringify(value, undefined, 2)}\n`,
      deserialize: (text) => JSON.parse(text.replace(/^\uFEFF/, '')),
    });
    conf.set('profiles', { ...conf.get('profiles'), [name]: profile });
  } catch (cause) {
    throw settingsErrors('settings-file-unwritable', { path, reason: systemReason(cause) }, { cause });
  }
}
