import type { CommanderError } from 'commander';
import type { CommandName, OptionDefinition } from '../../options/option.ts';
import { suggest } from '../../options/suggest.ts';
import { OPTIONS, optionsOf } from '../../options/table.ts';
import { listed } from '../../options/variables.ts';
import { PROGRAM } from '../command-table.ts';
import { cliErrors } from '../errors.ts';

/** Commands of other programs, by what does the same here. */
const SYNONYMS: Readonly<Record<string, string>> = {
  version: '--version',
  ls: 'config list or history',
  auth: 'login',
  status: 'whoami or history',
};

/** The parser's error in the words of the program. No value of an option is repeated, because it may be a secret. */
export function usageError({ code, message }: CommanderError, argv: readonly string[]): Error {
  const entry = PROGRAM.commands.find(({ name }) => name === argv[0]);
  const below = entry !== undefined && 'commands' in entry ? entry.commands : [];
  const command = below.find(({ name }) => name === `${argv[0]} ${argv[1]}`) ?? entry;
  const help = command === undefined ? 'codesign-remote --help' : `codesign-remote ${command.name} --help`;
  const invalid = (text: string) => cliErrors('invalid-usage', { message: text.replaceAll('\n', ' '), help });
  const [, named = ''] = /'(.*?)'/s.exec(message) ?? [];
  switch (code) {
    case 'commander.unknownCommand':
      return below.length > 0 ? unknownCommand(argv[1] ?? '', below, help) : unknownCommand(argv[0] ?? '');
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
      const argument =
        command !== undefined && 'arguments' in command
          ? command.arguments.find(({ name }) => name.replace('...', '') === named)
          : undefined;
      if (argument === undefined || argument.name === 'files...') return cliErrors('no-files');
      return invalid(`missing argument <${named}>: ${argument.help.split(';')[0]}`);
    }
    case 'commander.optionMissingArgument':
      return invalid(`${/--[\w-]+/.exec(named)?.[0] ?? named} needs a value`);
    case 'commander.conflictingOption': {
      const flags = [...message.matchAll(/--[\w-]+/g)].map(([flag]) => flag);
      return invalid(`${listed(flags)} cannot be used together`);
    }
    case 'commander.excessArguments':
      return invalid(
        message
          .replace(/^error: /, '')
          .replace(/\. Expected (\d+) arguments? but got (\d+)\.$/, ': expected $1, got $2'),
      );
    default:
      return invalid(message.replace(/^error: /, ''));
  }
}

export function unknownCommand(
  name: string,
  among: readonly { readonly name: string }[] = PROGRAM.commands,
  help = 'codesign-remote --help',
): Error {
  const words = among.map((one) => one.name.slice(one.name.lastIndexOf(' ') + 1));
  const meant = (among === PROGRAM.commands ? SYNONYMS[name] : undefined) ?? suggest(name, words);
  return cliErrors('invalid-usage', { message: `unknown command "${name}"${meantText(meant)}`, help });
}

function meantText(meant: string | undefined): string {
  return meant === undefined ? '' : ` (did you mean ${meant}?)`;
}
