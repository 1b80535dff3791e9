import type { CommandName } from '../options/option.ts';
import type { OptionsOf } from '../options/table.ts';
import { NOTES } from './command-notes.ts';
import type { Io } from './io.ts';

export function argumentText({ name, isOptional }: ArgumentDefinition): string {
  return isOptional ? `[${name}]` : `<${name}>`;
}

export function capitalised(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

export interface ArgumentDefinition {
  /** The name ends with `...` if the argument may be repeated. */
  readonly name: string;
  readonly isOptional?: true;
  readonly help: string;
  /** Kind of value that the shell completes, or a list of all accepted values. */
  readonly offers: 'paths' | 'profiles' | 'keys' | 'codes' | 'nothing' | readonly string[];
}

export interface CommandDefinition {
  /** The full name, including the group, for example `config list`. */
  readonly name: CommandName;
  readonly description: string;
  readonly arguments: readonly ArgumentDefinition[];
  readonly notes: string | undefined;
  /** Returns the exit code. The command imports its dependencies only when it runs. */
  run(io: Io, options: object, values: readonly unknown[]): Promise<number>;
}

export interface CommandGroup {
  readonly name: string;
  readonly description: string;
  readonly notes: string;
  readonly commands: readonly CommandDefinition[];
}

export interface ProgramDefinition {
  readonly name: string;
  readonly description: string;
  readonly versionHelp: string;
  readonly helpHelp: string;
  readonly notes: string;
  readonly commands: readonly (CommandDefinition | CommandGroup)[];
}

interface TypedDefinition<Name extends CommandName, Values extends readonly unknown[]>
  extends Omit<CommandDefinition, 'arguments' | 'notes' | 'run'> {
  readonly name: Name;
  readonly arguments?: readonly ArgumentDefinition[];
  run(io: Io, options: OptionsOf<Name>, values: Values): Promise<number>;
}

export function command<Name extends CommandName, Values extends readonly unknown[]>({
  arguments: taken = [],
  run,
  ...definition
}: TypedDefinition<Name, Values>): CommandDefinition {
  return {
    ...definition,
    arguments: taken,
    notes: NOTES[definition.name],
    // Commander passes one value for each argument, and only options that are in the option table.
    run: (io, options, values) => run(io, options as OptionsOf<Name>, values as unknown as Values),
  };
}
