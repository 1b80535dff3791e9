/** Options of other signing tools. Some would be read as a short option with its value (-out as -o with "ut") or as a path, and cost signatures. */

import { existsSync } from 'node:fs';
import type { OptionDefinition } from '../../options/option.ts';
import { OPTIONS } from '../../options/table.ts';
import { cliErrors } from '../errors.ts';

/** Their value is neither read nor shown, not even if it follows without a space. */
const SECRET =
  /^(?!askpass|readpass)(?:[a-z-]*?(?:secret|token|pass(?:word|phrase)?)|(?:kvs|kva|azure-key-vault-accesstoken)$)/i;
/** A slash counts only with letters and digits alone: `/app.exe` and `/tmp/app` are paths. */
const OPTION = /^(?:(?<slash>\/)(?<word>[a-z\d]+)(?::.*)?|(?<dashes>--?)(?<name>[a-z\d][\w-]*)(?:[:=].*)?)$/is;

const DEFINITIONS = Object.values<OptionDefinition>(OPTIONS);
/** Options of every command: the parser says which of them the command does not have. */
const OURS = new Set<string | undefined>([
  ...['-h', '--help', '-V', '--version'],
  ...DEFINITIONS.flatMap(({ flag, short, in: differences = {} }) => [
    flag,
    short,
    ...Object.values(differences).map((one) => one.flag),
  ]),
]);
const WITH_VALUE = new Set<string | undefined>(
  DEFINITIONS.flatMap(({ flag, short, placeholder }) => (placeholder === undefined ? [] : [flag, short])),
);

/**
 * Arguments after -- are paths, and so is what exists. Only whole names count: `-c1001` is ours. Throws `foreign-option`,
 * `secret-as-argument`. `exists`: for tests.
 */
export async function refuseForeignOptions(
  argv: readonly string[],
  exists: (path: string) => boolean = existsSync,
): Promise<void> {
  for (const [index, argument] of argv.entries()) {
    if (argument === '--') return;
    const { slash, dashes = slash, word, name = word } = OPTION.exec(argument)?.groups ?? {};
    if (dashes === undefined || name === undefined || WITH_VALUE.has(argv[index - 1])) continue;
    const option = `${dashes}${name}`;
    if (OURS.has(option) || (slash && (argv[0] === 'config' || exists(argument)))) continue;
    const [secret] = (slash ? /^p$/i : SECRET).exec(name) ?? [];
    if (secret !== undefined) throw cliErrors('secret-as-argument', { option: `${dashes}${secret}` });
    // Not loaded for a command line that has none of them.
    const { toolsWith } = await import('./options-of-tools.ts');
    const { tools, advice } = toolsWith(name.replace(/^J-.*/, 'J'), slash !== undefined);
    if (tools !== '') throw cliErrors('foreign-option', { option, what: `an option of ${tools}`, advice });
    const ownAdvice = OURS.has(`-${option}`)
      ? `Write -${option}, with two dashes.`
      : slash && 'Options begin with - here.';
    if (ownAdvice)
      throw cliErrors('foreign-option', {
        option,
        what: 'neither an option nor the path of a file',
        advice: ownAdvice,
      });
  }
}
