/** The manual page, in the macros of man(7), made from the definitions that `--help` is made from. */

import type { ArgumentShape, CommandShape, OptionShape } from '../../src/cli/completion/describe.ts';
import type { OptionDefinition } from '../../src/options/option.ts';
import { OPTIONS } from '../../src/options/table.ts';
import { VARIABLES } from '../../src/options/variables.ts';

/** `exitCodes`: each with what it means. */
export function manualPage(program: CommandShape, exitCodes: readonly (readonly [string, string])[]): string {
  const lines = [
    `.TH ${program.name.toUpperCase()} 1`,
    '.SH NAME',
    `${roff(program.name)} \\- ${roff(program.description)}`,
    '.SH SYNOPSIS',
    ...program.commands.flatMap((below) => synopsesOf(program.name, below)),
    '.SH COMMANDS',
    ...program.commands.flatMap((below) => commandLines(below, [below.name])),
    '.SH ENVIRONMENT',
    ...environment(),
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

function argumentText({ name, isRepeatable }: ArgumentShape): string {
  return ` \\fI${roff(name)}\\fR${isRepeatable ? ' ...' : ''}`;
}

function commandLines(command: CommandShape, names: readonly string[]): readonly string[] {
  const { notes } = command;
  return [
    `.SS ${roff(names.join(' '))}${command.arguments.map(argumentText).join('')}`,
    roff(sentence(command.description)),
    ...command.arguments
      .filter(({ description }) => description !== '')
      .flatMap((argument) => ['.TP', `.I ${roff(argument.name)}`, roff(sentence(argument.description))]),
    ...command.options.filter(({ long }) => long !== 'help').flatMap(optionLines),
    ...(notes === '' ? [] : ['.PP', '.nf', ...notes.split('\n').map(roff), '.fi']),
    ...command.commands.flatMap((below) => commandLines(below, [...names, below.name])),
  ];
}

function optionLines({ short, long, placeholder, description }: OptionShape): readonly string[] {
  const flags = [...(short === undefined ? [] : [`-${short}`]), `--${long}`].map((flag) => `\\fB${roff(flag)}\\fR`);
  const takes = placeholder === undefined ? '' : ` \\fI${roff(placeholder)}\\fR`;
  return ['.TP', `${flags.join(', ')}${takes}`, roff(sentence(description))];
}

function environment(): readonly string[] {
  const others = Object.entries(VARIABLES).flatMap(([name, help]) => ['.TP', roff(name), roff(sentence(help))]);
  const named = Object.values<OptionDefinition>(OPTIONS).flatMap(({ variable, flag }) =>
    variable === undefined ? [] : ['.TP', variable, roff(`As ${flag}.`)],
  );
  return [...others, ...named];
}

function sentence(text: string): string {
  return text === '' || text.endsWith('.') ? text : `${text}.`;
}

/** roff takes a backslash for the begin of an escape, a dash for a hyphen, and a dot at the begin of a line for a macro. */
function roff(text: string): string {
  return text.replaceAll('\\', '\\e').replaceAll('-', '\\-').replace(/^[.']/, '\\&$&');
}
