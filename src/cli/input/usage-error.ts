import type { CommanderError } from 'commander';
import type { CommandName, OptionDefinition } from '../../options/option.ts';
import { suggest } from '../../options/suggest.ts';
import { OPTIONS, optionsOf } from '../../options/table.ts';
import { listed } from '../../options/variables.ts';
import { PROGRAM } from '../command-table.ts';
import { cliErrors } from '../errors.ts';

/** Commands of other programs. */
const SYNONYMS: Readonly<Record<string, string>> = {
  version: '--version',
  ls: 'config list or history',
  auth: 'login',
  status: 'whoami or history',
  'config ls': 'config list',
  'config get': 'config list',
};

const HELP = { name: 'help' };

/** Never includes the value of an option, because it may be a secret. */
export function usageError({ code, message }: CommanderError, argv: readonly string[]): Error {
  const entry = PROGRAM.commands.find(({ name }) => name === argv[0]);
  const below = entry !== undefined && 'commands' in entry ? entry.commands : [];
  const command = below.find(({ name }) => name === `${argv[0]} ${argv[1]}`) ?? entry;
  const taken = command !== undefined && 'arguments' in command ? command.arguments : [];
  const help = command === undefined ? 'codesign-remote --help' : `codesign-remote ${command.name} --help`;
  const invalid = (text: string) => cliErrors('invalid-usage', { message: text.replaceAll('\n', ' '), help });
  const [, named = ''] = /'(.*?)'/s.exec(message) ?? [];
  switch (code) {
    case 'commander.unknownCommand':
      return below.length > 0 ? unknownCommand(argv[1] ?? '', `${argv[0]} `) : unknownCommand(argv[0] ?? '');
    case 'commander.unknownOption': {
      const option = /^--/.test(named) ? named.replace(/=.*/s, '') : named.slice(0, 2);
      const isOurs = Object.values<OptionDefinition>(OPTIONS).some(
        ({ flag, short }) => flag === option || short === option,
      );
      if (command === undefined && isOurs) return invalid('no command was given');
      const flags = optionsOf(command?.name as CommandName).map(({ flag }) => flag);
      return invalid(`unknown option ${option}${meantText(suggest(option, flags))}`);
    }
    case 'commander.missingArgument': {
      const argument = taken.find(({ name }) => name.replace('...', '') === named);
      if (argument === undefined || argument.name === 'files...') return cliErrors('no-files');
      return invalid(`missing argument <${named}>: ${argument.help.split(';')[0]}`);
    }
    case 'commander.optionMissingArgument':
      return invalid(`${/--[\w-]+/.exec(named)?.[0] ?? named} needs a value`);
    case 'commander.conflictingOption': {
      const flags = [...message.matchAll(/--[\w-]+/g)].map(([flag]) => flag);
      return invalid(`${listed(flags)} cannot be used together`);
    }
    case 'commander.excessArguments': {
      const [, expected, given] = /Expected (\d+) arguments? but got (\d+)/.exec(message) ?? [];
      const most = expected === '0' ? 'no arguments' : expected === '1' ? '1 argument' : `${expected} arguments`;
      return invalid(`${command?.name ?? 'codesign-remote'} takes ${most}, but got ${given}`);
    }
    case 'commander.invalidArgument': {
      const [argument] = taken;
      const words = typeof argument?.offers === 'object' ? argument.offers : [];
      const meant = meantText(suggest(argv.at(-1) ?? '', words));
      return invalid(`<${argument?.name}> must be one of ${words.join(', ')}${meant}`);
    }
    default:
      return invalid(message.replace(/^error: /, ''));
  }
}

export function unknownCommand(word: string, group = ''): Error {
  const known = [
    ...PROGRAM.commands.flatMap((entry) => ('commands' in entry ? [entry, ...entry.commands] : [entry])),
    HELP,
  ];
  const words = known.flatMap(({ name }) => (name.startsWith(group) ? name.slice(group.length) : []));
  const meant = suggest(
    word,
    words.filter((one) => !one.includes(' ')),
  );
  const shown = SYNONYMS[`${group}${word}`] ?? (meant && `${group}${meant}`);
  const help = `codesign-remote ${group}--help`;
  return cliErrors('invalid-usage', { message: `unknown command "${group}${word}"${meantText(shown)}`, help });
}

function meantText(meant: string | undefined): string {
  return meant === undefined ? '' : ` (did you mean ${meant}?)`;
}
