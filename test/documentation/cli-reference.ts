/** docs/cli.md: every command with its arguments and options, made from the two tables that `--help` is made from. */

import {
  argumentText,
  type CommandDefinition,
  type CommandGroup,
  capitalised,
  type ProgramDefinition,
} from '../../src/cli/command.ts';
import type { OptionDefinition } from '../../src/options/option.ts';
import { definitionOf, groupsOf, SETTING_KEYS } from '../../src/options/table.ts';
import { VARIABLES } from '../../src/options/variables.ts';

export function cliReference({ commands }: ProgramDefinition): string {
  const all = commands.flatMap((entry: CommandDefinition | CommandGroup) =>
    'commands' in entry ? entry.commands : entry,
  );
  const links = all.map(({ name }) => `[\`${name}\`](#${name.replace(' ', '-')})`);
  return [
    '# Commands, options and variables',
    'This page is generated from the tables that `--help` is made from. An option wins over its variable, then come the project file, your profile and the default: [configuration](configuration.md).',
    links.join(' · '),
    ...all.flatMap(commandText),
    '## Settings files',
    'Options that a project file (`codesign-remote.config.json`) or a profile may hold, by their key there. The address of the service is `environments.<name>` in a profile, and `environment` is the name that is used by default.',
    table(['key', 'option', 'project file', 'profile'], SETTING_KEYS.map(settingRow)),
    '## Variables without an option',
    table(
      ['variable', 'meaning'],
      Object.entries(VARIABLES).map(([name, help]) => [code(name), cell(capitalised(help))]),
    ),
  ]
    .join('\n\n')
    .concat('\n');
}

function commandText({ name, description, arguments: taken, notes }: CommandDefinition): string[] {
  const groups = [...groupsOf(name)];
  const usage = ['codesign-remote', name, ...(groups.length > 0 ? ['[options]'] : []), ...taken.map(argumentText)];
  return [
    `## ${name}`,
    `${capitalised(description)}.`,
    fenced(usage.join(' ')),
    ...(taken.length > 0
      ? [
          table(
            ['argument', 'meaning'],
            taken.map((one) => [code(one.name), cell(capitalised(one.help))]),
          ),
        ]
      : []),
    ...groups.map(([heading, options]) => table([heading, 'variable', 'default', 'meaning'], options.map(optionRow))),
    ...(notes === undefined ? [] : [fenced(notes)]),
  ];
}

function optionRow(option: OptionDefinition): string[] {
  const { flag, short, placeholder, kind, variable, otherVariables, defaultText, help, isList } = option;
  const flags = [short, flag].filter((one) => one !== undefined).join(', ');
  const values = kind?.words?.map(code).join(', ') ?? kind?.note;
  return [
    code(placeholder === undefined ? flags : `${flags} <${placeholder}>`),
    (variable ?? otherVariables)?.split(', ').map(code).join(', ') ?? '',
    option.default === undefined ? cell(defaultText ?? '') : code(option.default),
    [cell(capitalised(help)), values && `: ${values}`, isList && '; repeatable'].filter(Boolean).join(''),
  ];
}

function settingRow(key: (typeof SETTING_KEYS)[number]): string[] {
  const { flag, kind, stored, isList } = definitionOf(key);
  const yes = kind?.form === 'members' ? 'yes, as an object' : isList ? 'yes, one or several' : 'yes';
  const allowed = (file: 'project' | 'profile') => (stored === file || stored === 'both' ? yes : 'no');
  return [code(key), code(flag), allowed('project'), allowed('profile')];
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

function fenced(text: string): string {
  return `\`\`\`\n${text}\n\`\`\``;
}

function code(text: string): string {
  return `\`${text.replaceAll('|', '\\|')}\``;
}

/** Text in a table: no bar ends the cell, and no angle bracket begins a tag. */
function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '\\<').replaceAll('>', '\\>');
}
