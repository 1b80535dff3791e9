/** The manual page, in the macros of man(7), made from the definitions that `--help` is made from. */

import {
  type ArgumentDefinition,
  type CommandDefinition,
  type CommandGroup,
  capitalised,
  type ProgramDefinition,
} from '../../src/cli/command.ts';
import type { OptionDefinition } from '../../src/options/option.ts';
import { groupsOf, helpOf, OPTIONS, optionsOf } from '../../src/options/table.ts';
import { VARIABLES } from '../../src/options/variables.ts';

type Entry = CommandDefinition | CommandGroup;

/** `exitCodes`: each with what it means. */
export function manualPage(program: ProgramDefinition, exitCodes: readonly (readonly [string, string])[]): string {
  const lines = [
    `.TH ${program.name.toUpperCase()} 1`,
    '.SH NAME',
    `${roff(program.name)} \\- ${roff(program.description)}`,
    '.SH SYNOPSIS',
    ...program.commands.flatMap((below) => synopsesOf(program.name, below)),
    '.SH COMMANDS',
    ...program.commands.flatMap(commandLines),
    '.SH ENVIRONMENT',
    ...environment(),
    '.SH EXIT STATUS',
    ...exitCodes.flatMap(([code, meaning]) => ['.TP', `.B ${code}`, roff(meaning)]),
  ];
  return `${lines.join('\n')}\n`;
}

function synopsesOf(program: string, entry: Entry): readonly string[] {
  if ('commands' in entry) return entry.commands.flatMap((below) => synopsesOf(program, below));
  const options = optionsOf(entry.name).length > 0 ? ' [\\fIoptions\\fR]' : '';
  return [`\\fB${roff(`${program} ${entry.name}`)}\\fR${options}${entry.arguments.map(argumentText).join('')}`, '.br'];
}

function argumentText({ name, isOptional }: ArgumentDefinition): string {
  const text = `\\fI${roff(nameOf(name))}\\fR${name.endsWith('...') ? ' ...' : ''}`;
  return isOptional ? ` [${text}]` : ` ${text}`;
}

function nameOf(argument: string): string {
  return argument.replace(/\.\.\.$/, '');
}

function commandLines(entry: Entry): readonly string[] {
  const notes = entry.notes === undefined ? [] : ['.PP', '.nf', ...entry.notes.split('\n').map(roff), '.fi'];
  if ('commands' in entry) {
    return [
      `.SS ${roff(entry.name)}`,
      roff(sentence(entry.description)),
      ...notes,
      ...entry.commands.flatMap(commandLines),
    ];
  }
  return [
    `.SS ${roff(entry.name)}${entry.arguments.map(argumentText).join('')}`,
    roff(sentence(entry.description)),
    ...entry.arguments.flatMap(({ name, help }) => ['.TP', `.I ${roff(nameOf(name))}`, roff(sentence(help))]),
    ...[...groupsOf(entry.name)].flatMap(([heading, options]) => [
      '.PP',
      roff(`${heading}:`),
      ...options.flatMap(optionLines),
    ]),
    ...notes,
  ];
}

function optionLines(option: OptionDefinition): readonly string[] {
  const { flag, short, placeholder } = option;
  const flags = [...(short === undefined ? [] : [short]), flag].map((one) => `\\fB${roff(one)}\\fR`);
  const takes = placeholder === undefined ? '' : ` \\fI${roff(placeholder)}\\fR`;
  return ['.TP', `${flags.join(', ')}${takes}`, roff(sentence(helpOf(option)))];
}

function environment(): readonly string[] {
  const others = Object.entries(VARIABLES).flatMap(([name, help]) => ['.TP', roff(name), roff(sentence(help))]);
  const named = Object.values<OptionDefinition>(OPTIONS).flatMap(({ variable, flag }) =>
    variable === undefined ? [] : ['.TP', variable, roff(`As ${flag}.`)],
  );
  return [...others, ...named];
}

function sentence(text: string): string {
  return text === '' || text.endsWith('.') ? text : `${capitalised(text)}.`;
}

/** roff takes a backslash for the begin of an escape, a dash for a hyphen, and a dot at the begin of a line for a macro. */
function roff(text: string): string {
  return text.replaceAll('\\', '\\e').replaceAll('-', '\\-').replace(/^[.']/, '\\&$&');
}
