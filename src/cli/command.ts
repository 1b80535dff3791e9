import type { CommandName } from '../options/option.ts';
import type { OptionsOf } from '../options/table.ts';
import type { Io } from './io.ts';

/** `<files...>`, or `[values...]` for an optional argument. */
export function argumentText({ name, isOptional }: ArgumentDefinition): string {
  return isOptional ? `[${name}]` : `<${name}>`;
}

/** Help as a reader sees it. Messages put the same words into a sentence. */
export function capitalised(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

export interface ArgumentDefinition {
  /** Ends with `...` if it takes several words. */
  readonly name: string;
  readonly isOptional?: true;
  readonly help: string;
  /** Completions that a shell offers. A list contains the only accepted words. */
  readonly offers: 'paths' | 'profiles' | 'keys' | 'codes' | 'nothing' | readonly string[];
}

export interface CommandDefinition {
  /** Includes the name of the group: `config list`. */
  readonly name: CommandName;
  readonly description: string;
  readonly arguments: readonly ArgumentDefinition[];
  /** Printed after the options. */
  readonly notes?: string;
  /** Returns the exit code. Imports what it needs when it runs. */
  run(io: Io, options: object, values: readonly unknown[]): Promise<number>;
}

/** A command with commands below it. */
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
  extends Omit<CommandDefinition, 'arguments' | 'run'> {
  readonly name: Name;
  readonly arguments?: readonly ArgumentDefinition[];
  run(io: Io, options: OptionsOf<Name>, values: Values): Promise<number>;
}

/** A definition whose `run` gets the options that the table of options has for this command. */
export function command<Name extends CommandName, Values extends readonly unknown[]>({
  arguments: taken = [],
  run,
  ...definition
}: TypedDefinition<Name, Values>): CommandDefinition {
  return {
    ...definition,
    arguments: taken,
    // Commander passes as many values as there are arguments, and options of the table alone.
    run: (io, options, values) => run(io, options as OptionsOf<Name>, values as unknown as Values),
  };
}
