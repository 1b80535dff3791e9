/** conf writes the file, either completely or not at all. Reading it does not need conf. */

import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { isTrustedOwner, makeFolders } from '../../bytes/folders.ts';
import { systemReason } from '../../errors/system-reason.ts';
import { settingsErrors } from '../errors.ts';
import type { StoredProfile } from '../lookup.ts';
import { isSettingKey, isStoredIn, PROFILE_KEYS, type SettingKey } from '../table.ts';
import { isObject, type JsonObject, readJsonFile, shownKey, WRITABLE_BY_ANYBODY } from './json-file.ts';
import { damaged, textOf, unknownKey } from './stored-values.ts';

const NAME = /^[A-Za-z0-9._-]{1,64}$/;

/** Names of environments follow the same rule. */
export function isProfileName(name: string): boolean {
  return NAME.test(name);
}

interface ReadProfile extends StoredProfile {
  readonly raw: JsonObject;
}

export async function readProfiles(path: string): Promise<ReadonlyMap<string, ReadProfile>> {
  const file = (await readJsonFile(path, { rootTakesAny: true })) ?? {};
  for (const key of Object.keys(file)) if (key !== 'profiles') throw unknownKey(key, ['profiles'], path);
  const { profiles = {} } = file;
  if (!isObject(profiles)) throw damaged(path, '"profiles" is not an object');
  return new Map(Object.entries(profiles).map(([name, raw]) => [name, readProfile(name, raw, path)]));
}

function readProfile(name: string, raw: unknown, path: string): ReadProfile {
  const where = `profiles.${shownKey(name)}`;
  if (!isProfileName(name)) throw damaged(path, `has a profile with an invalid name: "${shownKey(name)}"`);
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
    if (!isProfileName(name)) throw damaged(path, `has an environment with an invalid name: "${shown}"`);
    if (typeof address !== 'string') throw damaged(path, `"${shown}" is not text in quotes`);
    addresses.set(name, address);
  }
  return addresses;
}

/** conf sets the owner and the mode by path. In a folder of another user, that path could lead to any file of root. */
function assertOwnFolder(folder: string): void {
  const { uid, mode } = statSync(folder);
  if (!isTrustedOwner(uid)) throw Object.assign(new Error(`${folder} is foreign`), { code: 'FOREIGN_FOLDER' });
  if (process.platform !== 'win32' && (mode & WRITABLE_BY_ANYBODY) !== 0) {
    throw Object.assign(new Error(`${folder} is open`), { code: 'OPEN_FOLDER' });
  }
}

/** Loads conf only for a change. Removes an undefined profile. */
export async function writeProfile(path: string, name: string, profile: JsonObject | undefined): Promise<void> {
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
