/** Which place decides a setting. The order of all places: sessions/recorded/cases/config.txt and project.txt. */

import { describe, expect, it } from 'vitest';
import { listSettings, lookUp, NOTHING_STORED, type OptionValues, type Stored } from '../../../src/options/lookup.ts';
import { resolveSigning } from '../../../src/options/resolve.ts';
import {
  definitionOf,
  type Environment,
  SETTING_KEYS,
  type SettingKey,
  type SettingsOptions,
} from '../../../src/options/table.ts';

interface Said {
  readonly profile?: string;
  readonly project?: string;
  readonly options?: OptionValues;
}

function storedWith(key: SettingKey, { profile, project }: Said): Stored {
  const valuesOf = (value: string | undefined) => new Map(value === undefined ? [] : [[key, [value]] as const]);
  return {
    project: { path: '/p/codesign-remote.config.json', values: valuesOf(project) },
    profile: { ...NOTHING_STORED.profile, name: 'work', values: valuesOf(profile) },
  };
}

it.each(SETTING_KEYS)('%s is not found, or has its default, if nothing sets it', (key) => {
  const { variable = 'X', default: value } = definitionOf(key);
  const look = lookUp({}, { [variable]: '' });
  expect(look.one(key)).toBeUndefined();
  const listed = listSettings(look, NOTHING_STORED).filter((setting) => setting.key === key);
  expect(listed).toEqual(value === undefined ? [] : [{ key, values: [value], origin: 'default' }]);
});

describe('the address of the service', () => {
  const addresses = ['production', 'alternate', 'mine'].map((name) => [name, `https://${name}.example`] as const);
  const stored = {
    project: undefined,
    profile: { ...NOTHING_STORED.profile, name: 'work', environments: new Map(addresses) },
  };
  const preferring = { ...stored, profile: { ...stored.profile, environment: 'mine' } };
  const variable = { CODESIGN_BASE_URL: 'https://variable.example' };

  const alternate = { CODESIGN_ENVIRONMENT: 'alternate' };

  it.each<[string, OptionValues, Environment, Stored]>([
    ['production', {}, {}, stored],
    ['mine', {}, {}, preferring],
    ['alternate', {}, alternate, preferring],
    ['production', { environment: 'production' }, alternate, preferring],
    ['variable', {}, { ...variable, ...alternate }, preferring],
    ['mine', { environment: 'mine' }, variable, stored],
    ['option', { baseUrl: 'https://option.example', environment: 'mine' }, variable, stored],
  ])('is that of "%s" with the options %j and the variables %j', (name, options, env, from) => {
    expect(lookUp(options, env, from).one('baseUrl')?.value).toBe(`https://${name}.example`);
  });

  it.each<[OptionValues, Environment, Stored, string]>([
    [{ environment: 'alternat' }, {}, stored, '--environment'],
    [{}, { CODESIGN_ENVIRONMENT: 'alternat' }, stored, 'CODESIGN_ENVIRONMENT'],
    [{}, {}, { ...stored, profile: { ...stored.profile, environment: 'alternat' } }, 'environment in profile work'],
  ])('is rejected of an environment that has none, naming who said so: %j %j', (options, env, from, name) => {
    const message = expect.stringMatching(`^${name}: .* this environment; it has addresses for: .*alternate`);
    const error = expect.objectContaining({ code: 'environment-unknown', category: 'usage', message });
    expect(() => lookUp(options, env, from).one('baseUrl')).toThrowError(error);
  });
});

it('takes several authorities from a variable and several certificates from a profile', () => {
  const values = new Map([['certificate' as const, ['/a.pem', '/b.pem']]]);
  const stored = { project: undefined, profile: { ...NOTHING_STORED.profile, values } };
  const env = { CODESIGN_TIMESTAMP_URL: ' http://a.example  http://b.example\nhttp://a.example ' };
  const { certificate, timestamps } = resolveSigning({ dryRun: true }, env, stored);
  expect(certificate).toEqual(['/a.pem', '/b.pem']);
  expect(timestamps.urls.map(String)).toEqual(['http://a.example/', 'http://b.example/']);
});

it.each<[Said, Environment, string | undefined]>([
  [{ project: 'true' }, {}, 'requireTimestamp in /p/codesign-remote.config.json'],
  [{ profile: 'true' }, {}, 'requireTimestamp in profile work'],
  [{}, { CODESIGN_REQUIRE_TIMESTAMP: '1' }, 'CODESIGN_REQUIRE_TIMESTAMP'],
  [{ profile: 'true' }, { CODESIGN_REQUIRE_TIMESTAMP: 'no' }, undefined],
  [{ options: { requireTimestamp: false } }, { CODESIGN_REQUIRE_TIMESTAMP: 'yes' }, undefined],
])('rejects --no-timestamp where a timestamp is required by %j %j', (said, env, name) => {
  const typed = { ...said.options, certificate: ['c'], dryRun: true, timestamp: false } as SettingsOptions;
  const resolve = () => resolveSigning(typed, env, storedWith('requireTimestamp', said));
  if (name === undefined) expect(resolve().timestamps.isDeclined).toBe(true);
  else expect(resolve).toThrowError(`--no-timestamp and ${name} cannot be used together`);
});
