/** Completion for fish: a line for every command and option. */

import { type CommandShape, type OptionShape, PROFILES_COMMAND, type Value } from './describe.ts';

export function fishCompletion(program: CommandShape): string {
  const lines = [
    `# fish completion for ${program.name}`,
    `complete -c ${program.name} -f`,
    ...linesOf(program, program.name, []),
  ];
  return `${lines.join('\n')}\n`;
}

function linesOf(command: CommandShape, program: string, names: readonly string[]): readonly string[] {
  const begin = `complete -c ${program} -n ${quoted(conditionOf(command, names))}`;
  const [argument] = command.arguments;
  return [
    ...command.commands.map(({ name, description }) => `${begin} -f -a ${name} -d ${quoted(description)}`),
    ...(argument === undefined || argument.value === 'nothing' ? [] : [`${begin} ${takes(argument.value)}`]),
    ...command.options.map((option) => `${begin} ${optionPart(option)}`),
    ...command.commands.flatMap((below) => linesOf(below, program, [...names, below.name])),
  ];
}

/** Only where this command stands, and none of those below it. */
function conditionOf({ commands }: CommandShape, names: readonly string[]): string {
  const seen = names.map((name) => `__fish_seen_subcommand_from ${name}`);
  const below = commands.map(({ name }) => name);
  const unseen = below.length > 0 ? [`not __fish_seen_subcommand_from ${below.join(' ')}`] : [];
  return [...seen, ...unseen].join('; and ') || 'true';
}

function optionPart({ short, long, description, value }: OptionShape): string {
  const flags = `${short === undefined ? '' : `-s ${short} `}-l ${long}`;
  return `${flags}${value === undefined ? '' : ` ${takes(value)}`} -d ${quoted(description)}`;
}

function takes(value: Value): string {
  if (typeof value === 'object') return `-x -a ${quoted(value.join(' '))}`;
  return { profiles: `-x -a ${quoted(`(${PROFILES_COMMAND})`)}`, paths: '-r -F', nothing: '-x' }[value];
}

function quoted(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`;
}
