/** The program as completion scripts and generated documents see it: commands, arguments and options of both tables. */

import type { OptionDefinition } from '../../options/option.ts';
import { helpOf, OPTIONS, optionsOf, PROFILE_KEYS } from '../../options/table.ts';
import type { ArgumentDefinition, CommandDefinition, CommandGroup, ProgramDefinition } from '../command.ts';

const ADDRESS_KEYS = [
  'baseUrl',
  'environment',
  ...OPTIONS.environment.kind.suggestions.map((name) => `environments.${name}`),
];

export const SHELLS = ['bash', 'zsh', 'fish', 'powershell'] as const;
export type Shell = (typeof SHELLS)[number];

/** What follows an option, or stands in an argument's place: the only words, or what a shell offers for it. */
export type Value = Exclude<ArgumentDefinition['offers'], 'keys'>;

/** Prints what a shell offers for the name of a profile. */
export const PROFILES_COMMAND = 'codesign-remote config profiles 2>/dev/null';

export interface OptionShape {
  /** Without dashes. */
  readonly short: string | undefined;
  readonly long: string;
  /** Both as they are typed. */
  readonly flags: readonly string[];
  readonly description: string;
  /** Name of the value; undefined for a switch. */
  readonly placeholder: string | undefined;
  readonly value: Value | undefined;
  readonly isRepeatable: boolean;
}

export interface ArgumentShape {
  readonly name: string;
  readonly description: string;
  readonly isRepeatable: boolean;
  readonly value: Value;
}

export interface CommandShape {
  readonly name: string;
  readonly description: string;
  readonly notes: string;
  readonly options: readonly OptionShape[];
  readonly arguments: readonly ArgumentShape[];
  readonly commands: readonly CommandShape[];
}

export function describeProgram(program: ProgramDefinition): CommandShape {
  const { name, description, notes, versionHelp, helpHelp, commands } = program;
  const help = shapeOfSwitch('help', 'h', helpHelp);
  const withHelp = (command: CommandShape): CommandShape => ({
    ...command,
    options: [...command.options, help],
    commands: command.commands.map(withHelp),
  });
  const options = [shapeOfSwitch('version', 'V', versionHelp)];
  return withHelp({ name, description, notes, options, arguments: [], commands: commands.map(describeEntry) });
}

function describeEntry(entry: CommandDefinition | CommandGroup): CommandShape {
  if (!('commands' in entry)) return describeCommand(entry);
  return { ...entry, options: [], arguments: [], commands: entry.commands.map(describeCommand) };
}

function describeCommand({ name, description, notes = '', arguments: taken }: CommandDefinition): CommandShape {
  return {
    name: name.slice(name.lastIndexOf(' ') + 1),
    description,
    notes,
    options: optionsOf(name).map(describeOption),
    arguments: taken.map(describeArgument),
    commands: [],
  };
}

function describeOption(option: OptionDefinition): OptionShape {
  const { flag, short, placeholder, kind, isList = false } = option;
  return {
    short: short?.slice(1),
    long: flag.slice(2),
    flags: short === undefined ? [flag] : [short, flag],
    description: helpOf(option),
    placeholder,
    value: kind && placeholder ? (kind.isPath ? 'paths' : (kind.words ?? kind.suggestions ?? 'nothing')) : undefined,
    isRepeatable: isList,
  };
}

function describeArgument({ name, help, offers }: ArgumentDefinition): ArgumentShape {
  return {
    name: name.replace(/\.\.\.$/, ''),
    description: help,
    isRepeatable: name.endsWith('...'),
    value: offers === 'keys' ? [...ADDRESS_KEYS, ...PROFILE_KEYS] : offers,
  };
}

function shapeOfSwitch(long: string, short: string, description: string): OptionShape {
  const flags = [`-${short}`, `--${long}`];
  return { long, short, flags, description, placeholder: undefined, value: undefined, isRepeatable: false };
}
