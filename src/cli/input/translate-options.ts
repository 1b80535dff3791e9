import type { CommandName, OptionDefinition } from '../../options/option.ts';
import { OPTIONS } from '../../options/table.ts';
import { listed } from '../../options/variables.ts';
import { PROGRAM } from '../command-table.ts';
import { cliErrors } from '../errors.ts';
import { maskedAddress, shellWord } from '../output/lines.ts';
import { foreignOptions, type Tool } from './options-of-tools.ts';
import { type Arguments, isOurs, type StrangeOption, strangeOption, takesValue } from './strange-option.ts';

/** The value of these options is neither read nor shown. */
const SECRET =
  /^(?!askpass|readpass)(?:[a-z-]*?(?:secret|token|pass(?:word|phrase)?)|(?:kvs|kva|azure-key-vault-accesstoken)$)/i;
const HIDDEN = '…';
const DEFINITIONS = Object.values<OptionDefinition>(OPTIONS);

interface Translated {
  readonly strange: StrangeOption;
  readonly problem: 'secret' | 'foreign' | 'not an option' | 'unknown';
  /** {} stands for all options with this advice. */
  readonly advice?: string;
  readonly words?: readonly string[];
  readonly paths?: readonly string[];
  readonly takesNext?: boolean;
}

/** Reports all foreign options in one error. The parser of the command line reports unknown ones. */
export function refuseStrangeOptions(given: Arguments): void {
  const tools = likelyTools(given);
  const translations = (tools.length > 0 ? tools : [undefined]).map((tool) => translate(given, tool));
  const { options } = translations[0] ?? { options: [] };
  const texts = [...new Set(translations.map(({ advice }) => advice))];
  const toolsOf = (text: string) => listed(tools.filter((_, at) => translations[at]?.advice === text));
  const help = texts.length === 1 ? texts.join() : texts.map((text) => `For ${toolsOf(text)}: ${text}`).join('; ');
  const problem = describe(options, tools);
  const secrets = options.filter((one) => one.problem === 'secret');
  if (secrets.length > 0) {
    const others = problem === '' ? '' : ` In addition, ${problem}. ${help}`;
    throw cliErrors('secret-as-argument', { options: namesOf(secrets), others });
  }
  if (problem !== '') throw cliErrors('foreign-option', { problem, advice: help });
}

function likelyTools(given: Arguments): readonly Tool[] {
  const counts = new Map<Tool, number>();
  for (const strange of strangeOptions(given))
    for (const tool of toolsWith(strange)) counts.set(tool, (counts.get(tool) ?? 0) + 1);
  const most = [...counts.values()].reduce((one, other) => Math.max(one, other), 0);
  return [...counts].filter(([, count]) => count === most).map(([tool]) => tool);
}

function strangeOptions(given: Arguments): readonly StrangeOption[] {
  return given.argv.flatMap((word) => strangeOption(word, given) ?? []);
}

function toolsWith(strange: StrangeOption): readonly Tool[] {
  return [...new Set(foreignOptions(strange).map(({ tool }) => tool))];
}

/** Returns text such as `/fd and /tr are options of signtool; -kvu is an option of AzureSignTool`. */
function describe(options: readonly Translated[], likely: readonly Tool[]): string {
  const groups = new Map<string, Translated[]>();
  for (const one of options) {
    if (one.problem === 'secret' || one.problem === 'unknown') continue;
    const tools = toolsWith(one.strange);
    const named = tools.filter((tool) => likely.includes(tool));
    const label = listed(named.length > 0 ? named : tools);
    groups.set(label, [...(groups.get(label) ?? []), one]);
  }
  const texts = [...groups].map(([tools, group]) => {
    const [isOne, names] = [group.length === 1, namesOf(group)];
    if (tools === '') return `${names} ${isOne ? 'is neither an option nor a path' : 'are neither options nor paths'}`;
    return `${names} ${isOne ? 'is an option' : 'are options'} of ${tools}`;
  });
  return texts.join('; ');
}

function namesOf(options: readonly Translated[]): string {
  return listed([...new Set(options.map(({ strange }) => strange.option))]);
}

interface Translation {
  readonly options: readonly Translated[];
  readonly advice: string;
}

function translate(given: Arguments, tool: Tool | undefined): Translation {
  const { command, words } = commandOf(given.argv);
  // The value of an unknown option, or the rest of a secret with spaces, may look like a path.
  const mayHideValues = strangeOptions(given).some((one) => secretIn(one) || toolsWith(one).length === 0);
  const shownPath = (word: string) => (mayHideValues && !given.exists(word) ? HIDDEN : shellWord(word));
  const options: Translated[] = [];
  let line: readonly string[] = [];
  let paths: readonly string[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const [word = '', next = ''] = words.slice(at);
    const strange = strangeOption(word, given);
    if (strange !== undefined) {
      const translated = translateOption(strange, next, tool, command);
      options.push(translated);
      line = [...line, ...(translated.words ?? [])];
      paths = [...paths, ...(translated.paths ?? [])];
      if (translated.takesNext) at += 1;
    } else if (takesValue(word)) {
      line = [...line, word, shownValue(word, next)];
      at += 1;
    } else if (isOurs(word)) line = [...line, word];
    else paths = [...paths, shownPath(word)];
  }
  const use = `Use: ${['codesign-remote', command, ...line, ...paths, ...given.rest.map(shellWord)].join(' ')}`;
  return { options, advice: [...advices(options), use].join(' ') };
}

/** Returns `sign` if the command line contains no known command. */
function commandOf(argv: readonly string[]): { readonly command: CommandName; readonly words: readonly string[] } {
  const commands = PROGRAM.commands.flatMap((entry) => ('commands' in entry ? entry.commands : [entry]));
  const found = commands.find(({ name }) => name === argv[0] || name === `${argv[0]} ${argv[1]}`);
  if (found === undefined) return { command: 'sign', words: argv };
  return { command: found.name, words: argv.slice(found.name.split(' ').length) };
}

function translateOption(
  strange: StrangeOption,
  next: string,
  tool: Tool | undefined,
  command: CommandName,
): Translated {
  const { option, name, value } = strange;
  const secret = secretIn(strange);
  if (secret !== undefined) {
    const shown = option.slice(0, option.length - name.length + secret.length);
    // `-storepass:env NAME` is an option of jarsigner.
    const takesNext = secret === name && (value === undefined || /^(?:env|file)$/.test(value));
    return { strange: { ...strange, option: shown }, problem: 'secret', takesNext };
  }
  const ofTools = foreignOptions(strange);
  const foreign = ofTools.find((one) => one.tool === tool) ?? ofTools[0];
  if (foreign === undefined) return translateUnknown(strange, next);
  const { here, takesValue: hasValue } = foreign;
  const named = { strange, problem: 'foreign', takesNext: hasValue && value === undefined } as const;
  const shown = hasValue ? [shownValue(here, value ?? next)] : [];
  if (here === 'path') return { ...named, paths: shown };
  if (here === '@list') return { ...named, paths: shown.map((list) => `@${list}`) };
  if (!here.startsWith('--')) return { ...named, advice: here };
  const { commands = [] } = DEFINITIONS.find(({ flag }) => flag === here) ?? {};
  if (commands.includes(command)) return { ...named, words: [here, ...shown] };
  return { ...named, advice: `Instead of {}, use codesign-remote ${commands[0]} ${here}.` };
}

function translateUnknown(strange: StrangeOption, next: string): Translated {
  const { option, hasSlash, value } = strange;
  if (hasSlash) return { strange, problem: 'not an option', advice: 'Leave out {}: options begin with - here.' };
  const ours = `-${option}`;
  if (isOurs(ours)) {
    const shown = takesValue(ours) ? [shownValue(ours, value ?? next)] : [];
    return {
      strange,
      problem: 'not an option',
      words: [ours, ...shown],
      takesNext: shown.length > 0 && value === undefined,
    };
  }
  const isLong = option.startsWith('--');
  const word = isLong ? option : option.slice(0, 2);
  return { strange, problem: 'unknown', words: [value === undefined && isLong ? word : `${word}${HIDDEN}`] };
}

function secretIn({ name, hasSlash }: StrangeOption): string | undefined {
  return (hasSlash ? /^p$/i : SECRET).exec(name)?.[0];
}

function advices(options: readonly Translated[]): readonly string[] {
  const texts = new Set(options.flatMap(({ advice }) => advice ?? []));
  return [...texts].map((text) => text.replace('{}', namesOf(options.filter(({ advice }) => advice === text))));
}

/** `-p` takes a password in other tools, so the name after it may be one. */
const PRIVATE = new Set<string | undefined>(
  [OPTIONS.profile, OPTIONS.environment, OPTIONS.extra, OPTIONS.accessKey].flatMap(({ flag, ...option }) => [
    flag,
    'short' in option ? option.short : undefined,
  ]),
);

function shownValue(option: string, value: string): string {
  return PRIVATE.has(option) ? HIDDEN : shellWord(maskedAddress(value));
}
