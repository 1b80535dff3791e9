import { statSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import { isTrustedOwner, makeFolders } from '../../bytes/folders.ts';
import { configFolder, homeFolder } from '../../bytes/platform-folders.ts';
import { systemReason } from '../../errors/system-reason.ts';
import { settingsErrors } from '../errors.ts';
import type { StoredProfile } from '../lookup.ts';
import {
  definitionOf,
  type Environment,
  isSettingKey,
  isStoredIn,
  OPTIONS,
  PROFILE_KEYS,
  type SettingKey,
} from '../table.ts';
import { parseBaseUrl } from '../values.ts';
import { isObject, type JsonObject, readJsonFile, shownKey, WRITABLE_BY_ANYBODY } from './json-file.ts';
import { damaged, keyAsWritten, storedForm, textOf, unknownKey } from './stored-values.ts';

export const DEFAULT_PROFILE = OPTIONS.profile.default;

/** `baseUrl` means `environments.production`. */
export type ProfileKey = SettingKey | 'environment' | `environments.${string}`;

export type Profiles = Awaited<ReturnType<typeof openProfiles>>;

const KNOWN_KEYS: readonly string[] = ['baseUrl', 'environment', 'environments.<name>', ...PROFILE_KEYS];

export function profilesPath(env: Environment): string {
  const home = homeFolder() ?? sep;
  return resolve(configFolder({ environment: env, platform: process.platform, home }) ?? home, 'config.json');
}

/** The file of `login --store file`. */
export function credentialsPath(env: Environment): string {
  return join(dirname(profilesPath(env)), 'credentials.json');
}

export async function openProfiles(env: Environment) {
  const path = profilesPath(env);
  let profiles = await readProfiles(path);

  /** Reads the file again, so that changes by another process are not lost. */
  async function change<Result>(name: string, edit: (profile: Record<string, unknown>) => Result): Promise<Result> {
    checkName(name, '--profile');
    const stored = (await readProfiles(path)).get(name)?.raw ?? {};
    const profile: Record<string, unknown> = { ...stored };
    const result = edit(profile);
    await writeProfile(path, name, profile);
    profiles = await readProfiles(path);
    return result;
  }

  function unknown(from: string, mayBeNew: boolean): Error {
    const known = [...new Set([DEFAULT_PROFILE, ...profiles.keys()])].join(', ');
    return settingsErrors('profile-unknown', { name: from, path, known, mayBeNew });
  }

  return {
    path,
    names: (): readonly string[] => [...profiles.keys()],
    has: (name: string): boolean => profiles.has(name),
    /** The profile `default` is empty until a setting is stored in it. Messages show the source of the name, `from`. */
    read(name: string, from = '--profile'): StoredProfile {
      checkName(name, from);
      const found = profiles.get(name);
      if (found !== undefined) return found;
      if (name === DEFAULT_PROFILE) return { name, values: new Map(), environments: new Map(), environment: undefined };
      throw unknown(from, true);
    },
    /** Also accepts keys in the form of the option. */
    set: (name: string, key: string, values: readonly string[]): Promise<void> =>
      change(name, (profile) => put(profile, key, values)),
    /** Removes the setting if no values are given. */
    setAll: (name: string, settings: ReadonlyMap<string, readonly string[]>): Promise<void> =>
      change(name, (profile) => {
        for (const [key, values] of settings) {
          if (values.length > 0) put(profile, key, values);
          else takeOut(profile, profileKey(key));
        }
      }),
    async remove(name: string): Promise<void> {
      checkName(name, '<name>');
      if (!profiles.has(name)) throw unknown('<name>', false);
      await writeProfile(path, name, undefined);
      profiles = await readProfiles(path);
    },
    async unset(name: string, key: string): Promise<boolean> {
      const isSet = takeOut({ ...profiles.get(name)?.raw }, profileKey(key));
      return isSet && (await change(name, (profile) => takeOut(profile, profileKey(key))));
    },
  };
}

/** Names of profiles and of environments. */
const NAME = /^[A-Za-z0-9._-]{1,64}$/;

export function checkName(value: string, name: string): void {
  if (!NAME.test(value)) throw settingsErrors('profile-name-invalid', { name });
}

export function profileKey(text: string): ProfileKey {
  const key = keyAsWritten(text);
  if (key === 'baseUrl') return `environments.${OPTIONS.environment.default}`;
  if (key === 'environment') return key;
  const [, environment] = /^environments\.(.*)$/s.exec(text) ?? [];
  if (environment !== undefined) {
    checkName(environment, text);
    return `environments.${environment}`;
  }
  if (isSettingKey(key) && isStoredIn('profile', key)) return key;
  throw unknownKey(text, KNOWN_KEYS, 'a profile');
}

function checkValues(key: ProfileKey, values: readonly string[]): void {
  const [first = '', ...others] = values;
  const isList = isSettingKey(key) && definitionOf(key).isList;
  if (!isList && others.length > 0) {
    throw settingsErrors('invalid-setting', { name: key, value: values.join(' '), expected: 'one value' });
  }
  if (key === 'environment') checkName(first, key);
  else if (!isSettingKey(key)) parseBaseUrl(first, key);
  else for (const value of values) definitionOf(key).kind?.read({ value, name: key });
}

/** Makes paths absolute, because the next command may run in another folder. */
function put(profile: Record<string, unknown>, text: string, given: readonly string[]): void {
  const key = profileKey(text);
  checkValues(key, given);
  const [first = ''] = given;
  if (key === 'environment') profile[key] = first;
  else if (isSettingKey(key)) {
    profile[key] = storedForm(definitionOf(key).kind?.isPath ? given.map((path) => resolve(path)) : given, key);
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

interface ReadProfile extends StoredProfile {
  readonly raw: JsonObject;
}

async function readProfiles(path: string): Promise<ReadonlyMap<string, ReadProfile>> {
  const file = (await readJsonFile(path, { rootTakesAny: true })) ?? {};
  for (const key of Object.keys(file)) if (key !== 'profiles') throw unknownKey(key, ['profiles'], path);
  const { profiles = {} } = file;
  if (!isObject(profiles)) throw damaged(path, '"profiles" is not an object');
  return new Map(Object.entries(profiles).map(([name, raw]) => [name, readProfile(name, raw, path)]));
}

function readProfile(name: string, raw: unknown, path: string): ReadProfile {
  const where = `profiles.${shownKey(name)}`;
  if (!NAME.test(name)) throw damaged(path, `has a profile with an invalid name: "${shownKey(name)}"`);
  if (!isObject(raw)) throw damaged(path, `"${where}" is not an object`);
  const values = new Map<SettingKey, readonly string[]>();
  const { environment, environments = {}, ...others } = raw;
  for (const [key, value] of Object.entries(others)) {
    if (!isSettingKey(key) || !isStoredIn('profile', key)) {
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
  if (!isObject(environments)) throw damaged(path, `"${where}.environments" is not an object`);
  const addresses = new Map<string, string>();
  for (const [name, address] of Object.entries(environments)) {
    const shown = `${where}.environments.${shownKey(name)}`;
    if (!NAME.test(name)) throw damaged(path, `has an environment with an invalid name: "${shown}"`);
    if (typeof address !== 'string') throw damaged(path, `"${shown}" is not text in quotes`);
    addresses.set(name, address);
  }
  return addresses;
}

/** conf sets the owner and the mode by path. In another user's folder, that path could be a link to a file of root. */
function assertOwnFolder(folder: string): void {
  const { uid, mode } = statSync(folder);
  if (!isTrustedOwner(uid)) throw Object.assign(new Error(`${folder} is foreign`), { code: 'FOREIGN_FOLDER' });
  if (process.platform !== 'win32' && (mode & WRITABLE_BY_ANYBODY) !== 0) {
    throw Object.assign(new Error(`${folder} is open`), { code: 'OPEN_FOLDER' });
  }
}

/** Loads conf only for a change. Removes an undefined profile. */
async function writeProfile(path: string, name: string, profile: JsonObject | undefined): Promise<void> {
  const { default: Conf } = await import('conf');
  try {
    const folder = dirname(path);
    await makeFolders(folder, 0o700);
    assertOwnFolder(folder);
    const conf = new Conf<{ profiles?: Record<string, JsonObject> }>({
      cwd: folder,
      configFileMode: 0o600,
      accessPropertiesByDotNotation: false,
      serialize: (value) => `${JSON.stringify(value, undefined, 2)}\n`,
      deserialize: (text) => JSON.parse(text.replace(/^\uFEFF/, '')),
    });
    const { [name]: _before, ...others } = conf.get('profiles') ?? {};
    conf.set('profiles', profile === undefined ? others : { ...others, [name]: profile });
  } catch (cause) {
    throw settingsErrors('settings-file-unwritable', { path, reason: systemReason(cause) }, { cause });
  }
}
