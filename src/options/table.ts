/**
 * THE OPTION TABLE: the commands, help, completion, documents, settings files and the library are generated from it.
 */

import type { CommandName, OptionDefinition, ValueKind } from './option.ts';
import { CALLS_OPTIONS, FILES_OPTIONS } from './table/files.ts';
import { FORMAT_ENTRIES } from './table/formats.ts';
import { LIMITS_OPTIONS, OUTPUT_OPTIONS, PRIVACY_OPTIONS } from './table/run.ts';
import { SERVICE_OPTIONS } from './table/service.ts';
import { SIGNATURE_OPTIONS, TIMESTAMP_OPTIONS, TRUST_OPTIONS } from './table/signature.ts';

export const OPTIONS = {
  ...SERVICE_OPTIONS,
  ...SIGNATURE_OPTIONS,
  ...TIMESTAMP_OPTIONS,
  ...TRUST_OPTIONS,
  ...FILES_OPTIONS,
  ...CALLS_OPTIONS,
  ...LIMITS_OPTIONS,
  ...PRIVACY_OPTIONS,
  ...FORMAT_ENTRIES,
  ...OUTPUT_OPTIONS,
} as const;

/** Headings in help. Options of a format have the heading of the format. */
const GROUPS: Readonly<Record<string, object>> = {
  Service: SERVICE_OPTIONS,
  Signature: SIGNATURE_OPTIONS,
  Timestamp: TIMESTAMP_OPTIONS,
  Trust: TRUST_OPTIONS,
  Files: FILES_OPTIONS,
  Calls: CALLS_OPTIONS,
  Limits: LIMITS_OPTIONS,
  Privacy: PRIVACY_OPTIONS,
  Output: OUTPUT_OPTIONS,
};

type Table = typeof OPTIONS;
export type OptionKey = keyof Table;

type KeyWith<Property> = { [Key in OptionKey]: Table[Key] extends Property ? Key : never }[OptionKey];

export type SettingKey = KeyWith<{ readonly stored: string }>;

type Typed<Option> = Option extends { readonly isList: true }
  ? readonly string[]
  : Option extends { readonly kind: { readonly form: 'number' } }
    ? string | number
    : Option extends { readonly kind: { readonly form: 'switch' } }
      ? boolean
      : Option extends { readonly kind: unknown }
        ? string
        : boolean;

export type Read<Key extends OptionKey> = Table[Key] extends { readonly kind: ValueKind<infer Value> }
  ? Table[Key] extends { readonly isList: true }
    ? readonly Value[]
    : Table[Key] extends { readonly default: string }
      ? Value
      : Value | undefined
  : boolean;

export type OptionsOf<Command extends CommandName> = {
  readonly [Key in OptionKey as Command extends Table[Key]['commands'][number] ? Key : never]?:
    | Typed<Table[Key]>
    | undefined;
};

export type ValuesOf<Command extends CommandName> = {
  readonly [Key in OptionKey as Command extends Table[Key]['commands'][number] ? Key : never]: Read<Key>;
};

export type LibraryOptionsOf<Command extends CommandName> = Omit<
  OptionsOf<Command>,
  KeyWith<{ readonly isCommandLineOnly: true }>
>;

export function definitionOf(key: OptionKey): OptionDefinition {
  return OPTIONS[key];
}

const OPTION_KEYS = Object.keys(OPTIONS) as readonly OptionKey[];

export const OPTION_VARIABLES = OPTION_KEYS.flatMap((key) => definitionOf(key).variable ?? []);
export const SETTING_KEYS = OPTION_KEYS.filter((key): key is SettingKey => definitionOf(key).stored !== undefined);
export const PROJECT_KEYS = SETTING_KEYS.filter((key) => isStoredIn('project', key));
export const PROFILE_KEYS = SETTING_KEYS.filter((key) => isStoredIn('profile', key));

export function isSettingKey(key: string): key is SettingKey {
  return SETTING_KEYS.some((known) => known === key);
}

export function isStoredIn(file: 'project' | 'profile', key: SettingKey): boolean {
  const { stored } = definitionOf(key);
  return stored === file || stored === 'both';
}

export interface CommandOption extends OptionDefinition {
  readonly key: OptionKey;
  readonly isTypedOnly?: true;
}

export function optionsOf(command: CommandName): readonly CommandOption[] {
  return OPTION_KEYS.filter((key) => definitionOf(key).commands.includes(command)).map((key) => {
    const { variable, ...option } = definitionOf(key);
    const own = option.in?.[command] ?? {};
    return { key, ...option, ...own, ...(variable !== undefined && !own.isTypedOnly && { variable }) };
  });
}

export function groupsOf(command: CommandName): ReadonlyMap<string, readonly CommandOption[]> {
  const groups = new Map<string, CommandOption[]>();
  for (const option of optionsOf(command)) {
    const found = Object.entries(GROUPS).find(([, options]) => option.key in options);
    const heading = option.group ?? found?.[0] ?? 'Options';
    groups.set(heading, [...(groups.get(heading) ?? []), option]);
  }
  return groups;
}

export function helpOf(option: OptionDefinition): string {
  const { help, kind, isList, variable = option.otherVariables } = option;
  const values = kind?.words?.join(', ') ?? kind?.note;
  const value = option.default ?? option.defaultText;
  return [
    help,
    values && `: ${values}`,
    isList && '; repeatable',
    value && ` (default: ${value})`,
    variable && ` [${variable}]`,
  ]
    .filter(Boolean)
    .join('');
}

/** Callers of the library pass the text that a user would type. */
export type SettingsOptions = LibraryOptionsOf<'sign'>;
export type VerifyOptions = LibraryOptionsOf<'verify'>;
export type ProfileOptions = Pick<SettingsOptions, 'profile' | 'environment'>;

/** An empty variable counts as missing. */
export type Environment = Readonly<Record<string, string | undefined>>;
