/** The manual page, in the macros of man(7), made from the definitions that `--help` is made from. */

import type { Command } from 'commander';
import {
  type ArgumentShape,
  type CommandShape,
  describeCommand,
  type OptionShape,
} from '../../src/cli/command-tree.ts';

/** `exitCodes`: each with what it means. */
export function manualPage(command: Command, exitCodes: readonly (readonly [string, string])[]): string {
  const program = describeCommand(command);
  const notes = notesOf(command);
  const lines = [
    `.TH ${program.name.toUpperCase()} 1`,
    '.SH NAME',
    `${roff(program.name)} \\- ${roff(program.description)}`,
    '.SH SYNOPSIS',
    ...program.commands.flatMap((below) => synopsesOf(program.name, below)),
    '.SH COMMANDS',
    ...program.commands.flatMap((below) => commandLines(below, [below.name], notes)),
    '.SH ENVIRONMENT',
    ...environmentOf(program),
    '.SH EXIT STATUS',
    ...exitCodes.flatMap(([code, meaning]) => ['.TP', `.B ${code}`, roff(meaning)]),
  ];
  return `${lines.join('\n')}\n`;
}

function synopsesOf(above: string, command: CommandShape): readonly string[] {
  const name = `${above} ${command.name}`;
  if (command.commands.length > 0) return command.commands.flatMap((below) => synopsesOf(name, below));
  const options = command.options.some(({ long }) => long !== 'help') ? ' [\\fIoptions\\fR]' : '';
  return [`\\fB${roff(name)}\\fR${options}${command.arguments.map(argumentText).join('')}`, '.br'];
}

function argumentText({ name, isRequired, isRepeatable }: ArgumentShape): string {
  const text = `\\fI${roff(name)}\\fR${isRepeatable ? ' ...' : ''}`;
  return isRequired ? ` ${text}` : ` [${text}]`;
}

function commandLines(
  command: CommandShape,
  names: readonly string[],
  notes: ReadonlyMap<string, string>,
): readonly string[] {
  const name = names.join(' ');
  const note = notes.get(name) ?? '';
  return [
    `.SS ${roff(name)}${command.arguments.map(argumentText).join('')}`,
    roff(sentence(command.description)),
    ...command.arguments
      .filter(({ description }) => description !== '')
      .flatMap((argument) => ['.TP', `.I ${roff(argument.name)}`, roff(sentence(argument.description))]),
    ...command.options.filter(({ long }) => long !== 'help').flatMap(optionLines),
    ...(note === '' ? [] : ['.PP', '.nf', ...note.split('\n').map(roff), '.fi']),
    ...command.commands.flatMap((below) => commandLines(below, [...names, below.name], notes)),
  ];
}

/** What `--help` says behind the options of each command: examples, exit codes. Commander gives it to no other. */
function notesOf(command: Command, names: readonly string[] = []): ReadonlyMap<string, string> {
  let printed = '';
  command.configureOutput({
    writeOut: (text) => {
      printed += text;
    },
    getOutHelpWidth: () => 80,
  });
  command.outputHelp();
  const own = printed.slice(command.helpInformation().length).trim();
  const below = command.commands.flatMap((one) => [...notesOf(one, [...names, one.name()])]);
  return new Map([[names.join(' '), own], ...below]);
}

function optionLines({ short, long, placeholder, description }: OptionShape): readonly string[] {
  const flags = [...(short === undefined ? [] : [`-${short}`]), `--${long}`].map((flag) => `\\fB${roff(flag)}\\fR`);
  const takes = placeholder === undefined ? '' : ` \\fI${roff(placeholder.slice(1, -1))}\\fR`;
  return ['.TP', `${flags.join(', ')}${takes}`, roff(sentence(description))];
}

/** Every variable that an option's description names, with the options that it stands for. */
function environmentOf(program: CommandShape): readonly string[] {
  const variables = new Map<string, Set<string>>();
  const collect = ({ options, commands }: CommandShape): void => {
    for (const { long, description } of options) {
      const variable = /\[([A-Z][A-Z_]+)\]$/.exec(description)?.[1];
      if (variable !== undefined) variables.set(variable, (variables.get(variable) ?? new Set()).add(`--${long}`));
    }
    commands.forEach(collect);
  };
  collect(program);
  const credentials = [
    '.TP',
    roff('CODESIGN_ACCESS_KEY, CODESIGN_ACCESS_SECRET, CODESIGN_ACCESS_SECRET_FILE'),
    roff('The credentials for the service: never an option.'),
    '.TP',
    'CODESIGN_STATE_DIR',
    roff('The folder of the journal.'),
    '.TP',
    'CODESIGN_PROGRESS',
    roff('live, plain or none: what is shown of a run while it goes on.'),
    '.TP',
    roff('NO_COLOR, FORCE_COLOR'),
    roff('No colours; colours in pipes too. The first wins.'),
  ];
  const named = [...variables].sort().flatMap(([variable, options]) => {
    return ['.TP', variable, roff(`As ${[...options].join(', ')}.`)];
  });
  return [...credentials, ...named];
}

function sentence(text: string): string {
  return text === '' || text.endsWith('.') ? text : `${text}.`;
}

/** roff takes a backslash for the begin of an escape, a dash for a hyphen, and a dot at the begin of a line for a macro. */
function roff(text: string): string {
  return text.replaceAll('\\', '\\e').replaceAll('-', '\\-').replace(/^[.']/, '\\&$&');
}
