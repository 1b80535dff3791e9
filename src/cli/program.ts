import { Argument, Command, CommanderError, type Help, Option } from 'commander';
import { VERSION } from '../app/version.ts';
import { EXIT_SUCCESS } from '../errors/exit-codes.ts';
import type { OptionDefinition } from '../options/option.ts';
import { groupsOf, helpOf } from '../options/table.ts';
import { unknownVariables } from '../options/variables.ts';
import { type ArgumentDefinition, argumentText, type CommandDefinition, capitalised } from './command.ts';
import { PROGRAM } from './command-table.ts';
import { DOCS_FOLDER } from './docs-folder.ts';
import { commandFirst } from './input/command-first.ts';
import { refuseForeignOptions } from './input/foreign-options.ts';
import { unknownCommand, usageError } from './input/usage-error.ts';
import type { Io } from './io.ts';
import { Lines } from './output/lines.ts';
import { pageColumns } from './output/terminal.ts';
import { hang, padded, widthOf } from './output/text-layout.ts';

export async function runProgram(typed: readonly string[], io: Io): Promise<number> {
  if (typed[0] === 'complete' && typed[1] === '--') {
    return await (await import('./completion/complete.ts')).complete(typed.slice(2), io);
  }
  const argv = commandFirst(typed);
  let exitCode: number = EXIT_SUCCESS;
  const run: Run = async (definition, options, values) => {
    const lines = new Lines(io, options);
    for (const warning of unknownVariables(io.env)) lines.warning(warning);
    exitCode = await definition.run(io, options, values);
  };
  const named = PROGRAM.commands.filter(({ name }) => name === argv[0]);
  const program = defineProgram(run, named.length > 0 ? named : PROGRAM.commands);
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
    throw usageError(thrown, argv);
  }
  return exitCode;
}

type Run = (definition: CommandDefinition, options: object, values: readonly unknown[]) => Promise<void>;

export function defineProgram(run: Run, entries = PROGRAM.commands): Command {
  const program = new Command(PROGRAM.name)
    .description(PROGRAM.description)
    .version(VERSION, '-V, --version', PROGRAM.versionHelp)
    .helpOption('-h, --help', PROGRAM.helpHelp)
    .showSuggestionAfterError(false)
    .exitOverride()
    .addHelpText('after', `\n${PROGRAM.notes}`)
    .addHelpText('afterAll', `\nDocumentation:\n  ${DOCS_FOLDER}`);
  for (const entry of entries) {
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
  const groups = groupsOf(name);
  for (const [heading, options] of groups) {
    command.optionsGroup(`${heading}:`);
    for (const option of options) command.addOption(optionOf(option));
  }
  const helpOption = new Option('-h, --help', PROGRAM.helpHelp);
  command.addHelpOption(groups.size === 0 ? helpOption : helpOption.helpGroup('Output:'));
  if (notes !== undefined) command.addHelpText('after', `\n${notes}`);
  command.action((...given: readonly unknown[]) => run(definition, command.opts(), given.slice(0, taken.length)));
}

function argumentOf(definition: ArgumentDefinition): Argument {
  const { help, offers } = definition;
  const argument = new Argument(argumentText(definition), help);
  return typeof offers === 'string' ? argument : argument.choices(offers);
}

function optionOf(definition: OptionDefinition): Option {
  const { flag, short, placeholder, isList, conflicts, isCommandLineOnly } = definition;
  const flags = `${short === undefined ? '' : `${short}, `}${flag}${placeholder === undefined ? '' : ` <${placeholder}>`}`;
  const option = new Option(flags, helpOf(definition));
  if (isList) option.argParser((one: string, before: readonly string[] = []) => [...before, one]);
  // Conflicts between the other options are checked in the library too.
  if (conflicts !== undefined && isCommandLineOnly) option.conflicts([...conflicts]);
  return option;
}

/** Commander copies these settings to each command that is defined after them. */
function showHelpThrough(command: Command, io: Io): void {
  const columns = helpColumns(io);
  command.configureHelp({ formatItem, commandDescription: (one) => capitalised(one.description()) });
  command.configureOutput({
    writeOut: (text) => io.stdout.write(wrapHelp(text, columns)),
    writeErr: () => undefined,
    getOutHelpWidth: () => columns,
  });
  for (const below of command.commands) showHelpThrough(below, io);
}

const MOST_COLUMNS = 100;
const LEAST_COLUMNS = 30;
/** If fewer columns are left next to a term, its description is printed below it. */
const LEAST_DESCRIPTION = 40;

function helpColumns(io: Io): number {
  const columns = pageColumns(io);
  return columns < LEAST_COLUMNS ? MOST_COLUMNS : Math.min(columns, MOST_COLUMNS);
}

function formatItem(term: string, termWidth: number, description: string, { helpWidth }: Help): string {
  const columns = helpWidth ?? MOST_COLUMNS;
  const lead = `  ${padded(term, termWidth)}  `;
  const indent = widthOf(lead);
  const text = capitalised(description);
  if (text === '') return lead.trimEnd();
  if (columns - indent >= LEAST_DESCRIPTION) return hang(lead, text, indent, columns).join('\n');
  return [`  ${term}`, ...hang(' '.repeat(6), text, 6, columns)].join('\n');
}

/** Wraps paragraphs that are too wide. Indented lines, such as examples to copy, are not wrapped. */
function wrapHelp(text: string, columns: number): string {
  return text.replace(/^\S.*(?:\n\S.*)*/gm, (paragraph) => {
    const fits = paragraph.split('\n').every((line) => widthOf(line) <= columns);
    return fits ? paragraph : hang('', paragraph.replaceAll('\n', ' '), 0, columns).join('\n');
  });
}
