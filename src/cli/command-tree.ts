/** The commands as completion scripts and the manual page need them, read off commander's own definitions. */

import type { Argument, Command, Option } from 'commander';

/** What stands behind an option, or at an argument's place. `text`: anything, which nobody can guess. */
export type Value =
  | { readonly kind: 'path' }
  | { readonly kind: 'folder' }
  | { readonly kind: 'text' }
  | { readonly kind: 'words'; readonly words: readonly string[] };

export interface OptionShape {
  /** Without dashes; undefined where there is none. */
  readonly short: string | undefined;
  readonly long: string;
  readonly description: string;
  /** As `--help` shows it: "<url>"; undefined for a switch. */
  readonly placeholder: string | undefined;
  readonly value: Value | undefined;
  readonly isRepeatable: boolean;
}

export interface ArgumentShape {
  readonly name: string;
  readonly description: string;
  readonly isRequired: boolean;
  readonly isRepeatable: boolean;
  readonly value: Value;
}

export interface CommandShape {
  readonly name: string;
  readonly description: string;
  readonly options: readonly OptionShape[];
  readonly arguments: readonly ArgumentShape[];
  readonly commands: readonly CommandShape[];
}

/** Values that are a choice of words, by the option's long name: settings judges them, so commander knows nothing of them. */
const WORDS: Readonly<Record<string, readonly string[]>> = {
  algorithm: ['SHA1', 'SHA256', 'SHA384', 'SHA512'],
  'timestamp-algorithm': ['SHA1', 'SHA256', 'SHA384', 'SHA512'],
  'mask-filename': ['none', 'basename', 'hash', 'omit'],
  extra: ['all', 'anonymous', 'none'],
  'report-failures': ['pending', 'now'],
  environment: ['production', 'alternate'],
};

const PATHS = /^(?:files?|path|pem|signature)$/;
const FOLDERS = /^folder$/;

/** `command` with all that is defined below it, `help` too. */
export function describeCommand(command: Command): CommandShape {
  const help = command.createHelp();
  return {
    name: command.name(),
    description: help.subcommandDescription(command),
    options: help.visibleOptions(command).map(describeOption),
    arguments: command.registeredArguments.map(describeArgument),
    commands: help
      .visibleCommands(command)
      .filter((below) => below.name() !== 'help')
      .map(describeCommand),
  };
}

function describeOption(option: Option): OptionShape {
  const placeholder = /[<[].*[>\]]$/.exec(option.flags)?.[0];
  const long = option.long?.slice(2) ?? '';
  return {
    short: option.short?.slice(1),
    long,
    description: option.description,
    placeholder,
    value:
      placeholder === undefined ? undefined : valueFor(long, placeholder.replace(/[^\w-]/g, ''), option.argChoices),
    isRepeatable: option.parseArg !== undefined && option.argChoices === undefined,
  };
}

function describeArgument(argument: Argument): ArgumentShape {
  return {
    name: argument.name(),
    description: argument.description,
    isRequired: argument.required,
    isRepeatable: argument.variadic,
    value: valueFor('', argument.name(), argument.argChoices),
  };
}

function valueFor(long: string, name: string, choices: readonly string[] | undefined): Value {
  const words = choices ?? WORDS[long];
  if (words !== undefined) return { kind: 'words', words };
  if (FOLDERS.test(name)) return { kind: 'folder' };
  return { kind: PATHS.test(name) ? 'path' : 'text' };
}
