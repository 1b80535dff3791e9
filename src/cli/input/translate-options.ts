import type { CommandName, OptionDefinition } from '../../options/option.ts';
import { OPTIONS } from '../../options/table.ts';
import { listed } from '../../options/variables.ts';
import { cliErrors } from '../errors.ts';
import { type ForeignOption, foreignOptions } from './options-of-tools.ts';
import { type Arguments, isOurs, type StrangeOption, strangeOption, takesValue } from './strange-option.ts';

/** The value of these options is neither read nor shown. */
const SECRET =
  /^(?!askpass|readpass)(?:[a-z-]*?(?:secret|token|pass(?:word|phrase)?)|(?:kvs|kva|azure-key-vault-accesstoken)$)/i;
const DEFINITIONS = Object.values<OptionDefinition>(OPTIONS);

interface Found extends StrangeOption {
  readonly ofTools: readonly ForeignOption[];
}

/** Reports the options of other signing programs in one error. Commander reports all other unknown options. */
export function refuseStrangeOptions(given: Arguments): void {
  const { options, secrets } = findOptions(given);
  const tools = options.flatMap(({ ofTools }) => ofTools.map(({ tool }) => tool));
  const timesUsed = (wanted: string) => tools.filter((tool) => tool === wanted).length;
  const advices = new Map<string, string[]>();
  const problems = new Map<string, string[]>();
  for (const { option, hasSlash, ofTools } of options) {
    const [likely] = ofTools.toSorted((one, other) => timesUsed(other.tool) - timesUsed(one.tool));
    const advice = likely ? adviceOf(likely.here, given.argv[0]) : adviceAbout(option, hasSlash);
    if (advice === undefined) continue;
    add(advices, advice, option);
    add(problems, likely?.tool ?? '', option);
  }
  const problem = [...problems].map(([tool, names]) => problemOf(tool, names)).join('; ');
  const advice = [...advices].map(([text, names]) => text.replace('{}', listed(names))).join(' ');
  if (secrets.length > 0) {
    const others = problem === '' ? '' : ` In addition, ${problem}. ${advice}`;
    throw cliErrors('secret-as-argument', { options: listed(secrets), others });
  }
  if (problem !== '') throw cliErrors('foreign-option', { problem, advice });
}

function findOptions(given: Arguments) {
  const options: Found[] = [];
  const secrets: string[] = [];
  for (let at = 0; at < given.argv.length; at += 1) {
    const word = given.argv[at] ?? '';
    const strange = strangeOption(word, given);
    if (strange === undefined) {
      if (takesValue(word)) at += 1;
      continue;
    }
    const { option, name, hasSlash, value } = strange;
    const secret = (hasSlash ? /^p$/i : SECRET).exec(name)?.[0];
    const ofTools = foreignOptions(strange);
    if (secret !== undefined) secrets.push(option.slice(0, option.length - name.length + secret.length));
    else options.push({ ...strange, ofTools });
    // `-storepass:env NAME` is an option of jarsigner.
    const isValueNext = secret === name ? /^(?:env|file)?$/.test(value ?? '') : value === undefined;
    const mayTakeValue =
      secret === name || (ofTools.some((one) => one.takesValue) && !given.argv[at + 1]?.startsWith('-'));
    if (isValueNext && mayTakeValue) at += 1;
  }
  return { options, secrets: [...new Set(secrets)] };
}

function adviceOf(here: string, command: string | undefined): string {
  if (!here.startsWith('--')) return here;
  const { commands = [] } = DEFINITIONS.find(({ flag }) => flag === here) ?? {};
  const isHere = commands.includes(command as CommandName);
  return `Instead of {}, use ${isHere ? '' : `codesign-remote ${commands[0]} `}${here}.`;
}

function adviceAbout(option: string, hasSlash: boolean): string | undefined {
  if (hasSlash) return 'Leave out {}: options begin with - here.';
  return isOurs(`-${option}`) ? `Instead of {}, use -${option}.` : undefined;
}

function problemOf(tool: string, names: readonly string[]): string {
  const isOne = new Set(names).size === 1;
  if (tool === '')
    return `${listed(names)} ${isOne ? 'is neither an option nor a path' : 'are neither options nor paths'}`;
  return `${listed(names)} ${isOne ? 'is an option' : 'are options'} of ${tool}`;
}

function add(groups: Map<string, string[]>, key: string, name: string): void {
  const names = groups.get(key) ?? [];
  if (!names.includes(name)) groups.set(key, [...names, name]);
}
