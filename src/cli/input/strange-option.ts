import type { OptionDefinition } from '../../options/option.ts';
import { OPTIONS } from '../../options/table.ts';

/** After a slash, an option has only letters and digits: `/app.exe` and `/tmp/app` are paths. */
const OPTION =
  /^(?:(?<slash>\/)(?<word>[a-z\d]+)(?::(?<text>.*))?|(?<dashes>--?)(?<name>[a-z\d][\w-]*)(?:[:=](?<value>.*))?)$/is;

const DEFINITIONS = Object.values<OptionDefinition>(OPTIONS);
/** Includes the options of all commands: the parser reports an option that the command does not have. */
const OURS = new Set([
  ...['-h', '--help', '-V', '--version'],
  ...DEFINITIONS.flatMap(({ flag, short = flag, in: differences = {} }) => [
    flag,
    short,
    ...Object.values(differences).flatMap((one) => one.flag ?? []),
  ]),
]);
const WITH_VALUE = new Set(
  DEFINITIONS.flatMap(({ flag, short = flag, placeholder }) => (placeholder === undefined ? [] : [flag, short])),
) as ReadonlySet<string>;

export interface StrangeOption {
  readonly option: string;
  readonly name: string;
  readonly hasSlash: boolean;
  readonly value: string | undefined;
}

export interface Arguments {
  readonly argv: readonly string[];
  readonly exists: (path: string) => boolean;
}

export function strangeOption(word: string, { argv, exists }: Arguments): StrangeOption | undefined {
  const { slash, dashes = slash, word: letters, name = letters, text, value = text } = OPTION.exec(word)?.groups ?? {};
  if (dashes === undefined || name === undefined || isOurs(`${dashes}${name}`)) return undefined;
  if (slash && (argv[0] === 'config' || exists(word))) return undefined;
  return { option: `${dashes}${name}`, name, hasSlash: slash !== undefined, value };
}

export function isOurs(option: string): boolean {
  return OURS.has(option);
}

export function takesValue(word: string): boolean {
  return WITH_VALUE.has(word);
}
