import { settingsErrors } from './errors.ts';
import type { CommandName } from './option.ts';
import {
  type CommandOption,
  definitionOf,
  type Environment,
  OPTIONS,
  type OptionKey,
  optionsOf,
  type Read,
  SETTING_KEYS,
  type SettingKey,
} from './table.ts';
import type { Given } from './values.ts';

export type StoredValues = ReadonlyMap<SettingKey, readonly string[]>;

export interface Stored {
  readonly project: { readonly path: string; readonly values: StoredValues } | undefined;
  readonly profile: StoredProfile;
}

export interface StoredProfile {
  readonly name: string;
  readonly values: StoredValues;
  readonly environments: ReadonlyMap<string, string>;
  readonly environment: string | undefined;
}

export const NOTHING_STORED: Stored = {
  project: undefined,
  profile: { name: OPTIONS.profile.default, values: new Map(), environments: new Map(), environment: undefined },
};

export const PROJECT_FILE = 'codesign-remote.config.json';

export interface Found extends Given {
  /** Source of the value, such as `--code`, `CODESIGN_CODE`, `codesign-remote.config.json` or `profile work`. */
  readonly origin: string;
}

export type OptionValues = {
  readonly [Key in OptionKey]?: string | number | boolean | readonly string[] | undefined;
};

export interface Lookup {
  /** Returns an empty list if the default applies. */
  all(key: OptionKey): readonly Found[];
  one(key: OptionKey): Found | undefined;
  read<Key extends OptionKey>(key: Key): Read<Key>;
}

export function lookUp(
  options: OptionValues,
  env: Environment,
  stored: Stored = NOTHING_STORED,
  command?: CommandName,
): Lookup {
  const own = new Map(command && optionsOf(command).map((option) => [option.key, option]));
  const optionOf = (key: OptionKey): CommandOption => own.get(key) ?? { key, ...definitionOf(key) };
  const all = (key: OptionKey): readonly Found[] => {
    const typed = fromOption(key, options);
    // The last value of each member counts, so members that a profile hides stay hidden unless an option sets them.
    if (definitionOf(key).kind?.form === 'members') return [...(fromProfile(key, stored) ?? []), ...(typed ?? [])];
    if (typed !== undefined || optionOf(key).isTypedOnly) return typed ?? [];
    return (
      (key === 'baseUrl' ? addressOf(options, env, stored) : undefined) ??
      fromVariable(key, env) ??
      fromProject(key, stored) ??
      fromProfile(key, stored) ??
      []
    );
  };
  const read = (key: OptionKey): unknown => {
    const { kind, isList, flag, default: value } = optionOf(key);
    if (kind === undefined) return options[key] ?? isNegative(flag);
    const found = all(key);
    if (isList) return found.map((one) => kind.read(one));
    const [from = value === undefined ? undefined : { value, name: 'default' }] = found;
    return from && kind.read(from);
  };
  return { all, one: (key) => all(key)[0], read: read as Lookup['read'] };
}

export function refuseConflicts(command: CommandName, options: OptionValues): void {
  const given = optionsOf(command).filter(({ key, flag }) => isGiven(options[key], flag));
  for (const { flag, conflicts = [] } of given) {
    const other = given.find(({ key }) => conflicts.includes(key));
    if (other !== undefined) throw settingsErrors('settings-conflict', { options: `${flag} and ${other.flag}` });
  }
}

/** As in the options of the library, an empty list means that no value is given. */
function isGiven(value: OptionValues[OptionKey], flag: string): boolean {
  if (typeof value === 'boolean') return value !== isNegative(flag);
  return value !== undefined && !(typeof value === 'object' && value.length === 0);
}

/** True for a switch that is on by default. */
function isNegative(flag: string): boolean {
  return flag.startsWith('--no-');
}

function fromOption(key: OptionKey, options: OptionValues): readonly Found[] | undefined {
  const { flag, kind } = definitionOf(key);
  const value = options[key];
  // Library callers can turn off a switch that an environment variable turns on.
  if (value === undefined || (kind?.form !== 'switch' && !isGiven(value, flag))) return undefined;
  const values = typeof value === 'object' ? value : [String(value)];
  return values.map((one) => named(one, flag));
}

function fromVariable(key: OptionKey, env: Environment): readonly Found[] | undefined {
  const { variable, isSplit } = definitionOf(key);
  const text = variable && env[variable];
  if (!text) return undefined;
  const values = isSplit ? text.split(/\s+/).filter((part) => part !== '') : [text];
  return values.length === 0 ? undefined : values.map((one) => named(one, variable));
}

function fromProject(key: OptionKey, { project }: Stored): readonly Found[] | undefined {
  const values: ReadonlyMap<OptionKey, readonly string[]> | undefined = project?.values;
  return values?.get(key)?.map((value) => ({ value, name: `${key} in ${project?.path}`, origin: PROJECT_FILE }));
}

function fromProfile(key: OptionKey, { profile }: Stored): readonly Found[] | undefined {
  const values: ReadonlyMap<OptionKey, readonly string[]> = profile.values;
  const found = key === 'environment' && profile.environment !== undefined ? [profile.environment] : values.get(key);
  return found?.map((value) => inProfile(value, key, profile));
}

/** Finds the chosen environment's address in the profile. `--environment` takes precedence over CODESIGN_BASE_URL. */
function addressOf(options: OptionValues, env: Environment, stored: Stored): readonly Found[] | undefined {
  const chosen = fromOption('environment', options);
  if (chosen === undefined && env.CODESIGN_BASE_URL) return undefined;
  const { profile } = stored;
  const [wanted] = chosen ?? fromVariable('environment', env) ?? fromProfile('environment', stored) ?? [];
  const environment = wanted?.value ?? OPTIONS.environment.default;
  const address = profile.environments.get(environment);
  if (address !== undefined) return [inProfile(address, `environments.${environment}`, profile)];
  if (wanted === undefined) return undefined;
  throw settingsErrors('environment-unknown', {
    name: wanted.name,
    where: `profile ${profile.name}`,
    known: [...profile.environments.keys()].join(', ') || 'none',
  });
}

function named(value: string, name: string): Found {
  return { value, name, origin: name };
}

function inProfile(value: string, key: string, profile: StoredProfile): Found {
  return { value, name: `${key} in profile ${profile.name}`, origin: `profile ${profile.name}` };
}

export interface ListedSetting {
  readonly key: string;
  readonly values: readonly string[];
  readonly origin: string;
}

export function listSettings(look: Lookup, { profile }: Stored): readonly ListedSetting[] {
  const origin = `profile ${profile.name}`;
  const environments = [...profile.environments].map(([name, address]) => ({
    key: `environments.${name}`,
    values: [withoutCredentials(address)],
    origin,
  }));
  const holding = (key: OptionKey): ListedSetting => listed(key, look.all(key));
  const all = [holding('environment'), holding('baseUrl'), ...environments, ...SETTING_KEYS.map(holding)];
  return all.filter(({ values }) => values.length > 0);
}

function listed(key: OptionKey, found: readonly Found[]): ListedSetting {
  const [first] = found;
  const fallback = definitionOf(key).default;
  if (first === undefined) return { key, values: fallback === undefined ? [] : [fallback], origin: 'default' };
  return { key, values: found.map(({ value }) => withoutCredentials(value)), origin: first.origin };
}

/** An address with a password is rejected only when it is used. */
function withoutCredentials(value: string): string {
  return value.replace(/^(\w+:\/*)[^/?#]*@/, '$1***@');
}
