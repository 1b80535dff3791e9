import { existsSync } from 'node:fs';
import { composeStored, nameProfile } from '../../app/compose-config.ts';
import { printable } from '../../errors/printable.ts';
import { type ListedSetting, listSettings, lookUp, type StoredProfile } from '../../options/lookup.ts';
import {
  credentialsPath,
  DEFAULT_PROFILE,
  openProfiles,
  type Profiles,
  profileKey,
  profilesPath,
} from '../../options/stored/profiles.ts';
import type { OptionsOf, ProfileOptions } from '../../options/table.ts';
import type { Io } from '../io.ts';
import { jsonText } from '../output/json.ts';
import { maskedAddress } from '../output/lines.ts';
import { padded, widthOf } from '../output/text-layout.ts';

const VALUE_LENGTH = 8192;

export async function configList(options: OptionsOf<'config list'>, io: Io): Promise<number> {
  const stored = await composeStored(options, io.env);
  const settings = listSettings(lookUp(options, io.env, stored), stored).map(masked);
  const path = credentialsPath(io.env);
  const credentialsFile = existsSync(path) ? path : null;
  if (options.json) {
    io.stdout.write(jsonText({ profile: stored.profile.name, file: profilesPath(io.env), credentialsFile, settings }));
  } else {
    const credentials = {
      key: 'credentials',
      values: credentialsFile === null ? [] : [credentialsFile],
      origin: 'login',
    };
    for (const line of settingLines([...settings, credentials], options.origin ?? false)) io.stdout.write(`${line}\n`);
  }
  return 0;
}

/** The query of a timestamp URL may contain a token. The product URL is part of signatures, so it is not secret. */
function masked({ values, ...setting }: ListedSetting): ListedSetting {
  return { ...setting, values: setting.key === 'url' ? values : values.map(maskedAddress) };
}

export async function configSet(
  key: string,
  values: readonly string[],
  options: ProfileOptions,
  io: Io,
): Promise<number> {
  const profiles = await openProfiles(io.env);
  const { name, from } = nameProfile(options, io.env);
  if (values.length === 0) return await removeSetting(key, profiles.read(name, from), profiles, io);
  // A user may have typed a secret after -p by mistake, so the name of a new profile is not printed.
  const isNew = !profiles.has(name) && name !== DEFAULT_PROFILE;
  const isNewDefault = !profiles.has(name) && name === DEFAULT_PROFILE;
  await profiles.set(name, key, values);
  io.stdout.write(
    `stored   ${profileKey(key)} in ${isNew ? 'a new profile' : `${isNewDefault ? 'the new ' : ''}profile ${name}`}, ${shownValue(profiles.path)}\n`,
  );
  return 0;
}

async function removeSetting(key: string, { name }: StoredProfile, profiles: Profiles, io: Io): Promise<number> {
  const wasSet = await profiles.unset(name, key);
  io.stdout.write(
    wasSet
      ? `removed  ${profileKey(key)} from profile ${name}, ${shownValue(profiles.path)}\n`
      : `nothing  ${profileKey(key)} was not set in profile ${name}\n`,
  );
  return 0;
}

export async function configProfiles(io: Io): Promise<number> {
  const profiles = await openProfiles(io.env);
  for (const name of profiles.names()) io.stdout.write(`${name}\n`);
  return 0;
}

export async function configRemoveProfile(name: string, io: Io): Promise<number> {
  const profiles = await openProfiles(io.env);
  await profiles.remove(name);
  io.stdout.write(`removed  profile ${name} from ${shownValue(profiles.path)}\n`);
  io.stdout.write(
    `next     codesign-remote logout --profile ${name}  removes its credentials, if login has stored any\n`,
  );
  return 0;
}

function settingLines(settings: readonly ListedSetting[], hasOrigin: boolean): readonly string[] {
  const rows = settings.flatMap(({ key, values, origin }) =>
    values.map((value) => ({ key: shownValue(key), value: shownValue(value), origin })),
  );
  const keyWidth = widest(rows.map(({ key }) => key));
  const originWidth = widest(rows.map(({ origin }) => origin));
  return rows.map(({ key, value, origin }) => {
    const from = hasOrigin ? `${padded(origin, originWidth)}  ` : '';
    return `${from}${padded(key, keyWidth)}  ${value}`;
  });
}

function shownValue(text: string): string {
  return printable(text, VALUE_LENGTH);
}

function widest(texts: readonly string[]): number {
  return texts.reduce((width, text) => Math.max(width, widthOf(text)), 0);
}
