/** Commander's commands, made from the tables of commands and options, and the run of the one that is named. */

import { Argument, Command, CommanderError, Option } from 'commander';
import { VERSION } from '../app/version.ts';
import { EXIT_SUCCESS } from '../errors/exit-codes.ts';
import type { OptionDefinition } from '../options/option.ts';
import { helpOf, optionsOf } from '../options/table.ts';
import { misspeltVariables } from '../options/variables.ts';
import type { ArgumentDefinition, CommandDefinition } from './command.ts';
import { PROGRAM } from './command-table.ts';
import { DOCS_FOLDER } from './docs-folder.ts';
import { cliErrors } from './errors.ts';
import { refuseForeignOptions } from './input/foreign-options.ts';
import type { Io } from './io.ts';
import { formatItem, helpColumns, wrapHelp } from './output/help-layout.ts';
import { Lines } from './output/lines.ts';

/** Parses the arguments and runs the command they name. Gives its exit code. */
export async function runProgram(argv: readonly string[], io: Io): Promise<number> {
  let exitCode: number = EXIT_SUCCESS;
  const program = defineProgram(async (definition, options, values) => {
    const lines = new Lines(io, options);
    for (const warning of misspeltVariables(io.env)) lines.warning(warning);
    exitCode = await definition.run(io, options, values);
  });
  showHelpThrough(program, io);
  await refuseForeignOptions(argv);
  try {
    await program.parseAsync(argv, { from: 'user' });
  } catch (thrown) {
    if (!(thrown instanceof CommanderError)) throw thrown;
    if (thrown.exitCode === 0) return EXIT_SUCCESS;
    if (thrown.code === 'commander.help') {
      if (argv[0] === 'help' && argv[1] !== undefined) throw unknownCommand(argv[1]);
      const named = program.commands.find((command) => command.name() === argv[0]) ?? program;
      showHelpThrough(named, { ...io, stdout: io.stderr });
      named.outputHelp();
      return 2;
    }
    const isCommand = program.commands.some((command) => command.name() === argv[0]);
    const help = isCommand ? `codesign-remote ${argv[0]} --help` : 'codesign-remote --help';
    const message = thrown.message
      .replace(/^error: /, '')
      .replace(/\. Expected (\d+) arguments? but got (\d+)\.$/, ': expected $1, got $2')
      .replaceAll('\n', ' ');
    throw cliErrors('invalid-usage', { message, help });
  }
  return exitCode;
}

type Run = (definition: CommandDefinition, options: object, values: readonly unknown[]) => Promise<void>;

/** `run` gets the command that is called. */
export function defineProgram(run: Run): Command {
  const program = new Command(PROGRAM.name)
    .description(PROGRAM.description)
    .version(VERSION, '-V, --version', PROGRAM.versionHelp)
    .helpOption('-h, --help', PROGRAM.helpHelp)
    .showSuggestionAfterError()
    .exitOverride()
    .addHelpText('after', `\n${PROGRAM.notes}`)
    .addHelpText('afterAll', `\nDocumentation:\n  ${DOCS_FOLDER}`);
  for (const entry of PROGRAM.commands) {
    if (!('commands' in entry)) define(program, entry, run);
    else {
      const group = program.command(entry.name).description(entry.description).exitOverride();
      group.addHelpText('after', `\n${entry.notes}`);
      for (const definition of entry.commands) define(group, definition, run);
    }
  }
  return program;
}

function define(parent: Command, definition: CommandDefinition, run: Run): void {
  const { name, description, arguments: taken, notes } = definition;
  const command = parent
    .command(name.slice(name.lastIndexOf(' ') + 1))
    .description(description)
    .exitOverride();
  for (const argument of taken) command.addArgument(argumentOf(argument));
  for (const option of optionsOf(name)) command.addOption(optionOf(option));
  if (notes !== undefined) command.addHelpText('after', `\n${notes}`);
  command.action((...given: readonly unknown[]) => run(definition, command.opts(), given.slice(0, taken.length)));
}

function argumentOf({ name, help, offers }: ArgumentDefinition): Argument {
  const argument = new Argument(`<${name}>`, help);
  return typeof offers === 'string' ? argument : argument.choices(offers);
}

function optionOf(definition: OptionDefinition): Option {
  const { flag, short, placeholder, isList, conflicts, isCommandLineOnly } = definition;
  const flags = `${short === undefined ? '' : `${short}, `}${flag}${placeholder === undefined ? '' : ` <${placeholder}>`}`;
  const option = new Option(flags, helpOf(definition));
  if (isList) option.argParser((one: string, before: readonly string[] = []) => [...before, one]);
  // The others are checked where the library finds them, too.
  if (conflicts !== undefined && isCommandLineOnly) option.conflicts([...conflicts]);
  return option;
}

function unknownCommand(name: string): Error {
  return cliErrors('invalid-usage', { message: `unknown command '${name}'`, help: 'codesign-remote --help' });
}

/** Commands copy these settings when they are defined, so each of them gets them. */
function showHelpThrough(command: Command, io: Io): void {
  const columns = helpColumns(io.stdout);
  command.configureHelp({ formatItem });
  command.configureOutput({
    writeOut: (text) => io.stdout.write(wrapHelp(text, columns)),
    writeErr: () => undefined,
    getOutHelpWidth: () => columns,
  });
  for (const below of command.commands) showHelpThrough(below, io);
}
