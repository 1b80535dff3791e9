/** Finds arguments that look like options and are not options of this program. */

import type { OptionDefinition } from '../../options/option.ts';
import { OPTIONS } from '../../options/table.ts';

/** A slash counts only with letters and digits alone: `/app.exe` and `/tmp/app` are paths. */
const OPTION =
  /^(?:(?<slash>\/)(?<word>[a-z\d]+)(?::(?<text>.*))?|(?<dashes>--?)(?<name>[a-z\d][\w-]*)(?:[:=](?<value>.*))?)$/is;

const DEFINITIONS = Object.values<OptionDefinition>(OPTIONS);
/** Options of every command: the parser says which of them the command does not have. */
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

/** An argument that looks like an option and is not one of this program. */
export interface StrangeOption {
  /** Includes its dashes or slash. */
  readonly option: string;
  readonly name: string;
  readonly hasSlash: boolean;
  /** Follows without a space, after `:` or `=`. */
  readonly value: string | undefined;
}

export interface Arguments {
  readonly argv: readonly string[];
  /** Begins with `--`. */
  readonly rest: readonly string[];
  readonly exists: (path: string) => boolean;
}

/** undefined for an option of ours and for a path. */
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
